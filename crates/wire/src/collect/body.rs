//! Collects a body as it arrives: searches it for a pattern, and keeps it up to a limit.
//!
//! Memory is bounded, whatever a server sends. The pattern search sees a window that moves over the
//! body. A compressed body is unpacked as it arrives, up to a limit.

use crate::events::EventMeter;
use brunt_model::Tick;
use encoding_rs::{Decoder, Encoding};
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use regex::bytes::Regex;
use std::io::{self, Write};

/// Maximum length of a match in the decoded body, in bytes.
pub const WINDOW: usize = 256 * 1024;

/// Maximum size of an unpacked body, in bytes. A longer one matches nothing.
pub const MAX_UNPACKED: u64 = 64 << 20;

/// Maximum size of an unpacked body as a multiple of its packed size, beyond [`ALWAYS_UNPACKED`]. A body of zeros
/// unpacks to 1,000 times its size, and texts to at most 20 times.
const MAX_EXPANSION: u64 = 100;

/// Size that is unpacked in any case, in bytes.
const ALWAYS_UNPACKED: u64 = 4 << 20;

/// Maximum number of bytes that are kept of a decoded body.
pub const MAX_RETAINED: usize = 16 << 20;

/// Maximum number of encodings of one body, as in curl.
const MAX_CODINGS: usize = 5;

/// Bytes after a match that decide whether it matches: one character of UTF-8, for `$` and `\b`.
const LOOK_AHEAD: usize = 4;

/// The bytes that a compressed WebSocket message is sent without (RFC 7692 section 7.2.2).
const MESSAGE_END: [u8; 4] = [0, 0, 0xff, 0xff];

/// A body that arrives in pieces, by its encoding.
pub(crate) enum BodyCollector {
    Plain(DecodedSink),
    Gzip(Box<MultiGzDecoder<DecodedSink>>),
    /// Content-Encoding `deflate` as defined by RFC 9110 section 8.4.1.2.
    Zlib(Box<ZlibDecoder<DecodedSink>>),
    /// `deflate` without the zlib header, which some servers send and browsers accept.
    Deflate(Box<DeflateDecoder<DecodedSink>>),
    /// Either of both, until the first two bytes have arrived.
    ZlibOrDeflate(DecodedSink, Vec<u8>),
    /// A body with several encodings: that of the outer one, and the body within it.
    Stacked(Box<BodyCollector>, Box<BodyCollector>),
    /// A WebSocket message.
    Message(Box<DeflateDecoder<DecodedSink>>),
    /// The body could not be unpacked.
    Broken(UnpackError),
}

/// Reason why a body could not be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnpackError {
    Damaged,
    TooLong,
}

/// The collected parts of a whole body.
pub(crate) struct FinishedBody {
    /// The kept bytes, decoded.
    pub bytes: Vec<u8>,
    /// True if the pattern matched.
    pub matches: bool,
    /// Set if the body could not be unpacked.
    pub error: Option<UnpackError>,
}

/// Receives decoded bytes and passes them to the search, the buffer and the event meter.
#[derive(Default)]
pub(crate) struct DecodedSink {
    search: Option<PatternSearch>,
    retained: Option<Vec<u8>>,
    events: Option<Box<EventMeter>>,
    packed: u64,
    unpacked: u64,
}

/// Searches for a pattern in bytes that arrive in pieces.
pub(crate) struct PatternSearch {
    pattern: Regex,
    /// Set if the text is not UTF-8.
    decoder: Option<Box<Decoder>>,
    window: Vec<u8>,
    /// Bytes at the start of the window that were searched before. They serve only as the
    /// context of a match.
    searched: usize,
    is_found: bool,
}

impl BodyCollector {
    /// Creates a body with this Content-Encoding, or with a list of them. `charset` is set unless the text is UTF-8; the
    /// pattern is searched in the decoded text.
    pub fn new(
        encoding: Option<&str>,
        charset: Option<&'static Encoding>,
        pattern: Option<&Regex>,
        retained: Option<Vec<u8>>,
        events: Option<Box<EventMeter>>,
    ) -> Self {
        let search = pattern.map(|pattern| PatternSearch::new(pattern, charset));
        let sink = DecodedSink { search, retained, events, packed: 0, unpacked: 0 };
        let codings = encoding.unwrap_or_default().split(',').map(str::trim);
        let mut codings = codings.filter(|coding| !["", "identity"].contains(coding));
        let innermost = Self::with_coding(codings.next().unwrap_or_default(), sink);
        // They are listed in the order in which they were applied (RFC 9110 section 8.4).
        codings.take(MAX_CODINGS - 1).fold(innermost, |inner, coding| {
            let sink = DecodedSink { retained: Some(Vec::new()), ..DecodedSink::default() };
            Self::Stacked(Box::new(Self::with_coding(coding, sink)), Box::new(inner))
        })
    }

    fn with_coding(coding: &str, sink: DecodedSink) -> Self {
        match coding {
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(sink))),
            "deflate" => Self::ZlibOrDeflate(sink, Vec::new()),
            "permessage-deflate" => Self::Message(Box::new(DeflateDecoder::new(sink))),
            _ => Self::Plain(sink),
        }
    }

    /// Receives a piece of the body, as it was sent.
    pub fn push(&mut self, piece: &[u8]) {
        if let Self::Stacked(outer, inner) = self {
            outer.push(piece);
            let unpacked = outer.sink_mut().and_then(|sink| sink.retained.as_mut());
            let unpacked = unpacked.map(std::mem::take).unwrap_or_default();
            return inner.push(&unpacked);
        }
        if let Self::ZlibOrDeflate(sink, begin) = self {
            begin.extend_from_slice(piece);
            // Servers send `deflate` with and without the zlib header. Two bytes tell them apart
            // (RFC 1950 section 2.2).
            if begin.len() >= 2 {
                let begin = std::mem::take(begin);
                *self = Self::deflate_decoder(std::mem::take(sink), &begin);
                self.push(&begin);
            }
            return;
        }
        if let Some(sink) = self.sink_mut() {
            sink.packed += piece.len() as u64;
        }
        let pushed = match self {
            Self::Plain(sink) => {
                sink.push(piece);
                Ok(())
            }
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Zlib(decoder) => decoder.write_all(piece),
            Self::Deflate(decoder) | Self::Message(decoder) => decoder.write_all(piece),
            Self::ZlibOrDeflate(..) | Self::Stacked(..) | Self::Broken(_) => Ok(()),
        };
        if pushed.is_err() {
            let is_too_long = self.sink_mut().is_some_and(|sink| sink.is_too_long());
            let error = if is_too_long { UnpackError::TooLong } else { UnpackError::Damaged };
            *self = Self::Broken(error);
        }
    }

    fn sink_mut(&mut self) -> Option<&mut DecodedSink> {
        match self {
            Self::Plain(sink) | Self::ZlibOrDeflate(sink, _) => Some(sink),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            Self::Deflate(decoder) | Self::Message(decoder) => Some(decoder.get_mut()),
            Self::Stacked(_, inner) => inner.sink_mut(),
            Self::Broken(_) => None,
        }
    }

    /// True if the rest of the body is not needed, though its end was not received.
    pub fn is_over(&self) -> bool {
        let sink = match self {
            Self::Plain(sink) | Self::ZlibOrDeflate(sink, _) => sink,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zlib(decoder) => decoder.get_ref(),
            Self::Deflate(decoder) | Self::Message(decoder) => decoder.get_ref(),
            Self::Stacked(_, inner) => return inner.is_over(),
            Self::Broken(_) => return false,
        };
        sink.events.as_ref().is_some_and(|events| events.is_over())
    }

    /// Records when a piece of the request was sent. The next event answers it.
    pub fn record_sent(&mut self, now: Tick) {
        if let Some(events) = self.sink_mut().and_then(|sink| sink.events.as_mut()) {
            events.record_sent(now);
        }
    }

    /// Chooses the decoder for a `deflate` body from its first two bytes. A zlib header (RFC 1950
    /// section 2.2) has method 8, and its two bytes are a multiple of 31.
    fn deflate_decoder(sink: DecodedSink, begin: &[u8]) -> Self {
        let has_header = begin[0] & 0x0f == 8
            && (u16::from(begin[0]) << 8 | u16::from(begin[1])).is_multiple_of(31);
        if has_header {
            Self::Zlib(Box::new(ZlibDecoder::new(sink)))
        } else {
            Self::Deflate(Box::new(DeflateDecoder::new(sink)))
        }
    }

    /// Ends the body. One that cannot be unpacked matches nothing.
    pub fn finish(self) -> FinishedBody {
        if let Self::Stacked(outer, mut inner) = self {
            let FinishedBody { bytes, error, .. } = outer.finish();
            inner.push(&bytes);
            let inner = inner.finish();
            return FinishedBody { error: error.or(inner.error), ..inner };
        }
        let broken = if let Self::Broken(error) = self { error } else { UnpackError::Damaged };
        let sink = match self {
            Self::Plain(sink) => Ok(sink),
            Self::Gzip(decoder) => decoder.finish(),
            Self::Zlib(decoder) => decoder.finish(),
            Self::Deflate(decoder) => decoder.finish(),
            Self::ZlibOrDeflate(sink, begin) if begin.is_empty() => Ok(sink),
            Self::ZlibOrDeflate(..) | Self::Stacked(..) | Self::Broken(_) => {
                Err(io::ErrorKind::InvalidData.into())
            }
            // A sender removes these four bytes from each message (RFC 7692 section 7.2.1).
            Self::Message(mut decoder) => {
                decoder.write_all(&MESSAGE_END).and_then(|()| decoder.finish())
            }
        };
        let error = sink.as_ref().err().map(|_| broken);
        let DecodedSink { search, retained, mut events, .. } = sink.unwrap_or_default();
        if let Some(events) = &mut events {
            events.finish();
        }
        let matches = search.is_some_and(PatternSearch::finish);
        FinishedBody { bytes: retained.unwrap_or_default(), matches, error }
    }
}

impl DecodedSink {
    /// True if a small body unpacks to too many bytes.
    fn is_too_long(&self) -> bool {
        let expanded = (self.packed * MAX_EXPANSION).max(ALWAYS_UNPACKED);
        self.unpacked > MAX_UNPACKED.min(expanded)
    }

    fn push(&mut self, piece: &[u8]) {
        if let Some(search) = &mut self.search {
            search.push(piece);
        }
        if let Some(retained) = &mut self.retained {
            let room = MAX_RETAINED.saturating_sub(retained.len());
            retained.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        if let Some(events) = &mut self.events {
            events.push(piece);
        }
    }
}

impl Write for DecodedSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unpacked += bytes.len() as u64;
        // A small compressed body may unpack to any length.
        if self.is_too_long() {
            return Err(io::Error::other("the body is too long when it is unpacked"));
        }
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PatternSearch {
    fn new(pattern: &Regex, charset: Option<&'static Encoding>) -> Self {
        let decoder = charset.map(|charset| Box::new(charset.new_decoder()));
        Self { pattern: pattern.clone(), decoder, window: Vec::new(), searched: 0, is_found: false }
    }

    fn push(&mut self, piece: &[u8]) {
        let Some(decoder) = &mut self.decoder else { return self.push_text(piece) };
        let room = decoder.max_utf8_buffer_length(piece.len()).unwrap_or(0);
        let mut text = String::with_capacity(room);
        // Malformed bytes become U+FFFD, as in a browser.
        let _ = decoder.decode_to_string(piece, &mut text, false);
        self.push_text(text.as_bytes());
    }

    fn push_text(&mut self, mut piece: &[u8]) {
        while !self.is_found && !piece.is_empty() {
            let n = piece.len().min(2 * WINDOW - self.window.len());
            self.window.extend_from_slice(&piece[..n]);
            piece = &piece[n..];
            if self.window.len() == 2 * WINDOW {
                self.search_window();
            }
        }
    }

    /// Searches a full window and discards its older half. A match near its end is not accepted
    /// yet: more bytes could change it.
    fn search_window(&mut self) {
        let end = self.pattern.shortest_match_at(&self.window, self.searched);
        self.is_found = end.is_some_and(|end| end + LOOK_AHEAD <= self.window.len());
        if self.is_found {
            self.window = Vec::new();
        } else {
            self.window.drain(..WINDOW - LOOK_AHEAD);
            self.searched = LOOK_AHEAD;
        }
    }

    fn finish(self) -> bool {
        self.is_found || self.pattern.is_match_at(&self.window, self.searched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn matches(pattern: &str, encoding: Option<&str>, pieces: &[&[u8]]) -> bool {
        let mut body =
            BodyCollector::new(encoding, None, Some(&Regex::new(pattern).unwrap()), None, None);
        for piece in pieces {
            body.push(piece);
        }
        body.finish().matches
    }

    fn room(body: &BodyCollector) -> usize {
        let taken = match body {
            BodyCollector::Plain(taken) => taken,
            BodyCollector::Gzip(decoder) => decoder.get_ref(),
            _ => return 0,
        };
        taken.search.as_ref().map_or(0, |search| search.window.capacity())
    }

    #[test]
    fn a_match_across_pieces_is_found() {
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
                assert_eq!(
                    matches(pattern, None, &pieces),
                    expected,
                    "{pattern} in pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn deflate_is_decompressed_with_and_without_a_zlib_header() {
        for text in ["", "a", "Hello, Hello", &"x1".repeat(100_000)] {
            for level in [0, 1, 9] {
                let mut raw = DeflateEncoder::new(Vec::new(), Compression::new(level));
                let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(level));
                raw.write_all(text.as_bytes()).unwrap();
                zlib.write_all(text.as_bytes()).unwrap();
                for (packed, size) in [(raw.finish().unwrap(), 1), (zlib.finish().unwrap(), 1000)] {
                    let mut body =
                        BodyCollector::new(Some("deflate"), None, None, Some(Vec::new()), None);
                    packed.chunks(size).for_each(|piece| body.push(piece));
                    let finished = body.finish();
                    assert!(
                        finished.bytes == text.as_bytes() && finished.error.is_none(),
                        "{} bytes, level {level}",
                        text.len()
                    );
                }
            }
        }
    }

    #[test]
    fn bodies_with_several_encodings_are_decompressed() {
        let text = "some needle here ".repeat(5000);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(text.as_bytes()).unwrap();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&zlib.finish().unwrap()).unwrap();
        let packed = gzip.finish().unwrap();
        for (size, length) in [(1, 0), (100, 0), (packed.len(), 0), (100, 20)] {
            let encoding = Some("identity, deflate, gzip");
            let mut body = BodyCollector::new(encoding, None, None, Some(Vec::new()), None);
            packed[..packed.len() - length].chunks(size).for_each(|piece| body.push(piece));
            let finished = body.finish();
            let is_cut = length > 0;
            assert_eq!(finished.error, is_cut.then_some(UnpackError::Damaged), "{size}");
            assert!(is_cut || finished.bytes == text.as_bytes(), "{size}");
        }
    }

    #[test]
    fn a_pattern_is_found_in_a_text_of_another_charset() {
        let found = |charset, pieces: &[&[u8]]| {
            let mut body =
                BodyCollector::new(None, charset, Some(&Regex::new("Müller").unwrap()), None, None);
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
    fn a_long_body_needs_no_more_memory_than_the_window() {
        let mut body =
            BodyCollector::new(None, None, Some(&Regex::new("needle").unwrap()), None, None);
        for _ in 0..1000 {
            body.push(&vec![b'x'; 64 * 1024]);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(!body.finish().matches);
    }

    #[test]
    fn a_decompressed_body_is_limited() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..2000 {
            packed.write_all(&vec![b'x'; 64 * 1024]).unwrap();
        }
        packed.write_all(b"needle").unwrap();
        let packed = packed.finish().unwrap();
        let mut body =
            BodyCollector::new(Some("gzip"), None, Some(&Regex::new("x").unwrap()), None, None);
        for piece in packed.chunks(10_000) {
            body.push(piece);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(matches!(body, BodyCollector::Broken(UnpackError::TooLong)));
        let finished = body.finish();
        assert!(finished.bytes.is_empty() && !finished.matches);
        assert_eq!(finished.error, Some(UnpackError::TooLong));
    }

    #[test]
    fn a_compressed_body_is_searched_and_a_malformed_one_matches_nothing() {
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
    fn a_message_is_decompressed_without_its_end() {
        // "Hello", of RFC 7692 section 7.2.3.1.
        let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
        for size in 1..=hello.len() {
            let mut body =
                BodyCollector::new(Some("permessage-deflate"), None, None, Some(Vec::new()), None);
            hello.chunks(size).for_each(|piece| body.push(piece));
            assert_eq!(body.finish().bytes, b"Hello");
        }
        let long = "words and words ".repeat(5000);
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(long.as_bytes()).unwrap();
        packed.flush().unwrap();
        let packed = packed.get_ref().strip_suffix(&MESSAGE_END).unwrap().to_vec();
        let mut body =
            BodyCollector::new(Some("permessage-deflate"), None, None, Some(Vec::new()), None);
        packed.chunks(7).for_each(|piece| body.push(piece));
        assert_eq!(body.finish().bytes, long.as_bytes());
    }

    #[test]
    fn a_recorded_body_ends_at_its_limit() {
        let mut body = BodyCollector::new(None, None, None, Some(Vec::new()), None);
        (0..3).for_each(|_| body.push(&vec![b'x'; MAX_RETAINED / 2]));
        assert_eq!(body.finish().bytes.len(), MAX_RETAINED);
    }
}
