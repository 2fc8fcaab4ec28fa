//! Sends encoded messages and another authority, and shows the details of errors.

use super::shop::Shop;
use super::streams::{call, outcomes};
use crate::world::{command, lab, measure, measure_words};
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
        r#"detail     {"@type":"google.rpc.BadRequest","fieldViolations":[{"description":"must not be `wrong`","field":"name"}]}"#,
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
