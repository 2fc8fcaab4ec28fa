//! What was begun, against the schedule: in size of effect, never by the chance of it (a p-value grows with the number
//! of samples until anything differs).
//!
//! A machine that takes time away disturbs it, so it is no consistency check: it is evidence of lag (`limits`). On
//! a clock that nobody disturbs all of it must hold: the engine's tests check that.

use crate::conservation::{check, of_populations};
use brunt_model::finding::Check;
use brunt_model::{Arrivals, Load, Loss, Phase, Plan, Run, Shape, Tick};
use std::time::Duration;

/// The most that the two distributions may differ in any instant (Kolmogorov 1933, Smirnov 1948).
const MOST_DISTANCE: f64 = 0.02;
/// The most that the two indices of dispersion may differ, of the larger or of 1.
const MOST_DISPERSION: f64 = 0.05;
/// What few spans are forgiven on top: this share of the standard error that an index of so many independent counts has,
/// √(2 ÷ spans). An arrival that lag moves over a border weighs more where there are few.
const FORGIVEN: f64 = 0.5;
/// The most bins that may be put aside.
pub(crate) const MOST_DISPLACED: f64 = 0.05;

/// Spans in which the spacing must be known before its disturbance is a cause: of fewer, a few are many.
const ENOUGH_SPANS: u64 = 100;

/// The schedule and the spacing; what cannot be looked at in this run is left out.
pub fn checks(run: &Run) -> Vec<Check> {
    let of_all = [schedule(run), dispersion(run)].into_iter().flatten();
    of_all.chain(of_populations(run, checks)).collect()
}

/// The share of the measured time in which much was begun late or early: a quarter more or less than was planned for the
/// span. None where there are too few arrivals to say.
pub(crate) fn displaced(run: &Run) -> Option<f64> {
    let level = run.spread.telling()?;
    let all = level.displaced + level.spans;
    (all >= ENOUGH_SPANS && waited_for_no_connection(run)).then(|| level.displaced as f64 / all as f64)
}

/// With few connections, the server decides when requests begin.
fn waited_for_no_connection(run: &Run) -> bool {
    run.total.queue_wait.max() == 0 && run.warmup.queue_wait.max() == 0
}

/// The instants at which arrivals were acted on (begun, made to wait for a connection, or dropped), against the schedule.
///
/// The greatest distance between their number so far and the number that the schedule asked for, in shares of all. A
/// Poisson schedule wanders itself: 3/√n is allowed for that, which one in some 10⁷ exceeds (Massart 1990).
fn schedule(run: &Run) -> Option<Check> {
    let plan = run.plan.as_ref()?;
    let Load::Open { rate, arrivals, .. } = &plan.only()?.load else { return None };
    let begins = run.began(Phase::Warmup).or_else(|| run.began(Phase::Measure))?;
    let asked = |at: Tick| expected(plan, rate, at.nanos_since(begins));
    // Of what came after a process was lost, its share is missing.
    let lost = |loss: &Loss, at: Tick| (asked(at) - asked(loss.at)).max(0.0) / f64::from(loss.part.of);
    let expected = |at: Tick| asked(at) - run.losses.iter().map(|loss| lost(loss, at)).sum::<f64>();
    let (mut acted, mut distance, mut all) = (0.0, 0.0_f64, 0.0);
    for point in run.series.points().filter(|p| matches!(p.phase, Phase::Warmup | Phase::Measure)) {
        acted += point.flow.arrivals as f64;
        all = expected(point.to);
        distance = distance.max((acted - all).abs());
    }
    if all < 1.0 {
        return None;
    }
    let wandering = match arrivals {
        Arrivals::Poisson => 3.0 / all.sqrt(),
        Arrivals::Even => 1.0 / all,
        Arrivals::Burst(size) => f64::from(*size) / all,
        // Of a uniform distribution the deviation is half its width by the square root of three.
        Arrivals::Uniform(millionths) => 3.0 * f64::from(*millionths) / 1e6 / (3.0 * all).sqrt(),
    };
    let (share, most) = (distance / all, MOST_DISTANCE + wandering);
    let text = format!(
        "{all:.0} arrivals; largest deviation from the schedule {:.2} % (threshold: {:.2} %)",
        share * 1e2,
        most * 1e2
    );
    Some(check("arrivals against the schedule", share <= most, text))
}

/// How many arrivals the schedule asks for in the first `nanos` of load. The warm-up runs at what the shape begins with.
fn expected(plan: &Plan, rate: &Shape, nanos: u64) -> f64 {
    let (load, warmup) = (Duration::from_nanos(nanos), plan.main().stop.warmup);
    let before = rate.at(Duration::ZERO) * load.min(warmup).as_secs_f64();
    let measured = rate.area(load.saturating_sub(warmup));
    before + plan.main().stop.requests.map_or(measured, |most| measured.min(most as f64))
}

/// The index of dispersion of what was begun against that of what was planned, both of the same arrivals.
fn dispersion(run: &Run) -> Option<Check> {
    if !waited_for_no_connection(run) {
        return None;
    }
    let level = run.spread.telling()?;
    let (planned, begun) = level.dispersion()?;
    let displaced = level.displaced as f64 / (level.displaced + level.spans) as f64;
    let most = MOST_DISPERSION + FORGIVEN * (2.0 / level.spans.max(1) as f64).sqrt();
    let near = (planned - begun).abs() <= most * planned.max(begun).max(1.0);
    let text = format!(
        "variance over mean of arrivals in {} s: {planned:.3} planned, {begun:.3} begun, in {} spans; {:.0} % of \
         difference allowed; {:.1} % of the time put aside because much was begun late",
        level.seconds(),
        level.spans,
        most * 1e2,
        displaced * 1e2
    );
    Some(check("spacing of arrivals", near && displaced <= MOST_DISPLACED, text))
}
