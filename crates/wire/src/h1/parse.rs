//! The reply parser of HTTP/1.0 and HTTP/1.1: bytes of a connection in, a [`Head`] and a known end out (RFC 9112).
//!
//! It is a state machine over slices: the caller reads, keeps an unfinished head, and gives it again with more behind it.
//! It is not a reader (no socket, no buffer, no clock), not a client (requests, redirects and time limits are elsewhere),
//! and no judge of what a head means beyond its framing. It allocates nothing.
//!
//! Bytes come from the connection in [`super`]; the head and the end go back there, single header fields and pieces of the
//! body to whoever listens as a [`ReplySink`]. How the bytes are cut into pieces never changes the outcome.

use std::mem::MaybeUninit;

use super::chunked::Chunks;
use crate::contract::{Framing, Head, MAX_HEAD, MAX_INTERIM, ReplySink};
use crate::request::RequestKind;
pub use brunt_model::outcome::Malformed;
use brunt_model::plan::HttpVersion;

/// Header fields there is room for at first; few servers send more than 30.
const FIELDS: usize = 64;

/// Header fields there is room for in a head that has more than [`FIELDS`]; beyond, it is
/// [`Malformed::TooManyFields`].
const MANY_FIELDS: usize = 1024;

/// What every reply begins with.
const PREFIX: &[u8] = b"HTTP/1.";

/// Why there is no whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// The bytes are no HTTP/1.x reply.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Before the blank line that ends the head.
    #[error("the connection was closed within the head of the reply")]
    ClosedInHead,
    /// Before the end that the head announced.
    #[error("the connection was closed within the body of the reply")]
    ClosedInBody,
}

/// Reads one reply; a new one for each request. Of no more use after an error.
#[derive(Debug, Clone)]
pub struct Parser {
    asked: RequestKind,
    state: State,
    head: Option<Head>,
    body_bytes: u64,
    head_bytes: u64,
    interim: u32,
}

const _: () = assert!(size_of::<Parser>() <= 96, "one for each connection: keep it small");

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The head, in whose first `searched` bytes no blank line begins.
    Head {
        searched: usize,
    },
    Length {
        left: u64,
    },
    Chunked(Chunks),
    UntilClose,
    Done,
}

impl Parser {
    /// A parser for the reply to what was asked.
    pub fn new(asked: RequestKind) -> Self {
        Parser { asked, state: State::Head { searched: 0 }, head: None, body_bytes: 0, head_bytes: 0, interim: 0 }
    }

    /// Takes bytes from the front of `bytes`, which starts where the last call stopped taking, and tells how many.
    ///
    /// While the head is incomplete it takes nothing, and wants the same bytes again with more behind them; a body is
    /// taken as it comes. 1xx heads other than 101, and blank lines before a head, are taken and passed over. Nothing is
    /// taken once the reply is [`done`](Self::done).
    ///
    /// # Errors
    ///
    /// [`NoReply`] if the bytes are no reply of HTTP/1.
    pub fn feed<S: ReplySink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, NoReply> {
        let mut at = 0;
        while let State::Head { searched } = self.state {
            let taken = self.feed_head(&bytes[at..], searched, sink)?;
            if taken == 0 {
                return Ok(at);
            }
            at += taken;
            self.head_bytes += taken as u64;
        }
        Ok(at + self.feed_body(&bytes[at..], sink)?)
    }

    /// Takes a head that was read before, from the same bytes and in answer to the same kind of request; how many bytes
    /// that is. For the beginning of a reply only.
    pub fn recall(&mut self, head: Head) -> usize {
        self.head_bytes += head.length;
        self.accept(head)
    }

    /// How many of the coming bytes are certainly body and may be dropped unseen: 0 in the head and between chunks, the
    /// rest of the chunk or of the body otherwise, `u64::MAX` when it lasts until the close.
    pub fn discardable(&self) -> u64 {
        match &self.state {
            State::Head { .. } | State::Done => 0,
            State::Length { left } => *left,
            State::Chunked(chunks) => chunks.discardable(),
            State::UntilClose => u64::MAX,
        }
    }

    /// `n` bytes, at most [`discardable`](Self::discardable), were dropped unseen.
    pub fn skip(&mut self, n: u64) {
        debug_assert!(n <= self.discardable(), "more skipped than the body holds");
        self.body_bytes = self.body_bytes.saturating_add(n);
        match &mut self.state {
            State::Length { left } => {
                *left = left.saturating_sub(n);
                if *left == 0 {
                    self.state = State::Done;
                }
            }
            State::Chunked(chunks) => chunks.skip(n),
            State::Head { .. } | State::UntilClose | State::Done => {}
        }
    }

    /// The server closed the connection: either that completes the reply, or it is a failure.
    ///
    /// # Errors
    ///
    /// [`NoReply`] if the reply is not whole.
    pub fn close(&mut self) -> Result<(), NoReply> {
        match self.state {
            State::Head { .. } => Err(NoReply::ClosedInHead),
            State::Length { .. } | State::Chunked(_) => Err(NoReply::ClosedInBody),
            State::UntilClose | State::Done => {
                self.state = State::Done;
                Ok(())
            }
        }
    }

    /// Whether the reply is complete.
    pub fn done(&self) -> bool {
        self.state == State::Done
    }

    /// The final head, once it has come.
    pub fn head(&self) -> Option<Head> {
        self.head
    }

    /// Bytes of the body seen or skipped so far, without the framing of chunks.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Bytes of heads taken so far: the final one, interim ones, and blank lines before them.
    pub fn head_bytes(&self) -> u64 {
        self.head_bytes
    }

    /// How many interim heads (1xx other than 101) have been passed over.
    pub fn interim(&self) -> u32 {
        self.interim
    }

    /// Takes one head, or the blank lines before it; nothing if it is incomplete.
    fn feed_head<S: ReplySink>(&mut self, bytes: &[u8], searched: usize, sink: &mut S) -> Result<usize, Malformed> {
        if self.interim > MAX_INTERIM {
            return Err(Malformed::TooManyInterim);
        }
        let blank = blank_lines(bytes);
        if blank > 0 {
            return Ok(blank);
        }
        let bytes = &bytes[..bytes.len().min(MAX_HEAD)];
        // The whole head came at once, as nearly all do: one pass, and no search for the blank line.
        if searched == 0
            && let Some(head) = read_head::<FIELDS, S>(bytes, self.asked, sink)
        {
            return Ok(self.accept(head?));
        }
        match self.search(bytes, searched)? {
            Some(end) => Ok(self.accept(read_whole_head(&bytes[..end], self.asked, sink)?)),
            None => Ok(0),
        }
    }

    /// The end of a head that came in pieces, or was refused at first sight. A head is judged only when its blank line
    /// has come, so that the verdict does not depend on the pieces, and each byte is searched only once.
    fn search(&mut self, bytes: &[u8], searched: usize) -> Result<Option<usize>, Malformed> {
        if bytes != b"\r" && bytes.iter().zip(PREFIX).any(|(came, want)| came != want) {
            return Err(Malformed::StatusLine);
        }
        let end = blank_line_end(bytes, searched);
        if end.is_none() && bytes.len() >= MAX_HEAD {
            return Err(Malformed::HeadTooLarge);
        }
        // The blank line may have begun with the last line feed, or that and a carriage return.
        self.state = State::Head { searched: bytes.len().saturating_sub(2) };
        Ok(end)
    }

    /// A head is complete: what comes next? Tells its length.
    fn accept(&mut self, head: Head) -> usize {
        if is_interim(head.status) {
            self.interim = self.interim.saturating_add(1);
            self.state = State::Head { searched: 0 };
        } else {
            self.head = Some(head);
            self.state = match head.framing {
                Framing::None | Framing::Length(0) => State::Done,
                Framing::Length(left) => State::Length { left },
                Framing::Chunked => State::Chunked(Chunks::new()),
                Framing::UntilClose | Framing::Stream => State::UntilClose,
            };
        }
        head.length as usize
    }

    /// Takes what belongs to the body.
    fn feed_body<S: ReplySink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, Malformed> {
        if let State::Chunked(chunks) = &mut self.state {
            let taken = chunks.feed(bytes, |piece| {
                self.body_bytes = self.body_bytes.saturating_add(piece.len() as u64);
                sink.body(piece);
            })?;
            if chunks.done() {
                self.state = State::Done;
            }
            return Ok(taken);
        }
        let piece = &bytes[..self.discardable().min(bytes.len() as u64) as usize];
        if !piece.is_empty() {
            sink.body(piece);
            self.skip(piece.len() as u64);
        }
        Ok(piece.len())
    }
}

/// The length of the blank lines that some servers put between replies.
fn blank_lines(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match bytes[at..] {
            [b'\n', ..] => at += 1,
            [b'\r', b'\n', ..] => at += 2,
            _ => return at,
        }
    }
}

/// Where the first blank line that begins at or behind `from` ends.
fn blank_line_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += bytes[at..].iter().position(|&byte| byte == b'\n')? + 1;
        match bytes[at..] {
            [b'\n', ..] => return Some(at + 1),
            [b'\r', b'\n', ..] => return Some(at + 2),
            _ => {}
        }
    }
}

/// Reads a head that is known to be complete, however many fields it has.
#[cold]
fn read_whole_head<S: ReplySink>(bytes: &[u8], asked: RequestKind, sink: &mut S) -> Result<Head, Malformed> {
    read_head::<FIELDS, S>(bytes, asked, sink)
        .or_else(|| read_head::<MANY_FIELDS, S>(bytes, asked, sink))
        .unwrap_or_else(|| Err(cause(bytes)))
}

/// What is wrong with a head that is complete and cannot be read.
fn cause(bytes: &[u8]) -> Malformed {
    let parse = |bytes: &[u8]| {
        let mut fields = vec![MaybeUninit::uninit(); MANY_FIELDS];
        let mut reply = httparse::Response::new(&mut []);
        tolerant().parse_response_with_uninit_headers(&mut reply, bytes, &mut fields).map(|_| ())
    };
    let line = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &bytes[..=end]);
    match parse(bytes) {
        Err(httparse::Error::TooManyHeaders) => Malformed::TooManyFields,
        _ if parse(&[line, b"\r\n"].concat()).is_ok() => Malformed::HeaderField,
        _ => Malformed::StatusLine,
    }
}

/// Reads the head at the front of `bytes`; `None` if it is incomplete, no head, or has more than `N` fields.
fn read_head<const N: usize, S: ReplySink>(
    bytes: &[u8],
    asked: RequestKind,
    sink: &mut S,
) -> Option<Result<Head, Malformed>> {
    let mut fields = [const { MaybeUninit::uninit() }; N];
    let mut reply = httparse::Response::new(&mut []);
    let outcome = tolerant().parse_response_with_uninit_headers(&mut reply, bytes, &mut fields);
    let Ok(httparse::Status::Complete(length)) = outcome else {
        return None;
    };
    Some(interpret(&reply, length, asked, sink))
}

/// What real servers send and every browser takes: blanks before the colon, folded values, more than one space in the
/// status line. (A missing reason and lone line feeds are taken anyway.)
fn tolerant() -> httparse::ParserConfig {
    let mut config = httparse::ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    config
}

/// What a head says, its fields shown to `sink` unless it is an interim one.
fn interpret<S: ReplySink>(
    reply: &httparse::Response<'_, '_>,
    length: usize,
    asked: RequestKind,
    sink: &mut S,
) -> Result<Head, Malformed> {
    let (Some(status @ 100..), Some(version_minor)) = (reply.code, reply.version) else {
        return Err(Malformed::StatusLine);
    };
    let mut fields = Fields::default();
    if !is_interim(status) {
        for field in reply.headers.iter() {
            fields.note(field.name, field.value);
            sink.header(field.name, field.value);
        }
    }
    let framing = fields.framing(asked, status)?;
    Ok(Head {
        status,
        version: if version_minor == 0 { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        framing,
        keep_alive: framing != Framing::UntilClose && !leaves_http(asked, status) && fields.keep_alive(version_minor),
        length: length as u64,
        encoded: fields.encoded,
    })
}

/// Whether a further head follows this one.
fn is_interim(status: u16) -> bool {
    status < 200 && status != 101
}

/// Whether the connection speaks something else behind this head.
fn leaves_http(asked: RequestKind, status: u16) -> bool {
    status == 101 || (asked == RequestKind::Connect && (200..300).contains(&status))
}

/// Whether there is no body, whatever the header fields say (RFC 9112 section 6.3, rules 1 and 2).
fn is_bodiless(asked: RequestKind, status: u16) -> bool {
    asked == RequestKind::Head || matches!(status, 100..=199 | 204 | 304) || leaves_http(asked, status)
}

/// What the header fields say about framing and connection.
#[derive(Debug, Default)]
struct Fields {
    length: Stated,
    coding: Coding,
    close: bool,
    persist: bool,
    encoded: bool,
}

/// The Content-Length fields, taken together.
#[derive(Debug, Clone, Copy, Default)]
enum Stated {
    #[default]
    Nothing,
    Bytes(u64),
    Nonsense,
}

/// The Transfer-Encoding fields, taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Coding {
    #[default]
    Nothing,
    /// Compressed, and not (or not yet) chunked: ends with the connection.
    Compressed,
    Chunked,
    Nonsense,
}

impl Fields {
    /// Takes note of one field. Its name's length rules out nearly all of them.
    fn note(&mut self, name: &str, value: &[u8]) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        match name.len() {
            10 if is("connection") => tokens(value).for_each(|token| self.note_connection(token)),
            14 if is("content-length") => value.split(|&b| b == b',').for_each(|item| self.note_length(item)),
            16 if is("content-encoding") => {
                self.encoded |= tokens(value).any(|token| !token.eq_ignore_ascii_case(b"identity"));
            }
            17 if is("transfer-encoding") => tokens(value).for_each(|token| self.note_coding(token)),
            _ => {}
        }
    }

    fn note_connection(&mut self, token: &[u8]) {
        self.close |= token.eq_ignore_ascii_case(b"close");
        self.persist |= token.eq_ignore_ascii_case(b"keep-alive");
    }

    /// The same length may be said again, in a list or a further field (RFC 9110 section 8.6).
    fn note_length(&mut self, item: &[u8]) {
        self.length = match (self.length, decimal(item.trim_ascii())) {
            (Stated::Nothing, Some(now)) => Stated::Bytes(now),
            (Stated::Bytes(before), Some(now)) if before == now => Stated::Bytes(now),
            _ => Stated::Nonsense,
        };
    }

    fn note_coding(&mut self, token: &[u8]) {
        const COMPRESSIONS: [&[u8]; 5] = [b"gzip", b"deflate", b"compress", b"x-gzip", b"x-compress"];
        let is = |wanted: &[u8]| token.eq_ignore_ascii_case(wanted);
        self.coding = match self.coding {
            Coding::Nothing | Coding::Compressed if is(b"chunked") => Coding::Chunked,
            Coding::Nothing | Coding::Compressed if COMPRESSIONS.into_iter().any(is) => Coding::Compressed,
            // No coding at all, in the words of RFC 2616.
            before @ (Coding::Nothing | Coding::Compressed) if is(b"identity") => before,
            _ => Coding::Nonsense,
        };
    }

    /// RFC 9112 section 6.3, its rules in their order: a field that no longer decides anything may be nonsense.
    fn framing(&self, asked: RequestKind, status: u16) -> Result<Framing, Malformed> {
        if is_bodiless(asked, status) {
            return Ok(Framing::None);
        }
        match (self.coding, self.length) {
            (Coding::Nonsense, _) => Err(Malformed::TransferEncoding),
            (Coding::Chunked, _) => Ok(Framing::Chunked),
            (Coding::Compressed, _) | (Coding::Nothing, Stated::Nothing) => Ok(Framing::UntilClose),
            (Coding::Nothing, Stated::Bytes(length)) => Ok(Framing::Length(length)),
            (Coding::Nothing, Stated::Nonsense) => Err(Malformed::ContentLength),
        }
    }

    /// RFC 9112 section 9.3; and one that codes the transfer under HTTP/1.0 is not to be trusted further (section 6.1).
    fn keep_alive(&self, version_minor: u8) -> bool {
        let persistent = version_minor == 1 || (self.persist && self.coding == Coding::Nothing);
        persistent && !self.close
    }
}

/// The items of a comma-separated list, without blanks around them; empty ones do not count (RFC 9110 section 5.6.1).
fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// Digits alone: no sign, no blanks, nothing beyond 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
