//! Reduces a run to the counts that a search needs: per block, the count above each bound.
//!
//! The blocks are the points of the measured time. [`crate::confirm`] and [`crate::curve`] evaluate
//! the counts.

use crate::bound::{CountedRatio, CountedReplies, ObjectiveFigure};
use crate::lag;
use brunt_judge::limits::cpu_taken_from_server;
use brunt_judge::steady;
use brunt_model::finding::{LimitingResource, State};
use brunt_model::question::TrialPurpose;
use brunt_model::reading_names as name;
use brunt_model::series::SeriesPoint;
use brunt_model::time::seconds_of;
use brunt_model::{CapacitySearch, Failure, Judgement, Phase, Run, Text};
use brunt_stats::Sketch;

/// Result of one trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialSummary {
    /// Requested load: arrivals per second or users.
    pub load: f64,
    /// Purpose of the trial; None: to be inferred from the trials before.
    pub purpose: Option<TrialPurpose>,
    /// Start time, in seconds since 1970-01-01 UTC.
    pub began: f64,
    /// Arrivals per second that became due; in a closed loop, requests.
    pub offered: f64,
    /// The load that was really sent: requests per second, or users less the share of their time in
    /// which the generator kept them waiting.
    pub sent: f64,
    /// Completed requests per second.
    pub achieved: f64,
    /// Length of the measured time, in seconds.
    pub seconds: f64,
    /// Mean response time, in seconds; None without replies.
    pub mean: Option<f64>,
    /// 99th percentile of the response time, in seconds.
    pub p99: Option<f64>,
    /// Blocks of the trial, in order. Each is a point of the run's series, 100 ms long.
    pub blocks: Vec<TrialBlock>,
    /// Why the generator, or the machine that it shares with the server, limited the trial. Also
    /// set if a consistency check failed.
    pub limited: Option<Text>,
    /// The ends of the interval for which the trial is evidence.
    pub evidence: EvidenceFor,
    /// Greatest lag of the last block, in seconds.
    pub final_lag: f64,
}

/// The ends of the capacity's interval for which a trial is evidence, whatever its outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvidenceFor {
    /// Both ends. Either the generator was no limit, or it only lagged and the effect
    /// of that is known.
    #[default]
    Both,
    /// The lower end only. The generator reached a limit of its own, or it or other processes used
    /// CPU that the server may have needed. All of these can only make a server look slower.
    LowerEnd,
    /// No end: there was no reply, or the counts contradict each other.
    None,
}

impl TrialSummary {
    /// The load that a trial proves something about: less than the requested one if the generator
    /// sent clearly less.
    pub fn proven_load(&self) -> f64 {
        const BY_CHANCE: f64 = 0.97;
        if self.sent < BY_CHANCE * self.load { self.sent } else { self.load }
    }

    /// True if clearly less was achieved than offered, and lag is not the reason. Requests that are
    /// still in flight at the end are also missing, but those are only a few.
    pub fn is_overloaded(&self) -> bool {
        const IN_FLIGHT: f64 = 10.0;
        let missing = (self.offered - self.achieved) * self.seconds - self.offered * self.final_lag;
        missing > 0.05 * self.offered * self.seconds && missing > IN_FLIGHT
    }

    /// Returns the blocks that lag has not disturbed.
    pub fn undisturbed(&self) -> impl Iterator<Item = &TrialBlock> {
        self.blocks.iter().filter(|block| !block.is_contested)
    }

    /// Total length of those blocks, in seconds.
    pub fn undisturbed_seconds(&self) -> f64 {
        self.undisturbed().map(|block| block.seconds).sum()
    }
}

/// Counts of one block of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialBlock {
    /// Length of the block.
    pub seconds: f64,
    /// Number of complete replies.
    pub completed: f64,
    /// Sum of the response times of the requests that ended in the block, in seconds.
    pub response: f64,
    /// Counts for each objective of each set, in their order.
    pub parts: Vec<Vec<BoundCount>>,
    /// True if the effect of the generator's lag is so large that the block
    /// is not used ([`crate::lag`]).
    pub is_contested: bool,
    /// Effect of the generator's lag on response times, in seconds ([`crate::lag`]).
    pub lag: f64,
}

/// A count above a bound, and the total. The [`ObjectiveFigure`] contains the allowed ratio of the two.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BoundCount {
    /// Count above the bound.
    pub over: f64,
    /// Part of `over` that the generator's lag cannot have caused.
    pub without_lag: f64,
    /// Total, in the unit of `over`.
    pub total: f64,
}

/// Summarizes a run for a search.
pub fn summarize(find: &CapacitySearch, run: &Run, judgement: &Judgement) -> TrialSummary {
    let points = steady::measured(run);
    let mut all = Sketch::default();
    for point in &points {
        all.merge(&point.response);
    }
    let open = run.flow.arrivals > 0;
    let cpu_limit = cpu_taken_from_server(run);
    let limited = limit_text(judgement).or_else(|| cpu_limit.map(LimitingResource::words));
    TrialSummary {
        load: run.plan.as_ref().map_or(0.0, |plan| plan.main().load.peak()),
        purpose: None,
        began: run.unix_seconds,
        offered: run.per_second(if open { run.flow.arrivals } else { run.flow.planned }),
        sent: sent(run),
        achieved: run.throughput(),
        seconds: run.measured_seconds(),
        mean: (all.count() > 0).then(|| total_response(&all) / all.count() as f64),
        p99: (all.count() > 0).then(|| seconds_of(all.quantile(0.99))),
        blocks: count_blocks(
            find,
            run,
            if limited.is_some() { Blame::Limited } else { Blame::Unlimited },
        ),
        final_lag: lags(&points, run).last().copied().unwrap_or(0.0),
        evidence: evidence(run, judgement, cpu_limit),
        limited,
    }
}

/// The load that the generator really sent.
fn sent(run: &Run) -> f64 {
    if run.flow.arrivals > 0 {
        return run.per_second(run.total.begun);
    }
    let users = run.plan.as_ref().map_or(0.0, |plan| plan.main().load.peak());
    let lag = run.total.lag.sum() as f64;
    let response = run.total.response.sum() as f64;
    if response > 0.0 { users * (1.0 - lag / response).max(0.0) } else { 0.0 }
}

fn limit_text(judgement: &Judgement) -> Option<Text> {
    match judgement.verdict.state {
        State::Ok | State::Unjudged => None,
        State::BusyMachine | State::Unexplained | State::Limited => Some(
            judgement
                .verdict
                .causes
                .first()
                .map_or(LimitingResource::Lag, |cause| cause.limit)
                .words(),
        ),
        State::Invalid if judgement.is_load_missing() => Some(LimitingResource::Agent.words()),
        State::Invalid => Some(State::Invalid.words()),
    }
}

/// Returns the ends for which a trial is evidence. They depend only on the limits of the generator
/// and on other processes that used CPU (`cpu_limit`), never on the outcome of the trial. Otherwise
/// noise would select the trials.
fn evidence(run: &Run, judgement: &Judgement, cpu_limit: Option<LimitingResource>) -> EvidenceFor {
    let most = if cpu_limit.is_some() { EvidenceFor::LowerEnd } else { EvidenceFor::Both };
    if matches!(judgement.verdict.state, State::Ok | State::Unjudged) {
        return most;
    }
    if run.total.completed == 0 || judgement.checks.iter().any(|check| !check.holds) {
        return EvidenceFor::None;
    }
    judgement.verdict.causes.iter().fold(most, |all, cause| {
        let evidence = match cause.limit {
            LimitingResource::Agent => EvidenceFor::None,
            LimitingResource::Descriptors
            | LimitingResource::Ports
            | LimitingResource::Nic
            | LimitingResource::Packets
            | LimitingResource::Conntrack
            | LimitingResource::Memory => EvidenceFor::LowerEnd,
            LimitingResource::Cores if generator_cpu_share(run) > SMALL_SHARE => {
                EvidenceFor::LowerEnd
            }
            // All other limits only delay threads, and delays are measured as lag.
            _ => EvidenceFor::Both,
        };
        match (all, evidence) {
            (EvidenceFor::None, _) | (_, EvidenceFor::None) => EvidenceFor::None,
            (EvidenceFor::LowerEnd, _) | (_, EvidenceFor::LowerEnd) => EvidenceFor::LowerEnd,
            _ => EvidenceFor::Both,
        }
    })
}

/// A generator that uses less than this share of a shared machine's CPU does not limit the server.
const SMALL_SHARE: f64 = 0.1;

/// Share of this machine's CPU time that the generator's workers used; 1 if it was not measured.
fn generator_cpu_share(run: &Run) -> f64 {
    let Some(readings) = run.history.get(name::GENERATOR) else { return 1.0 };
    let from = run.phase_start(Phase::Measure).unwrap_or_default();
    let workers = run.plan.as_ref().map_or(1, brunt_model::Plan::workers);
    let mut used = 0.0;
    for worker in 0..workers {
        let mut cpu = 0.0;
        let mut seconds = 0.0;
        for rate in readings.rates(&name::worker_cpu(worker)) {
            if rate.1 > from {
                let length = rate.1.seconds_since(rate.0);
                cpu += rate.2 * length;
                seconds += length;
            }
        }
        if seconds <= 0.0 {
            return 1.0;
        }
        used += cpu / seconds;
    }
    used / f64::from(run.environment.cores.max(1))
}

/// Role of the generator in a trial. If it was the limit, it can have caused more than the lag
/// of each request explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Unlimited,
    Limited,
}

/// Greatest lag of the requests that ended in each point, in seconds. It is 0 in a closed loop,
/// where a late request delays the next one.
fn lags(points: &[SeriesPoint], run: &Run) -> Vec<f64> {
    let open = run.flow.arrivals > 0;
    points.iter().map(|point| if open { seconds_of(point.lag.max()) } else { 0.0 }).collect()
}

/// Returns the blocks of a run so far.
pub fn blocks(find: &CapacitySearch, run: &Run) -> Vec<TrialBlock> {
    count_blocks(find, run, Blame::Unlimited)
}

fn count_blocks(find: &CapacitySearch, run: &Run, blame: Blame) -> Vec<TrialBlock> {
    let points = steady::measured(run);
    let bounds = bounds(find);
    let length = points.first().map_or(0.1, SeriesPoint::seconds);
    let effects = lag::effects(&lags(&points, run), length, &bounds);
    let any_dropped = run.total.failed_by(Failure::Dropped) > 0;
    let mut waiting = points.first().map_or(0, |point| point.flow.waiting);
    let mut blocks: Vec<TrialBlock> = Vec::with_capacity(points.len());
    for (point, effect) in points.iter().zip(&effects) {
        let SeriesPoint { flow, .. } = point;
        // A request that is planned at the end of one interval may begin in the next:
        // it is not dropped.
        let missing = (flow.planned + waiting).saturating_sub(flow.begun + flow.waiting);
        waiting = flow.waiting;
        let excuse = Excuse { blame, errors: errors_left(run), seconds: effect.seconds };
        let counts = block(point, if any_dropped { missing as f64 } else { 0.0 }, &bounds, excuse);
        blocks.push(TrialBlock { is_contested: effect.is_contested, ..counts });
    }
    // Unfinished requests are counted in the last undisturbed block.
    if let Some(last) = blocks.iter().rposition(|block| !block.is_contested) {
        count_unfinished(&mut blocks[last], run, &points, &bounds, effects[last].seconds);
    }
    blocks
}

/// Share of errors that the generator's lag cannot have caused. Lag makes some requests arrive
/// together, and a server may reject simultaneous requests. At most, it rejects those that were
/// late by a mean gap or more.
fn errors_left(run: &Run) -> f64 {
    let total = &run.total;
    let gap = run.measured_seconds() / run.flow.arrivals.max(1) as f64;
    let late = total.lag.count() - total.lag.count_at_or_below((gap * 1e9) as u64);
    // A connection failure may be the generator's fault; a complete reply with an
    // error status is not.
    let server_errors = (total.completed - total.good).saturating_sub(late);
    server_errors as f64 / total.errors().max(1) as f64
}

/// Maximum effect of the generator on a block.
#[derive(Debug, Clone, Copy)]
struct Excuse {
    blame: Blame,
    /// Share of the errors that lag cannot have caused.
    errors: f64,
    /// Maximum increase of response times.
    seconds: f64,
}

/// Returns the bounds of each set.
pub(crate) fn bounds(find: &CapacitySearch) -> Vec<Vec<ObjectiveFigure>> {
    find.objectives
        .iter()
        .map(|set| set.all.iter().map(ObjectiveFigure::from_objective).collect())
        .collect()
}

fn block(
    point: &SeriesPoint,
    dropped: f64,
    bounds: &[Vec<ObjectiveFigure>],
    excuse: Excuse,
) -> TrialBlock {
    TrialBlock {
        seconds: point.seconds(),
        completed: point.flow.completed as f64,
        response: total_response(&point.response),
        parts: bounds
            .iter()
            .map(|set| set.iter().map(|bound| part(point, dropped, bound, excuse)).collect())
            .collect(),
        is_contested: false,
        lag: excuse.seconds,
    }
}

fn part(point: &SeriesPoint, dropped: f64, bound: &ObjectiveFigure, excuse: Excuse) -> BoundCount {
    let SeriesPoint { flow, response: sketch, .. } = point;
    let is_limited = excuse.blame == Blame::Limited;
    match bound.counted {
        CountedRatio::Slower(than) => {
            let over = slower(sketch, than);
            let least =
                if excuse.seconds > 0.0 { slower(sketch, than + excuse.seconds) } else { over };
            let lost = if is_limited { 0.0 } else { dropped };
            BoundCount {
                over: over + dropped,
                without_lag: least + lost,
                total: sketch.count() as f64 + dropped,
            }
        }
        // Dropped requests are errors already.
        CountedRatio::Errors => {
            let over = flow.errors as f64;
            let least = if is_limited { over * excuse.errors } else { over };
            BoundCount { over, without_lag: least, total: (flow.good + flow.errors) as f64 }
        }
        CountedRatio::Mean => {
            let over = total_response(sketch);
            let of = sketch.count() as f64;
            let least = if is_limited { (over - excuse.seconds * of).max(0.0) } else { over };
            BoundCount { over, without_lag: least, total: of }
        }
        CountedRatio::Wanted { rate, replies } => {
            let received = if replies == CountedReplies::Good { flow.good } else { flow.completed };
            let over = required(rate, point.seconds(), flow.arrivals as f64);
            // Requests that were not sent in time could not be served.
            let least = if is_limited { 0.0 } else { over };
            BoundCount { over, without_lag: least, total: received as f64 }
        }
    }
}

/// Required number of replies in a block: that of the objective, at most 99 % of the arrivals.
pub(crate) fn required(rate: f64, seconds: f64, arrivals: f64) -> f64 {
    if arrivals > 0.0 {
        (rate * seconds).min(arrivals * crate::bound::MIN_ACHIEVED)
    } else {
        rate * seconds
    }
}

/// Number of requests slower than `than` seconds. The bucket that contains the
/// bound counts in proportion.
fn slower(sketch: &Sketch, than: f64) -> f64 {
    let nanos = than * 1e9;
    sketch
        .cells()
        .map(|(low, count)| {
            let high = Sketch::edges(low).1 as f64 + 1.0;
            let share = ((high - nanos) / (high - low as f64)).clamp(0.0, 1.0);
            share * count as f64
        })
        .sum()
}

/// Sum of the response times, in seconds, from the middles of the buckets; accurate to 0.4 %.
fn total_response(sketch: &Sketch) -> f64 {
    let sums = sketch.cells().map(|(low, count)| {
        let middle = f64::midpoint(low as f64, Sketch::edges(low).1 as f64);
        middle * count as f64
    });
    sums.sum::<f64>() / 1e9
}

/// Adds the requests that are unfinished at the end. A request that became due longer ago than the
/// bound is slow, whatever its outcome. Otherwise a server that hangs would have no slow requests.
fn count_unfinished(
    last: &mut TrialBlock,
    run: &Run,
    points: &[SeriesPoint],
    bounds: &[Vec<ObjectiveFigure>],
    lag: f64,
) {
    let Some(end) = points.last() else { return };
    let cut = run.total.failed_by(Failure::Cut);
    let unfinished = (end.flow.in_flight + end.flow.waiting).max(cut) as f64;
    for (part, bound) in last.parts.iter_mut().flatten().zip(bounds.iter().flatten()) {
        if let CountedRatio::Slower(than) = bound.counted {
            let slow = (unfinished - planned_since(points, than)).max(0.0);
            part.over += slow;
            part.without_lag += (unfinished - planned_since(points, than + lag)).max(0.0);
            part.total += slow;
        }
    }
}

/// Number of requests that became due in the last `seconds` before the end.
fn planned_since(points: &[SeriesPoint], seconds: f64) -> f64 {
    let Some(end) = points.last() else { return 0.0 };
    points
        .iter()
        .rev()
        .take_while(|point| (end.to - point.from).as_secs_f64() <= seconds + point.seconds())
        .map(|point| point.flow.planned as f64)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Verdict;
    use brunt_model::finding::{OtherCause, UseOrigin};
    use brunt_model::objective::{Metric, Relation};
    use brunt_model::question::{ObjectiveSet, TrialGap, TrialTimes};
    use brunt_model::{Event, Objective, Phase, Snapshot, Tick};
    use std::time::Duration;

    const TENTH: u64 = 100_000_000;

    fn find(objectives: &[Objective]) -> CapacitySearch {
        let second = Duration::from_secs(1);
        CapacitySearch {
            objectives: vec![ObjectiveSet { name: "set".into(), all: objectives.to_vec() }],
            precision: 0.02,
            within: second,
            start: 1.0,
            most: None,
            trial: TrialTimes { warmup: second, measured: second },
            between: TrialGap::Restart,
            overload: None,
            require: Vec::new(),
        }
    }

    fn objective(metric: Metric, bound: f64) -> Objective {
        Objective { metric, step: None, relation: Relation::Below, bound }
    }

    /// Creates a run with points of 100 ms, which `fill` fills.
    fn run(points: u64, mut fill: impl FnMut(u64, &mut Snapshot)) -> Run {
        let mut run = Run::default();
        run.fold(&Event::Stage { at: Tick(0), phase: Phase::Measure });
        for i in 0..points {
            let from = Tick(i * TENTH);
            let mut s = Snapshot {
                from,
                to: Tick(from.0 + TENTH),
                phase: Phase::Measure,
                ..Snapshot::default()
            };
            fill(i, &mut s);
            run.fold(&Event::Snapshot(Box::new(s)));
        }
        run
    }

    #[test]
    fn slow_dropped_and_failed_requests_count() {
        let of = run(20, |_, s| {
            s.measured.response.record_n(10_000_000, 90);
            s.measured.response.record_n(80_000_000, 10);
            // Five of 105 were dropped.
            s.measured.failures[Failure::Dropped as usize] = 5;
            (s.flow.planned, s.flow.begun, s.flow.completed, s.flow.good, s.flow.errors) =
                (105, 100, 100, 97, 8);
        });
        let find = find(&[
            objective(Metric::Quantile(0.99), 0.05),
            objective(Metric::Errors, 0.01),
            objective(Metric::Mean, 0.05),
        ]);
        let blocks = blocks(&find, &of);
        assert_eq!(blocks.len(), 20);
        let [slow, errors, mean] = blocks[3].parts[0][..] else { panic!("three objectives") };
        assert_eq!((slow.over, slow.total), (15.0, 105.0));
        assert_eq!((errors.over, errors.total), (8.0, 105.0));
        // 90 requests of 10 ms and 10 of 80 ms: 1.7 s, with an error of 0.4 % each.
        assert!((mean.over - 1.7).abs() < 0.008 && mean.total == 100.0, "{mean:?}");
    }

    fn cause(limit: LimitingResource) -> OtherCause {
        OtherCause {
            limit,
            origin: UseOrigin::Generator,
            lasted: Duration::from_secs(1),
            sentence: String::new().into(),
            remedy: String::new().into(),
        }
    }

    /// Returns the three counts of a trial with this lag, in which every tenth request was slow.
    fn lagging(lag: u64, causes: &[LimitingResource]) -> (TrialSummary, [BoundCount; 3]) {
        let mut of = run(20, |_, s| {
            s.measured.response.record_n(10_000_000, 90);
            s.measured.response.record_n(80_000_000, 10);
            s.measured.lag.record_n(1000, 95);
            s.measured.lag.record_n(lag, 5);
            s.measured.failures[Failure::Check as usize] = 8;
            (s.measured.begun, s.measured.completed, s.measured.good) = (100, 100, 92);
            (s.flow.arrivals, s.flow.planned, s.flow.begun) = (100, 100, 100);
            (s.flow.completed, s.flow.good, s.flow.errors) = (100, 92, 8);
        });
        of.unix_seconds = 1.0;
        let find = find(&[
            objective(Metric::Quantile(0.99), 0.05),
            objective(Metric::Errors, 0.01),
            objective(Metric::Mean, 0.015),
        ]);
        let state = if causes.is_empty() { State::Ok } else { State::Limited };
        let verdict = Verdict {
            state,
            causes: causes.iter().copied().map(cause).collect(),
            ..Verdict::default()
        };
        let seen = summarize(&find, &of, &Judgement { verdict, ..Judgement::default() });
        let sum = |all: BoundCount, part: BoundCount| BoundCount {
            over: all.over + part.over,
            without_lag: all.without_lag + part.without_lag,
            total: all.total + part.total,
        };
        let all = |index: usize| {
            seen.blocks.iter().map(|block| block.parts[0][index]).fold(BoundCount::default(), sum)
        };
        let parts = [0, 1, 2].map(all);
        (seen, parts)
    }

    #[test]
    fn the_effect_of_lag_is_bounded() {
        // 5 ms of lag at most: a request of 80 ms took 75 ms at least.
        let [slow, errors, mean] =
            lagging(5_000_000, &[LimitingResource::Steal, LimitingResource::Lag]).1;
        assert_eq!((slow.over, slow.without_lag, slow.total), (200.0, 200.0, 2000.0));
        // 100 requests were late by more than a mean gap (1 ms), so they may have caused 100
        // of the 160 errors.
        assert_eq!((errors.over, errors.without_lag, errors.total), (160.0, 60.0, 2000.0));
        assert!((mean.over - mean.without_lag - 2000.0 * 0.005).abs() < 0.25, "{mean:?}");
        // 40 ms of lag: a request of 80 ms may have taken 40 ms. The mean is smaller than the lag.
        let [slow, _, mean] = lagging(40_000_000, &[LimitingResource::Throttled]).1;
        assert_eq!((slow.over, slow.without_lag, mean.without_lag), (200.0, 0.0, 0.0));
        // Lag below a mean gap: no two requests arrived together.
        assert_eq!(lagging(900_000, &[LimitingResource::Lag]).1[1].without_lag, 160.0);
        let [slow, errors, _] = lagging(40_000_000, &[]).1;
        assert_eq!(
            (slow.without_lag, errors.without_lag),
            (0.0, 160.0),
            "lag is corrected for whatever the verdict"
        );
    }

    #[test]
    fn the_evidence_of_a_trial_depends_on_the_limit_of_the_generator() {
        let of = |causes: &[LimitingResource]| lagging(5_000_000, causes).0.evidence;
        assert_eq!(of(&[]), EvidenceFor::Both);
        assert_eq!(
            of(&[LimitingResource::Steal, LimitingResource::RunQueue, LimitingResource::Lag]),
            EvidenceFor::Both
        );
        assert_eq!(
            of(&[LimitingResource::Cores]),
            EvidenceFor::LowerEnd,
            "nobody knows how much of them was ours"
        );
        assert_eq!(
            of(&[LimitingResource::Cores, LimitingResource::Ports]),
            EvidenceFor::LowerEnd,
            "what was sent was sent"
        );
        let beside = |causes: &[LimitingResource]| {
            let state = if causes.is_empty() { State::Ok } else { State::Limited };
            let verdict = Verdict {
                state,
                causes: causes.iter().copied().map(cause).collect(),
                ..Verdict::default()
            };
            let judgement = Judgement { verdict, ..Judgement::default() };
            let mut of = Run::default();
            (of.flow.arrivals, of.total.completed) = (10, 10);
            evidence(&of, &judgement, Some(LimitingResource::OtherProcesses))
        };
        assert_eq!(
            beside(&[]),
            EvidenceFor::LowerEnd,
            "the schedule was kept, but the server may have waited for a core"
        );
        assert_eq!(beside(&[LimitingResource::Lag]), EvidenceFor::LowerEnd);
        assert_eq!(beside(&[LimitingResource::Ports]), EvidenceFor::LowerEnd);
        assert_eq!(beside(&[LimitingResource::Agent]), EvidenceFor::None);
    }

    #[test]
    fn a_server_that_hangs_is_too_slow() {
        let of = run(30, |i, s| {
            (s.flow.planned, s.flow.begun, s.flow.in_flight) = (10, 10, 10 * (i + 1));
        });
        let blocks = blocks(&find(&[objective(Metric::Quantile(0.99), 0.5)]), &of);
        let last = blocks[29].parts[0][0];
        // 300 requests are in flight; 60 of them were due within the last half
        // second and its interval.
        assert!(last.over > 200.0 && last.over <= 250.0 && last.over == last.total, "{last:?}");
    }

    #[test]
    fn required_replies_are_limited_by_the_offered_load() {
        assert_eq!(required(900.0, 0.1, 50.0), 49.5);
        assert_eq!(required(900.0, 0.1, 200.0), 90.0);
        assert_eq!(required(900.0, 0.1, 0.0), 90.0);
    }
}
