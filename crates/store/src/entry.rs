//! Entry of the index for a run or an experiment.
//!
//! All of it is derived: it can be computed again from the log.

use brunt_model::finding::State;
use brunt_model::time::seconds_of;
use brunt_model::{Contender, Experiment, Judgement, LoadUnit, Plan, Run, TrialIndex};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum number of hosts, and of labels, of an entry.
const MAX_NAMES: usize = 1000;

/// Entry of the index for a run or an experiment. Times are in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IndexEntry {
    /// Short id, such as `uq4c95e`.
    pub id: String,
    /// Whether the entry is a run or an experiment.
    pub kind: ItemKind,
    /// State of the run or experiment.
    pub progress: ItemState,
    /// Id of the experiment that the run belongs to; null for a run without one.
    pub experiment: Option<String>,
    /// Position of the run among the trials of its experiment.
    pub place: Option<TrialIndex>,
    /// Start time, in seconds since 1970-01-01 UTC; null if it never started.
    pub started_unix_seconds: Option<f64>,
    /// The first URL of a run, or the name of an experiment.
    pub what: String,
    /// Names of the contenders. A run of an experiment has one.
    pub contenders: Vec<String>,
    /// Lowest and highest load; both are equal if there is only one.
    pub load: Option<LoadRange>,
    /// Number of planned trials of an experiment; null for a run.
    pub trials: Option<u64>,
    /// Number of trials that ran to their end; null for a run.
    pub trials_made: Option<u64>,
    /// Key figures of a run; null for an experiment, and while a run is active. Lists give an experiment with one trial the figures of its run.
    pub figures: Option<KeyFigures>,
    /// Servers of its requests, each with its port if the URL has one; at most 1000.
    pub hosts: Vec<String>,
    /// Labels of its requests; at most 1000.
    pub labels: Vec<String>,
    /// Tags that users gave it.
    pub tags: Vec<String>,
    /// Note that users gave it.
    pub note: Option<String>,
    /// True if users protected it from removal.
    pub pinned: bool,
}

/// Type of a stored item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A single run.
    Run,
    /// An experiment, with its runs.
    Experiment,
}

/// State of a stored run or experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// Active: a process writes to it.
    Running,
    /// Completed.
    Whole,
    /// Stopped early.
    Interrupted,
    /// Its writer stopped without an end record. The log can be read up to its last complete event.
    Torn,
}

/// Hosts and labels of the requests of a run or an experiment, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RequestNames {
    pub hosts: Vec<String>,
    pub labels: Vec<String>,
}

/// Lowest and highest load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LoadRange {
    /// Lowest load.
    pub from: f64,
    /// Highest load.
    pub to: f64,
    /// True if the load is a number of virtual users (closed loop), false for arrivals per second.
    pub users: bool,
}

/// Key figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct KeyFigures {
    /// Completed replies per second of measured time.
    pub throughput_per_second: f64,
    /// 99th percentile of the response time; null if no request was counted.
    pub p99_seconds: Option<f64>,
    /// True if the percentile is only a lower bound.
    pub p99_at_least: bool,
    /// Error ratio, from 0 to 1.
    pub errors_share: f64,
    /// Verdict on the load generator.
    pub verdict: State,
    /// Duration from start to end, in seconds.
    pub seconds: f64,
}

impl KeyFigures {
    /// Computes the key figures of a run.
    pub fn of(run: &Run, judgement: &Judgement) -> Self {
        let p99 = run.total.response_quantile(0.99);
        let counted = !run.total.is_empty();
        let end = run.finish.as_ref().map_or(run.last_interval_end, |finish| finish.at);
        Self {
            throughput_per_second: run.throughput(),
            p99_seconds: counted.then_some(seconds_of(p99.value)),
            p99_at_least: counted && p99.at_least,
            errors_share: run.total.error_share(),
            verdict: judgement.verdict.state,
            seconds: end.seconds(),
        }
    }
}

impl RequestNames {
    /// Returns the names in the plans of a run or an experiment, at most [`MAX_NAMES`] of each kind.
    pub fn of<'a>(plans: impl Iterator<Item = &'a Plan>) -> Self {
        let (mut hosts, mut labels) = (BTreeSet::new(), BTreeSet::new());
        // A list of URLs has a label for each, and may have a million.
        for request in plans.flat_map(Plan::requests) {
            if hosts.len() < MAX_NAMES {
                hosts.insert(authority(&request.url));
            }
            if labels.len() < MAX_NAMES {
                labels.insert(request.label.as_str());
            }
        }
        Self { hosts: owned(hosts), labels: owned(labels) }
    }
}

fn owned(names: BTreeSet<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

/// Host and port of a URL, without a user.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

impl LoadRange {
    /// Returns the peak load of a plan.
    pub fn of_plan(plan: &Plan) -> Self {
        use brunt_model::Load;
        let (shape, users) = match &plan.main().load {
            Load::Closed { users, .. } => (users, true),
            Load::Open { rate, .. } => (rate, false),
        };
        Self { from: shape.peak(), to: shape.peak(), users }
    }

    /// Returns the lowest and the highest load of all steps of an experiment.
    pub fn of_experiment(experiment: &Experiment) -> Option<Self> {
        let unit = experiment.contenders.first().map(Contender::unit)?;
        let loads: Vec<f64> =
            experiment.contenders.iter().flat_map(|c| &c.steps).map(|step| step.load).collect();
        let from = loads.iter().copied().reduce(f64::min)?;
        let to = loads.into_iter().reduce(f64::max)?;
        Some(Self { from, to, users: matches!(unit, LoadUnit::Users { .. }) })
    }
}

/// Returns the state of a run after its complete log has been read.
pub(crate) fn progress_of(run: &Run) -> ItemState {
    match &run.finish {
        None => ItemState::Torn,
        Some(finish) if finish.interrupted => ItemState::Interrupted,
        Some(_) => ItemState::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_urls_has_a_bounded_number_of_names() {
        let mut plan = crate::tests::world::plan();
        let request = plan.populations[0].scenario.requests[0].clone();
        let urls = (0..3 * MAX_NAMES).map(|number| brunt_model::Request {
            label: format!("item {number}"),
            url: format!("http://h{number}/"),
            ..request.clone()
        });
        plan.populations[0].scenario.requests = urls.collect::<Vec<_>>().into();
        let names = RequestNames::of([&plan].into_iter());
        assert_eq!((names.hosts.len(), names.labels.len()), (MAX_NAMES, MAX_NAMES));
    }

    #[test]
    fn the_authority_of_a_url_has_neither_user_nor_path() {
        for (url, expected) in [
            ("http://h/", "h"),
            ("https://h:8443?x=1", "h:8443"),
            ("ws://user:pass@[::1]:80/chat", "[::1]:80"),
            ("http://${host}/a@b", "${host}"),
        ] {
            assert_eq!(authority(url), expected);
        }
    }
}
