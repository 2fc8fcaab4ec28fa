//! A run, as far as it bears on a search: what was over each bound, block by block.
//!
//! What it is: counts, of the points of the measured time. Out of scope: a decision; [`mod@crate::sides`] and
//! [`crate::curve`] decide.

use crate::bound::{Bound, Counted, Replies};
use crate::lag;
use brunt_judge::limits::server_lacked_cpu;
use brunt_judge::steady;
use brunt_model::finding::{Limit, State};
use brunt_model::question::TrialPurpose;
use brunt_model::reading_names as name;
use brunt_model::series::Point;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Find, Judgement, Phase, Run};
use brunt_stats::Sketch;

/// What a trial came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialSummary {
    /// The load that was asked for: arrivals per second or users.
    pub load: f64,
    /// Its purpose; None: infer it from the trials before.
    pub purpose: Option<TrialPurpose>,
    /// When it began, in seconds since 1970-01-01 UTC.
    pub began: f64,
    /// Arrivals per second that became due; in a closed loop, requests.
    pub offered: f64,
    /// Completed per second.
    pub achieved: f64,
    /// Seconds that were measured.
    pub seconds: f64,
    /// Mean response time, in seconds; None without replies.
    pub mean: Option<f64>,
    /// Its 99th percentile, in seconds.
    pub p99: Option<f64>,
    /// Its blocks, in order: as long as a point of the run's series, 100 ms.
    pub blocks: Vec<Counts>,
    /// By what the generator, or the machine that it shares with the server, was the limit, or that a consistency check failed.
    pub limited: Option<String>,
    /// What the trial is evidence for.
    pub evidence: Evidence,
    /// So many seconds were requests late at the end, at most.
    pub late: f64,
}

/// Which ends of the capacity's interval a trial is evidence for, whatever it came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// Both: the generator was no limit, or lagged only, and what its lag can have done is known.
    #[default]
    Both,
    /// The lower end: the generator, or others on the machine that it shares with the server, used CPU that the server may have
    /// needed, and nobody knows how much faster it would be.
    LowerEnd,
    /// None: the generator did not offer the load.
    None,
}

impl TrialSummary {
    /// Whether clearly less was achieved than was offered, and not because requests were sent late: what is under way at the
    /// end is less, too, but that is only some requests.
    pub fn is_overloaded(&self) -> bool {
        const SOME: f64 = 10.0;
        let missing = (self.offered - self.achieved) * self.seconds - self.offered * self.late;
        self.evidence == Evidence::Both && missing > 0.05 * self.offered * self.seconds && missing > SOME
    }

    /// The blocks that lag has not disturbed.
    pub fn undisturbed(&self) -> impl Iterator<Item = &Counts> {
        self.blocks.iter().filter(|block| !block.is_contested)
    }

    /// Seconds of those blocks.
    pub fn undisturbed_seconds(&self) -> f64 {
        self.undisturbed().map(|block| block.seconds).sum()
    }
}

/// What decides in a block of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// How long it was.
    pub seconds: f64,
    /// Whole replies in it.
    pub completed: f64,
    /// Seconds of response time of the requests that ended in it, summed up.
    pub response: f64,
    /// One for each objective of each set, in their order.
    pub parts: Vec<Vec<Part>>,
    /// Whether the generator's lag can have had so much effect on it that it counts for neither side ([`crate::lag`]).
    pub is_contested: bool,
    /// Effect of the generator's lag on response times, in seconds ([`crate::lag`]).
    pub lag: f64,
}

/// How much was over a bound, of how much. Over a [`Bound`]'s allowed share of it is too much.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Part {
    /// What counts against it.
    pub over: f64,
    /// What of that the generator's lag cannot have caused.
    pub least: f64,
    /// Of so much.
    pub of: f64,
}

/// What a run says, for a search.
pub fn summarize(find: &Find, run: &Run, judgement: &Judgement) -> TrialSummary {
    let points = steady::measured(run);
    let mut all = Sketch::default();
    for point in &points {
        all.merge(&point.response);
    }
    let open = run.flow.arrivals > 0;
    let beside = server_lacked_cpu(run);
    let limited = limited(judgement).or_else(|| beside.map(|limit| limit.words().to_owned()));
    TrialSummary {
        load: run.plan.as_ref().map_or(0.0, |plan| plan.main().load.peak()),
        purpose: None,
        began: run.unix_seconds,
        offered: run.per_second(if open { run.flow.arrivals } else { run.flow.planned }),
        achieved: run.throughput(),
        seconds: run.measured_seconds(),
        mean: (all.count() > 0).then(|| response(&all) / all.count() as f64),
        p99: (all.count() > 0).then(|| seconds_of(all.quantile(0.99))),
        blocks: counted(find, run, if limited.is_some() { Blame::Limited } else { Blame::Unlimited }),
        late: lags(&points, run).last().copied().unwrap_or(0.0),
        evidence: evidence(run, judgement, beside),
        limited,
    }
}

fn limited(judgement: &Judgement) -> Option<String> {
    match judgement.verdict.state {
        State::Ok | State::Unjudged => None,
        State::BusyMachine | State::Unexplained | State::Limited => {
            Some(judgement.verdict.causes.first().map_or("lag", |cause| cause.limit.words()).to_owned())
        }
        State::Invalid => Some("a consistency check failed".to_owned()),
    }
}

/// What a trial is evidence for. It depends on what limited the generator, and on who else had CPU (`beside`), never on what
/// the trial came to.
fn evidence(run: &Run, judgement: &Judgement, beside: Option<Limit>) -> Evidence {
    let most = if beside.is_some() { Evidence::LowerEnd } else { Evidence::Both };
    if matches!(judgement.verdict.state, State::Ok | State::Unjudged) {
        return most;
    }
    if run.flow.arrivals == 0 || run.total.completed == 0 || judgement.checks.iter().any(|check| !check.holds) {
        return Evidence::None;
    }
    let of = |limit: Limit| match limit {
        Limit::Descriptors | Limit::Ports | Limit::Nic | Limit::Packets | Limit::Conntrack | Limit::Memory => {
            Evidence::None
        }
        Limit::Cores if own_share(run) > OWN => Evidence::LowerEnd,
        // Threads that had to wait, whatever for, were late.
        _ => Evidence::Both,
    };
    let all = judgement.verdict.causes.iter().map(|cause| of(cause.limit));
    all.fold(most, |all, one| match (all, one) {
        (Evidence::None, _) | (_, Evidence::None) => Evidence::None,
        (Evidence::LowerEnd, _) | (_, Evidence::LowerEnd) => Evidence::LowerEnd,
        _ => Evidence::Both,
    })
}

/// A generator that uses less than this share of the machine that it shares with the server is not what the server lacks.
const OWN: f64 = 0.1;

/// The share of this machine's CPU time that our workers used; all of it where that was not read.
fn own_share(run: &Run) -> f64 {
    let Some(readings) = run.history.get(name::GENERATOR) else { return 1.0 };
    let from = run.began(Phase::Measure).unwrap_or_default();
    let mean = |worker: usize| {
        let rates = readings.rates(&name::worker_cpu(worker));
        let (cpu, seconds) = rates.iter().filter(|rate| rate.1 > from).fold((0.0, 0.0), |(cpu, seconds), rate| {
            let length = rate.1.seconds_since(rate.0);
            (cpu + rate.2 * length, seconds + length)
        });
        (seconds > 0.0).then(|| cpu / seconds)
    };
    let workers = run.plan.as_ref().map_or(1, brunt_model::Plan::workers);
    let used: Option<f64> = (0..workers).map(mean).sum();
    used.map_or(1.0, |used| used / f64::from(run.environment.cores.max(1)))
}

/// Whether the generator may be to blame for more than lag explains request by request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Unlimited,
    Limited,
}

/// The greatest lag of the requests that ended in each point, in seconds; 0 in a closed loop, whose users wait for it.
fn lags(points: &[Point], run: &Run) -> Vec<f64> {
    let open = run.flow.arrivals > 0;
    points.iter().map(|point| if open { seconds_of(point.lag.max()) } else { 0.0 }).collect()
}

/// The blocks of a run, as far as it has gone.
pub fn blocks(find: &Find, run: &Run) -> Vec<Counts> {
    counted(find, run, Blame::Unlimited)
}

fn counted(find: &Find, run: &Run, blame: Blame) -> Vec<Counts> {
    let points = steady::measured(run);
    let bounds = bounds(find);
    let length = points.first().map_or(0.1, Point::seconds);
    let effects = lag::effects(&lags(&points, run), length, &bounds);
    let any_dropped = run.total.failed_by(Failure::Dropped) > 0;
    let mut waiting = points.first().map_or(0, |point| point.flow.waiting);
    let mut blocks: Vec<Counts> = Vec::with_capacity(points.len());
    for (point, effect) in points.iter().zip(&effects) {
        let Point { flow, .. } = point;
        // What is planned late in one interval is begun in the next where we lag: that is no arrival without room.
        let missing = (flow.planned + waiting).saturating_sub(flow.begun + flow.waiting);
        waiting = flow.waiting;
        let excuse = Excuse { blame, errors: errors_left(run), seconds: effect.seconds };
        blocks.push(Counts {
            is_contested: effect.is_contested,
            ..block(point, if any_dropped { missing as f64 } else { 0.0 }, &bounds, excuse)
        });
    }
    // What is under way at the end counts wherever it is known to count.
    if let Some(last) = blocks.iter().rposition(|block| !block.is_contested) {
        count_unfinished(&mut blocks[last], run, &points, &bounds, effects[last].seconds);
    }
    blocks
}

/// The share of errors that is the server's in any case: a server that refuses what comes at once refuses no more requests
/// for our lag than came late by a mean gap or more, and so together with the next.
fn errors_left(run: &Run) -> f64 {
    let total = &run.total;
    let gap = run.measured_seconds() / run.flow.arrivals.max(1) as f64;
    let late = total.lag.count() - total.lag.count_at_or_below((gap * 1e9) as u64);
    // What failed on the way may be ours; a whole reply that is an error is not.
    let left = (total.completed - total.good).saturating_sub(late);
    left as f64 / total.errors().max(1) as f64
}

/// What the generator can have done to a block at most.
#[derive(Debug, Clone, Copy)]
struct Excuse {
    blame: Blame,
    errors: f64,
    seconds: f64,
}

/// The bounds of each set.
pub(crate) fn bounds(find: &Find) -> Vec<Vec<Bound>> {
    find.objectives.iter().map(|set| set.all.iter().map(Bound::of).collect()).collect()
}

fn block(point: &Point, dropped: f64, bounds: &[Vec<Bound>], excuse: Excuse) -> Counts {
    let part = |bound: &Bound| part(point, dropped, bound, excuse);
    Counts {
        seconds: point.seconds(),
        completed: point.flow.completed as f64,
        response: response(&point.response),
        parts: bounds.iter().map(|set| set.iter().map(part).collect()).collect(),
        is_contested: false,
        lag: excuse.seconds,
    }
}

fn part(point: &Point, dropped: f64, bound: &Bound, excuse: Excuse) -> Part {
    let Point { flow, response: sketch, .. } = point;
    let is_limited = excuse.blame == Blame::Limited;
    let at_least = |over: f64, least: f64, of: f64| Part { over, least: if is_limited { least } else { over }, of };
    match bound.counted {
        Counted::Slower(than) => {
            let over = slower(sketch, than);
            let least = if excuse.seconds > 0.0 { slower(sketch, than + excuse.seconds) } else { over };
            let lost = if is_limited { 0.0 } else { dropped };
            Part { over: over + dropped, least: least + lost, of: sketch.count() as f64 + dropped }
        }
        // What was dropped is among the errors already.
        Counted::Errors => {
            at_least(flow.errors as f64, flow.errors as f64 * excuse.errors, (flow.good + flow.errors) as f64)
        }
        Counted::Mean => {
            let (sum, count) = (response(sketch), sketch.count() as f64);
            at_least(sum, (sum - excuse.seconds * count).max(0.0), count)
        }
        Counted::Wanted { rate, replies } => {
            let came = if replies == Replies::Good { flow.good } else { flow.completed };
            // What was not asked for in time was not served.
            at_least(wanted(rate, point.seconds(), flow.arrivals as f64), 0.0, came as f64)
        }
    }
}

/// So many replies are wanted of a block: what the objective says, or all but 1 % of what is offered where that is less.
pub(crate) fn wanted(rate: f64, seconds: f64, arrivals: f64) -> f64 {
    if arrivals > 0.0 { (rate * seconds).min(arrivals * crate::bound::KEPT) } else { rate * seconds }
}

/// Requests slower than so many seconds. The bucket in which the bound lies is shared out in proportion.
fn slower(sketch: &Sketch, than: f64) -> f64 {
    let nanos = than * 1e9;
    let over = |(low, count): (u64, u64)| {
        let high = Sketch::edges(low).1 as f64 + 1.0;
        let share = ((high - nanos) / (high - low as f64)).clamp(0.0, 1.0);
        share * count as f64
    };
    sketch.cells().map(over).sum()
}

/// The sum of the response times, in seconds, from the middles of the buckets: to 0.4 %.
fn response(sketch: &Sketch) -> f64 {
    let middle = |low: u64| f64::midpoint(low as f64, Sketch::edges(low).1 as f64);
    sketch.cells().map(|(low, count)| middle(low) * count as f64).sum::<f64>() / 1e9
}

/// What is under way at the end and was due longer ago than the bound is slower than it, whatever becomes of it. A server
/// that hangs would otherwise have no slow requests at all.
fn count_unfinished(last: &mut Counts, run: &Run, points: &[Point], bounds: &[Vec<Bound>], lag: f64) {
    let Some(end) = points.last() else { return };
    let cut = run.total.failed_by(Failure::Cut);
    let left = (end.flow.in_flight + end.flow.waiting).max(cut) as f64;
    let planned_since = |seconds: f64| -> f64 {
        let recent = |point: &&Point| (end.to - point.from).as_secs_f64() <= seconds + point.seconds();
        points.iter().rev().take_while(recent).map(|point| point.flow.planned as f64).sum()
    };
    for (part, bound) in last.parts.iter_mut().flatten().zip(bounds.iter().flatten()) {
        if let Counted::Slower(than) = bound.counted {
            let old = |than: f64| (left - planned_since(than)).max(0.0);
            part.over += old(than);
            part.least += old(than + lag);
            part.of += old(than);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Verdict;
    use brunt_model::answer::LoadSide;
    use brunt_model::finding::{Cause, Origin};
    use brunt_model::objective::{Metric, Relation};
    use brunt_model::question::{Between, ObjectiveSet, TrialTimes};
    use brunt_model::{Event, Objective, Phase, Snapshot, Tick};
    use std::time::Duration;

    const TENTH: u64 = 100_000_000;

    fn find(objectives: &[Objective]) -> Find {
        let second = Duration::from_secs(1);
        Find {
            objectives: vec![ObjectiveSet { name: "set".into(), all: objectives.to_vec() }],
            precision: 0.02,
            within: second,
            start: 1.0,
            most: None,
            trial: TrialTimes { warmup: second, least: second, most: second },
            between: Between::Restart,
            overload: None,
            require: Vec::new(),
        }
    }

    fn objective(metric: Metric, bound: f64) -> Objective {
        Objective { metric, step: None, relation: Relation::Below, bound }
    }

    /// Points of 100 ms, as `fill` makes them.
    fn run(points: u64, mut fill: impl FnMut(u64, &mut Snapshot)) -> Run {
        let mut run = Run::default();
        run.fold(&Event::Stage { at: Tick(0), phase: Phase::Measure });
        for i in 0..points {
            let from = Tick(i * TENTH);
            let mut s = Snapshot { from, to: Tick(from.0 + TENTH), phase: Phase::Measure, ..Snapshot::default() };
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
            (s.flow.planned, s.flow.begun, s.flow.completed, s.flow.good, s.flow.errors) = (105, 100, 100, 97, 8);
        });
        let find = find(&[
            objective(Metric::Quantile(0.99), 0.05),
            objective(Metric::Errors, 0.01),
            objective(Metric::Mean, 0.05),
        ]);
        let blocks = blocks(&find, &of);
        assert_eq!(blocks.len(), 20);
        let [slow, errors, mean] = blocks[3].parts[0][..] else { panic!("three objectives") };
        assert_eq!((slow.over, slow.of), (15.0, 105.0));
        assert_eq!((errors.over, errors.of), (8.0, 105.0));
        // 90 of 10 ms and 10 of 80 ms: 1.7 s, to 0.4 % each.
        assert!((mean.over - 1.7).abs() < 0.008 && mean.of == 100.0, "{mean:?}");
        assert_eq!(crate::sides(&find, &blocks), [LoadSide::Above]);
    }

    /// The three figures of a trial in which the generator lagged so, every tenth request being slow.
    fn cause(limit: Limit) -> Cause {
        Cause {
            limit,
            origin: Origin::Generator,
            lasted: Duration::from_secs(1),
            sentence: String::new(),
            remedy: String::new(),
        }
    }

    fn lagging(lag: u64, causes: &[Limit]) -> (TrialSummary, [Part; 3]) {
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
        let verdict = Verdict { state, causes: causes.iter().copied().map(cause).collect(), ..Verdict::default() };
        let seen = summarize(&find, &of, &Judgement { verdict, ..Judgement::default() });
        let sum = |all: Part, part: Part| Part {
            over: all.over + part.over,
            least: all.least + part.least,
            of: all.of + part.of,
        };
        let all = |index: usize| seen.blocks.iter().map(|block| block.parts[0][index]).fold(Part::default(), sum);
        let parts = [0, 1, 2].map(all);
        (seen, parts)
    }

    #[test]
    fn what_lag_can_have_done_is_known_and_no_more() {
        // 5 ms late at most: what took 80 ms took 75 at least.
        let [slow, errors, mean] = lagging(5_000_000, &[Limit::Steal, Limit::Lag]).1;
        assert_eq!((slow.over, slow.least, slow.of), (200.0, 200.0, 2000.0));
        // Of 160 errors, 100 requests that were late by more than a mean gap (1 ms) may have brought as many about.
        assert_eq!((errors.over, errors.least, errors.of), (160.0, 60.0, 2000.0));
        assert!((mean.over - mean.least - 2000.0 * 0.005).abs() < 0.25, "{mean:?}");
        // 40 ms: what took 80 ms may have taken 40. So late is no mean any more.
        let [slow, _, mean] = lagging(40_000_000, &[Limit::Throttled]).1;
        assert_eq!((slow.over, slow.least, mean.least), (200.0, 0.0, 0.0));
        // Late by less than a mean gap: no two came together.
        assert_eq!(lagging(900_000, &[Limit::Lag]).1[1].least, 160.0);
        let [slow, errors, _] = lagging(40_000_000, &[]).1;
        assert_eq!((slow.least, errors.least), (0.0, 160.0), "lag is corrected for whatever the verdict");
    }

    #[test]
    fn what_a_trial_is_evidence_for_depends_on_what_limited_the_generator() {
        let of = |causes: &[Limit]| lagging(5_000_000, causes).0.evidence;
        assert_eq!(of(&[]), Evidence::Both);
        assert_eq!(of(&[Limit::Steal, Limit::RunQueue, Limit::Lag]), Evidence::Both);
        assert_eq!(of(&[Limit::Cores]), Evidence::LowerEnd, "nobody knows how much of them was ours");
        assert_eq!(of(&[Limit::Cores, Limit::Ports]), Evidence::None);
        let beside = |causes: &[Limit]| {
            let state = if causes.is_empty() { State::Ok } else { State::Limited };
            let verdict = Verdict { state, causes: causes.iter().copied().map(cause).collect(), ..Verdict::default() };
            let judgement = Judgement { verdict, ..Judgement::default() };
            let mut of = Run::default();
            (of.flow.arrivals, of.total.completed) = (10, 10);
            evidence(&of, &judgement, Some(Limit::OtherProcesses))
        };
        assert_eq!(beside(&[]), Evidence::LowerEnd, "the schedule was kept, but the server may have waited for a core");
        assert_eq!(beside(&[Limit::Lag]), Evidence::LowerEnd);
        assert_eq!(beside(&[Limit::Ports]), Evidence::None);
    }

    #[test]
    fn a_server_that_hangs_is_too_slow() {
        let of = run(30, |i, s| (s.flow.planned, s.flow.begun, s.flow.in_flight) = (10, 10, 10 * (i + 1)));
        let blocks = blocks(&find(&[objective(Metric::Quantile(0.99), 0.5)]), &of);
        let last = blocks[29].parts[0][0];
        // 300 are under way; 60 of them were due within the last half second and its interval.
        assert!(last.over > 200.0 && last.over <= 250.0 && last.over == last.of, "{last:?}");
    }

    #[test]
    fn replies_are_wanted_up_to_what_is_offered() {
        assert_eq!(wanted(900.0, 0.1, 50.0), 49.5);
        assert_eq!(wanted(900.0, 0.1, 200.0), 90.0);
        assert_eq!(wanted(900.0, 0.1, 0.0), 90.0);
    }
}
