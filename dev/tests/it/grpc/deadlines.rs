//! Ends calls by their deadline in each way: each has the same outcome.

use super::shop::Shop;
use super::streams::{FOUR, call, outcomes};
use crate::world::{command, lab, measure};
use serde_json::json;
use std::fs;

const DEADLINE: &str = "grpc 4 DEADLINE_EXCEEDED";
const MEANING: &str = "the deadline of the call passed, by brunt's clock or the server's";
const SLOW: &str = r#"{"name":"slow"}"#;
const EXPIRED: &str = r#"{"name":"expired"}"#;
const STALL: &str = r#"{"name":"stall","id":1}"#;
const SILENCE: &str = r#"[{"name":"a"},{"name":"silence"},{"name":"c"}]"#;

/// Method, message and options of calls that a deadline ends.
const CALLS: [(&str, &str, &str); 8] = [
    // Before the head: by our clock, by the server's (tonic sends CANCELLED), and by a deadline
    // that the server itself has.
    ("shop.Shop/Buy", SLOW, "--timeout 200ms"),
    ("shop.Shop/Buy", SLOW, "-H grpc-timeout:100m"),
    ("shop.Shop/Buy", EXPIRED, ""),
    ("shop.Shop/List", r#"{"name":"stall"}"#, "--timeout 200ms"),
    // After the head.
    ("shop.Shop/List", STALL, "--timeout 200ms --reply-events messages"),
    // Between the messages of the request, and of the reply.
    ("shop.Shop/Fill", FOUR, "--timeout 200ms --message-interval 500ms"),
    ("shop.Shop/Chat", SILENCE, "--timeout 200ms --message-interval reply"),
    ("shop.Shop/Chat", FOUR, "--timeout 200ms --message-interval 500ms --reply-events messages"),
];

#[test]
fn a_deadline_is_one_outcome_in_each_output() {
    let shop = Shop::open();
    let folder = tempfile::TempDir::new().expect("a directory");
    let page = folder.path().join("page.html");
    for (method, json, options) in CALLS {
        let options = format!("{options} -c 2 -n 4 -o html={}", page.display());
        let ran = call(&shop, method, json, &options);
        assert_eq!(outcomes(&ran, DEADLINE), 4, "{method} {options}: {}", ran.out);
        let failures = ran.value("/failures");
        assert_eq!(failures, &json!({"deadline_exceeded": 4}), "{method} {options}");
        assert_eq!((ran.count("failed"), ran.count("completed")), (4, 0), "{method} {options}");
        ran.assert_text(&[DEADLINE, MEANING]);
        let page = fs::read_to_string(&page).expect("a page");
        assert!(page.contains(DEADLINE), "{method} {options}");
    }
    for (method, json, options) in CALLS {
        let ran =
            call(&shop, method, json, &format!("{options} -n 4 --expect-status DEADLINE_EXCEEDED"));
        assert_eq!(ran.count("good"), 4, "{method} {options}: {}", ran.out);
        assert_eq!(outcomes(&ran, DEADLINE), 4, "{method} {options}: {}", ran.out);
    }
}

#[test]
fn response_times_of_deadlines_are_lower_bounds() {
    let shop = Shop::open();
    for (json, options) in [(SLOW, "--timeout 200ms"), (SLOW, "-H grpc-timeout:100m")] {
        let ran = call(&shop, "shop.Shop/Buy", json, &format!("{options} -c 2 -n 4"));
        let times = ran.value("/response_time_seconds");
        assert_eq!(times["censored"], 4, "{options}: {times}");
    }
}

#[test]
fn a_canceled_stream_is_a_deadline_only_after_the_deadline() {
    let lab = lab("--hostile reset-cancel");
    let dir = super::shop();
    let proto = dir.path().join("shop.proto");
    let options = format!("--grpc shop.Shop/Buy --proto {} -n 4", proto.display());
    for (deadline, kind) in [
        ("-H grpc-timeout:1n", "deadline_exceeded"),
        ("-H grpc-timeout:10S", "stream_reset"),
        ("", "stream_reset"),
    ] {
        let ran = measure(&format!("{} {options} {deadline}", lab.url_of("/")));
        assert_eq!(ran.failed(kind), 4, "{deadline}: {}", ran.out);
    }
}

#[test]
fn steps_and_samplers_have_the_same_outcome() {
    let shop = Shop::open();
    let plan = format!(
        "load: {{users: 2, iterations: 3}}
repetitions: 1
scenario:
  base: {}
  steps:
  - grpc: shop.Shop/Buy
  - grpc: shop.Shop/Buy
    json: {{name: slow}}
    timeout: 100ms
  - grpc: shop.Shop/Buy
    json: {{name: expired}}
    check: {{status: OK, json: {{$.id: \"1\"}}}}
    extract: {{got: $.name}}
",
        shop.url()
    );
    let file = shop.plan(&plan);
    let result = crate::world::brunt::run_stored_plan(file.parent().expect("a folder"));
    assert_eq!(
        (&result["failures"], &result["outcomes"]),
        (&json!({"deadline_exceeded": 12}), &json!({DEADLINE: 12, "grpc 0 OK": 6}))
    );
    let trace = command(&format!("run {} --trace", file.display())).output().expect("brunt");
    let trace = String::from_utf8_lossy(&trace.stdout).into_owned();
    assert_eq!(trace.matches(&format!("FAILED: status {DEADLINE}")).count(), 2, "{trace}");
    assert!(trace.contains("the warehouse is asleep"), "{trace}");
}
