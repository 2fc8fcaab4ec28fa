//! Tests chunked bodies (RFC 9112 section 7.1): unusual sizes, extensions, trailers, and truncated
//! bodies.

use super::row::{FaultRow, keep_alive_row, malformed_row, stalled_row, truncated_row};
use super::script::ServerStep;
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    [good(), bad(), endless()].concat()
}

/// Returns a reply with this chunked body.
fn chunked(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}")
}

fn good() -> Vec<FaultRow> {
    let zeros = "0".repeat(1000);
    vec![
        keep_alive_row("an empty chunked body", chunked("0\r\n\r\n")).body(""),
        keep_alive_row("three chunks", chunked("2\r\nhe\r\n1\r\nl\r\n2\r\nlo\r\n0\r\n\r\n"))
            .body("hello"),
        keep_alive_row(
            "1000 chunks of one byte",
            chunked(&("1\r\nx\r\n".repeat(1000) + "0\r\n\r\n")),
        ),
        keep_alive_row(
            "chunk extensions",
            chunked("2;a=b;c\r\nhe\r\n3;d=\"e;f\"\r\nllo\r\n0;z\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row(
            "a chunk extension after spaces",
            chunked("5 ; a = b\r\nhello\r\n0\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row("a chunk size in lower case", chunked("a\r\nhellohello\r\n0\r\n\r\n"))
            .body("hellohello"),
        keep_alive_row("a chunk size in upper case", chunked("A\r\nhellohello\r\n0\r\n\r\n"))
            .body("hellohello"),
        keep_alive_row(
            "a chunk size with leading zeros",
            chunked("00000000000000000005\r\nhello\r\n00\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row(
            "a chunk size with 1000 leading zeros",
            chunked(&format!("{zeros}5\r\nhello\r\n0\r\n\r\n")),
        )
        .body("hello"),
        keep_alive_row(
            "a chunk size padded with spaces",
            chunked("5     \r\nhello\r\n0  \r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row("chunk lines that end with line feeds", chunked("5\nhello\n0\n\n"))
            .body("hello"),
        keep_alive_row(
            "chunk data that looks like the last chunk",
            chunked("5\r\n0\r\n\r\n\r\n0\r\n\r\n"),
        ),
        keep_alive_row(
            "trailers",
            chunked("5\r\nhello\r\n0\r\nDigest: x\r\nServer-Timing: y\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row("a malformed trailer", chunked("5\r\nhello\r\n0\r\nhello\r\n\r\n"))
            .body("hello"),
        keep_alive_row(
            "a Content-Length in a trailer",
            chunked("5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n"),
        )
        .body("hello"),
    ]
}

fn bad() -> Vec<FaultRow> {
    vec![
        malformed_row("a chunk size of 65 bits", chunked("10000000000000000\r\nhello\r\n")),
        malformed_row("a chunk size that is not hexadecimal", chunked("xyz\r\nhello\r\n")),
        malformed_row("a chunk size with 0x", chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        malformed_row("a chunk size -5", chunked("-5\r\nhello\r\n0\r\n\r\n")),
        malformed_row("a chunk size +5", chunked("+5\r\nhello\r\n0\r\n\r\n")),
        malformed_row("a space before a chunk size", chunked(" 5\r\nhello\r\n0\r\n\r\n")),
        malformed_row("two chunk sizes in a line", chunked("5 5\r\nhello\r\n0\r\n\r\n")),
        malformed_row("no chunk size", chunked("\r\nhello\r\n0\r\n\r\n")),
        malformed_row("an extension without a chunk size", chunked(";a=b\r\nhello\r\n0\r\n\r\n")),
        malformed_row("no line end after a chunk", chunked("5\r\nhello0\r\n\r\n")),
        malformed_row("a chunk that is too long", chunked("3\r\nhello\r\n0\r\n\r\n")),
        malformed_row("a chunk line that ends with a carriage return", chunked("5\rhello\r0\r\r")),
        truncated_row("close instead of the last chunk", chunked("5\r\nhello\r\n")),
        truncated_row("close in a chunk size", chunked("5")),
        truncated_row("close in a chunk", chunked("5\r\nhel")),
        truncated_row("close after the line of the last chunk", chunked("5\r\nhello\r\n0\r\n")),
        truncated_row("close in a trailer", chunked("5\r\nhello\r\n0\r\nDigest: x")),
        truncated_row("a chunk of 2^64 - 1 bytes", chunked("ffffffffffffffff\r\nhello")),
        stalled_row("stalls instead of the last chunk", chunked("5\r\nhello\r\n")),
        stalled_row("stalls after the line of the last chunk", chunked("5\r\nhello\r\n0\r\n")),
        stalled_row("a chunk of 2^63 bytes, stalls", chunked("8000000000000000\r\nhello")),
    ]
}

fn endless() -> Vec<FaultRow> {
    vec![
        endless_row("endless trailers", "0\r\n", b"X-Trailer: hello\r\n"),
        endless_row("an endless trailer", "0\r\nX: ", b"hello"),
        endless_row("an endless chunk extension", "5;", b"hello"),
        endless_row("an endless chunk size", "", b"00000000"),
    ]
}

fn endless_row(name: &'static str, first: &str, then: &[u8]) -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        ServerStep::Send(chunked(first).into()),
        ServerStep::Endless(then.to_vec(), Duration::ZERO),
    ];
    FaultRow::new(name, steps).fails(&["protocol"]).with("--timeout 5s")
}
