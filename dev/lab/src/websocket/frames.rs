//! Converts bytes to messages by the crate `tungstenite`, in pieces of any size. No I/O.
//!
//! `tungstenite` does not know compression. `Compressed` removes the compression bit from the
//! frames first, and decompresses the messages afterwards.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read, Write};

use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};
use tungstenite::{Error, Message};

use super::code;
use super::deflate::Inflater;

/// Opcode of a further frame of a message.
pub const CONTINUATION: u8 = 0;
/// Opcode of a text message.
pub const TEXT: u8 = 1;
/// Opcode of a binary message.
pub const BINARY: u8 = 2;
/// Opcode of a close.
pub const CLOSE: u8 = 8;
/// Opcode of a ping.
pub const PING: u8 = 9;
/// Opcode of the response to a ping.
pub const PONG: u8 = 10;

/// Bit of the last frame of a message.
pub const LAST: u8 = 0x80;
/// Bit of a compressed message.
pub const COMPRESSED: u8 = 0x40;
/// Bits of the opcode.
pub(super) const OPCODE: u8 = 0x0f;

/// Maximum size of a frame head, in bytes.
pub(super) const MAX_HEAD: usize = 14;

/// Maximum size of a message, in bytes.
const MAX_MESSAGE: usize = 64 << 20;

/// Size of a connection's buffer until it receives a longer frame, in bytes.
const BUFFER_SIZE: usize = 1024;

/// A complete message or control frame.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceivedFrame {
    /// A message with this opcode, including the compression bit. With
    /// `--echo`, its decompressed payload.
    Message(u8, Option<Vec<u8>>),
    /// A ping with this payload.
    Ping(Vec<u8>),
    /// A close with this code, if it has one.
    Close(Option<u16>),
}

/// A rule that the client broke: the code to close with, and the reason.
pub type Broken = (u16, String);

/// Reader of one connection.
#[derive(Debug)]
pub struct MessageReader {
    echo: bool,
    context: WebSocketContext,
    input: Input,
    compressed: Option<Compressed>,
}

impl MessageReader {
    /// Creates a reader. With `echo`, messages are stored. With `deflates`, they may be compressed.
    pub fn new(echo: bool, deflates: bool) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_SIZE)
            // `tungstenite` sends nothing here; `Input` discards its frames.
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        Self {
            echo,
            context: WebSocketContext::new(Role::Server, Some(config)),
            input: Input::default(),
            compressed: deflates.then(Compressed::default),
        }
    }

    /// Returns the opcode of the reply to a message with this opcode. It has the compression bit
    /// if compression was negotiated.
    pub fn reply_opcode(&self, opcode: u8) -> u8 {
        if self.compressed.is_some() { opcode | COMPRESSED } else { opcode }
    }

    /// Takes all of `input`, and returns the next event, if there is one.
    ///
    /// # Errors
    ///
    /// The rule that the client broke.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<ReceivedFrame>, Broken> {
        let bytes = std::mem::take(input);
        match &mut self.compressed {
            Some(compressed) => compressed.pass(bytes, &mut self.input.bytes),
            None => self.input.bytes.extend_from_slice(bytes),
        }
        loop {
            let event = match self.context.read(&mut self.input) {
                Ok(Message::Text(text)) => self.message(TEXT, text.as_bytes())?,
                Ok(Message::Binary(bytes)) => self.message(BINARY, &bytes)?,
                Ok(Message::Ping(payload)) => ReceivedFrame::Ping(payload.to_vec()),
                Ok(Message::Close(frame)) => {
                    ReceivedFrame::Close(frame.map(|frame| frame.code.into()))
                }
                Ok(Message::Pong(_) | Message::Frame(_)) => continue,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(None);
                }
                // No frame follows a close.
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(None),
                Err(error) => return Err(broken(&error)),
            };
            return Ok(Some(event));
        }
    }

    fn message(&mut self, opcode: u8, payload: &[u8]) -> Result<ReceivedFrame, Broken> {
        let marked = self
            .compressed
            .as_mut()
            .and_then(|compressed| compressed.opcodes.pop_front())
            .unwrap_or(opcode);
        if !self.echo {
            return Ok(ReceivedFrame::Message(marked, None));
        }
        let payload = match &mut self.compressed {
            Some(compressed) if marked & COMPRESSED != 0 => compressed
                .inflater
                .inflate(payload, MAX_MESSAGE)
                .map_err(|reason| (code::PROTOCOL_ERROR, reason.to_owned()))?,
            _ => payload.to_vec(),
        };
        Ok(ReceivedFrame::Message(marked, Some(payload)))
    }
}

fn broken(error: &Error) -> Broken {
    let code = match error {
        Error::Utf8(_) => code::NOT_TEXT,
        Error::Capacity(_) => code::TOO_LONG,
        _ => code::PROTOCOL_ERROR,
    };
    (code, error.to_string())
}

/// Bytes of the client, as a stream for `tungstenite`.
#[derive(Debug, Default)]
struct Input {
    bytes: Vec<u8>,
    /// Number of bytes that were read.
    read: usize,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let waiting = &self.bytes[self.read..];
        if waiting.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = waiting.len().min(buffer.len());
        buffer[..count].copy_from_slice(&waiting[..count]);
        self.read += count;
        if self.read == self.bytes.len() {
            self.bytes.clear();
            self.read = 0;
        }
        Ok(count)
    }
}

impl Write for Input {
    /// Discards the pongs and closes of `tungstenite`: the server sends them itself, in
    /// order with the replies.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compressed messages of a client (RFC 7692).
#[derive(Debug, Default)]
struct Compressed {
    inflater: Inflater,
    /// Beginning of a frame head.
    head: Vec<u8>,
    /// Number of remaining bytes of the payload.
    payload_remaining: u64,
    /// Opcodes of the messages that have begun, with the compression bit.
    opcodes: VecDeque<u8>,
}

impl Compressed {
    /// Passes frames. Compressed messages become binary messages: they are not text
    /// before they are decompressed.
    fn pass(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            if self.payload_remaining == 0 {
                bytes = self.pass_head(bytes, out);
            }
            let count =
                usize::try_from(self.payload_remaining).unwrap_or(usize::MAX).min(bytes.len());
            let (payload, rest) = bytes.split_at(count);
            out.extend_from_slice(payload);
            self.payload_remaining -= count as u64;
            bytes = rest;
        }
    }

    /// Takes bytes of a head, and returns the remaining ones.
    fn pass_head<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        let before = self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(MAX_HEAD - before)]);
        let mut cursor = Cursor::new(&self.head);
        let (header, length) = match FrameHeader::parse(&mut cursor) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return &bytes[self.head.len() - before..],
            Err(_) => {
                // `tungstenite` finds the same error again, and reports it.
                out.append(&mut self.head);
                return &bytes[bytes.len().min(MAX_HEAD - before)..];
            }
        };
        let end = cursor.position() as usize;
        if let OpCode::Data(Data::Text | Data::Binary) = header.opcode {
            // Only the first frame of a message has its opcode and the compression bit.
            self.opcodes.push_back(self.head[0] & (OPCODE | COMPRESSED));
            if header.rsv1 {
                self.head[0] = self.head[0] & !(OPCODE | COMPRESSED) | BINARY;
            }
        }
        out.extend_from_slice(&self.head[..end]);
        self.head.clear();
        self.payload_remaining = length;
        &bytes[end - before..]
    }
}

/// Returns a masked frame of a client.
#[cfg(test)]
pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = super::frame(first, payload);
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let head = super::head_length(&frame);
    frame[1] |= 0x80;
    frame[head..].iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    frame.splice(head..head, mask);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bytes: &[u8], piece: usize) -> Result<Vec<ReceivedFrame>, Broken> {
        let mut incoming = MessageReader::new(true, false);
        let mut found = Vec::new();
        for mut input in bytes.chunks(piece) {
            while let Some(event) = incoming.next(&mut input)? {
                found.push(event);
            }
        }
        Ok(found)
    }

    #[test]
    fn messages_are_parsed_in_any_pieces() {
        assert_eq!(
            events(&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58], 99),
            Ok(vec![ReceivedFrame::Message(TEXT, Some(b"Hello".to_vec()))]),
            "the example of section 5.7"
        );
        let long = vec![b'x'; 300];
        let all = [
            masked(TEXT, b"Hel"),
            masked(LAST | PING, b"hi"),
            masked(LAST | PONG, b"unasked"),
            masked(LAST, b"lo"),
            masked(LAST | BINARY, &long),
            masked(LAST | TEXT, b""),
            masked(LAST | CLOSE, &1000_u16.to_be_bytes()),
        ];
        let expected = vec![
            ReceivedFrame::Ping(b"hi".to_vec()),
            ReceivedFrame::Message(TEXT, Some(b"Hello".to_vec())),
            ReceivedFrame::Message(BINARY, Some(long)),
            ReceivedFrame::Message(TEXT, Some(Vec::new())),
            ReceivedFrame::Close(Some(1000)),
        ];
        for piece in 1..all.concat().len() {
            assert_eq!(events(&all.concat(), piece).unwrap(), expected, "in pieces of {piece}");
        }
        let closed = [masked(LAST | CLOSE, b""), masked(LAST | TEXT, b"late")].concat();
        assert_eq!(
            events(&closed, 99),
            Ok(vec![ReceivedFrame::Close(None)]),
            "nothing comes after a close"
        );
        let mut counted = MessageReader::new(false, false);
        assert_eq!(
            counted.next(&mut &masked(LAST | TEXT, b"Hello")[..]),
            Ok(Some(ReceivedFrame::Message(TEXT, None)))
        );
    }

    #[test]
    fn compressed_messages_are_decompressed_in_any_pieces() {
        let packed = super::super::deflate::deflate("h\u{e9}llo".as_bytes());
        let (first, second) = packed.split_at(3);
        let all = [
            masked(TEXT | COMPRESSED, first),
            masked(LAST | PING, b"hi"),
            masked(LAST, second),
            masked(LAST | TEXT, b"plain"),
        ];
        let all = all.concat();
        for piece in 1..all.len() {
            let mut incoming = MessageReader::new(true, true);
            let mut events = Vec::new();
            for mut input in all.chunks(piece) {
                while let Some(event) = incoming.next(&mut input).unwrap() {
                    events.push(event);
                }
            }
            let message =
                ReceivedFrame::Message(TEXT | COMPRESSED, Some("h\u{e9}llo".as_bytes().to_vec()));
            let plain = ReceivedFrame::Message(TEXT, Some(b"plain".to_vec()));
            assert_eq!(
                events,
                [ReceivedFrame::Ping(b"hi".to_vec()), message, plain],
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn protocol_violations_are_reported() {
        let text = masked(TEXT, b"a");
        for (bytes, part, expected) in [
            (vec![0x81, 1, 0], "unmasked", 1002),
            ([vec![0xc1, 0x80], vec![0; 4]].concat(), "Reserved bits", 1002),
            ([vec![0x83, 0x80], vec![0; 4]].concat(), "invalid opcode: 3", 1002),
            ([vec![0x80, 0x80], vec![0; 4]].concat(), "nothing to continue", 1002),
            ([text.clone(), text].concat(), "waiting for more fragments", 1002),
            ([vec![0x09, 0x80], vec![0; 4]].concat(), "Fragmented control", 1002),
            ([vec![0x89, 0xfe, 0, 126], vec![0; 130]].concat(), "Control frame too big", 1002),
            ([vec![0x81, 0xff], vec![0xff; 12]].concat(), "", 1009),
            (masked(LAST | CLOSE, b"x"), "Invalid close sequence", 1002),
            (masked(LAST | TEXT, b"abc\xc3\x28"), "UTF-8", 1007),
        ] {
            let (code, reason) = events(&bytes, 1).unwrap_err();
            assert!(code == expected && reason.contains(part), "{part}: {code} {reason}");
        }
    }
}
