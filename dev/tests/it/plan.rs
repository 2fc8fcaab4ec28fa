//! Tests the commands for plan files: `new`, `check`, `show`, `set` and `schema`.

use crate::world::command;
use brunt_tests::schema::SchemaValidator;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Runs `brunt plan`. Returns standard output, standard error and exit code.
fn run_plan_command(words: &[&str], folder: &Path) -> (String, String, Option<i32>) {
    let out = command("plan").args(words).current_dir(folder).output().expect("brunt");
    (lossy_text(&out.stdout), lossy_text(&out.stderr), out.status.code())
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(plan: &str) -> TempDir {
    let folder = TempDir::new().expect("a directory");
    fs::write(folder.path().join("plan.yaml"), plan).expect("a file");
    folder
}

#[test]
fn a_new_plan_is_valid_and_not_overwritten() {
    let folder = TempDir::new().expect("a directory");
    let (text, _, code) = run_plan_command(&["new", "a.yaml"], folder.path());
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(
        run_plan_command(&["new"], folder.path()).0,
        fs::read_to_string(folder.path().join("a.yaml")).expect("it is there")
    );
    let (text, _, code) =
        run_plan_command(&["check", "a.yaml", "--set", "scale=small"], folder.path());
    let expected = "a.yaml is valid: 1 contender × 3 steps × 1 repetition = 3 trials, about 14 s\n";
    assert_eq!((text.as_str(), code), (expected, Some(0)));
    let (_, text, code) = run_plan_command(&["new", "a.yaml"], folder.path());
    assert!(code == Some(2) && text.contains("a.yaml` already exists"), "{text}");
}

#[test]
fn mistakes_are_reported_with_their_place() {
    for (plan, words, expected) in [
        (
            "script: {request: h}\nload: {raet: 5}\n",
            &[][..],
            "brunt: plan.yaml:2:8: load.raet: unknown key; write rate\n",
        ),
        (
            "script: {request: h}\nload:\n\trate: 5\n",
            &[],
            "brunt: plan.yaml:3:1: a tab precedes the text; write spaces, two per level\n",
        ),
        (
            "script: {request: h}\nload: {rate: -5}\n",
            &[],
            "plan.yaml:2:14: load.rate: `-5`: a load is not negative",
        ),
        (
            "script: {request: h}\n",
            &["--set", "load.rate=fast"],
            "--set load.rate=fast: load.rate: `fast`: not a number",
        ),
        (
            "",
            &[],
            "brunt: plan.yaml: the plan is empty; `brunt plan new` writes a plan to begin with\n",
        ),
    ] {
        let folder = folder(plan);
        let (out, text, code) =
            run_plan_command(&[&["check", "plan.yaml"][..], words].concat(), folder.path());
        assert!(
            code == Some(2) && out.is_empty() && text.contains(expected),
            "{plan}: {code:?} {text}"
        );
    }
    let (_, text, code) = run_plan_command(&["check", "none.yaml"], Path::new("/"));
    assert!(code == Some(2) && text.contains("cannot read the plan file none.yaml"), "{text}");
}

#[test]
fn a_resolved_plan_is_shown_and_can_be_read_again() {
    let plan = "ports: [http]\nscript: {request: 'http://127.0.0.1:${port.http}/'}\nload: {users: 10..40*2}\n\
                contenders: {kept: , new: {connection: {keepalive: false}}}\n";
    let folder = folder(plan);
    let (shown, _, code) = run_plan_command(&["show", "plan.yaml"], folder.path());
    assert_eq!(code, Some(0));
    assert!(
        shown.starts_with("# 2 contenders × 3 steps × 6 repetitions = 36 trials, about 6 min\n"),
        "{shown}"
    );
    let url =
        shown.lines().find_map(|line| line.trim().strip_prefix("request: ")).expect("a request");
    assert!(url.starts_with("http://127.0.0.1:") && !url.contains('$'), "{url}");
    fs::write(folder.path().join("again.yaml"), &shown).expect("a file");
    let (again, text, _) = run_plan_command(&["show", "again.yaml"], folder.path());
    assert_eq!(again, shown, "{text}");
    let (json, _, _) = run_plan_command(&["show", "--json", "again.yaml"], folder.path());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["contenders"]["new"]["connection"]["keepalive"], false);
    assert_eq!(json["repetitions"], 6);
}

#[test]
fn the_published_schema_equals_the_printed_one() {
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plan.schema.json");
    let (printed, _, _) = run_plan_command(&["schema"], Path::new("/"));
    let published = fs::read_to_string(published).expect("docs/plan.schema.json");
    assert_eq!(published, printed, "write it anew: brunt plan schema > docs/plan.schema.json");
    let validator = SchemaValidator::new(serde_json::from_str(&printed).expect("JSON"));
    let folder = folder(
        "script: {request: {url: 'http://h/', form: {a: b}}}\nload: {rate: 5}\nprobes: [host, nginx: 'http://h/s']\n",
    );
    let (json, text, _) = run_plan_command(&["show", "--json", "plan.yaml"], folder.path());
    let plan: Value = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json} {text}"));
    validator.check(&plan).unwrap_or_else(|error| panic!("{error}"));
    assert!(validator.check(&serde_json::json!({"load": {"raet": 5}})).is_err());
}

#[test]
fn one_value_of_a_file_is_changed() {
    let plan = "vars: {page: a}\nload:\n  rate: 50   # requests/s\nscenario:\n  steps:\n  - get: /     # home\n";
    let folder = folder(plan);
    let words = [
        "set",
        "plan.yaml",
        "load.rate=100",
        "page=b",
        "scenario.steps[0].name=home",
        "load.duration=5s",
    ];
    let (printed, text, code) = run_plan_command(&words, folder.path());
    let expected = "vars: {page: b}\nload:\n  rate: 100   # requests/s\n  duration: 5s\nscenario:\n  steps:\n  \
                    - get: /     # home\n    name: home\n";
    assert_eq!((printed.as_str(), text.as_str(), code), (expected, "", Some(0)));
    assert_eq!(read_plan(folder.path()), plan, "it is written with --write only");
    let (text, _, code) = run_plan_command(
        &["set", "plan.yaml", "--write", "load.rate=", "load.users=5"],
        folder.path(),
    );
    assert_eq!(
        (text.as_str(), code),
        ("plan.yaml is written: check it with `brunt plan check plan.yaml`\n", Some(0))
    );
    assert_eq!(
        read_plan(folder.path()),
        plan.replace("load:\n  rate: 50   # requests/s\n", "load: {users: 5}\n")
    );
    for (word, expected) in [
        ("load.rte=5", "load.rte=5: unknown variable or key `load.rte`; write load.rate=…"),
        ("load.rate", "load.rate: not a pair; write NAME=VALUE"),
        ("load.warmup=", "plan.yaml: load.warmup: there is no value"),
    ] {
        let (_, text, code) = run_plan_command(&["set", "plan.yaml", word], folder.path());
        assert!(text.contains(expected) && code == Some(2), "{text}");
    }
}

fn read_plan(folder: &Path) -> String {
    fs::read_to_string(folder.join("plan.yaml")).expect("the plan")
}
