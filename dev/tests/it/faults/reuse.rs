//! Tests the reuse of connections (RFC 9112 section 9.3), and bytes after a complete reply.

use super::row::{Connections, Read, Row, closing_row, keep_alive_row, trailing_bytes_row};
use super::script::{Step, page, pause, reply, send};

pub fn rows() -> Vec<Row> {
    [persistence(), behind(), without_body()].concat()
}

/// Returns a reply of this version with these fields and the body `hello`.
fn by(version: &str, fields: &str) -> String {
    format!("{version} 200 OK\r\n{fields}Content-Length: 5\r\n\r\nhello")
}

fn persistence() -> Vec<Row> {
    // The server would answer again on the same connection.
    let each = |name, bytes: String| keep_alive_row(name, bytes).connections(Connections::Each);
    let one = "HTTP/1.1";
    let zero = "HTTP/1.0";
    vec![
        closing_row("Connection: close", by(one, "Connection: close\r\n")).body("hello"),
        each("Connection: close, and the server goes on", by(one, "Connection: close\r\n")),
        each("Connection: CLOSE", by(one, "Connection: CLOSE\r\n")),
        each("close in a list", by(one, "Connection: x, close ,y\r\n")),
        each("close in a second field", by(one, "Connection: x\r\nConnection: close\r\n")),
        each("keep-alive and close", by(one, "Connection: keep-alive, close\r\n")),
        keep_alive_row("Connection: keep-alive", by(one, "Connection: keep-alive\r\n")).body("hello"),
        keep_alive_row("Connection: closed", by(one, "Connection: closed\r\n")),
        keep_alive_row("an upgrade that is offered", by(one, "Connection: upgrade\r\nUpgrade: h2c\r\n")),
        keep_alive_row("Keep-Alive: timeout=0", by(one, "Keep-Alive: timeout=0, max=0\r\n")),
        keep_alive_row("Proxy-Connection: close", by(one, "Proxy-Connection: close\r\n")),
        each("HTTP/1.0 that goes on", by(zero, "")),
        keep_alive_row("HTTP/1.0 with keep-alive", by(zero, "Connection: Keep-Alive\r\n")).body("hello"),
        each("HTTP/1.0 with keep-alive and close", by(zero, "Connection: keep-alive, close\r\n")),
        each("HTTP/1.0 with Keep-Alive alone", by(zero, "Keep-Alive: timeout=5\r\n")),
    ]
}

/// A reply, and these bytes in the same segment or a little later. The next request may follow at
/// once or after a pause.
fn behind() -> Vec<Row> {
    let same = |name, behind: &str| trailing_bytes_row(name, page("hello"), behind);
    let blank = |name, behind: &str| same(name, behind).body("hello").connections(Connections::Kept);
    let later = |name, behind: &str| {
        let steps = vec![Step::Request, reply(page("hello")), pause(1), send(behind), Step::Again];
        Row::new(name, steps).connections(Connections::Kept).any_bytes()
    };
    vec![
        blank("a blank line in the same segment", "\r\n"),
        blank("a line feed in the same segment", "\n"),
        blank("two blank lines in the same segment", "\r\n\r\n"),
        later("a blank line 1 ms later", "\r\n"),
        later("a line feed 1 ms later", "\n"),
        same("garbage in the same segment", "garbage").body("hello"),
        same("a NUL in the same segment", "\0").body("hello"),
        same("a second reply in the same segment", &page("hello")).body("hello"),
        same("a reply of status 408 in the same segment", "HTTP/1.1 408 Request Timeout\r\n\r\n"),
        garbage_later(),
        garbage_on_idle(),
    ]
}

/// The next request is sent at once, so the garbage is read as its reply.
fn garbage_later() -> Row {
    let steps = vec![Step::Request, reply(page("hello")), Step::Head, send("garbage\r\n\r\n"), Step::Drain];
    Row::new("garbage instead of the second reply", steps)
        .requests(4)
        .also_fails(&["protocol"])
        .completes(2)
        .connections(Connections::Accepted)
        .read(Read::Completed)
}

/// During the think time brunt closes the connection, so no request is lost.
fn garbage_on_idle() -> Row {
    let steps = vec![Step::Request, reply(page("hello")), pause(20), send("garbage"), Step::Drain];
    Row::new("garbage on an idle connection", steps).with("--think 700ms").any_bytes()
}

/// Replies that have no body, whatever they announce (RFC 9112 section 6.3), sometimes with a body
/// nevertheless.
fn without_body() -> Vec<Row> {
    let head = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let none = |name, status: u16| {
        trailing_bytes_row(name, format!("HTTP/1.1 {status} Odd\r\nContent-Length: 5\r\n\r\n"), "hello").status(status)
    };
    vec![
        keep_alive_row("HEAD with a Content-Length", head("Content-Length: 5\r\n")).with("-X HEAD"),
        keep_alive_row("HEAD with a Transfer-Encoding", head("Transfer-Encoding: chunked\r\n")).with("-X HEAD"),
        keep_alive_row("HEAD with a malformed Content-Length", head("Content-Length: x\r\n")).with("-X HEAD"),
        keep_alive_row("HEAD with neither", head("")).with("-X HEAD"),
        none("HEAD and a body", 200).with("-X HEAD"),
        none("204 and a body", 204),
        none("304 and a body", 304),
    ]
}
