//! Tests unusual status lines, and statuses that determine the body.

use super::row::{
    ExpectedConnections, FaultRow, closing_row, keep_alive_row, malformed_row, truncated_row,
};

pub fn rows() -> Vec<FaultRow> {
    [good(), statuses(), bad()].concat()
}

/// Returns a reply with this status line and the body `hello`.
fn line(line: &str) -> String {
    format!("{line}Content-Length: 5\r\n\r\nhello")
}

fn good() -> Vec<FaultRow> {
    vec![
        closing_row("HTTP/1.0", line("HTTP/1.0 200 OK\r\n")).body("hello"),
        keep_alive_row("no reason phrase", line("HTTP/1.1 200\r\n")).body("hello"),
        keep_alive_row("an empty reason phrase", line("HTTP/1.1 200 \r\n")).body("hello"),
        keep_alive_row("two spaces in the status line", line("HTTP/1.1  200  OK\r\n"))
            .body("hello"),
        keep_alive_row(
            "a reason phrase of several words",
            line("HTTP/1.1 200 It went well: 100 %\r\n"),
        )
        .body("hello"),
        keep_alive_row("a reason phrase in UTF-8", line("HTTP/1.1 200 Größe\r\n")).body("hello"),
        keep_alive_row(
            "a reason phrase of 8 kB",
            line(&format!("HTTP/1.1 200 {}\r\n", "x".repeat(8_000))),
        )
        .body("hello"),
        keep_alive_row("a blank line before the status line", line("\r\nHTTP/1.1 200 OK\r\n"))
            .body("hello"),
        keep_alive_row("blank lines before the status line", line("\r\n\n\r\nHTTP/1.1 200 OK\r\n"))
            .body("hello"),
        keep_alive_row("a status line that ends with a line feed", line("HTTP/1.1 200 OK\n"))
            .body("hello"),
    ]
}

fn statuses() -> Vec<FaultRow> {
    vec![
        keep_alive_row("203", status_reply(203, "Content-Length: 0\r\n")).status(203),
        keep_alive_row("204", status_reply(204, "")).status(204).body(""),
        keep_alive_row("204 with a Content-Length", status_reply(204, "Content-Length: 5\r\n"))
            .status(204)
            .body(""),
        keep_alive_row(
            "204 with a Transfer-Encoding",
            status_reply(204, "Transfer-Encoding: chunked\r\n"),
        )
        .status(204),
        keep_alive_row("205", status_reply(205, "Content-Length: 0\r\n")).status(205),
        closing_row("205 until close", status_reply(205, "")).status(205).body(""),
        keep_alive_row(
            "206",
            line("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/10\r\n"),
        )
        .status(206)
        .body("hello"),
        keep_alive_row("300", status_reply(300, "Content-Length: 0\r\n")).status(300),
        keep_alive_row("304", status_reply(304, "")).status(304).body(""),
        keep_alive_row("304 with a Content-Length", status_reply(304, "Content-Length: 5\r\n"))
            .status(304)
            .body(""),
        keep_alive_row("404", status_reply(404, "Content-Length: 0\r\n")).status(404),
        keep_alive_row("500", status_reply(500, "Content-Length: 0\r\n")).status(500),
        keep_alive_row("600", status_reply(600, "Content-Length: 0\r\n")).status(600),
        keep_alive_row("999", status_reply(999, "Content-Length: 0\r\n")).status(999),
        closing_row(
            "101 without a requested upgrade",
            status_reply(101, "Upgrade: x\r\nConnection: upgrade\r\n"),
        )
        .status(101),
        truncated_row("199, then close", status_reply(199, "")),
    ]
}

fn status_reply(status: u16, fields: &str) -> String {
    format!("HTTP/1.1 {status} Odd\r\n{fields}\r\n")
}

fn bad() -> Vec<FaultRow> {
    vec![
        malformed_row("no space before the status", line("HTTP/1.1200 OK\r\n")),
        malformed_row("no space after the status", line("HTTP/1.1 200OK\r\n")),
        malformed_row("a lower-case protocol", line("http/1.1 200 OK\r\n")),
        malformed_row("HTTP/2", "HTTP/2 200\r\n\r\n"),
        malformed_row("HTTP/2.0", line("HTTP/2.0 200 OK\r\n")),
        malformed_row("HTTP/1.2", line("HTTP/1.2 200 OK\r\n")),
        malformed_row("HTTP/1.10", line("HTTP/1.10 200 OK\r\n")),
        malformed_row("HTTP/0.9", "<html>hello</html>\r\n"),
        malformed_row("a space before the status line", line(" HTTP/1.1 200 OK\r\n")),
        malformed_row("text before the status line", line("hello\r\nHTTP/1.1 200 OK\r\n")),
        malformed_row("ICY instead of HTTP", line("ICY 200 OK\r\n")),
        malformed_row("SSH instead of HTTP", "SSH-2.0-OpenSSH_9.2\r\n"),
        malformed_row("a TLS alert instead of HTTP", b"\x15\x03\x01\x00\x02\x02\x46"),
        malformed_row(
            "an HTTP/2 SETTINGS frame instead of HTTP/1.1",
            b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64",
        ),
        malformed_row("status 99", line("HTTP/1.1 99 Low\r\n")),
        malformed_row("status 099", line("HTTP/1.1 099 Low\r\n")),
        malformed_row("status 000", line("HTTP/1.1 000 Zero\r\n")),
        malformed_row("status 20", line("HTTP/1.1 20 Short\r\n")),
        malformed_row("status 2000", line("HTTP/1.1 2000 Long\r\n")),
        malformed_row("status -200", line("HTTP/1.1 -200 Negative\r\n")),
        malformed_row("status in letters", line("HTTP/1.1 twohundred OK\r\n")),
        malformed_row("no status", line("HTTP/1.1\r\n")),
        malformed_row("a NUL in the reason phrase", line("HTTP/1.1 200 O\0K\r\n")),
        // brunt must not reuse a connection after a malformed reply.
        malformed_row("a blank line, then garbage", "\r\n\r\nhello\r\n")
            .connections(ExpectedConnections::Each),
    ]
}
