//! Little's law (Little 1961): what is in a system on average = what comes per second × how long it stays.

use super::check;
use brunt_model::finding::Check;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Flow, Load, Loss, Phase, Run, Tally};

/// Requests under way, counted over time, against the sum of their times.
///
/// ∫ in flight dt (a counter of the recorder's own, moved at each beginning and end) = Σ (last byte − begun) over all
/// requests of the run, within 1 % and a millisecond for each of the most that were under way.
pub fn in_flight(run: &Run) -> Option<Check> {
    let counted = seconds_of(run.flow_all.in_flight_nanos);
    let summed = seconds_under_way(&run.total) + seconds_under_way(&run.warmup);
    let room = 0.01 * summed + 1e-3 * run.peak.in_flight.max(1) as f64;
    let text = format!("{counted:.4} s under way by counting, {summed:.4} s by adding up the times of all requests");
    Some(check("requests under way", (counted - summed).abs() <= room, text))
}

/// Σ (last byte − begun): the response times without what came before the beginning.
fn seconds_under_way(t: &Tally) -> f64 {
    let failures: u128 = t.failure_times.iter().map(|f| f.1.sum()).sum();
    let before = t.queue_wait.sum() + t.lag.sum();
    (t.response.sum() + failures).saturating_sub(before) as f64 / 1e9
}

/// The closed loop: users × streams = throughput × (mean response time + mean think time). Within 1 %, one user, the greatest
/// lag and queue wait once for each user (its last request may be due before the end of the load and begun behind it), and
/// one for each request that was dropped.
///
/// Both sides over the load, warm-up included, to its end: users × streams × time = ∫ in flight dt + Σ lag + Σ queue wait +
/// Σ thinking, less the time by which requests of parallel steps overlapped. A user that stopped is idle until the end. Only where the users never change and the time was the end of it: users that leave one by one are fewer than
/// asked. Those of a process that was lost are counted until then.
pub fn users(run: &Run) -> Option<Check> {
    let Some(Load::Closed { users, think }) = run.plan.as_ref()?.only().map(|only| &only.load) else { return None };
    // Each stream of a user's connection asks as a user does.
    let asked = users.as_constant()? * f64::from(run.plan.as_ref()?.connection.in_flight_per_user());
    let time = load_seconds(run)?;
    let users = asked - users_lost(run, asked) / time;
    // A user that has several requests at once is still one user.
    let busy = |flow: &Flow| flow.in_flight_nanos as f64 - flow.overlap_nanos as f64;
    let before_grace = busy(&run.flow_all) - busy(&run.flow_grace);
    let waited = |t: &Tally| (t.lag.sum() + t.queue_wait.sum()) as f64 / 1e9;
    let waited = waited(&run.total) + waited(&run.warmup);
    let busy = before_grace / 1e9 + waited;
    let thinking = seconds_of(run.flow_all.thought_nanos);
    let begun = run.flow_all.begun.max(1) as f64;
    let there = (busy + thinking) / time;
    let thought = format!(" + {:.3} thinking = {there:.3}", thinking / time);
    let thought = if think.is_none() && run.flow_all.thought_nanos == 0 { "" } else { &thought };
    let (rate, each, on_average) = (begun / time, busy / begun, busy / time);
    let text = format!("{users} users; {rate:.1}/s × {each:.6} s under way = {on_average:.3}{thought}");
    let late = |t: &Tally| seconds_of(t.lag.max() + t.queue_wait.max());
    let late = late(&run.total).max(late(&run.warmup));
    // A request that waited for a lane until the run was cut off kept its user waiting for an unknown time.
    let dropped = (run.total.failed_by(Failure::Dropped) + run.warmup.failed_by(Failure::Dropped)) as f64;
    let room = 0.01 * users + 1.0 + users * late / time + dropped;
    Some(check("Little's law", (there - users).abs() <= room, text))
}

/// Users of lost processes × the seconds of load that were left for them.
fn users_lost(run: &Run, users: f64) -> f64 {
    let ends = run.began(Phase::Grace).unwrap_or(run.seen_to);
    let lost = |loss: &Loss| loss.part.share(users as u64) as f64 * ends.seconds_since(loss.at);
    run.losses.iter().map(lost).sum()
}

/// Seconds of load, where it ended by time and not by the number of requests.
fn load_seconds(run: &Run) -> Option<f64> {
    let stop = run.plan.as_ref()?.main().stop;
    let by_number = stop.requests.is_some_and(|n| run.total.planned >= n || !run.losses.is_empty())
        || stop.iterations_per_user.is_some();
    let begins = run.began(Phase::Warmup).or_else(|| run.began(Phase::Measure))?;
    let ends = run.began(Phase::Grace).unwrap_or(run.seen_to);
    let seconds = ends.seconds_since(begins);
    (!by_number && seconds > 0.0).then_some(seconds)
}
