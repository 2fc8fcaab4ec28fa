//! A run, as far as it bears on a search: what was over each bound, block by block.
//!
//! What it is: counts, of the points of the measured time. What it is not: a decision; [`mod@crate::sides`] and
//! [`crate::curve`] decide.

use crate::bound::{Bound, Counted, Replies};
use crate::search::Purpose;
use brunt_judge::steady;
use brunt_model::finding::{Check, Limit, State};
use brunt_model::series::Point;
use brunt_model::{Failure, Find, Judgement, Run};
use brunt_stats::Sketch;

/// What a trial came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The load that was asked for: arrivals per second or users.
    pub load: f64,
    /// What it was for; None where that is to be told from the trials before it.
    pub purpose: Option<Purpose>,
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
    /// By what the generator was the limit, or that its sums did not come out even: what was missed may be its doing.
    pub limited: Option<String>,
    /// Where the generator was the limit and only lagged: what is left without all that its lag can have brought about.
    pub excused: Option<Excused>,
}

/// A trial without what a generator that lagged can have done to it at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Excused {
    /// By so many seconds were replies late for that at most.
    pub seconds: f64,
    /// The blocks, as those of [`Seen`].
    pub blocks: Vec<Counts>,
}

impl Seen {
    /// Whether clearly less was achieved than was offered, and not by the generator's fault: what is under way at the end is
    /// less, too, but that is only some requests, and those that were late.
    pub fn is_overloaded(&self) -> bool {
        const SOME: f64 = 10.0;
        let late = match (&self.limited, &self.excused) {
            (None, _) => 0.0,
            (Some(_), Some(excused)) => excused.seconds,
            (Some(_), None) => return false,
        };
        let missing = (self.offered - self.achieved) * self.seconds - self.offered * late;
        missing > 0.05 * self.offered * self.seconds && missing > SOME
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
}

/// How much was over a bound, of how much. Over a [`Bound`]'s allowed share of it is too much.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Part {
    /// What counts against it.
    pub over: f64,
    /// Of so much.
    pub of: f64,
}

/// What a run says, for a search.
pub fn seen(find: &Find, run: &Run, judgement: &Judgement) -> Seen {
    let points = steady::measured(run);
    let mut all = Sketch::default();
    for point in &points {
        all.merge(&point.response);
    }
    let open = run.flow.arrivals > 0;
    Seen {
        load: run.plan.as_ref().map_or(0.0, |plan| plan.load.peak()),
        purpose: None,
        began: run.unix_seconds,
        offered: run.per_second(if open { run.flow.arrivals } else { run.flow.planned }),
        achieved: run.throughput(),
        seconds: run.measured_seconds(),
        mean: (all.count() > 0).then(|| response(&all) / all.count() as f64),
        p99: (all.count() > 0).then(|| all.quantile(0.99) as f64 / 1e9),
        blocks: blocks(find, run),
        limited: limited(judgement),
        excused: Excuse::of(run, judgement)
            .map(|excuse| Excused { seconds: excuse.seconds, blocks: counted(find, run, Some(excuse)) }),
    }
}

fn limited(judgement: &Judgement) -> Option<String> {
    match judgement.verdict.state {
        State::Ok => None,
        State::Limited => Some(judgement.verdict.causes.first().map_or("lag", |cause| cause.limit.words()).to_owned()),
        State::Invalid => Some("its sums did not come out even".to_owned()),
    }
}

/// What a generator that lagged can have done to a server's figures at most, in an open loop.
///
/// Where arrivals come late by some time at most, and replies are taken in late by as much, a queue whose order they do not
/// change has no reply later by more than both: with all arrivals that much later, each reply would be, and none is later
/// where some of them come earlier. And a server that refuses what comes at once refuses no more requests for that than came
/// late by a mean gap or more, and so together with the next.
#[derive(Debug, Clone, Copy)]
struct Excuse {
    /// So many seconds were replies late at most.
    seconds: f64,
    /// So many of the errors remain, as a share of all.
    errors: f64,
}

impl Excuse {
    /// None where the generator was no limit, or did more than to lag: where it took the server's cores, or ran out of
    /// something, nobody knows what that did.
    fn of(run: &Run, judgement: &Judgement) -> Option<Self> {
        let lagged = |limit: Limit| matches!(limit, Limit::Steal | Limit::Throttled | Limit::Stopped | Limit::Lag);
        let uneven = |check: &Check| !check.holds && !check.is_of_arrivals();
        let known =
            judgement.verdict.causes.iter().all(|cause| lagged(cause.limit)) && !judgement.checks.iter().any(uneven);
        let total = &run.total;
        if judgement.verdict.state == State::Ok || !known || run.flow.arrivals == 0 || total.completed == 0 {
            return None;
        }
        let gap = run.measured_seconds() / run.flow.arrivals as f64;
        let late = total.lag.count() - total.lag.count_at_or_below((gap * 1e9) as u64);
        // What failed on the way may be ours; a whole reply that is an error is not.
        let left = (total.completed - total.good).saturating_sub(late);
        let errors = left as f64 / total.errors().max(1) as f64;
        Some(Self { seconds: 2.0 * total.lag.max() as f64 / 1e9, errors })
    }

    /// Takes away from a part what is not in its bound already.
    fn take(&self, part: &mut Part, bound: &Bound) {
        match bound.counted {
            Counted::Slower(_) => {}
            Counted::Errors => part.over *= self.errors,
            Counted::Mean => part.over = (part.over - self.seconds * part.of).max(0.0),
            // What was not asked for in time was not served.
            Counted::Wanted { .. } => part.over = 0.0,
        }
    }
}

/// The blocks of a run, as far as it has gone.
pub fn blocks(find: &Find, run: &Run) -> Vec<Counts> {
    counted(find, run, None)
}

fn counted(find: &Find, run: &Run, excuse: Option<Excuse>) -> Vec<Counts> {
    let points = steady::measured(run);
    let mut bounds: Vec<Vec<Bound>> = bounds(find);
    if let Some(excuse) = excuse {
        bounds.iter_mut().flatten().for_each(|bound| bound.put_off(excuse.seconds));
    }
    let any_dropped = run.total.failed_by(Failure::Dropped) > 0;
    let mut waiting = points.first().map_or(0, |point| point.flow.waiting);
    let mut blocks: Vec<Counts> = Vec::with_capacity(points.len());
    for point in &points {
        let Point { flow, .. } = point;
        // What is planned late in one interval is begun in the next where we lag: that is no arrival without room.
        let missing = (flow.planned + waiting).saturating_sub(flow.begun + flow.waiting);
        let dropped = if any_dropped && excuse.is_none() { missing } else { 0 };
        waiting = flow.waiting;
        blocks.push(block(point, dropped as f64, &bounds));
    }
    if let Some(last) = blocks.last_mut() {
        count_unfinished(last, run, &points, &bounds);
    }
    if let Some(excuse) = excuse {
        let parts = blocks.iter_mut().flat_map(|block| block.parts.iter_mut().flatten());
        parts.zip(bounds.iter().flatten().cycle()).for_each(|(part, bound)| excuse.take(part, bound));
    }
    blocks
}

/// The bounds of each set.
pub(crate) fn bounds(find: &Find) -> Vec<Vec<Bound>> {
    find.objectives.iter().map(|set| set.all.iter().map(Bound::of).collect()).collect()
}

fn block(point: &Point, dropped: f64, bounds: &[Vec<Bound>]) -> Counts {
    let part = |bound: &Bound| part(point, dropped, bound);
    Counts {
        seconds: point.seconds(),
        completed: point.flow.completed as f64,
        response: response(&point.response),
        parts: bounds.iter().map(|set| set.iter().map(part).collect()).collect(),
    }
}

fn part(point: &Point, dropped: f64, bound: &Bound) -> Part {
    let Point { flow, response: sketch, .. } = point;
    match bound.counted {
        Counted::Slower(than) => Part { over: slower(sketch, than) + dropped, of: sketch.count() as f64 + dropped },
        // What was dropped is among the errors already.
        Counted::Errors => Part { over: flow.errors as f64, of: (flow.good + flow.errors) as f64 },
        Counted::Mean => Part { over: response(sketch), of: sketch.count() as f64 },
        Counted::Wanted { rate, replies } => {
            let came = if replies == Replies::Good { flow.good } else { flow.completed };
            Part { over: wanted(rate, point.seconds(), flow.arrivals as f64), of: came as f64 }
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
fn count_unfinished(last: &mut Counts, run: &Run, points: &[Point], bounds: &[Vec<Bound>]) {
    let Some(end) = points.last() else { return };
    let cut = run.total.failed_by(Failure::Cut);
    let left = (end.flow.in_flight + end.flow.waiting).max(cut) as f64;
    let planned_since = |seconds: f64| -> f64 {
        let recent = |point: &&Point| (end.to - point.from).as_secs_f64() <= seconds + point.seconds();
        points.iter().rev().take_while(recent).map(|point| point.flow.planned as f64).sum()
    };
    for (part, bound) in last.parts.iter_mut().flatten().zip(bounds.iter().flatten()) {
        if let Counted::Slower(than) = bound.counted {
            let old = (left - planned_since(than)).max(0.0);
            part.over += old;
            part.of += old;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Verdict;
    use brunt_model::answer::LoadSide;
    use brunt_model::finding::Cause;
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
        Objective { metric, relation: Relation::Below, bound }
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

    /// What is left of the three figures of a trial in which the generator lagged so, every tenth request being slow.
    fn excused(lag: u64, causes: &[Limit]) -> Option<[Part; 3]> {
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
        let cause = |limit: &Limit| Cause {
            limit: *limit,
            lasted: Duration::from_secs(1),
            sentence: String::new(),
            remedy: String::new(),
        };
        let state = if causes.is_empty() { State::Ok } else { State::Limited };
        let verdict = Verdict { state, causes: causes.iter().map(cause).collect(), ..Verdict::default() };
        let seen = seen(&find, &of, &Judgement { verdict, ..Judgement::default() });
        let excused = seen.excused?;
        assert_eq!(excused.seconds, 2.0 * of.total.lag.max() as f64 / 1e9);
        let sum = |all: Part, part: Part| Part { over: all.over + part.over, of: all.of + part.of };
        let all = |index: usize| excused.blocks.iter().map(|block| block.parts[0][index]).fold(Part::default(), sum);
        Some([0, 1, 2].map(all))
    }

    #[test]
    fn what_lag_can_have_done_is_taken_away_and_no_more() {
        // 5 ms late at most, and replies as late once more: what took 80 ms took 70 at least.
        let [slow, errors, mean] = excused(5_000_000, &[Limit::Steal, Limit::Lag]).unwrap();
        assert_eq!((slow.over, slow.of), (200.0, 2000.0));
        // Of 160 errors, 100 requests that were late by more than a mean gap (1 ms) may have brought as many about.
        assert_eq!((errors.over, errors.of), (60.0, 2000.0));
        assert!((mean.over - (20.0 * 1.7 - 2000.0 * 0.01)).abs() < 0.25, "{mean:?}");
        // 20 ms: what took 80 ms may have taken 40. So late is no mean any more.
        let [slow, _, mean] = excused(20_000_000, &[Limit::Throttled]).unwrap();
        assert_eq!((slow.over, mean.over), (0.0, 0.0));
        // Late by less than a mean gap: no two came together.
        assert_eq!(excused(900_000, &[Limit::Lag]).unwrap()[1].over, 160.0);
        assert_eq!(excused(5_000_000, &[]), None, "no limit, no excuse");
        assert_eq!(excused(5_000_000, &[Limit::Steal, Limit::Cores]), None, "it took the server's cores");
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
