//! Frames, numbers and error codes (RFC 9114 sections 6 to 8, RFC 9000 section 16).

use crate::contract::MAX_HEAD;
use brunt_model::outcome::MalformedReply;

pub const DATA: u64 = 0;
pub const HEADERS: u64 = 1;
pub const CANCEL_PUSH: u64 = 3;
pub const SETTINGS: u64 = 4;
pub const PUSH_PROMISE: u64 = 5;
pub const GOAWAY: u64 = 7;
pub const MAX_PUSH_ID: u64 = 0xd;
/// Frame types of HTTP/2 that are forbidden in HTTP/3.
pub const HTTP2_FRAMES: [u64; 4] = [2, 6, 8, 9];

/// Type of a control stream. The constants below are further types of unidirectional streams.
pub const CONTROL_STREAM: u64 = 0;
pub const PUSH_STREAM: u64 = 1;
pub const ENCODER_STREAM: u64 = 2;
pub const DECODER_STREAM: u64 = 3;

const MAX_FIELD_SECTION_SIZE: u64 = 6;
/// Settings of HTTP/2 that are forbidden in HTTP/3.
pub const HTTP2_SETTINGS: [u64; 4] = [2, 3, 4, 5];

/// Error code that ends a stream or connection (RFC 9114 section 8.1, RFC 9204 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Http3ErrorCode {
    NoError = 0x100,
    ClosedCriticalStream = 0x104,
    FrameUnexpected = 0x105,
    FrameError = 0x106,
    ExcessiveLoad = 0x107,
    IdError = 0x108,
    SettingsError = 0x109,
    MissingSettings = 0x10a,
    RequestRejected = 0x10b,
    RequestCancelled = 0x10c,
    MessageError = 0x10e,
    StreamCreation = 0x103,
    DecompressionFailed = 0x200,
    EncoderStream = 0x201,
    DecoderStream = 0x202,
}

/// Returns the cause of failure for a stream that was reset with this error code.
pub fn reset_cause(code: u64) -> MalformedReply {
    match code {
        0x100 => MalformedReply::ResetH3NoError,
        0x101 => MalformedReply::ResetH3GeneralProtocolError,
        0x102 => MalformedReply::ResetH3InternalError,
        0x103 => MalformedReply::ResetH3StreamCreationError,
        0x104 => MalformedReply::ResetH3ClosedCriticalStream,
        0x105 => MalformedReply::ResetH3FrameUnexpected,
        0x106 => MalformedReply::ResetH3FrameError,
        0x107 => MalformedReply::ResetH3ExcessiveLoad,
        0x108 => MalformedReply::ResetH3IdError,
        0x109 => MalformedReply::ResetH3SettingsError,
        0x10a => MalformedReply::ResetH3MissingSettings,
        0x10b => MalformedReply::ResetH3RequestRejected,
        0x10c => MalformedReply::ResetH3RequestCancelled,
        0x10d => MalformedReply::ResetH3RequestIncomplete,
        0x10e => MalformedReply::ResetH3MessageError,
        0x10f => MalformedReply::ResetH3ConnectError,
        0x110 => MalformedReply::ResetH3VersionFallback,
        _ => MalformedReply::ResetH3Unknown,
    }
}

/// Returns the cause of failure for a connection that the peer closed with this error code. None if
/// it closed without an error.
pub fn close_cause(code: u64) -> Option<MalformedReply> {
    Some(match code {
        0x100 => return None,
        0x101 => MalformedReply::ClosedH3GeneralProtocolError,
        0x102 => MalformedReply::ClosedH3InternalError,
        0x103 => MalformedReply::ClosedH3StreamCreationError,
        0x104 => MalformedReply::ClosedH3ClosedCriticalStream,
        0x105 => MalformedReply::ClosedH3FrameUnexpected,
        0x106 => MalformedReply::ClosedH3FrameError,
        0x107 => MalformedReply::ClosedH3ExcessiveLoad,
        0x108 => MalformedReply::ClosedH3IdError,
        0x109 => MalformedReply::ClosedH3SettingsError,
        0x10a => MalformedReply::ClosedH3MissingSettings,
        0x10b => MalformedReply::ClosedH3RequestRejected,
        0x10c => MalformedReply::ClosedH3RequestCancelled,
        0x10d => MalformedReply::ClosedH3RequestIncomplete,
        0x10e => MalformedReply::ClosedH3MessageError,
        0x10f => MalformedReply::ClosedH3ConnectError,
        0x110 => MalformedReply::ClosedH3VersionFallback,
        0x200..=0x202 => MalformedReply::ClosedQpack,
        _ => MalformedReply::ClosedH3Unknown,
    })
}

/// Returns the number at the start of `bytes`, and its length. None if more bytes are needed.
pub fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    // The first two bits are the logarithm of the length (RFC 9000 section 16).
    let length = 1 << (first >> 6);
    let rest = bytes.get(1..length)?;
    Some((
        rest.iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte)),
        length,
    ))
}

/// Appends a number.
pub fn put_number(out: &mut Vec<u8>, number: u64) {
    match number {
        0..0x40 => out.push(number as u8),
        0x40..0x4000 => out.extend_from_slice(&(number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(number as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Returns the start of this client's control stream: its type, and the settings, which
/// allow no dynamic table.
pub fn control_stream() -> Vec<u8> {
    let mut settings = Vec::new();
    put_number(&mut settings, MAX_FIELD_SECTION_SIZE);
    put_number(&mut settings, MAX_HEAD as u64);
    let mut out = Vec::new();
    for number in [CONTROL_STREAM, SETTINGS, settings.len() as u64] {
        put_number(&mut out, number);
    }
    out.extend_from_slice(&settings);
    out
}

/// Returns the numbers in a payload. An error if it ends within one.
pub fn numbers(mut payload: &[u8]) -> Result<Vec<u64>, ()> {
    let mut all = Vec::new();
    while !payload.is_empty() {
        let (one, length) = number(payload).ok_or(())?;
        all.push(one);
        payload = &payload[length..];
    }
    Ok(all)
}

/// Parses the frames of one stream, in pieces of any size.
#[derive(Debug, Default)]
pub struct Frames {
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// True if the frame in `partial` was delivered.
    is_delivered: bool,
    /// Type of a frame that is not buffered.
    kind: u64,
    /// Bytes of that frame that were not received yet.
    remaining: u64,
}

/// A frame or a piece of a frame.
#[derive(Debug, PartialEq, Eq)]
pub enum FramePiece<'a> {
    /// A complete frame: its type, its payload, and its length including the head.
    Whole(u64, &'a [u8], usize),
    /// A piece of an unbuffered frame: its type, bytes of the payload, and the length of its head.
    /// The latter is 0 unless the frame begins here.
    Part(u64, &'a [u8], usize),
}

/// True for frames that are delivered only when complete, because their payload is needed.
fn is_buffered(kind: u64) -> bool {
    matches!(kind, HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID)
}

/// Returns a frame's type, the length of its payload, and the length of its head.
fn head(bytes: &[u8]) -> Option<(u64, u64, usize)> {
    let (kind, first) = number(bytes)?;
    let (length, second) = number(&bytes[first..])?;
    Some((kind, length, first + second))
}

impl Frames {
    /// Parses the next piece of `bytes`. None if they are used up.
    ///
    /// # Errors
    ///
    /// If a buffered frame is too large.
    pub fn next<'s, 'i: 's>(
        &'s mut self,
        bytes: &mut &'i [u8],
    ) -> Result<Option<FramePiece<'s>>, MalformedReply> {
        if std::mem::take(&mut self.is_delivered) {
            self.partial.clear();
        }
        if self.remaining > 0 {
            return Ok(self.part(bytes, 0));
        }
        if self.partial.is_empty()
            && let Some((kind, length, head)) = head(bytes)
        {
            if !is_buffered(kind) {
                *bytes = &bytes[head..];
                return Ok(self.begin(kind, length, head, bytes));
            }
            if let Some((frame, rest)) = bytes.split_at_checked(buffered_length(head, length)?) {
                *bytes = rest;
                return Ok(Some(FramePiece::Whole(kind, &frame[head..], frame.len())));
            }
        }
        while !bytes.is_empty() {
            let needed = match head(&self.partial) {
                None => self.partial.len() + 1,
                Some((_, length, head)) => buffered_length(head, length)?,
            };
            let (next, rest) = bytes.split_at(bytes.len().min(needed - self.partial.len()));
            self.partial.extend_from_slice(next);
            *bytes = rest;
            let Some((kind, length, head)) = head(&self.partial) else { continue };
            if !is_buffered(kind) {
                self.partial.clear();
                return Ok(self.begin(kind, length, head, bytes));
            }
            if self.partial.len() == buffered_length(head, length)? {
                self.is_delivered = true;
                return Ok(Some(FramePiece::Whole(
                    kind,
                    &self.partial[head..],
                    self.partial.len(),
                )));
            }
        }
        Ok(None)
    }

    /// Begins an unbuffered frame. `bytes` follow its head.
    fn begin<'i>(
        &mut self,
        kind: u64,
        length: u64,
        head: usize,
        bytes: &mut &'i [u8],
    ) -> Option<FramePiece<'i>> {
        self.kind = kind;
        self.remaining = length;
        self.part(bytes, head)
    }

    fn part<'i>(&mut self, bytes: &mut &'i [u8], head: usize) -> Option<FramePiece<'i>> {
        let limit = usize::try_from(self.remaining).unwrap_or(usize::MAX);
        let (payload, rest) = bytes.split_at(bytes.len().min(limit));
        *bytes = rest;
        self.remaining -= payload.len() as u64;
        (head > 0 || !payload.is_empty()).then_some(FramePiece::Part(self.kind, payload, head))
    }

    /// True if no frame is incomplete.
    pub fn is_between(&self) -> bool {
        self.remaining == 0 && (self.is_delivered || self.partial.is_empty())
    }
}

/// Returns the length of a buffered frame including its head. An error if it is too large.
fn buffered_length(head: usize, length: u64) -> Result<usize, MalformedReply> {
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_HEAD);
    length.map(|length| head + length).ok_or(MalformedReply::HeadTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the frames in these bytes, cut into pieces of `at` bytes: payloads of whole frames,
    /// and joined parts of others.
    fn read(bytes: &[u8], at: usize) -> Vec<(u64, Vec<u8>, usize)> {
        let (mut frames, mut all) = (Frames::default(), Vec::<(u64, Vec<u8>, usize)>::new());
        for mut piece in bytes.chunks(at) {
            while let Some(next) = frames.next(&mut piece).unwrap() {
                match next {
                    FramePiece::Whole(kind, payload, length) => {
                        all.push((kind, payload.to_vec(), length));
                    }
                    FramePiece::Part(kind, payload, head) if head > 0 => {
                        all.push((kind, payload.to_vec(), head));
                    }
                    FramePiece::Part(kind, payload, _) => {
                        let last = all.last_mut().unwrap();
                        assert_eq!(last.0, kind);
                        last.1.extend_from_slice(payload);
                    }
                }
            }
        }
        assert!(frames.is_between());
        all
    }

    #[test]
    fn numbers_of_the_standard() {
        let known: [(&[u8], u64); 4] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ];
        for (bytes, value) in known {
            assert_eq!(number(bytes), Some((value, bytes.len())));
            assert_eq!(number(&bytes[..bytes.len() - 1]), None);
            let mut out = Vec::new();
            put_number(&mut out, value);
            assert_eq!(out, bytes);
        }
        assert_eq!(number(&[0x40, 0x25]), Some((37, 2)), "a longer form than needed");
    }

    #[test]
    fn frames_are_parsed_in_any_pieces() {
        let mut bytes = Vec::new();
        let frames: [(u64, &[u8]); 6] = [
            (HEADERS, b"block"),
            (DATA, b"body"),
            (0x21, b"unknown"),
            (DATA, b""),
            (0x4021, b""),
            (GOAWAY, b"\x04"),
        ];
        for (kind, payload) in frames {
            put_number(&mut bytes, kind);
            put_number(&mut bytes, payload.len() as u64);
            bytes.extend_from_slice(payload);
        }
        let whole = read(&bytes, bytes.len());
        let parts: Vec<(u64, &[u8])> =
            whole.iter().map(|(kind, payload, _)| (*kind, &payload[..])).collect();
        assert_eq!(parts, frames);
        assert_eq!(
            whole.iter().map(|(_, _, length)| *length).collect::<Vec<_>>(),
            [7, 2, 2, 2, 5, 3]
        );
        for at in 1..bytes.len() {
            assert_eq!(read(&bytes, at), whole, "cut after each {at} bytes");
        }
    }

    #[test]
    fn the_size_of_buffered_frames_is_limited() {
        let mut bytes: &[u8] = &[1, 0x80, 0x02, 0, 0];
        assert_eq!(Frames::default().next(&mut bytes), Err(MalformedReply::HeadTooLarge));
        let mut begin: &[u8] = &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7];
        let mut frames = Frames::default();
        assert_eq!(
            frames.next(&mut begin),
            Ok(Some(FramePiece::Part(DATA, &[7][..], 9))),
            "a body may be of any length"
        );
        assert!(!frames.is_between());
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes: Vec<u8>, at in 1_usize..9) {
            let mut frames = Frames::default();
            for mut piece in bytes.chunks(at) {
                while let Ok(Some(_)) = frames.next(&mut piece) {}
            }
        }
    }
}
