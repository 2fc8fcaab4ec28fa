//! Executes the commands of remedies as a user would: pasted, or added to the command line of the
//! run.
//!
//! Each situation causes findings. A command is stopped after half a second: this test checks only
//! that brunt accepts it.

use crate::world::brunt::program;
use crate::world::{Lab, lab, wait_a_moment};
use brunt_model::Failure;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Exit code of an invalid command line.
const USAGE_ERROR: i32 = 2;
/// Time after which a command is interrupted.
const HALF_A_SECOND: Duration = Duration::from_millis(500);
/// Time after which the test gives up on a command.
const LONGEST: Duration = Duration::from_secs(40);

/// A command line and the server that it measures.
struct Situation {
    /// Options of the lab.
    server: &'static str,
    /// The command line, with `URL` in place of the lab's URL.
    line: &'static str,
    /// True if Ctrl-C ends it after half a second.
    is_interrupted: bool,
}

const fn ended(server: &'static str, line: &'static str) -> Situation {
    Situation { server, line, is_interrupted: false }
}

const fn interrupted(server: &'static str, line: &'static str) -> Situation {
    Situation { server, line, is_interrupted: true }
}

const SITUATIONS: [Situation; 35] = [
    ended("", "brunt URL -d 300ms"),
    ended("", "brunt URL -d300ms -c5"),
    ended("", "brunt URL -n 20"),
    ended("", "brunt URL --requests=20 --connections=2"),
    ended("", "brunt 'URL?a b=$c' -d 300ms -H 'x: it'\"'\"'s'"),
    ended("", "brunt URL -d 300ms -H 'Authorization: Bearer hidden'"),
    ended("", "brunt URL -d 300ms --user name:hidden"),
    ended("--service const:20ms", "brunt URL -c 20 --think 100ms -d 1s"),
    ended("--service const:20ms --workers 1", "brunt URL -r 400 -d 1s --grace 500ms"),
    ended("--service const:20ms --workers 1", "brunt URL -r 400 -c 4 -d 1s --grace 500ms"),
    ended("--service const:20ms --workers 1", "brunt URL --rate 0..400/1s,400/1s --grace 500ms"),
    ended("--service const:200ms", "brunt URL -c 4 --timeout 50ms -d 1s"),
    ended("--status 503", "brunt URL -d 300ms"),
    ended("--fail 30%:reset --fail 30%:close-early --fail 20%:garbage", "brunt URL -r 200 -d 1s"),
    ended("--keepalive-requests 3", "brunt URL -c 4 -d 500ms"),
    ended("--stall 200ms/1s", "brunt URL -r 300 -d 2s"),
    ended("--service exp:5ms", "brunt URL -c 4 -d 1s --until 'p99±1%' --max-duration 1s"),
    interrupted("", "brunt URL -d 9s -q"),
    interrupted("", "brunt URL -r 50 --warmup 9s -d 9s"),
    ended("", "brunt run plan.yaml"),
    ended("", "brunt run plan.yaml --set load.duration=200ms"),
    ended(
        "--service const:20ms --workers 1",
        "brunt run plan.yaml --set load.users=null --set load.rate=400",
    ),
    ended("--service const:5ms", "brunt run experiment.yaml"),
    ended("--service const:20ms", "brunt sweep URL -c '[1,4,16]' -d 300ms --repeat 2"),
    ended("--service const:20ms --workers 1", "brunt sweep URL -r 10..90+40 -d 300ms --repeat=1"),
    interrupted("", "brunt sweep URL -r 10..90+40 -d 2s"),
    ended(
        "--service const:20ms",
        "brunt find URL --objective 'p99 < 50ms' --start-load 200 --max-load 400 --trial-duration 1s --warmup 100ms --cooldown 0s --time-budget 8s",
    ),
    ended("", "brunt compare a=URL b=URL -c 2 -d 300ms --repeat 2"),
    interrupted("", "brunt compare a=URL b=URL -r 20 -d 2s --repeat 3"),
    ended("", "brunt run stages.yaml"),
    ended("", "brunt run goals.yaml"),
    ended("--service const:20ms", "brunt run search.yaml"),
    ended(
        "--service const:20ms --workers 1",
        "brunt find -c 2 URL --objective 'p99 < 50ms' --trial-duration 1s --warmup 100ms --cooldown 0s --time-budget 5s",
    ),
    ended("", "brunt run plan.jmx"),
    ended("", "brunt siege -c 2 -r 10 URL"),
];

/// Plans of the situations.
const PLANS: [(&str, &str); 5] = [
    (
        "plan.yaml",
        "scenario:\n  steps:\n  - {get: 'URL', name: start}\n  - {get: 'URL', name: cart}\n\
         load: {users: 3, duration: 400ms}\n",
    ),
    (
        "experiment.yaml",
        "script: {request: 'URL'}\nload: {rate: '[20, 40]', duration: 300ms}\nrepetitions: 2\n",
    ),
    ("stages.yaml", "script: {request: 'URL'}\nload: {rate: '0..40/500ms,40/200ms'}\n"),
    (
        "goals.yaml",
        "script: {request: 'URL'}\nload: {users: 2, duration: 300ms, max_duration: 500ms, until: [p99±1%]}\n",
    ),
    (
        "search.yaml",
        "script: {request: 'URL'}\nload: {warmup: 100ms}\nobjectives: [p99 < 50ms]\n\
         find: {trial_duration: 1s, max_load: 400, start_load: 200, time_budget: 8s, between: 0s}\n",
    ),
];

impl Situation {
    /// Runs the situation, and returns all texts of its JSON report.
    fn texts(&self, url: &str, folder: &TempDir) -> Vec<String> {
        let report = folder.path().join("report.json");
        let output = if self.line.starts_with("brunt siege") {
            "--brunt-json report.json"
        } else {
            "-o json=report.json"
        };
        let output = shell(
            &format!("{} {output}", self.line.replace("URL", url)),
            folder,
            self.is_interrupted,
        );
        let json = fs::read(&report)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.line, stderr(&output)));
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        let mut texts = Vec::new();
        collect_texts(&json, &mut texts);
        texts
    }
}

fn collect_texts(json: &Value, texts: &mut Vec<String>) {
    match json {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Executes a command line of brunt with a shell in a folder. Ends it after half a second on
/// request.
fn shell(line: &str, folder: &TempDir, is_interrupted: bool) -> Output {
    let brunt = program("BRUNT_BIN", "brunt");
    let rest = line.strip_prefix("brunt").unwrap_or_else(|| panic!("no command of brunt: {line}"));
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec '{}'{rest}", brunt.display())).current_dir(folder.path());
    command.env("BRUNT_STORE", folder.path().join("store"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a shell");
    if is_interrupted && !has_ended_within(&mut child, HALF_A_SECOND) {
        interrupt(&child);
    }
    if !has_ended_within(&mut child, LONGEST) {
        interrupt(&child);
        interrupt(&child);
        panic!("`{line}` does not end");
    }
    child.wait_with_output().expect("its output")
}

fn has_ended_within(child: &mut Child, longest: Duration) -> bool {
    let looks = longest.as_millis() / 10;
    (0..looks).any(|_| child.try_wait().expect("its state").is_some() || wait_a_moment())
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("a signal");
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Creates a folder with the plans of the situations for this server.
fn folder(lab: &Lab) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let url = lab.url_of("/");
    for (name, plan) in PLANS {
        fs::write(folder.path().join(name), plan.replace("URL", &url)).expect("a plan");
    }
    let exported = shell("brunt export jmx plan.yaml -o plan.jmx", &folder, false);
    assert!(exported.status.success(), "{}", stderr(&exported));
    folder
}

/// Options, such as `--timeout`, that a text names outside commands.
fn options_in(text: &str) -> BTreeSet<String> {
    let option = Regex::new(r"(?:^|[\s(`])(--[a-z][a-z-]*[a-z])").expect("an expression");
    option.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// All options that the help of brunt names.
fn options_of_brunt() -> BTreeSet<String> {
    let folder = TempDir::new().expect("a folder");
    let help = |command: &str| {
        String::from_utf8_lossy(&shell(&format!("brunt {command} --help"), &folder, false).stdout)
            .into_owned()
    };
    ["run", "grpc", "sweep", "find", "compare"]
        .iter()
        .flat_map(|command| options_in(&help(command)))
        .collect()
}

#[test]
fn every_command_that_a_remedy_names_is_accepted() {
    let in_backticks = Regex::new("`((?:brunt |-)[^`]*)`").expect("an expression");
    let mut executed = BTreeSet::new();
    let mut faults = Vec::new();
    let known_options = options_of_brunt();
    for situation in SITUATIONS {
        let lab = lab(situation.server);
        let url = lab.url_of("/");
        let folder = folder(&lab);
        for text in situation.texts(&url, &folder) {
            // A text with a URL is a command line, which is executed.
            let named = if text.contains("http://") { BTreeSet::new() } else { options_in(&text) };
            let unknown = named.into_iter().filter(|option| !known_options.contains(option));
            faults.extend(unknown.map(|option| format!("{text}\n  brunt has no {option}")));
            for found in in_backticks.captures_iter(&text) {
                let line = match &found[1] {
                    option if option.starts_with('-') => {
                        format!("{} {option}", situation.line.replace("URL", &url))
                    }
                    line => line.to_owned(),
                };
                if !executed.insert(line.clone()) {
                    continue;
                }
                let output = shell(&line, &folder, true);
                if output.status.code() == Some(USAGE_ERROR) {
                    faults.push(format!("{text}\n  {line}\n  {}", stderr(&output).trim()));
                }
            }
        }
    }
    assert!(executed.len() >= 20, "only {} commands: {executed:#?}", executed.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_option_that_a_remedy_of_a_failure_names_exists() {
    let known_options = options_of_brunt();
    for row in Failure::all().map(Failure::row) {
        let unknown: Vec<String> =
            options_in(&row.remedy).difference(&known_options).cloned().collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", row.key);
    }
}
