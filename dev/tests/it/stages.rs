//! Tests `setup` and `teardown` of plan files: how often, in which order and with which variables
//! they run, and the effect of their failures.

use crate::world::brunt::{RunningBrunt, start_plain};
use crate::world::odd::{page, serve_connections};
use crate::world::{ScriptedServer, command, lab, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Starts a server that creates sessions, and refuses requests without one. `/slow` answers late,
/// and `/broken` always fails.
fn server() -> ScriptedServer {
    let sessions = AtomicU64::new(0);
    serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let line = request.lines().next().unwrap_or_default();
            let reply = if line.starts_with("POST /session") {
                let session = sessions.fetch_add(1, Ordering::Relaxed) + 1;
                page(&json!({"token": format!("t{session}")}).to_string())
            } else if line.contains("/slow") {
                sleep(Duration::from_secs(20));
                page("late")
            } else if line.contains("/broken") || !request.contains("Bearer t") {
                "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_owned()
            } else {
                page("good")
            };
            if !client.write(reply) {
                break;
            }
        }
    })
}

const PLAN: &str = r#"
load: {users: 6, iterations: 5, threads: 2}
repetitions: 1
setup:
- post: /session
  extract: {token: $.token}
scenario:
  base: http://ADDRESS
  steps:
  - get: /item
    bearer: "${token}"
teardown:
- delete: /session
  bearer: "${token}"
"#;

/// A plan, and the directory of its outputs.
struct Plan(TempDir);

impl Plan {
    fn new(text: &str, server: &ScriptedServer) -> Self {
        let dir = TempDir::new().expect("a directory");
        fs::write(
            dir.path().join("plan.yaml"),
            text.replace("ADDRESS", &server.address.to_string()),
        )
        .expect("a plan");
        Self(dir)
    }

    fn line(&self, options: &str) -> String {
        let dir = self.0.path().display();
        format!("run {dir}/plan.yaml -o text -o json={dir}/json {options}")
    }

    fn run(&self, code: i32) -> (String, String) {
        let Output { status, stdout, stderr } = command(&self.line("")).output().expect("brunt");
        let [out, err] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert_eq!(status.code(), Some(code), "{err}");
        (out, err)
    }

    fn start(&self) -> RunningBrunt {
        start_plain(&mut command(&self.line("")))
    }

    fn study(&self) -> Value {
        let text = fs::read_to_string(self.0.path().join("json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Number of replies in the figures of all trials.
    fn replies(&self) -> u64 {
        let study = self.study();
        let trials = study["trials"].as_array().cloned().unwrap_or_default();
        trials
            .iter()
            .map(|trial: &Value| trial["requests"]["completed"].as_u64().expect("replies"))
            .sum()
    }
}

/// Requests of a server as method, path and token. Consecutive equal requests are counted together.
fn request_log(server: &ScriptedServer) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = Vec::new();
    for request in server.requests() {
        let line = request.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1");
        let token = request
            .lines()
            .find_map(|line| line.strip_prefix("Authorization: Bearer "))
            .unwrap_or_default();
        let text = format!("{line} {token}").trim_end().to_owned();
        match all.last_mut() {
            Some((last, number)) if *last == text => *number += 1,
            _ => all.push((text, 1)),
        }
    }
    all
}

fn counts<const N: usize>(all: [(&str, u64); N]) -> Vec<(String, u64)> {
    all.map(|(text, number)| (text.to_owned(), number)).into()
}

#[test]
fn setup_runs_before_each_trial_and_teardown_after_it() {
    let server = server();
    let plan = Plan::new(&PLAN.replace("repetitions: 1", "repetitions: 2"), &server);
    plan.run(0);
    let expected = [
        ("POST /session", 1),
        ("GET /item t1", 30),
        ("DELETE /session t1", 1),
        ("POST /session", 1),
        ("GET /item t2", 30),
        ("DELETE /session t2", 1),
    ];
    assert_eq!(request_log(&server), counts(expected));
    assert_eq!(plan.replies(), 60);
    let written = fs::read_to_string(plan.0.path().join("json")).expect("a study");
    assert!(
        !written.contains("\"t1\"") && !written.contains("\"t2\""),
        "tokens are secrets: {written}"
    );
}

#[test]
fn processes_share_one_setup() {
    let server = server();
    let plan = Plan::new(&PLAN.replace("threads: 2", "processes: 2"), &server);
    plan.run(0);
    assert_eq!(
        request_log(&server),
        counts([("POST /session", 1), ("GET /item t1", 30), ("DELETE /session t1", 1)])
    );
}

#[test]
fn figures_exclude_setup_and_teardown() {
    let lab = lab("");
    let plan =
        PLAN.replace("extract: {token: $.token}", "extract: {token: {header: Server, default: t}}");
    let dir = TempDir::new().expect("a directory");
    let address = lab.url.trim_start_matches("http://");
    fs::write(dir.path().join("plan.yaml"), plan.replace("ADDRESS", address)).expect("a plan");
    let line = format!("run {0}/plan.yaml -q -o json={0}/json", dir.path().display());
    assert!(command(&line).status().expect("brunt").success());
    let study: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("json")).expect("a study"))
            .expect("JSON");
    assert_eq!(study["trials"][0]["requests"]["completed"], 30);
    // One more connection tested whether the server listens, and sent no request.
    assert_eq!(lab.into_statistics()["requests"]["received"], 32);
}

#[test]
fn a_step_of_setup_that_fails_stops_before_the_load() {
    for (step, why) in [
        ("- get: /broken", "`/broken`: 403 Forbidden"),
        (
            "- post: /session\n  check: {contains: welcome}",
            "Test failed: text expected to contain /welcome/",
        ),
        ("- get: http://127.0.0.1:1/", "Connection refused"),
        ("- post: /session\n- stop: run", "one of its steps ended it"),
    ] {
        let server = server();
        let plan = Plan::new(
            &PLAN.replace(
                "- post: /session\n  extract: {token: $.token}",
                &format!("- set: {{token: t}}\n{step}"),
            ),
            &server,
        );
        let (out, err) = plan.run(7);
        assert!(
            out.is_empty() && err.contains("setup failed") && err.contains(why),
            "{step}: {err}"
        );
        assert!(step.contains("stop") || err.contains("plan.yaml:6:3: "), "{err}");
        assert!(
            request_log(&server)
                .iter()
                .all(|(line, _)| !line.contains("item") && !line.contains("DELETE")),
            "{step}"
        );
    }
}

#[test]
fn an_expected_failure_does_not_stop_setup() {
    let server = server();
    let step = "- get: /broken\n  on_failure: continue\n- post: /session";
    let plan = Plan::new(&PLAN.replace("- post: /session", step), &server);
    plan.run(0);
    assert_eq!(request_log(&server).last(), Some(&("DELETE /session t1".to_owned(), 1)));
}

#[test]
fn a_failed_teardown_is_reported_and_the_result_stays() {
    let server = server();
    let plan = Plan::new(&PLAN.replace("delete: /session", "delete: /broken"), &server);
    let (out, err) = plan.run(0);
    let expected = "teardown failed at ";
    assert!(
        err.contains(expected) && err.contains("plan.yaml:13:3: `DELETE /broken`: 403 Forbidden"),
        "{err}"
    );
    assert!(out.contains("teardown failed at"), "{out}");
    assert_eq!(plan.replies(), 30);
}

#[test]
fn stages_have_a_time_limit() {
    let server = server();
    let setup = PLAN.replace(
        "setup:\n- post: /session\n  extract: {token: $.token}",
        &slow_stage("setup", "/slow"),
    );
    let setup = setup.replace("\"${token}\"", "t");
    let (_, err) = Plan::new(&setup, &server).run(7);
    assert!(
        err.contains("setup timed out after 1 s; give it more time: `setup: {timeout: 5m, "),
        "{err}"
    );
    let teardown = PLAN.replace(
        "teardown:\n- delete: /session\n  bearer: \"${token}\"",
        &slow_stage("teardown", "/slow"),
    );
    let plan = Plan::new(&teardown, &server);
    let (_, err) = plan.run(0);
    assert!(err.contains("teardown timed out after 1 s"), "{err}");
    assert_eq!(plan.replies(), 30);
}

fn slow_stage(key: &str, path: &str) -> String {
    format!("{key}: {{timeout: 1s, steps: [{{get: {path}}}]}}")
}

#[test]
fn teardown_runs_after_a_signal_during_the_load() {
    let server = server();
    let plan = Plan::new(&PLAN.replace("iterations: 5", "duration: 60s"), &server);
    let running = plan.start();
    wait_until("the load", || server.requests().len() > 50);
    running.signal(Signal::INT);
    let ran = running.finish_unchecked();
    assert_eq!(ran.code, 130, "{}", ran.err);
    let all = request_log(&server);
    assert_eq!(all.last(), Some(&("DELETE /session t1".to_owned(), 1)), "{:?}", ran.err);
    assert!(plan.replies() > 40 && all.len() == 3, "{all:?}");
}

#[test]
fn a_signal_during_setup_ends_the_run() {
    let server = server();
    let plan = Plan::new(
        &PLAN.replace("- post: /session", "- post: /session\n- get: /slow\n- post: /session"),
        &server,
    );
    let running = plan.start();
    wait_until("setup", || server.requests().len() == 2);
    running.signal(Signal::INT);
    let ran = running.finish_unchecked();
    // Nothing was measured; that exit code has priority over the interruption.
    assert_eq!((ran.code, server.requests().len()), (3, 2), "{}", ran.err);
}

#[test]
fn each_contender_has_its_own_setup() {
    let one = server();
    let other = server();
    let contenders = format!(
        "contenders:\n  a: {{}}\n  b: {{scenario: {{base: \"http://{}\"}}, teardown: null}}\n",
        other.address
    );
    let plan = Plan::new(
        &format!("{PLAN}{contenders}compare: {{}}\n").replace("repetitions: 1", "repetitions: 2"),
        &one,
    );
    plan.run(0);
    assert_request_counts(&one, true);
    assert_request_counts(&other, false);
}

fn assert_request_counts(server: &ScriptedServer, ends: bool) {
    let all = request_log(server);
    // One request before the load compares the replies of both.
    assert_eq!(
        (
            count_of_method(&all, "POST"),
            count_of_method(&all, "GET"),
            count_of_method(&all, "DELETE")
        ),
        (2, 61, if ends { 2 } else { 0 }),
        "{all:?}"
    );
}

fn count_of_method(log: &[(String, u64)], method: &str) -> u64 {
    log.iter().filter(|(text, _)| text.starts_with(method)).map(|(_, number)| number).sum::<u64>()
}

#[test]
fn a_trace_shows_stages_and_no_secret() {
    let server = server();
    let plan = Plan::new(PLAN, &server);
    let line = format!("run {}/plan.yaml --trace", plan.0.path().display());
    let output = command(&line).output().expect("brunt");
    let trace = String::from_utf8_lossy(&output.stdout).into_owned();
    for shown in [
        "── 1. POST /session ──",
        " setup user 1, iteration 1",
        "── 2. /item ──",
        "── 3. DELETE /session ──",
        " teardown user 1",
    ] {
        assert!(trace.contains(shown), "{shown} is not in:\n{trace}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).ends_with("3 samples, 0 failed\n"));
    assert!(!trace.contains("Bearer t1") && request_log(&server).len() == 3, "{trace}");
}

#[test]
fn users_of_populations_begin_with_the_variables_of_setup() {
    let server = server();
    let populations = r#"
repetitions: 1
setup:
  base: http://ADDRESS
  users: 2
  iterations: 3
  steps:
  - post: /session
    extract: {token: $.token}
  - script: "props.put('left', '7'); vars.put('more', 'x')"
  - set: {plain: "$${token} {n}"}
populations:
  a:
    load: {users: 1, iterations: 1}
    scenario: {base: "http://ADDRESS", steps: [{get: "/a/${more}/${property(left)}", headers: {X-Plain: "${plain}"}, bearer: "${token}"}]}
  b:
    load: {users: 1, iterations: 1}
    scenario: {base: "http://ADDRESS", variables: {own: "${token}!"}, steps: [{get: /b, bearer: "${own}"}]}
"#;
    Plan::new(populations, &server).run(0);
    let requests = server.requests();
    assert_eq!(requests.iter().filter(|request| request.starts_with("POST")).count(), 6);
    assert!(
        request_with(&requests, "GET /a/x/7 ").contains("X-Plain: ${token} {n}\r\n"),
        "values are no texts: {}",
        request_with(&requests, "GET /a")
    );
    assert!(
        request_with(&requests, "GET /b").contains("Bearer t")
            && request_with(&requests, "GET /b").contains("!\r\n")
    );
}

fn request_with<'a>(requests: &'a [String], path: &str) -> &'a str {
    requests
        .iter()
        .find(|request| request.contains(path))
        .unwrap_or_else(|| panic!("{path}: {requests:?}"))
}

#[test]
fn steps_of_a_websocket_run_in_setup() {
    let lab = lab("");
    let url = lab.url_of("/").replace("http:", "ws:");
    let setup = format!("- open: {url}\n- {{send: \"{url}\", data: hello}}\n- close: {url}");
    let plan = format!(
        "load: {{users: 1, iterations: 3}}\nrepetitions: 1\nsetup:\n{setup}\nscenario: {{steps: [{{get: {}}}]}}\n",
        lab.url_of("/")
    );
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
    let output =
        command(&format!("run {}/plan.yaml", dir.path().display())).output().expect("brunt");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let knows = lab.into_statistics();
    assert_eq!(
        (&knows["websocket"]["connections"], &knows["requests"]["received"]),
        (&json!(1), &json!(4)),
        "{knows:#}"
    );
}
