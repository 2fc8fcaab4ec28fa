//! Tests the reuse of connections (RFC 9112 section 9.3), and bytes after a complete reply.

use super::row::{
    ExpectedConnections, ExpectedReads, FaultRow, closing_row, keep_alive_row, trailing_bytes_row,
};
use super::script::{ServerStep, page, pause, reply, send};

pub fn rows() -> Vec<FaultRow> {
    [persistence(), trailing_bytes(), without_body()].concat()
}

/// Returns a reply of this version with these fields and the body `hello`.
fn by(version: &str, fields: &str) -> String {
    format!("{version} 200 OK\r\n{fields}Content-Length: 5\r\n\r\nhello")
}

fn persistence() -> Vec<FaultRow> {
    // The server would reply again on the same connection, except for the first row.
    let one = "HTTP/1.1";
    let zero = "HTTP/1.0";
    vec![
        closing_row("Connection: close", by(one, "Connection: close\r\n")).body("hello"),
        one_connection_each_row(
            "Connection: close, but the server keeps the connection",
            by(one, "Connection: close\r\n"),
        ),
        one_connection_each_row("Connection: CLOSE", by(one, "Connection: CLOSE\r\n")),
        one_connection_each_row(
            "close in a list of a Connection field",
            by(one, "Connection: x, close ,y\r\n"),
        ),
        one_connection_each_row(
            "close in a second Connection field",
            by(one, "Connection: x\r\nConnection: close\r\n"),
        ),
        one_connection_each_row(
            "keep-alive and close",
            by(one, "Connection: keep-alive, close\r\n"),
        ),
        keep_alive_row("Connection: keep-alive", by(one, "Connection: keep-alive\r\n"))
            .body("hello"),
        keep_alive_row("Connection: closed", by(one, "Connection: closed\r\n")),
        keep_alive_row("an offered upgrade", by(one, "Connection: upgrade\r\nUpgrade: h2c\r\n")),
        keep_alive_row("Keep-Alive: timeout=0", by(one, "Keep-Alive: timeout=0, max=0\r\n")),
        keep_alive_row("Proxy-Connection: close", by(one, "Proxy-Connection: close\r\n")),
        one_connection_each_row("HTTP/1.0, but the server keeps the connection", by(zero, "")),
        keep_alive_row("HTTP/1.0 with keep-alive", by(zero, "Connection: Keep-Alive\r\n"))
            .body("hello"),
        one_connection_each_row(
            "HTTP/1.0 with keep-alive and close",
            by(zero, "Connection: keep-alive, close\r\n"),
        ),
        one_connection_each_row(
            "HTTP/1.0 with Keep-Alive only",
            by(zero, "Keep-Alive: timeout=5\r\n"),
        ),
    ]
}

fn one_connection_each_row(name: &'static str, bytes: impl AsRef<[u8]>) -> FaultRow {
    keep_alive_row(name, bytes).connections(ExpectedConnections::Each)
}

/// The server sends bytes after a reply, in the same segment or a little later. The next request
/// follows at once or after a pause.
fn trailing_bytes() -> Vec<FaultRow> {
    vec![
        blank_line_row("a blank line in the same segment", "\r\n"),
        blank_line_row("a line feed in the same segment", "\n"),
        blank_line_row("two blank lines in the same segment", "\r\n\r\n"),
        later_bytes_row("a blank line 1 ms later", "\r\n"),
        later_bytes_row("a line feed 1 ms later", "\n"),
        same_segment_row("garbage in the same segment", "garbage").body("hello"),
        same_segment_row("a NUL in the same segment", "\0").body("hello"),
        same_segment_row("a second reply in the same segment", &page("hello")).body("hello"),
        same_segment_row(
            "a reply of status 408 in the same segment",
            "HTTP/1.1 408 Request Timeout\r\n\r\n",
        ),
        garbage_later(),
        garbage_on_idle(),
    ]
}

fn later_bytes_row(name: &'static str, bytes: &str) -> FaultRow {
    let steps =
        vec![ServerStep::Request, reply(page("hello")), pause(1), send(bytes), ServerStep::Again];
    FaultRow::new(name, steps).connections(ExpectedConnections::Kept).any_bytes()
}

fn same_segment_row(name: &'static str, bytes: &str) -> FaultRow {
    trailing_bytes_row(name, page("hello"), bytes)
}

fn blank_line_row(name: &'static str, bytes: &str) -> FaultRow {
    same_segment_row(name, bytes).body("hello").connections(ExpectedConnections::Kept)
}

/// The next request is sent at once, so the garbage is read as its reply.
fn garbage_later() -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        reply(page("hello")),
        ServerStep::Head,
        send("garbage\r\n\r\n"),
        ServerStep::Drain,
    ];
    FaultRow::new("garbage instead of the second reply", steps)
        .requests(4)
        .also_fails(&["protocol"])
        .completes(2)
        .connections(ExpectedConnections::Accepted)
        .read(ExpectedReads::Completed)
}

/// brunt closes the connection during the think time, so no request fails.
fn garbage_on_idle() -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        reply(page("hello")),
        pause(20),
        send("garbage"),
        ServerStep::Drain,
    ];
    FaultRow::new("garbage on an idle connection", steps).with("--think 700ms").any_bytes()
}

/// Replies that have no body, whatever their fields announce (RFC 9112 section 6.3). Some servers
/// send a body nevertheless.
fn without_body() -> Vec<FaultRow> {
    vec![
        keep_alive_row("HEAD with a Content-Length", head_reply("Content-Length: 5\r\n"))
            .with("-X HEAD"),
        keep_alive_row(
            "HEAD with a Transfer-Encoding",
            head_reply("Transfer-Encoding: chunked\r\n"),
        )
        .with("-X HEAD"),
        keep_alive_row("HEAD with a malformed Content-Length", head_reply("Content-Length: x\r\n"))
            .with("-X HEAD"),
        keep_alive_row("HEAD without either field", head_reply("")).with("-X HEAD"),
        no_body_row("HEAD with a body", 200).with("-X HEAD"),
        no_body_row("204 with a body", 204),
        no_body_row("304 with a body", 304),
    ]
}

fn no_body_row(name: &'static str, status: u16) -> FaultRow {
    trailing_bytes_row(name, format!("HTTP/1.1 {status} Odd\r\nContent-Length: 5\r\n\r\n"), "hello")
        .status(status)
}

fn head_reply(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
}
