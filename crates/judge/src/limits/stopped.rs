//! A worker that did not run for a while: suspended (SIGSTOP, a debugger), or kept from running. It is seen where it comes
//! late to the end of an interval.

use super::look::{CauseState, RuleResult, TENTH};
use crate::facts::Facts;
use brunt_model::Tick;
use brunt_model::finding::{Evidence, Limit, Origin, Side};
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names as name;
use std::time::Duration;

/// A worker that used more of a core than this was not stopped, but had other things to do.
const RAN: f64 = 0.5;

/// One time for which a worker did not run.
struct Stop {
    worker: usize,
    from: Tick,
    time: Duration,
}

/// Workers that did not run for a while.
pub fn stopped(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::at(facts);
    let stops: Vec<Stop> = (0..facts.workers()).flat_map(|worker| stops(facts, worker)).collect();
    let Some(longest) = stops.iter().max_by_key(|stop| stop.time) else { return look };
    let (limit, value) = (Limit::Stopped, longest.time.as_secs_f64());
    let name = "longest time for which a worker did not run, seconds".to_owned();
    look.evidence.push(Evidence { limit, name, value, threshold: 0.25, side: Side::AtLeast });
    // What was late because of a stop is begun, and counted, in the interval in which the stop ended.
    let interval = facts.run.plan.as_ref().map_or(Duration::ZERO, |plan| plan.record.interval);
    look.over = stops.iter().map(|stop| (stop.from, stop.from + stop.time + interval)).collect();
    let share = look.lasted().as_secs_f64() / facts.measured().as_secs_f64();
    look.standing = if share >= TENTH { CauseState::Cause } else { CauseState::Brief };
    let since = Duration::from_nanos(longest.from.nanos_since(facts.begins()));
    let all = stops.iter().map(|stop| stop.worker).collect::<std::collections::BTreeSet<_>>().len();
    let who = match (facts.workers(), all) {
        (1, _) => "brunt".to_owned(),
        (workers, all) if workers == all => format!("brunt (all {workers} workers)"),
        _ => format!("worker {}", longest.worker),
    };
    let sentence = format!("{who} did not run for {} (from {})", short_seconds(longest.time), short_seconds(since));
    look.by(Origin::Unknown)
        .say(sentence, "see what stopped it: a signal (SIGSTOP), a debugger, a suspended machine; then measure again")
}

/// The times for which a worker came late to the end of an interval without using a core meanwhile.
fn stops(facts: &Facts, worker: usize) -> Vec<Stop> {
    let (times, since) = (facts.values(&name::worker_stopped(worker)), facts.values(&name::worker_stopped_at(worker)));
    let busy = facts.rates(&name::worker_cpu(worker));
    let mut known = 0.0;
    let mut stops = Vec::new();
    for ((_, all), (_, at)) in times.into_iter().zip(since) {
        let time = Duration::from_secs_f64((all - known).max(0.0));
        known = all;
        let (from, to) = (Tick((at * 1e9) as u64), Tick((at * 1e9) as u64) + time);
        let within = facts.begins() < to && from < facts.ends();
        let least = busy.iter().filter(|span| span.from < to && from < span.to).map(|span| span.value).reduce(f64::min);
        let ran = least.is_some_and(|least| least > RAN);
        if !time.is_zero() && within && !ran {
            stops.push(Stop { worker, from, time });
        }
    }
    stops
}
