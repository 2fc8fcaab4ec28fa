//! Tests connections that migrate to another local port, as the server sees them.

use crate::world::brunt::run_stored_plan;
use crate::world::certs::Authority;
use crate::world::quic::{QuicRule, QuicServer, ScriptedResponse};
use crate::world::{lab, measure};
use tempfile::TempDir;

/// A head with status 200.
const OK: &[u8] = &[1, 3, 0, 0, 0xd9];

fn server(rule: &QuicRule) -> (QuicServer, String) {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let server =
        QuicServer::start_with_rule(&certificate, rule, |_| ScriptedResponse::Reply(OK.to_vec()));
    let url = format!("https://127.0.0.1:{}/", server.port);
    (server, url)
}

#[test]
fn a_step_migrates_the_connection_to_another_port() {
    let (server, url) = server(&QuicRule::Default);
    let dir = TempDir::new().expect("a directory");
    let plan = format!(
        "load: {{users: 1, iterations: 10}}\nrepetitions: 1\nconnection: {{http: 3, insecure: true}}\nscenario:\n  steps:\n  \
         - get: {url}\n    name: before\n  - migrate: {url}\n    name: migrate\n  - get: {url}\n    name: after\n"
    );
    std::fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let run = run_stored_plan(dir.path());
    let labels = run["labels"].as_array().expect("labels");
    let named = |label: &serde_json::Value| {
        (label["label"].as_str().map(str::to_owned), label["requests"]["good"].as_u64())
    };
    let expected = ["before", "migrate", "after"].map(|name| (Some(name.to_owned()), Some(10)));
    assert_eq!(labels.iter().map(named).collect::<Vec<_>>(), expected, "{run}");
    assert_eq!(run["outcomes"], serde_json::json!({"200": 20, "101": 10}));
    assert_eq!(
        (&run["connections"]["opened"], server.requests(), server.connections()),
        (&1.into(), 20, 1)
    );
    // Each migration uses another port; the system may reuse one that was closed meanwhile.
    assert!((9..=11).contains(&server.addresses()), "{} ports", server.addresses());
}

/// The first migration of each connection begins with it: it waits until the server confirms the
/// handshake.
#[test]
fn many_connections_migrate_under_load() {
    let lab = lab("--tls --http3");
    let ran =
        measure(&format!("{} --http 3 -k -c 40 --streams 2 -n 400 -X MIGRATE", lab.url_of("/")))
            .assert_all_good();
    assert_eq!((ran.status(101), ran.connections("opened")), (400, 40));
    assert!(ran.figure("/service_time_seconds/p50") > 0.0);
    let knows = lab.into_statistics();
    assert_eq!(
        (&knows["requests"]["received"], &knows["http3"]["connections"]),
        (&0.into(), &40.into()),
        "{knows}"
    );
}

#[test]
fn a_server_that_forbids_migration_is_reported() {
    let (server, url) = server(&QuicRule::NoMigration);
    let ran = measure(&format!("{url} --http 3 -k -c 1 -n 3 -X MIGRATE"));
    assert_eq!(
        (ran.failed("protocol"), ran.number("/malformed/quic_migration")),
        (3, 3),
        "{}",
        ran.out
    );
    ran.assert_text(&["the server forbids connection migration"]);
    assert_eq!(server.addresses(), 1);
    let ran = measure("https://127.0.0.1:1/ -X MIGRATE -n 1").assert_code(2);
    assert!(ran.err.contains("write --http 3"), "{}", ran.err);
}
