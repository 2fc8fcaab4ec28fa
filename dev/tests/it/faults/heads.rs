//! Tests unusual heads: their size, the number of their fields, and their bytes (RFC 9112 section
//! 5).

use super::row::{
    ExpectedConnections, FaultRow, closing_row, keep_alive_row, malformed_row, stalled_row,
};
use super::script::ServerStep;
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    [sizes(), fields(), bad()].concat()
}

/// Returns a reply with these fields and the body `hello`.
fn with(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 5\r\n\r\nhello")
}

/// Returns a field with a value of this length.
fn long(bytes: usize) -> String {
    format!("X-Long: {}\r\n", "x".repeat(bytes))
}

fn sizes() -> Vec<FaultRow> {
    vec![
        closing_row("no header fields", "HTTP/1.1 200 OK\r\n\r\nhello").body("hello"),
        keep_alive_row("64 fields", with(&"A: b\r\n".repeat(63))).body("hello"),
        keep_alive_row("65 fields", with(&"A: b\r\n".repeat(64))).body("hello"),
        keep_alive_row("1024 fields", with(&"A: b\r\n".repeat(1023))).body("hello"),
        keep_alive_row("a field of 9 kB", with(&long(9_000))).body("hello"),
        keep_alive_row("a field of 60 kB", with(&long(60_000))).body("hello"),
        keep_alive_row("60 kB in 60 fields", with(&long(990).repeat(60))).body("hello"),
        malformed_row("1025 fields", with(&"A: b\r\n".repeat(1024))),
        malformed_row("a field of 80 kB", with(&long(80_000))),
        malformed_row("a head of 1 MB", with(&long(990).repeat(1000))),
        endless_row("endless header fields", "HTTP/1.1 200 OK\r\n", b"X-Field: hello\r\n"),
        endless_row("an endless header field", "HTTP/1.1 200 OK\r\nX: ", b"hello"),
        endless_row("an endless reason phrase", "HTTP/1.1 200 ", b"hello"),
    ]
}

fn endless_row(name: &'static str, first: &str, then: &[u8]) -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        ServerStep::Send(first.into()),
        ServerStep::Endless(then.to_vec(), Duration::ZERO),
    ];
    FaultRow::new(name, steps).fails(&["protocol"]).with("--timeout 5s")
}

fn fields() -> Vec<FaultRow> {
    vec![
        keep_alive_row("a folded field", with("X: a\r\n b\r\n\tc\r\n")).body("hello"),
        keep_alive_row("line feeds only", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello")
            .body("hello"),
        keep_alive_row(
            "CRLF and LF as line ends",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
        )
        .body("hello"),
        keep_alive_row("a space before the colon", with("X : a\r\n")).body("hello"),
        keep_alive_row("a field without a value", with("X:\r\nY: \r\n")).body("hello"),
        keep_alive_row("a value of 8-bit bytes", with("X: \u{e9}\u{20ac}\r\n")).body("hello"),
        keep_alive_row("a value with tabs around it", with("X:\ta\tb\t\r\n")).body("hello"),
        keep_alive_row("a value of colons", with("X: ::a:b:\r\n")).body("hello"),
        keep_alive_row(
            "a name of all punctuation that is allowed",
            with("!#$%&'*+-.^_`|~09: a\r\n"),
        )
        .body("hello"),
        keep_alive_row("the same field many times", with(&"Set-Cookie: a=b\r\n".repeat(50)))
            .body("hello"),
        in_bytes(),
    ]
}

/// Each byte is sent separately, with a pause of 1 ms.
fn in_bytes() -> FaultRow {
    let bytes = with("X: a\r\n").into_bytes();
    let mut steps = vec![ServerStep::Request];
    steps.extend(super::script::in_pieces(&bytes, std::iter::repeat(1), Duration::from_millis(1)));
    steps.push(ServerStep::Again);
    FaultRow::new("a head sent byte by byte", steps)
        .body("hello")
        .connections(ExpectedConnections::Kept)
}

fn bad() -> Vec<FaultRow> {
    vec![
        malformed_row("a carriage return in a value", with("X: a\rb\r\n")),
        // Only a line feed ends a line, so the head continues.
        stalled_row(
            "a head that ends with carriage returns",
            "HTTP/1.1 200 OK\rContent-Length: 5\r\rhello",
        ),
        malformed_row("a NUL in a value", with("X: a\0b\r\n")),
        malformed_row("a control character in a value", with("X: a\x01b\r\n")),
        malformed_row("a NUL in a name", with("X\0Y: a\r\n")),
        malformed_row("a space in a name", with("X Y: a\r\n")),
        malformed_row("a name of 8-bit bytes", with("X\u{e9}: a\r\n")),
        malformed_row("a field without a name", with(": a\r\n")),
        malformed_row("a field without a colon", with("hello\r\n")),
        malformed_row("a folded line without a field before it", with(" X: a\r\n")),
    ]
}
