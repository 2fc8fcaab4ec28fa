//! Records all received bytes, and sends scripted replies.

use crate::world::odd::{ScriptedServer, serve_connections};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

/// A server that records all received bytes.
pub struct RecordingServer {
    pub odd: ScriptedServer,
    bytes: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// Starts a server that sends the result of `reply` for each request, and closes the connection.
pub fn recorder(reply: impl Fn(&str) -> String + Send + Sync + 'static) -> RecordingServer {
    let bytes: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
    let log = Arc::clone(&bytes);
    let odd = serve_connections(move |mut client| {
        let mut received = Vec::new();
        let mut buffer = [0; 4096];
        while !is_whole(&received) {
            match client.stream.read(&mut buffer) {
                Ok(n) if n > 0 => received.extend_from_slice(&buffer[..n]),
                _ => break,
            }
        }
        let reply = reply(&String::from_utf8_lossy(&received));
        log.lock().expect("the bytes").push(received);
        let _ = client.stream.write_all(reply.as_bytes());
    });
    RecordingServer { odd, bytes }
}

/// True if the head and the body of its Content-Length are complete.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    body.len() >= length.map_or(0, |n| n.parse().expect("a length"))
}

impl RecordingServer {
    /// Requests since the last call.
    pub fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.bytes.lock().expect("the bytes"));
        bytes.into_iter().map(|b| String::from_utf8_lossy(&b).into_owned()).collect()
    }
}
