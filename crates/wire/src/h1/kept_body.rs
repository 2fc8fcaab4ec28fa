//! What is kept of a body while it comes: a pattern is looked for, and a whole body is kept up to a limit.
//!
//! Memory is bounded, whatever a server sends: a pattern sees a window that moves over the body, and a compressed body is
//! unpacked as it comes, up to a limit.

use crate::events::EventMeter;
use brunt_model::Tick;
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
    Deflate(Box<ZlibDecoder<Taken>>),
    /// A message of a WebSocket.
    Message(Box<DeflateDecoder<Taken>>),
    /// It could not be unpacked.
    Broken,
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
    window: Vec<u8>,
    /// Bytes of the window that were seen before and only tell what stands in front.
    before: usize,
    found: bool,
}

impl KeptBody {
    /// Of a body with this Content-Encoding.
    pub fn new(
        encoding: Option<&str>,
        pattern: Option<&Regex>,
        keeps: Option<Vec<u8>>,
        events: Option<Box<EventMeter>>,
    ) -> Self {
        let taken = Taken { search: pattern.map(Search::new), keeps, events, unpacked: 0 };
        match encoding {
            Some("gzip" | "x-gzip") => Self::Gzip(Box::new(MultiGzDecoder::new(taken))),
            Some("deflate") => Self::Deflate(Box::new(ZlibDecoder::new(taken))),
            Some("permessage-deflate") => Self::Message(Box::new(DeflateDecoder::new(taken))),
            _ => Self::Plain(taken),
        }
    }

    /// A piece, as it was sent.
    pub fn push(&mut self, piece: &[u8]) {
        let pushed = match self {
            Self::Plain(taken) => {
                taken.push(piece);
                Ok(())
            }
            Self::Gzip(decoder) => decoder.write_all(piece),
            Self::Deflate(decoder) => decoder.write_all(piece),
            Self::Message(decoder) => decoder.write_all(piece),
            Self::Broken => Ok(()),
        };
        if pushed.is_err() {
            *self = Self::Broken;
        }
    }

    /// No more of it is awaited, though it has not come to its end.
    pub fn is_over(&self) -> bool {
        let taken = match self {
            Self::Plain(taken) => taken,
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Deflate(decoder) => decoder.get_ref(),
            Self::Message(decoder) => decoder.get_ref(),
            Self::Broken => return false,
        };
        taken.events.as_ref().is_some_and(|events| events.is_over())
    }

    /// A piece of the request was written, to which the next event is the answer.
    pub fn sent(&mut self, now: Tick) {
        let taken = match self {
            Self::Plain(taken) => taken,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Message(decoder) => decoder.get_mut(),
            Self::Broken => return,
        };
        if let Some(events) = &mut taken.events {
            events.sent(now);
        }
    }

    /// The body is over: what was kept of it, and whether the pattern matched. One that cannot be unpacked matches
    /// nothing.
    pub fn finish(self) -> (Vec<u8>, bool) {
        let taken = match self {
            Self::Plain(taken) => Ok(taken),
            Self::Gzip(decoder) => decoder.finish(),
            Self::Deflate(decoder) => decoder.finish(),
            Self::Message(mut decoder) => decoder.write_all(&MESSAGE_END).and_then(|()| decoder.finish()),
            Self::Broken => Ok(Taken::default()),
        };
        let Taken { search, keeps, mut events, .. } = taken.unwrap_or_default();
        if let Some(events) = &mut events {
            events.finish();
        }
        (keeps.unwrap_or_default(), search.is_some_and(Search::finish))
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
    fn new(pattern: &Regex) -> Self {
        Self { pattern: pattern.clone(), window: Vec::new(), before: 0, found: false }
    }

    fn push(&mut self, mut piece: &[u8]) {
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
        let mut body = KeptBody::new(encoding, Some(&Regex::new(pattern).unwrap()), None, None);
        for piece in pieces {
            body.push(piece);
        }
        body.finish().1
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
    fn a_long_body_takes_no_more_memory_than_the_window() {
        let mut body = KeptBody::new(None, Some(&Regex::new("needle").unwrap()), None, None);
        for _ in 0..1000 {
            body.push(&vec![b'x'; 64 * 1024]);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(!body.finish().1);
    }

    #[test]
    fn an_unpacked_body_is_bounded_too() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..2000 {
            packed.write_all(&vec![b'x'; 64 * 1024]).unwrap();
        }
        packed.write_all(b"needle").unwrap();
        let packed = packed.finish().unwrap();
        let mut body = KeptBody::new(Some("gzip"), Some(&Regex::new("x").unwrap()), None, None);
        for piece in packed.chunks(10_000) {
            body.push(piece);
            assert!(room(&body) <= 4 * WINDOW, "{}", room(&body));
        }
        assert!(matches!(body, KeptBody::Broken));
        assert_eq!(body.finish(), (Vec::new(), false));
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
            let mut body = KeptBody::new(Some("permessage-deflate"), None, Some(Vec::new()), None);
            hello.chunks(size).for_each(|piece| body.push(piece));
            assert_eq!(body.finish().0, b"Hello");
        }
        let long = "words and words ".repeat(5000);
        let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(long.as_bytes()).unwrap();
        packed.flush().unwrap();
        let packed = packed.get_ref().strip_suffix(&MESSAGE_END).unwrap().to_vec();
        let mut body = KeptBody::new(Some("permessage-deflate"), None, Some(Vec::new()), None);
        packed.chunks(7).for_each(|piece| body.push(piece));
        assert_eq!(body.finish().0, long.as_bytes());
    }

    #[test]
    fn a_kept_body_ends_at_its_limit() {
        let mut body = KeptBody::new(None, None, Some(Vec::new()), None);
        (0..3).for_each(|_| body.push(&vec![b'x'; MOST_KEPT / 2]));
        assert_eq!(body.finish().0.len(), MOST_KEPT);
    }
}
