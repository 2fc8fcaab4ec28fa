//! Tests WebSocket over HTTP/2 (RFC 8441) with node, whose WebSocket frames are handwritten, and
//! with the lab.

use super::*;
use crate::world::certs::Authority;
use crate::world::server::ServerProcess;
use crate::world::skip::{program, skip};
use crate::world::{lab, port, wait_a_moment};
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Program of the server.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/it/websocket/server.cjs");

/// A server of node, which writes a log of events.
struct Node {
    _server: ServerProcess,
    dir: TempDir,
    port: u16,
}

impl Node {
    /// Starts a server with these settings. Skips the test and returns None if node is not
    /// installed.
    fn start(test: &str, settings: &str) -> Option<Self> {
        Self::start_with(test, settings, |_| Vec::new())
    }

    fn start_with(
        test: &str,
        settings: &str,
        more: impl Fn(&TempDir) -> Vec<String>,
    ) -> Option<Self> {
        let Some(path) = program("node") else {
            skip(&format!("websocket::http2::{test}"), "no node here");
            return None;
        };
        let dir = TempDir::new().expect("a directory");
        let port = port::free();
        let more = more(&dir);
        let mut command = Command::new(path);
        command
            .arg(PROGRAM)
            .arg(port.to_string())
            .arg(dir.path().join("log"))
            .arg(settings)
            .args(more);
        let errors = fs::File::create(dir.path().join("told")).expect("a file");
        let server =
            ServerProcess::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors));
        assert!(
            (0..1000).any(|_| port::has_listener(port) || wait_a_moment()),
            "{}",
            errors_of(&dir)
        );
        Some(Self { _server: server, dir, port })
    }

    fn url_of(&self, path: &str) -> String {
        format!("ws://127.0.0.1:{}{path} --http 2", self.port)
    }

    /// Number of log lines with this beginning.
    fn count(&self, line: &str) -> usize {
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        log.lines().filter(|one| one.starts_with(line)).count()
    }

    /// Waits until the log has this number of lines with this beginning.
    fn has(&self, line: &str, count: usize) {
        let comes = (0..1000).any(|_| self.count(line) == count || wait_a_moment());
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        assert!(
            comes,
            "{count} of `{line}`, not {}: {}",
            self.count(line),
            &log[..log.len().min(2000)]
        );
    }
}

fn errors_of(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("told")).unwrap_or_default()
}

const OFFERS: &str = r#"{"enableConnectProtocol":true}"#;

#[test]
fn each_lane_is_a_websocket_on_the_connection_of_its_user() {
    let test = "each_lane_is_a_websocket_on_the_connection_of_its_user";
    let Some(node) = Node::start(test, OFFERS) else { return };
    let url = node.url_of("/chat");
    let ran =
        measure(&format!("{url} --data hello -c 2 --streams 5 -n 1000 --expect-body ^hello$"))
            .assert_all_good();
    assert_eq!((ran.count("completed"), ran.connections("opened")), (1000, 2));
    node.has("message", 1000);
    node.has("open http /chat 13", 10);
    // Frames have a head of two bytes and a text of five, plus a mask in requests. Each is in a
    // DATA frame.
    assert_eq!(ran.number("/bytes/received"), 1000 * (9 + 2 + 5));
    assert_eq!(ran.number("/bytes/sent"), 1000 * (9 + 6 + 5));
    node.has("close", 10);
    node.has("over 0", 10);
    // An open loop, and a separate connection for each message.
    measure(&format!("{url} --data hello -c 4 --streams 2 -r 400 -d 1s")).assert_all_good();
    let before = node.count("open");
    let ran = measure(&format!("{url} --data hello -c 2 -n 20 --no-keepalive")).assert_all_good();
    assert_eq!((ran.connections("opened"), node.count("open") - before), (20, 20));
}

#[test]
fn flow_control_delays_long_messages() {
    let test = "flow_control_delays_long_messages";
    let settings =
        r#"{"enableConnectProtocol":true,"initialWindowSize":2000,"maxFrameSize":16384}"#;
    let Some(node) = Node::start(test, settings) else { return };
    let file = tempfile::NamedTempFile::new().expect("a file");
    for length in [1_985, 1_986, 70_000, 1_000_000] {
        fs::write(file.path(), vec![b'x'; length]).expect("a file");
        let line = format!(
            "{} --data @{} -c 2 --streams 2 -n 12",
            node.url_of("/chat"),
            file.path().display()
        );
        // With so few messages, a pause of the machine may break the sum of their times.
        let ran = measure(&format!("{line} --expect-body ^x{{1985}}"));
        assert_eq!(ran.count("good"), 12, "{length}: {}", ran.out);
        assert!(ran.number("/bytes/received") > 12 * length as u64, "{length}");
    }
}

#[test]
fn steps_and_options_work_as_over_http1() {
    let test = "steps_and_options_work_as_over_http1";
    let Some(node) = Node::start(test, OFFERS) else { return };
    let url = format!("ws://127.0.0.1:{}/chat", node.port);
    let page = format!("http://127.0.0.1:{}/page", node.port);
    let dir = TempDir::new().expect("a directory");
    let plan = format!(
        "load: {{users: 3, iterations: 20}}\nrepetitions: 1\nconnection: {{http: 2}}\nscenario:\n  steps:\n  \
         - open: {url}\n    name: open\n  - get: {page}\n    name: page\n  \
         - {{send: \"{url}\", data: hello, name: hello, check: {{contains: hello}}}}\n  - ping: {url}\n    name: ping\n  \
         - close: {url}\n    name: close\n"
    );
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path());
    let labels = run["labels"].as_array().expect("labels");
    let expected =
        ["open", "page", "hello", "ping", "close"].map(|name| (Some(name.to_owned()), Some(60)));
    assert_eq!(
        labels
            .iter()
            .map(|label: &serde_json::Value| {
                (
                    label["label"].as_str().map(str::to_owned),
                    label["requests"]["completed"].as_u64(),
                )
            })
            .collect::<Vec<_>>(),
        expected
    );
    for line in ["open", "message", "ping", "close", "get"] {
        node.has(line, 60);
    }
    // Both sides ended in order, on the connection of the user that also carried the page.
    node.has("over 0", 60);
    node.has("session", 3);
    let ran = measure(&format!(
        "{} --data echo -c 2 -n 50 --reply-events messages,2",
        node.url_of("/chatty")
    ))
    .assert_all_good();
    let all = ran.value("/transactions").as_array().expect("a list");
    assert_eq!(
        all.iter().map(|one| one["succeeded"].as_u64()).collect::<Vec<_>>(),
        [Some(50), Some(50)]
    );
    let ran = measure(&format!(
        "{} --data echo-of-this -c 2 -n 100 --expect-body ^echo-of-this$",
        node.url_of("/chatty")
    ));
    // Pongs do not count as bytes of requests.
    assert_eq!(ran.assert_all_good().number("/bytes/sent"), 100 * (9 + 6 + 12));
    node.has("message", 60 + 50 + 100);
    assert!(node.count("pong") >= 100 + 50 - 4, "{}", node.count("pong"));
    let before = node.count("message");
    let chatty = node.url_of("/chatty");
    let url = chatty.split(' ').next().expect("a URL");
    let plan = format!(
        "load: {{users: 2, iterations: 1}}\nrepetitions: 1\nconnection: {{http: 2}}\nscenario:\n  steps:\n  - loop: 2500\n    \
         steps:\n    - {{send: \"{url}\", data: quiet, reply_events: \"messages,0\", name: quiet}}\n  - close: {url}\n"
    );
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    fs::remove_dir_all(dir.path().join("store")).expect("the store of before");
    run_stored_plan(dir.path());
    // The server answers the close frame after the last message.
    node.has("message", before + 5000);
    let line = format!("{} --data {} -c 2 -n 50", node.url_of("/deflate"), "hello,".repeat(300));
    let ran =
        measure(&format!("{line} --compressed --expect-body ^(hello,){{300}}$")).assert_all_good();
    assert!(ran.number("/bytes/received") < 50 * 100, "{}", ran.number("/bytes/received"));
    assert_eq!(measure(&line).failed("protocol"), 50, "nothing was offered");
}

#[test]
fn the_end_of_a_stream_is_reported_by_its_kind() {
    let test = "the_end_of_a_stream_is_reported_by_its_kind";
    let Some(node) = Node::start(test, OFFERS) else { return };
    for (path, failure, expected) in [
        ("/end", "closed_early", ""),
        ("/cancel", "closed_early", ""),
        ("/reset", "stream_reset", "INTERNAL_ERROR"),
        ("/garbage", "protocol", "RFC 6455"),
        ("/silent", "timeout", ""),
    ] {
        let ran = measure(&format!("{} --data x -c 1 -n 5 --timeout 300ms", node.url_of(path)));
        assert_eq!(ran.failed(failure), 5, "{path}: {}", ran.out);
        ran.assert_text(&[expected]);
        assert_eq!(
            ran.connections("opened"),
            1,
            "{path}: the connection is there for the next one"
        );
    }
    let ran = measure(&format!("{} --data x -c 1 -n 5", node.url_of("/close")));
    assert_eq!(
        (ran.value("/outcomes")["close 1011 internal error"].as_u64(), ran.connections("opened")),
        (Some(5), 1)
    );
}

#[test]
fn servers_without_websocket_are_reported() {
    let test = "servers_without_websocket_are_reported";
    let Some(node) = Node::start(test, "{}") else { return };
    let expected = "the server does not offer WebSocket over HTTP/2 (SETTINGS_ENABLE_CONNECT_PROTOCOL); write --http 1.1";
    measure(&format!("{} --data x -n 5", node.url_of("/chat")))
        .assert_code(3)
        .assert_text(&[expected]);
    let Some(node) =
        Node::start(test, r#"{"enableConnectProtocol":true,"maxConcurrentStreams":3}"#)
    else {
        return;
    };
    let expected = "the server does not open a WebSocket here: it answered with status 404";
    let ran = measure(&format!("{} --data x -n 5", node.url_of("/nowhere")));
    assert_eq!((ran.status(404), ran.count("good")), (5, 0), "{}", ran.out);
    ran.assert_text(&[expected]);
    // One lane with four paths: each keeps its WebSocket.
    let dir = TempDir::new().expect("a directory");
    let urls = ["/chat", "/chatty", "/deflate", "/silent"]
        .map(|path| format!("ws://127.0.0.1:{}{path}", node.port));
    let steps = urls.map(|url| format!("  - open: {url}\n")).concat();
    let plan = format!(
        "load: {{users: 1, iterations: 2}}\nrepetitions: 1\nconnection: {{http: 2}}\nscenario:\n  steps:\n{steps}"
    );
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path()).to_string();
    assert!(
        run.contains("the server allows 3 streams at once (SETTINGS_MAX_CONCURRENT_STREAMS)"),
        "{run}"
    );
    assert!(run.contains("write --streams 3"), "{run}");
    measure(&format!("{} --data x -c 2 --streams 3 -n 300", node.url_of("/chat")))
        .assert_all_good();
    // Lanes above the limit wait, and continue with the open WebSockets.
    let before = node.count("open");
    measure(&format!("{} --data x -c 1 --streams 5 -n 300", node.url_of("/chat")))
        .assert_all_good();
    assert_eq!(node.count("open") - before, 3);
}

#[test]
fn tls_carries_websockets_too() {
    let test = "tls_carries_websockets_too";
    let Some(node) = Node::start_with(test, OFFERS, |dir: &TempDir| {
        let certificate = Authority::new(dir.path()).certify("localhost");
        vec![certificate.key, certificate.cert]
    }) else {
        return;
    };
    let url = format!("wss://localhost:{}/chat --http 2 -k", node.port);
    measure(&format!("{url} --data hello -c 3 --streams 4 -n 600 --expect-body ^hello$"))
        .assert_all_good();
    node.has("open https /chat 13", 12);
}

#[test]
fn the_lab_counts_each_message_over_streams() {
    let lab = lab("--service const:2ms --fail 5%:503 --body 300 --seed 3");
    let url = lab.url_of("/delay/1").replace("http:", "ws:");
    let ran = measure(&format!("{url} --http 2 --data x -c 2 --streams 4 -n 400"));
    let failed = ran.value("/outcomes")["close 1011 internal error"].as_u64().unwrap_or(0);
    assert!((5..45).contains(&failed), "{failed}: {}", ran.out);
    assert_eq!((ran.count("good"), ran.connections("opened")), (400 - failed, 2));
    let knows = lab.into_statistics();
    assert_eq!(knows["requests"]["received"], 400);
    assert_eq!(
        (
            &knows["requests"]["by_status"]["101"],
            &knows["websocket"]["first_error"],
            &knows["http2"]["first_error"]
        ),
        (&(400 - failed).into(), &().into(), &().into())
    );
    assert_eq!(knows["requests"]["failed_by_kind"]["503"], failed);
    let lab = crate::world::lab("--echo --tls");
    let url = lab.url_of("/").replace("https:", "wss:");
    let ran =
        measure(&format!("{url} --http 2 -k --data hello -r 200 -d 500ms --expect-body ^hello$"))
            .assert_all_good();
    assert_eq!(lab.into_statistics()["requests"]["received"], ran.count("completed"));
}
