//! Tests unsolicited messages of a server, awaited messages, and the end of a WebSocket.

use super::{answer_to, frame, read_frame, read_head, upgrade};
use crate::world::brunt::run_stored_plan;
use crate::world::{command, measure, measure_words, wait_until};
use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Service time of the server.
const SERVICE: Duration = Duration::from_millis(3);

/// A server that greets each client, and answers a message with a tick, the message and a message
/// `done`.
struct ChatServer {
    url: String,
    /// Sum of the codes of received close frames.
    codes: Arc<AtomicU64>,
    closes: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
}

impl ChatServer {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("ws://{}/chat?room=1", listener.local_addr().expect("its address"));
        let chatter = Self {
            url,
            codes: Arc::default(),
            closes: Arc::default(),
            connections: Arc::default(),
        };
        let codes = Arc::clone(&chatter.codes);
        let closes = Arc::clone(&chatter.closes);
        let connections = Arc::clone(&chatter.connections);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::Relaxed);
                let codes = Arc::clone(&codes);
                let closes = Arc::clone(&closes);
                thread::spawn(move || drop(chat(stream, &codes, &closes)));
            }
        });
        chatter
    }
}

fn chat(mut stream: TcpStream, codes: &AtomicU64, closes: &AtomicU64) -> std::io::Result<()> {
    // The greeting is in one packet with the answer: if it arrived after the first request, it
    // would be its reply.
    let answer = format!("{}\r\n\r\n", answer_to(&read_head(&mut stream)?));
    stream.write_all(&[answer.as_bytes(), &frame(0x81, br#"{"type":"welcome"}"#)].concat())?;
    loop {
        let (first, payload) = read_frame(&mut stream)?;
        match first & 0x0f {
            8 => {
                let code = payload.first_chunk().map_or(0, |code| u16::from_be_bytes(*code));
                codes.fetch_add(u64::from(code), Ordering::Relaxed);
                closes.fetch_add(1, Ordering::Relaxed);
                return stream.write_all(&frame(0x88, &payload));
            }
            1 => {
                thread::sleep(SERVICE);
                let messages = [br#"{"type":"tick"}"#.as_slice(), &payload, br#"{"type":"done"}"#];
                stream.write_all(&messages.map(|message| frame(0x81, message)).concat())?;
            }
            _ => {}
        }
    }
}

#[test]
fn an_earlier_message_is_no_reply() {
    let chatter = ChatServer::open();
    // The tick is the reply; the other two messages and the greeting are pushes.
    let ran = measure(&format!("{} --data hello -c 1 -n 100", chatter.url)).assert_all_good();
    assert!(ran.figure("/response_time_seconds/min") >= SERVICE.as_secs_f64(), "{}", ran.out);
    let pushes = ran.connections("websocket_pushes");
    assert!((1 + 2 * 99..=1 + 2 * 100).contains(&pushes), "{pushes}");
    ran.assert_text(&["WebSocket messages that no request awaited"]);
    let ran = measure(&format!("{} --data hello -c 1 -n 50 --expect-body done", chatter.url))
        .assert_all_good();
    assert_eq!(ran.connections("websocket_pushes"), 1 + 2 * 50);
}

#[test]
fn each_websocket_ends_with_a_close_frame() {
    let chatter = ChatServer::open();
    measure(&format!("{} --data hello -c 4 -n 40", chatter.url)).assert_all_good();
    measure(&format!("{} --data hello -c 1 -n 5 --no-keepalive", chatter.url)).assert_all_good();
    wait_until("close frames", || chatter.closes.load(Ordering::Relaxed) == 9);
    assert_eq!(chatter.connections.load(Ordering::Relaxed), 9);
    assert_eq!(chatter.codes.load(Ordering::Relaxed), 9 * 1000);
}

#[test]
fn steps_await_the_message_that_matches() {
    let chatter = ChatServer::open();
    let url = &chatter.url;
    let plan = format!(
        r#"load: {{users: 3, iterations: 10}}
repetitions: 1
scenario:
  steps:
  - open: "{url}"
  - {{await: "{url}", until: {{json: {{$.type: welcome}}}}, name: welcome}}
  - set: {{id: "${{random(1,1000000)}}"}}
  - {{send: "{url}", data: '{{"id":${{id}}}}', until: {{json: {{$.id: "${{id}}"}}}}, name: buy, check: {{contains: "${{id}}"}}}}
  - {{await: "{url}", until: done, name: done}}
  - {{send: "{url}", data: x, until: {{matches: "^x$"}}, name: echo, check: {{contains: x}}}}
  - close: "{url}"
"#
    );
    let dir = tempfile::TempDir::new().expect("a directory");
    std::fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path());
    assert_eq!(
        (&run["requests"]["good"], &run["requests"]["errors"]),
        (&180.into(), &0.into()),
        "{run}"
    );
    for label in ["welcome", "buy", "done", "echo"] {
        let labels = run["labels"].as_array().expect("labels");
        let found = labels
            .iter()
            .find(|one| one["label"] == label)
            .unwrap_or_else(|| panic!("no {label}: {labels:?}"));
        assert_eq!(found["requests"]["completed"], 30, "{label}");
    }
    // Two ticks in each iteration, and the message `done` after the echo.
    assert_eq!(run["connections"]["websocket_pushes"], 90);
}

/// Starts a server that closes each WebSocket with a code and a reason after a message.
fn closing(code: u16, reason: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ws://{}/chat?room=1", listener.local_addr().expect("its address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let closed = upgrade(&mut stream).and_then(|()| {
                read_frame(&mut stream)?;
                stream.write_all(&frame(
                    0x88,
                    &[&code.to_be_bytes()[..], reason.as_bytes()].concat(),
                ))?;
                read_frame(&mut stream)
            });
            drop(closed);
        }
    });
    url
}

#[test]
fn the_code_of_a_close_frame_is_the_outcome() {
    for (code, reason, outcome) in [
        (1008, "quota exceeded", "close 1008 policy violation"),
        (1011, "", "close 1011 internal error"),
        (4000, "session over", "close 4000"),
    ] {
        let url = closing(code, reason);
        let ran = measure(&format!("{url} --data x -c 1 -n 5"));
        assert_eq!(
            (&ran.value("/outcomes")[outcome], ran.count("good")),
            (&5.into(), 0),
            "{}",
            ran.out
        );
        ran.assert_text(&[outcome, reason]);
    }
    let url = closing(4000, "session over");
    let words = ["run", &url, "--data", "x", "-c", "1", "-n", "5", "--expect-status", "close 4000"];
    assert_eq!(measure_words(&words).assert_all_good().count("completed"), 5);
}

#[test]
fn a_trace_shows_skipped_messages_and_bytes() {
    let chatter = ChatServer::open();
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("message.bin");
    fs::write(&file, [0, 1, 255, 254]).expect("a file");
    let url = &chatter.url;
    let greeting = r#"skipped    {"type":"welcome"}"#;
    let tick = r#"skipped    {"type":"tick"}"#;
    let awaited = trace(&format!("{url} --data hello --expect-body done"));
    for line in [greeting, tick, "skipped    hello", r#"< {"type":"done"}"#, "passed"] {
        assert!(awaited.contains(line), "{line} is not in:\n{awaited}");
    }
    // The messages are shown although the awaited one never arrives.
    let missed =
        trace(&format!("{url} --data token=s3cr3t-value-99 --expect-body no --timeout 300ms"));
    for line in [tick, "skipped    token=redacted:", r#"skipped    {"type":"done"}"#, "FAILED"] {
        assert!(missed.contains(line), "{line} is not in:\n{missed}");
    }
    assert!(!missed.contains("s3cr3t"), "{missed}");
    let binary = trace(&format!("{url} --data @{} --timeout 300ms", file.display()));
    assert!(binary.contains("> (4 bytes that are no text) 00 01 ff fe"), "{binary}");
}

/// Output of a trace of a line of options.
fn trace(line: &str) -> String {
    let output = command(&format!("run {line} --trace")).output().expect("brunt");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
