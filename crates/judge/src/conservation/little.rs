//! Checks by Little's law (Little 1961): mean number in a system = arrival rate × mean
//! time in the system.

use super::check;
use brunt_model::finding::Check;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Flow, Load, Phase, Run, Tally};

/// Compares requests in flight, counted over time, with the sum of their times.
///
/// ∫ in flight dt = Σ (last byte − begun) over all requests of the run. The left side is a counter
/// of the recorder, changed at each beginning and end. The tolerance is 1 %, plus a millisecond for
/// each request in flight at the peak.
pub fn in_flight(run: &Run) -> Option<Check> {
    let counted = seconds_of(run.flow_all.in_flight_nanos);
    let summed = seconds_in_flight(&run.total) + seconds_in_flight(&run.warmup);
    let tolerance = 0.01 * summed + 1e-3 * run.peak.in_flight.max(1) as f64;
    let text = format!(
        "{counted:.4} s in flight by counting, {summed:.4} s as the sum of the times of all requests"
    );
    Some(check("requests in flight", (counted - summed).abs() <= tolerance, text))
}

/// Σ (last byte − begun): the response times without the waiting time before the request was begun.
fn seconds_in_flight(t: &Tally) -> f64 {
    let failures: u128 = t.failure_times.iter().map(|f| f.1.sum()).sum();
    let waited = t.queue_wait.sum() + t.lag.sum();
    (t.response.sum() + failures).saturating_sub(waited) as f64 / 1e9
}

/// Checks a closed loop: users × streams = throughput × (mean response time + mean think time).
///
/// The tolerance is 1 %, plus one user, plus the greatest lag and queue wait once for each user,
/// plus one for each dropped request. The lag counts because a user's last request may be due
/// before the end of the load and begun after it.
///
/// Both sides cover the load, warm-up included, to its end:
/// users × streams × time = ∫ in flight dt + Σ lag + Σ queue wait + Σ think time, minus the time
/// for which requests of parallel steps overlapped. A user that stopped is idle until the end. The
/// check is only possible if the number of users is constant and the load ended by time: users that
/// leave one by one are fewer than requested. Users of a lost process count until its loss.
pub fn users(run: &Run) -> Option<Check> {
    let Some(Load::Closed { users, think }) = run.plan.as_ref()?.only().map(|only| &only.load)
    else {
        return None;
    };
    // Each stream of a user's connection makes requests as a user does.
    let planned_users =
        users.as_constant()? * f64::from(run.plan.as_ref()?.connection.in_flight_per_user());
    let time = load_seconds(run)?;
    let users = planned_users - users_lost(run, planned_users) / time;
    // A user with several requests at once is still one user.
    let before_grace = busy_nanos(&run.flow_all) - busy_nanos(&run.flow_grace);
    let busy = before_grace / 1e9 + seconds_waited(&run.total) + seconds_waited(&run.warmup);
    let thinking = seconds_of(run.flow_all.thought_nanos);
    let requests = run.flow_all.begun.max(1) as f64;
    let observed = (busy + thinking) / time;
    let thought = format!(" + {:.3} thinking = {observed:.3}", thinking / time);
    let thought = if think.is_none() && run.flow_all.thought_nanos == 0 { "" } else { &thought };
    let rate = requests / time;
    let each = busy / requests;
    let on_average = busy / time;
    let text =
        format!("{users} users; {rate:.1}/s × {each:.6} s in flight = {on_average:.3}{thought}");
    let latest = greatest_delay(&run.total).max(greatest_delay(&run.warmup));
    // A request that waited for a lane until the run was cut off delayed its user
    // for an unknown time.
    let dropped =
        (run.total.failed_by(Failure::Dropped) + run.warmup.failed_by(Failure::Dropped)) as f64;
    let tolerance = 0.01 * users + 1.0 + users * latest / time + dropped;
    Some(check("Little's law", (observed - users).abs() <= tolerance, text))
}

/// Nanoseconds for which users had a request in flight.
fn busy_nanos(flow: &Flow) -> f64 {
    // A user with several requests at once is still one user.
    flow.in_flight_nanos as f64 - flow.overlap_nanos as f64
}

fn seconds_waited(tally: &Tally) -> f64 {
    (tally.lag.sum() + tally.queue_wait.sum()) as f64 / 1e9
}

/// The greatest lag plus the greatest queue wait, in seconds.
fn greatest_delay(tally: &Tally) -> f64 {
    seconds_of(tally.lag.max() + tally.queue_wait.max())
}

/// Users of lost processes, multiplied by the seconds of load after their loss. Divided by the
/// load's time, that is the mean number of users that were lost.
fn users_lost(run: &Run, users: f64) -> f64 {
    let ends = run.phase_start(Phase::Grace).unwrap_or(run.last_interval_end);
    run.losses
        .iter()
        .map(|loss| loss.part.share(users as u64) as f64 * ends.seconds_since(loss.at))
        .sum()
}

/// Seconds of load; None if it ended by the number of requests and not by time.
fn load_seconds(run: &Run) -> Option<f64> {
    let stop = run.plan.as_ref()?.main().stop;
    // A load that ended by the number of requests let its users stop one by one.
    let by_number = stop.requests.is_some_and(|n| run.total.planned >= n || !run.losses.is_empty())
        || stop.iterations_per_user.is_some();
    let begins = run.phase_start(Phase::Warmup).or_else(|| run.phase_start(Phase::Measure))?;
    let ends = run.phase_start(Phase::Grace).unwrap_or(run.last_interval_end);
    let seconds = ends.seconds_since(begins);
    (!by_number && seconds > 0.0).then_some(seconds)
}
