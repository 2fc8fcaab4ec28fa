//! Rule for a worker that did not run for a while: suspended (SIGSTOP, a debugger), or kept from
//! running. Such a worker is late at the end of an interval.

use super::result::{CauseState, RuleResult, TENTH};
use crate::facts::RunFacts;
use brunt_model::Tick;
use brunt_model::finding::{FigureEvidence, LimitingResource, ThresholdSide, UseOrigin};
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names as name;
use brunt_model::{Text, text};
use std::time::Duration;

/// Share of a core above which a late worker was busy with other work and not stopped.
const RAN: f64 = 0.5;

/// A time for which a worker did not run.
struct Stop {
    worker: usize,
    from: Tick,
    time: Duration,
}

/// Rule: workers did not run for a while.
pub fn stopped(facts: &RunFacts) -> RuleResult {
    let mut result = RuleResult::new(facts);
    let stops: Vec<Stop> = (0..facts.workers()).flat_map(|worker| stops(facts, worker)).collect();
    let Some(longest) = stops.iter().max_by_key(|stop| stop.time) else { return result };
    result.evidence.push(FigureEvidence {
        limit: LimitingResource::Stopped,
        name: "longest time for which a worker did not run, seconds".to_owned(),
        value: longest.time.as_secs_f64(),
        threshold: 0.25,
        side: ThresholdSide::AtLeast,
    });
    // A request that was late because of a stop is begun, and counted, in the interval in
    // which the stop ended.
    let interval = facts.run.plan.as_ref().map_or(Duration::ZERO, |plan| plan.record.interval);
    result.over = stops.iter().map(|stop| (stop.from, stop.from + stop.time + interval)).collect();
    let share = result.over_duration().as_secs_f64() / facts.measured().as_secs_f64();
    result.state = if share >= TENTH { CauseState::Cause } else { CauseState::Brief };
    let since = Duration::from_nanos(longest.from.nanos_since(facts.begins()));
    let stopped_workers =
        stops.iter().map(|stop| stop.worker).collect::<std::collections::BTreeSet<_>>().len();
    let subject = match (facts.workers(), stopped_workers) {
        (1, _) => Text::from("brunt"),
        (workers, stopped_workers) if workers == stopped_workers => {
            text!("limit-stopped.all-workers", workers)
        }
        _ => text!("limit-stopped.worker", number = longest.worker.to_string()),
    };
    let time = short_seconds(longest.time);
    let sentence = text!("limit-stopped", subject, time, from = short_seconds(since));
    result.with_origin(UseOrigin::Unknown).with_message(sentence, text!("limit-stopped.remedy"))
}

/// Times for which a worker was late at the end of an interval without using a core meanwhile.
fn stops(facts: &RunFacts, worker: usize) -> Vec<Stop> {
    let times = facts.values(&name::worker_stopped(worker));
    let starts = facts.values(&name::worker_stopped_at(worker));
    let busy = facts.rates(&name::worker_cpu(worker));
    let mut previous_total = 0.0;
    let mut stops = Vec::new();
    for ((_, total), (_, start)) in times.into_iter().zip(starts) {
        // The readings are running totals.
        let time = Duration::from_secs_f64((total - previous_total).max(0.0));
        previous_total = total;
        let from = Tick((start * 1e9) as u64);
        let to = from + time;
        let within = facts.begins() < to && from < facts.ends();
        let least = busy
            .iter()
            .filter(|span| span.from < to && from < span.to)
            .map(|span| span.value)
            .reduce(f64::min);
        let has_run = least.is_some_and(|least| least > RAN);
        if !time.is_zero() && within && !has_run {
            stops.push(Stop { worker, from, time });
        }
    }
    stops
}
