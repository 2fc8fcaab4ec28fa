//! Tests digests of long logs, and `brunt runs prune`.

use crate::world::{command, lab};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
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

/// Ids of all runs and experiments without one, the oldest first.
fn ids(store: &Path) -> Vec<String> {
    let list: Value =
        serde_json::from_str(&stdout_of(store, "runs list --json")).expect("the list");
    let entries = list.as_array().expect("entries").iter();
    entries.map(|entry| entry["id"].as_str().expect("an id").to_owned()).collect()
}

fn file(store: &Path, id: &str, kind: &str) -> PathBuf {
    store.join("runs").join(format!("{id}.{kind}"))
}

/// Stores a run with a log of more than 1 MiB: many intervals, each with many labels.
fn long_run(store: &Path) {
    let server = lab("");
    let urls: Vec<String> = (0..100).map(|n| server.url_of(&format!("/?n={n}"))).collect();
    let list = store.join("urls");
    fs::write(&list, urls.join("\n")).expect("a list");
    let line = format!("--urls {} -c 4 -d 4s --interval 10ms -q", list.display());
    assert_eq!(brunt(store, &line).status.code(), Some(0));
}

/// The report of a run as JSON.
fn report(store: &Path, id: &str) -> Value {
    serde_json::from_str(&stdout_of(store, &format!("report {id} -o json"))).expect("JSON")
}

#[test]
fn the_digest_of_a_run_gives_the_report_of_its_log() {
    let folder = TempDir::new().expect("a directory");
    let store = folder.path();
    long_run(store);
    let [id] = &ids(store)[..] else { panic!("one run is stored") };
    let digest = file(store, id, "digest");
    assert!(digest.exists(), "{} bytes", file(store, id, "events").metadata().unwrap().len());
    let with_digest = report(store, id);
    // Without a store, the report is made from the log.
    let log = file(store, id, "events");
    let line = format!("report {} --no-store -o json", log.display());
    let of_log: Value = serde_json::from_str(&stdout_of(store, &line)).expect("JSON");
    assert_eq!(with_digest["samples"], of_log["samples"]);
    assert!(with_digest == of_log, "{with_digest}\n{of_log}");
    fs::remove_file(&digest).expect("a digest");
    assert!(report(store, id) == with_digest);
    assert!(digest.exists());
}

#[test]
fn a_pruned_log_leaves_the_report() {
    let folder = TempDir::new().expect("a directory");
    let store = folder.path();
    long_run(store);
    let [id] = &ids(store)[..] else { panic!("one run is stored") };
    let before = report(store, id);
    let line = "runs prune --logs-older-than 1ms";
    let plan = stdout_of(store, line);
    let words: Vec<&str> = plan.split_whitespace().collect();
    assert!(plan.contains("remove log") && words.contains(&&**id), "{plan}");
    assert!(plan.contains("would free") && plan.contains("--yes"), "{plan}");
    assert!(file(store, id, "events").exists());
    let done = stdout_of(store, &format!("{line} --yes"));
    assert!(done.contains("remove log") && done.contains("freed"), "{done}");
    assert!(!file(store, id, "events").exists());
    assert!(report(store, id) == before);
    assert!(stdout_of(store, line).contains("nothing to remove"));
    let copy = store.join("copy.brunt");
    stdout_of(store, &format!("runs export {id} {}", copy.display()));
    let other = TempDir::new().expect("a directory");
    assert_eq!(stdout_of(other.path(), &format!("runs import {}", copy.display())).trim(), id);
    assert!(report(other.path(), id) == before);
}

#[test]
fn items_are_pruned_by_age_and_size_but_not_baselines() {
    let folder = TempDir::new().expect("a directory");
    let store = folder.path();
    let server = lab("");
    for _ in 0..3 {
        let line = format!("{} -n 20 -q", server.url_of("/"));
        assert_eq!(brunt(store, &line).status.code(), Some(0));
    }
    let all = ids(store);
    stdout_of(store, &format!("baseline save main {}", all[0]));
    let nothing = stdout_of(store, "runs prune --older-than 1d --max-size 1G --yes");
    assert!(nothing.contains("freed 0 B"), "{nothing}");
    let sizes: Vec<u64> =
        all.iter().map(|id| file(store, id, "events").metadata().expect("a log").len()).collect();
    // The first is the baseline, so the second is the oldest that can go.
    let enough = sizes[0] + sizes[2];
    let by_size = stdout_of(store, &format!("runs prune --max-size {enough} --yes"));
    assert!(by_size.contains("remove run") && by_size.contains(&all[1]), "{by_size}");
    assert_eq!(ids(store), [all[0].clone(), all[2].clone()]);
    let by_age = stdout_of(store, "runs prune --older-than 1ms --yes");
    assert!(by_age.contains("keep") && by_age.contains("baseline `main`"), "{by_age}");
    assert_eq!(ids(store), [all[0].clone()]);
    let too_large = stdout_of(store, "runs prune --max-size 1");
    assert!(too_large.contains("the store stays larger than 1 B"), "{too_large}");
    let missing = brunt(store, "runs prune");
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("write --logs-older-than 30d"));
}
