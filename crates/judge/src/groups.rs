//! Compares groups of agents within one run, such as those of two zones.
//!
//! A quantile of all requests is a common threshold. If two groups measure the same response times, each has
//! the same share of slower requests. The variance of the difference is that of a ratio estimator over blocks
//! of the run (`brunt_stats::blocks`), so that requests need not be independent of each other, and a server
//! that becomes slow for all groups at once is no difference. It is never smaller than that of
//! independent requests. Holm's procedure corrects for the number of comparisons.
//!
//! Groups with different populations send different requests, so they are not compared.

use crate::steady::measured;
use crate::steady::percentile::count_beyond;
use crate::steady::response_times::ResponseTimes;
use crate::texts::message;
use brunt_model::finding::GroupComparison;
use brunt_model::run::GroupOfAgents;
use brunt_model::time::seconds_of;
use brunt_model::{Run, Tick};
use brunt_stats::blocks;
use brunt_stats::holm::{Hypothesis, holm};
use brunt_stats::order::student_p;
use std::collections::BTreeMap;

/// Quantiles at which groups are compared.
const QUANTILES: [f64; 2] = [0.5, 0.99];

/// Fewest requests beyond a threshold, in all groups together, for a comparison.
const FEWEST_BEYOND: f64 = 20.0;

/// Probability of a false difference among all comparisons of a run.
const ALPHA: f64 = 0.05;

/// Requests of an interval, and those beyond a threshold.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    all: f64,
    beyond: f64,
}

impl Counts {
    fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, one| Self {
            all: sum.all + one.all,
            beyond: sum.beyond + one.beyond,
        })
    }

    fn share(self) -> f64 {
        self.beyond / self.all
    }

    /// Deviation of an interval from the share of this sum, as a share of its requests. All deviations add up
    /// to 0.
    fn deviation(self, interval: Self) -> f64 {
        (interval.beyond - self.share() * interval.all) / self.all
    }

    /// Variance of the share if requests are independent.
    fn independent_variance(self) -> f64 {
        self.share() * (1.0 - self.share()) / self.all
    }
}

/// Counts of a group by the begin of the interval.
type Intervals = BTreeMap<Tick, Counts>;

/// Compares all pairs of groups. Pairs without enough requests or blocks are left out.
pub fn comparisons(run: &Run) -> Vec<GroupComparison> {
    let groups = run.agent_groups();
    let response_times = ResponseTimes::new(run);
    if groups.len() < 2 || response_times.count() == 0 {
        return Vec::new();
    }
    let mut comparisons: Vec<GroupComparison> = Vec::new();
    let groups: Vec<CountedGroup> =
        groups.iter().map(|group| CountedGroup::new(group, &response_times)).collect();
    for (index, quantile) in QUANTILES.into_iter().enumerate() {
        let threshold = response_times.threshold(quantile);
        for (number, first) in groups.iter().enumerate() {
            let others = &groups[number + 1..];
            for second in others.iter().filter(|other| other.populations == first.populations) {
                let pair = GroupPair { quantile, threshold, first, second };
                comparisons.extend(pair.compare(index));
            }
        }
    }
    let hypotheses: Vec<Hypothesis> =
        comparisons.iter().map(|one| Hypothesis { p: one.p, weight: 1.0 }).collect();
    for (one, result) in comparisons.iter_mut().zip(holm(&hypotheses, ALPHA)) {
        one.p = result.p;
        one.is_significant = result.rejected;
    }
    comparisons
}

/// A group with its counts.
struct CountedGroup<'a> {
    name: &'a str,
    /// Names of the populations that its agents carry out.
    populations: Vec<&'a str>,
    /// By quantile.
    intervals: [Intervals; QUANTILES.len()],
}

impl<'a> CountedGroup<'a> {
    /// Counts the requests of a group, and those beyond each quantile of all requests.
    fn new(group: &GroupOfAgents<'a>, response_times: &ResponseTimes) -> Self {
        let mut intervals = [const { Intervals::new() }; QUANTILES.len()];
        for agent in &group.agents {
            let points = measured(agent);
            let counts = count_beyond(&points, response_times, &QUANTILES);
            for (intervals, counts) in intervals.iter_mut().zip(counts) {
                for (point, (all, beyond)) in points.iter().zip(counts) {
                    let sum = intervals.entry(point.from).or_default();
                    *sum = Counts::sum(&[*sum, Counts { all, beyond }]);
                }
            }
        }
        // All agents of a group have the same populations.
        let plan = group.agents.first().and_then(|agent| agent.plan.as_ref());
        let populations = plan.into_iter().flat_map(|plan| &plan.populations);
        let populations = populations.map(|population| population.name.as_str()).collect();
        Self { name: group.name, populations, intervals }
    }
}

/// Two groups at a threshold.
struct GroupPair<'a> {
    quantile: f64,
    threshold: u64,
    first: &'a CountedGroup<'a>,
    second: &'a CountedGroup<'a>,
}

impl GroupPair<'_> {
    /// Compares the shares of the groups beyond the threshold, over the intervals that both have. `index` is
    /// that of the quantile. None if there is too little to compare.
    fn compare(&self, index: usize) -> Option<GroupComparison> {
        let Self { quantile, threshold, first, second } = *self;
        let pairs: Vec<[Counts; 2]> = first.intervals[index]
            .iter()
            .filter_map(|(at, counts)| Some([*counts, *second.intervals[index].get(at)?]))
            .collect();
        let first_sum = Counts::sum(pairs.iter().map(|[counts, _]| counts));
        let second_sum = Counts::sum(pairs.iter().map(|[_, counts]| counts));
        if first_sum.all == 0.0
            || second_sum.all == 0.0
            || first_sum.beyond + second_sum.beyond < FEWEST_BEYOND
        {
            return None;
        }
        let deviations: Vec<f64> = pairs
            .iter()
            .map(|[one, other]| first_sum.deviation(*one) - second_sum.deviation(*other))
            .collect();
        let spread = blocks::spread(&deviations)?;
        let variance = (spread.variance * deviations.len() as f64)
            .max(first_sum.independent_variance() + second_sum.independent_variance());
        if variance == 0.0 {
            return None;
        }
        let difference = first_sum.share() - second_sum.share();
        let sides = [(first.name, first_sum.share()), (second.name, second_sum.share())];
        let [slower, faster] = if difference < 0.0 { [sides[1], sides[0]] } else { sides };
        Some(GroupComparison {
            quantile,
            threshold_seconds: seconds_of(threshold),
            slower: slower.0.to_owned(),
            faster: faster.0.to_owned(),
            slower_share: slower.1,
            faster_share: faster.1,
            p: student_p(difference / variance.sqrt(), spread.freedom),
            is_significant: false,
            method: message!(
                "method-of-run.groups",
                blocks = spread.blocks.to_string(),
                intervals = spread.block.to_string()
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::{AgentEnvironment, Environment, Event, Phase, Snapshot};
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    fn exponential(random: &mut Pcg64Mcg, mean: f64) -> f64 {
        -mean * (1.0 - random.random::<f64>()).ln()
    }

    /// A run of 60 s on two groups of two agents. The server's mean drifts for all of them at once; requests of the
    /// second group take longer by a factor.
    fn run(seed: u64, factor: f64) -> Run {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let agent = |number: u32| AgentEnvironment {
            name: format!("a{number}"),
            group: Some(if number < 2 { "eu" } else { "us" }.to_owned()),
            ..AgentEnvironment::default()
        };
        let agents: Vec<AgentEnvironment> = (0..4).map(agent).collect();
        let environment = Environment { agents, ..Environment::default() };
        let mut run = Run { environment, agents: vec![Run::default(); 4], ..Run::default() };
        let mut level = 0.0;
        for interval in 0..600_u64 {
            level = 0.9 * level + random.random::<f64>() - 0.5;
            let mut whole = snapshot(interval);
            for number in 0..4 {
                let mean = 1e6 * f64::exp(level) * if number < 2 { 1.0 } else { factor };
                let mut own = snapshot(interval);
                for _ in 0..10 {
                    own.measured.response.record(exponential(&mut random, mean) as u64);
                    own.measured.completed += 1;
                }
                whole.merge(&own);
                let event = Box::new(Event::Snapshot(Box::new(own)));
                run.fold(&Event::Agent { number, event });
            }
            run.fold(&Event::Snapshot(Box::new(whole)));
        }
        run
    }

    fn snapshot(interval: u64) -> Snapshot {
        let (from, to) = (Tick(interval * 100_000_000), Tick((interval + 1) * 100_000_000));
        Snapshot { from, to, phase: Phase::Measure, ..Snapshot::default() }
    }

    #[test]
    fn equal_groups_rarely_differ_and_a_slower_one_is_found() {
        let rejections = (0..200)
            .filter(|seed| comparisons(&run(*seed, 1.0)).iter().any(|one| one.is_significant))
            .count();
        // Of 200 runs 10 are expected; more than 18 have a probability of 0.5 %.
        assert!(rejections <= 18, "{rejections} false differences of 200");
        for seed in 0..20 {
            let found = comparisons(&run(seed, 1.15));
            let p50 = found.iter().find(|one| one.quantile == 0.5).expect("enough requests");
            assert!(p50.is_significant, "{p50:?}");
            assert_eq!((p50.slower.as_str(), p50.faster.as_str()), ("us", "eu"));
            assert!(p50.slower_share > p50.faster_share);
        }
    }

    #[test]
    fn a_run_without_groups_has_no_comparison() {
        assert!(comparisons(&Run::default()).is_empty());
    }
}
