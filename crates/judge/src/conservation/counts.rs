//! Checks of counts that are kept in two places, or that have parts.

use super::check;
use crate::texts::message;
use brunt_model::finding::ConsistencyCheck;
use brunt_model::text::Value;
use brunt_model::{Failure, Run, Tally};

/// A count of a tally.
type TallyCount = fn(&Tally) -> u64;

/// Sum of a count over the warm-up and the measured time.
fn both(run: &Run, count: impl Fn(&Tally) -> u64) -> u64 {
    count(&run.total) + count(&run.warmup)
}

/// Checks that planned = begun + dropped + not begun when the run ended.
pub fn planned(run: &Run) -> Option<ConsistencyCheck> {
    let planned = both(run, |t| t.planned);
    let started = both(run, |t| t.begun);
    let dropped = both(run, |t| t.failed_by(Failure::Dropped));
    let waiting = run.flow_all.waiting;
    let text = message!(
        "check-sum.planned",
        planned = planned.to_string(),
        begun = started.to_string(),
        dropped = dropped.to_string(),
        waiting = waiting.to_string()
    );
    Some(check(message!("check.planned"), planned == started + dropped + waiting, text))
}

/// Checks that begun = completed + failed + cut.
pub fn begun_requests(run: &Run) -> Option<ConsistencyCheck> {
    let started = both(run, |t| t.begun);
    let completed = both(run, |t| t.completed);
    let failed = both(run, Tally::failed);
    let cut = both(run, |t| t.failed_by(Failure::Cut));
    let text = message!(
        "check-sum.begun",
        begun = started.to_string(),
        completed = completed.to_string(),
        failed = failed.to_string(),
        cut = cut.to_string()
    );
    Some(check(message!("check.begun"), started == completed + failed + cut, text))
}

/// Checks that the sums over all intervals equal the totals.
pub fn over_time(run: &Run) -> Option<ConsistencyCheck> {
    let pairs = [
        ("check-count.planned", run.flow_all.planned, both(run, |t| t.planned)),
        ("check-count.begun", run.flow_all.begun, both(run, |t| t.begun)),
        ("check-count.completed", run.flow_all.completed, both(run, |t| t.completed)),
        ("check-count.good", run.flow_all.good, both(run, |t| t.good)),
        (
            "check-count.bytes-received",
            run.flow_all.bytes_received,
            both(run, |t| t.bytes_received),
        ),
        ("check-count.bytes-sent", run.flow_all.bytes_sent, both(run, |t| t.bytes_sent)),
    ];
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = if let Some((name, over_time, total)) = wrong {
        message!(
            "check-sum.not-over-time",
            over_time = over_time.to_string(),
            name = message!(name),
            total = total.to_string()
        )
    } else {
        let counts = pairs.iter().map(|(name, count, _)| {
            message!("check-count.of", count = count.to_string(), name = message!(name))
        });
        message!("check-sum.over-time", counts = Value::Words(counts.collect()))
    };
    Some(check(message!("check.over-time"), wrong.is_none(), text))
}

/// Checks that each histogram has as many values as there were requests with such a value.
pub fn histograms(run: &Run) -> Option<ConsistencyCheck> {
    let pairs = [
        (
            "check-count.response-times",
            both(run, |t| t.response.count()),
            both(run, requests_with_times),
        ),
        (
            "check-count.service-times",
            both(run, |t| t.service.count()),
            both(run, requests_with_times),
        ),
        (
            "check-count.first-bytes",
            both(run, |t| t.phases.first_byte.count()),
            both(run, |t| t.completed),
        ),
        ("check-count.lags", both(run, |t| t.lag.count()), both(run, |t| t.begun)),
        ("check-count.queue-waits", both(run, |t| t.queue_wait.count()), both(run, |t| t.begun)),
        (
            "check-count.failure-times",
            both(run, |t| t.failure_times.iter().map(|f| f.1.count()).sum()),
            both(run, failures),
        ),
    ];
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = match wrong {
        Some((name, values, counted)) => {
            message!(
                "check-sum.not-histograms",
                values = values.to_string(),
                name = message!(name),
                counted = counted.to_string()
            )
        }
        None => message!(
            "check-sum.histograms",
            values = pairs.iter().map(|p| p.1).sum::<u64>().to_string(),
            histograms = pairs.len().to_string()
        ),
    };
    Some(check(message!("check.histograms"), wrong.is_none(), text))
}

fn requests_with_times(tally: &Tally) -> u64 {
    tally.completed + tally.timed_out_requests()
}

/// Failed and cut requests, but not timed-out ones: these count among the response times.
fn failures(tally: &Tally) -> u64 {
    tally.failed() + tally.failed_by(Failure::Cut) - tally.timed_out_requests()
}

/// Checks that every whole reply has a status.
pub fn statuses(run: &Run) -> Option<ConsistencyCheck> {
    let all: u64 = both(run, |t| t.statuses.sorted().iter().map(|s| s.1).sum());
    // A deadline is a status without a reply.
    let counted = all.saturating_sub(both(run, |t| t.failed_by(Failure::DeadlineExceeded)));
    let completed = both(run, |t| t.completed);
    let text = message!(
        "check-sum.statuses",
        counted = counted.to_string(),
        completed = completed.to_string()
    );
    Some(check(message!("check.statuses"), counted == completed, text))
}

/// Checks that the labels add up to the total.
pub fn labels(run: &Run) -> Option<ConsistencyCheck> {
    // Without labels, requests are only in the total.
    if run.labels.is_empty() {
        return None;
    }
    let summed: u64 = run.steps().map(|(_, tally)| tally.completed).sum();
    let total = run.total.completed;
    let text = message!("check-sum.labels", summed = summed.to_string(), total = total.to_string());
    Some(check(message!("check.labels"), summed == total, text))
}

/// Checks that the agents add up to the total. Requests that were cut when an agent was lost are
/// only in the total.
pub fn agents(run: &Run) -> Option<ConsistencyCheck> {
    if run.agents.is_empty() {
        return None;
    }
    let counts: [(&'static str, TallyCount); 4] = [
        ("check-count.planned", |tally| tally.planned),
        ("check-count.begun", |tally| tally.begun),
        ("check-count.completed", |tally| tally.completed),
        ("check-count.good", |tally| tally.good),
    ];
    let mut holds = true;
    let mut texts = Vec::new();
    for (name, count) in counts {
        let summed: u64 = run.agents.iter().map(|agent| count(&agent.total)).sum();
        let total = count(&run.total);
        holds &= summed == total;
        texts.push(message!(
            "check-sum.of-total",
            summed = summed.to_string(),
            name = message!(name),
            total = total.to_string()
        ));
    }
    let agents = run.agents.len().to_string();
    let text = message!("check-sum.agents", agents, counts = Value::Words(texts));
    Some(check(message!("check.agents"), holds, text))
}

/// Checks that the body bytes read equal those announced in Content-Length.
pub fn bytes(run: &Run) -> Option<ConsistencyCheck> {
    let announced = run.flow_all.announced_bytes;
    let received = run.flow_all.announced_came_bytes;
    // No reply had a Content-Length.
    if announced == 0 && received == 0 {
        return None;
    }
    let text = message!(
        "check-sum.bytes",
        announced = announced.to_string(),
        received = received.to_string()
    );
    Some(check(message!("check.bytes"), announced == received, text))
}
