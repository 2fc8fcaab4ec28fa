//! Compares the begun requests with the schedule, by size of effect and not by p-value: a p-value
//! shrinks with the number of samples until any difference is significant.
//!
//! A machine that takes CPU time away disturbs arrivals, so a difference is evidence of lag
//! (`limits`) and no failed consistency check. On an undisturbed clock all of these checks must
//! hold: the engine's tests check that.

use crate::conservation::{check, of_populations};
use crate::texts::message;
use brunt_model::finding::ConsistencyCheck;
use brunt_model::{Arrivals, Load, LoadShape, LostProcess, Phase, Plan, Run, Tick};
use std::time::Duration;

/// Maximum distance between the two distributions at any instant (Kolmogorov 1933, Smirnov 1948).
const MOST_DISTANCE: f64 = 0.02;
/// Maximum difference of the two indices of dispersion, as a share of the larger one or of 1.
const MOST_DISPERSION: f64 = 0.05;
/// Extra tolerance for few spans: this share of √(2 ÷ spans), the standard error of an index
/// of that many independent counts. An arrival that lag moves over a border weighs more if
/// there are few spans.
const SMALL_SAMPLE_TOLERANCE: f64 = 0.5;
/// Maximum share of bins that may be put aside.
pub(crate) const MOST_DISPLACED: f64 = 0.05;

/// Minimum number of spans before disturbed spacing can be a cause. Among fewer spans, a few
/// disturbed ones are a large share.
const ENOUGH_SPANS: u64 = 100;

/// Checks the schedule and the spacing of arrivals. Leaves out checks that this run does not allow.
pub fn checks(run: &Run) -> Vec<ConsistencyCheck> {
    let checks_of_total = [schedule(run), dispersion(run)].into_iter().flatten();
    checks_of_total.chain(of_populations(run, checks)).collect()
}

/// Share of the measured time in which begun requests deviate by a quarter or more from the number
/// planned for the span. None if there are too few arrivals.
pub(crate) fn displaced(run: &Run) -> Option<f64> {
    let level = run.spread.shortest_conclusive()?;
    let all = level.displaced + level.spans;
    (all >= ENOUGH_SPANS && has_no_queue_wait(run)).then(|| level.displaced as f64 / all as f64)
}

/// True if no request waited for a connection. With few connections, the server
/// decides when requests begin.
fn has_no_queue_wait(run: &Run) -> bool {
    run.total.queue_wait.max() == 0 && run.warmup.queue_wait.max() == 0
}

/// Compares the instants at which arrivals were acted on (begun, queued for a connection, or
/// dropped) with the schedule.
///
/// The statistic is the greatest distance between the arrivals so far and the number that the
/// schedule asked for, as a share of all. A Poisson schedule itself fluctuates: 3/√n is allowed for
/// that, which about one schedule in 10⁷ exceeds (Massart 1990).
fn schedule(run: &Run) -> Option<ConsistencyCheck> {
    let plan = run.plan.as_ref()?;
    let Load::Open { rate, arrivals, .. } = &plan.only()?.load else { return None };
    let begins = run.phase_start(Phase::Warmup).or_else(|| run.phase_start(Phase::Measure))?;
    let mut acted = 0.0;
    let mut distance = 0.0_f64;
    let mut all = 0.0;
    for point in run.series.points().filter(|p| matches!(p.phase, Phase::Warmup | Phase::Measure)) {
        acted += point.flow.arrivals as f64;
        all = expected_until(run, plan, rate, begins, point.to);
        distance = distance.max((acted - all).abs());
    }
    // Shares of less than one expected arrival mean nothing.
    if all < 1.0 {
        return None;
    }
    // The schedule itself deviates from its mean rate: by chance, or by its bursts.
    let tolerance = match arrivals {
        Arrivals::Poisson => 3.0 / all.sqrt(),
        Arrivals::Even => 1.0 / all,
        Arrivals::Burst(size) => f64::from(*size) / all,
        // The standard deviation of a uniform distribution is half its width divided by √3.
        Arrivals::Uniform(millionths) => 3.0 * f64::from(*millionths) / 1e6 / (3.0 * all).sqrt(),
    };
    let share = distance / all;
    let most = MOST_DISTANCE + tolerance;
    let text = message!(
        "check-sum.schedule",
        arrivals = format!("{all:.0}"),
        share = format!("{:.2} %", share * 1e2),
        most = format!("{:.2} %", most * 1e2)
    );
    Some(check(message!("check.schedule"), share <= most, text))
}

/// Number of arrivals that the schedule asks for until `until`. A lost process has no share of the
/// arrivals after its loss, until another one takes its place.
fn expected_until(run: &Run, plan: &Plan, rate: &LoadShape, begins: Tick, until: Tick) -> f64 {
    let scheduled = expected(plan, rate, until.nanos_since(begins));
    let missing_of = |loss: &LostProcess| {
        let before_loss = expected(plan, rate, loss.at.nanos_since(begins));
        let missing_to = expected(plan, rate, loss.until.min(until).nanos_since(begins));
        (missing_to - before_loss).max(0.0) / loss.part.stride()
    };
    scheduled - run.losses.iter().map(missing_of).sum::<f64>()
}

/// Number of arrivals that the schedule asks for in the first `nanos` of load. The warm-up runs at
/// the rate with which the shape begins.
fn expected(plan: &Plan, rate: &LoadShape, nanos: u64) -> f64 {
    let load = Duration::from_nanos(nanos);
    let warmup = plan.main().stop.warmup;
    let before = rate.at(Duration::ZERO) * load.min(warmup).as_secs_f64();
    let measured = rate.area(load.saturating_sub(warmup));
    before + plan.main().stop.requests.map_or(measured, |most| measured.min(most as f64))
}

/// Compares the index of dispersion of the begun arrivals with that of the planned ones.
fn dispersion(run: &Run) -> Option<ConsistencyCheck> {
    // With queueing for connections, the server determines when requests begin.
    if !has_no_queue_wait(run) {
        return None;
    }
    let level = run.spread.shortest_conclusive()?;
    let (planned, begun) = level.dispersion()?;
    let displaced = level.displaced as f64 / (level.displaced + level.spans) as f64;
    let most = MOST_DISPERSION + SMALL_SAMPLE_TOLERANCE * (2.0 / level.spans.max(1) as f64).sqrt();
    let near = (planned - begun).abs() <= most * planned.max(begun).max(1.0);
    let text = message!(
        "check-sum.spacing",
        seconds = level.seconds().to_string(),
        planned = format!("{planned:.3}"),
        begun = format!("{begun:.3}"),
        spans = level.spans.to_string(),
        most = format!("{:.0} %", most * 1e2),
        displaced = format!("{:.1} %", displaced * 1e2)
    );
    Some(check(message!("check.spacing"), near && displaced <= MOST_DISPLACED, text))
}
