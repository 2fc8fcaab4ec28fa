//! Tests gRPC with the lab, which answers as any service, and with a server by tonic (`shop`).

mod deadlines;
mod jmeter;
mod messages;
mod shop;
mod streams;

use crate::world::{command, lab, measure};
use std::fs;
use tempfile::TempDir;

const PROTO: &str = "syntax = \"proto3\"; package shop; import \"item.proto\"; \
                     service Shop { rpc Buy(Item) returns (Item); rpc Fill(stream Item) returns (Item); }";
const ITEM: &str =
    "syntax = \"proto3\"; package shop; message Item { bytes name = 1; int64 id = 2; }";

/// Creates a folder with the definition of a service.
fn shop() -> TempDir {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("shop.proto"), PROTO).expect("a file");
    fs::write(dir.path().join("item.proto"), ITEM).expect("a file");
    dir
}

#[test]
fn calls_are_counted_by_their_status() {
    let dir = shop();
    let lab = lab("--grpc --body 30 --fail 0.1:503 --seed 5");
    let proto = dir.path().join("shop.proto");
    let call = format!("--grpc shop.Shop/Buy --json {{\"id\":7}} --proto {}", proto.display());
    let ran = measure(&format!("{} {call} -c 2 --streams 8 -n 1000", lab.url_of("/")));
    let outcomes = ran.value("/outcomes");
    let [ok, unavailable] =
        ["grpc 0 OK", "grpc 14 UNAVAILABLE"].map(|status| outcomes[status].as_u64().unwrap_or(0));
    assert_eq!((ok + unavailable, ran.count("good")), (1000, ok), "{outcomes}");
    assert!((60..140).contains(&unavailable), "{outcomes}");
    ran.assert_text(&["grpc 14 UNAVAILABLE"]);
    let knows = lab.into_statistics();
    assert_eq!(
        (&knows["requests"]["received"], &knows["http2"]["first_error"]),
        (&1000.into(), &serde_json::Value::Null)
    );
}

#[test]
fn the_command_and_plan_files_make_calls() {
    let dir = shop();
    let lab = lab("--grpc");
    let proto = dir.path().join("shop.proto");
    let call =
        command(&format!("grpc {} shop.Shop/Fill --proto {} -n 20 -q", lab.url, proto.display()));
    assert!({ call }.status().expect("brunt").success());
    let plan = dir.path().join("plan.yaml");
    let text = format!(
        "script:\n  request: {{url: {}, grpc: shop.Shop/Buy, proto: shop.proto, json: {{id: 9}}}}\nload: {{users: 2, requests: 40}}\n",
        lab.url
    );
    fs::write(&plan, text).expect("a file");
    let output = command(&format!("run {}", plan.display())).output().expect("brunt");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_options_are_reported_before_the_load() {
    let dir = shop();
    let lab = lab("--grpc");
    let proto = format!("--proto {}", dir.path().join("shop.proto").display());
    for (words, expected) in [
        (
            format!("--grpc shop.Shop/Sell {proto}"),
            "shop.Shop has no method Sell; write one of Buy, Fill",
        ),
        (
            format!("--grpc shop.Nope/Buy {proto}"),
            "there is no service shop.Nope; write one of shop.Shop",
        ),
        (
            format!("--grpc shop.Shop {proto}"),
            "this is no method of gRPC; write package.Service/Method",
        ),
        (format!("--grpc shop.Shop/Buy --json {{\"price\":1}} {proto}"), "--json is no shop.Item"),
        ("--grpc shop.Shop/Buy --proto /nowhere/a.proto".to_owned(), "/nowhere/a.proto"),
        ("--grpc shop.Shop/Buy".to_owned(), "reflection"),
        (format!("--grpc shop.Shop/Buy --http 1.1 {proto}"), "gRPC needs HTTP/2"),
    ] {
        let ran = measure(&format!("{} {words} -n 2", lab.url_of("/"))).assert_code(2);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
    }
}
