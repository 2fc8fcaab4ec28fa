//! All trials of a league, one after the other, and what is to be said of them.

use crate::cases::{CASES, Case};
use crate::error::CertifyError;
use crate::settings::Settings;
use crate::table::mark_of;
use crate::tools::{LoadMode, TOOLS, Tool};
use crate::trial::{Outcome, Trial};
use brunt_engine::Control;
use brunt_model::Environment;
use rustix::process::setpriority_process;

/// What a trial takes beside its load, in seconds.
const AROUND: u32 = 1;

/// A trial and what became of it.
#[derive(Debug)]
pub struct Entry {
    /// What was tried.
    pub trial: Trial,
    /// What became of it.
    pub outcome: Outcome,
}

/// What a league says of brunt's own open loop, which is what is certified; the others are there for comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeagueVerdict {
    /// Every figure that was told is within its limit.
    Met,
    /// A figure is beyond its limit.
    Missed,
    /// Others used the machine, so that nobody knows whose error a figure is.
    Unknown,
    /// No tool was scored.
    NothingScored,
}

/// A league.
pub struct League {
    /// The machine of the comparison.
    pub environment: Environment,
    /// When, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// How long the load was to last, in seconds.
    pub seconds: u32,
    /// Runs of each trial; the one in the middle is kept.
    pub rounds: u32,
    /// Whether the reference server had real-time priority.
    pub prompt: bool,
    /// Whether everybody else had the first place in the queue for the processor (nice -20).
    pub hurried: bool,
    /// The cases, in the order of the columns.
    pub cases: Vec<&'static Case>,
    /// The tools that are here, in the order of the rows.
    pub tools: Vec<&'static Tool>,
    /// The tools that were asked for and are not here.
    pub absent: Vec<&'static str>,
    /// The ways that were asked for.
    pub ways: Vec<LoadMode>,
    /// What was tried.
    pub entries: Vec<Entry>,
}

impl League {
    /// A league as it was asked for, with nothing tried yet.
    pub fn new(settings: &Settings, environment: Environment, unix_seconds: f64) -> Self {
        let wanted = TOOLS.into_iter().filter(|tool| settings.wants_tool(tool.name));
        let (tools, absent): (Vec<_>, Vec<_>) =
            wanted.partition(|tool| tool.find(settings.search_path.as_deref()).is_some());
        Self {
            environment,
            unix_seconds,
            seconds: settings.seconds,
            rounds: settings.rounds,
            prompt: false,
            hurried: false,
            cases: CASES.iter().filter(|case| settings.wants_case(case.name)).collect(),
            tools,
            absent: absent.into_iter().map(|tool| tool.name).collect(),
            ways: [LoadMode::Open, LoadMode::Closed].into_iter().filter(|way| settings.wants_way(*way)).collect(),
            entries: Vec::new(),
        }
    }

    /// What is to be tried, in order: all tools in one case, so that they meet the same machine.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for &case in &self.cases {
            for &way in &self.ways {
                let able = self.tools.iter().filter(|tool| tool.ways.contains(&way));
                trials.extend(able.map(|&tool| Trial { case, tool, way, seconds: case.seconds(self.seconds) }));
            }
        }
        trials
    }

    /// How long all of it takes if no truth is refused, in seconds.
    pub fn length(&self) -> u32 {
        self.trials().iter().map(|trial| (trial.load() + AROUND) * self.rounds).sum()
    }

    /// First place in the queue for the processor, for us and all our children alike: what others do on this machine is not
    /// to be told as an error of a tool.
    pub fn hurry(&mut self) {
        self.hurried = setpriority_process(None, -20).is_ok();
    }

    /// Tries everything, until `stop`; `progress` is told of each entry.
    ///
    /// # Errors
    ///
    /// The lab, the tool or a file of theirs fails; what a tool measured is no error.
    pub fn run(&mut self, stop: &Control, mut progress: impl FnMut(&Entry, usize)) -> Result<(), CertifyError> {
        let trials = self.trials();
        for trial in &trials {
            let mut outcomes = Vec::new();
            for _ in 0..self.rounds {
                if !stop.is_stopped() {
                    outcomes.push(trial.run(stop, &mut self.prompt)?);
                }
            }
            let Some(outcome) = middle(outcomes) else { return Ok(()) };
            let entry = Entry { trial: *trial, outcome };
            progress(&entry, trials.len());
            self.entries.push(entry);
        }
        Ok(())
    }

    /// How brunt stands.
    pub fn standing(&self) -> LeagueVerdict {
        let own = |entry: &&Entry| entry.trial.tool.program.is_none() && entry.trial.way == LoadMode::Open;
        let missed = self.entries.iter().filter(own).filter_map(mark_of).any(|mark| !mark.met);
        let nothing = self.entries.iter().all(|entry| !matches!(entry.outcome, Outcome::Scored { .. }));
        let unknown = self.entries.iter().filter(own).any(|entry| matches!(entry.outcome, Outcome::Unknown(_)));
        match (nothing && !unknown, missed, unknown) {
            (true, ..) => LeagueVerdict::NothingScored,
            (false, true, _) => LeagueVerdict::Missed,
            (false, false, true) => LeagueVerdict::Unknown,
            (false, false, false) => LeagueVerdict::Met,
        }
    }

    /// The entry of a cell.
    pub fn entry(&self, case: &Case, tool: &Tool, way: LoadMode) -> Option<&Entry> {
        let is = |trial: &Trial| trial.case.name == case.name && trial.tool.name == tool.name && trial.way == way;
        self.entries.iter().find(|entry| is(&entry.trial))
    }
}

/// The outcome in the middle by the size of its error; one without a truth only where there is no other.
fn middle(outcomes: Vec<Outcome>) -> Option<Outcome> {
    let size = |outcome: &Outcome| match outcome {
        Outcome::Scored { mark, .. } => Some(mark.map_or(0.0, |mark| mark.deviation.abs())),
        _ => None,
    };
    let (mut scored, rest): (Vec<_>, Vec<_>) =
        outcomes.into_iter().filter(|one| !matches!(one, Outcome::Interrupted)).partition(|one| size(one).is_some());
    scored.sort_by(|a, b| size(a).partial_cmp(&size(b)).unwrap_or(std::cmp::Ordering::Equal));
    let at = scored.len().saturating_sub(1) / 2;
    scored.into_iter().nth(at).or_else(|| rest.into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Mark;

    fn scored(deviation: f64) -> Outcome {
        let mark = Some(Mark { figure: "p50", deviation, met: false });
        Outcome::Scored { told: Box::default(), truth: Box::default(), mark }
    }

    #[test]
    fn the_round_in_the_middle_is_kept() {
        let deviation = |outcomes| match middle(outcomes) {
            Some(Outcome::Scored { mark: Some(mark), .. }) => mark.deviation,
            other => panic!("{other:?}"),
        };
        assert_eq!(deviation(vec![scored(-0.9), scored(0.1), scored(-0.2)]), -0.2);
        assert_eq!(deviation(vec![Outcome::NoTruth("busy".into()), scored(0.3)]), 0.3);
        assert!(matches!(middle(vec![Outcome::NoTruth("busy".into())]), Some(Outcome::NoTruth(_))));
        assert!(middle(vec![Outcome::Interrupted]).is_none());
    }
}
