//! Decodes the chunked transfer coding (RFC 9112 section 7.1).
//!
//! It keeps only its position in the coding: every byte is consumed at once, so a chunk's head or a
//! trailer may be cut anywhere. It does not copy: pieces of the body are passed to a closure where
//! they lie, and so are trailers. Chunk extensions are skipped. Only [`super::parse::ReplyParser`] uses it.

use super::parse::MalformedReply;

/// Maximum length of the line that states a chunk's size, with extensions and line end, in bytes.
const MAX_SIZE_LINE: u32 = 4 * 1024;

/// Maximum length of all trailers together, in bytes.
const MAX_TRAILERS: u32 = 64 * 1024;

/// Position of the next byte in a chunked body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    step: Step,
    /// In a size line, the size as far as it was read; in a chunk, the bytes that remain of it.
    remaining: u64,
    /// Bytes of the current size line, or of the trailers so far.
    line_bytes: u32,
}

/// A piece of a chunked body.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChunkedPiece<'b> {
    Body(&'b [u8]),
    /// A byte of the trailers, line ends included.
    Trailer(u8),
}

/// The part of the coding that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The first digit of a chunk's size.
    Size,
    /// A further digit, or the end of the digits.
    MoreSize,
    /// Blanks after the size. Some old servers pad it to eight places.
    Blank,
    /// A chunk extension, which is skipped.
    Extension,
    /// The line feed after a size.
    SizeLineFeed,
    /// Bytes of the body.
    Data,
    /// The line end after a chunk's bytes.
    DataEnd,
    /// The line feed of that line end.
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
    /// Creates the state before the first chunk.
    pub(super) fn new() -> Self {
        Chunks { step: Step::Size, remaining: 0, line_bytes: 0 }
    }

    /// Consumes `bytes` up to the end of the body and passes each piece to `each`. Returns the number of bytes consumed: all of them unless the body ended earlier.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(ChunkedPiece<'_>),
    ) -> Result<usize, MalformedReply> {
        let mut position = 0;
        while position < bytes.len() && self.step != Step::Done {
            if self.step == Step::Data {
                let rest = &bytes[position..];
                let piece = &rest[..self.remaining.min(rest.len() as u64) as usize];
                each(ChunkedPiece::Body(piece));
                self.skip(piece.len() as u64);
                position += piece.len();
            } else {
                let was_in_trailer = self.step == Step::InTrailer;
                self.feed_framing(bytes[position])?;
                if was_in_trailer || self.step == Step::InTrailer {
                    each(ChunkedPiece::Trailer(bytes[position]));
                }
                position += 1;
            }
        }
        Ok(position)
    }

    /// Number of the following bytes that are certainly part of the current chunk.
    pub(super) fn discardable(&self) -> u64 {
        if self.step == Step::Data { self.remaining } else { 0 }
    }

    /// Skips `n` bytes of the current chunk.
    pub(super) fn skip(&mut self, n: u64) {
        debug_assert!(n <= self.discardable(), "more skipped than the chunk holds");
        self.remaining = self.remaining.saturating_sub(n);
        if self.step == Step::Data && self.remaining == 0 {
            self.step = Step::DataEnd;
        }
    }

    /// True if the last, empty line was received.
    pub(super) fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    /// Consumes one byte of the framing. A lone line feed ends a line, as in a head.
    fn feed_framing(&mut self, byte: u8) -> Result<(), MalformedReply> {
        self.count()?;
        self.step = match (self.step, byte) {
            (Step::Size | Step::MoreSize, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                self.digit(byte)?
            }
            (Step::MoreSize | Step::Blank, b' ' | b'\t') => Step::Blank,
            (Step::MoreSize | Step::Blank | Step::Extension, b'\r') => Step::SizeLineFeed,
            (Step::MoreSize | Step::Blank | Step::Extension | Step::SizeLineFeed, b'\n') => {
                self.end_size_line()
            }
            (Step::MoreSize | Step::Blank, b';') | (Step::Extension, _) => Step::Extension,
            (Step::DataEnd, b'\r') => Step::DataLineFeed,
            (Step::DataEnd | Step::DataLineFeed, b'\n') => self.next_chunk(),
            (Step::Trailer, b'\r') => Step::LastLineFeed,
            (Step::Trailer | Step::LastLineFeed, b'\n') => Step::Done,
            (Step::InTrailer, b'\n') => Step::Trailer,
            (Step::Trailer | Step::InTrailer, _) => Step::InTrailer,
            _ => return Err(MalformedReply::Chunk),
        };
        Ok(())
    }

    /// Counts a byte of a size line or of the trailers, and checks their limits.
    fn count(&mut self) -> Result<(), MalformedReply> {
        let (limit, error) = match self.step {
            Step::Trailer | Step::InTrailer | Step::LastLineFeed => {
                (MAX_TRAILERS, MalformedReply::TrailersTooLarge)
            }
            _ => (MAX_SIZE_LINE, MalformedReply::ChunkLineTooLong),
        };
        self.line_bytes += 1;
        if self.line_bytes > limit { Err(error) } else { Ok(()) }
    }

    /// Adds a hexadecimal digit to the size.
    fn digit(&mut self, byte: u8) -> Result<Step, MalformedReply> {
        let digit = char::from(byte).to_digit(16).ok_or(MalformedReply::Chunk)?;
        let shifted = self.remaining.checked_mul(16).ok_or(MalformedReply::Chunk)?;
        self.remaining = shifted | u64::from(digit);
        Ok(Step::MoreSize)
    }

    /// Ends a size line. The chunk follows, or the trailers if its size is 0.
    fn end_size_line(&mut self) -> Step {
        self.line_bytes = 0;
        if self.remaining == 0 { Step::Trailer } else { Step::Data }
    }

    /// Ends a chunk, after which another follows.
    fn next_chunk(&mut self) -> Step {
        *self = Chunks::new();
        self.step
    }
}
