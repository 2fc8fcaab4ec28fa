//! Runs the experiments of `examples/` in their short form with Debian's servers, each from one
//! plan file by one command.
//!
//! Servers and load use both cores of a small machine, so `tools/test.sh` runs these tests alone.

use crate::world::brunt::{RunningBrunt, command, program};
use crate::world::{skip, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A finished experiment.
struct ExperimentResult {
    dir: TempDir,
    output: Output,
    json: Value,
}

/// Creates the directory of the store and the outputs of a test.
fn temporary_directory() -> TempDir {
    TempDir::new().expect("a directory")
}

fn plan(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Settings for tests without figures: each trial is as short as possible.
const BRIEFLY: [&str; 2] = ["load.duration=1s", "load.warmup=0s"];

/// Runs an example in its short form. Asserts that no process is left.
fn run(name: &str, sets: &[&str]) -> ExperimentResult {
    let dir = temporary_directory();
    let mut command = small_command(name, sets, dir.path());
    let output = command.stderr(Stdio::piped()).stdout(Stdio::piped()).output().expect("brunt");
    finish_experiment(dir, output)
}

fn small_command(name: &str, sets: &[&str], dir: &Path) -> Command {
    let mut command = command("");
    command
        .env("TMPDIR", dir)
        // Tomcat starts in a third less time.
        .env("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .arg("run")
        .arg(plan(name))
        .args(["--set", "scale=small", "--store"])
        .arg(dir.join("store"));
    command.args(sets.iter().flat_map(|set| ["--set", set]));
    for (format, file) in [
        ("json", "study.json"),
        ("html", "study.html"),
        ("text", "study.txt"),
        ("svg", "study.svg"),
    ] {
        command.arg("-o").arg(format!("{format}={}", dir.join(file).display()));
    }
    command
}

fn finish_experiment(dir: TempDir, output: Output) -> ExperimentResult {
    let json = fs::read_to_string(dir.path().join("study.json")).unwrap_or_default();
    let json = serde_json::from_str(&json).unwrap_or(Value::Null);
    let done = ExperimentResult { dir, output, json };
    assert_eq!(
        remaining_processes(done.dir.path()),
        Vec::<String>::new(),
        "left behind by\n{}",
        done.output_text()
    );
    done
}

/// Command lines of processes that name the folder of temporary files of an experiment. All servers
/// of the examples do.
fn remaining_processes(dir: &Path) -> Vec<String> {
    let folder = format!("{}/brunt-", dir.display());
    let processes =
        fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.path().join("cmdline"));
    let lines =
        processes.map(|path| fs::read_to_string(path).unwrap_or_default().replace('\0', " "));
    lines.filter(|line| line.contains(&folder)).collect()
}

impl ExperimentResult {
    fn output_text(&self) -> String {
        let text = fs::read_to_string(self.dir.path().join("study.txt")).unwrap_or_default();
        format!("{}\n{text}", String::from_utf8_lossy(&self.output.stderr))
    }

    /// Asserts success. On a disturbed machine, exit codes 4 and 5 are accepted: an objective may be
    /// missed, and all trials of a contender may be invalid.
    fn ok(self) -> Self {
        let fine = self.output.status.success()
            || (matches!(self.output.status.code(), Some(4 | 5)) && self.disturbance().is_some());
        assert!(fine, "{:?}: {}", self.output.status, self.output_text());
        self
    }

    /// Reason why figures are unreliable, if the machine was disturbed.
    fn disturbance(&self) -> Option<String> {
        let not_ok = self.trials().iter().filter(|t| !has_state(t, "ok")).count();
        let invalid = self.trials().iter().filter(|t| has_state(t, "invalid")).count();
        let text = format!(
            "the machine was disturbed: of {} trials {not_ok} not OK, {invalid} INVALID",
            self.trials().len()
        );
        (invalid > 0 || 4 * not_ok > self.trials().len()).then_some(text)
    }

    /// Asserts a condition. Skips the test instead if the machine was disturbed.
    fn assert_condition(&self, test: &str, holds: bool, message: &str) {
        match self.disturbance() {
            _ if holds => {}
            Some(why) => skip::skip(&format!("examples::{test}"), &format!("{why}; {message}")),
            None => panic!("{message}\n{}", self.output_text()),
        }
    }

    fn trials(&self) -> &[Value] {
        self.json["trials"]
            .as_array()
            .unwrap_or_else(|| panic!("no trials: {}", self.output_text()))
    }

    fn contenders(&self) -> &[Value] {
        self.json["analysis"]["contenders"]
            .as_array()
            .unwrap_or_else(|| panic!("no analysis: {}", self.output_text()))
    }

    /// Asserts that all contenders and trials exist, and that every trial has a throughput.
    fn assert_measured(self, contenders: usize, trials: usize) -> Self {
        assert_eq!(
            (self.contenders().len(), self.trials().len()),
            (contenders, trials),
            "{}",
            self.output_text()
        );
        for trial in self.trials() {
            assert!(trial["throughput_per_second"].as_f64() > Some(0.0), "{trial}");
        }
        for file in ["study.html", "study.svg"] {
            assert!(
                fs::metadata(self.dir.path().join(file)).is_ok_and(|f| f.len() > 10_000),
                "{file}"
            );
        }
        self
    }
}

fn has_state(t: &Value, state: &str) -> bool {
    t["verdict"]["state"] == state
}

/// True if the programs are installed; otherwise skips the test.
fn are_installed(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| match **name {
        "php-fpm" => !fs::read_dir("/usr/sbin").is_ok_and(|dir| {
            dir.flatten().any(|file| file.file_name().to_string_lossy().starts_with("php-fpm"))
        }),
        "tomcat10" => !Path::new("/usr/share/tomcat10/lib").is_dir(),
        name => skip::program(name).is_none(),
    });
    if let Some(missing) = missing {
        skip::skip(&format!("examples::{test}"), &format!("{missing} is not installed"));
    }
    missing.is_none()
}

fn limit<'a>(contender: &'a Value, kind: &str) -> &'a Value {
    let limits = contender["limits"].as_array().expect("limits");
    limits
        .iter()
        .find(|limit| limit["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind}: {limits:?}"))
}

#[test]
#[ignore = "a proof in real time: make prove PROOF=experiments"]
fn e1_busy_children_are_named_and_set_the_limit() {
    if !are_installed(
        "e1_busy_children_are_named_and_set_the_limit",
        &["nginx", "apache2", "php-fpm"],
    ) {
        return;
    }
    let done = run("e1-php.yaml", &["repetitions=1"]).ok().assert_measured(2, 20);
    let test = "e1_busy_children_are_named_and_set_the_limit";
    for contender in done.contenders() {
        let first = done
            .trials()
            .iter()
            .find(|t| t["contender"] == contender["contender"])
            .expect("a trial");
        // Twenty children, divided by the response time at light load.
        let expected = 20.0 / first["response_time_seconds"]["p50"].as_f64().expect("a time");
        let [saturation, knee] = ["saturation", "knee"]
            .map(|kind| limit(contender, kind)["at"]["value"].as_f64().unwrap_or(f64::NAN));
        let near = (saturation / expected - 1.0).abs() < 0.05;
        done.assert_condition(
            test,
            near,
            &format!("saturation at {saturation}, {expected} expected"),
        );
        // The knee is one of the loads, 40/s apart. If the saturation lies between two loads, the
        // knee may be the higher one.
        let within = (0.7 * saturation..saturation + 40.0).contains(&knee);
        done.assert_condition(test, within, &format!("the knee at {knee} of {saturation}"));
        let bottleneck = &contender["bottleneck"];
        let sentence = bottleneck["sentence"].as_str().unwrap_or_default();
        let named =
            bottleneck["culprit"] == "workers" && sentence.contains("all 20 php-fpm children busy");
        done.assert_condition(test, named, &format!("the bottleneck: {sentence}"));
    }
}

#[test]
#[ignore = "a proof in real time: make prove PROOF=experiments"]
fn e1_a_computing_page_is_limited_by_the_cpu() {
    if !are_installed("e1_a_computing_page_is_limited_by_the_cpu", &["nginx", "apache2", "php-fpm"])
    {
        return;
    }
    let done = run("e1-php.yaml", &["repetitions=1", "page=compute"]).ok().assert_measured(2, 20);
    for contender in done.contenders() {
        let bottleneck = &contender["bottleneck"];
        done.assert_condition(
            "e1_a_computing_page_is_limited_by_the_cpu",
            bottleneck["culprit"] == "cpu",
            &format!("the bottleneck: {bottleneck}"),
        );
    }
}

#[test]
#[ignore = "a proof in real time: make prove PROOF=experiments"]
fn the_capacity_of_a_waiting_page_is_children_by_service_time() {
    if !are_installed(
        "the_capacity_of_a_waiting_page_is_children_by_service_time",
        &["nginx", "php-fpm"],
    ) {
        return;
    }
    let done = run("find-php.yaml", &[]).ok();
    let answer = &done.json["analysis"]["answers"][0];
    let first =
        done.trials().first().unwrap_or_else(|| panic!("no trials: {}", done.output_text()));
    // Twenty children, divided by the response time at light load. p99 is missed slightly before
    // all of them are always busy.
    let most = 20.0 / first["response_time_seconds"]["p50"].as_f64().expect("a time");
    let capacity = &answer["capacities"][0]["at"];
    let low = capacity["low"].as_f64().unwrap_or(0.0);
    let high = capacity["high"].as_f64().unwrap_or(f64::INFINITY);
    let holds = capacity["value"].is_number() && low <= most * 1.02 && high >= most * 0.85;
    done.assert_condition(
        "the_capacity_of_a_waiting_page_is_children_by_service_time",
        holds,
        &format!("{low} to {high}, {most} expected at most: {answer}"),
    );
}

#[test]
fn e1_static_files() {
    if are_installed("e1_static_files", &["nginx", "apache2"]) {
        run("e1-static.yaml", &BRIEFLY).ok().assert_measured(2, 14);
    }
}

#[test]
fn e2_body_sizes_are_a_product_of_factors() {
    if are_installed("e2_body_sizes_are_a_product_of_factors", &["nginx"]) {
        let done = run("e2-body-sizes.yaml", &BRIEFLY).ok().assert_measured(4, 12);
        assert_eq!(done.contenders()[1]["contender"], "one 1M");
    }
}

#[test]
fn e3_concurrency_with_and_without_keepalive() {
    if are_installed("e3_concurrency_with_and_without_keepalive", &["nginx", "apache2"]) {
        run("e3-concurrency.yaml", &BRIEFLY).ok().assert_measured(4, 12);
    }
}

#[test]
fn e4_connectors_of_tomcat() {
    if are_installed("e4_connectors_of_tomcat", &["tomcat10", "java", "apache2"]) {
        run("e4-tomcat.yaml", &BRIEFLY).ok().assert_measured(5, 15);
    }
}

#[test]
fn e5_a_form_through_proxies() {
    if are_installed("e5_a_form_through_proxies", &["nginx", "apache2"]) {
        let done = run("e5-post.yaml", &[]).ok().assert_measured(2, 8);
        // Their think time determines the rate: the report must say so, and claim no difference.
        done.assert_condition(
            "e5_a_form_through_proxies",
            done.output_text().contains("think"),
            "the think time is not named",
        );
    }
}

#[test]
fn kinds_of_authentication() {
    if are_installed(
        "kinds_of_authentication",
        &["nginx", "apache2", "tomcat10", "java", "openssl"],
    ) {
        let done = run("authentication.yaml", &BRIEFLY).ok().assert_measured(16, 16);
        for trial in done.trials() {
            assert_eq!(trial["requests"]["failed"], 0, "{}", done.output_text());
        }
        for file in ["study.json", "study.html", "study.txt"] {
            let text = fs::read_to_string(done.dir.path().join(file)).unwrap_or_default();
            assert!(!text.contains("example-only"), "the password is in {file}");
        }
    }
}

#[test]
fn an_interrupted_experiment_is_resumed() {
    if !are_installed("an_interrupted_experiment_is_resumed", &["nginx"]) {
        return;
    }
    let dir = temporary_directory();
    let sets = ["load.duration=1s", "load.users=[1,2,3]"];
    let mut first = small_command("e2-body-sizes.yaml", &sets, dir.path());
    let running: RunningBrunt = crate::world::brunt::start_plain(&mut first);
    wait_until("the third trial", || running.stderr().contains("2/12"));
    running.signal(Signal::INT);
    let ended = running.finish();
    assert_eq!(ended.code, 130, "{}", ended.err);
    assert_eq!(remaining_processes(dir.path()), Vec::<String>::new());
    let before: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("study.json")).expect("a report"))
            .expect("JSON");
    assert_eq!(before["interrupted"], true);
    let stored = before["trials"].as_array().map_or(0, Vec::len);
    assert!((1..12).contains(&stored), "{stored}");

    let mut again = small_command("e2-body-sizes.yaml", &sets, dir.path());
    let output = again.arg("--resume").output().expect("brunt");
    let done = finish_experiment(dir, output).ok().assert_measured(4, 12);
    // Trials from before the interruption are unchanged.
    for (old, new) in before["trials"].as_array().into_iter().flatten().zip(done.trials()) {
        if old["interrupted"] == false {
            assert_eq!((&old["run_id"], &old["requests"]), (&new["run_id"], &new["requests"]));
        }
    }
    assert_eq!(done.json["interrupted"], false);
}

#[test]
fn every_example_passes_the_check() {
    for entry in fs::read_dir(plan("")).expect("examples").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "yaml") {
            for scale in ["full", "small"] {
                let mut check = Command::new(program("BRUNT_BIN", "brunt"));
                check.args(["plan", "check"]).arg(&path).args(["--set", &format!("scale={scale}")]);
                let output = check.output().expect("brunt");
                assert!(
                    output.status.success(),
                    "{}: {}",
                    path.display(),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
    }
}
