//! Runs whole experiments: brunt starts and stops servers, runs hooks, and leaves no process
//! however it ends.

use crate::world::brunt::program;
use crate::world::server::ServerProcess;
use crate::world::{command, lab, wait_until};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs::{self, File};
use std::path::Path;
use tempfile::TempDir;

/// A directory with a plan. Servers write their pids to it, and the remaining ones are killed at
/// the end.
struct ExperimentDir(TempDir);

impl ExperimentDir {
    /// Writes a plan for a lab that `start` starts; `LAB` stands for a listening lab. `more` are
    /// further keys.
    fn new(start: &str, more: &str) -> Self {
        let dir = TempDir::new().expect("a directory");
        let lab = format!(
            "{} --listen 127.0.0.1:${{port.http}}",
            program("BRUNT_LAB_BIN", "brunt-lab").display()
        );
        // In a plan, `$$` is a dollar sign.
        let start = start.replace("$$", "$$$$").replace("LAB", &lab);
        let plan = format!(
            "name: t\nports: [http]\nscript: {{request: \"http://127.0.0.1:${{port.http}}/\"}}\n\
             load: {{rate: \"[100,200]\", duration: 400ms}}\nrepetitions: 2\n\
             server:\n  start: {start:?}\n  ready: http://127.0.0.1:${{port.http}}/\n  stop_timeout: 2s\n{more}\n"
        );
        fs::write(dir.path().join("plan.yaml"), plan).expect("a plan");
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Starts brunt with the plan.
    fn start(&self, options: &str) -> ServerProcess {
        let file = |name: &str| File::create(self.path().join(name)).expect("a file");
        let mut brunt = command(&format!("run {}/plan.yaml {options}", self.path().display()));
        ServerProcess::start(brunt.stdout(file("out")).stderr(file("err")))
    }

    /// Runs brunt with the plan, and returns the exit code.
    fn run(&self, options: &str) -> i32 {
        end(&mut self.start(options))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    fn pids(&self) -> Vec<Pid> {
        self.read("pids").lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect()
    }

    /// Asserts the number of servers that were started, and that none is left.
    fn left_nothing(&self, started: usize) {
        let pids = self.pids();
        let errors = self.read("err");
        assert_eq!(pids.len(), started, "{errors}");
        assert!(pids.iter().all(|pid| !is_there(*pid)), "{errors}");
    }
}

impl Drop for ExperimentDir {
    fn drop(&mut self) {
        for pid in self.pids() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn is_there(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

fn end(brunt: &mut ServerProcess) -> i32 {
    let mut ended = None;
    wait_until("brunt's end", || {
        ended = brunt.exit_status();
        ended.is_some()
    });
    ended.and_then(|status| status.code()).expect("an exit code")
}

const PLAIN: &str = "echo $$ >>pids; exec LAB";
/// Daemon in a new session; the shell that started it ends.
const DAEMON: &str = "setsid sh -c 'echo $$ >>pids; exec LAB' & exit 0";

#[test]
fn a_server_is_started_for_each_repetition_and_stopped() {
    for start in [PLAIN, DAEMON] {
        let stage = ExperimentDir::new(start, "");
        assert_eq!(stage.run(""), 0, "{}", stage.read("err"));
        stage.left_nothing(2);
        let errors = stage.read("err");
        assert!(
            errors.contains("4/4 t, 200/s, repetition 2: ") && errors.ends_with("0 errors\n"),
            "{errors}"
        );
        assert!(!stage.read("out").is_empty());
    }
}

#[test]
fn setup_sends_to_each_server_that_was_started() {
    let url = "http://127.0.0.1:${port.http}/";
    let stages =
        format!("setup: [{{get: '{url}'}}]\nteardown: [{{get: '{url}', check: {{status: 201}}}}]");
    let stage = ExperimentDir::new(
        PLAIN,
        &format!(
            "{stages}\nhooks: {{before: {{step: echo before >>told}}, after: {{step: echo after >>told}}}}"
        ),
    );
    assert_eq!(stage.run(""), 0, "{}", stage.read("err"));
    stage.left_nothing(2);
    assert_eq!(stage.read("told"), "before\nafter\n".repeat(4));
    // Each trial runs its own teardown.
    let errors = stage.read("err");
    let failed = errors
        .lines()
        .filter(|line| line.contains("teardown failed at ") && line.contains("200 OK"))
        .count();
    assert_eq!(failed, 4, "{errors}");
    let stage = ExperimentDir::new(
        PLAIN,
        "setup: [{get: 'http://127.0.0.1:1/'}]\nhooks: {after: {experiment: touch after}}",
    );
    assert_eq!(stage.run(""), 7, "{}", stage.read("err"));
    stage.left_nothing(1);
    assert!(stage.path().join("after").exists() && stage.read("out").is_empty());
}

#[test]
fn a_signal_ends_the_experiment_its_servers_and_its_hooks() {
    for signal in [Signal::INT, Signal::TERM] {
        let hooks = "hooks: {after: {experiment: touch after}}";
        let stage = ExperimentDir::new(PLAIN, hooks);
        let mut brunt = stage.start("--set load.duration=60s");
        wait_until("the server", || stage.pids().len() == 1);
        std::thread::sleep(std::time::Duration::from_millis(500));
        brunt.signal(signal);
        assert_eq!(end(&mut brunt), 130, "{}", stage.read("err"));
        assert!(stage.path().join("after").exists(), "{}", stage.read("err"));
        stage.left_nothing(1);
    }
}

#[test]
fn a_second_signal_quits_at_once_and_the_guard_stops_the_server() {
    let stage = ExperimentDir::new(PLAIN, "hooks: {after: {experiment: sleep 60}}");
    let mut brunt = stage.start("--set load.duration=60s");
    wait_until("the server", || stage.pids().len() == 1);
    std::thread::sleep(std::time::Duration::from_millis(300));
    brunt.signal(Signal::INT);
    wait_until("what it says to the first", || stage.read("err").contains("again to quit"));
    brunt.signal(Signal::INT);
    assert_eq!(end(&mut brunt), 130);
    wait_until("the server's end", || stage.pids().iter().all(|pid| !is_there(*pid)));
}

#[test]
fn a_brunt_that_is_killed_leaves_no_server() {
    for start in [PLAIN, DAEMON, "trap '' TERM; echo $$ >>pids; LAB"] {
        let stage = ExperimentDir::new(start, "");
        let mut brunt = stage.start("--set load.duration=60s");
        wait_until("the server", || stage.pids().len() == 1);
        std::thread::sleep(std::time::Duration::from_millis(300));
        kill_process(Pid::from_child(&brunt.child), Signal::KILL).expect("brunt");
        wait_until("brunt's end", || brunt.exit_status().is_some());
        wait_until("the server's end", || stage.pids().iter().all(|pid| !is_there(*pid)));
    }
}

#[test]
fn the_folder_of_an_experiment_is_private_and_removed_however_brunt_ends() {
    let hooks = "hooks: {before: {experiment: 'stat -c %a ${dir} >mode; echo ${dir} >folder; touch ${dir}/file'}}";
    for signals in
        [&[][..], &[Signal::INT], &[Signal::TERM], &[Signal::INT, Signal::INT], &[Signal::KILL]]
    {
        let stage = ExperimentDir::new(PLAIN, hooks);
        let mut brunt =
            stage.start(if signals.is_empty() { "" } else { "--set load.duration=60s" });
        wait_until("the server", || stage.pids().len() == 1);
        for signal in signals {
            std::thread::sleep(std::time::Duration::from_millis(400));
            brunt.signal(*signal);
        }
        wait_until("brunt's end", || brunt.exit_status().is_some());
        assert_eq!(stage.read("mode").trim(), "700");
        let folder = stage.read("folder");
        wait_until("the folder's end", || !std::path::Path::new(folder.trim()).exists());
    }
}

#[test]
fn a_hook_that_fails_stops_the_experiment_with_its_output() {
    let hooks = "hooks:\n  before: {step: 'test $BRUNT_LOAD = 100 || { echo no disk; exit 3; }'}\n  after: {experiment: touch after}";
    let stage = ExperimentDir::new(PLAIN, hooks);
    assert_eq!(stage.run(""), 7, "{}", stage.read("err"));
    let errors = stage.read("err");
    assert!(
        errors.contains("before the step at 200 of t, repetition 1 failed (exit code 3)")
            && errors.contains("no disk")
    );
    assert!(stage.path().join("after").exists() && !stage.read("out").is_empty(), "{errors}");
    stage.left_nothing(1);
}

#[test]
fn a_server_that_never_gets_ready_is_stopped_and_its_output_is_shown() {
    let stage = ExperimentDir::new("echo $$ >>pids; echo still reading; exec sleep 60", "");
    assert_eq!(stage.run("--set server.ready_timeout=500ms"), 7, "{}", stage.read("err"));
    let errors = stage.read("err");
    assert!(
        errors.contains("not ready after 0.5 s")
            && errors.contains("refused")
            && errors.contains("still reading"),
        "{errors}"
    );
    stage.left_nothing(1);
}

#[test]
fn a_server_that_dies_is_started_again_for_the_next_trial() {
    let stage = ExperimentDir::new(
        "echo $$ >>pids; test $(wc -l <pids) -gt 1 || (sleep 1; kill -9 $$) & exec LAB",
        "",
    );
    assert_eq!(
        stage.run("--set repetitions=1 --set load.duration=1500ms"),
        0,
        "{}",
        stage.read("err")
    );
    let errors = stage.read("err");
    assert!(errors.contains("2/2 t, 200/s"), "{errors}");
    stage.left_nothing(2);
}

#[test]
fn a_server_that_ignores_sigterm_is_killed() {
    let stage =
        ExperimentDir::new("trap '' TERM; echo $$ >>pids; LAB & while :; do sleep 0.1; done", "");
    assert_eq!(
        stage.run("--set repetitions=1 --set server.stop_timeout=300ms"),
        0,
        "{}",
        stage.read("err")
    );
    assert!(
        stage.read("err").contains("had not ended 0.3 s after it was asked to"),
        "{}",
        stage.read("err")
    );
    stage.left_nothing(1);
}

#[test]
fn a_sweep_of_two_servers_measures_each_load_of_both() {
    let one = lab("");
    let other = lab("");
    let dir = TempDir::new().expect("a directory");
    let document = dir.path().join("sweep.json");
    let line = format!(
        "sweep -r [100,200] -d 300ms --repeat 2 a={} b={} -o json={}",
        one.url_of("/"),
        other.url_of("/"),
        document.display()
    );
    let out = command(&line).output().expect("brunt");
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(0), "{errors}");
    let (warning, lines) = errors.split_once('\n').expect("lines");
    assert!(warning.contains("2 repetitions cannot decide"), "{errors}");
    let trials: Vec<&str> = lines.lines().filter_map(|line| line.split(':').next()).collect();
    let order = [("a", 1), ("b", 1), ("b", 2), ("a", 2)];
    let expected: Vec<String> = (order.iter().enumerate())
        .flat_map(|(i, (name, r))| {
            [trial_label(2 * i + 1, name, 100, *r), trial_label(2 * i + 2, name, 200, *r)]
        })
        .collect();
    assert_eq!(trials, expected, "{errors}");
    // Its document is read like a result file of another tool.
    let line = format!("analyse {} -o json", document.display());
    let out = command(&line).output().expect("brunt");
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let analysis: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(analysis["observations"]["contenders"], serde_json::json!(["a", "b"]));
    assert_eq!(analysis["observations"]["observations"].as_array().map(Vec::len), Some(8));
}

fn trial_label(n: usize, name: &str, load: u32, r: u32) -> String {
    format!("{n}/8 {name}, {load}/s, repetition {r}")
}
