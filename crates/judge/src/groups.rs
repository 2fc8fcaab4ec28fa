//! Compares groups of agents within one run, such as those of two zones.
//!
//! A quantile of all requests is a common threshold. If two groups measure the same response times, each has
//! the same share of slower requests. The variance of the difference is that of a ratio estimator over blocks
//! of the run (`brunt_stats::blocks`), so that requests need not be independent of each other, and a server
//! that becomes slow for all groups at once is no difference. It is never smaller than that of
//! independent requests. Holm's procedure corrects for the number of comparisons.

use crate::steady::measured;
use crate::steady::response_times::ResponseTimes;
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

/// Counts of a group by the begin of the interval.
type Intervals = BTreeMap<Tick, Counts>;

/// Compares all pairs of groups. Pairs without enough requests or blocks are left out.
pub fn comparisons(run: &Run) -> Vec<GroupComparison> {
    let groups = run.agent_groups();
    let response_times = ResponseTimes::new(run);
    if groups.len() < 2 || response_times.count() == 0 {
        return Vec::new();
    }
    let mut found: Vec<GroupComparison> = Vec::new();
    for quantile in QUANTILES {
        let threshold = response_times.threshold(quantile);
        let counts: Vec<Intervals> = groups.iter().map(|group| count(group, threshold)).collect();
        for (number, (first, ours)) in groups.iter().zip(&counts).enumerate() {
            for (second, theirs) in groups.iter().zip(&counts).skip(number + 1) {
                let names = (first.name, second.name);
                found.extend(compare(quantile, seconds_of(threshold), names, (ours, theirs)));
            }
        }
    }
    let hypotheses: Vec<Hypothesis> =
        found.iter().map(|one| Hypothesis { p: one.p, weight: 1.0 }).collect();
    for (one, result) in found.iter_mut().zip(holm(&hypotheses, ALPHA)) {
        one.p = result.p;
        one.is_significant = result.rejected;
    }
    found
}

fn count(group: &GroupOfAgents, threshold: u64) -> Intervals {
    let mut intervals = Intervals::new();
    for point in group.agents.iter().flat_map(|agent| measured(agent)) {
        let counts = intervals.entry(point.from).or_default();
        for (low, n) in point.response.cells() {
            counts.all += n as f64;
            counts.beyond += if low >= threshold { n as f64 } else { 0.0 };
        }
    }
    intervals
}

/// Compares the shares of two groups beyond a threshold, over the intervals that both have.
fn compare(
    quantile: f64,
    threshold_seconds: f64,
    names: (&str, &str),
    (ours, theirs): (&Intervals, &Intervals),
) -> Option<GroupComparison> {
    let pairs: Vec<(Counts, Counts)> =
        ours.iter().filter_map(|(at, ours)| Some((*ours, *theirs.get(at)?))).collect();
    let sum = |of: fn(&(Counts, Counts)) -> Counts| {
        pairs.iter().map(of).fold(Counts::default(), |sum, one| Counts {
            all: sum.all + one.all,
            beyond: sum.beyond + one.beyond,
        })
    };
    let (our_sum, their_sum) = (sum(|pair| pair.0), sum(|pair| pair.1));
    if our_sum.all == 0.0 || their_sum.all == 0.0 {
        return None;
    }
    if our_sum.beyond + their_sum.beyond < FEWEST_BEYOND {
        return None;
    }
    let share = |sum: Counts| sum.beyond / sum.all;
    let (our_share, their_share) = (share(our_sum), share(their_sum));
    let deviations: Vec<f64> = pairs
        .iter()
        .map(|(ours, theirs)| {
            (ours.beyond - our_share * ours.all) / our_sum.all
                - (theirs.beyond - their_share * theirs.all) / their_sum.all
        })
        .collect();
    let spread = blocks::spread(&deviations)?;
    let independent = |sum: Counts| share(sum) * (1.0 - share(sum)) / sum.all;
    let variance = (spread.variance * deviations.len() as f64)
        .max(independent(our_sum) + independent(their_sum));
    if variance == 0.0 {
        return None;
    }
    let p = student_p((our_share - their_share) / variance.sqrt(), spread.freedom);
    let is_ours_slower = our_share >= their_share;
    let pick = |ours, theirs| if is_ours_slower { (ours, theirs) } else { (theirs, ours) };
    let (slower, faster) = if is_ours_slower { names } else { (names.1, names.0) };
    let (slower_share, faster_share) = pick(our_share, their_share);
    Some(GroupComparison {
        quantile,
        threshold_seconds,
        slower: slower.to_owned(),
        faster: faster.to_owned(),
        slower_share,
        faster_share,
        p,
        is_significant: false,
        method: format!(
            "t test of the difference of shares, from {} blocks of {} intervals",
            spread.blocks, spread.block
        ),
    })
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
