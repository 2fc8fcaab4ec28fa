//! Serves WebSocket (RFC 6455): frames by the crate `tungstenite`, which shares no code
//! with the load generator.
//!
//! A connection becomes a WebSocket by `Upgrade: websocket`, an HTTP/2 stream by an extended
//! CONNECT ([`crate::h2::websocket`]). Each message of the client is a request for the path of the
//! handshake. [`crate::planner`] plans its reply, which is one message of the same kind. Replies
//! leave in the order of the messages. Pings and closes are answered immediately.
//!
//! | module | contents |
//! |---|---|
//! | [`frames`], [`deflate`] | bytes to messages; compressed messages |
//! | [`hostile`] | bytes that break rules on request |
//! | `serve` | its part of the event loop |

pub mod deflate;
pub mod frames;
pub mod hostile;
mod serve;

use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::OpCode;

use crate::hostile::{HostileReply, HostileRow, Trigger};
use crate::request::ReplyRoute;
use deflate::Agreement;
use frames::{CLOSE, COMPRESSED, CONTINUATION, LAST, MAX_HEAD, MessageReader, OPCODE, PONG};

/// Status under which replies to messages are counted: that of the protocol switch.
pub const STATUS: u16 = 101;

/// Codes with which a WebSocket is closed (section 7.4.1).
pub mod code {
    /// The connection ends normally.
    pub const NORMAL: u16 = 1000;
    /// The connection was idle for too long.
    pub const GOING_AWAY: u16 = 1001;
    /// The client broke a rule.
    pub const PROTOCOL_ERROR: u16 = 1002;
    /// A text message is not UTF-8.
    pub const NOT_TEXT: u16 = 1007;
    /// A message is too long.
    pub const TOO_LONG: u16 = 1009;
    /// A request fails on purpose with an HTTP status.
    pub const INTERNAL_ERROR: u16 = 1011;
}

/// One WebSocket: its route, and the state of incoming messages.
#[derive(Debug)]
pub struct WebSocketConnection {
    route: ReplyRoute,
    incoming: MessageReader,
    /// A pong or close to send. A later one replaces it.
    pub control: Option<Vec<u8>>,
    /// Function that writes a hostile row instead of replies.
    hostile: Option<fn(&mut hostile::WebSocketRowOutput)>,
}

impl WebSocketConnection {
    /// Creates a WebSocket for this route. A hostile row may replace its replies.
    pub fn new(route: ReplyRoute, incoming: MessageReader, row: Option<&HostileRow>) -> Self {
        let hostile = row.filter(|row| row.trigger == Trigger::Request).and_then(row_writer);
        Self { route, incoming, control: None, hostile }
    }

    /// Returns the output of the hostile row, if it replaces replies.
    pub fn send_row(&self) -> Option<hostile::WebSocketRowOutput> {
        let mut output = hostile::WebSocketRowOutput::default();
        self.hostile.map(|write| write(&mut output)).map(|()| output)
    }

    /// Announces the end of the connection to the client.
    pub fn close(&mut self, code: u16) {
        self.control = Some(frame(LAST | CLOSE, &code.to_be_bytes()));
    }

    fn pong(&mut self, payload: &[u8]) {
        self.control = Some(frame(LAST | PONG, payload));
    }
}

fn row_writer(row: &HostileRow) -> Option<fn(&mut hostile::WebSocketRowOutput)> {
    if let HostileReply::WebSocket(write) = row.writer { Some(write) } else { None }
}

/// Returns the hostile response to a handshake with this key, if the row has one.
pub fn greeting(row: Option<&HostileRow>, key: &[u8]) -> Option<Vec<u8>> {
    let write = row.filter(|row| row.trigger == Trigger::Greeting).and_then(row_writer)?;
    let mut output =
        hostile::WebSocketRowOutput { key: key.to_vec(), ..hostile::WebSocketRowOutput::default() };
    write(&mut output);
    Some(output.out)
}

/// Returns the response that accepts the handshake.
pub fn switching(key: &[u8], agreement: Option<&Agreement>) -> Vec<u8> {
    let accept = derive_accept_key(key);
    let extensions = agreement.map_or_else(String::new, |agreement| {
        format!("Sec-WebSocket-Extensions: {}\r\n", agreement.answer)
    });
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{extensions}\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}

/// Returns a message in frames of at most this number of bytes.
///
/// An opcode with the compression bit makes a compressed message.
pub fn message(opcode: u8, payload: &[u8], longest: usize) -> Vec<u8> {
    if opcode & COMPRESSED != 0 {
        let packed = deflate::deflate(payload);
        return frames_of(opcode, &packed, longest);
    }
    frames_of(opcode, payload, longest)
}

fn frames_of(opcode: u8, payload: &[u8], longest: usize) -> Vec<u8> {
    // Also an empty message needs a frame.
    if payload.len() <= longest {
        return frame(LAST | opcode, payload);
    }
    let last = payload.len().div_ceil(longest) - 1;
    let pieces = payload.chunks(longest).enumerate();
    let frames = pieces.map(|(index, piece)| {
        let first = if index == 0 { opcode } else { CONTINUATION };
        frame(if index == last { LAST | first } else { first }, piece)
    });
    frames.collect::<Vec<_>>().concat()
}

/// Returns the start of the payload in a frame without a mask.
pub fn head_length(frame: &[u8]) -> usize {
    match frame.get(1) {
        Some(126) => 4,
        Some(127) => 10,
        _ => 2,
    }
}

/// Returns a frame without a mask, with this first byte.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let header = FrameHeader {
        is_final: first & LAST != 0,
        rsv1: first & COMPRESSED != 0,
        opcode: OpCode::from(first & OPCODE),
        ..FrameHeader::default()
    };
    let mut frame = Vec::with_capacity(payload.len() + MAX_HEAD);
    // Writing to a `Vec` does not fail.
    let _ = header.format(payload.len() as u64, &mut frame);
    frame.extend_from_slice(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_matches_the_standard() {
        let answer = String::from_utf8(switching(b"dGhlIHNhbXBsZSBub25jZQ==", None)).unwrap();
        assert!(
            answer.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
            "{answer}"
        );
    }

    #[test]
    fn messages_are_split_on_request() {
        assert_eq!(message(1, b"Hello", 5), [0x81, 5, b'H', b'e', b'l', b'l', b'o']);
        assert_eq!(message(1, b"Hello", 3), [1, 3, b'H', b'e', b'l', 0x80, 2, b'l', b'o']);
        assert_eq!(message(2, b"", 1), [0x82, 0]);
        for (length, head) in [(125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let whole = message(2, &vec![7; length], length);
            assert_eq!((head_length(&whole), whole.len()), (head, head + length));
        }
    }
}
