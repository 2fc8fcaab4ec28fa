//! Rule for a worker that was stopped for a while (SIGSTOP, a debugger, a suspended machine). It takes
//! the snapshot of its interval late, and meanwhile neither runs nor waits for a core. A worker that
//! waits for a core is starved (`cpu::run_queue`), and one that runs is busy (`cpu::worker`).

use super::result::{CauseState, RuleResult, TENTH};
use crate::facts::{ReadingSpan, RunFacts, joined, product_of_time};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::Tick;
use brunt_model::finding::{FigureEvidence, LimitingResource, ThresholdSide, UseOrigin};
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names as name;
use std::time::Duration;

/// Share of a stop for which the worker neither ran nor waited for a core.
const STILL: f64 = 0.5;

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
            message!("limit-stopped.all-workers", workers)
        }
        _ => message!("limit-stopped.worker", number = longest.worker.to_string()),
    };
    let time = short_seconds(longest.time);
    let sentence = message!("limit-stopped", subject, time, from = short_seconds(since));
    result
        .with_origin(UseOrigin::Generator)
        .with_message(sentence, message!("limit-stopped.remedy"))
}

/// Times for which a worker was late at the end of an interval without running or waiting for a core.
fn stops(facts: &RunFacts, worker: usize) -> Vec<Stop> {
    let times = facts.values(&name::worker_stopped(worker));
    let starts = facts.values(&name::worker_stopped_at(worker));
    let ran = facts.rates(&name::worker_cpu(worker));
    let waited = facts.rates(&name::worker_run_delay(worker));
    let active = joined(&ran, &waited, |ran, waited| Some(ran + waited));
    let mut previous_total = 0.0;
    let mut stops = Vec::new();
    for ((_, total), (_, start)) in times.into_iter().zip(starts) {
        // The readings are running totals.
        let time = Duration::from_secs_f64((total - previous_total).max(0.0));
        previous_total = total;
        let from = Tick((start * 1e9) as u64);
        let to = from + time;
        let within = facts.begins() < to && from < facts.ends();
        if !time.is_zero() && within && was_still(&active, from, to) {
            stops.push(Stop { worker, from, time });
        }
    }
    stops
}

/// True if the thread cannot have run or waited for a core for more than half of a stop. Without readings
/// of both, nothing is proven.
fn was_still(active: &[ReadingSpan], from: Tick, to: Tick) -> bool {
    let spans: Vec<&ReadingSpan> =
        active.iter().filter(|span| span.from < to && from < span.to).collect();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return false };
    let all = last.to.seconds_since(first.from);
    all - product_of_time(spans.iter().copied()) >= STILL * to.seconds_since(from)
}
