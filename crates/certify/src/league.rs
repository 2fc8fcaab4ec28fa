//! Runs all trials of a league, one after the other, and evaluates them.

use crate::cases::{CASES, ReferenceCase};
use crate::error::CertifyError;
use crate::settings::CertifySettings;
use crate::table::mark_of;
use crate::tools::{LoadMode, ScoredTool, TOOLS};
use crate::trial::{CertifyTrial, TrialOutcome};
use brunt_engine::RunControl;
use brunt_model::Environment;
use rustix::process::setpriority_process;

/// Seconds that a trial takes in addition to its load.
const OVERHEAD: u32 = 1;

/// A trial with its outcome.
#[derive(Debug)]
pub struct LeagueEntry {
    /// The trial, with its case, tool and load mode.
    pub trial: CertifyTrial,
    /// Outcome of the counted round.
    pub outcome: TrialOutcome,
}

/// Verdict on brunt's open loop, which this crate certifies. The other tools
/// are there for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeagueVerdict {
    /// Every reported figure is within its limit.
    Met,
    /// A figure is beyond its limit.
    Missed,
    /// Other processes used the machine, so the cause of an error is unknown.
    Unknown,
    /// No tool was scored.
    NothingScored,
}

/// The trials of all tools in all cases, with their results.
pub struct League {
    /// The machine that runs the comparison.
    pub environment: Environment,
    /// Start of the league, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// Requested length of the load in seconds.
    pub seconds: u32,
    /// Number of runs of each trial. The one with the median error counts.
    pub rounds: u32,
    /// True if the reference server had real-time priority.
    pub has_real_time_priority: bool,
    /// True if this process and its children had raised priority (nice -20).
    pub has_raised_priority: bool,
    /// Cases, in the order of the columns.
    pub cases: Vec<&'static ReferenceCase>,
    /// Installed tools, in the order of the rows.
    pub tools: Vec<&'static ScoredTool>,
    /// Requested tools that are not installed.
    pub absent: Vec<&'static str>,
    /// Load modes that were requested.
    pub ways: Vec<LoadMode>,
    /// Results of the trials so far.
    pub entries: Vec<LeagueEntry>,
}

impl League {
    /// Creates a league for these settings, without results.
    pub fn new(settings: &CertifySettings, environment: Environment, unix_seconds: f64) -> Self {
        let requested = TOOLS.into_iter().filter(|tool| settings.wants_tool(tool.name));
        let (tools, absent): (Vec<_>, Vec<_>) =
            requested.partition(|tool| tool.find(settings.search_path.as_deref()).is_some());
        Self {
            environment,
            unix_seconds,
            seconds: settings.seconds,
            rounds: settings.rounds,
            has_real_time_priority: false,
            has_raised_priority: false,
            cases: CASES.iter().filter(|case| settings.wants_case(case.name)).collect(),
            tools,
            absent: absent.into_iter().map(|tool| tool.name).collect(),
            ways: [LoadMode::Open, LoadMode::Closed]
                .into_iter()
                .filter(|way| settings.wants_way(*way))
                .collect(),
            entries: Vec::new(),
        }
    }

    /// Returns the trials in their order: all tools in one case, so that they
    /// find the same machine.
    pub fn trials(&self) -> Vec<CertifyTrial> {
        let mut trials = Vec::new();
        for &case in &self.cases {
            for &way in &self.ways {
                let able = self.tools.iter().filter(|tool| tool.ways.contains(&way));
                trials.extend(able.map(|&tool| CertifyTrial {
                    case,
                    tool,
                    way,
                    seconds: case.seconds(self.seconds),
                }));
            }
        }
        trials
    }

    /// Seconds that all trials take if no truth is refused.
    pub fn length(&self) -> u32 {
        self.trials().iter().map(|trial| (trial.load() + OVERHEAD) * self.rounds).sum()
    }

    /// Raises the priority of this process and all its children alike. The load of other processes
    /// then does not appear as an error of a tool.
    pub fn raise_priority(&mut self) {
        self.has_raised_priority = setpriority_process(None, -20).is_ok();
    }

    /// Runs all trials until `stop`. `progress` is called for each entry.
    ///
    /// # Errors
    ///
    /// Fails if the lab, a tool or one of their files fails. Errors in a tool's
    /// figures are no failures.
    pub fn run(
        &mut self,
        stop: &RunControl,
        mut progress: impl FnMut(&LeagueEntry, usize),
    ) -> Result<(), CertifyError> {
        let trials = self.trials();
        for trial in &trials {
            let mut outcomes = Vec::new();
            for _ in 0..self.rounds {
                if !stop.is_stopped() {
                    outcomes.push(trial.run(stop, &mut self.has_real_time_priority)?);
                }
            }
            // Without an outcome, the league was stopped before the first round.
            let Some(outcome) = middle(outcomes) else { return Ok(()) };
            let entry = LeagueEntry { trial: *trial, outcome };
            progress(&entry, trials.len());
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Returns the verdict on brunt's open loop.
    pub fn verdict(&self) -> LeagueVerdict {
        let nothing =
            self.entries.iter().all(|entry| !matches!(entry.outcome, TrialOutcome::Scored { .. }));
        let certified: Vec<&LeagueEntry> = self
            .entries
            .iter()
            .filter(|entry| entry.trial.tool.program.is_none() && entry.trial.way == LoadMode::Open)
            .collect();
        let missed = certified.iter().filter_map(|entry| mark_of(entry)).any(|mark| !mark.met);
        let unknown =
            certified.iter().any(|entry| matches!(entry.outcome, TrialOutcome::Unknown(_)));
        match (nothing && !unknown, missed, unknown) {
            (true, ..) => LeagueVerdict::NothingScored,
            (false, true, _) => LeagueVerdict::Missed,
            (false, false, true) => LeagueVerdict::Unknown,
            (false, false, false) => LeagueVerdict::Met,
        }
    }

    /// Returns the entry of a case, a tool and a load mode.
    pub fn entry(
        &self,
        case: &ReferenceCase,
        tool: &ScoredTool,
        way: LoadMode,
    ) -> Option<&LeagueEntry> {
        self.entries.iter().find(|entry| {
            let trial = &entry.trial;
            trial.case.name == case.name && trial.tool.name == tool.name && trial.way == way
        })
    }
}

/// Returns the outcome with the median error. An outcome without a truth counts only if
/// there is no other.
fn middle(outcomes: Vec<TrialOutcome>) -> Option<TrialOutcome> {
    let (mut scored, rest): (Vec<_>, Vec<_>) = outcomes
        .into_iter()
        .filter(|outcome| !matches!(outcome, TrialOutcome::Interrupted))
        .partition(|outcome| error_size(outcome).is_some());
    scored.sort_by(|a, b| {
        error_size(a).partial_cmp(&error_size(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    // Of an even number, the smaller of the two in the middle.
    let index = scored.len().saturating_sub(1) / 2;
    scored.into_iter().nth(index).or_else(|| rest.into_iter().next())
}

/// Absolute deviation of a scored outcome; None for others.
fn error_size(outcome: &TrialOutcome) -> Option<f64> {
    match outcome {
        TrialOutcome::Scored { mark, .. } => Some(mark.map_or(0.0, |mark| mark.deviation.abs())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::RunMark;

    fn scored(deviation: f64) -> TrialOutcome {
        let mark = Some(RunMark { figure: "p50", deviation, met: false });
        TrialOutcome::Scored { reported: Box::default(), truth: Box::default(), mark }
    }

    #[test]
    fn the_median_round_is_selected() {
        let deviation = |outcomes| match middle(outcomes) {
            Some(TrialOutcome::Scored { mark: Some(mark), .. }) => mark.deviation,
            other => panic!("{other:?}"),
        };
        assert_eq!(deviation(vec![scored(-0.9), scored(0.1), scored(-0.2)]), -0.2);
        assert_eq!(deviation(vec![TrialOutcome::NoTruth("busy".into()), scored(0.3)]), 0.3);
        assert!(matches!(
            middle(vec![TrialOutcome::NoTruth("busy".into())]),
            Some(TrialOutcome::NoTruth(_))
        ));
        assert!(middle(vec![TrialOutcome::Interrupted]).is_none());
    }
}
