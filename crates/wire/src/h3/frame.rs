//! Frames, numbers and error codes (RFC 9114 sections 6 to 8, RFC 9000 section 16).

use crate::contract::MAX_HEAD;
use brunt_model::outcome::Malformed;

pub const DATA: u64 = 0;
pub const HEADERS: u64 = 1;
pub const CANCEL_PUSH: u64 = 3;
pub const SETTINGS: u64 = 4;
pub const PUSH_PROMISE: u64 = 5;
pub const GOAWAY: u64 = 7;
pub const MAX_PUSH_ID: u64 = 0xd;
/// Types of frames of HTTP/2 that have no place in HTTP/3.
pub const OF_HTTP2: [u64; 4] = [2, 6, 8, 9];

/// The kinds of streams of one direction.
pub const CONTROL_STREAM: u64 = 0;
pub const PUSH_STREAM: u64 = 1;
pub const ENCODER_STREAM: u64 = 2;
pub const DECODER_STREAM: u64 = 3;

const MAX_FIELD_SECTION_SIZE: u64 = 6;
/// Settings of HTTP/2 that have no place in HTTP/3.
pub const SETTINGS_OF_HTTP2: [u64; 4] = [2, 3, 4, 5];

/// Why a stream or connection ends (RFC 9114 section 8.1, RFC 9204 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Code {
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

/// The cause of a failure that a stream with this error code stands for.
pub fn cause_of_reset(code: u64) -> Malformed {
    match code {
        0x100 => Malformed::ResetH3NoError,
        0x101 => Malformed::ResetH3GeneralProtocolError,
        0x102 => Malformed::ResetH3InternalError,
        0x103 => Malformed::ResetH3StreamCreationError,
        0x104 => Malformed::ResetH3ClosedCriticalStream,
        0x105 => Malformed::ResetH3FrameUnexpected,
        0x106 => Malformed::ResetH3FrameError,
        0x107 => Malformed::ResetH3ExcessiveLoad,
        0x108 => Malformed::ResetH3IdError,
        0x109 => Malformed::ResetH3SettingsError,
        0x10a => Malformed::ResetH3MissingSettings,
        0x10b => Malformed::ResetH3RequestRejected,
        0x10c => Malformed::ResetH3RequestCancelled,
        0x10d => Malformed::ResetH3RequestIncomplete,
        0x10e => Malformed::ResetH3MessageError,
        0x10f => Malformed::ResetH3ConnectError,
        0x110 => Malformed::ResetH3VersionFallback,
        _ => Malformed::ResetH3Unknown,
    }
}

/// The cause of the failures of a connection that the peer closed with this error code; None: it closed without an error.
pub fn cause_of_close(code: u64) -> Option<Malformed> {
    Some(match code {
        0x100 => return None,
        0x101 => Malformed::ClosedH3GeneralProtocolError,
        0x102 => Malformed::ClosedH3InternalError,
        0x103 => Malformed::ClosedH3StreamCreationError,
        0x104 => Malformed::ClosedH3ClosedCriticalStream,
        0x105 => Malformed::ClosedH3FrameUnexpected,
        0x106 => Malformed::ClosedH3FrameError,
        0x107 => Malformed::ClosedH3ExcessiveLoad,
        0x108 => Malformed::ClosedH3IdError,
        0x109 => Malformed::ClosedH3SettingsError,
        0x10a => Malformed::ClosedH3MissingSettings,
        0x10b => Malformed::ClosedH3RequestRejected,
        0x10c => Malformed::ClosedH3RequestCancelled,
        0x10d => Malformed::ClosedH3RequestIncomplete,
        0x10e => Malformed::ClosedH3MessageError,
        0x10f => Malformed::ClosedH3ConnectError,
        0x110 => Malformed::ClosedH3VersionFallback,
        0x200..=0x202 => Malformed::ClosedQpack,
        _ => Malformed::ClosedH3Unknown,
    })
}

/// The number that bytes begin with, and how many it takes; None: more must come.
pub fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let length = 1 << (first >> 6);
    let rest = bytes.get(1..length)?;
    Some((rest.iter().fold(u64::from(first & 0x3f), |number, byte| number << 8 | u64::from(*byte)), length))
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

/// What our control stream begins with: its type, and the settings. There is no dynamic table.
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

/// The numbers that a payload is made of; an error where it ends within one.
pub fn numbers(mut payload: &[u8]) -> Result<Vec<u64>, ()> {
    let mut all = Vec::new();
    while !payload.is_empty() {
        let (one, length) = number(payload).ok_or(())?;
        all.push(one);
        payload = &payload[length..];
    }
    Ok(all)
}

/// Reads the frames of one stream, however its bytes are cut.
#[derive(Debug, Default)]
pub struct Frames {
    /// The beginning of a frame.
    partial: Vec<u8>,
    /// The frame in it was handed over.
    is_taken: bool,
    /// Of a frame that is not taken whole: its type, and the bytes that are still to come.
    kind: u64,
    left: u64,
}

/// What comes of a stream of frames.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole frame: its type, its payload, and its length with its head.
    Whole(u64, &'a [u8], usize),
    /// A piece of a frame that is not taken whole: its type, and bytes of the payload; the bytes of its head where it
    /// begins, 0 otherwise.
    Part(u64, &'a [u8], usize),
}

/// Frames that are taken whole: their payload is looked at.
fn is_taken_whole(kind: u64) -> bool {
    matches!(kind, HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID)
}

/// A frame's type, length, and the bytes of its head.
fn head(bytes: &[u8]) -> Option<(u64, u64, usize)> {
    let (kind, first) = number(bytes)?;
    let (length, second) = number(&bytes[first..])?;
    Some((kind, length, first + second))
}

impl Frames {
    /// Takes the next piece from `bytes`; None: they are used up.
    ///
    /// # Errors
    ///
    /// A frame is larger than any that is taken.
    pub fn next<'s, 'i: 's>(&'s mut self, bytes: &mut &'i [u8]) -> Result<Option<Piece<'s>>, Malformed> {
        if std::mem::take(&mut self.is_taken) {
            self.partial.clear();
        }
        if self.left > 0 {
            return Ok(self.part(bytes, 0));
        }
        if self.partial.is_empty()
            && let Some((kind, length, head)) = head(bytes)
        {
            if !is_taken_whole(kind) {
                *bytes = &bytes[head..];
                return Ok(self.begin((kind, length, head), bytes));
            }
            if let Some((frame, rest)) = bytes.split_at_checked(whole(head, length)?) {
                *bytes = rest;
                return Ok(Some(Piece::Whole(kind, &frame[head..], frame.len())));
            }
        }
        while !bytes.is_empty() {
            let wanted = match head(&self.partial) {
                None => self.partial.len() + 1,
                Some((_, length, head)) => whole(head, length)?,
            };
            let (now_there, rest) = bytes.split_at(bytes.len().min(wanted - self.partial.len()));
            self.partial.extend_from_slice(now_there);
            *bytes = rest;
            let Some((kind, length, head)) = head(&self.partial) else { continue };
            if !is_taken_whole(kind) {
                self.partial.clear();
                return Ok(self.begin((kind, length, head), bytes));
            }
            if self.partial.len() == whole(head, length)? {
                self.is_taken = true;
                return Ok(Some(Piece::Whole(kind, &self.partial[head..], self.partial.len())));
            }
        }
        Ok(None)
    }

    /// A frame begins that is not taken whole; `bytes` are behind its head.
    fn begin<'i>(&mut self, (kind, length, head): (u64, u64, usize), bytes: &mut &'i [u8]) -> Option<Piece<'i>> {
        (self.kind, self.left) = (kind, length);
        self.part(bytes, head)
    }

    fn part<'i>(&mut self, bytes: &mut &'i [u8], head: usize) -> Option<Piece<'i>> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let (now_there, rest) = bytes.split_at(bytes.len().min(most));
        *bytes = rest;
        self.left -= now_there.len() as u64;
        (head > 0 || !now_there.is_empty()).then_some(Piece::Part(self.kind, now_there, head))
    }

    /// Whether no frame is under way.
    pub fn is_between(&self) -> bool {
        self.left == 0 && (self.is_taken || self.partial.is_empty())
    }
}

/// The bytes of a frame that is taken whole.
fn whole(head: usize, length: u64) -> Result<usize, Malformed> {
    let length = usize::try_from(length).ok().filter(|length| *length <= MAX_HEAD);
    length.map(|length| head + length).ok_or(Malformed::HeadTooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What comes of these bytes, cut after each `at`th: the payloads of whole frames, and those of parts put together.
    fn read(bytes: &[u8], at: usize) -> Vec<(u64, Vec<u8>, usize)> {
        let (mut frames, mut all) = (Frames::default(), Vec::<(u64, Vec<u8>, usize)>::new());
        for mut piece in bytes.chunks(at) {
            while let Some(next) = frames.next(&mut piece).unwrap() {
                match next {
                    Piece::Whole(kind, payload, length) => all.push((kind, payload.to_vec(), length)),
                    Piece::Part(kind, payload, head) if head > 0 => all.push((kind, payload.to_vec(), head)),
                    Piece::Part(kind, payload, _) => {
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
    fn frames_are_the_same_however_they_are_cut() {
        let mut bytes = Vec::new();
        let frames: [(u64, &[u8]); 6] =
            [(HEADERS, b"block"), (DATA, b"body"), (0x21, b"unknown"), (DATA, b""), (0x4021, b""), (GOAWAY, b"\x04")];
        for (kind, payload) in frames {
            put_number(&mut bytes, kind);
            put_number(&mut bytes, payload.len() as u64);
            bytes.extend_from_slice(payload);
        }
        let whole = read(&bytes, bytes.len());
        let told: Vec<(u64, &[u8])> = whole.iter().map(|(kind, payload, _)| (*kind, &payload[..])).collect();
        assert_eq!(told, frames);
        assert_eq!(whole.iter().map(|(_, _, length)| *length).collect::<Vec<_>>(), [7, 2, 2, 2, 5, 3]);
        for at in 1..bytes.len() {
            assert_eq!(read(&bytes, at), whole, "cut after each {at} bytes");
        }
    }

    #[test]
    fn a_frame_that_would_have_to_be_kept_is_bounded() {
        let mut bytes: &[u8] = &[1, 0x80, 0x02, 0, 0];
        assert_eq!(Frames::default().next(&mut bytes), Err(Malformed::HeadTooLarge));
        let mut begin: &[u8] = &[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7];
        let mut frames = Frames::default();
        assert_eq!(frames.next(&mut begin), Ok(Some(Piece::Part(DATA, &[7][..], 9))), "a body may be of any length");
        assert!(!frames.is_between());
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>, at in 1_usize..9) {
            let mut frames = Frames::default();
            for mut piece in bytes.chunks(at) {
                while let Ok(Some(_)) = frames.next(&mut piece) {}
            }
        }
    }
}
