//! Selects the requests of a subset of a run, with their figures over time.

use crate::result::label_name;
use crate::subset::{RunSubset, SubsetKind};
use brunt_model::series::Series;
use brunt_model::series::breakdown::BreakdownKey;
use brunt_model::{Run, Tally};

/// Returns a run with the requests of a subset only. None if the run has no such subset, or no
/// figures over time for it. Readings exist only for the whole run and for agents.
pub fn select(run: &Run, subset: &RunSubset) -> Option<Run> {
    match subset.kind {
        SubsetKind::Population => run
            .populations
            .iter()
            .find(|population| {
                population.plan.as_ref().is_some_and(|plan| plan.main().name == subset.name)
            })
            .map(|population| with_marks(population, run)),
        SubsetKind::Agent => {
            let mut agents = run.environment.agents.iter().zip(&run.agents);
            let (_, agent) = agents.find(|(agent, _)| agent.name == subset.name)?;
            Some(with_marks(agent, run))
        }
        SubsetKind::Label => {
            let number = run.labels.keys().find(|label| label_name(run, **label) == subset.name)?;
            let total = run.labels.get(number).map(|tally| (**tally).clone());
            let selected =
                from_series(run, &BreakdownKey::Label(*number), total.unwrap_or_default())?;
            Some(Run { label_names: [(*number, subset.name.clone())].into(), ..selected })
        }
        SubsetKind::Transaction => {
            let transaction = run.transactions.get(&subset.name)?;
            let ended = transaction.succeeded + transaction.failed;
            let total = Tally {
                begun: ended,
                completed: ended,
                good: transaction.succeeded,
                response: transaction.response.clone(),
                not_good: transaction.failed_response.clone(),
                ..Tally::default()
            };
            from_series(run, &BreakdownKey::Transaction(subset.name.clone()), total)
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
        let subset = select(&run, &"label:cart: a:b".parse().unwrap()).unwrap();
        let completed: Vec<u64> = subset.series.points().map(|p| p.flow.completed).collect();
        assert_eq!(completed, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
        assert_eq!(subset.total.completed, 5);
    }

    #[test]
    fn an_unknown_subset_has_no_run() {
        let run = run();
        for unknown in ["label:x", "transaction:home", "population:main", "agent:load-1"] {
            assert_eq!(select(&run, &unknown.parse().unwrap()), None, "{unknown}");
        }
    }
}
