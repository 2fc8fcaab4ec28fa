//! What is kept of a body while it comes: a pattern is looked for, and a whole body is kept up to a limit.
//!
//! Memory is bounded, whatever a server sends: a pattern sees a window that moves over the body, and a compressed body is
//! unpacked as it comes, up to a limit.

use crate::events::EventMeter;
use brunt_model::Tick;
use encoding_rs::{Decoder, Encoding};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use regex::bytes::Regex;
use std::io::{self, Write};

/// A match must lie within so many bytes of the decoded body.
pub const WINDOW: usize = 256 * 1024;

/// A compressed body is unpacked up to so many bytes; a longer one matches nothing.
pub const MOST_UNPACKED: u64 = 64 << 20;

/// Of a decoded body no more than so many bytes are kept.
pub const MOST_KEPT: usize = 16 << 20;

/// How far behind its end a match may look: one character of UTF-8, for `$` and `\b`.
const LOOK_AHEAD: usize = 4;

/// What a compressed message of a WebSocket is sent without (RFC 7692 section 7.2.2).
const MESSAGE_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// A body that comes in pieces.
pub(crate) enum KeptBody {
    Plain(Taken),
    Gzip(Box<MultiGzDecoder<Taken>>),
    /// Content-Encoding `deflate`: as RFC 9110 section 8.4.1.2 has it.
    Zlib(Box<ZlibDecoder<Taken>>),
    /// The same without the header of zlib, as some servers send it and browsers read it.
    Deflate(Box<DeflateDecoder<Taken>>),
    /// One of both: its first two bytes have not come.
    ZlibOrDeflate(Taken, Vec<u8>),
    /// A message of a WebSocket.
    Message(Box<DeflateDecoder<Taken>>),
    /// It could not be unpacked.
    Broken,
}

/// The result of a whole body.
pub(crate) struct FinishedBody {
    /// The kept bytes, decoded.
    pub bytes: Vec<u8>,
    /// The pattern matched.
    pub matches: bool,
    /// It could not be unpacked.
    pub is_broken: bool,
}

/// Takes in what was decoded.
#[derive(Default)]
pub(crate) struct Taken {
    search: Option<Search>,
    keeps: Option<Vec<u8>>,
    events: Option<Box<EventMeter>>,
    unpacked: u64,
}

/// Looks for a pattern in bytes that come in pieces.
pub(crate) struct Search {
    pattern: Regex,
    /// Of a text that is not UTF-8.
    decoder: Option<Box<Decoder>>,
    window: Vec<u8>,
    /// Bytes of the window that were seen before and only tell what stands in front.
    before: usize,
    found: bool,
}

impl KeptBody {
    /// A body with this Content-Encoding. `charset` is that of its text unless it is UTF-8; the pattern is searched in the decoded text.
    pub fn new(
        encoding: Option<&str>,
        charset: Option<&'static Encoding>,
        pattern: Option<&Regex>,
        keeps: Option<Vec<u8>>,
        events: Option<Box<EventMeter>>,
    ) -> Self {
        let search = pattern.map(|pattern| Search::new(pattern, charset));
        let taken = Taken { search, keeps, events, unpacked: 0 };
        match encoding {
            Some("gzip" | "x-gzip") => Self::Gzip(Box::new(MultiGzDecoder::new(taken))),
            Some("deflate") => Self::ZlibOrDeflate(taken, Vec::new()),
            Some("permessage-deflate") => Self::Message(Box::new(DeflateDecoder::new(taken))),
            _ => Self::Plain(taken),
        }
    }

    /// A piece, as it was sent.
    pub fn push(&mut self, piece: &[u8]) {
        if let Self::ZlibOrDeflate(taken, begin) = self {
            begin.extend_from_slice(piece);
            if begin.len() >= 2 {
                let begin = std::mem::take(begin);
                *self = Self::deflated(std::mem::take(taken), &begin);
                self.push(&begin);
            }
            return;
        }
        let pushed = match self {
            Self::Plain(taken) => {
                taken.push(piece);
                Ok(())
            }
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Zlib(decoder) => decoder.write_all(piece),
            Self::Deflate(decoder) | Self::Message(decoder) => decoder.write_all(piece),
            Self::ZlibOrDeflate(..) | Self::Broken => Ok(()),
        };
        if pushed.is_err() {
            *self = Self::Broken;
        }
    }

    /// No more of it is awaited, though it has not come to its end.
    pub fn is_over(&self) -> bool {
        let taken = match self {
            Self::Plain(taken) | Self::ZlibOrDeflate(taken, _) => taken,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zlib(decoder) => decoder.get_ref(),
            Self::Deflate(decoder) | Self::Message(decoder) => decoder.get_ref(),
            Self::Broken => return false,
        };
        taken.events.as_ref().is_some_and(|events| events.is_over())
    }

    /// A piece of the request was written, to which the next event is the answer.
    pub fn sent(&mut self, now: Tick) {
        let taken = match self {
            Self::Plain(taken) | Self::ZlibOrDeflate(taken, _) => taken,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) | Self::Message(decoder) => decoder.get_mut(),
            Self::Broken => return,
        };
        if let Some(events) = &mut taken.events {
            events.sent(now);
        }
    }

    /// The decoder of a body of `deflate` that begins so. RFC 1950 section 2.2 has the header of zlib: its method is 8, and its two bytes
    /// are a multiple of 31.
    fn deflated(taken: Taken, begin: &[u8]) -> Self {
        let has_header = begin[0] & 0x0f == 8 && (u16::from(begin[0]) << 8 | u16::from(begin[1])).is_multiple_of(31);
        if has_header {
            Self::Zlib(Box::new(ZlibDecoder::new(taken)))
        } else {
            Self::Deflate(Box::new(DeflateDecoder::new(taken)))
        }
    }

    /// The body is over. One that cannot be unpacked matches nothing.
    pub fn finish(self) -> FinishedBody {
        let taken = match self {
            Self::Plain(taken) => Ok(taken),
            Self::Gzip(decoder) => decoder.finish(),
            Self::Zlib(decoder) => decoder.finish(),
            Self::Deflate(decoder) => decoder.finish(),
            Self::ZlibOrDeflate(taken, begin) if begin.is_empty() => Ok(taken),
            Self::ZlibOrDeflate(..) | Self::Broken => Err(io::ErrorKind::InvalidData.into()),
            Self::Message(mut decoder) => decoder.write_all(&MESSAGE_END).and_then(|()| decoder.finish()),
        };
        let is_broken = taken.is_err();
        let Taken { search, keeps, mut events, .. } = taken.unwrap_or_default();
        if let Some(events) = &mut events {
            events.finish();
        }
        let matches = search.is_some_and(Search::finish);
        FinishedBody { bytes: keeps.unwrap_or_default(), matches, is_broken }
    }
}

impl Taken {
    fn push(&mut self, piece: &[u8]) {
        if let Some(search) = &mut self.search {
            search.push(piece);
        }
        if let Some(keeps) = &mut self.keeps {
            let room = MOST_KEPT.saturating_sub(keeps.len());
            keeps.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if let Some(events) = &mut self.events {
            events.push(piece);
        }
    }
}

impl Write for Taken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unpacked += bytes.len() as u64;
        if self.unpacked > MOST_UNPACKED {
            return Err(io::Error::other("the body is too long when it is unpacked"));
        }
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Search {
    fn new(pattern: &Regex, charset: Option<&'static Encoding>) -> Self {
        let decoder = charset.map(|charset| Box::new(charset.new_decoder()));
        Self { pattern: pattern.clone(), decoder, window: Vec::new(), before: 0, found: false }
    }

    fn push(&mut self, piece: &[u8]) {
        let Some(decoder) = &mut self.decoder else { return self.push_text(piece) };
        let room = decoder.max_utf8_buffer_length(piece.len()).unwrap_or(0);
        let mut text = String::with_capacity(room);
        let _ = decoder.decode_to_string(piece, &mut text, false);
        self.push_text(text.as_bytes());
    }

    fn push_text(&mut self, mut piece: &[u8]) {
        while !self.found && !piece.is_empty() {
            let n = piece.len().min(2 * WINDOW - self.window.len());
            self.window.extend_from_slice(&piece[..n]);
            piece = &piece[n..];
            if self.window.len() == 2 * WINDOW {
                self.pass();
            }
        }
    }

    /// The window is full: it is searched, and its older half makes room. A match near its end may be another one once
    /// more has come.
    fn pass(&mut self) {
        let end = self.pattern.shortest_match_at(&self.window, self.before);
        self.found = end.is_some_and(|end| end + LOOK_AHEAD <= self.window.len());
        if self.found {
            self.window = Vec::new();
        } else {
            self.window.drain(..WINDOW - LOOK_AHEAD);
            self.before = LOOK_AHEAD;
        }
    }

    fn finish(self) -> bool {
        self.found || self.pattern.is_match_at(&self.window, self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn matches(pattern: &str, encoding: Option<&str>, pieces: &[&[u8]]) -> bool {
        let mut body = KeptBody::new(encoding, None, Some(&Regex::new(pattern).unwrap()), None, None);
        for piece in pieces {
            body.push(piece);
        }
        body.finish().matches
    }

    fn room(body: &KeptBody) -> usize {
        let taken = match body {
            KeptBody::Plain(taken) => taken,
            KeptBody::Gzip(decoder) => decoder.get_ref(),
            _ => return 0,
        };
        taken.search.as_ref().map_or(0, |search| search.window.capacity())
    }

    #[test]
    fn a_match_is_found_wherever_pieces_are_cut() {
        let long = "x".repeat(2 * WINDOW - 3) + "needle" + &"y".repeat(3 * WINDOW);
        for size in [1000, 4096, WINDOW - 1, WINDOW, 2 * WINDOW, long.len()] {
            let pieces: Vec<&[u8]> = long.as_bytes().chunks(size).collect();
            for (pattern, expected) in [
                ("needle", true),
                ("needley+$", false),
                ("needle.*", true),
                ("^x", true),
                ("^needle", false),
                ("^y", false),
                ("y$", true),
                ("x$", false),
                (r"e\b", false),
                (r"y\z", true),
                ("needles", false),
            ] {
                assert_eq!(matches(pattern, None, &pieces), expected, "{pattern} in pieces of {size}");
            }
        }
    }

    #[test]
    fn deflate_is_unpacked_with_and_without_the_header_of_zlib() {
        use flate2::write::{DeflateEncoder, ZlibEncoder};
        for text in ["", "a", "Hello, Hello", &"x1".repeat(100_000)] {
            for level in [0, 1, 9] {
                let mut raw = DeflateEncoder::new(Vec::new(), Compression::new(level));
                let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(level));
                raw.write_all(text.as_bytes()).unwrap();
                zlib.write_all(text.as_bytes()).unwrap();
                for (packed, size) in [(raw.finish().unwrap(), 1), (zlib.finish().unwrap(), 1000)] {
                    let mut body = KeptBody::new(Some("deflate"), None, None, Some(Vec::new()), None);
                    packed.chunks(size).for_each(|piece| body.push(piece));
                    let finished = body.finish();
                    assert!(
                        finished.bytes == text.as_bytes() && !finished.is_broken,
                        "{} bytes, level {level}",
                        text.len()
                    );
                }
            }
        }
    }

    #[test]
    fn a_pattern_is_found_in_a_text_of_another_charset() {
        let found = |charset, pieces: &[&[u8]]| {
            let mut body = KeptBody::new(None, charset, Some(&Regex::new("Müller").unwrap()), None, None);
            for piece in pieces {
                body.push(piece);
            }
            body.finish().matches
        };
        assert!(found(Some(encoding_rs::WINDOWS_1252), &[b"M", b"\xfcll", b"er"]));
        assert!(!found(None, &[b"M\xfcller"]));
        assert!(found(Some(encoding_rs::UTF_16LE), &[b"M\0\xfc", b"\0l\0l\0e\0r\0"]));
    }

    #[test]
    fn a_long_body_takes_no_more_memory_than_the_window() {
        let mut body = KeptBody::new(None, None, Some(&Regex::new("needle").unwrap()), None, None);
        for _ in 0..1000 {
            body.push(&vec![b'x'; 64 * 1024]);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(!body.finish().matches);
    }

    #[test]
    fn an_unpacked_body_is_bounded_too() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..2000 {
            packed.write_all(&vec![b'x'; 64 * 1024]).unwrap();
        }
        packed.write_all(b"needle").unwrap();
        let packed = packed.finish().unwrap();
        let mut body = KeptBody::new(Some("gzip"), None, Some(&Regex::new("x").unwrap()), None, None);
        for piece in packed.chunks(10_000) {
            body.push(piece);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(matches!(body, KeptBody::Broken));
        let finished = body.finish();
        assert!(finished.bytes.is_empty() && !finished.matches && finished.is_broken);
    }

    #[test]
    fn a_packed_body_is_searched_and_a_broken_one_matches_nothing() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"some needle here").unwrap();
        let packed = packed.finish().unwrap();
        for size in [1, 5, packed.len()] {
            let pieces: Vec<&[u8]> = packed.chunks(size).collect();
            assert!(matches("needle", Some("gzip"), &pieces));
            assert!(!matches("", Some("gzip"), &pieces[..pieces.len() - 1]) || pieces.len() == 1);
        }
        assert!(!matches("needle", Some("gzip"), &[b"needle"]));
    }

    #[test]
    fn a_message_is_unpacked_without_its_end() {
        // "Hello", of RFC 7692 section 7.2.3.1.
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        for size in 1..=hello.len() {
            let mut body = KeptBody::new(Some("permessage-deflate"), None, None, Some(Vec::new()), None);
            hello.chunks(size).for_each(|piece| body.push(piece));
            assert_eq!(body.finish().bytes, b"Hello");
        }
        let long = "words and words ".repeat(5000);
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(long.as_bytes()).unwrap();
        packed.flush().unwrap();
        let packed = packed.get_ref().strip_suffix(&MESSAGE_END).unwrap().to_vec();
        let mut body = KeptBody::new(Some("permessage-deflate"), None, None, Some(Vec::new()), None);
        packed.chunks(7).for_each(|piece| body.push(piece));
        assert_eq!(body.finish().bytes, long.as_bytes());
    }

    #[test]
    fn a_kept_body_ends_at_its_limit() {
        let mut body = KeptBody::new(None, None, None, Some(Vec::new()), None);
        (0..3).for_each(|_| body.push(&vec![b'x'; MOST_KEPT / 2]));
        assert_eq!(body.finish().bytes.len(), MOST_KEPT);
    }
}
