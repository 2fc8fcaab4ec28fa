//! Makes calls of each kind to a server by tonic, and compares its counts with those of brunt.

use super::shop::{Shop, THINKS};
use crate::world::brunt::run_stored_plan;
use crate::world::{BruntOutput, command, measure_words};
use serde_json::json;
use std::sync::atomic::Ordering;

pub const FOUR: &str = r#"[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]"#;

/// Measures calls of a method with a message and further options. The descriptors come from
/// reflection.
pub fn call(shop: &Shop, method: &str, json: &str, options: &str) -> BruntOutput {
    let url = shop.url();
    let mut words = vec!["run", &url, "--grpc", method, "--json", json];
    words.extend(options.split_whitespace());
    measure_words(&words)
}

pub fn outcomes(ran: &BruntOutput, status: &str) -> u64 {
    ran.value("/outcomes")[status].as_u64().unwrap_or(0)
}

/// Number of transactions with this name, and their minimum time in seconds.
fn times(ran: &BruntOutput, name: &str) -> (u64, f64) {
    let all = ran.value("/transactions").as_array().expect("a list");
    let found = all
        .iter()
        .find(|one| one["transaction"] == name)
        .unwrap_or_else(|| panic!("no {name}: {all:?}"));
    (
        found["succeeded"].as_u64().expect("a count"),
        found["response_time_seconds"]["min"].as_f64().expect("a time"),
    )
}

#[test]
fn calls_of_each_kind_are_counted_as_the_server_counts_them() {
    let shop = Shop::open();
    call(&shop, "shop.Shop/Buy", r#"{"name":"a","id":"7"}"#, "-c 2 --streams 4 -n 400")
        .assert_all_good();
    call(&shop, "shop.Shop/List", r#"{"id":5}"#, "-c 2 -n 20").assert_all_good();
    call(&shop, "shop.Shop/Fill", FOUR, "-c 2 -n 20").assert_all_good();
    assert_eq!((shop.counts.calls(), shop.counts.messages()), (440, 400 + 20 + 80));
    let numbered =
        call(&shop, "shop.Shop/List", r#"{"id":"{n}"}"#, "-c 1 -n 4 --reply-events messages")
            .assert_all_good();
    // Calls 0 to 3 request 0 to 3 messages, so three of them have a first one.
    assert_eq!((times(&numbered, "first event").0, times(&numbered, "next event").0), (3, 3));
    let missing = call(&shop, "shop.Shop/Buy", r#"{"name":"missing"}"#, "-n 5");
    assert_eq!((outcomes(&missing, "grpc 5 NOT_FOUND"), missing.count("good")), (5, 0));
    let expected =
        call(&shop, "shop.Shop/Buy", r#"{"name":"missing"}"#, "-n 5 --expect-status OK,NOT_FOUND");
    assert_eq!((outcomes(&expected, "grpc 5 NOT_FOUND"), expected.count("good")), (5, 5));
}

#[test]
fn messages_are_sent_at_an_interval_from_the_start_of_the_call() {
    let shop = Shop::open();
    let ran =
        call(&shop, "shop.Shop/Fill", FOUR, "--message-interval 30ms -c 4 -n 12").assert_all_good();
    assert_eq!((shop.counts.calls(), shop.counts.messages()), (12, 48));
    assert!(ran.figure("/response_time_seconds/min") >= 0.089, "{}", ran.out);
    let gaps = shop.counts.gaps.lock().expect("a lock");
    // A late message does not delay others, so a single gap may be shorter.
    let mean = gaps.iter().sum::<std::time::Duration>() / gaps.len() as u32;
    assert!(gaps.len() == 36 && mean.as_millis() >= 25, "{gaps:?}");
    ran.assert_text(&["in 4 pieces, one every 30 ms"]);
}

#[test]
fn each_message_of_a_conversation_awaits_the_previous_answer() {
    let shop = Shop::open();
    let options = "--message-interval reply --reply-events messages -c 2 --streams 2 -n 12";
    let ran = call(&shop, "shop.Shop/Chat", FOUR, options).assert_all_good();
    assert_eq!((shop.counts.calls(), shop.counts.messages()), (12, 48));
    assert_eq!(shop.counts.early.load(Ordering::Relaxed), 0, "none came before its turn");
    let (first, least_first) = times(&ran, "first event");
    let (next, least_next) = times(&ran, "next event");
    assert_eq!((first, next), (12, 36));
    let thinks = THINKS.as_secs_f64() * 0.99;
    // An event that is read late makes the time to the next one shorter, but not the sum.
    assert!(least_first >= thinks && least_next > 0.0, "{least_first} {least_next}");
    assert!(ran.figure("/response_time_seconds/min") >= 4.0 * thinks);
    call(&shop, "shop.Shop/Chat", FOUR, "-n 2").assert_all_good();
    assert!(
        shop.counts.early.load(Ordering::Relaxed) > 0,
        "without an interval all are sent at once"
    );
}

#[test]
fn a_server_that_ends_the_stream_gets_no_further_message() {
    let json = r#"[{"name":"a"},{"name":"stop"},{"name":"c"},{"name":"d"}]"#;
    for (method, interval, status) in [
        ("shop.Shop/Fill", "50ms", "grpc 9 FAILED_PRECONDITION"),
        ("shop.Shop/Chat", "50ms", "grpc 10 ABORTED"),
        ("shop.Shop/Chat", "reply", "grpc 10 ABORTED"),
    ] {
        let shop = Shop::open();
        let ran = call(
            &shop,
            method,
            json,
            &format!("--message-interval {interval} -c 2 --streams 2 -n 8"),
        );
        assert_eq!(outcomes(&ran, status), 8, "{method} {interval}: {}", ran.out);
        assert_eq!((shop.counts.calls(), shop.counts.messages()), (8, 16), "{method} {interval}");
        ran.assert_consistent_sums();
    }
}

#[test]
fn an_open_loop_sends_conversations_on_time_and_deadlines_end_them() {
    let shop = Shop::open();
    let ran =
        call(&shop, "shop.Shop/Chat", FOUR, "--message-interval reply -r 40 --arrivals even -d 1s")
            .assert_all_good();
    let begun = ran.count("begun");
    assert_eq!((shop.counts.calls(), shop.counts.messages()), (begun, 4 * begun));
    assert!((39..=41).contains(&begun), "{begun}");
    let silent = r#"[{"name":"a"},{"name":"silence"},{"name":"c"}]"#;
    let shop = Shop::open();
    let ran =
        call(&shop, "shop.Shop/Chat", silent, "--message-interval reply --timeout 300ms -n 3");
    assert_eq!((ran.failed("deadline_exceeded"), shop.counts.messages()), (3, 6), "{}", ran.out);
    assert_eq!(shop.counts.deadlines.load(Ordering::Relaxed), 3);
}

#[test]
fn steps_of_scenarios_use_variables_and_check_replies() {
    let shop = Shop::open();
    let plan = format!(
        "load: {{users: 2, iterations: 5}}
repetitions: 1
setup:
- grpc: shop.Shop/Buy
  json: {{name: first}}
scenario:
  base: {}
  proto: shop.proto
  steps:
  - set: {{name: \"ann-${{random(1,9)}}\"}}
  - grpc: shop.Shop/Buy
    json: {{name: \"${{name}}\", id: 41}}
    check: {{status: OK, json: {{$.id: \"42\", $.name: \"${{name}}!\"}}}}
    extract: {{got: $.name}}
  - grpc: shop.Shop/Chat
    name: chat
    json: [{{name: \"${{got}}\"}}, {{name: b}}]
    message_interval: reply
    reply_events: messages
    check: {{json: {{\"$[0].name\": \"${{got}}\"}}}}
  - grpc: shop.Shop/Fill
    json: [{{}}, {{}}, {{}}]
    message_interval: 5ms
",
        shop.url()
    );
    let file = shop.plan(&plan);
    let result = run_stored_plan(file.parent().expect("a folder"));
    assert_eq!(
        (&result["requests"]["good"], &result["outcomes"]),
        (&json!(30), &json!({"grpc 0 OK": 30}))
    );
    assert_eq!(
        (shop.counts.calls(), shop.counts.messages()),
        (31, 11 + 20 + 30),
        "one is of setup"
    );
    assert_eq!(shop.counts.early.load(Ordering::Relaxed), 0);
    let labels =
        result["labels"].as_array().expect("labels").iter().map(|label| label["label"].as_str());
    assert!(labels.flatten().any(|label| label == "shop.Shop/Buy"), "{}", result["labels"]);
    let trace = command(&format!("run {} --trace", file.display())).output().expect("brunt");
    let trace = String::from_utf8_lossy(&trace.stdout).into_owned();
    for shown in [r#""id":"42""#, r#""id":"41""#, "grpc 0 OK", "json $.name"] {
        assert!(trace.contains(shown), "{shown} is not in:\n{trace}");
    }
}

#[test]
fn services_and_messages_are_listed() {
    let shop = Shop::open();
    let all = list_services(&shop, "");
    let one = list_services(&shop, "shop.Shop");
    assert!(all.contains("  rpc Chat(stream shop.Item) returns (stream shop.Item);\n"), "{all}");
    assert!(
        one.starts_with(&all)
            && one.ends_with("message shop.Item {\n  string name = 1;\n  int64 id = 2;\n}\n"),
        "{one}"
    );
    let none = command(&format!("grpc {} shop.Nope", shop.url())).output().expect("brunt");
    assert_eq!((none.status.code(), none.stdout.len()), (Some(2), 0));
}

fn list_services(shop: &Shop, words: &str) -> String {
    let output = command(&format!("grpc {} {words}", shop.url())).output().expect("brunt");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_trace_shows_the_message_of_a_status() {
    let shop = Shop::open();
    let words = [
        "run",
        &shop.url(),
        "--grpc",
        "shop.Shop/Buy",
        "--json",
        r#"{"name":"missing"}"#,
        "--trace",
    ];
    let output = command("").args(words).output().expect("brunt");
    let trace = String::from_utf8_lossy(&output.stdout).into_owned();
    for shown in ["grpc 5 NOT_FOUND", "no such item: 100 % sold"] {
        assert!(trace.contains(shown), "{shown} is not in:\n{trace}");
    }
}

#[test]
fn invalid_message_intervals_are_refused() {
    let shop = Shop::open();
    for (method, interval, expected) in [
        ("shop.Shop/Buy", "10ms", "takes one message"),
        ("shop.Shop/Fill", "reply", "write a time as the message interval, such as 100ms"),
        ("shop.Shop/Chat", "soon", "write a time such as 100ms, or reply"),
        ("shop.Shop/Chat", "0s", "messages cannot be 0 s apart"),
    ] {
        let ran = call(&shop, method, "{}", &format!("--message-interval {interval} -n 1"))
            .assert_code(2);
        assert!(ran.err.contains(expected), "{method} {interval}: {}", ran.err);
    }
    for (text, expected) in [
        (
            "{grpc: shop.Shop/Sell}",
            "scenario.steps[0].grpc: shop.Shop has no method Sell; write one of Buy, Fill",
        ),
        ("{grpc: shop.Shop/Buy, json: {nme: 1}}", "is no shop.Item"),
        (
            "{grpc: shop.Shop/Buy, data: x}",
            "scenario.steps[0].data: `data` is no message of gRPC; write it as json",
        ),
        ("{grpc: shop.Shop/Buy, message_interval: 1s}", "takes one message"),
    ] {
        let err = error_of_step(&shop, text);
        assert!(err.contains(expected), "{text}: {err}");
    }
}

pub fn error_of_step(shop: &Shop, step: &str) -> String {
    let plan = shop.plan(&format!("scenario:\n  base: {}\n  steps:\n  - {step}\n", shop.url()));
    let ran = measure_words(&["run", &plan.display().to_string()]).assert_code(2);
    ran.err
}
