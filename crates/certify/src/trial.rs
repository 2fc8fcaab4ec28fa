//! One trial: a tool, a case, a way of putting load; what the tool told, and what is true.
//!
//! The truth of a closed loop is of the requests that came. The truth of an open loop is of the requests that were
//! asked for, at the instants at which they were due: whoever sends late, or not at all, while the server hangs, has
//! missed what its users would have waited. Errors and throughput are always of what came.
//!
//! The server's own lateness (what it wrote, less what it computed, at the same percentile) is part of either truth: it did
//! happen, and it is no error of a tool. It is small, or the server would have refused its figures.

use crate::cases::Case;
use crate::error::CertifyError;
use crate::figures::Figures;
use crate::lab::{Lab, ourselves};
use crate::process::{End, Process};
use crate::quiet::Machine;
use crate::tools::{Job, LoadMode, Spacing, Tool, ToolReport};
use crate::verdict::{Mark, mark};
use brunt_engine::Control;
use brunt_lab::args::Options;
use brunt_lab::freeze::Freeze;
use brunt_lab::planned::{Protocol, planned};
use brunt_model::numbers::narrow_percent;
use clap::Parser;
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often a trial is made where the server refuses its truth, or others disturbed it.
const TRIES: u32 = 3;

/// How much longer than the load a tool may take.
const PATIENCE: Duration = Duration::from_secs(45);

/// What is to be tried.
#[derive(Debug, Clone, Copy)]
pub struct Trial {
    /// The server.
    pub case: &'static Case,
    /// The tool.
    pub tool: &'static Tool,
    /// The way of putting load.
    pub way: LoadMode,
    /// How long, in seconds.
    pub seconds: u32,
}

/// What became of a trial.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Figures were told, and the truth is known. No mark: nothing that is compared was told.
    Scored {
        /// What the tool told.
        told: Box<Figures>,
        /// What is true.
        truth: Box<Figures>,
        /// How near the one is to the other.
        mark: Option<Mark>,
    },
    /// The server refused its own truth every time, for this reason.
    NoTruth(String),
    /// A figure was beyond its limit each time, and each time others used the machine: nobody knows whose error it was.
    Unknown(String),
    /// The tool did not do it, for this reason.
    Failed(String),
    /// The user has had enough.
    Interrupted,
}

impl Trial {
    /// Makes the trial, several times if the truth is refused or others disturbed it. `prompt` learns whether the server had real-time priority.
    ///
    /// # Errors
    ///
    /// The lab, the tool or a file of theirs fails; what a tool measured is no error.
    pub fn run(&self, stop: &Control, prompt: &mut bool) -> Result<Outcome, CertifyError> {
        let mut outcome = Outcome::Interrupted;
        for _ in 0..TRIES {
            outcome = self.attempt(stop, prompt)?;
            if !matches!(outcome, Outcome::NoTruth(_) | Outcome::Unknown(_)) {
                break;
            }
        }
        Ok(outcome)
    }

    fn attempt(&self, stop: &Control, prompt: &mut bool) -> Result<Outcome, CertifyError> {
        let (folder, before) = (tempfile::tempdir().map_err(CertifyError::Scratch)?, Machine::now());
        let mut lab = Lab::start(self.case, self.tool.protocol, folder.path(), self.load())?;
        *prompt = lab.prompt;
        let told = match self.drive(&mut lab, folder.path(), stop)? {
            Driven::Told(told) => told,
            Driven::Failed(why) => return Ok(Outcome::Failed(why)),
            Driven::Interrupted => return Ok(Outcome::Interrupted),
        };
        let knows = lab.end()?;
        let disturbed = Machine::now().disturbed_since(&before);
        if knows["truth"]["accepted"] != true {
            let why = knows["truth"]["reason"].as_str().unwrap_or("no reason was told");
            return Ok(Outcome::NoTruth(why.to_owned()));
        }
        let truth = self.truth(&knows)?;
        Ok(match (self.tool.read)(&told) {
            Err(why) => Outcome::Failed(format!("{why}: {}", first_line(&told.out))),
            Ok(told) => {
                let mark = mark(&told, &truth, self.case.compares);
                if let (Some(mark), Some(why)) = (mark.filter(|mark| !mark.met), disturbed) {
                    return Ok(Outcome::Unknown(format!(
                        "{} at {}, while {why}",
                        narrow_percent(mark.deviation),
                        mark.figure
                    )));
                }
                Outcome::Scored { told: Box::new(told), truth: Box::new(truth), mark }
            }
        })
    }

    /// How long the tool runs, in seconds.
    pub fn load(&self) -> u32 {
        self.seconds + self.tool.lead
    }

    fn job(&self, port: u16) -> Job {
        let Case { rate, connections, most, .. } = *self.case;
        Job { port, way: self.way, rate, connections, most, seconds: self.seconds }
    }

    fn drive(&self, lab: &mut Lab, folder: &Path, stop: &Control) -> Result<Driven, CertifyError> {
        let asked = (self.tool.ask)(&self.job(lab.port));
        for (name, text) in &asked.files {
            fs::write(folder.join(name), text)?;
        }
        let mut process = match Process::start(&mut self.command(&asked.words, folder)?) {
            Ok(process) => process,
            Err(error) => return Ok(Driven::Failed(error.to_string())),
        };
        let most = Duration::from_secs(u64::from(self.load())) + PATIENCE;
        Ok(match self.attend(&mut process, lab, most, stop)? {
            End::Interrupted => Driven::Interrupted,
            End::TooLong => Driven::Failed(format!("it was still at work after {} s", most.as_secs())),
            End::Ended(status) => {
                let told = self.told(folder)?;
                // Some end with a status of failure where there were errors, and have told everything.
                if status.success() || (self.tool.read)(&told).is_ok() {
                    return Ok(Driven::Told(told));
                }
                let said = fs::read(folder.join("err"))?;
                Driven::Failed(format!("it ended with {status}: {}", first_line(&String::from_utf8_lossy(&said))))
            }
        })
    }

    /// Waits for the tool's end, and stops the server meanwhile where the case says so.
    fn attend(&self, tool: &mut Process, lab: &mut Lab, most: Duration, stop: &Control) -> Result<End, CertifyError> {
        if let Some((after, length)) = self.case.freeze {
            let before = tool.wait(Duration::from_secs(u64::from(after + self.tool.lead)), stop)?;
            if before != End::TooLong {
                return Ok(before);
            }
            lab.freeze(Duration::from_secs(u64::from(length)))?;
        }
        Ok(tool.wait(most, stop)?)
    }

    fn told(&self, folder: &Path) -> Result<ToolReport, CertifyError> {
        let read = |name: &str| fs::read(folder.join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        // A file that it did not write is missed where its words are read.
        Ok(ToolReport {
            out: read("out")?,
            file: self.tool.file.map_or_else(String::new, |name| read(name).unwrap_or_default()),
        })
    }

    fn command(&self, words: &[String], folder: &Path) -> Result<Command, CertifyError> {
        let (program, arguments) = words.split_first().ok_or(CertifyError::NoCommand(self.tool.name))?;
        let mut command = if self.tool.program.is_none() { Command::new(ourselves()) } else { Command::new(program) };
        // What tools keep in the user's home is none of their business here.
        command.args(arguments).current_dir(folder).env("HOME", folder).stdin(Stdio::null());
        command.stdout(File::create(folder.join("out"))?).stderr(File::create(folder.join("err"))?);
        Ok(command)
    }

    fn truth(&self, knows: &Value) -> Result<Figures, CertifyError> {
        let computed = Figures::of_summary(&knows["truth"]["sojourn_seconds"]);
        let written = Figures::of_summary(&knows["truth"]["written_seconds"]);
        let times = match self.way {
            LoadMode::Closed => computed.clone(),
            LoadMode::Open => self.truth_of_the_plan(knows)?,
        };
        let times = times.later(&computed, &written);
        let at = |pointer: &str| knows.pointer(pointer).and_then(Value::as_f64);
        let span = at("/last_written_seconds").zip(at("/first_arrival_seconds")).map(|(last, first)| last - first);
        let throughput = at("/requests/answered").zip(span).map(|(answered, span)| answered / span);
        let kinds = &knows["requests"]["failed_by_kind"];
        let sum = |counts: fn(&str) -> bool| {
            let kinds = kinds.as_object().into_iter().flatten().filter(|(kind, _)| counts(kind));
            kinds.filter_map(|(_, count)| count.as_f64()).fold(0.0, |all, count| all + count)
        };
        let failed = sum(|kind| !is_whole(kind));
        let refused = sum(|kind| kind.parse::<u16>().is_ok_and(|status| status >= 400));
        // Messages have no status: in its place the server closes the WebSocket.
        let (failed, refused) =
            if self.tool.protocol == Protocol::WebSocket { (failed + refused, 0.0) } else { (failed, refused) };
        Ok(Figures { throughput, ..times }.with_errors(failed, refused))
    }

    fn truth_of_the_plan(&self, knows: &Value) -> Result<Figures, CertifyError> {
        let first = knows["first_arrival_seconds"].as_f64().unwrap_or(0.0);
        let ticks = |seconds: f64| ((seconds - first).max(0.0) * 1e9) as u64;
        let spans = knows["frozen_seconds"].as_array().into_iter().flatten();
        let freezes: Vec<_> = spans
            .filter_map(|span| Some(Freeze { from: ticks(span[0].as_f64()?), to: ticks(span[1].as_f64()?) }))
            .collect();
        let options = Options::try_parse_from(["lab"].into_iter().chain(self.case.lab.split(' ')))?;
        let measured_from = u64::from(self.tool.lead) * 1_000_000_000;
        let summary = planned(&options, self.tool.protocol, (&self.arrivals(), &freezes), measured_from)
            .map_err(CertifyError::Truth)?;
        Ok(Figures::of_summary(&serde_json::to_value(summary)?))
    }

    /// When requests were due, in nanoseconds from the first.
    fn arrivals(&self) -> Vec<u64> {
        let rate = u64::from(self.case.rate);
        let together = match self.tool.spacing {
            Spacing::Even => 1,
            Spacing::PerConnection => u64::from(self.job(0).sharing()),
        };
        (0..rate * u64::from(self.load())).map(|n| n / together * together * 1_000_000_000 / rate).collect()
    }
}

enum Driven {
    Told(ToolReport),
    Failed(String),
    Interrupted,
}

/// Whether a reply that is failed so is a whole one all the same.
fn is_whole(kind: &str) -> bool {
    kind.parse::<u16>().is_ok() || ["slow", "extra"].contains(&kind)
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::tools::TOOLS;
    use serde_json::json;

    fn trial(case: &str, tool: &str, way: LoadMode) -> Trial {
        let case = CASES.iter().find(|one| one.name == case).unwrap();
        Trial { case, tool: TOOLS.iter().find(|one| one.name == tool).unwrap(), way, seconds: 12 }
    }

    #[test]
    fn arrivals_are_as_they_were_asked_for() {
        let even = trial("const", "brunt", LoadMode::Open).arrivals();
        assert_eq!((even.len(), even[1], even[11_999]), (12_000, 1_000_000, 11_999_000_000));
        let bursts = trial("const", "h2load", LoadMode::Open).arrivals();
        assert_eq!((bursts[19], bursts[20], bursts.len()), (0, 20_000_000, 12_000));
    }

    #[test]
    fn an_open_loop_is_held_against_the_plan_and_a_closed_one_against_what_came() {
        // A tool that waited for each reply: next to nothing came while the server hung.
        let knows = json!({
            "first_arrival_seconds": 1.5, "last_written_seconds": 13.5, "frozen_seconds": [],
            "requests": {"answered": 4800, "failed_by_kind": {"503": 7, "302": 1, "reset": 2, "close": 3, "slow": 9}},
            "truth": {"sojourn_seconds": {"p50": 0.002, "p90": 0.002, "p99": 0.002, "p99_9": 1.0, "max": 1.0, "mean": 0.003}},
        });
        let closed = trial("stall", "h2load", LoadMode::Closed).truth(&knows).unwrap();
        assert_eq!((closed.p99, closed.throughput), (Some(0.002), Some(400.0)));
        assert_eq!((closed.failed, closed.refused, closed.errors), (Some(5.0), Some(7.0), Some(12.0)));
        let open = trial("stall", "brunt", LoadMode::Open).truth(&knows).unwrap();
        assert!((open.p99.unwrap() - 0.94).abs() < 0.01, "{open:?}");
        assert_eq!(open.p50, Some(0.002));
        let closed = trial("stall", "brunt-ws", LoadMode::Closed).truth(&knows).unwrap();
        assert_eq!((closed.failed, closed.refused, closed.errors), (Some(12.0), Some(0.0), Some(12.0)), "no statuses");
        let mut late = knows;
        late["truth"]["written_seconds"] = json!({"p50": 0.003, "p99": 0.007});
        let later = trial("stall", "brunt", LoadMode::Open).truth(&late).unwrap();
        assert_eq!((later.p50, later.p90), (Some(0.003), open.p90), "the server itself was late by 1 ms at p50");
        assert!((later.p99.unwrap() - open.p99.unwrap() - 0.005).abs() < 1e-9);
    }

    #[test]
    fn a_freeze_is_seen_from_the_first_request() {
        let knows = json!({"first_arrival_seconds": 1.0, "frozen_seconds": [[5.0, 7.0]], "truth": {}});
        let open = trial("freeze", "brunt", LoadMode::Open).truth(&knows).unwrap();
        assert!((open.max.unwrap() - 2.003).abs() < 0.01, "{open:?}");
        assert!((open.p90.unwrap() - 0.8).abs() < 0.02, "{open:?}");
    }
}
