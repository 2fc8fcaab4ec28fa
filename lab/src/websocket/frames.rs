//! Bytes to messages: frames of a client (RFC 6455, section 5), in whatever pieces the socket gives.
//!
//! Payloads are counted off; only those of control frames are kept, and with `--echo` those of messages. No I/O.

use super::code;
use super::deflate::Inflater;

/// Opcode of a further frame of a message.
pub const CONTINUATION: u8 = 0;
/// Opcode of a message of text.
pub const TEXT: u8 = 1;
/// Opcode of a message of bytes.
pub const BINARY: u8 = 2;
/// Opcode of a close.
pub const CLOSE: u8 = 8;
/// Opcode of a ping.
pub const PING: u8 = 9;
/// Opcode of the answer to a ping.
pub const PONG: u8 = 10;

/// The bit of the last frame of a message.
pub const LAST: u8 = 0x80;
/// The bit of a message that is compressed.
pub const COMPRESSED: u8 = 0x40;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0f;
const MASKED: u8 = 0x80;

/// The longest payload of a control frame, in bytes.
const LONGEST_CONTROL: u64 = 125;

/// The most bytes of a message that `--echo` keeps.
const MOST_KEPT: usize = 64 << 20;

/// What has come whole.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A message of this opcode, with the bit of compression if it was compressed; with `--echo` its payload, unpacked.
    Message(u8, Option<Vec<u8>>),
    /// A ping with this payload.
    Ping(Vec<u8>),
    /// The client closes, with this code if it gives one.
    Close(Option<u16>),
}

/// A rule that the client broke: the code to close with, and the reason.
pub type Broken = (u16, &'static str);

/// The reader of one connection.
#[derive(Debug, Default)]
pub struct Incoming {
    echo: bool,
    /// Messages may be compressed; unpacks those that are kept.
    inflater: Option<Inflater>,
    /// The incomplete head of a frame.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The opcode of the message that is not complete yet.
    open: Option<u8>,
    /// What was kept of that message.
    kept: Vec<u8>,
    /// The payload of the present control frame.
    control: Vec<u8>,
}

/// A frame whose payload is being read.
#[derive(Debug)]
struct Frame {
    first: u8,
    left: u64,
    mask: [u8; 4],
    /// How much of the payload was read.
    at: usize,
}

impl Incoming {
    /// A reader that keeps messages when `echo` is set. They may be compressed when `deflates` is.
    pub fn new(echo: bool, deflates: bool) -> Self {
        Self { echo, inflater: deflates.then(Inflater::default), ..Self::default() }
    }

    /// The opcode of the reply to a message of this one: it is compressed where that was agreed on.
    pub fn reply_opcode(&self, opcode: u8) -> u8 {
        if self.inflater.is_some() { opcode | COMPRESSED } else { opcode }
    }

    /// Reads on in `input`, which is moved past what was used; none when all of it is used.
    ///
    /// # Errors
    ///
    /// The rule that the client broke.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Event>, Broken> {
        loop {
            if self.frame.is_none() {
                self.frame = self.read_head(input)?;
            }
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let count = usize::try_from(frame.left).unwrap_or(usize::MAX).min(input.len());
            let (payload, rest) = input.split_at(count);
            *input = rest;
            let kept = match frame.first & OPCODE {
                CLOSE.. => Some(&mut self.control),
                _ => Some(&mut self.kept).filter(|_| self.echo),
            };
            if let Some(kept) = kept {
                if kept.len() + count > MOST_KEPT {
                    return Err((code::TOO_LONG, "a message too long to echo"));
                }
                let mask = frame.mask.iter().cycle().skip(frame.at % 4);
                kept.extend(payload.iter().zip(mask).map(|(byte, mask)| byte ^ mask));
            }
            (frame.left, frame.at) = (frame.left - count as u64, frame.at + count);
            if frame.left > 0 {
                return Ok(None);
            }
            let first = frame.first;
            self.frame = None;
            if let Some(event) = self.end_frame(first)? {
                return Ok(Some(event));
            }
        }
    }

    /// The event that the end of a frame is, if it is one.
    fn end_frame(&mut self, first: u8) -> Result<Option<Event>, Broken> {
        match first & OPCODE {
            PING => Ok(Some(Event::Ping(std::mem::take(&mut self.control)))),
            PONG => {
                self.control.clear();
                Ok(None)
            }
            CLOSE => match std::mem::take(&mut self.control)[..] {
                [] => Ok(Some(Event::Close(None))),
                [_] => Err((code::PROTOCOL_ERROR, "a close with half of a code")),
                [high, low, ..] => Ok(Some(Event::Close(Some(u16::from_be_bytes([high, low]))))),
            },
            _ if first & LAST == 0 => Ok(None),
            _ => {
                let Some(opcode) = self.open.take() else { return Ok(None) };
                let kept = self.echo.then(|| std::mem::take(&mut self.kept));
                let payload = match (kept, &mut self.inflater) {
                    (Some(packed), Some(inflater)) if opcode & COMPRESSED != 0 => {
                        let unpacked = inflater.inflate(&packed, MOST_KEPT);
                        Some(unpacked.map_err(|reason| (code::PROTOCOL_ERROR, reason))?)
                    }
                    (kept, _) => kept,
                };
                Ok(Some(Event::Message(opcode, payload)))
            }
        }
    }

    fn read_head(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, Broken> {
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            self.head.push(byte);
            let [first, second, ref more @ ..] = self.head[..] else { continue };
            if more.is_empty() {
                self.check(first, second)?;
            }
            let extended = match second & !MASKED {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            if more.len() < extended + 4 {
                continue;
            }
            let (length, mask) = more.split_at(extended);
            let left = match extended {
                0 => u64::from(second & !MASKED),
                _ => length.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            };
            if left > i64::MAX as u64 {
                return Err((code::PROTOCOL_ERROR, "a length above 2^63-1"));
            }
            let frame = Frame { first, left, mask: [mask[0], mask[1], mask[2], mask[3]], at: 0 };
            if matches!(first & OPCODE, TEXT | BINARY) {
                self.open = Some(first & (OPCODE | COMPRESSED));
            }
            self.head.clear();
            return Ok(Some(frame));
        }
        Ok(None)
    }

    fn may_be_compressed(&self, first: u8) -> bool {
        let begins = matches!(first & OPCODE, TEXT | BINARY);
        first & RESERVED == COMPRESSED && begins && self.inflater.is_some()
    }

    fn check(&self, first: u8, second: u8) -> Result<(), Broken> {
        let (opcode, last) = (first & OPCODE, first & LAST != 0);
        let wrong = match opcode {
            _ if first & RESERVED != 0 && !self.may_be_compressed(first) => Some("a reserved bit"),
            _ if second & MASKED == 0 => Some("a frame without a mask"),
            CONTINUATION => self.open.is_none().then_some("a continuation of no message"),
            TEXT | BINARY if self.open.is_some() => Some("a message within a message"),
            TEXT | BINARY => None,
            CLOSE | PING | PONG if !last => Some("a control frame in fragments"),
            CLOSE | PING | PONG => {
                (u64::from(second & !MASKED) > LONGEST_CONTROL).then_some("a control frame above 125 bytes")
            }
            _ => Some("an opcode that is not defined"),
        };
        wrong.map_or(Ok(()), |reason| Err((code::PROTOCOL_ERROR, reason)))
    }
}

/// A masked frame, as a client sends it.
#[cfg(test)]
pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = super::frame(first, payload);
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let head = super::head_length(&frame);
    frame[1] |= MASKED;
    frame[head..].iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    frame.splice(head..head, mask);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(bytes: &[u8], piece: usize) -> Result<Vec<Event>, Broken> {
        let mut incoming = Incoming::new(true, false);
        let mut found = Vec::new();
        for mut input in bytes.chunks(piece) {
            while let Some(event) = incoming.next(&mut input)? {
                found.push(event);
            }
        }
        Ok(found)
    }

    #[test]
    fn messages_are_the_same_however_they_are_cut() {
        assert_eq!(
            events(&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58], 99),
            Ok(vec![Event::Message(TEXT, Some(b"Hello".to_vec()))]),
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
            masked(LAST | CLOSE, b""),
        ];
        let expected = vec![
            Event::Ping(b"hi".to_vec()),
            Event::Message(TEXT, Some(b"Hello".to_vec())),
            Event::Message(BINARY, Some(long)),
            Event::Message(TEXT, Some(Vec::new())),
            Event::Close(Some(1000)),
            Event::Close(None),
        ];
        for piece in 1..all.concat().len() {
            assert_eq!(events(&all.concat(), piece).unwrap(), expected, "in pieces of {piece}");
        }
        let mut counted = Incoming::new(false, false);
        assert_eq!(counted.next(&mut &masked(LAST | TEXT, b"Hello")[..]), Ok(Some(Event::Message(TEXT, None))));
    }

    #[test]
    fn broken_rules_are_told() {
        let text = masked(TEXT, b"a");
        for (bytes, said) in [
            (vec![0x81, 5], "without a mask"),
            (vec![0xc1, 0x80], "reserved bit"),
            (vec![0x83, 0x80], "opcode"),
            (vec![0x80, 0x80], "continuation of no message"),
            ([text.clone(), text].concat(), "within a message"),
            (vec![0x09, 0x80], "in fragments"),
            (vec![0x89, 0xfe], "above 125 bytes"),
            ([vec![0x81, 0xff], vec![0xff; 12]].concat(), "a length above"),
            (masked(LAST | CLOSE, b"x"), "half of a code"),
        ] {
            let (code, reason) = events(&bytes, 1).unwrap_err();
            assert!(code == 1002 && reason.contains(said), "{said}: {reason}");
        }
    }
}
