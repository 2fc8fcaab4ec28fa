//! Checks of counts that are kept in two places, or that have parts.

use super::check;
use brunt_model::finding::ConsistencyCheck;
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
    let text = format!(
        "{planned} planned = {started} begun + {dropped} dropped + {waiting} waiting when the run ended"
    );
    Some(check("planned requests", planned == started + dropped + waiting, text))
}

/// Checks that begun = completed + failed + cut.
pub fn begun_requests(run: &Run) -> Option<ConsistencyCheck> {
    let started = both(run, |t| t.begun);
    let completed = both(run, |t| t.completed);
    let failed = both(run, Tally::failed);
    let cut = both(run, |t| t.failed_by(Failure::Cut));
    let text = format!("{started} begun = {completed} completed + {failed} failed + {cut} cut");
    Some(check("begun requests", started == completed + failed + cut, text))
}

/// Checks that the sums over all intervals equal the totals.
pub fn over_time(run: &Run) -> Option<ConsistencyCheck> {
    let pairs = [
        ("planned", run.flow_all.planned, both(run, |t| t.planned)),
        ("begun", run.flow_all.begun, both(run, |t| t.begun)),
        ("completed", run.flow_all.completed, both(run, |t| t.completed)),
        ("good", run.flow_all.good, both(run, |t| t.good)),
        ("bytes received", run.flow_all.bytes_received, both(run, |t| t.bytes_received)),
        ("bytes sent", run.flow_all.bytes_sent, both(run, |t| t.bytes_sent)),
    ];
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = if let Some((name, over_time, total)) = wrong {
        format!("{over_time} {name} over time, {total} in the totals")
    } else {
        let counts: Vec<String> =
            pairs.iter().map(|(name, count, _)| format!("{count} {name}")).collect();
        format!("over time as in the totals: {}", counts.join(", "))
    };
    Some(check("counts over time", wrong.is_none(), text))
}

/// Checks that each histogram has as many values as there were requests with such a value.
pub fn histograms(run: &Run) -> Option<ConsistencyCheck> {
    let pairs = [
        ("response times", both(run, |t| t.response.count()), both(run, requests_with_times)),
        ("service times", both(run, |t| t.service.count()), both(run, requests_with_times)),
        ("first bytes", both(run, |t| t.phases.first_byte.count()), both(run, |t| t.completed)),
        ("lags", both(run, |t| t.lag.count()), both(run, |t| t.begun)),
        ("queue waits", both(run, |t| t.queue_wait.count()), both(run, |t| t.begun)),
        (
            "times of failures",
            both(run, |t| t.failure_times.iter().map(|f| f.1.count()).sum()),
            both(run, failures),
        ),
    ];
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = match wrong {
        Some((name, values, counted)) => {
            format!("{values} {name}, of {counted} requests that have one")
        }
        None => format!(
            "{} values in {} histograms, as many as were counted",
            pairs.iter().map(|p| p.1).sum::<u64>(),
            pairs.len()
        ),
    };
    Some(check("histograms", wrong.is_none(), text))
}

fn requests_with_times(tally: &Tally) -> u64 {
    tally.completed + tally.failed_by(Failure::Timeout)
}

/// Failed and cut requests, but not timed-out ones: these count among the response times.
fn failures(tally: &Tally) -> u64 {
    tally.failed() + tally.failed_by(Failure::Cut) - tally.failed_by(Failure::Timeout)
}

/// Checks that every whole reply has a status.
pub fn statuses(run: &Run) -> Option<ConsistencyCheck> {
    let counted = both(run, |t| t.statuses.sorted().iter().map(|s| s.1).sum());
    let completed = both(run, |t| t.completed);
    Some(check(
        "statuses",
        counted == completed,
        format!("{counted} statuses of {completed} whole replies"),
    ))
}

/// Checks that the labels add up to the total.
pub fn labels(run: &Run) -> Option<ConsistencyCheck> {
    // Without labels, requests are only in the total.
    if run.labels.is_empty() {
        return None;
    }
    let summed: u64 = run.steps().map(|(_, tally)| tally.completed).sum();
    let total = run.total.completed;
    Some(check(
        "labels",
        summed == total,
        format!("{summed} whole replies under labels, {total} in the total"),
    ))
}

/// Checks that the agents add up to the total. Requests that were cut when an agent was lost are
/// only in the total.
pub fn agents(run: &Run) -> Option<ConsistencyCheck> {
    if run.agents.is_empty() {
        return None;
    }
    let counts: [(&str, TallyCount); 4] = [
        ("planned", |tally| tally.planned),
        ("begun", |tally| tally.begun),
        ("completed", |tally| tally.completed),
        ("good", |tally| tally.good),
    ];
    let mut holds = true;
    let mut texts = Vec::new();
    for (name, count) in counts {
        let summed: u64 = run.agents.iter().map(|agent| count(&agent.total)).sum();
        let total = count(&run.total);
        holds &= summed == total;
        texts.push(format!("{summed} {name} of {total}"));
    }
    let text = format!("requests of {} agents: {}", run.agents.len(), texts.join(", "));
    Some(check("agents", holds, text))
}

/// Checks that the body bytes read equal those announced in Content-Length.
pub fn bytes(run: &Run) -> Option<ConsistencyCheck> {
    let announced = run.flow_all.announced_bytes;
    let received = run.flow_all.announced_came_bytes;
    // No reply had a Content-Length.
    if announced == 0 && received == 0 {
        return None;
    }
    let text = format!(
        "{announced} bytes of body announced in Content-Length, {received} read after those heads"
    );
    Some(check("bytes of bodies", announced == received, text))
}
