//! Tests servers that are slow, stall within a reply, or send endlessly.

use super::row::{ExpectedConnections, ExpectedReads, FaultRow};
use super::script::{ServerStep, in_pieces, page, pause, reply, send};
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    [stalls(), slow(), endless()].concat()
}

fn stalls() -> Vec<FaultRow> {
    vec![
        FaultRow::new("accepts and never reads", vec![ServerStep::Ignore])
            .times_out(300)
            .read(ExpectedReads::Nothing),
        FaultRow::new("accepts and never reads a body", vec![ServerStep::Ignore])
            .times_out(300)
            .read(ExpectedReads::Nothing)
            .large_body(),
        stalling_row("reads and never replies", vec![ServerStep::Request]),
        stalling_row("stalls in the status line", vec![ServerStep::Request, send("HTTP/1.")]),
        stalling_row(
            "stalls in the head",
            vec![ServerStep::Request, send("HTTP/1.1 200 OK\r\nContent-")],
        ),
        stalling_row(
            "stalls before the body",
            vec![ServerStep::Request, send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")],
        ),
        stalling_row(
            "stalls in the body",
            vec![ServerStep::Request, send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")],
        ),
        stalling_row(
            "stalls in a body of 300 kB",
            vec![
                ServerStep::Request,
                send(format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n{}",
                    "x".repeat(250_000)
                )),
            ],
        ),
        stalling_row(
            "stalls in a body until close",
            vec![ServerStep::Request, send("HTTP/1.0 200 OK\r\n\r\nhello")],
        ),
        stalls_in_second_reply(),
    ]
}

fn stalling_row(name: &'static str, steps: Vec<ServerStep>) -> FaultRow {
    FaultRow::new(name, [steps, vec![ServerStep::Drain]].concat()).times_out(300)
}

/// The first reply on each connection is complete.
fn stalls_in_second_reply() -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        reply(page("hello")),
        ServerStep::Request,
        send("HTTP/1.1"),
        ServerStep::Drain,
    ];
    let row = FaultRow::new("stalls in the second reply", steps).requests(4).times_out(500);
    row.status(200).completes(2).connections(ExpectedConnections::Accepted)
}

fn slow() -> Vec<FaultRow> {
    let paused = vec![ServerStep::Request, pause(300), reply(page("hello")), ServerStep::Again];
    vec![
        FaultRow::new("a byte every 10 ms", drip_steps(10, &page("hello")))
            .connections(ExpectedConnections::Kept)
            .body("hello"),
        FaultRow::new("a byte every 10 ms, beyond the timeout", {
            let body = "x".repeat(1000);
            [
                vec![ServerStep::Request, send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")],
                drip_steps(10, &body),
            ]
            .concat()
        })
        .times_out(300)
        .read(ExpectedReads::Some),
        FaultRow::new("pauses before each reply", paused)
            .deadline(300, "/service_time_seconds")
            .connections(ExpectedConnections::Kept),
        FaultRow::by_connection("pauses on the second connection", |number| {
            let wait = if number == 1 { 300 } else { 0 };
            vec![ServerStep::Request, pause(wait), reply("HTTP/1.0 200 OK\r\n\r\nhello")]
        })
        .deadline(300, "/service_time_seconds"),
    ]
}

fn drip_steps(every: u64, bytes: &str) -> Vec<ServerStep> {
    let mut steps = vec![ServerStep::Request];
    steps.extend(in_pieces(bytes.as_bytes(), std::iter::repeat(1), Duration::from_millis(every)));
    steps.push(ServerStep::Again);
    steps
}

/// The server sends as fast as brunt reads. The bytes must not delay the timeout.
fn endless() -> Vec<FaultRow> {
    let zeros = vec![0; 64 << 10];
    let chunk = [b"10000\r\n", &zeros[..], b"\r\n"].concat();
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        endless_row("an endless body", "HTTP/1.1 200 OK\r\n\r\n", zeros.clone()),
        endless_row("an endless body in chunks", chunked, chunk.clone()),
        endless_row("an endless body in small chunks", chunked, b"1\r\nx\r\n".repeat(1000)),
        endless_row("an endless chunk", &format!("{chunked}7fffffffffffffff\r\n"), zeros.clone()),
        endless_row(
            "a body of 2^63 bytes",
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
            zeros.clone(),
        ),
        endless_row("an endless body, checked", "HTTP/1.1 200 OK\r\n\r\n", zeros)
            .with("--expect-body ^hello$"),
    ]
}

fn endless_row(name: &'static str, first: &str, then: Vec<u8>) -> FaultRow {
    let steps = vec![ServerStep::Request, send(first), ServerStep::Endless(then, Duration::ZERO)];
    FaultRow::new(name, steps).times_out(400)
}
