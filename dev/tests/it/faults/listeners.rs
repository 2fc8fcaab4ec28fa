//! Tests servers that do not accept connections: never, from some time on, or for a while.

use super::row::{ExpectedConnections, ExpectedReads, FaultRow};
use super::script::{ServerStep, page, reply};
use super::server::Accepts;
use std::time::Duration;

pub fn rows() -> Vec<FaultRow> {
    vec![
        FaultRow::new("refuses", vec![]).accepts(Accepts::Closed).unreachable(&["refused"]),
        full_queue(),
        stops_accepting(),
        restarts(),
        accepts_late(),
    ]
}

/// The listener never accepts, and its queue is full before the first connection.
fn full_queue() -> FaultRow {
    let row =
        FaultRow::new("accepts nobody, and its queue is full", vec![]).accepts(Accepts::First(0));
    row.connects_too_late(300)
}

/// The first connection after the accepted ones fits into the queue, and waits for its reply there.
fn stops_accepting() -> FaultRow {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let row = FaultRow::new("stops accepting", vec![ServerStep::Request, reply(closing)])
        .accepts(Accepts::First(3));
    row.requests(6)
        .with("--timeout 300ms --connect-timeout 300ms")
        .also_fails(&["timeout", "connect_timeout"])
        .completes(3)
        .connections(ExpectedConnections::Unaccepted)
        .read(ExpectedReads::Completed)
}

/// The first connection and the server end after five replies. The server restarts 300 ms later.
fn restarts() -> FaultRow {
    let row = FaultRow::by_connection("restarts", |number| {
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

/// A connection waits in the queue of the listener before it is served.
fn accepts_late() -> FaultRow {
    let steps = vec![
        super::script::pause(100),
        ServerStep::Request,
        reply(page("hello")),
        ServerStep::Again,
    ];
    FaultRow::new("serves a connection 100 ms late", steps).connections(ExpectedConnections::Kept)
}
