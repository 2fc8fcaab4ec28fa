//! Tests bodies that end when the connection closes, long bodies, encoded bodies, and redirects.

use super::row::{ExpectedConnections, FaultRow, closing_row, keep_alive_row};
use super::script::{ServerStep, in_pieces, page, reply, sizes};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write;
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    [until_close(), long(), coded(), redirects()].concat()
}

fn until_close() -> Vec<FaultRow> {
    vec![
        closing_row("HTTP/1.0, body until close", until_close_reply("HTTP/1.0 200 OK"))
            .body("hello"),
        closing_row(
            "HTTP/1.1, body until close",
            until_close_reply("HTTP/1.1 200 OK\r\nServer: x"),
        )
        .body("hello"),
        closing_row(
            "body until close, with Connection: close",
            until_close_reply("HTTP/1.1 200 OK\r\nConnection: close"),
        )
        .body("hello"),
        closing_row(
            "body until close, with Connection: keep-alive",
            until_close_reply("HTTP/1.1 200 OK\r\nConnection: keep-alive"),
        )
        .body("hello"),
        closing_row("empty body until close", "HTTP/1.0 200 OK\r\n\r\n").body(""),
        closing_row("blank lines until close", "HTTP/1.0 200 OK\r\n\r\n\r\n\r\n").body("\r\n\r\n"),
        closing_row(
            "300 kB until close",
            format!("HTTP/1.0 200 OK\r\n\r\n{}", "x".repeat(300_000)),
        ),
        half_closed(),
    ]
}

fn until_close_reply(head: &str) -> String {
    format!("{head}\r\n\r\nhello")
}

/// The server closes only its sending direction.
fn half_closed() -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        reply("HTTP/1.0 200 OK\r\n\r\nhello"),
        ServerStep::Finish,
        ServerStep::Drain,
    ];
    FaultRow::new("body until half-close", steps).body("hello")
}

fn long() -> Vec<FaultRow> {
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunk.repeat(16)
    );
    let mut rows = vec![
        keep_alive_row("1 MB", page(&"x".repeat(1 << 20))),
        keep_alive_row("1 MB in chunks", chunked),
    ];
    // These sizes failed with pipelined requests; here requests are sequential.
    let pieces = [
        ("3 kB in random pieces", 3),
        ("5 kB in random pieces", 5),
        ("9 kB in random pieces", 9),
        ("40 kB in random pieces", 40),
    ];
    rows.extend(pieces.map(|(name, kilobytes)| {
        let mut steps = vec![ServerStep::Request];
        let bytes = page(&"x".repeat(kilobytes * 1000));
        steps.extend(in_pieces(
            bytes.as_bytes(),
            sizes(kilobytes as u64, 1500),
            Duration::from_micros(200),
        ));
        steps.push(ServerStep::Again);
        FaultRow::new(name, steps).requests(9).connections(ExpectedConnections::Kept)
    }));
    rows
}

/// Returns a reply with this body and coding.
fn with_coding(coding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(body).and_then(|()| packer.finish()).expect("gzip")
}

fn deflate(body: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(body).and_then(|()| packer.finish()).expect("deflate")
}

fn coded() -> Vec<FaultRow> {
    let packed = gzip(b"hello");
    let mut wrong_checksum = packed.clone();
    wrong_checksum[packed.len() - 8] ^= 1;
    vec![
        keep_alive_row("gzip", with_coding("gzip", &packed)).body("hello"),
        keep_alive_row("x-gzip", with_coding("x-gzip", &packed)).body("hello"),
        keep_alive_row(
            "gzip in two members",
            with_coding("gzip", &[gzip(b"hel"), gzip(b"lo")].concat()),
        )
        .body("hello"),
        keep_alive_row("deflate", with_coding("deflate", &deflate(b"hello"))).body("hello"),
        keep_alive_row("identity", with_coding("identity", b"hello")).body("hello"),
        keep_alive_row("gzip announced but not used, unchecked", with_coding("gzip", b"hello")),
        checked_row("an unexpected body", page("other")).fails_checks(),
        checked_row("gzip announced but not used", with_coding("gzip", b"hello")).fails_checks(),
        checked_row("a truncated gzip body", with_coding("gzip", &packed[..packed.len() / 2]))
            .fails_checks(),
        checked_row("gzip with a wrong checksum", with_coding("gzip", &wrong_checksum))
            .fails_checks(),
        checked_row(
            "garbage after a gzip body",
            with_coding("gzip", &[&packed[..], b"garbage"].concat()),
        )
        .fails_checks(),
        checked_row("an empty gzip body", with_coding("gzip", b"")).fails_checks(),
        keep_alive_row("a body of the same length each time", page("hello"))
            .with("--expect-same-length"),
    ]
}

fn checked_row(name: &'static str, bytes: impl AsRef<[u8]>) -> FaultRow {
    keep_alive_row(name, bytes).with("--expect-body ^hello$")
}

fn redirects() -> Vec<FaultRow> {
    vec![
        keep_alive_row("a redirect that is not followed", redirect("Location: /\r\n")).status(302),
        keep_alive_row("a redirect without a Location", redirect(""))
            .status(302)
            .with("--follow 3"),
        keep_alive_row("a redirect to a malformed URL", redirect("Location: http://[\r\n"))
            .status(302)
            .with("--follow 3"),
        keep_alive_row("a redirect to another scheme", redirect("Location: ftp://127.0.0.1/\r\n"))
            .status(302)
            .with("--follow 3"),
    ]
}

fn redirect(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\n{location}Content-Length: 0\r\n\r\n")
}
