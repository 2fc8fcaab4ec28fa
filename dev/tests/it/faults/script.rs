//! Defines the steps of a scripted server on a connection.

use std::sync::Arc;
use std::time::Duration;

/// Returns the steps for a connection, by its number from 0. The server closes the connection after
/// the last step.
pub type ServerScript = Arc<dyn Fn(u64) -> Vec<ServerStep> + Send + Sync>;

/// One step. A step that fails because the client has closed ends the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStep {
    /// Reads a complete request: its head, and the body of its Content-Length.
    Request,
    /// Reads the head of a request, but not its body.
    Head,
    /// Sends bytes that belong to no complete reply.
    Send(Vec<u8>),
    /// Sends the first bytes of a complete reply.
    Part(Vec<u8>),
    /// Sends a complete reply, or its last bytes.
    Reply(Vec<u8>),
    /// Sends a complete reply, and in the same segment bytes that belong to no reply.
    ReplyAnd(Vec<u8>, Vec<u8>),
    /// Sends the same bytes repeatedly, each time after a pause, until the client closes.
    Endless(Vec<u8>, Duration),
    Pause(Duration),
    /// Sends `close_notify` on a TLS connection.
    Notify,
    /// Closes the sending direction; the client can still send.
    Finish,
    /// Ends the connection with a RST.
    Reset,
    /// Reads and discards until the client closes.
    Drain,
    /// Neither reads nor sends until the end of the test.
    Ignore,
    /// Repeats the script from the first step.
    Again,
}

/// Uses the same steps for every connection.
pub fn always(steps: Vec<ServerStep>) -> ServerScript {
    Arc::new(move |_| steps.clone())
}

/// Replies to every request with these bytes, a complete reply, and keeps the connection.
pub fn answering(reply: &[u8]) -> Vec<ServerStep> {
    vec![ServerStep::Request, ServerStep::Reply(reply.to_vec()), ServerStep::Again]
}

/// Replies to one request with these bytes, and closes the connection.
pub fn closing(reply: &[u8]) -> Vec<ServerStep> {
    vec![ServerStep::Request, ServerStep::Reply(reply.to_vec())]
}

/// Waits for this time.
pub fn pause(milliseconds: u64) -> ServerStep {
    ServerStep::Pause(Duration::from_millis(milliseconds))
}

/// Sends bytes.
pub fn send(bytes: impl AsRef<[u8]>) -> ServerStep {
    ServerStep::Send(bytes.as_ref().to_vec())
}

/// Sends a complete reply.
pub fn reply(bytes: impl AsRef<[u8]>) -> ServerStep {
    ServerStep::Reply(bytes.as_ref().to_vec())
}

/// Returns a reply with this body.
pub fn page(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Sends a complete reply in pieces of these sizes, with a pause after each piece.
pub fn in_pieces(
    reply: &[u8],
    mut sizes: impl Iterator<Item = usize>,
    pause: Duration,
) -> Vec<ServerStep> {
    let mut steps = Vec::new();
    let mut rest = reply;
    loop {
        let size = sizes.next().unwrap_or(1).max(1);
        if size >= rest.len() {
            steps.push(ServerStep::Reply(rest.to_vec()));
            return steps;
        }
        let (piece, tail) = rest.split_at(size);
        steps.extend([ServerStep::Part(piece.to_vec()), ServerStep::Pause(pause)]);
        rest = tail;
    }
}

/// Returns random sizes from 1 to `most` (xorshift by Marsaglia), determined by the seed.
pub fn sizes(seed: u64, most: usize) -> impl Iterator<Item = usize> {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        1 + (state % most as u64) as usize
    })
}
