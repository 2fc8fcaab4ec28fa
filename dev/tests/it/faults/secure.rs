//! Tests faults of TLS: in the handshake, and at the end of a connection.

use super::row::{ExpectedConnections, FaultRow, keep_alive_row, malformed_row};
use super::script::{ServerStep, in_pieces, page, pause, reply, send};
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    [handshakes(), replies()].concat()
}

/// The server sends plain bytes on TCP, without TLS.
fn handshakes() -> Vec<FaultRow> {
    let alert = b"\x15\x03\x03\x00\x02\x02\x28";
    // Header of a record that announces a ServerHello of 16 kB.
    let record = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03";
    vec![
        failing_handshake_row(
            "garbage instead of a ServerHello",
            vec![pause(20), send([b'x'; 400]), ServerStep::Drain],
        ),
        failing_handshake_row(
            "HTTP on a TLS port",
            vec![pause(20), send("HTTP/1.1 400 Bad Request\r\n\r\n"), ServerStep::Drain],
        ),
        failing_handshake_row(
            "a TLS alert instead of a ServerHello",
            vec![pause(20), send(alert), ServerStep::Drain],
        ),
        failing_handshake_row(
            "closes instead of a ServerHello",
            vec![pause(20), ServerStep::Finish, ServerStep::Drain],
        ),
        failing_handshake_row(
            "closes in the ServerHello",
            vec![pause(20), send(record), ServerStep::Finish, ServerStep::Drain],
        ),
        failing_handshake_row(
            "resets instead of a ServerHello",
            vec![pause(20), ServerStep::Reset],
        ),
        stalling_handshake_row("stalls before the ServerHello", vec![ServerStep::Drain]),
        stalling_handshake_row("never reads the ClientHello", vec![ServerStep::Ignore]),
        stalling_handshake_row(
            "stalls in the ServerHello",
            vec![pause(20), send(record), ServerStep::Drain],
        ),
    ]
}

fn stalling_handshake_row(name: &'static str, steps: Vec<ServerStep>) -> FaultRow {
    FaultRow::new(name, steps).with("-k").connects_too_late(300)
}

fn failing_handshake_row(name: &'static str, steps: Vec<ServerStep>) -> FaultRow {
    FaultRow::new(name, steps).with("-k").unreachable(&["tls", "reset"])
}

fn replies() -> Vec<FaultRow> {
    let until_close = "HTTP/1.0 200 OK\r\n\r\nhello";
    let mut pieces = vec![ServerStep::Request];
    pieces.extend(in_pieces(page("hello").as_bytes(), std::iter::repeat(1), Duration::ZERO));
    pieces.push(ServerStep::Again);
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
    vec![
        keep_alive_row("a reply over TLS", page("hello")).body("hello").tls(),
        keep_alive_row("100 kB over TLS", page(&"x".repeat(100_000))).tls(),
        FaultRow::new("a reply over TLS, byte by byte", pieces)
            .body("hello")
            .connections(ExpectedConnections::Kept)
            .tls(),
        FaultRow::new(
            "a body until close, with close_notify",
            vec![ServerStep::Request, reply(until_close), ServerStep::Notify],
        )
        .body("hello")
        .tls(),
        // The body may be truncated (RFC 9112 section 9.8).
        FaultRow::new(
            "a body until close, without close_notify",
            vec![ServerStep::Request, send(until_close)],
        )
        .fails(&["closed_early"])
        .tls(),
        FaultRow::new(
            "no close_notify after a complete reply",
            vec![ServerStep::Request, reply(page("hello"))],
        )
        .with("--think 700ms")
        .tls(),
        FaultRow::new("closes in a body over TLS", vec![ServerStep::Request, send(half)])
            .fails(&["closed_early"])
            .tls(),
        FaultRow::new(
            "resets in a body over TLS",
            vec![ServerStep::Request, send(half), pause(20), ServerStep::Reset],
        )
        .fails(&["reset"])
        .tls(),
        FaultRow::new(
            "stalls in a body over TLS",
            vec![ServerStep::Request, send(half), ServerStep::Drain],
        )
        // Long enough for a handshake on a busy machine.
        .times_out(1000)
        .tls(),
        FaultRow::new(
            "an endless body over TLS",
            vec![
                ServerStep::Request,
                send("HTTP/1.1 200 OK\r\n\r\n"),
                ServerStep::Endless(vec![0; 64 << 10], Duration::ZERO),
            ],
        )
        .times_out(1000)
        .tls(),
        malformed_row("a malformed reply over TLS", "SSH-2.0-OpenSSH_9.2\r\n").tls(),
    ]
}
