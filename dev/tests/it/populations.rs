//! Runs several populations at once, and compares them with the counts of the server.

use crate::world::brunt::run_stored_plan;
use crate::world::{lab, nginx};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const PLAN: &str = "
name: shop
script: {base: 'http://127.0.0.1:PORT'}
load: {duration: 1s}
repetitions: 1
populations:
  checkout: {script: {request: {url: /page.txt, method: POST}}, load: {rate: 40, arrivals: even}, checks: {status: [405]}}
  browsing: {script: {requests: [{url: /, weight: 2}, /page.txt]}, load: {users: 5, think: 20ms}}
";

/// A plan whose second population has its own connection settings.
const TWO_VERSIONS: &str = "
name: versions
script: {base: 'http://127.0.0.1:PORT'}
load: {requests: 400}
repetitions: 1
populations:
  site: {script: {request: /site}, load: {users: 3}}
  api: {script: {request: /api}, load: {users: 2}, connection: {http: 2, streams: 4}}
";

/// Runs a plan, and returns the stored report.
fn run_plan(plan: &str, port: u16, dir: &Path) -> Value {
    fs::write(dir.join("plan.yaml"), plan.replace("PORT", &port.to_string())).expect("a plan");
    run_stored_plan(dir)
}

fn completed(result: &Value) -> u64 {
    result["requests"]["completed"].as_u64().expect("a number")
}

#[test]
fn each_population_is_counted_as_the_server_counts_it() {
    let test = "populations::each_population_is_counted_as_the_server_counts_it";
    let Some(nginx) = nginx(test, "") else { return };
    let dir = TempDir::new().expect("a directory");
    let result = run_plan(PLAN, nginx.port, dir.path());
    let log = nginx.log();
    let populations = result["populations"].as_array().expect("populations");
    let named: Vec<(&str, u64)> = populations
        .iter()
        .map(|one| (one["label"].as_str().expect("a name"), completed(one)))
        .collect();
    assert_eq!(
        named,
        [
            ("checkout", requests_with_method(&log, "POST")),
            ("browsing", requests_with_method(&log, "GET"))
        ]
    );
    assert_eq!(named[0].1, 40);
    assert_eq!(completed(&result), named[0].1 + named[1].1);
    // Each population has its own checks: one expects 405, the other has no checks.
    assert_eq!(populations[0]["errors"], 0);
    assert_eq!(populations[1]["outcomes"], serde_json::json!({"200": named[1].1}));
    let uneven =
        result["checks"].as_array().expect("checks").iter().filter(|check| check["holds"] == false);
    assert_eq!(uneven.collect::<Vec<_>>(), Vec::<&Value>::new());
    // At least six connections: those of five users, and one for the arrivals.
    let connections = result["connections"]["opened"].as_u64().expect("a number");
    assert!((6..=45).contains(&connections), "{connections}");
    let share = completed(&result["labels"][1]) as f64 / named[1].1 as f64;
    assert!((0.6..0.74).contains(&share), "{share}");
}

fn requests_with_method(log: &[crate::world::log::LogLine], method: &str) -> u64 {
    log.iter().filter(|line| line.request().starts_with(method)).count() as u64
}

#[test]
fn populations_may_have_separate_connection_settings() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let result = run_plan(TWO_VERSIONS, lab.port(), dir.path());
    let named: Vec<u64> =
        result["populations"].as_array().expect("populations").iter().map(completed).collect();
    assert_eq!((named, completed(&result)), (vec![400, 400], 800));
    let knows = lab.into_statistics();
    assert_eq!(
        (&knows["requests"]["received"], &knows["connections"]["peak"]),
        (&800.into(), &5.into()),
        "{knows}"
    );
    assert_eq!(knows["http2"]["connections"], 2, "{knows}");
    let uneven =
        result["checks"].as_array().expect("checks").iter().filter(|check| check["holds"] == false);
    assert_eq!(uneven.collect::<Vec<_>>(), Vec::<&Value>::new());
}
