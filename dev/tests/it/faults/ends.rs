//! Tests servers that close or reset a connection at every point of an exchange.

use super::row::{Connections, Read, Row};
use super::script::{Step, page, pause, reply, send};

pub fn rows() -> Vec<Row> {
    [closes(), resets(), reused(), bodies()].concat()
}

/// First half of a reply with the body `hello`.
const HALF_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Le";
const HALF_BODY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";

fn closes() -> Vec<Row> {
    let close_kinds: &[&str] = &["closed_early", "reset"];
    vec![
        // The request meets a closed socket: the kernel decides whether the client sees FIN or RST
        // first.
        Row::new("closes before reading", vec![])
            .fails(close_kinds)
            .read(Read::Nothing)
            .connections(Connections::Accepted),
        Row::new("closes in the request", vec![Step::Head])
            .fails(close_kinds)
            .with("--data hello")
            .read(Read::Nothing),
        Row::new("closes after reading", vec![Step::Request]).fails(&["closed_early"]),
        Row::new("closes in the head", vec![Step::Request, send(HALF_HEAD)])
            .fails(&["closed_early"]),
        Row::new("closes in the body", vec![Step::Request, send(HALF_BODY)])
            .fails(&["closed_early"]),
        Row::new("half-closes instead of a reply", vec![Step::Request, Step::Finish, Step::Drain])
            .fails(&["closed_early"]),
        Row::new(
            "half-closes in the body",
            vec![Step::Request, send(HALF_BODY), Step::Finish, Step::Drain],
        )
        .fails(&["closed_early"]),
        Row::new(
            "closes the connection before the last piece",
            vec![Step::Request, send(HALF_BODY), pause(20), send("ll"), pause(20)],
        )
        .fails(&["closed_early"]),
    ]
}

fn resets() -> Vec<Row> {
    vec![
        reset_row("resets before reading", vec![]).read(Read::Nothing),
        reset_row("resets after reading", vec![Step::Request]),
        reset_row("resets in the head", vec![Step::Request, send(HALF_HEAD)]),
        reset_row("resets in the body", vec![Step::Request, send(HALF_BODY)]),
        reset_row(
            "resets in a chunk",
            vec![
                Step::Request,
                send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"),
            ],
        ),
        reset_row(
            "resets in a body until close",
            vec![Step::Request, send("HTTP/1.0 200 OK\r\n\r\nhello")],
        ),
        reset_row("resets behind 100", vec![Step::Request, send("HTTP/1.1 100 Continue\r\n\r\n")]),
    ]
}

fn reset_row(name: &'static str, mut steps: Vec<Step>) -> Row {
    steps.extend([pause(20), Step::Reset]);
    Row::new(name, steps).fails(&["reset"])
}

/// Connections that end between requests, although the reply allowed their reuse.
fn reused() -> Vec<Row> {
    let once = vec![Step::Request, reply(page("hello"))];
    vec![
        stale_row("closes when it is asked again", closing_after_second_request(&[])),
        retried_row("closes when it is asked again, retried", closing_after_second_request(&[])),
        stale_row("resets when it is asked again", closing_after_second_request(&[Step::Reset])),
        retried_row(
            "resets when it is asked again, retried",
            closing_after_second_request(&[Step::Reset]),
        ),
        retried_row("closes behind each reply, retried", once.clone()),
        Row::new("closes an idle connection", once.clone()).with("--think 700ms"),
        Row::new("resets an idle connection", [&once[..], &[pause(20), Step::Reset]].concat())
            .with("--think 700ms"),
        Row::new(
            "closes the second reply in the head",
            [&once[..], &[Step::Request, send(HALF_HEAD)]].concat(),
        )
        .requests(6)
        .also_fails(&["closed_early"])
        .completes(3)
        .connections(Connections::Accepted),
        every_third(),
    ]
}

fn retried_row(name: &'static str, steps: Vec<Step>) -> Row {
    let row = Row::new(name, steps).requests(6).with("--retry-stale");
    row.connections(Connections::Each).read(Read::Completed)
}

fn stale_row(name: &'static str, steps: Vec<Step>) -> Row {
    let row = Row::new(name, steps).requests(6).also_fails(&["stale"]).completes(3);
    row.connections(Connections::Accepted).read(Read::Completed)
}

fn closing_after_second_request(end: &[Step]) -> Vec<Step> {
    [&[Step::Request, reply(page("hello")), Step::Head], end].concat()
}

/// Every third connection closes instead of sending a reply.
fn every_third() -> Row {
    Row::by_connection("closes every third connection", |number| {
        let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        if number % 3 == 2 { vec![Step::Request] } else { vec![Step::Request, reply(closing)] }
    })
    .requests(9)
    .also_fails(&["closed_early"])
    .completes(6)
}

/// Servers that refuse the body of a request, which has 20 MB.
fn bodies() -> Vec<Row> {
    vec![
        refused_body_row("413 instead of reading the body", 413, pause(200)),
        refused_body_row("413 before reading the body", 413, Step::Drain),
        refused_body_row("200 before reading the body", 200, Step::Drain),
        Row::new("resets while the body is being sent", vec![Step::Head, pause(50), Step::Reset])
            .fails(&["reset"])
            .large_body()
            .read(Read::Nothing),
        Row::new(
            "answers before the request",
            vec![reply(empty_reply("408 Request Timeout")), Step::Drain],
        )
        .status(408)
        .read(Read::Nothing),
    ]
}

fn refused_body_row(name: &'static str, status: u16, last_step: Step) -> Row {
    let steps =
        vec![Step::Head, pause(50), reply(empty_reply(&format!("{status} Odd"))), last_step];
    // More than a head, for any size of the socket buffers.
    Row::new(name, steps).status(status).large_body().read(Read::Nothing).sends(3 * 16_000)
}

fn empty_reply(status: &str) -> String {
    format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}
