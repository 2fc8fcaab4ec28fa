//! Tests faults of TLS: in the handshake, and at the end of a connection.

use super::row::{Connections, Row, keep_alive_row, malformed_row};
use super::script::{Step, in_pieces, page, pause, reply, send};
use std::time::Duration;

pub fn rows() -> Vec<Row> {
    [handshakes(), replies()].concat()
}

/// The steps of the server are bytes of TCP, without TLS.
fn handshakes() -> Vec<Row> {
    let alert = b"\x15\x03\x03\x00\x02\x02\x28";
    // Head of a record that announces a ServerHello of 16 kB.
    let record = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03";
    vec![
        failing_handshake_row(
            "garbage instead of a ServerHello",
            vec![pause(20), send([b'x'; 400]), Step::Drain],
        ),
        failing_handshake_row(
            "HTTP on a TLS port",
            vec![pause(20), send("HTTP/1.1 400 Bad Request\r\n\r\n"), Step::Drain],
        ),
        failing_handshake_row(
            "a TLS alert instead of a ServerHello",
            vec![pause(20), send(alert), Step::Drain],
        ),
        failing_handshake_row(
            "closes instead of a ServerHello",
            vec![pause(20), Step::Finish, Step::Drain],
        ),
        failing_handshake_row(
            "closes in the ServerHello",
            vec![pause(20), send(record), Step::Finish, Step::Drain],
        ),
        failing_handshake_row("resets instead of a ServerHello", vec![pause(20), Step::Reset]),
        stalling_handshake_row("no ServerHello", vec![Step::Drain]),
        stalling_handshake_row("reads no ClientHello", vec![Step::Ignore]),
        stalling_handshake_row(
            "stops in the ServerHello",
            vec![pause(20), send(record), Step::Drain],
        ),
    ]
}

fn stalling_handshake_row(name: &'static str, steps: Vec<Step>) -> Row {
    Row::new(name, steps).with("-k").connects_too_late(300)
}

fn failing_handshake_row(name: &'static str, steps: Vec<Step>) -> Row {
    Row::new(name, steps).with("-k").unreachable(&["tls", "reset"])
}

fn replies() -> Vec<Row> {
    let until_close = "HTTP/1.0 200 OK\r\n\r\nhello";
    let mut pieces = vec![Step::Request];
    pieces.extend(in_pieces(page("hello").as_bytes(), std::iter::repeat(1), Duration::ZERO));
    pieces.push(Step::Again);
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
    vec![
        keep_alive_row("a reply over TLS", page("hello")).body("hello").tls(),
        keep_alive_row("100 kB over TLS", page(&"x".repeat(100_000))).tls(),
        Row::new("single bytes over TLS", pieces)
            .body("hello")
            .connections(Connections::Kept)
            .tls(),
        Row::new(
            "a body until close, with close_notify",
            vec![Step::Request, reply(until_close), Step::Notify],
        )
        .body("hello")
        .tls(),
        // The body may be truncated (RFC 9112 section 9.8).
        Row::new(
            "a body until close, without close_notify",
            vec![Step::Request, send(until_close)],
        )
        .fails(&["closed_early"])
        .tls(),
        Row::new("no close_notify behind a whole reply", vec![Step::Request, reply(page("hello"))])
            .with("--think 700ms")
            .tls(),
        Row::new("closes in a body over TLS", vec![Step::Request, send(half)])
            .fails(&["closed_early"])
            .tls(),
        Row::new(
            "resets in a body over TLS",
            vec![Step::Request, send(half), pause(20), Step::Reset],
        )
        .fails(&["reset"])
        .tls(),
        Row::new("stops in a body over TLS", vec![Step::Request, send(half), Step::Drain])
            .times_out(300)
            .tls(),
        Row::new(
            "a body without end over TLS",
            vec![
                Step::Request,
                send("HTTP/1.1 200 OK\r\n\r\n"),
                Step::Endless(vec![0; 64 << 10], Duration::ZERO),
            ],
        )
        .times_out(400)
        .tls(),
        malformed_row("a malformed reply over TLS", "SSH-2.0-OpenSSH_9.2\r\n").tls(),
    ]
}
