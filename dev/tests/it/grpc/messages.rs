//! Sends encoded messages and another authority, and shows the details of errors.

use super::shop::Shop;
use super::streams::{FOUR, call, outcomes};
use crate::world::{BruntOutput, command, lab, measure, measure_words};
use std::fs;
use tempfile::TempDir;

const WRONG: &str = r#"{"name":"wrong"}"#;
const SECRET: &str = "s3cr3t-value-99";

#[test]
fn calls_and_reflection_have_the_authority_of_the_setting() {
    let shop = Shop::open();
    call(&shop, "shop.Shop/Buy", "{}", "--authority shop.example:443 -n 3").assert_all_good();
    let plan = shop.plan(&format!(
        "connection: {{authority: shop.example:443}}
load: {{users: 1, iterations: 2}}
scenario: {{base: {}, steps: [{{grpc: shop.Shop/Buy}}]}}
",
        shop.url()
    ));
    assert!(command(&format!("run {} -q", plan.display())).status().expect("brunt").success());
    let authorities = shop.counts.authorities.lock().expect("a lock").clone();
    assert_eq!(authorities.into_iter().collect::<Vec<_>>(), ["shop.example:443"]);
    assert_eq!(shop.counts.calls(), 5);
}

#[test]
fn the_server_name_of_tls_follows_the_authority() {
    let dir = super::shop();
    let certificate = dir.path().join("lab.pem");
    let lab = lab(&format!("--grpc --tls --tls-cert-out {}", certificate.display()));
    let options = format!(
        "{} --cacert {} --grpc shop.Shop/Buy --proto {} -n 2",
        lab.url_of("/"),
        certificate.display(),
        dir.path().join("shop.proto").display()
    );
    for options in [
        format!("{options} --authority localhost:443"),
        format!("{options} --authority shop.example --sni localhost"),
    ] {
        measure(&options).assert_all_good();
    }
    let refused = measure(&format!("{options} --authority shop.example"));
    assert!(refused.err.contains("shop.example"), "{}", refused.err);
    for (options, expected) in [
        (format!("{options} --authority http://x"), "write shop.example or shop.example:443"),
        (format!("{options} --authority x -H Host:y"), "both set the header Host"),
        (format!("{} --authority x -n 1", lab.url_of("/")), "is for calls of gRPC; add --grpc"),
    ] {
        let ran = measure(&options).assert_code(2);
        assert!(ran.err.contains(expected), "{options}: {}", ran.err);
    }
}

#[test]
fn details_of_errors_are_shown_without_secrets() {
    let shop = Shop::open();
    let words = ["run", &shop.url(), "--grpc", "shop.Shop/Buy", "--json", WRONG, "--trace"];
    let output = command("").args(words).output().expect("brunt");
    let trace = String::from_utf8_lossy(&output.stdout).into_owned();
    for shown in [
        r#"detail     {"@type":"google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"must not be `wrong`"}]}"#,
        r#""metadata":{"token":"redacted:"#,
        r#""reason":"WRONG_NAME""#,
        "characters of base64",
        "FAILED: status grpc 3 INVALID_ARGUMENT",
    ] {
        assert!(trace.contains(shown), "{shown} is not in:\n{trace}");
    }
    assert!(!trace.contains(SECRET), "{trace}");
    for options in ["-n 20 -c 2", "-n 20 --expect-status OK"] {
        let ran = call(&shop, "shop.Shop/Buy", WRONG, options);
        assert_eq!(outcomes(&ran, "grpc 3 INVALID_ARGUMENT"), 20, "{options}");
        let all = format!("{}{}{}", ran.out, ran.err, ran.json);
        assert!(all.contains("the name is wrong") && all.contains("fieldViolations"), "{all}");
        assert!(!all.contains(SECRET), "{options}: {all}");
    }
    let expected = call(&shop, "shop.Shop/Buy", WRONG, "-n 5 --expect-status INVALID_ARGUMENT");
    assert!(!format!("{}{}", expected.out, expected.err).contains("the name is wrong"));
}

#[test]
fn encoded_messages_are_sent_as_they_are() {
    let shop = Shop::open();
    let dir = TempDir::new().expect("a directory");
    let item = dir.path().join("item.bin");
    let items = dir.path().join("items.bin");
    fs::write(&item, b"\x0a\x07missing").expect("a file");
    fs::write(&items, b"\x03\x0a\x01a\0\x03\x0a\x01b").expect("a file");
    let url = shop.url();
    let measured = |method: &str, file: &str, options: &[&str]| {
        let words = ["run", &url, "--grpc", method, "--binary-file", file];
        measure_words(&[&words[..], options].concat())
    };
    let item = item.display().to_string();
    let items = items.display().to_string();
    let ran = measured("shop.Shop/Buy", &item, &["-n", "5"]);
    assert_eq!(outcomes(&ran, "grpc 5 NOT_FOUND"), 5, "{}", ran.out);
    measured("shop.Shop/Fill", &items, &["-n", "4"]).assert_all_good();
    measured("shop.Shop/Chat", &items, &["-n", "2", "--message-interval", "reply"])
        .assert_all_good();
    assert_eq!(shop.counts.messages(), 5 + 4 * 3 + 2 * 3);
    fs::copy(&items, shop.plan("").with_file_name("items.bin")).expect("a copy");
    let plan = shop.plan(&format!(
        "load: {{users: 1, iterations: 2}}
scenario: {{base: {url}, steps: [{{grpc: shop.Shop/Fill, binary_file: items.bin, check: {{json: {{$.id: \"3\"}}}}}}]}}
"
    ));
    assert!(command(&format!("run {} -q", plan.display())).status().expect("brunt").success());
    assert_eq!(shop.counts.messages(), 5 + 4 * 3 + 2 * 3 + 2 * 3);
    for (method, file, options, expected) in [
        ("shop.Shop/Buy", &items, &["-n", "1"][..], "the binary message is no shop.Item"),
        ("shop.Shop/Fill", &item, &["-n", "1"], "after its length as a varint"),
        ("shop.Shop/Buy", &"/nowhere".to_owned(), &["-n", "1"], "cannot read /nowhere"),
        ("shop.Shop/Buy", &item, &["-n", "1", "--json", "{}"], "--json"),
    ] {
        let ran = measured(method, file, options).assert_code(2);
        assert!(ran.err.contains(expected), "{method} {file}: {}", ran.err);
    }
    let err = super::streams::error_of_step(
        &shop,
        "{grpc: shop.Shop/Buy, json: {}, binary_file: items.bin}",
    );
    assert!(err.contains("`json` is the message already; write one of them"), "{err}");
    let ran = measure(&format!("{url} --binary-file {item} -n 1")).assert_code(2);
    assert!(ran.err.contains("--binary-file is for calls of gRPC"), "{}", ran.err);
}

#[test]
fn streams_have_a_number_of_messages_and_a_duration() {
    let shop = Shop::open();
    let ran = call(&shop, "shop.Shop/Fill", FOUR, "--message-count 6 -n 3").assert_all_good();
    assert_eq!(counted(&ran), (18, 3));
    ran.assert_text(&["18 gRPC messages sent and 3 received"]);
    let every = "--message-interval 20ms --stream-duration 200ms -c 2 -n 4";
    let timed = call(&shop, "shop.Shop/Fill", FOUR, every).assert_all_good();
    let paced = "--message-interval reply --stream-duration 150ms -n 3";
    let paced = call(&shop, "shop.Shop/Chat", FOUR, paced).assert_all_good();
    for (ran, calls, most) in [(&timed, 4, 10), (&paced, 3, 8)] {
        let (sent, received) = counted(ran);
        assert!((2 * calls..=most * calls).contains(&sent), "{sent} {received}: {}", ran.out);
        assert!(ran.figure("/response_time_seconds/min") >= 0.149, "{}", ran.out);
    }
    assert_eq!(counted(&timed).1, 4);
    assert_eq!(shop.counts.messages(), 18 + counted(&timed).0 + counted(&paced).0);
    let endless = r#"{"name":"stall","id":2}"#;
    let ended = call(&shop, "shop.Shop/List", endless, "--stream-duration 200ms -c 2 -n 4");
    let ended = ended.assert_all_good();
    assert_eq!((outcomes(&ended, "grpc 0 OK"), counted(&ended)), (4, (4, 8)), "{}", ended.out);
    let two = call(&shop, "shop.Shop/List", endless, "--reply-events messages,2 -n 4");
    assert_eq!((outcomes(&two, "grpc 0 OK"), two.count("good")), (4, 4), "{}", two.out);
    let times = ["min", "max"].map(|key| ended.figure(&format!("/response_time_seconds/{key}")));
    assert!(times[0] >= 0.199 && times[1] < 1.9, "{times:?}");
}

/// Numbers of messages that were sent and received.
fn counted(ran: &BruntOutput) -> (u64, u64) {
    (ran.connections("grpc_messages_sent"), ran.connections("grpc_messages_received"))
}

#[test]
fn steps_have_the_settings_of_streams() {
    let shop = Shop::open();
    let plan = shop.plan(&format!(
        "load: {{users: 1, iterations: 2}}
scenario:
  base: {}
  steps:
  - {{grpc: shop.Shop/Fill, json: [{{}}, {{}}], message_count: 5, check: {{json: {{$.id: \"5\"}}}}}}
  - {{grpc: shop.Shop/List, json: {{name: stall, id: 1}}, stream_duration: 100ms}}
",
        shop.url()
    ));
    assert!(command(&format!("run {} -q", plan.display())).status().expect("brunt").success());
    assert_eq!(shop.counts.messages(), 2 * (5 + 1));
}

#[test]
fn invalid_settings_of_streams_are_refused() {
    let shop = Shop::open();
    for (method, options, expected) in [
        ("shop.Shop/Buy", "--message-count 3", "--reply-events messages,N"),
        ("shop.Shop/Buy", "--stream-duration 1s", "is no stream"),
        ("shop.Shop/Fill", "--stream-duration 1s", "needs a message interval"),
        ("shop.Shop/Fill", "--stream-duration 0s", "a stream cannot last 0 s"),
        ("shop.Shop/Fill", "--message-count 0", "write a number such as 100"),
    ] {
        let ran = call(&shop, method, "{}", &format!("{options} -n 1")).assert_code(2);
        assert!(ran.err.contains(expected), "{method} {options}: {}", ran.err);
    }
    for option in ["--message-count 3", "--stream-duration 1s", "--message-interval 1s"] {
        let ran = measure(&format!("{} {option} -n 1", shop.url())).assert_code(2);
        assert!(ran.err.contains("is for calls of gRPC; add --grpc"), "{option}: {}", ran.err);
    }
}
