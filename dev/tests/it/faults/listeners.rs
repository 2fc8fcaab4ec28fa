//! Tests servers that do not accept connections: never, from some time on, or for a while.

use super::row::{Connections, Read, Row};
use super::script::{Step, page, reply};
use super::server::Accepts;
use std::time::Duration;

pub fn rows() -> Vec<Row> {
    vec![
        Row::new("refuses", vec![]).accepts(Accepts::Closed).unreachable(&["refused"]),
        full_queue(),
        stops_accepting(),
        restarts(),
        accepts_late(),
    ]
}

/// The listener never accepts, and its queue is full before the first connection.
fn full_queue() -> Row {
    let row = Row::new("accepts nobody, and its queue is full", vec![]).accepts(Accepts::First(0));
    row.connects_too_late(300)
}

/// The first connection after the accepted ones fits into the queue, and waits for its reply there.
fn stops_accepting() -> Row {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let row =
        Row::new("stops accepting", vec![Step::Request, reply(closing)]).accepts(Accepts::First(3));
    row.requests(6)
        .with("--timeout 300ms --connect-timeout 300ms")
        .also_fails(&["timeout", "connect_timeout"])
        .completes(3)
        .connections(Connections::Unaccepted)
        .read(Read::Completed)
}

/// The first connection and the server end after five replies. The server restarts 300 ms later.
fn restarts() -> Row {
    let row = Row::by_connection("restarts", |number| {
        if number > 0 {
            return vec![Step::Request, reply(page("hello")), Step::Again];
        }
        (0..5).flat_map(|_| [Step::Request, reply(page("hello"))]).collect()
    });
    row.accepts(Accepts::Restart(Duration::from_millis(300)))
        .requests(40)
        .also_fails(&["stale", "closed_early", "reset", "refused"])
        .connections(Connections::Unaccepted)
        .read(Read::Completed)
}

/// A connection waits in the queue of the listener before it is served.
fn accepts_late() -> Row {
    let steps = vec![super::script::pause(100), Step::Request, reply(page("hello")), Step::Again];
    Row::new("serves a connection 100 ms late", steps).connections(Connections::Kept)
}
