//! Tests interim replies (RFC 9110 section 15.2): one, several, malformed, and endless.

use super::row::{
    ExpectedConnections, FaultRow, keep_alive_row, malformed_row, stalled_row, truncated_row,
};
use super::script::{ServerStep, page};
use std::time::Duration;

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";

pub fn rows() -> Vec<FaultRow> {
    vec![
        keep_alive_row("100", with_page(CONTINUE)).body("hello"),
        keep_alive_row("102", with_page("HTTP/1.1 102 Processing\r\n\r\n")).body("hello"),
        keep_alive_row("103", with_page(HINTS)).body("hello"),
        keep_alive_row("199", with_page("HTTP/1.1 199 Odd\r\n\r\n")).body("hello"),
        keep_alive_row("100, then 103 twice", with_page(&format!("{CONTINUE}{HINTS}{HINTS}")))
            .body("hello"),
        keep_alive_row("102 ten times", with_page(&"HTTP/1.1 102 Processing\r\n\r\n".repeat(10)))
            .body("hello"),
        keep_alive_row(
            "100 with a Content-Length",
            with_page("HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row(
            "100 with a Transfer-Encoding",
            with_page("HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row(
            "100 with Connection: close",
            with_page("HTTP/1.1 100 Go\r\nConnection: close\r\n\r\n"),
        )
        .body("hello"),
        keep_alive_row("100 with HTTP/1.0", with_page("HTTP/1.0 100 Continue\r\n\r\n"))
            .body("hello"),
        keep_alive_row("100, then a blank line", with_page(&format!("{CONTINUE}\r\n")))
            .body("hello"),
        late_reply(),
        truncated_row("100, then close", CONTINUE),
        truncated_row("a truncated 100, then close", "HTTP/1.1 100 Cont"),
        stalled_row("100, then stalls", CONTINUE),
        malformed_row(
            "100 with a malformed field",
            with_page("HTTP/1.1 100 Continue\r\nX\r\n\r\n"),
        ),
        malformed_row("100, then garbage", format!("{CONTINUE}hello\r\n\r\n")),
        FaultRow::new("endless 100", flood(Duration::ZERO))
            .fails(&["protocol"])
            .with("--timeout 5s"),
        FaultRow::new("endless 100, one every 10 ms", flood(Duration::from_millis(10)))
            .times_out(300),
    ]
}

fn with_page(interim: &str) -> String {
    format!("{interim}{}", page("hello"))
}

/// The server sends the final reply 50 ms after an interim one.
fn late_reply() -> FaultRow {
    let steps = vec![
        ServerStep::Request,
        ServerStep::Part(CONTINUE.into()),
        ServerStep::Pause(Duration::from_millis(50)),
        ServerStep::Reply(page("hello").into()),
        ServerStep::Again,
    ];
    FaultRow::new("100, then the reply 50 ms later", steps)
        .body("hello")
        .connections(ExpectedConnections::Kept)
}

fn flood(pause: Duration) -> Vec<ServerStep> {
    vec![ServerStep::Request, ServerStep::Endless(CONTINUE.into(), pause)]
}
