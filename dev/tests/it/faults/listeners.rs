//! Tests servers that never accept connections, stop accepting them, or pause for some time.

use super::row::{ExpectedConnections, ExpectedReads, FaultRow};
use super::script::{ServerStep, page, reply};
use super::server::Accepts;
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    vec![
        FaultRow::new("refuses connections", vec![])
            .accepts(Accepts::Closed)
            .unreachable(&["refused"]),
        full_queue(),
        stops_accepting(),
        restarts(),
        reads_late(),
    ]
}

/// The server never accepts, and its accept queue is full before the first connection.
fn full_queue() -> FaultRow {
    let row =
        FaultRow::new("never accepts, with a full accept queue", vec![]).accepts(Accepts::First(0));
    row.connects_too_late(300)
}

/// The first connection that is not accepted has a place in the accept queue, and gets no reply.
fn stops_accepting() -> FaultRow {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let row =
        FaultRow::new("stops accepting connections", vec![ServerStep::Request, reply(closing)])
            .accepts(Accepts::First(3));
    row.requests(6)
        .with("--timeout 300ms --connect-timeout 300ms")
        .also_fails(&["timeout", "connect_timeout"])
        .completes(3)
        .connections(ExpectedConnections::Unaccepted)
        .read(ExpectedReads::Completed)
}

/// The server closes the first connection after five replies, stops, and restarts 300 ms later.
fn restarts() -> FaultRow {
    let row = FaultRow::by_connection("restarts after five replies", |number| {
        if number > 0 {
            return vec![ServerStep::Request, reply(page("hello")), ServerStep::Again];
        }
        (0..5).flat_map(|_| [ServerStep::Request, reply(page("hello"))]).collect()
    });
    row.accepts(Accepts::Restart(Duration::from_millis(300)))
        .requests(40)
        .also_fails(&["stale", "closed_early", "reset", "refused"])
        .connections(ExpectedConnections::Unaccepted)
        .read(ExpectedReads::Completed)
}

/// The server pauses before it reads a request.
fn reads_late() -> FaultRow {
    let steps = vec![
        super::script::pause(100),
        ServerStep::Request,
        reply(page("hello")),
        ServerStep::Again,
    ];
    FaultRow::new("reads each request 100 ms late", steps).connections(ExpectedConnections::Kept)
}
