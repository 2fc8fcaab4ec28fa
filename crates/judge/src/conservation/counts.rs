//! Counts that are kept in two places, or fall into parts.

use super::check;
use brunt_model::finding::Check;
use brunt_model::{Failure, Run, Tally};

/// The warm-up and the measured time together.
fn both(run: &Run, count: impl Fn(&Tally) -> u64) -> u64 {
    count(&run.total) + count(&run.warmup)
}

/// planned = begun + dropped + not begun when the run ended.
pub fn planned(run: &Run) -> Option<Check> {
    let planned = both(run, |t| t.planned);
    let (begun, dropped) = (both(run, |t| t.begun), both(run, |t| t.failed_by(Failure::Dropped)));
    let waiting = run.flow_all.waiting;
    let text = format!("{planned} planned = {begun} begun + {dropped} dropped + {waiting} waiting when the run ended");
    Some(check("planned requests", planned == begun + dropped + waiting, text))
}

/// begun = completed + failed + cut.
pub fn begun(run: &Run) -> Option<Check> {
    let begun = both(run, |t| t.begun);
    let (completed, failed) = (both(run, |t| t.completed), both(run, Tally::failed));
    let cut = both(run, |t| t.failed_by(Failure::Cut));
    let text = format!("{begun} begun = {completed} completed + {failed} failed + {cut} cut");
    Some(check("begun requests", begun == completed + failed + cut, text))
}

/// What flowed in all intervals = what the tallies counted.
pub fn over_time(run: &Run) -> Option<Check> {
    let pairs = [
        ("planned", run.flow_all.planned, both(run, |t| t.planned)),
        ("begun", run.flow_all.begun, both(run, |t| t.begun)),
        ("completed", run.flow_all.completed, both(run, |t| t.completed)),
        ("good", run.flow_all.good, both(run, |t| t.good)),
        ("bytes received", run.flow_all.bytes_received, both(run, |t| t.bytes_received)),
        ("bytes sent", run.flow_all.bytes_sent, both(run, |t| t.bytes_sent)),
    ];
    let of = |pair: &(&str, u64, u64)| format!("{} {}", pair.1, pair.0);
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = match wrong {
        Some(pair) => format!("{} over time, {} in the totals", of(pair), pair.2),
        None => format!("over time as in the totals: {}", pairs.iter().map(of).collect::<Vec<_>>().join(", ")),
    };
    Some(check("counts over time", wrong.is_none(), text))
}

/// Each histogram holds as many values as there were requests to give one.
pub fn histograms(run: &Run) -> Option<Check> {
    let timed = |t: &Tally| t.completed + t.failed_by(Failure::Timeout);
    let failed = |t: &Tally| t.failed() + t.failed_by(Failure::Cut) - t.failed_by(Failure::Timeout);
    let pairs = [
        ("response times", both(run, |t| t.response.count()), both(run, timed)),
        ("service times", both(run, |t| t.service.count()), both(run, timed)),
        ("first bytes", both(run, |t| t.phases.first_byte.count()), both(run, |t| t.completed)),
        ("lags", both(run, |t| t.lag.count()), both(run, |t| t.begun)),
        ("queue waits", both(run, |t| t.queue_wait.count()), both(run, |t| t.begun)),
        ("times of failures", both(run, |t| t.failure_times.iter().map(|f| f.1.count()).sum()), both(run, failed)),
    ];
    let wrong = pairs.iter().find(|p| p.1 != p.2);
    let text = match wrong {
        Some((name, held, counted)) => format!("{held} {name}, of {counted} requests that have one"),
        None => format!(
            "{} values in {} histograms, as many as were counted",
            pairs.iter().map(|p| p.1).sum::<u64>(),
            pairs.len()
        ),
    };
    Some(check("histograms", wrong.is_none(), text))
}

/// Every whole reply has a status.
pub fn statuses(run: &Run) -> Option<Check> {
    let counted = both(run, |t| t.statuses.sorted().iter().map(|s| s.1).sum());
    let completed = both(run, |t| t.completed);
    Some(check("statuses", counted == completed, format!("{counted} statuses of {completed} whole replies")))
}

/// The labels together are the total.
pub fn labels(run: &Run) -> Option<Check> {
    if run.labels.is_empty() {
        return None;
    }
    let summed: u64 = run.steps().map(|(_, tally)| tally.completed).sum();
    let total = run.total.completed;
    Some(check("labels", summed == total, format!("{summed} whole replies under labels, {total} in the total")))
}

/// What was announced in Content-Length is what was read behind the heads.
pub fn bytes(run: &Run) -> Option<Check> {
    let (announced, came) = (run.flow_all.announced_bytes, run.flow_all.announced_came_bytes);
    if announced == 0 && came == 0 {
        return None;
    }
    let text = format!("{announced} bytes of body announced in Content-Length, {came} read behind those heads");
    Some(check("bytes of bodies", announced == came, text))
}
