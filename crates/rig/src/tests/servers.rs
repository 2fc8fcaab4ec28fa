//! Tests of hooks and servers with real processes: their actions, and that no process is left.

use super::story::{ExperimentStory, around, contender, experiment, hook, server};
use crate::ExperimentOutcome;
use crate::error::{HookError, RigFailure, ServerError};
use crate::guard::Ending;
use brunt_model::experiment::{Contender, HookCommands, Restart};
use brunt_model::probe_spec::{ProbeAccess, ProbeSpec, Probed, Select};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Creates an experiment in a temporary directory, where servers write their pids.
pub fn stage(contenders: Vec<Contender>) -> (ExperimentStory, TempDir) {
    let dir = TempDir::new().expect("a directory");
    let mut experiment = experiment(contenders);
    experiment.directory = dir.path().to_owned();
    (ExperimentStory::of(experiment), dir)
}

pub fn served(loads: &[f64], start: &str) -> Contender {
    let mut contender = contender("c", loads);
    contender.server = Some(server(start, "test -s pids"));
    contender
}

/// A server that writes its pid and keeps running.
pub const STAYS: &str = "echo $$ >>pids; exec sleep 60";

fn pids(dir: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(dir.join("pids")).unwrap_or_default();
    text.lines().map(|line| Pid::from_raw(line.parse().expect("a pid")).expect("above 0")).collect()
}

/// Checks that `started` servers were started and none is running.
pub fn left_nothing(dir: &Path, started: usize) {
    let pids = pids(dir);
    assert_eq!(pids.len(), started);
    for pid in pids {
        assert!(test_kill_process(pid).is_err(), "{pid:?} is still there");
    }
}

pub fn log(dir: &Path) -> String {
    fs::read_to_string(dir.join("log")).unwrap_or_default().trim().replace('\n', ", ")
}

#[test]
fn hooks_run_before_and_after_their_level() {
    let mut contender = served(&[5.0, 7.5], "echo start >>log; echo $$ >pids; exec sleep 60");
    let to_log = |what: &str| {
        format!(
            "echo {what} $BRUNT_CONTENDER $BRUNT_REPETITION $BRUNT_STEP $BRUNT_LOAD $PORT >>log"
        )
    };
    let both = |what: &str| around(&to_log(&format!("+{what}")), &to_log(&format!("-{what}")));
    contender.hooks.contender = both("c");
    contender.hooks.repetition = both("r");
    contender.hooks.step = both("s");
    contender.server.as_mut().unwrap().environment = vec![("PORT".into(), "p80".into())];
    let (mut story, dir) = stage(vec![contender]);
    story.experiment.hooks = both("e");
    story.experiment.repetitions = 2;
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Whole);
    let steps = |r| {
        format!(
            "+r c {r} p80, start, +s c {r} 1 5 p80, -s c {r} 1 5 p80, +s c {r} 2 7.5 p80, -s c {r} 2 7.5 p80, -r c {r} p80"
        )
    };
    assert_eq!(
        log(dir.path()),
        format!("+e p80, +c c p80, {}, {}, -c c p80, -e p80", steps(1), steps(2))
    );
    left_nothing(dir.path(), 1);
}

#[test]
fn a_server_is_restarted_as_configured() {
    for (restart, times) in [(Restart::Never, 2), (Restart::Repetition, 3), (Restart::Step, 6)] {
        let mut one = served(&[1.0, 2.0], STAYS);
        one.server.as_mut().unwrap().restart = restart;
        let (mut story, dir) = stage(vec![one, contender("other", &[1.0])]);
        story.experiment.repetitions = 3;
        story.conduct_really().unwrap();
        // In A B, B A, A B, the second contender has two consecutive repetitions once.
        let expected = if restart == Restart::Never { 2 } else { times };
        left_nothing(dir.path(), expected);
    }
}

#[test]
fn a_failed_hook_stops_the_experiment_and_its_output_is_shown() {
    let mut one = served(&[1.0, 2.0], STAYS);
    one.hooks.step = HookCommands {
        before: vec![hook("echo so; echo bad >&2; exit 7")],
        after: vec![hook("echo after >>log")],
    };
    let (mut story, dir) = stage(vec![one]);
    story.experiment.hooks.after = vec![hook("echo end >>log")];
    let failure = story.conduct_really().unwrap_err();
    let message = failure.to_string();
    assert!(
        matches!(failure, RigFailure::Hook(HookError::Failed { ending: Ending::Code(7), .. })),
        "{message}"
    );
    assert!(
        message.contains(
            "before the step at 1 of c, repetition 1 failed (exit code 7); it wrote:\n  so\n  bad"
        ),
        "{message}"
    );
    assert_eq!((log(dir.path()).as_str(), story.host.made.len()), ("after, end", 0));
    left_nothing(dir.path(), 1);
}

#[test]
fn a_hook_that_times_out_is_ended_with_its_children() {
    let (mut story, dir) = stage(vec![contender("c", &[1.0])]);
    let mut slow = hook("sleep 60 & echo $! >>pids; echo $$ >>pids; wait");
    slow.timeout = Duration::from_millis(300);
    story.experiment.hooks.before = vec![slow];
    let message = story.conduct_really().unwrap_err().to_string();
    assert!(
        message.contains("before the experiment timed out after 0.3 s")
            && message.contains("wrote nothing"),
        "{message}"
    );
    left_nothing(dir.path(), 2);
}

#[test]
fn background_processes_of_a_hook_continue() {
    let (mut story, dir) = stage(vec![contender("c", &[1.0])]);
    story.experiment.hooks =
        around("sleep 60 & echo $! >>pids", "kill -0 $(cat pids) && kill $(cat pids)");
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Whole);
    assert_eq!(pids(dir.path()).len(), 1);
}

#[test]
fn a_second_failure_becomes_a_warning() {
    let (mut story, _dir) = stage(vec![contender("c", &[1.0])]);
    story.experiment.hooks = around("exit 1", "exit 2");
    let message = story.conduct_really().unwrap_err().to_string();
    assert!(message.contains("`exit 1` before the experiment failed (exit code 1)"), "{message}");
    assert!(
        story
            .host
            .news
            .iter()
            .any(|news| news.starts_with("warning the hook `exit 2` after the experiment"))
    );
}

#[test]
fn a_server_that_is_never_ready_is_ended() {
    let mut one = served(&[1.0], "echo waiting; echo $$ >>pids; exec sleep 60");
    let managed = one.server.as_mut().unwrap();
    managed.ready_timeout = Duration::from_millis(500);
    managed.ready = brunt_model::experiment::ReadyCondition::Command("exit 9".into());
    let (mut story, dir) = stage(vec![one]);
    let message = story.conduct_really().unwrap_err().to_string();
    assert!(
        message.starts_with("the server of c was not ready after 0.5 s: ")
            && message.ends_with("it wrote:\n  waiting"),
        "{message}"
    );
    left_nothing(dir.path(), 1);
}

#[test]
fn a_server_that_ends_before_readiness_is_reported_with_its_output() {
    let (mut story, _dir) = stage(vec![served(&[1.0], "echo no config >&2; exit 3")]);
    let message = story.conduct_really().unwrap_err().to_string();
    assert!(
        message.contains("ended before it was ready (exit code 3)")
            && message.ends_with("\n  no config"),
        "{message}"
    );
}

#[test]
fn an_earlier_listener_is_not_taken_for_the_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut one = served(&[1.0], STAYS);
    one.server.as_mut().unwrap().ready = brunt_model::experiment::ReadyCondition::Address(
        listener.local_addr().unwrap().to_string(),
    );
    let (mut story, dir) = stage(vec![one]);
    let failure = story.conduct_really().unwrap_err();
    assert!(matches!(failure, RigFailure::Server(ServerError::Taken { .. })), "{failure}");
    left_nothing(dir.path(), 0);
}

#[test]
fn a_server_that_does_not_stop_is_killed() {
    // A shell that is started with SIGHUP ignored, as by nohup, cannot trap that one.
    let mut one = served(&[1.0], "trap '' TERM; echo $$ >>pids; while :; do sleep 0.1; done");
    one.server.as_mut().unwrap().stop_timeout = Duration::from_millis(300);
    let (mut story, dir) = stage(vec![one]);
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Whole);
    assert!(
        story.host.news.last().unwrap().contains("had not ended 0.3 s after it was asked to"),
        "{:?}",
        story.host.news
    );
    left_nothing(dir.path(), 1);
}

#[test]
fn a_daemon_that_leaves_group_and_session_is_found() {
    let Ok(_) = std::process::Command::new("setsid").arg("true").status() else { return };
    let daemon = "setsid sh -c 'echo $$ >>pids; trap \"echo asked >>log; exit\" TERM; while :; do sleep 0.05; done' & exit 0";
    let mut one = served(&[1.0], daemon);
    let what = Probed::Processes { select: Select::Server, via: ProbeAccess::Local };
    one.probes = vec![ProbeSpec { name: "c".into(), what, interval: Duration::from_secs(1) }];
    let (mut story, dir) = stage(vec![one]);
    story.host.meanwhile = Some(|work| assert_eq!(work.server_warning(), None));
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Whole);
    left_nothing(dir.path(), 1);
    // The probe reads the guard, since the daemon has become its child.
    assert!(
        story.host.pids.len() == 1 && story.host.pids[0] != pids(dir.path())[0].as_raw_pid() as u32
    );
    assert_eq!(log(dir.path()), "asked");
}

#[test]
fn probes_read_the_process_of_the_server() {
    let mut one = served(&[1.0], STAYS);
    let what = Probed::Processes { select: Select::Server, via: ProbeAccess::Local };
    one.probes = vec![ProbeSpec { name: "c".into(), what, interval: Duration::from_secs(1) }];
    let (mut story, dir) = stage(vec![one]);
    story.conduct_really().unwrap();
    assert_eq!(story.host.pids, [pids(dir.path())[0].as_raw_pid() as u32]);
}

#[test]
fn the_stop_command_stops_the_server() {
    let mut one = served(
        &[1.0],
        "trap 'echo by usr1 >>log; exit' USR1; echo $$ >>pids; while :; do sleep 0.05; done",
    );
    one.server.as_mut().unwrap().stop =
        Some("until [ -s pids ]; do sleep 0.01; done; kill -USR1 $(cat pids)".into());
    let (mut story, dir) = stage(vec![one]);
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Whole);
    assert_eq!(log(dir.path()), "by usr1");
    left_nothing(dir.path(), 1);
}

/// Kills the server during a run, like a crash.
fn crash(work: &crate::TrialRun) {
    let pid = work.server.expect("a server").pid();
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL).unwrap();
    assert!((0..1000).any(|_| work.server_warning().is_some() || {
        std::thread::sleep(Duration::from_millis(10));
        false
    }));
}

#[test]
fn the_experiment_ends_after_three_trials_whose_server_ended() {
    let (mut story, dir) = stage(vec![served(&[1.0, 2.0, 3.0, 4.0], STAYS)]);
    story.host.meanwhile = Some(crash);
    let message = story.conduct_really().unwrap_err().to_string();
    assert!(
        message.contains("ended during 3 trials in a row, the last time with signal 9"),
        "{message}"
    );
    assert!(story.host.troubles.len() == 3 && story.host.troubles[0].contains("signal 9"));
    left_nothing(dir.path(), 3);
}

#[test]
fn the_guard_ends_all_processes_after_a_panic() {
    let (mut story, dir) = stage(vec![served(&[1.0], STAYS)]);
    story.host.meanwhile = Some(|_| panic!("a fault of ours"));
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| story.conduct_really()));
    assert!(panicked.is_err());
    left_nothing(dir.path(), 1);
}

#[test]
fn a_stop_runs_after_hooks_and_stops_servers() {
    let mut one = served(&[1.0, 2.0], STAYS);
    one.hooks.repetition = around("true", "echo after >>log");
    let (mut story, dir) = stage(vec![one]);
    story.host.stop_after = Some(1);
    assert_eq!(story.conduct_really().unwrap(), ExperimentOutcome::Stopped);
    assert_eq!((log(dir.path()).as_str(), story.host.made.len()), ("after", 1));
    left_nothing(dir.path(), 1);
}
