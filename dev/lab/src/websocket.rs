//! WebSocket (RFC 6455): frames by the crate `tungstenite`, which shares no code with the load generator.
//!
//! A connection becomes a WebSocket by `Upgrade: websocket`, a stream of HTTP/2 by an extended CONNECT ([`crate::h2::websocket`]). Each message of the client is a request for the path of the
//! handshake, and is decided upon by the same [`crate::desk`]; its reply is one message of the same kind. Replies leave in the
//! order of the messages. Pings and closes are answered at once.
//!
//! | module | holds |
//! |---|---|
//! | [`frames`], [`deflate`] | bytes to messages; compressed messages |
//! | [`hostile`] | bytes that break rules on request |
//! | `serve` | its place in the event loop |

pub mod deflate;
pub mod frames;
pub mod hostile;
mod serve;

use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::OpCode;

use crate::hostile::{Row, Say, When};
use crate::request::Route;
use deflate::Agreement;
use frames::{CLOSE, COMPRESSED, CONTINUATION, Incoming, LAST, LONGEST_HEAD, OPCODE, PONG};

/// The status under which replies to messages are counted: that of the switch of protocols.
pub const STATUS: u16 = 101;

/// Why a WebSocket is closed (section 7.4.1).
pub mod code {
    /// All is done.
    pub const NORMAL: u16 = 1000;
    /// The connection was idle for too long.
    pub const GOING_AWAY: u16 = 1001;
    /// The client broke a rule.
    pub const PROTOCOL_ERROR: u16 = 1002;
    /// A message of text is no UTF-8.
    pub const NOT_TEXT: u16 = 1007;
    /// A message is too long.
    pub const TOO_LONG: u16 = 1009;
    /// A request is failed on purpose, where HTTP has a status for that.
    pub const INTERNAL_ERROR: u16 = 1011;
}

/// One WebSocket.
#[derive(Debug)]
pub struct WebSocket {
    route: Route,
    incoming: Incoming,
    /// A pong or close that is to be sent; the last one takes the place of others.
    pub control: Option<Vec<u8>>,
    /// What is sent in place of replies.
    hostile: Option<fn(&mut hostile::Stage)>,
}

impl WebSocket {
    /// Opened for this route. A row may stand in place of replies.
    pub fn new(route: Route, incoming: Incoming, row: Option<&Row>) -> Self {
        let hostile = row.filter(|row| row.when == When::Request).and_then(say);
        Self { route, incoming, control: None, hostile }
    }

    /// What is sent in place of a reply, where a row says so.
    pub fn perform(&self) -> Option<hostile::Stage> {
        let mut stage = hostile::Stage::default();
        self.hostile.map(|say| say(&mut stage)).map(|()| stage)
    }

    /// Tells the client that the connection ends.
    pub fn close(&mut self, code: u16) {
        self.control = Some(frame(LAST | CLOSE, &code.to_be_bytes()));
    }

    fn pong(&mut self, payload: &[u8]) {
        self.control = Some(frame(LAST | PONG, payload));
    }
}

fn say(row: &Row) -> Option<fn(&mut hostile::Stage)> {
    if let Say::WebSocket(say) = row.say { Some(say) } else { None }
}

/// What a row answers to a handshake with this key, if it does.
pub fn greeting(row: Option<&Row>, key: &[u8]) -> Option<Vec<u8>> {
    let say = row.filter(|row| row.when == When::Greeting).and_then(say)?;
    let mut stage = hostile::Stage { key: key.to_vec(), ..hostile::Stage::default() };
    say(&mut stage);
    Some(stage.out)
}

/// What tells the client that messages follow.
pub fn switching(key: &[u8], agreed: Option<&Agreement>) -> Vec<u8> {
    let accept = derive_accept_key(key);
    let extensions =
        agreed.map_or_else(String::new, |agreed| format!("Sec-WebSocket-Extensions: {}\r\n", agreed.answer));
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{extensions}\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// A message in frames of so many bytes.
///
/// An opcode with the bit of compression gives a compressed one.
pub fn message(opcode: u8, payload: &[u8], longest: usize) -> Vec<u8> {
    if opcode & COMPRESSED != 0 {
        let packed = deflate::deflate(payload);
        return frames_of(opcode, &packed, longest);
    }
    frames_of(opcode, payload, longest)
}

fn frames_of(opcode: u8, payload: &[u8], longest: usize) -> Vec<u8> {
    if payload.len() <= longest {
        return frame(LAST | opcode, payload);
    }
    let last = payload.len().div_ceil(longest) - 1;
    let pieces = payload.chunks(longest).enumerate();
    let frames = pieces.map(|(at, piece)| {
        let first = if at == 0 { opcode } else { CONTINUATION };
        frame(if at == last { LAST | first } else { first }, piece)
    });
    frames.collect::<Vec<_>>().concat()
}

/// Where the payload of the frame begins, which has no mask.
pub fn head_length(frame: &[u8]) -> usize {
    match frame.get(1) {
        Some(126) => 4,
        Some(127) => 10,
        _ => 2,
    }
}

/// A frame without a mask, with this first byte.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader {
        is_final: first & LAST != 0,
        rsv1: first & COMPRESSED != 0,
        opcode: OpCode::from(first & OPCODE),
        ..FrameHeader::default()
    };
    let mut frame = Vec::with_capacity(payload.len() + LONGEST_HEAD);
    // Writing to a `Vec` does not fail.
    let _ = header.format(payload.len() as u64, &mut frame);
    frame.extend_from_slice(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_of_the_standard() {
        let answer = String::from_utf8(switching(b"dGhlIHNhbXBsZSBub25jZQ==", None)).unwrap();
        assert!(answer.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{answer}");
    }

    #[test]
    fn messages_are_cut_where_it_is_asked_for() {
        assert_eq!(message(1, b"Hello", 5), [0x81, 5, b'H', b'e', b'l', b'l', b'o']);
        assert_eq!(message(1, b"Hello", 3), [1, 3, b'H', b'e', b'l', 0x80, 2, b'l', b'o']);
        assert_eq!(message(2, b"", 1), [0x82, 0]);
        for (length, head) in [(125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let whole = message(2, &vec![7; length], length);
            assert_eq!((head_length(&whole), whole.len()), (head, head + length));
        }
    }
}
