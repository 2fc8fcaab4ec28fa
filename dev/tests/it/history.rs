//! Tests `brunt runs history`: which runs are comparable, its answer, and its formats.

use crate::world::{command, lab};
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Runs brunt with these words and this store.
fn brunt(store: &Path, line: &str) -> Output {
    command(line).env("BRUNT_STORE", store).output().expect("brunt")
}

/// Runs brunt, which must succeed, and returns its standard output.
fn stdout_of(store: &Path, line: &str) -> String {
    let output = brunt(store, line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn history(store: &Path, line: &str) -> Value {
    let line = format!("runs history {line} -o json");
    serde_json::from_str(&stdout_of(store, &line)).expect("JSON")
}

/// Number of runs that the history shows.
fn runs_of(history: &Value) -> usize {
    history["history"]["entries"].as_array().expect("entries").len()
}

#[test]
fn a_history_has_the_runs_of_one_plan() {
    let folder = TempDir::new().expect("a directory");
    let store = folder.path();
    let server = lab("");
    let url = server.url_of("/");
    for _ in 0..3 {
        stdout_of(store, &format!("{url} -c 2 -n 200"));
    }
    stdout_of(store, &format!("{url} -c 4 -n 200"));
    // Another timeout and an early end are other plans, though the index has no column for them.
    stdout_of(store, &format!("{url} -c 2 -n 200 --timeout 7s"));
    stdout_of(store, &format!("{url} -c 2 -n 200 --until p50±50%"));
    stdout_of(store, &format!("{url} -c 2 -n 200"));
    let latest = history(store, "--measure throughput");
    assert_eq!(runs_of(&latest), 4);
    assert_eq!(latest["series"]["other_plans"], 2);
    assert_eq!(latest["series"]["further_series"], 1);
    assert_eq!(latest["history"]["search"], "too_few_runs");
    assert!(latest["history"]["entries"][0]["figure"]["value"].as_f64() > Some(0.0));
    // A run is chosen by its id, and filters leave out others.
    let list: Value =
        serde_json::from_str(&stdout_of(store, "runs list --json")).expect("the list");
    let other = list[3]["id"].as_str().expect("an id");
    assert_eq!(runs_of(&history(store, &format!("--like {other}"))), 1);
    assert_eq!(runs_of(&history(store, "--last 2")), 2);
    let text = stdout_of(store, "runs history --measure p50");
    assert!(text.contains("Unknown whether the level changed: 4 counted runs"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_history_without_runs_is_an_error_that_says_so() {
    let folder = TempDir::new().expect("a directory");
    for (line, part) in [
        ("runs history", "no ended run without an experiment matches"),
        ("runs history --measure capacity", "no ended experiment matches"),
        ("runs history --measure p98", "service-p99"),
        ("runs history --last 0", "write 1 to 1000"),
    ] {
        let output = brunt(folder.path(), line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert!(errors.contains(part), "{line}: {errors}");
    }
}
