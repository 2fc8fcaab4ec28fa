//! Runs one trial: a tool, a case and a load mode. The result is the tool's report and the truth.
//!
//! The truth of a closed loop covers the requests that arrived. The truth of an open loop covers
//! the requests of the schedule, at the instants at which they were due. A tool that sends late, or
//! not at all, while the server hangs, misses the time that its users would have waited. Errors and
//! throughput always cover the requests that arrived.
//!
//! The server's own lateness (written minus computed times, at the same percentile) is
//! part of either truth: it is real, and no error of a tool. It is small, otherwise the
//! server refuses its figures.

use crate::cases::ReferenceCase;
use crate::error::CertifyError;
use crate::figures::CertifiedFigures;
use crate::lab::{ReferenceServer, brunt_program};
use crate::process::{Process, WaitEnd};
use crate::quiet::CpuTimes;
use crate::tools::{
    LoadMode, LoadParameters, ScoredTool, Spacing, ToolReport, text::is_refusal, text::sum,
};
use crate::verdict::{RunMark, mark};
use brunt_engine::RunControl;
use brunt_lab::args::LabOptions;
use brunt_lab::freeze::Freeze;
use brunt_lab::planned::{Protocol, planned};
use brunt_model::numbers::narrow_percent;
use clap::Parser;
use serde_json::Value;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum number of attempts, if the server refuses its truth or other
/// processes disturb the trial.
const TRIES: u32 = 3;

/// Maximum time that a tool may take in addition to its load.
const PATIENCE: Duration = Duration::from_secs(45);

/// A tool in a case, with a load mode.
#[derive(Debug, Clone, Copy)]
pub struct CertifyTrial {
    /// Case, which defines the server.
    pub case: &'static ReferenceCase,
    /// Load generator that is tried.
    pub tool: &'static ScoredTool,
    /// Load mode of the trial.
    pub way: LoadMode,
    /// Length of the load in seconds.
    pub seconds: u32,
}

/// Outcome of a trial.
#[derive(Debug, Clone)]
pub enum TrialOutcome {
    /// The tool reported figures, and the truth is known.
    Scored {
        /// Figures that the tool reported.
        reported: Box<CertifiedFigures>,
        /// True figures of the same load.
        truth: Box<CertifiedFigures>,
        /// Greatest deviation between them; None if the tool reported no figure that is compared.
        mark: Option<RunMark>,
    },
    /// The server refused its own truth every time, for this reason.
    NoTruth(String),
    /// Each time a figure was beyond its limit while other processes used the machine, so
    /// the cause is unknown.
    Unknown(String),
    /// The tool failed, for this reason.
    Failed(String),
    /// The user interrupted the trial.
    Interrupted,
}

impl CertifyTrial {
    /// Runs the trial, several times if the truth is refused or other processes disturb it. Sets
    /// `has_real_time_priority` to true if the server had real-time priority.
    ///
    /// # Errors
    ///
    /// Fails if the lab, the tool or one of their files fails. Errors in a tool's
    /// figures are no failures.
    pub fn run(
        &self,
        stop: &RunControl,
        has_real_time_priority: &mut bool,
    ) -> Result<TrialOutcome, CertifyError> {
        let mut outcome = TrialOutcome::Interrupted;
        for _ in 0..TRIES {
            outcome = self.attempt(stop, has_real_time_priority)?;
            if !matches!(outcome, TrialOutcome::NoTruth(_) | TrialOutcome::Unknown(_)) {
                break;
            }
        }
        Ok(outcome)
    }

    fn attempt(
        &self,
        stop: &RunControl,
        has_real_time_priority: &mut bool,
    ) -> Result<TrialOutcome, CertifyError> {
        let folder = tempfile::tempdir().map_err(CertifyError::Scratch)?;
        // Usage of the machine by other processes is the difference between two readings.
        let before = CpuTimes::now();
        let mut lab =
            ReferenceServer::start(self.case, self.tool.protocol, folder.path(), self.load())?;
        *has_real_time_priority = lab.has_real_time_priority;
        let report = match self.drive(&mut lab, folder.path(), stop)? {
            Driven::Finished(report) => report,
            Driven::Failed(reason) => return Ok(TrialOutcome::Failed(reason)),
            Driven::Interrupted => return Ok(TrialOutcome::Interrupted),
        };
        let lab_report = lab.end()?;
        let disturbance = CpuTimes::now().disturbed_since(&before);
        if lab_report["truth"]["accepted"] != true {
            let reason = lab_report["truth"]["reason"].as_str().unwrap_or("no reason was given");
            return Ok(TrialOutcome::NoTruth(reason.to_owned()));
        }
        let truth = self.truth(&lab_report)?;
        Ok(match (self.tool.read)(&report) {
            Err(reason) => TrialOutcome::Failed(format!("{reason}: {}", first_line(&report.out))),
            Ok(reported) => {
                let mark = mark(&reported, &truth, self.case.compares);
                if let (Some(mark), Some(disturbance_text)) =
                    (mark.filter(|mark| !mark.met), disturbance)
                {
                    return Ok(TrialOutcome::Unknown(format!(
                        "{} at {}, while {disturbance_text}",
                        narrow_percent(mark.deviation),
                        mark.figure
                    )));
                }
                TrialOutcome::Scored { reported: Box::new(reported), truth: Box::new(truth), mark }
            }
        })
    }

    /// Seconds that the tool runs.
    pub fn load(&self) -> u32 {
        self.seconds + self.tool.lead
    }

    fn job(&self, port: u16) -> LoadParameters {
        let ReferenceCase { rate, connections, most, .. } = *self.case;
        LoadParameters { port, way: self.way, rate, connections, most, seconds: self.seconds }
    }

    fn drive(
        &self,
        lab: &mut ReferenceServer,
        folder: &Path,
        stop: &RunControl,
    ) -> Result<Driven, CertifyError> {
        let command = (self.tool.command)(&self.job(lab.port));
        for (name, text) in &command.files {
            fs::write(folder.join(name), text)?;
        }
        let mut process = match Process::start(&mut self.process_command(&command.words, folder)?) {
            Ok(process) => process,
            Err(error) => return Ok(Driven::Failed(error.to_string())),
        };
        // Tools wait for late replies, evaluate their samples, or start slowly (a JVM).
        let most = Duration::from_secs(u64::from(self.load())) + PATIENCE;
        Ok(match self.wait_for(&mut process, lab, most, stop)? {
            WaitEnd::Interrupted => Driven::Interrupted,
            WaitEnd::TooLong => {
                Driven::Failed(format!("it was still at work after {} s", most.as_secs()))
            }
            WaitEnd::Ended(status) => {
                let report = self.report(folder)?;
                // Some tools end with a failure status if there were errors, though
                // their report is complete.
                if status.success() || (self.tool.read)(&report).is_ok() {
                    return Ok(Driven::Finished(report));
                }
                let message = fs::read(folder.join("err"))?;
                Driven::Failed(format!(
                    "it ended with {status}: {}",
                    first_line(&String::from_utf8_lossy(&message))
                ))
            }
        })
    }

    /// Waits for the tool's end. Meanwhile freezes the server if the case requires it.
    fn wait_for(
        &self,
        tool: &mut Process,
        lab: &mut ReferenceServer,
        most: Duration,
        stop: &RunControl,
    ) -> Result<WaitEnd, CertifyError> {
        if let Some((after, length)) = self.case.freeze {
            let before = tool.wait(Duration::from_secs(u64::from(after + self.tool.lead)), stop)?;
            // The tool ended, or the user interrupted the trial, before the freeze.
            if before != WaitEnd::TooLong {
                return Ok(before);
            }
            lab.freeze(Duration::from_secs(u64::from(length)))?;
        }
        Ok(tool.wait(most, stop)?)
    }

    fn report(&self, folder: &Path) -> Result<ToolReport, CertifyError> {
        // The tool's `read` reports a missing file.
        let file = self.tool.file.map(|name| read_text(&folder.join(name)).unwrap_or_default());
        Ok(ToolReport { out: read_text(&folder.join("out"))?, file: file.unwrap_or_default() })
    }

    fn process_command(&self, words: &[String], folder: &Path) -> Result<Command, CertifyError> {
        let (program, arguments) =
            words.split_first().ok_or(CertifyError::NoCommand(self.tool.name))?;
        let mut command = if self.tool.program.is_none() {
            Command::new(brunt_program())
        } else {
            Command::new(program)
        };
        // An empty home directory keeps the tools from using the user's configuration files.
        command.args(arguments).current_dir(folder).env("HOME", folder).stdin(Stdio::null());
        command.stdout(File::create(folder.join("out"))?).stderr(File::create(folder.join("err"))?);
        Ok(command)
    }

    fn truth(&self, lab_report: &Value) -> Result<CertifiedFigures, CertifyError> {
        let computed = CertifiedFigures::from_summary(&lab_report["truth"]["sojourn_seconds"]);
        let written = CertifiedFigures::from_summary(&lab_report["truth"]["written_seconds"]);
        let times = match self.way {
            LoadMode::Closed => computed.clone(),
            LoadMode::Open => self.truth_of_the_plan(lab_report)?,
        };
        let times = times.with_delay(&computed, &written);
        let first_arrival = number(lab_report, "/first_arrival_seconds");
        let last_written = number(lab_report, "/last_written_seconds");
        let span = last_written.zip(first_arrival).map(|(last, first)| last - first);
        let throughput = number(lab_report, "/requests/answered")
            .zip(span)
            .map(|(answered, span)| answered / span);
        let kinds = &lab_report["requests"]["failed_by_kind"];
        let failed = sum(kinds, |kind| !is_whole(kind));
        let refused = sum(kinds, is_refusal);
        // Messages have no status: the server closes the WebSocket instead.
        let is_websocket = self.tool.protocol == Protocol::WebSocket;
        let (failed, refused) =
            if is_websocket { (failed + refused, 0.0) } else { (failed, refused) };
        Ok(CertifiedFigures { throughput, ..times }.with_errors(failed, refused))
    }

    fn truth_of_the_plan(&self, lab_report: &Value) -> Result<CertifiedFigures, CertifyError> {
        let first = lab_report["first_arrival_seconds"].as_f64().unwrap_or(0.0);
        let spans = lab_report["frozen_seconds"].as_array().into_iter().flatten();
        let freezes: Vec<_> = spans
            .filter_map(|span| {
                let from = nanos_since(first, span[0].as_f64()?);
                Some(Freeze { from, to: nanos_since(first, span[1].as_f64()?) })
            })
            .collect();
        // The parser ignores the first word, the name of the program.
        let options =
            LabOptions::try_parse_from(["lab"].into_iter().chain(self.case.lab.split(' ')))?;
        // The tool does not report requests of its calibration.
        let measured_from = u64::from(self.tool.lead) * 1_000_000_000;
        let summary =
            planned(&options, self.tool.protocol, (&self.arrivals(), &freezes), measured_from)
                .map_err(CertifyError::Truth)?;
        Ok(CertifiedFigures::from_summary(&serde_json::to_value(summary)?))
    }

    /// Times at which requests were due, in nanoseconds from the first.
    fn arrivals(&self) -> Vec<u64> {
        let rate = u64::from(self.case.rate);
        let burst = match self.tool.spacing {
            Spacing::Even => 1,
            Spacing::PerConnection => u64::from(self.job(0).sharing()),
        };
        // The requests of a burst are due at the same instant.
        (0..rate * u64::from(self.load()))
            .map(|n| n / burst * burst * 1_000_000_000 / rate)
            .collect()
    }
}

/// End of a tool's run.
enum Driven {
    Finished(ToolReport),
    Failed(String),
    Interrupted,
}

fn read_text(file: &Path) -> io::Result<String> {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn number(json: &Value, pointer: &str) -> Option<f64> {
    json.pointer(pointer).and_then(Value::as_f64)
}

/// Nanoseconds between two times in seconds; 0 if `seconds` is earlier.
fn nanos_since(first: f64, seconds: f64) -> u64 {
    ((seconds - first).max(0.0) * 1e9) as u64
}

/// True if a reply with this failure is whole nevertheless.
fn is_whole(kind: &str) -> bool {
    kind.parse::<u16>().is_ok() || ["slow", "extra"].contains(&kind)
}

fn first_line(text: &str) -> String {
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing");
    line.chars().take(120).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use crate::tools::TOOLS;
    use serde_json::json;

    fn trial(case: &str, tool: &str, way: LoadMode) -> CertifyTrial {
        let case = CASES.iter().find(|one| one.name == case).unwrap();
        CertifyTrial {
            case,
            tool: TOOLS.iter().find(|one| one.name == tool).unwrap(),
            way,
            seconds: 12,
        }
    }

    #[test]
    fn arrivals_follow_the_requested_spacing() {
        let even = trial("const", "brunt", LoadMode::Open).arrivals();
        assert_eq!((even.len(), even[1], even[11_999]), (12_000, 1_000_000, 11_999_000_000));
        let bursts = trial("const", "h2load", LoadMode::Open).arrivals();
        assert_eq!((bursts[19], bursts[20], bursts.len()), (0, 20_000_000, 12_000));
    }

    #[test]
    fn truth_is_planned_arrivals_for_open_loops_and_received_ones_for_closed_loops() {
        // A tool that waited for each reply: next to nothing came while the server hung.
        let knows = json!({
            "first_arrival_seconds": 1.5, "last_written_seconds": 13.5, "frozen_seconds": [],
            "requests": {"answered": 4800, "failed_by_kind": {"503": 7, "302": 1, "reset": 2, "close": 3, "slow": 9}},
            "truth": {"sojourn_seconds": {"p50": 0.002, "p90": 0.002, "p99": 0.002, "p99_9": 1.0, "max": 1.0, "mean": 0.003}},
        });
        let closed = trial("stall", "h2load", LoadMode::Closed).truth(&knows).unwrap();
        assert_eq!((closed.p99, closed.throughput), (Some(0.002), Some(400.0)));
        assert_eq!(
            (closed.failed, closed.refused, closed.errors),
            (Some(5.0), Some(7.0), Some(12.0))
        );
        let open = trial("stall", "brunt", LoadMode::Open).truth(&knows).unwrap();
        assert!((open.p99.unwrap() - 0.94).abs() < 0.01, "{open:?}");
        assert_eq!(open.p50, Some(0.002));
        let closed = trial("stall", "brunt-ws", LoadMode::Closed).truth(&knows).unwrap();
        assert_eq!(
            (closed.failed, closed.refused, closed.errors),
            (Some(12.0), Some(0.0), Some(12.0)),
            "no statuses"
        );
        let mut late = knows;
        late["truth"]["written_seconds"] = json!({"p50": 0.003, "p99": 0.007});
        let later = trial("stall", "brunt", LoadMode::Open).truth(&late).unwrap();
        assert_eq!(
            (later.p50, later.p90),
            (Some(0.003), open.p90),
            "the server itself was late by 1 ms at p50"
        );
        assert!((later.p99.unwrap() - open.p99.unwrap() - 0.005).abs() < 1e-9);
    }

    #[test]
    fn a_freeze_counts_from_the_first_request() {
        let knows =
            json!({"first_arrival_seconds": 1.0, "frozen_seconds": [[5.0, 7.0]], "truth": {}});
        let open = trial("freeze", "brunt", LoadMode::Open).truth(&knows).unwrap();
        assert!((open.max.unwrap() - 2.003).abs() < 0.01, "{open:?}");
        assert!((open.p90.unwrap() - 0.8).abs() < 0.02, "{open:?}");
    }
}
