//! Writes frames of `WebSocket`s (RFC 6455 section 5), and parses them from pieces of any size.

use super::agreement::MessageCompression;
use super::inflate::{Inflater, MESSAGE_END};
use super::utf8::Utf8Validator;
use brunt_model::Body;
use brunt_model::outcome::MalformedReply;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
/// Opcode of a close frame.
pub const CLOSE: u8 = 8;
/// Opcode of a ping.
pub const PING: u8 = 9;
/// Opcode of a pong.
pub const PONG: u8 = 10;
const LAST: u8 = 0x80;
const MASKED: u8 = 0x80;
const RESERVED: u8 = 0x70;
/// Flag of a compressed message.
pub const COMPRESSED: u8 = 0x40;

/// Returns the masked frame of a message. None if the body is empty.
pub fn message(body: &Body, number: u64) -> Option<Vec<u8>> {
    payload(body).map(|(opcode, payload)| frame(opcode, payload, number))
}

/// Returns the opcode and payload of a message. None if there is no body.
pub fn payload(body: &Body) -> Option<(u8, &[u8])> {
    let opcode = if matches!(body, Body::Text(_)) { TEXT } else { BINARY };
    body.bytes().map(|bytes| (opcode, bytes))
}

/// Returns a frame with a mask derived from `number`.
pub fn frame(opcode: u8, payload: &[u8], number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_frame(&mut out, opcode, payload, number);
    out
}

/// Appends a frame with a mask derived from `number`. Masks protect intermediaries between a
/// browser and a server. Here they need only differ from each other.
pub fn put_frame(out: &mut Vec<u8>, opcode: u8, payload: &[u8], number: u64) {
    out.push(LAST | opcode);
    match payload.len() {
        length @ 0..126 => out.push(MASKED | length as u8),
        length @ 126..65_536 => {
            out.push(MASKED | 0x7e);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(MASKED | 0x7f);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    // The factor is 2^64 divided by the golden ratio. It spreads consecutive numbers over all bits.
    let mask = ((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
    let mask = mask.to_be_bytes();
    out.extend_from_slice(&mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

/// A complete message or control frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocketEvent {
    /// A message. Its payload was passed to the caller's closure.
    Message,
    /// A ping, with the payload to return.
    Ping(Vec<u8>),
    /// A pong, with the payload of its ping.
    Pong(Vec<u8>),
    /// A close frame, with its optional code and its reason.
    Close { code: Option<u16>, reason: String },
}

/// True if a server may close with this code (RFC 6455 section 7.4).
fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// State of the parser of received frames.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // states of the connection and of the message
pub struct FrameReader {
    /// The beginning of a frame's head.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The payload of a control frame.
    control: Vec<u8>,
    /// True between the first and the last frame of a message.
    is_in_message: bool,
    /// True if messages may be compressed (RFC 7692).
    allows_compression: bool,
    /// Decompresses messages that may refer to earlier ones. None: each is compressed separately,
    /// so that only messages are decompressed that are needed.
    inflater: Option<Box<Inflater>>,
    /// True if the current message is decompressed here.
    is_inflated: bool,
    /// True if the current message is passed on compressed.
    is_compressed: bool,
    /// Validates the current message, if it is uncompressed text.
    text: Option<Utf8Validator>,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    is_last: bool,
    opcode: u8,
    remaining: u64,
}

impl FrameReader {
    /// Creates the initial state for the negotiated compression of messages.
    pub fn new(compression: Option<MessageCompression>) -> Self {
        let keeps_context = compression.is_some_and(|compression| compression.keeps_context);
        Self {
            allows_compression: compression.is_some(),
            inflater: keeps_context.then(Box::default),
            ..Self::default()
        }
    }

    /// Parses bytes up to the end of the next message or control frame. Returns the number of bytes
    /// used. Payloads of messages are passed to `body`.
    pub fn parse(
        &mut self,
        bytes: &[u8],
        body: &mut dyn FnMut(&[u8], bool),
    ) -> Result<(usize, Option<WebSocketEvent>), MalformedReply> {
        let mut used = 0;
        loop {
            let frame =
                if self.frame.is_some() { self.frame } else { self.read_head(bytes, &mut used)? };
            let Some(frame) = frame else { return Ok((used, None)) };
            let piece = &bytes[used..];
            let piece =
                &piece[..piece.len().min(usize::try_from(frame.remaining).unwrap_or(usize::MAX))];
            used += piece.len();
            if frame.opcode >= CLOSE {
                self.control.extend_from_slice(piece);
            } else if !piece.is_empty() {
                self.push_piece(piece, body)?;
            }
            let remaining = frame.remaining - piece.len() as u64;
            if remaining > 0 {
                self.frame = Some(Frame { remaining, ..frame });
                return Ok((used, None));
            }
            self.frame = None;
            if self.is_inflated && frame.is_last && frame.opcode < CLOSE {
                self.push_piece(&MESSAGE_END, body)?;
            }
            if let Some(event) = self.end_frame(frame)? {
                return Ok((used, Some(event)));
            }
        }
    }

    /// Passes a piece of a message to `body`, decompressed if later messages may refer to it.
    fn push_piece(
        &mut self,
        piece: &[u8],
        body: &mut dyn FnMut(&[u8], bool),
    ) -> Result<(), MalformedReply> {
        let Self { inflater, is_inflated, is_compressed, text, .. } = self;
        let mut is_text = true;
        let mut pass_on = |piece: &[u8]| {
            is_text &= text.as_mut().is_none_or(|text| text.push(piece));
            body(piece, *is_compressed);
        };
        match inflater {
            Some(inflater) if *is_inflated => inflater.push(piece, &mut pass_on)?,
            _ => pass_on(piece),
        }
        if is_text { Ok(()) } else { Err(MalformedReply::WebSocketText) }
    }

    /// True between the beginning and the end of a message.
    pub fn is_within_message(&self) -> bool {
        self.is_in_message
            || self.frame.is_some_and(|frame| frame.opcode < CLOSE)
            || self.head.first().is_some_and(|first| first & 0x0f < CLOSE)
    }

    /// True if the current message is passed on compressed.
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// Ends a complete frame. Returns an event unless it is a part of a longer message.
    fn end_frame(&mut self, frame: Frame) -> Result<Option<WebSocketEvent>, MalformedReply> {
        if frame.opcode < CLOSE {
            self.is_in_message = !frame.is_last;
            if frame.is_last && self.text.take().is_some_and(|text| !text.is_whole()) {
                return Err(MalformedReply::WebSocketText);
            }
            return Ok(frame.is_last.then_some(WebSocketEvent::Message));
        }
        let payload = std::mem::take(&mut self.control);
        Ok(Some(match frame.opcode {
            PING => WebSocketEvent::Ping(payload),
            PONG => WebSocketEvent::Pong(payload),
            _ => match payload.as_slice() {
                [] => WebSocketEvent::Close { code: None, reason: String::new() },
                [a, b, reason @ ..] => {
                    let code = u16::from_be_bytes([*a, *b]);
                    let reason = std::str::from_utf8(reason).ok().filter(|_| is_close_code(code));
                    let reason = reason.ok_or(MalformedReply::WebSocketClose)?.to_owned();
                    WebSocketEvent::Close { code: Some(code), reason }
                }
                // A close code has two bytes (RFC 6455 section 5.5.1).
                [_] => return Err(MalformedReply::WebSocketClose),
            },
        }))
    }

    /// Reads the head of a frame. None if it is incomplete.
    fn read_head(
        &mut self,
        bytes: &[u8],
        used: &mut usize,
    ) -> Result<Option<Frame>, MalformedReply> {
        while *used < bytes.len() {
            self.head.push(bytes[*used]);
            *used += 1;
            let [first, second, extended @ ..] = self.head.as_slice() else { continue };
            let is_last = first & LAST != 0;
            let opcode = first & 0x0f;
            let is_control = opcode >= CLOSE;
            let begins_message = matches!(opcode, TEXT | BINARY);
            let reserved = first & RESERVED;
            let is_allowed = reserved == 0
                || (reserved == COMPRESSED && begins_message && self.allows_compression);
            if !matches!(opcode, CONTINUATION..=BINARY | CLOSE..=PONG) {
                return Err(MalformedReply::WebSocketOpcode);
            }
            if !is_allowed {
                return Err(MalformedReply::WebSocketReserved);
            }
            if second & MASKED != 0 {
                return Err(MalformedReply::WebSocketMask);
            }
            if is_control && !(is_last && second & !MASKED < 126) {
                return Err(MalformedReply::WebSocketControl);
            }
            // Control frames may stand between the frames of a message (RFC 6455 section 5.4).
            if !is_control && self.is_in_message != (opcode == CONTINUATION) {
                return Err(MalformedReply::WebSocketFragment);
            }
            if begins_message {
                self.is_inflated = reserved == COMPRESSED && self.inflater.is_some();
                self.is_compressed = reserved == COMPRESSED && !self.is_inflated;
                // A compressed text can be validated only after decompression.
                self.text = (opcode == TEXT && !self.is_compressed).then(Utf8Validator::default);
            }
            let extended_length = match second & !MASKED {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            if extended.len() < extended_length {
                continue;
            }
            let length = extended.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            let remaining = if extended_length == 0 { u64::from(*second) } else { length };
            // A length must be written in the shortest way (RFC 6455 section 5.2).
            let is_minimal = match extended_length {
                0 => true,
                2 => length > 125,
                _ => length > 0xffff,
            };
            if remaining >> 63 != 0 || !is_minimal {
                return Err(MalformedReply::WebSocketLength);
            }
            self.head.clear();
            self.frame = Some(Frame { is_last, opcode, remaining });
            return Ok(self.frame);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unmasked(frame: &[u8]) -> Vec<u8> {
        let (head, payload) = match frame[1] & 0x7f {
            126 => (4, &frame[8..]),
            127 => (10, &frame[14..]),
            _ => (2, &frame[6..]),
        };
        let mask = &frame[head..head + 4];
        payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()
    }

    #[test]
    fn messages_are_framed_and_masked() {
        assert_eq!(message(&Body::None, 1), None);
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let text = "x".repeat(length);
            let one = message(&Body::Text(text.as_str().into()), 7).unwrap();
            assert_eq!(
                (one[0], one[1] & MASKED, unmasked(&one)),
                (0x81, MASKED, text.into_bytes())
            );
        }
        assert_eq!(message(&Body::from_bytes(vec![1, 2]), 0).unwrap()[0], 0x82);
        assert_ne!(frame(TEXT, b"abc", 1), frame(TEXT, b"abc", 2));
    }

    /// Returns the events in these bytes, and the bodies of messages.
    fn events(
        bytes: &[u8],
        piece: usize,
    ) -> Result<(Vec<WebSocketEvent>, Vec<u8>), MalformedReply> {
        let (mut incoming, mut events, mut body) = (FrameReader::default(), Vec::new(), Vec::new());
        for mut rest in bytes.chunks(piece) {
            while !rest.is_empty() {
                let (used, event) =
                    incoming.parse(rest, &mut |piece, _| body.extend_from_slice(piece))?;
                events.extend(event);
                rest = &rest[used..];
            }
        }
        Ok((events, body))
    }

    #[test]
    fn frames_are_parsed_in_any_pieces() {
        let long = "z".repeat(300);
        let bytes = [
            &b"\x01\x02He\x89\x02hi\x80\x03llo\x8a\x00\x82\x00"[..],
            b"\x81\x7e\x01\x2c",
            long.as_bytes(),
            b"\x88\x05\x03\xe8bye",
        ]
        .concat();
        let whole = [
            WebSocketEvent::Ping(b"hi".to_vec()),
            WebSocketEvent::Message,
            WebSocketEvent::Pong(Vec::new()),
            WebSocketEvent::Message,
            WebSocketEvent::Message,
        ];
        let whole =
            [&whole[..], &[WebSocketEvent::Close { code: Some(1000), reason: "bye".into() }]]
                .concat();
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(
                events(&bytes, piece),
                Ok((whole.clone(), format!("Hello{long}").into_bytes()))
            );
        }
    }

    #[test]
    fn malformed_frames_are_refused() {
        let cases: [(MalformedReply, &[&[u8]]); 8] = [
            (
                MalformedReply::WebSocketLength,
                &[
                    b"\x81\x7e\x00\x7d",
                    b"\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff",
                    b"\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00",
                ],
            ),
            (
                MalformedReply::WebSocketText,
                &[b"\x81\x02\xc3\x28", b"\x81\x02\xe2\x82", b"\x01\x01\xed\x80\x02\xa0\x80"],
            ),
            (
                MalformedReply::WebSocketClose,
                &[
                    b"\x88\x02\x00\x00",
                    b"\x88\x02\x03\xec",
                    b"\x88\x02\x03\xed",
                    b"\x88\x02\x13\x88",
                    b"\x88\x03\x03\xe8\xff",
                    b"\x88\x01a",
                ],
            ),
            (MalformedReply::WebSocketMask, &[b"\x81\x81abcd", b"\x89\x80abcd"]),
            (MalformedReply::WebSocketReserved, &[b"\xc1\x00", b"\xa1\x00", b"\x91\x00"]),
            (MalformedReply::WebSocketOpcode, &[b"\x83\x00", b"\x8b\x00", b"\x8f\x00"]),
            (MalformedReply::WebSocketFragment, &[b"\x80\x00", b"\x01\x00\x81\x00"]),
            (MalformedReply::WebSocketControl, &[b"\x09\x00", b"\x89\x7e\x00\x7e"]),
        ];
        for (rule, frames) in cases {
            for bytes in frames {
                assert_eq!(events(bytes, 100), Err(rule), "{bytes:?}");
            }
        }
    }

    const SEPARATE: Option<MessageCompression> =
        Some(MessageCompression { window_bits: 15, keeps_context: false });

    #[test]
    fn compressed_messages_need_a_negotiated_extension() {
        let bytes = b"\x41\x02ab\x80\x01c\x81\x01d";
        let mut seen = Vec::new();
        let (mut incoming, mut rest) = (FrameReader::new(SEPARATE), &bytes[..]);
        while !rest.is_empty() {
            let (used, _) = incoming
                .parse(rest, &mut |piece, is_compressed| seen.push((piece.to_vec(), is_compressed)))
                .unwrap();
            rest = &rest[used..];
        }
        assert_eq!(seen, [(b"ab".to_vec(), true), (b"c".to_vec(), true), (b"d".to_vec(), false)]);
        let refused = Err(MalformedReply::WebSocketReserved);
        assert_eq!(events(bytes, 100), refused, "it was not agreed");
        for bytes in [&b"\xc9\x00"[..], b"\x01\x01a\xc0\x01b", b"\xa1\x00"] {
            assert!(FrameReader::new(SEPARATE).parse(bytes, &mut |_, _| ()).is_err(), "{bytes:?}");
        }
    }

    /// Compresses messages as a server that keeps its context, as frames with a payload of at most
    /// `piece` bytes. Every third message is not compressed.
    fn with_context(messages: &[Vec<u8>], piece: usize) -> Vec<u8> {
        let mut compress = flate2::Compress::new(flate2::Compression::default(), false);
        let mut out = Vec::new();
        for (number, message) in messages.iter().enumerate() {
            let is_compressed = number % 3 != 2;
            let mut packed = Vec::with_capacity(message.len() + 100);
            if is_compressed {
                let flush = flate2::FlushCompress::Sync;
                compress.compress_vec(message, &mut packed, flush).unwrap();
                assert!(packed.ends_with(&MESSAGE_END));
                packed.truncate(packed.len() - MESSAGE_END.len());
            } else {
                packed.extend_from_slice(message);
            }
            let pieces: Vec<&[u8]> = packed.chunks(piece).collect();
            let pieces = if pieces.is_empty() { vec![&[][..]] } else { pieces };
            for (index, part) in pieces.iter().enumerate() {
                let first = if index == 0 { BINARY } else { CONTINUATION };
                let bits = if index == 0 && is_compressed { COMPRESSED } else { 0 };
                let last = if index + 1 == pieces.len() { LAST } else { 0 };
                out.push(first | bits | last);
                out.push(part.len() as u8);
                out.extend_from_slice(part);
            }
        }
        out
    }

    const WITH_CONTEXT: Option<MessageCompression> =
        Some(MessageCompression { window_bits: 15, keeps_context: true });

    proptest! {
        #[test]
        fn messages_that_refer_to_earlier_ones_are_decompressed(
            word: Vec<u8>,
            times in proptest::collection::vec(0_usize..300, 1..8),
            piece in 1_usize..126,
            read in 1_usize..300,
        ) {
            let messages: Vec<_> = times.iter().map(|times| word.repeat(*times)).collect();
            let bytes = with_context(&messages, piece);
            let mut incoming = FrameReader::new(WITH_CONTEXT);
            let (mut received, mut message) = (Vec::new(), Vec::new());
            for mut rest in bytes.chunks(read) {
                while !rest.is_empty() {
                    let mut keep = |piece: &[u8], is_compressed: bool| {
                        assert!(!is_compressed);
                        message.extend_from_slice(piece);
                    };
                    let (used, event) = incoming.parse(rest, &mut keep).unwrap();
                    rest = &rest[used..];
                    if event.is_some() {
                        received.push(std::mem::take(&mut message));
                    }
                }
            }
            prop_assert_eq!(received, messages);
        }

        #[test]
        fn any_compressed_bytes_are_decompressed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            let frame = [&[LAST | COMPRESSED | TEXT, bytes.len() as u8], &bytes[..]].concat();
            let mut length = 0;
            let parsed = FrameReader::new(WITH_CONTEXT)
                .parse(&frame, &mut |piece, _| length += piece.len());
            let is_known = matches!(
                parsed,
                Ok(_) | Err(MalformedReply::WebSocketDeflate | MalformedReply::WebSocketText)
            );
            prop_assert!(is_known, "{:?}", parsed);
        }

        #[test]
        fn any_bytes_give_the_same_result_in_any_pieces(bytes: Vec<u8>, piece in 1_usize..20) {
            prop_assert_eq!(events(&bytes, piece).is_ok(), events(&bytes, 10_000).is_ok());
        }

        #[test]
        fn text_may_be_split_within_characters(text: String, piece in 1_usize..9) {
            let mut bytes = vec![0x01, 0];
            for piece in text.as_bytes().chunks(piece) {
                bytes.extend([0, piece.len() as u8]);
                bytes.extend_from_slice(piece);
            }
            bytes.extend([0x80, 0]);
            prop_assert_eq!(events(&bytes, 7), Ok((vec![WebSocketEvent::Message], text.into_bytes())));
        }
    }
}
