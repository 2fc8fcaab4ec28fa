//! The reply parser of HTTP/1.0 and HTTP/1.1 (RFC 9112). It turns the bytes of a connection into a
//! [`ReplyHead`] and finds the end of the reply.
//!
//! It is a state machine over slices. The caller reads, keeps an unfinished head, and passes it
//! again with more bytes appended. The parser has no socket, buffer or clock, and it allocates
//! nothing. It interprets a head only as far as framing needs it.
//!
//! [`super`] passes the bytes of a connection and receives the head and the end. Header fields
//! and pieces of the body go to a [`ReplySink`]. The way in which the bytes are cut into pieces
//! never changes the outcome.

use std::mem::MaybeUninit;

use super::chunked::{ChunkedPiece, Chunks};
use crate::contract::{Framing, MAX_HEAD, MAX_INTERIM, ReplyHead, ReplySink, TLS_ALERT};
use crate::request::RequestKind;
pub use brunt_model::outcome::MalformedReply;
use brunt_model::plan::HttpVersion;

/// Header fields that the first attempt has room for. Few servers send more than 30.
const FIELDS: usize = 64;

/// Maximum number of header fields. More are [`MalformedReply::TooManyFields`].
const MANY_FIELDS: usize = 1024;

/// The bytes at the start of every reply.
const PREFIX: &[u8] = b"HTTP/1.";

/// Why there is no whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// The bytes are not a valid HTTP/1.x reply.
    #[error(transparent)]
    Malformed(#[from] MalformedReply),
    /// The connection ended before the blank line that ends the head.
    #[error("the connection was closed within the head of the reply")]
    ClosedInHead,
    /// The connection ended before the announced end of the body.
    #[error("the connection was closed within the body of the reply")]
    ClosedInBody,
}

/// Parses one reply. Each request needs a new parser. It is unusable after an error.
#[derive(Debug, Clone)]
pub struct ReplyParser {
    kind: RequestKind,
    state: State,
    head: Option<ReplyHead>,
    body_bytes: u64,
    head_bytes: u64,
    interim: u32,
}

const _: () = assert!(size_of::<ReplyParser>() <= 96, "one for each connection: keep it small");

/// The part of the reply that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The head. No blank line begins in its first `searched` bytes.
    Head {
        searched: usize,
    },
    Length {
        remaining: u64,
    },
    Chunked(Chunks),
    UntilClose,
    Done,
}

impl ReplyParser {
    /// Creates a parser for the reply to a request of this kind.
    pub fn new(kind: RequestKind) -> Self {
        ReplyParser {
            kind,
            state: State::Head { searched: 0 },
            head: None,
            body_bytes: 0,
            head_bytes: 0,
            interim: 0,
        }
    }

    /// Consumes bytes from the front of `bytes`, which must begin where the last call
    /// stopped. Returns their number.
    ///
    /// While the head is incomplete it consumes nothing, and needs the same bytes again with
    /// more appended. A body is consumed as it arrives. Interim heads (1xx other than 101) and
    /// blank lines before a head are consumed and skipped. After the reply is
    /// [`done`](Self::done), nothing is consumed.
    ///
    /// # Errors
    ///
    /// [`NoReply`] if the bytes are not a valid HTTP/1 reply.
    pub fn feed<S: ReplySink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, NoReply> {
        let mut position = 0;
        while let State::Head { searched } = self.state {
            let consumed = self.feed_head(&bytes[position..], searched, sink)?;
            if consumed == 0 {
                return Ok(position);
            }
            position += consumed;
            self.head_bytes += consumed as u64;
        }
        Ok(position + self.feed_body(&bytes[position..], sink)?)
    }

    /// Accepts a head that was parsed before, from the same bytes and for the same kind of request.
    /// Returns its length. Must be called at the beginning of a reply.
    pub fn accept_known_head(&mut self, head: ReplyHead) -> usize {
        self.head_bytes += head.length;
        self.accept(head)
    }

    /// Number of the following bytes that are certainly body and may be dropped unseen. It is 0 in
    /// the head and between chunks. Otherwise it is the rest of the chunk or of the body, or
    /// `u64::MAX` if the body lasts until the close.
    pub fn discardable(&self) -> u64 {
        match &self.state {
            State::Head { .. } | State::Done => 0,
            State::Length { remaining } => *remaining,
            State::Chunked(chunks) => chunks.discardable(),
            State::UntilClose => u64::MAX,
        }
    }

    /// Records that `n` bytes, at most [`discardable`](Self::discardable), were dropped unseen.
    pub fn skip(&mut self, n: u64) {
        debug_assert!(n <= self.discardable(), "more skipped than the body holds");
        self.body_bytes = self.body_bytes.saturating_add(n);
        match &mut self.state {
            State::Length { remaining } => {
                *remaining = remaining.saturating_sub(n);
                if *remaining == 0 {
                    self.state = State::Done;
                }
            }
            State::Chunked(chunks) => chunks.skip(n),
            State::Head { .. } | State::UntilClose | State::Done => {}
        }
    }

    /// Records that the server closed the connection, which either completes the reply
    /// or is a failure.
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

    /// True if the reply is complete.
    pub fn done(&self) -> bool {
        self.state == State::Done
    }

    /// The final head, once it is complete.
    pub fn head(&self) -> Option<ReplyHead> {
        self.head
    }

    /// Bytes of the body seen or skipped so far, without the framing of chunks.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Bytes of heads consumed so far: the final one, interim ones, and blank lines before them.
    pub fn head_bytes(&self) -> u64 {
        self.head_bytes
    }

    /// Number of interim heads (1xx other than 101) that were skipped.
    pub fn interim(&self) -> u32 {
        self.interim
    }

    /// Consumes one head, or the blank lines before it. Returns 0 if the head is incomplete.
    fn feed_head<S: ReplySink>(
        &mut self,
        bytes: &[u8],
        searched: usize,
        sink: &mut S,
    ) -> Result<usize, MalformedReply> {
        if self.interim > MAX_INTERIM {
            return Err(MalformedReply::TooManyInterim);
        }
        let blank = blank_lines(bytes);
        if blank > 0 {
            return Ok(blank);
        }
        // A caller may pass more than the limit at once.
        let bytes = &bytes[..bytes.len().min(MAX_HEAD)];
        // Nearly every head arrives whole: parse it in one pass, without a search
        // for the blank line.
        if searched == 0
            && let Some(head) = read_head::<FIELDS, S>(bytes, self.kind, sink)
        {
            return Ok(self.accept(head?));
        }
        match self.search(bytes, searched)? {
            Some(end) => Ok(self.accept(read_whole_head(&bytes[..end], self.kind, sink)?)),
            None => Ok(0),
        }
    }

    /// Finds the end of a head that arrived in pieces or was not parsed at once. A head is
    /// parsed only when it is complete, so that the result does not depend on the pieces. Each
    /// byte is searched only once.
    fn search(&mut self, bytes: &[u8], searched: usize) -> Result<Option<usize>, MalformedReply> {
        if bytes != b"\r"
            && bytes.iter().zip(PREFIX).any(|(received, expected)| received != expected)
        {
            let is_alert = bytes.first() == Some(&TLS_ALERT);
            return Err(if is_alert {
                MalformedReply::TlsRecord
            } else {
                MalformedReply::StatusLine
            });
        }
        let end = blank_line_end(bytes, searched);
        if end.is_none() && bytes.len() >= MAX_HEAD {
            return Err(MalformedReply::HeadTooLarge);
        }
        // The last one or two bytes may begin the blank line, so the next search includes them.
        self.state = State::Head { searched: bytes.len().saturating_sub(2) };
        Ok(end)
    }

    /// Accepts a complete head and sets the state that follows it. Returns its length.
    fn accept(&mut self, head: ReplyHead) -> usize {
        if is_interim(head.status) {
            self.interim = self.interim.saturating_add(1);
            self.state = State::Head { searched: 0 };
        } else {
            self.head = Some(head);
            self.state = match head.framing {
                Framing::None | Framing::Length(0) => State::Done,
                Framing::Length(remaining) => State::Length { remaining },
                Framing::Chunked => State::Chunked(Chunks::new()),
                Framing::UntilClose | Framing::Stream => State::UntilClose,
            };
        }
        head.length as usize
    }

    /// Consumes the bytes that belong to the body.
    fn feed_body<S: ReplySink>(
        &mut self,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<usize, MalformedReply> {
        if let State::Chunked(chunks) = &mut self.state {
            let consumed = chunks.feed(bytes, |piece| match piece {
                ChunkedPiece::Body(piece) => {
                    self.body_bytes = self.body_bytes.saturating_add(piece.len() as u64);
                    sink.body(piece);
                }
                ChunkedPiece::Trailer(byte) => sink.trailer_byte(byte),
            })?;
            if chunks.is_done() {
                self.state = State::Done;
            }
            return Ok(consumed);
        }
        let piece = &bytes[..self.discardable().min(bytes.len() as u64) as usize];
        if !piece.is_empty() {
            sink.body(piece);
            self.skip(piece.len() as u64);
        }
        Ok(piece.len())
    }
}

/// Returns the length of the blank lines at the start of `bytes`. Some servers
/// send them between replies.
fn blank_lines(bytes: &[u8]) -> usize {
    let mut length = 0;
    loop {
        match bytes[length..] {
            [b'\n', ..] => length += 1,
            [b'\r', b'\n', ..] => length += 2,
            _ => return length,
        }
    }
}

/// Returns the end of the first blank line that begins at or after `from`.
fn blank_line_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut position = from;
    loop {
        position += bytes[position..].iter().position(|&byte| byte == b'\n')? + 1;
        match bytes[position..] {
            [b'\n', ..] => return Some(position + 1),
            [b'\r', b'\n', ..] => return Some(position + 2),
            _ => {}
        }
    }
}

/// Parses a head that is known to be complete, with any number of fields.
#[cold]
fn read_whole_head<S: ReplySink>(
    bytes: &[u8],
    kind: RequestKind,
    sink: &mut S,
) -> Result<ReplyHead, MalformedReply> {
    read_head::<FIELDS, S>(bytes, kind, sink)
        // The large array is 16 times as long, and most heads do not need it.
        .or_else(|| read_head::<MANY_FIELDS, S>(bytes, kind, sink))
        .unwrap_or_else(|| Err(head_error(bytes)))
}

/// Returns why a complete head cannot be parsed.
fn head_error(bytes: &[u8]) -> MalformedReply {
    let line = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes, |end| &bytes[..=end]);
    match try_parse(bytes) {
        Err(httparse::Error::TooManyHeaders) => MalformedReply::TooManyFields,
        _ if try_parse(&[line, b"\r\n"].concat()).is_ok() => MalformedReply::HeaderField,
        _ => MalformedReply::StatusLine,
    }
}

fn try_parse(bytes: &[u8]) -> Result<(), httparse::Error> {
    let mut fields = vec![MaybeUninit::uninit(); MANY_FIELDS];
    let mut reply = httparse::Response::new(&mut []);
    tolerant_config().parse_response_with_uninit_headers(&mut reply, bytes, &mut fields).map(|_| ())
}

/// Parses the head at the front of `bytes`. Returns `None` if it is incomplete, malformed, or has
/// more than `N` fields.
fn read_head<const N: usize, S: ReplySink>(
    bytes: &[u8],
    kind: RequestKind,
    sink: &mut S,
) -> Option<Result<ReplyHead, MalformedReply>> {
    let mut fields = [const { MaybeUninit::uninit() }; N];
    let mut reply = httparse::Response::new(&mut []);
    let outcome =
        tolerant_config().parse_response_with_uninit_headers(&mut reply, bytes, &mut fields);
    let Ok(httparse::Status::Complete(length)) = outcome else {
        return None;
    };
    Some(interpret(&reply, length, kind, sink))
}

/// Accepts deviations that real servers send and every browser accepts: blanks before the colon,
/// folded values, and several spaces in the status line. The library always accepts a missing
/// reason and lone line feeds.
fn tolerant_config() -> httparse::ParserConfig {
    let mut config = httparse::ParserConfig::default();
    config
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_multiple_spaces_in_response_status_delimiters(true);
    config
}

/// Builds the [`ReplyHead`]. Passes its fields to `sink` unless it is an interim head.
fn interpret<S: ReplySink>(
    reply: &httparse::Response<'_, '_>,
    length: usize,
    kind: RequestKind,
    sink: &mut S,
) -> Result<ReplyHead, MalformedReply> {
    let (Some(status @ 100..), Some(version_minor)) = (reply.code, reply.version) else {
        return Err(MalformedReply::StatusLine);
    };
    let mut fields = Fields::default();
    if !is_interim(status) {
        for field in reply.headers.iter() {
            fields.note(field.name, field.value);
            sink.header(field.name, field.value);
        }
    }
    let framing = fields.framing(kind, status)?;
    Ok(ReplyHead {
        status,
        version: if version_minor == 0 { HttpVersion::V1_0 } else { HttpVersion::V1_1 },
        framing,
        keep_alive: framing != Framing::UntilClose
            && !leaves_http(kind, status)
            && fields.keep_alive(version_minor),
        length: length as u64,
        encoded: fields.encoded,
    })
}

/// True if a further head follows this one.
fn is_interim(status: u16) -> bool {
    status < 200 && status != 101
}

/// True if the connection carries another protocol after this head.
fn leaves_http(kind: RequestKind, status: u16) -> bool {
    status == 101 || (kind == RequestKind::Connect && (200..300).contains(&status))
}

/// True if the reply has no body, whatever its header fields say (RFC 9112 section 6.3,
/// rules 1 and 2).
fn is_bodiless(kind: RequestKind, status: u16) -> bool {
    kind == RequestKind::Head
        || matches!(status, 100..=199 | 204 | 304)
        || leaves_http(kind, status)
}

/// The header fields that determine framing and reuse of the connection.
#[derive(Debug, Default)]
struct Fields {
    length: DeclaredLength,
    coding: Coding,
    has_close: bool,
    has_keep_alive: bool,
    encoded: bool,
}

/// The combined value of the Content-Length fields.
#[derive(Debug, Clone, Copy, Default)]
enum DeclaredLength {
    #[default]
    Missing,
    Bytes(u64),
    Invalid,
}

/// The combined value of the Transfer-Encoding fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Coding {
    #[default]
    Missing,
    /// Compressed and not chunked (so far): the body ends with the connection.
    Compressed,
    Chunked,
    Invalid,
}

impl Fields {
    /// Evaluates one field. The length of its name excludes nearly all fields without a comparison.
    fn note(&mut self, name: &str, value: &[u8]) {
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => {
                tokens(value).for_each(|token| self.note_connection(token));
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                value.split(|&b| b == b',').for_each(|item| self.note_length(item));
            }
            16 if name.eq_ignore_ascii_case("content-encoding") => {
                self.encoded |= tokens(value).any(|token| !token.eq_ignore_ascii_case(b"identity"));
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                tokens(value).for_each(|token| self.note_coding(token));
            }
            _ => {}
        }
    }

    fn note_connection(&mut self, token: &[u8]) {
        self.has_close |= token.eq_ignore_ascii_case(b"close");
        self.has_keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
    }

    /// Evaluates one length. The same length may be repeated, in a list or in a further field
    /// (RFC 9110 section 8.6).
    fn note_length(&mut self, item: &[u8]) {
        self.length = match (self.length, decimal(item.trim_ascii())) {
            (DeclaredLength::Missing, Some(bytes)) => DeclaredLength::Bytes(bytes),
            (DeclaredLength::Bytes(previous), Some(bytes)) if previous == bytes => {
                DeclaredLength::Bytes(bytes)
            }
            _ => DeclaredLength::Invalid,
        };
    }

    fn note_coding(&mut self, token: &[u8]) {
        const COMPRESSIONS: [&[u8]; 5] =
            [b"gzip", b"deflate", b"compress", b"x-gzip", b"x-compress"];
        self.coding = match self.coding {
            Coding::Missing | Coding::Compressed if token.eq_ignore_ascii_case(b"chunked") => {
                Coding::Chunked
            }
            Coding::Missing | Coding::Compressed
                if COMPRESSIONS.into_iter().any(|name| token.eq_ignore_ascii_case(name)) =>
            {
                Coding::Compressed
            }
            // RFC 2616 defined `identity` as no coding at all.
            previous @ (Coding::Missing | Coding::Compressed)
                if token.eq_ignore_ascii_case(b"identity") =>
            {
                previous
            }
            _ => Coding::Invalid,
        };
    }

    /// Applies the rules of RFC 9112 section 6.3 in their order. An invalid field is an error only
    /// if a rule depends on it.
    fn framing(&self, kind: RequestKind, status: u16) -> Result<Framing, MalformedReply> {
        if is_bodiless(kind, status) {
            return Ok(Framing::None);
        }
        match (self.coding, self.length) {
            (Coding::Invalid, _) => Err(MalformedReply::TransferEncoding),
            // `Transfer-Encoding` overrides `Content-Length` (RFC 9112 section 6.3).
            (Coding::Chunked, _) => Ok(Framing::Chunked),
            (Coding::Compressed, _) | (Coding::Missing, DeclaredLength::Missing) => {
                Ok(Framing::UntilClose)
            }
            (Coding::Missing, DeclaredLength::Bytes(length)) => Ok(Framing::Length(length)),
            (Coding::Missing, DeclaredLength::Invalid) => Err(MalformedReply::ContentLength),
        }
    }

    /// True if the connection persists (RFC 9112 section 9.3). After a Transfer-Encoding under
    /// HTTP/1.0 the framing is not trustworthy, so the connection is not reused (section 6.1).
    fn keep_alive(&self, version_minor: u8) -> bool {
        let is_persistent =
            version_minor == 1 || (self.has_keep_alive && self.coding == Coding::Missing);
        is_persistent && !self.has_close
    }
}

/// Splits a comma-separated list into items without surrounding blanks. Empty items are ignored
/// (RFC 9110 section 5.6.1).
fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// Parses a number that consists of digits only: no sign, no blanks, at most 64 bits.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        // An overflow must not become a small length.
        sum.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
