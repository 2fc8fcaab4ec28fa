//! A subset of a run's requests with separate figures over time: those of a population, an agent, a
//! label or a transaction.
//!
//! Its text form is part of addresses in the studio: `label:GET /cart`.

use crate::result::label_name;
use brunt_model::series::Series;
use brunt_model::series::breakdown::BreakdownKey;
use brunt_model::{Run, Tally};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A subset of a run's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSubset {
    /// What it is a subset by.
    pub kind: SubsetKind,
    /// Name of the population, agent, label or transaction.
    pub name: String,
}

/// What a run is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubsetKind {
    /// By population.
    Population,
    /// By agent.
    Agent,
    /// By label. A hop of redirects has a label, too.
    Label,
    /// By transaction.
    Transaction,
}

impl SubsetKind {
    const ALL: [Self; 4] = [Self::Population, Self::Agent, Self::Label, Self::Transaction];

    /// Word of the kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Agent => "agent",
            Self::Label => "label",
            Self::Transaction => "transaction",
        }
    }
}

impl Display for RunSubset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.word(), self.name)
    }
}

/// Error of a text that is no subset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: write population:NAME, agent:NAME, label:NAME or transaction:NAME")]
pub struct NoSubset(String);

impl FromStr for RunSubset {
    type Err = NoSubset;

    fn from_str(text: &str) -> Result<Self, NoSubset> {
        let found = text.split_once(':').and_then(|(word, name)| {
            let kind = SubsetKind::ALL.into_iter().find(|kind| kind.word() == word)?;
            Some(Self { kind, name: name.to_owned() })
        });
        found.ok_or_else(|| NoSubset(text.to_owned()))
    }
}

impl RunSubset {
    /// Returns a run with the requests of the subset only. None if the run has no such subset, or no
    /// figures over time for it. Readings exist only for the whole run and for agents.
    pub fn of(&self, run: &Run) -> Option<Run> {
        match self.kind {
            SubsetKind::Population => run
                .populations
                .iter()
                .find(|population| {
                    population.plan.as_ref().is_some_and(|plan| plan.main().name == self.name)
                })
                .map(|population| with_marks(population, run)),
            SubsetKind::Agent => {
                let mut agents = run.environment.agents.iter().zip(&run.agents);
                let (_, agent) = agents.find(|(agent, _)| agent.name == self.name)?;
                Some(with_marks(agent, run))
            }
            SubsetKind::Label => {
                let number =
                    run.labels.keys().find(|label| label_name(run, **label) == self.name)?;
                let total = run.labels.get(number).map(|tally| (**tally).clone());
                from_series(run, &BreakdownKey::Label(*number), total.unwrap_or_default())
            }
            SubsetKind::Transaction => {
                let transaction = run.transactions.get(&self.name)?;
                let ended = transaction.succeeded + transaction.failed;
                let total = Tally {
                    begun: ended,
                    completed: ended,
                    good: transaction.succeeded,
                    response: transaction.response.clone(),
                    not_good: transaction.failed_response.clone(),
                    ..Tally::default()
                };
                from_series(run, &BreakdownKey::Transaction(self.name.clone()), total)
            }
        }
    }
}

/// Returns a part of the run with the marks of the user, which are events of the whole run.
fn with_marks(part: &Run, run: &Run) -> Run {
    Run { marks: run.marks.clone(), ..part.clone() }
}

fn from_series(run: &Run, key: &BreakdownKey, total: Tally) -> Option<Run> {
    let points = run.breakdown_series.points(key)?;
    Some(Run {
        plan: run.plan.clone(),
        unix_seconds: run.unix_seconds,
        phases: run.phases.clone(),
        total,
        series: Series::of_points(points),
        marks: run.marks.clone(),
        finish: run.finish.clone(),
        last_interval_end: run.last_interval_end,
        ..Run::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{Event, Phase, Snapshot, Tick};

    /// Returns a run of ten seconds, with a request of `home` in each and one of `cart` in the last five.
    fn run() -> Run {
        let names = [(1, "home"), (2, "cart: a:b")];
        let labels = names.map(|(id, name)| Event::Label { id, name: name.into(), hop_of: None });
        let intervals = (0..10).map(|second| {
            let mut snapshot = Snapshot {
                from: Tick(second * 1_000_000_000),
                to: Tick((second + 1) * 1_000_000_000),
                phase: Phase::Measure,
                ..Snapshot::default()
            };
            for (label, _) in names.iter().filter(|(label, _)| *label == 1 || second >= 5) {
                let tally = snapshot.label(*label);
                (tally.begun, tally.completed, tally.good) = (1, 1, 1);
                tally.response.record(1_000_000);
            }
            Event::Snapshot(Box::new(snapshot))
        });
        Run::of(&labels.into_iter().chain(intervals).collect::<Vec<_>>())
    }

    #[test]
    fn a_label_has_charts_of_its_requests() {
        let run = run();
        let cart: RunSubset = "label:cart: a:b".parse().unwrap();
        assert_eq!((cart.kind, cart.name.as_str()), (SubsetKind::Label, "cart: a:b"));
        assert_eq!(cart.to_string(), "label:cart: a:b");
        let subset = cart.of(&run).unwrap();
        let completed: Vec<u64> = subset.series.points().map(|p| p.flow.completed).collect();
        assert_eq!(completed, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(subset.total.completed, 5);
    }

    #[test]
    fn unknown_subsets_are_refused() {
        let run = run();
        for unknown in ["label:x", "transaction:home", "population:main", "agent:load-1"] {
            assert_eq!(unknown.parse::<RunSubset>().unwrap().of(&run), None, "{unknown}");
        }
        for wrong in ["", "home", "step:home"] {
            let error = wrong.parse::<RunSubset>().unwrap_err().to_string();
            assert!(error.contains("write population:NAME"), "{error}");
        }
    }
}
