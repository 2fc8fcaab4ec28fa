//! The verdict on the generator, made true: each limit is brought about for real, and must be named, and no other.
//!
//! What is judged is the event log that brunt wrote. The machine is the experiment here: where others use it meanwhile
//! (other tests, other programs), what they do is seen as well. Hence one at a time, and a test whose verdict was wrong
//! while others took CPU tries again; one that never had the machine to itself is skipped, but for a proof.

mod quiet;
mod real;
mod recorded;

use crate::world::Ran;
use crate::world::brunt::start;
use brunt_model::codec::LogReader;
use brunt_model::finding::Limit;
use brunt_model::{Run, Verdict};
use rustix::process::Signal;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A run that was made for real.
#[derive(Debug)]
struct Judged {
    ran: Ran,
    run: Run,
    verdict: Verdict,
}

impl Judged {
    fn limits(&self) -> Vec<Limit> {
        self.verdict.causes.iter().map(|cause| cause.limit).collect()
    }
}

/// Runs brunt to its end, and judges what it wrote down.
fn judged(command: &mut Command) -> Judged {
    stopped_for(Duration::ZERO, command)
}

/// The same; a second after its beginning it is suspended for a while.
fn stopped_for(time: Duration, command: &mut Command) -> Judged {
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
    Judged { ran, run, verdict }
}

fn fold(log: &Path) -> Run {
    let mut reader = LogReader::new(File::open(log).expect("the event log")).expect("an event log");
    let mut run = Run::default();
    while let Some(event) = reader.next_event().expect("whole events") {
        run.fold(&event);
    }
    run
}
