//! Tests the parser with good and malformed replies. Each is parsed whole, cut in two at every
//! place, byte by byte, and with a discarded body; the outcome is always the same. The same
//! applies to random bytes.

use super::*;

/// A sink that keeps everything it receives.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Seen {
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    trailers: Vec<u8>,
}

impl ReplySink for Seen {
    fn header(&mut self, name: &str, value: &[u8]) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of the body");
        self.body.extend_from_slice(bytes);
    }

    fn trailer_byte(&mut self, byte: u8) {
        self.trailers.push(byte);
    }
}

/// The observable state of a parser that received some bytes, and then the end of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    verdict: Result<(), NoReply>,
    /// Number of bytes that the reply consists of, or why it is none.
    used: Option<usize>,
    head: Option<ReplyHead>,
    interim: u32,
    body_bytes: u64,
    seen: Seen,
}

/// How the discardable part of a body is passed to the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Fed,
    Dropped,
}

/// Parses `bytes` in `pieces`, of which the last is the rest, and then closes the connection.
fn run(
    kind: RequestKind,
    bytes: &[u8],
    pieces: impl IntoIterator<Item = usize>,
    body: Body,
) -> Outcome {
    let mut parser = ReplyParser::new(kind);
    let mut seen = Seen::default();
    let verdict = play(&mut parser, &mut seen, bytes, pieces, body);
    Outcome {
        verdict: verdict.map(|_| ()),
        used: verdict.ok(),
        head: parser.head(),
        interim: parser.interim(),
        body_bytes: parser.body_bytes(),
        seen,
    }
}

fn play(
    parser: &mut ReplyParser,
    seen: &mut Seen,
    bytes: &[u8],
    pieces: impl IntoIterator<Item = usize>,
    body: Body,
) -> Result<usize, NoReply> {
    let mut pieces = pieces.into_iter();
    let (mut at, mut end) = (0, 0);
    while end < bytes.len() && !parser.done() {
        let piece = pieces.next().unwrap_or(bytes.len());
        end = (end + piece).min(bytes.len());
        let used = parser.feed(&bytes[at..end], seen)?;
        assert!(used <= end - at, "took more than was given");
        at += used;
        assert_eq!(parser.feed(&bytes[at..end], seen), Ok(0), "took less than it could");
        if body == Body::Dropped {
            let unseen = parser.discardable().min((bytes.len() - at) as u64);
            parser.skip(unseen);
            at += unseen as usize;
            end = end.max(at);
        }
    }
    parser.close().map(|()| at)
}

fn whole(kind: RequestKind, bytes: &[u8]) -> Outcome {
    run(kind, bytes, [], Body::Fed)
}

/// Asserts that the outcome depends neither on cuts nor on discarding, and returns it.
fn consistent_outcome(name: &str, kind: RequestKind, bytes: &[u8]) -> Outcome {
    let whole = whole(kind, bytes);
    let step = 1 + bytes.len() / 500;
    for cut in (1..bytes.len()).step_by(step) {
        assert_eq!(run(kind, bytes, [cut], Body::Fed), whole, "{name}, cut at {cut}");
    }
    assert_eq!(run(kind, bytes, std::iter::repeat(1), Body::Fed), whole, "{name}, byte by byte");
    for piece in [1, 2, 3, 7, 64, bytes.len()] {
        let dropped = run(kind, bytes, std::iter::repeat(piece.max(1)), Body::Dropped);
        assert_eq!(
            dropped.body_bytes, whole.body_bytes,
            "{name}, dropped behind pieces of {piece}"
        );
        let unseen = Outcome { seen: whole.seen.clone(), ..dropped };
        assert_eq!(unseen, whole, "{name}, dropped behind pieces of {piece}");
    }
    whole
}

/// A good reply with its expected outcome.
struct Case {
    name: &'static str,
    kind: RequestKind,
    /// Bytes before the head, which are skipped.
    before: &'static str,
    interim: u32,
    head: String,
    /// The body with its framing, and the body itself.
    wire: Vec<u8>,
    body: Vec<u8>,
    status: u16,
    framing: Framing,
    keep_alive: bool,
}

fn case(
    name: &'static str,
    head: impl Into<String>,
    framing: Framing,
    wire: &str,
    body: &str,
) -> Case {
    let head = head.into();
    let status = head.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    let (wire, body) = (wire.as_bytes().to_vec(), body.as_bytes().to_vec());
    let keep_alive = framing != Framing::UntilClose;
    Case {
        name,
        kind: RequestKind::Ordinary,
        before: "",
        interim: 0,
        head,
        wire,
        body,
        status,
        framing,
        keep_alive,
    }
}

impl Case {
    fn with_kind(self, kind: RequestKind) -> Self {
        Case { kind, ..self }
    }

    fn closes(self) -> Self {
        Case { keep_alive: false, ..self }
    }

    fn preceded_by(self, before: &'static str, interim: u32) -> Self {
        Case { before, interim, ..self }
    }

    fn bytes(&self) -> Vec<u8> {
        [self.before.as_bytes(), self.head.as_bytes(), &self.wire].concat()
    }

    fn check(&self) {
        let bytes = self.bytes();
        let outcome = consistent_outcome(self.name, self.kind, &bytes);
        let head = outcome.head.unwrap_or_else(|| panic!("{}: {outcome:?}", self.name));
        assert_eq!(outcome.verdict, Ok(()), "{}", self.name);
        assert_eq!(outcome.used, Some(bytes.len()), "{}", self.name);
        assert_eq!(head.status, self.status, "{}", self.name);
        assert_eq!(head.framing, self.framing, "{}", self.name);
        assert_eq!(head.keep_alive, self.keep_alive, "{}", self.name);
        assert_eq!(head.length, self.head.len() as u64, "{}", self.name);
        assert_eq!(outcome.interim, self.interim, "{}", self.name);
        assert_eq!(outcome.body_bytes, self.body.len() as u64, "{}", self.name);
        assert_eq!(outcome.seen.body, self.body, "{}", self.name);
    }
}

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS: &str =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nContent-Length: 9\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Returns a head of exactly `size` bytes that announces 2 bytes of body. Its fields have
/// about `field` bytes each.
fn big_head(size: usize, field: usize) -> String {
    let mut head = String::from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
    while head.len() + 2 + 2 * field < size {
        head = head + "X: " + &"y".repeat(field - 5) + "\r\n";
    }
    let rest = size - head.len() - 2;
    head + &format!("Z: {}\r\n\r\n", "z".repeat(rest - 5))
}

/// Replies with a length, and replies without a body.
fn plain_cases() -> Vec<Case> {
    use Framing::{Length, None};
    let ok = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    vec![
        case("length", ok("Content-Length: 5\r\n"), Length(5), "hello", "hello"),
        case("length zero", ok("Content-Length: 0\r\n"), Length(0), "", ""),
        case(
            "length said twice",
            ok("Content-Length: 5\r\ncontent-length:5\r\n"),
            Length(5),
            "hello",
            "hello",
        ),
        case("length as list", ok("Content-Length: 5, 5\r\n"), Length(5), "hello", "hello"),
        case(
            "length with zeros before",
            ok("Content-Length: 0005\r\n"),
            Length(5),
            "hello",
            "hello",
        ),
        case("blanks around", ok("Content-Length \t:  \t 5 \t \r\n"), Length(5), "hello", "hello"),
        case("folded", ok("Content-Length:\r\n 5\r\nX: a\r\n\tb\r\n"), Length(5), "hello", "hello"),
        case("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\n", Length(2), "hi", "hi"),
        case(
            "mixed line ends",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\n",
            Length(2),
            "hi",
            "hi",
        ),
        case("no reason", "HTTP/1.1 404\r\nContent-Length: 2\r\n\r\n", Length(2), "hi", "hi"),
        case("empty reason", "HTTP/1.1 404 \r\nContent-Length: 2\r\n\r\n", Length(2), "hi", "hi"),
        case("two spaces", "HTTP/1.1  200  OK\r\nContent-Length: 2\r\n\r\n", Length(2), "hi", "hi"),
        case(
            "reason in Latin-1's place",
            "HTTP/1.1 200 Žluť\r\nContent-Length: 2\r\n\r\n",
            Length(2),
            "hi",
            "hi",
        ),
        case("status 999", "HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\n", Length(2), "hi", "hi"),
        case(
            "body like a head",
            ok("Content-Length: 19\r\n"),
            Length(19),
            "\r\n\r\nHTTP/1.1 200 OK",
            "\r\n\r\nHTTP/1.1 200 OK",
        ),
        case("HEAD", ok("Content-Length: 5\r\n"), None, "", "").with_kind(RequestKind::Head),
        case("HEAD, chunked", CHUNKED, None, "", "").with_kind(RequestKind::Head),
        case("HEAD, nothing said", ok(""), None, "", "").with_kind(RequestKind::Head),
        case("HEAD, nonsense", ok("Content-Length: x\r\n"), None, "", "")
            .with_kind(RequestKind::Head),
        case("204", "HTTP/1.1 204 No Content\r\n\r\n", None, "", ""),
        case(
            "204 with a length",
            "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
            None,
            "",
            "",
        ),
        case("304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", None, "", ""),
        case("101", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\n", None, "", "").closes(),
        case("CONNECT", "HTTP/1.1 200 Established\r\n\r\n", None, "", "")
            .with_kind(RequestKind::Connect)
            .closes(),
        case(
            "CONNECT refused",
            "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\n",
            Length(2),
            "no",
            "no",
        )
        .with_kind(RequestKind::Connect),
        case("100", ok("Content-Length: 2\r\n"), Length(2), "hi", "hi").preceded_by(CONTINUE, 1),
        case("103", ok("Content-Length: 2\r\n"), Length(2), "hi", "hi").preceded_by(HINTS, 1),
        case("blank lines", ok("Content-Length: 2\r\n"), Length(2), "hi", "hi")
            .preceded_by("\r\n\n\r\n", 0),
        case("blank line behind 100", ok("Content-Length: 2\r\n"), Length(2), "hi", "hi")
            .preceded_by("HTTP/1.1 100 \n\n\r\n", 1),
        case("HEAD behind 100", ok("Content-Length: 2\r\n"), None, "", "")
            .with_kind(RequestKind::Head)
            .preceded_by(CONTINUE, 1),
        case(
            "64 fields",
            ok(&("a: b\r\n".repeat(63) + "Content-Length: 2\r\n")),
            Length(2),
            "hi",
            "hi",
        ),
        case(
            "65 fields",
            ok(&("a: b\r\n".repeat(64) + "Content-Length: 2\r\n")),
            Length(2),
            "hi",
            "hi",
        ),
        case(
            "1024 fields",
            ok(&("a: b\r\n".repeat(1023) + "Content-Length: 2\r\n")),
            Length(2),
            "hi",
            "hi",
        ),
        case("8 kB", big_head(8_000, 400), Length(2), "hi", "hi"),
        case("64 kB", big_head(MAX_HEAD, 400), Length(2), "hi", "hi"),
        case("64 kB in one field", big_head(MAX_HEAD, MAX_HEAD), Length(2), "hi", "hi"),
    ]
}

/// Replies in chunks, and replies that last until the connection closes.
fn open_cases() -> Vec<Case> {
    use Framing::{Chunked, UntilClose};
    let ok = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let long_extension = format!("2;{}\r\nhi\r\n0\r\n\r\n", "x".repeat(4_092));
    let long_trailers = format!("0\r\n{}\r\n", "x".repeat(65_532) + "\r\n");
    vec![
        case("chunked", CHUNKED, Chunked, "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"),
        case("chunked, empty", CHUNKED, Chunked, "0\r\n\r\n", ""),
        case(
            "hexadecimal",
            CHUNKED,
            Chunked,
            "0000a\r\n0123456789\r\nB\r\nabcdefghijk\r\n00\r\n\r\n",
            "0123456789abcdefghijk",
        ),
        case(
            "extensions",
            CHUNKED,
            Chunked,
            "2;a=b;c=\"d\"\r\nhi\r\n1 ; x\r\n!\r\n0;z\r\n\r\n",
            "hi!",
        ),
        case("filled sizes", CHUNKED, Chunked, "2     \r\nhi\r\n0 \t\r\n\r\n", "hi"),
        case("trailers", CHUNKED, Chunked, "2\r\nhi\r\n0\r\nDigest: x\r\nB:\r\n\r\n", "hi"),
        case("line ends in the data", CHUNKED, Chunked, "4\r\n\r\n0\n\r\n0\r\n\r\n", "\r\n0\n"),
        case("chunked, bare line feeds", CHUNKED, Chunked, "2\nhi\n0\nA: b\n\n", "hi"),
        case("size line of 4 kB", CHUNKED, Chunked, &long_extension, "hi"),
        case("trailers of 64 kB", CHUNKED, Chunked, &long_trailers, ""),
        case(
            "chunked wins",
            ok("Content-Length: 9\r\nTransfer-Encoding: Chunked\r\n"),
            Chunked,
            "2\r\nhi\r\n0\r\n\r\n",
            "hi",
        ),
        case(
            "chunked wins over nonsense",
            ok("Transfer-Encoding: chunked\r\nContent-Length: x\r\n"),
            Chunked,
            "0\r\n\r\n",
            "",
        ),
        case(
            "gzip, chunked",
            ok("Transfer-Encoding: gzip, chunked\r\n"),
            Chunked,
            "2\r\nhi\r\n0\r\n\r\n",
            "hi",
        ),
        case(
            "in two fields",
            ok("Transfer-Encoding: gzip\r\nTransfer-Encoding: ,chunked\r\n"),
            Chunked,
            "0\r\n\r\n",
            "",
        ),
        case(
            "chunked and close",
            ok("Connection: close\r\nTransfer-Encoding: chunked\r\n"),
            Chunked,
            "0\r\n\r\n",
            "",
        )
        .closes(),
        case(
            "chunked under 1.0",
            CHUNKED.replace("1.1 200 OK", "1.0 200 OK\r\nConnection: keep-alive"),
            Chunked,
            "2\r\nhi\r\n0\r\n\r\n",
            "hi",
        )
        .closes(),
        case("chunked behind 100 and 103", CHUNKED, Chunked, "2\r\nhi\r\n0\r\n\r\n", "hi")
            .preceded_by(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n",
                2,
            ),
        case("until close", ok("Connection: close\r\n"), UntilClose, "hello", "hello"),
        case("until close, empty", ok(""), UntilClose, "", ""),
        case(
            "until close, kept alive",
            ok("Connection: keep-alive\r\n"),
            UntilClose,
            "hello",
            "hello",
        ),
        case(
            "until close, 1.0",
            "HTTP/1.0 200 OK\r\n\r\n",
            UntilClose,
            "hello\r\n\r\n",
            "hello\r\n\r\n",
        ),
        case(
            "compressed only",
            ok("Transfer-Encoding: gzip\r\nContent-Length: 2\r\n"),
            UntilClose,
            "hello",
            "hello",
        ),
        case("no fields", "HTTP/1.1 200\r\n\r\n", UntilClose, "hi", "hi"),
        case("CONNECT refused, until close", "HTTP/1.0 502 Bad\r\n\r\n", UntilClose, "no", "no")
            .with_kind(RequestKind::Connect),
    ]
}

#[test]
fn valid_replies_are_parsed_in_any_pieces() {
    for case in plain_cases().iter().chain(&open_cases()) {
        case.check();
    }
}

#[test]
fn the_connection_field_and_the_version_decide_on_keep_alive() {
    let cases = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "connection: CLOSE\r\n", false),
        ("1.1", "Connection: foo, Close ,bar\r\n", false),
        ("1.1", "Connection: foo\r\nConnection: close\r\n", false),
        ("1.1", "Connection: keep-alive\r\n", true),
        ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: x,keep-alive\r\n", true),
        ("1.0", "Connection: close\r\n", false),
        ("1.0", "Connection: keep-alive\r\nConnection: close\r\n", false),
    ];
    for (version, field, keep_alive) in cases {
        let bytes = format!("HTTP/{version} 200 OK\r\nContent-Length: 2\r\n{field}\r\nhi");
        let outcome = consistent_outcome(field, RequestKind::Ordinary, bytes.as_bytes());
        let head = outcome.head.unwrap();
        assert_eq!(head.keep_alive, keep_alive, "{version} {field}");
        assert_eq!(head.version.to_string(), format!("HTTP/{version}"));
    }
}

#[test]
fn a_content_encoding_other_than_identity_is_reported() {
    for (field, encoded) in [
        ("", false),
        ("Content-Encoding: gzip\r\n", true),
        ("content-encoding: br, gzip\r\n", true),
        ("Content-Encoding: Identity\r\n", false),
        ("Content-Encoding:\r\n", false),
        ("Content-Encoding: identity, zstd\r\n", true),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 0\r\n\r\n");
        assert_eq!(
            whole(RequestKind::Ordinary, bytes.as_bytes()).head.unwrap().encoded,
            encoded,
            "{field}"
        );
    }
}

#[test]
fn only_fields_of_the_final_head_are_reported() {
    let bytes = format!(
        "{HINTS}HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie:  a=\u{e9}; b \r\nEmpty:\r\n\r\n"
    );
    let seen = whole(RequestKind::Ordinary, bytes.as_bytes()).seen.fields;
    let shown: Vec<_> =
        seen.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let expected: [(&str, &[u8]); 3] =
        [("Content-Length", b"0"), ("Set-Cookie", "a=\u{e9}; b".as_bytes()), ("Empty", b"")];
    assert_eq!(shown, expected);
}

#[test]
fn malformed_replies_are_distinguished_in_any_pieces() {
    let ok = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let chunked = |wire: &str| format!("{CHUNKED}{wire}");
    let most = u64::MAX;
    let cases = [
        (
            "another protocol",
            "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "an alert of TLS",
            "\x15\x03\x01\0\x02\x02\x46".to_owned(),
            NoReply::Malformed(MalformedReply::TlsRecord),
        ),
        (
            "another version",
            "HTTP/2 200\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "another minor",
            "HTTP/1.2 200 OK\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "a carriage return first",
            "\rHTTP/1.1 200 OK\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "no status",
            "HTTP/1.1 OK\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "status of two digits",
            "HTTP/1.1 20 OK\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "status below 100",
            "HTTP/1.1 099 OK\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "field without colon",
            ok("Content-Length 5\r\n"),
            NoReply::Malformed(MalformedReply::HeaderField),
        ),
        ("NUL in a field", ok("A: b\0c\r\n"), NoReply::Malformed(MalformedReply::HeaderField)),
        (
            "a lone carriage return",
            ok("A: b\rc\r\n"),
            NoReply::Malformed(MalformedReply::HeaderField),
        ),
        ("no name", ok(": b\r\n"), NoReply::Malformed(MalformedReply::HeaderField)),
        (
            "bad interim",
            "HTTP/1.1 100 Continue\r\nX\r\n\r\n".to_owned(),
            NoReply::Malformed(MalformedReply::HeaderField),
        ),
        (
            "bad behind interim",
            format!("{CONTINUE}hello"),
            NoReply::Malformed(MalformedReply::StatusLine),
        ),
        (
            "1025 fields",
            ok(&"a: b\r\n".repeat(1025)),
            NoReply::Malformed(MalformedReply::TooManyFields),
        ),
        (
            "too large",
            big_head(MAX_HEAD + 1, 400),
            NoReply::Malformed(MalformedReply::HeadTooLarge),
        ),
        (
            "too large in one field",
            big_head(MAX_HEAD + 1, MAX_HEAD),
            NoReply::Malformed(MalformedReply::HeadTooLarge),
        ),
        (
            "never ends",
            format!("HTTP/1.1 200 OK\r\nA:{}", "x".repeat(2 * MAX_HEAD)),
            NoReply::Malformed(MalformedReply::HeadTooLarge),
        ),
        (
            "length no number",
            ok("Content-Length: five\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "length empty",
            ok("Content-Length:\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "length signed",
            ok("Content-Length: +5\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "length negative",
            ok("Content-Length: -1\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "length beyond 64 bits",
            ok("Content-Length: 18446744073709551616\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "lengths differ",
            ok("Content-Length: 5\r\nContent-Length: 6\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "lengths differ in a list",
            ok("Content-Length: 5, 6\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "lengths differ, then agree",
            ok("Content-Length: 5, 6, 6\r\n"),
            NoReply::Malformed(MalformedReply::ContentLength),
        ),
        (
            "unknown coding",
            ok("Transfer-Encoding: rot13\r\n"),
            NoReply::Malformed(MalformedReply::TransferEncoding),
        ),
        (
            "unknown, chunked",
            ok("Transfer-Encoding: rot13, chunked\r\n"),
            NoReply::Malformed(MalformedReply::TransferEncoding),
        ),
        (
            "chunked not last",
            ok("Transfer-Encoding: chunked, gzip\r\n"),
            NoReply::Malformed(MalformedReply::TransferEncoding),
        ),
        (
            "chunked in two fields",
            ok(&"Transfer-Encoding: chunked\r\n".repeat(2)),
            NoReply::Malformed(MalformedReply::TransferEncoding),
        ),
        ("no size", chunked("\r\nhi\r\n0\r\n\r\n"), NoReply::Malformed(MalformedReply::Chunk)),
        ("size no number", chunked("x\r\n"), NoReply::Malformed(MalformedReply::Chunk)),
        ("extension without size", chunked(";a\r\n"), NoReply::Malformed(MalformedReply::Chunk)),
        ("size in two", chunked("1 1\r\n"), NoReply::Malformed(MalformedReply::Chunk)),
        (
            "size beyond 64 bits",
            chunked("10000000000000000\r\n"),
            NoReply::Malformed(MalformedReply::Chunk),
        ),
        ("carriage return alone", chunked("2\rhi"), NoReply::Malformed(MalformedReply::Chunk)),
        (
            "data too long",
            chunked("2\r\nhello\r\n0\r\n\r\n"),
            NoReply::Malformed(MalformedReply::Chunk),
        ),
        (
            "data's carriage return alone",
            chunked("2\r\nhi\r0\r\n\r\n"),
            NoReply::Malformed(MalformedReply::Chunk),
        ),
        (
            "size line beyond 4 kB",
            chunked(&format!("2;{}\r\nhi\r\n", "x".repeat(4_093))),
            NoReply::Malformed(MalformedReply::ChunkLineTooLong),
        ),
        (
            "zeros without end",
            chunked(&"0".repeat(5_000)),
            NoReply::Malformed(MalformedReply::ChunkLineTooLong),
        ),
        (
            "trailers beyond 64 kB",
            chunked(&format!("0\r\n{}\r\n\r\n", "x".repeat(65_533))),
            NoReply::Malformed(MalformedReply::TrailersTooLarge),
        ),
        (
            "end's carriage return alone",
            chunked("0\r\n\rX"),
            NoReply::Malformed(MalformedReply::Chunk),
        ),
        ("closed at once", String::new(), NoReply::ClosedInHead),
        ("closed behind blank lines", "\r\n\r".to_owned(), NoReply::ClosedInHead),
        ("closed behind an interim head", CONTINUE.to_owned(), NoReply::ClosedInHead),
        (
            "closed in a long body",
            ok(&format!("Content-Length: {most}\r\n")) + "hello",
            NoReply::ClosedInBody,
        ),
        ("closed in a long chunk", chunked(&format!("{most:x}\r\nhello")), NoReply::ClosedInBody),
    ];
    for (name, bytes, malformed) in cases {
        let outcome = consistent_outcome(name, RequestKind::Ordinary, bytes.as_bytes());
        assert_eq!(outcome.verdict, Err(malformed), "{name}");
    }
}

#[test]
fn a_close_completes_a_reply_only_without_a_length() {
    for case in plain_cases().iter().chain(&open_cases()) {
        let bytes = case.bytes();
        let head_end = case.before.len() + case.head.len();
        for length in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
            let verdict = whole(case.kind, &bytes[..length]).verdict;
            let expected = match case.framing {
                _ if length < head_end => Err(NoReply::ClosedInHead),
                Framing::UntilClose => Ok(()),
                _ => Err(NoReply::ClosedInBody),
            };
            assert_eq!(verdict, expected, "{}, closed behind {length} bytes", case.name);
        }
    }
}

#[test]
fn bytes_after_a_reply_are_not_consumed() {
    for case in
        plain_cases().iter().chain(&open_cases()).filter(|case| case.framing != Framing::UntilClose)
    {
        let bytes = case.bytes();
        let outcome = consistent_outcome(
            case.name,
            case.kind,
            &[&bytes, b"\r\nHTTP/1.1 200 OK\r\n\r\n".as_slice()].concat(),
        );
        assert_eq!(outcome.used, Some(bytes.len()), "{}", case.name);
        assert_eq!(outcome.seen.body, case.body, "{}", case.name);
    }
}

#[test]
fn discardable_bytes_never_exceed_the_rest_of_the_body() {
    for case in plain_cases().iter().chain(&open_cases()) {
        let bytes = case.bytes();
        let mut parser = ReplyParser::new(case.kind);
        let mut at = 0;
        for end in 0..=bytes.len() {
            at += parser.feed(&bytes[at..end], &mut ()).unwrap();
            let remaining = case.body.len() as u64 - parser.body_bytes();
            match case.framing {
                Framing::UntilClose if parser.head().is_some() => {
                    assert_eq!(parser.discardable(), u64::MAX);
                }
                Framing::Length(_) if parser.head().is_some() => {
                    assert_eq!(parser.discardable(), remaining);
                }
                _ => assert!(parser.discardable() <= remaining, "{} at {end}", case.name),
            }
        }
        assert_eq!(parser.discardable() == 0, parser.done(), "{}", case.name);
    }
}

#[test]
fn a_part_of_the_discardable_bytes_may_be_skipped() {
    let mut parser = ReplyParser::new(RequestKind::Ordinary);
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n";
    assert_eq!(parser.feed(head, &mut ()), Ok(head.len()));
    parser.skip(u64::MAX - 10);
    assert_eq!(parser.discardable(), 10);
    assert_eq!(parser.feed(b"12345", &mut ()), Ok(5));
    parser.skip(0);
    assert!(!parser.done());
    parser.skip(5);
    assert!(parser.done());
    assert_eq!(parser.body_bytes(), u64::MAX);
    assert_eq!(parser.feed(b"more", &mut ()), Ok(0));
}

#[test]
fn a_head_in_small_pieces_is_searched_once() {
    let head = big_head(8_000, 400);
    let mut parser = ReplyParser::new(RequestKind::Ordinary);
    for end in 3..head.len() {
        assert_eq!(parser.feed(&head.as_bytes()[..end], &mut ()), Ok(0));
        assert_eq!(parser.state, State::Head { searched: end - 2 });
    }
}

#[test]
fn another_protocol_is_detected_without_a_blank_line() {
    for (bytes, verdict) in [
        ("HTTQ", Err(NoReply::Malformed(MalformedReply::StatusLine))),
        ("220 ", Err(NoReply::Malformed(MalformedReply::StatusLine))),
        ("HTTP/1", Ok(0)),
    ] {
        assert_eq!(
            ReplyParser::new(RequestKind::Ordinary).feed(bytes.as_bytes(), &mut ()),
            verdict,
            "{bytes}"
        );
    }
}

#[test]
fn each_fault_is_described_in_one_line() {
    use MalformedReply::{
        Chunk, ChunkLineTooLong, ContentLength, HeadTooLarge, HeaderField, StatusLine,
        TooManyFields,
    };
    use MalformedReply::{TrailersTooLarge, TransferEncoding};
    let causes = [
        StatusLine,
        HeaderField,
        TooManyFields,
        HeadTooLarge,
        ContentLength,
        TransferEncoding,
        Chunk,
        ChunkLineTooLong,
        TrailersTooLarge,
    ];
    let all: Vec<NoReply> = causes
        .map(NoReply::from)
        .into_iter()
        .chain([NoReply::ClosedInHead, NoReply::ClosedInBody])
        .collect();
    let texts: std::collections::BTreeSet<_> = all.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), all.len());
    assert!(texts.iter().all(|text| !text.is_empty() && !text.contains('\n')));
}

#[path = "parse_properties.rs"]
mod properties;

#[test]
fn trailers_are_kept_with_the_fields() {
    use crate::collect::ReplyCollector;
    use crate::contract::{WantedDetails, WantedFields};
    let end = "0\r\nX-Sum: 1 2\r\nnonsense\r\nx-empty:\r\n\r\n";
    let bytes = format!("{CHUNKED}4\r\nbody\r\n{end}").into_bytes();
    let outcome = consistent_outcome("trailers", RequestKind::Ordinary, &bytes);
    assert_eq!(outcome.seen.trailers, b"X-Sum: 1 2\r\nnonsense\r\nx-empty:\r\n");
    for piece in 1..bytes.len() {
        let wants = WantedDetails { fields: WantedFields::All, ..WantedDetails::default() };
        let mut collector = ReplyCollector::new(wants, None, None).unwrap();
        let mut parser = ReplyParser::new(RequestKind::Ordinary);
        let (mut at, mut end) = (0, 0);
        while !parser.done() {
            end = (end + piece).min(bytes.len());
            at += parser.feed(&bytes[at..end], &mut *collector).unwrap();
        }
        let (_, fields) = collector.finish(parser.head().unwrap()).head.unwrap();
        let last: Vec<_> = fields.iter().rev().take(2).collect();
        assert_eq!(*last[0], ("x-empty".to_owned(), String::new()), "pieces of {piece}");
        assert_eq!(*last[1], ("X-Sum".to_owned(), "1 2".to_owned()), "pieces of {piece}");
    }
}
