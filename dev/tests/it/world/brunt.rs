//! Starts brunt as a user does, and returns its output and its JSON.
//!
//! Asserts for every run that its sums are consistent.

use super::server::ServerProcess;
use super::wait_until;
use brunt_model::codec::LogReader;
use brunt_model::finding::{ConsistencyCheck, State};
use brunt_model::{Flow, Run};
use rustix::process::Signal;
use serde_json::Value;
use std::env;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Path of a program of this workspace: the value of the variable, or the file in the target
/// directory of cargo.
pub fn program(variable: &str, name: &str) -> PathBuf {
    if let Some(path) = env::var_os(variable) {
        return path.into();
    }
    let target = env::current_exe()
        .ok()
        .and_then(|e| e.ancestors().nth(3).map(PathBuf::from))
        .expect("a target directory");
    let places = [target.join("debug").join(name), target.join("release").join(name)];
    let found = places.iter().find(|p| p.is_file());
    found
        .unwrap_or_else(|| {
            panic!("no {name}: cargo build -p brunt-cli -p brunt-lab, or set {variable}")
        })
        .clone()
}

/// Command of brunt with the words of a line, and a store of the tests.
pub fn command(line: &str) -> Command {
    let mut command = Command::new(program("BRUNT_BIN", "brunt"));
    command.args(line.split_whitespace()).stdin(Stdio::null());
    // Tests must not write to the store of the user who runs them.
    command.env("BRUNT_STORE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("store"));
    command
}

/// Runs brunt with the words of a line, and returns its standard output with single spaces. It must
/// succeed.
pub fn stdout_of(line: &str) -> String {
    let output = command(line).output().expect("brunt");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    with_single_spaces(&String::from_utf8_lossy(&output.stdout))
}

/// Runs brunt with the words of a line. Requests JSON in addition to the text.
pub fn measure(line: &str) -> BruntOutput {
    measure_words(&line.split_whitespace().collect::<Vec<_>>())
}

/// Runs brunt with words that may contain spaces.
pub fn measure_words(words: &[&str]) -> BruntOutput {
    start(command("").args(words)).finish()
}

/// Starts a measurement with a JSON report.
pub fn start(command: &mut Command) -> RunningBrunt {
    let dir = TempDir::new().expect("a directory");
    command.arg("-o").arg(format!("json={}", dir.path().join("json").display()));
    if !command.get_args().any(|a| a == "-q") {
        command.args(["-v", "-o", "text"]);
    }
    start_in(command, dir)
}

/// Starts a measurement with a JSON report and an event log.
pub fn start_logged(command: &mut Command) -> RunningBrunt {
    let dir = TempDir::new().expect("a directory");
    command.arg("--events").arg(dir.path().join("events"));
    RunningBrunt { log: Some(dir), ..start(command) }
}

/// Starts brunt without further arguments. Its own arguments choose the reports.
pub fn start_plain(command: &mut Command) -> RunningBrunt {
    start_in(command, TempDir::new().expect("a directory"))
}

fn start_in(command: &mut Command, dir: TempDir) -> RunningBrunt {
    let server = ServerProcess::start(
        command.stdout(output_file(&dir, "out")).stderr(output_file(&dir, "err")),
    );
    RunningBrunt { server, dir, log: None }
}

fn output_file(dir: &TempDir, name: &str) -> File {
    File::create(dir.path().join(name)).expect("a file")
}

/// A running brunt.
pub struct RunningBrunt {
    server: ServerProcess,
    dir: TempDir,
    /// Directory of the event log.
    log: Option<TempDir>,
}

impl RunningBrunt {
    pub fn signal(&self, signal: Signal) {
        self.server.signal(signal);
    }

    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.server.child)
    }

    /// Standard error so far.
    pub fn stderr(&self) -> String {
        self.read("err")
    }

    pub fn is_over(&mut self) -> bool {
        self.server.exit_status().is_some()
    }

    /// Waits for a condition. Panics if the run ends before.
    pub fn wait_until(&mut self, condition: &str, mut holds: impl FnMut(&Self) -> bool) {
        wait_until(condition, || {
            let is_over = self.is_over();
            let held = holds(self);
            assert!(held || !is_over, "{condition}: {}{}", self.read("out"), self.stderr());
            held
        });
    }

    /// Waits until the event log has such counters. Each of its intervals has the counters of all workers.
    pub fn wait_until_logged(&mut self, condition: &str, holds: impl Fn(&Flow) -> bool) {
        self.wait_until(condition, |running| holds(&running.logged_run().flow_all));
    }

    /// The run so far.
    fn logged_run(&self) -> Run {
        let mut run = Run::default();
        let log = self.log.as_ref().expect("an event log").path().join("events");
        let mut log =
            File::open(log).ok().and_then(|file| LogReader::new(BufReader::new(file)).ok());
        // The last event may be incomplete.
        while let Some(Ok(Some(event))) = log.as_mut().map(LogReader::next_event) {
            run.fold(&event);
        }
        run
    }

    /// Waits for its end. Asserts that its sums are consistent.
    pub fn finish(self) -> BruntOutput {
        let ran = self.finish_unchecked();
        ran.assert_consistent_sums();
        ran
    }

    /// Waits for its end, without a check of the sums: the report may end during requests.
    pub fn finish_unchecked(mut self) -> BruntOutput {
        let mut ended = None;
        wait_until("brunt's end", || {
            ended = self.server.exit_status();
            ended.is_some()
        });
        let status = ended.expect("ended");
        let json = serde_json::from_str(&self.read("json")).unwrap_or(Value::Null);
        let code = status
            .code()
            .unwrap_or_else(|| panic!("killed by {:?}: {}", status.signal(), self.stderr()));
        BruntOutput { code, out: self.read("out"), err: self.stderr(), json }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap_or_default()
    }
}

/// Output of a brunt that has ended.
#[derive(Debug)]
pub struct BruntOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
    /// Null if it wrote none.
    pub json: Value,
}

impl BruntOutput {
    /// Asserts that it succeeded.
    pub fn ok(self) -> Self {
        self.assert_code(0)
    }

    pub fn checks(&self) -> Vec<ConsistencyCheck> {
        serde_json::from_value(self.value("/checks").clone()).expect("checks")
    }

    /// Consistency checks that failed.
    pub fn failed_checks(&self) -> Vec<ConsistencyCheck> {
        self.checks().into_iter().filter(|check| !check.holds).collect()
    }

    /// Asserts its exit code.
    pub fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }

    /// Asserts that every request was good, and that there was one. If brunt is late, a load that ends by time drops
    /// its last arrivals, and then the verdict must report it.
    pub fn assert_all_good(self) -> Self {
        assert_eq!(self.count("good"), self.count("begun"), "{}{}", self.out, self.err);
        let failures = self.value("/failures").as_object().expect("failures");
        let has_others = failures.keys().any(|kind| kind != "dropped");
        let may_drop = self.ends_by_time() && self.verdict_state().is_disturbed();
        assert!(
            self.count("good") > 0 && !has_others && (may_drop || self.count("dropped") == 0),
            "{failures:?}: {}{}",
            self.out,
            self.err
        );
        self.ok()
    }

    /// State of the verdict.
    pub fn verdict_state(&self) -> State {
        serde_json::from_value(self.value("/verdict/state").clone()).expect("a state")
    }

    /// True if no population has a number of requests or iterations.
    fn ends_by_time(&self) -> bool {
        let populations = self.value("/plan/populations").as_array().expect("populations");
        populations.iter().all(|population| {
            let stop = &population["stop"];
            stop["requests"].is_null() && stop["iterations_per_user"].is_null()
        })
    }

    /// Value at a pointer of the JSON.
    pub fn value(&self, pointer: &str) -> &Value {
        self.json
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer} in the JSON: {}{}", self.out, self.err))
    }

    /// Whole number at a pointer of the JSON.
    pub fn number(&self, pointer: &str) -> u64 {
        self.value(pointer).as_u64().unwrap_or_else(|| panic!("{pointer}: {}", self.value(pointer)))
    }

    /// Number at a pointer of the JSON, such as seconds.
    pub fn figure(&self, pointer: &str) -> f64 {
        self.value(pointer).as_f64().unwrap_or_else(|| panic!("{pointer}: {}", self.value(pointer)))
    }

    /// Number of requests that were `planned`, `begun`, …
    pub fn count(&self, kind: &str) -> u64 {
        self.number(&format!("/requests/{kind}"))
    }

    /// Number of failures of this kind.
    pub fn failed(&self, kind: &str) -> u64 {
        self.value("/failures")[kind].as_u64().unwrap_or(0)
    }

    /// Number of replies with this status.
    pub fn status(&self, status: u16) -> u64 {
        self.value("/outcomes")[status.to_string()].as_u64().unwrap_or(0)
    }

    /// Number of connections that were `opened`, `reused`, …
    pub fn connections(&self, kind: &str) -> u64 {
        self.number(&format!("/connections/{kind}"))
    }

    /// Entry of the label with this ending.
    pub fn label(&self, ends_with: &str) -> &Value {
        let labels = self.value("/labels").as_array().expect("labels");
        let found =
            labels.iter().find(|l| l["label"].as_str().is_some_and(|l| l.ends_with(ends_with)));
        found.unwrap_or_else(|| panic!("no label {ends_with}: {labels:?}"))
    }

    /// Asserts that the text contains all of these.
    pub fn assert_text(&self, words: &[&str]) {
        let text = with_single_spaces(&self.out);
        for word in words {
            assert!(text.contains(word), "no `{word}` in:\n{}", self.out);
        }
    }

    /// Asserts that the sums of the report are consistent.
    pub fn assert_consistent_sums(&self) {
        if self.json.is_null() {
            return;
        }
        assert_eq!(self.number("/version"), 1);
        let [planned, begun, dropped] = ["planned", "begun", "dropped"].map(|k| self.count(k));
        let [completed, failed, cut, good, errors] =
            ["completed", "failed", "cut", "good", "errors"].map(|k| self.count(k));
        assert_eq!(planned, begun + dropped, "planned: {}", self.out);
        assert_eq!(begun, completed + failed + cut, "begun: {}", self.out);
        assert_eq!(errors, begun + dropped - good, "errors: {}", self.out);
        // A deadline of gRPC is a status, and a failure.
        let statuses = sum_of_counts(self.value("/outcomes")) - self.failed("deadline_exceeded");
        assert_eq!(statuses, completed, "statuses: {}", self.out);
        let [checks, drops, cuts] = ["check", "dropped", "cut"].map(|kind| self.failed(kind));
        assert_eq!((drops, cuts), (dropped, cut));
        assert_eq!(
            sum_of_counts(self.value("/failures")) - checks - drops - cuts,
            failed,
            "failures: {}",
            self.out
        );
        let series = self.value("/series").as_array().expect("a series");
        let warm = |key: &str| self.value("/warmup")["requests"][key].as_u64().unwrap_or(0);
        assert_eq!(
            sum_over_time(series, "begun"),
            begun + warm("begun"),
            "begun over time: {}",
            self.out
        );
        assert_eq!(
            sum_over_time(series, "completed"),
            completed + warm("completed"),
            "completed over time: {}",
            self.out
        );
    }
}

fn sum_over_time(series: &[Value], key: &str) -> u64 {
    series.iter().filter_map(|i| i[key].as_u64()).sum::<u64>()
}

fn sum_of_counts(counts: &Value) -> u64 {
    counts.as_object().into_iter().flatten().filter_map(|(_, n)| n.as_u64()).sum::<u64>()
}

/// Replaces each run of white space by a single space.
pub fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs the plan file of a directory, and returns the stored report of its only run.
pub fn run_stored_plan(dir: &Path) -> Value {
    let store = dir.join("store");
    let run = format!(
        "run {}/plan.yaml --store {} -q -o json={}/study",
        dir.display(),
        store.display(),
        dir.display()
    );
    let output = command(&run).output().expect("brunt");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let runs = fs::read_dir(store.join("runs")).expect("runs").flatten().map(|entry| entry.path());
    let log = runs
        .into_iter()
        .find(|path| path.extension().is_some_and(|kind| kind == "events"))
        .expect("a log");
    let shown = command(&format!("report {} --no-store -o json", log.display()))
        .output()
        .expect("a report");
    serde_json::from_slice(&shown.stdout).expect("JSON")
}
