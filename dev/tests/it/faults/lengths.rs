//! Tests Content-Length and Transfer-Encoding, and replies in which they contradict each other (RFC
//! 9112 section 6).

use super::row::{
    FaultRow, closing_row, keep_alive_row, malformed_row, stalled_row, trailing_bytes_row,
    truncated_row,
};

pub fn rows() -> Vec<FaultRow> {
    [lengths(), wrong_lengths(), codings()].concat()
}

/// Returns a reply with these fields and this body.
fn with(fields: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}")
}

fn lengths() -> Vec<FaultRow> {
    vec![
        keep_alive_row("Content-Length", with("Content-Length: 5\r\n", "hello")).body("hello"),
        keep_alive_row("Content-Length 0", with("Content-Length: 0\r\n", "")).body(""),
        keep_alive_row(
            "Content-Length twice",
            with("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
        )
        .body("hello"),
        keep_alive_row("Content-Length as a list", with("Content-Length: 5, 5\r\n", "hello"))
            .body("hello"),
        keep_alive_row(
            "Content-Length with leading zeros",
            with("Content-Length: 0005\r\n", "hello"),
        )
        .body("hello"),
        keep_alive_row(
            "Content-Length with spaces and tabs around it",
            with("Content-Length: \t 5 \t\r\n", "hello"),
        )
        .body("hello"),
        keep_alive_row("Content-Length in lower case", with("content-length:5\r\n", "hello"))
            .body("hello"),
        keep_alive_row("Content-Length folded", with("Content-Length:\r\n 5\r\n", "hello"))
            .body("hello"),
        keep_alive_row(
            "a body that looks like a reply",
            with("Content-Length: 19\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        ),
    ]
}

fn wrong_lengths() -> Vec<FaultRow> {
    vec![
        trailing_bytes_row("Content-Length too small", with("Content-Length: 3\r\n", "hel"), "lo")
            .body("hel"),
        truncated_row("Content-Length too large, then close", length_reply("9")),
        stalled_row("Content-Length too large, then stalls", length_reply("9")),
        malformed_row(
            "different Content-Lengths",
            with("Content-Length: 5\r\nContent-Length: 6\r\n", "hello"),
        ),
        bad_length_row("different Content-Lengths in a list", "5, 6"),
        bad_length_row("Content-Length -1", "-1"),
        bad_length_row("Content-Length +5", "+5"),
        bad_length_row("Content-Length 0x5", "0x5"),
        bad_length_row("Content-Length 5.0", "5.0"),
        bad_length_row("Content-Length 5e0", "5e0"),
        bad_length_row("Content-Length in letters", "five"),
        bad_length_row("Content-Length with a space inside", "1 0"),
        bad_length_row("Content-Length without a value", ""),
        bad_length_row("Content-Length with an empty item", "5,"),
        bad_length_row("Content-Length 2^64", "18446744073709551616"),
        bad_length_row("Content-Length of 200 digits", &"9".repeat(200)),
        truncated_row("Content-Length 2^63", length_reply("9223372036854775808")),
        truncated_row("Content-Length 2^64 - 1", length_reply("18446744073709551615")),
        stalled_row("Content-Length 2^64 - 1, then stalls", length_reply("18446744073709551615")),
    ]
}

fn length_reply(value: &str) -> String {
    with(&format!("Content-Length: {value}\r\n"), "hello")
}

fn bad_length_row(name: &'static str, value: &str) -> FaultRow {
    malformed_row(name, with(&format!("Content-Length: {value}\r\n"), "hello"))
}

fn codings() -> Vec<FaultRow> {
    const CHUNKED: &str = "5\r\nhello\r\n0\r\n\r\n";
    let bad = |name, value: &str| {
        malformed_row(name, with(&format!("Transfer-Encoding: {value}\r\n"), CHUNKED))
    };
    vec![
        keep_alive_row("chunked", with("Transfer-Encoding: chunked\r\n", CHUNKED)).body("hello"),
        keep_alive_row("chunked in upper case", with("TRANSFER-ENCODING: CHUNKED\r\n", CHUNKED)).body("hello"),
        keep_alive_row(
            "chunked and a Content-Length",
            with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
        )
        .body("hello"),
        keep_alive_row(
            "chunked and a malformed Content-Length",
            with("Content-Length: x\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
        ),
        keep_alive_row("gzip, chunked", with("Transfer-Encoding: gzip, chunked\r\n", CHUNKED)),
        keep_alive_row(
            "gzip and chunked in two fields",
            with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", CHUNKED),
        ),
        keep_alive_row("identity, chunked", with("Transfer-Encoding: identity, chunked\r\n", CHUNKED)).body("hello"),
        keep_alive_row(
            "identity and a Content-Length",
            with("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello"),
        )
        .body("hello"),
        keep_alive_row("an empty Transfer-Encoding", with("Transfer-Encoding:\r\nContent-Length: 5\r\n", "hello"))
            .body("hello"),
        closing_row("identity until close", with("Transfer-Encoding: identity\r\n", "hello")).body("hello"),
        closing_row("gzip until close", with("Transfer-Encoding: gzip\r\nContent-Length: 9\r\n", "hello")),
        closing_row(
            "chunked with HTTP/1.0",
            format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKED}"),
        )
        .body("hello"),
        bad("chunked, gzip", "chunked, gzip"),
        bad("chunked, chunked", "chunked, chunked"),
        bad("chunked, identity", "chunked, identity"),
        bad("an unknown coding", "rot13"),
        bad("an unknown coding and chunked", "rot13, chunked"),
        bad("chunked with a parameter", "chunked;q=1"),
        bad("xchunked", "xchunked"),
    ]
}
