//! Tests servers that close or reset a connection at every point of an exchange.

use super::row::{ExpectedConnections, ExpectedReads, FaultRow};
use super::script::{ServerStep, page, pause, reply, send};

pub fn rows() -> Vec<FaultRow> {
    [closes(), resets(), reused(), bodies()].concat()
}

/// Truncated replies with the body `hello`.
const HALF_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Le";
const HALF_BODY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";

fn closes() -> Vec<FaultRow> {
    let close_kinds: &[&str] = &["closed_early", "reset"];
    vec![
        // The request arrives at a closed socket. The client sees FIN or RST first, depending on
        // the kernel.
        FaultRow::new("closes before reading", vec![])
            .fails(close_kinds)
            .read(ExpectedReads::Nothing)
            .connections(ExpectedConnections::Accepted),
        FaultRow::new("closes before the body of the request", vec![ServerStep::Head])
            .fails(close_kinds)
            .with("--data hello")
            .read(ExpectedReads::Nothing),
        FaultRow::new("closes after reading", vec![ServerStep::Request]).fails(&["closed_early"]),
        FaultRow::new(
            "closes in the head of the reply",
            vec![ServerStep::Request, send(HALF_HEAD)],
        )
        .fails(&["closed_early"]),
        FaultRow::new(
            "closes in the body of the reply",
            vec![ServerStep::Request, send(HALF_BODY)],
        )
        .fails(&["closed_early"]),
        FaultRow::new(
            "half-closes instead of a reply",
            vec![ServerStep::Request, ServerStep::Finish, ServerStep::Drain],
        )
        .fails(&["closed_early"]),
        FaultRow::new(
            "half-closes in the body of the reply",
            vec![ServerStep::Request, send(HALF_BODY), ServerStep::Finish, ServerStep::Drain],
        )
        .fails(&["closed_early"]),
        FaultRow::new(
            "closes before the last piece of the body",
            vec![ServerStep::Request, send(HALF_BODY), pause(20), send("ll"), pause(20)],
        )
        .fails(&["closed_early"]),
    ]
}

fn resets() -> Vec<FaultRow> {
    vec![
        reset_row("resets before reading", vec![]).read(ExpectedReads::Nothing),
        reset_row("resets after reading", vec![ServerStep::Request]),
        reset_row("resets in the head of the reply", vec![ServerStep::Request, send(HALF_HEAD)]),
        reset_row("resets in the body of the reply", vec![ServerStep::Request, send(HALF_BODY)]),
        reset_row(
            "resets in a chunk",
            vec![
                ServerStep::Request,
                send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"),
            ],
        ),
        reset_row(
            "resets in a body until close",
            vec![ServerStep::Request, send("HTTP/1.0 200 OK\r\n\r\nhello")],
        ),
        reset_row(
            "resets after status 100",
            vec![ServerStep::Request, send("HTTP/1.1 100 Continue\r\n\r\n")],
        ),
    ]
}

fn reset_row(name: &'static str, mut steps: Vec<ServerStep>) -> FaultRow {
    steps.extend([pause(20), ServerStep::Reset]);
    FaultRow::new(name, steps).fails(&["reset"])
}

/// The server ends a connection between requests, although the reply allowed its reuse.
fn reused() -> Vec<FaultRow> {
    let once = vec![ServerStep::Request, reply(page("hello"))];
    vec![
        stale_row("closes on the second request", closing_after_second_request(&[])),
        retried_row("closes on the second request, retried", closing_after_second_request(&[])),
        stale_row(
            "resets on the second request",
            closing_after_second_request(&[ServerStep::Reset]),
        ),
        retried_row(
            "resets on the second request, retried",
            closing_after_second_request(&[ServerStep::Reset]),
        ),
        retried_row("closes after each reply, retried", once.clone()),
        FaultRow::new("closes an idle connection", once.clone()).with("--think 700ms"),
        FaultRow::new(
            "resets an idle connection",
            [&once[..], &[pause(20), ServerStep::Reset]].concat(),
        )
        .with("--think 700ms"),
        FaultRow::new(
            "closes in the head of the second reply",
            [&once[..], &[ServerStep::Request, send(HALF_HEAD)]].concat(),
        )
        .requests(6)
        .also_fails(&["closed_early"])
        .completes(3)
        .connections(ExpectedConnections::Accepted),
        every_third(),
    ]
}

fn retried_row(name: &'static str, steps: Vec<ServerStep>) -> FaultRow {
    let row = FaultRow::new(name, steps).requests(6).with("--retry-stale");
    row.connections(ExpectedConnections::Each).read(ExpectedReads::Completed)
}

fn stale_row(name: &'static str, steps: Vec<ServerStep>) -> FaultRow {
    let row = FaultRow::new(name, steps).requests(6).also_fails(&["stale"]).completes(3);
    row.connections(ExpectedConnections::Accepted).read(ExpectedReads::Completed)
}

fn closing_after_second_request(end: &[ServerStep]) -> Vec<ServerStep> {
    [&[ServerStep::Request, reply(page("hello")), ServerStep::Head], end].concat()
}

/// The server closes every third connection instead of sending a reply.
fn every_third() -> FaultRow {
    FaultRow::by_connection("closes every third connection", |number| {
        let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        if number % 3 == 2 {
            vec![ServerStep::Request]
        } else {
            vec![ServerStep::Request, reply(closing)]
        }
    })
    .requests(9)
    .also_fails(&["closed_early"])
    .completes(6)
}

/// The server does not read the body of a request, which has 20 MB.
fn bodies() -> Vec<FaultRow> {
    vec![
        refused_body_row("status 413, closes without reading the body", 413, pause(200)),
        refused_body_row("status 413 before reading the body", 413, ServerStep::Drain),
        refused_body_row("status 200 before reading the body", 200, ServerStep::Drain),
        FaultRow::new(
            "resets while the body is being sent",
            vec![ServerStep::Head, pause(50), ServerStep::Reset],
        )
        .fails(&["reset"])
        .large_body()
        .read(ExpectedReads::Nothing),
        FaultRow::new(
            "replies before the request",
            vec![reply(empty_reply("408 Request Timeout")), ServerStep::Drain],
        )
        .status(408)
        .read(ExpectedReads::Nothing),
    ]
}

fn refused_body_row(name: &'static str, status: u16, last_step: ServerStep) -> FaultRow {
    let steps =
        vec![ServerStep::Head, pause(50), reply(empty_reply(&format!("{status} Odd"))), last_step];
    // brunt sends more than a head, for any size of the socket buffers.
    FaultRow::new(name, steps)
        .status(status)
        .large_body()
        .read(ExpectedReads::Nothing)
        .sends(3 * 16_000)
}

fn empty_reply(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}
