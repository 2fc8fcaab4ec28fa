//! The chunked transfer coding, as it comes off the wire (RFC 9112 section 7.1).
//!
//! It holds where in the coding a reply is, and nothing of what it read: every byte given is taken, so a chunk's head or
//! a trailer may be cut anywhere. It is not a decoder into a buffer: pieces of the body are shown to a closure where they
//! lie, and chunk extensions and trailers are passed over. Driven by [`super::parse::Parser`] alone.

use super::parse::Malformed;

/// The longest line that states a chunk's size, with its extensions and line end, in bytes.
const MAX_SIZE_LINE: u32 = 4 * 1024;

/// The most that all trailers together may take, in bytes.
const MAX_TRAILERS: u32 = 64 * 1024;

/// Where in a chunked body the next byte falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    step: Step,
    /// What the line that states a size has said so far; then how many bytes of that chunk are still to come.
    left: u64,
    /// Bytes of the present size line, or of the trailers so far.
    seen: u32,
}

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The first digit of a chunk's size.
    Size,
    /// A further digit, or what ends the digits.
    MoreSize,
    /// Blanks behind the size; some old servers fill it up to eight places.
    Blank,
    /// A chunk extension, passed over.
    Extension,
    /// The line feed behind a size.
    SizeLineFeed,
    /// The chunk's own bytes.
    Data,
    /// The line end behind a chunk's bytes.
    DataEnd,
    /// Its line feed.
    DataLineFeed,
    /// The start of a trailer, or of the empty line that ends the body.
    Trailer,
    /// Within a trailer.
    InTrailer,
    /// The line feed of the last, empty line.
    LastLineFeed,
    Done,
}

impl Chunks {
    /// A chunked body of which nothing has come yet.
    pub(super) fn new() -> Self {
        Chunks { step: Step::Size, left: 0, seen: 0 }
    }

    /// Takes `bytes` up to the end of the body, showing each piece of the body to `body`; tells how many were taken,
    /// which is all of them unless the body ended before.
    pub(super) fn feed(&mut self, bytes: &[u8], mut body: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        let mut at = 0;
        while at < bytes.len() && self.step != Step::Done {
            if self.step == Step::Data {
                let rest = &bytes[at..];
                let piece = &rest[..self.left.min(rest.len() as u64) as usize];
                body(piece);
                self.skip(piece.len() as u64);
                at += piece.len();
            } else {
                self.feed_framing(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// How many of the coming bytes are this chunk's own.
    pub(super) fn discardable(&self) -> u64 {
        if self.step == Step::Data { self.left } else { 0 }
    }

    /// `n` bytes of the present chunk have gone by.
    pub(super) fn skip(&mut self, n: u64) {
        debug_assert!(n <= self.discardable(), "more skipped than the chunk holds");
        self.left = self.left.saturating_sub(n);
        if self.step == Step::Data && self.left == 0 {
            self.step = Step::DataEnd;
        }
    }

    /// Whether the last, empty line has come.
    pub(super) fn done(&self) -> bool {
        self.step == Step::Done
    }

    /// Takes one byte that is not a chunk's own. A lone line feed ends a line as it does in a head.
    fn feed_framing(&mut self, byte: u8) -> Result<(), Malformed> {
        self.count()?;
        self.step = match (self.step, byte) {
            (Step::Size | Step::MoreSize, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (Step::MoreSize | Step::Blank, b' ' | b'\t') => Step::Blank,
            (Step::MoreSize | Step::Blank | Step::Extension, b'\r') => Step::SizeLineFeed,
            (Step::MoreSize | Step::Blank | Step::Extension | Step::SizeLineFeed, b'\n') => self.size_stated(),
            (Step::MoreSize | Step::Blank, b';') | (Step::Extension, _) => Step::Extension,
            (Step::DataEnd, b'\r') => Step::DataLineFeed,
            (Step::DataEnd | Step::DataLineFeed, b'\n') => self.next_chunk(),
            (Step::Trailer, b'\r') => Step::LastLineFeed,
            (Step::Trailer | Step::LastLineFeed, b'\n') => Step::Done,
            (Step::InTrailer, b'\n') => Step::Trailer,
            (Step::Trailer | Step::InTrailer, _) => Step::InTrailer,
            _ => return Err(Malformed::Chunk),
        };
        Ok(())
    }

    /// Keeps the size line and the trailers within their bounds.
    fn count(&mut self) -> Result<(), Malformed> {
        let (most, beyond) = match self.step {
            Step::Trailer | Step::InTrailer | Step::LastLineFeed => (MAX_TRAILERS, Malformed::TrailersTooLarge),
            _ => (MAX_SIZE_LINE, Malformed::ChunkLineTooLong),
        };
        self.seen += 1;
        if self.seen > most { Err(beyond) } else { Ok(()) }
    }

    /// Adds a hexadecimal digit to the size.
    fn digit(&mut self, byte: u8) -> Result<Step, Malformed> {
        let digit = char::from(byte).to_digit(16).ok_or(Malformed::Chunk)?;
        let shifted = self.left.checked_mul(16).ok_or(Malformed::Chunk)?;
        self.left = shifted | u64::from(digit);
        Ok(Step::MoreSize)
    }

    /// The line that states a size is over: the chunk follows, or behind the last one the trailers.
    fn size_stated(&mut self) -> Step {
        self.seen = 0;
        if self.left == 0 { Step::Trailer } else { Step::Data }
    }

    /// A chunk is over, and another follows.
    fn next_chunk(&mut self) -> Step {
        *self = Chunks::new();
        self.step
    }
}
