//! Tests the verdict on the generator: each limit is caused for real, and must be the only one
//! named.
//!
//! The verdict is computed from the event log of brunt. Other tests and programs on the machine
//! affect it, so these tests run one at a time. A wrong verdict is repeated if other processes used
//! CPU. A test that never had the machine alone is skipped, except in a proof.

mod quiet;
mod real;
mod recorded;

use crate::world::BruntOutput;
use crate::world::brunt::start;
use brunt_model::codec::LogReader;
use brunt_model::finding::LimitingResource;
use brunt_model::{Run, Verdict};
use rustix::process::Signal;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A real run and its verdict.
#[derive(Debug)]
struct JudgedRun {
    ran: BruntOutput,
    run: Run,
    verdict: Verdict,
}

impl JudgedRun {
    fn limits(&self) -> Vec<LimitingResource> {
        self.verdict.causes.iter().map(|cause| cause.limit).collect()
    }
}

/// Runs brunt to its end, and judges its event log.
fn judge_run(command: &mut Command) -> JudgedRun {
    judge_suspended_run(Duration::ZERO, command)
}

/// Runs brunt, suspends it for `time` after one second, and judges its event log.
fn judge_suspended_run(time: Duration, command: &mut Command) -> JudgedRun {
    let dir = TempDir::new().expect("a directory");
    let log = dir.path().join("events");
    let running = start(command.arg("--events").arg(&log));
    if !time.is_zero() {
        sleep(Duration::from_secs(1));
        running.signal(Signal::STOP);
        sleep(time);
        running.signal(Signal::CONT);
    }
    let ran = running.finish();
    let run = fold(&log);
    let verdict = brunt_judge::judge(&run).verdict;
    JudgedRun { ran, run, verdict }
}

fn fold(log: &Path) -> Run {
    let mut reader = LogReader::new(File::open(log).expect("the event log")).expect("an event log");
    let mut run = Run::default();
    while let Some(event) = reader.next_event().expect("whole events") {
        run.fold(&event);
    }
    run
}
