//! Checks by Little's law (Little 1961): mean number in a system = arrival rate × mean
//! time in the system.

use super::check;
use crate::texts::message;
use brunt_model::finding::ConsistencyCheck;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Load, Phase, Run, Tally};

/// Compares requests in flight, counted over time, with the sum of their times.
///
/// ∫ in flight dt = Σ (last byte − begun) over all requests of the run, warm-up included. The left
/// side is a counter of the recorder, changed at each beginning and end. The tolerance is 1 %, plus
/// a millisecond for each request in flight at the peak. Never None: the signature is that of all
/// checks.
pub fn in_flight(run: &Run) -> Option<ConsistencyCheck> {
    let counted = seconds_of(run.flow_all.in_flight_nanos);
    let summed = seconds_in_flight(&run.total) + seconds_in_flight(&run.warmup);
    let tolerance = 0.01 * summed + 1e-3 * run.peak.in_flight.max(1) as f64;
    let text = message!(
        "check-sum.in-flight",
        counted = format!("{counted:.4}"),
        summed = format!("{summed:.4}")
    );
    Some(check(message!("check.in-flight"), (counted - summed).abs() <= tolerance, text))
}

/// Σ (last byte − begun) of completed and failed requests, in seconds. Their times start at the
/// planned instant, so lag and queue wait are subtracted.
fn seconds_in_flight(tally: &Tally) -> f64 {
    let failures: u128 = tally.failure_times.iter().map(|f| f.1.sum()).sum();
    let waited = tally.queue_wait.sum() + tally.lag.sum();
    (tally.response.sum() + failures).saturating_sub(waited) as f64 / 1e9
}

/// Checks a closed loop: users × streams = begun requests/s × (mean response time + mean think
/// time).
///
/// Each stream of a user's connections sends requests like a separate user. Below, a user is one
/// such stream. Both sides are multiplied by the time of the load, warm-up included: users × time =
/// ∫ in flight dt + Σ lag + Σ queue wait + Σ think time, minus the time for which requests of
/// parallel steps of one user overlapped, minus the time by which each user's last request ended
/// after the load. Users of a lost process count until its loss.
///
/// None unless the plan has one population, a closed loop with a constant number of users, and the
/// load ended by time. If users stop one by one, the right side is too small.
///
/// The tolerance is 1 %, plus one user, plus one for each dropped request.
pub fn users(run: &Run) -> Option<ConsistencyCheck> {
    let Some(Load::Closed { users: shape, think }) =
        run.plan.as_ref()?.only().map(|only| &only.load)
    else {
        return None;
    };
    let planned_users =
        shape.as_constant()? * f64::from(run.plan.as_ref()?.connection.in_flight_per_user());
    let time = load_seconds(run)?;
    let expected_users = planned_users - user_seconds_lost(run, planned_users) / time;
    let flow = &run.flow_all;
    let busy = seconds_of(flow.in_flight_nanos) - seconds_of(flow.overlap_nanos)
        + seconds_waited(&run.total)
        + seconds_waited(&run.warmup)
        - seconds_of(flow.overtime_nanos);
    let thinking = seconds_of(flow.thought_nanos);
    let requests = flow.begun.max(1) as f64;
    let observed_users = (busy + thinking) / time;
    let users = expected_users.to_string();
    let rate = format!("{:.1}", requests / time);
    let each = format!("{:.6}", busy / requests);
    let on_average = format!("{:.3}", busy / time);
    let text = if think.is_none() && flow.thought_nanos == 0 {
        message!("check-sum.little", users, rate, each, busy = on_average)
    } else {
        message!(
            "check-sum.little-with-thinking",
            users,
            rate,
            each,
            busy = on_average,
            thinking = format!("{:.3}", thinking / time),
            observed = format!("{observed_users:.3}")
        )
    };
    // A request that waited for a connection until the end of the run delayed its user
    // for an unknown time.
    let dropped =
        (run.total.failed_by(Failure::Dropped) + run.warmup.failed_by(Failure::Dropped)) as f64;
    let tolerance = 0.01 * expected_users + 1.0 + dropped;
    Some(check(
        message!("check.little"),
        (observed_users - expected_users).abs() <= tolerance,
        text,
    ))
}

/// Σ lag + Σ queue wait, in seconds.
fn seconds_waited(tally: &Tally) -> f64 {
    (tally.lag.sum() + tally.queue_wait.sum()) as f64 / 1e9
}

/// User-seconds of load that were lost: users of lost processes × seconds from the loss to the end
/// of the load, or until another process takes its place. Divided by the time of the load, that is the mean number of lost users.
fn user_seconds_lost(run: &Run, users: f64) -> f64 {
    let ends = run.phase_start(Phase::Grace).unwrap_or(run.last_interval_end);
    run.losses
        .iter()
        .map(|loss| {
            loss.part.share(users as u64) as f64 * ends.min(loss.until).seconds_since(loss.at)
        })
        .sum()
}

/// Seconds of load, from the start of the warm-up to the grace period. None without a plan or
/// phases, if the load ended by a number of requests, or if iterations per user are limited.
fn load_seconds(run: &Run) -> Option<f64> {
    let stop = run.plan.as_ref()?.main().stop;
    // A load that ended by a number let its users stop one by one. A lost process leaves its share
    // of the requests undone, so the total does not show that the others ended by number.
    let by_number = stop.requests.is_some_and(|n| run.total.planned >= n || !run.losses.is_empty())
        || stop.iterations_per_user.is_some();
    let begins = run.phase_start(Phase::Warmup).or_else(|| run.phase_start(Phase::Measure))?;
    let ends = run.phase_start(Phase::Grace).unwrap_or(run.last_interval_end);
    let seconds = ends.seconds_since(begins);
    // A worker that a step held until the end reported no interval after its begin.
    let is_held = !run.is_interrupted()
        && stop.duration.is_some_and(|longest| seconds < 0.9 * longest.as_secs_f64());
    (!by_number && !is_held && seconds > 0.0).then_some(seconds)
}
