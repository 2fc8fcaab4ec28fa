//! Lag: requests begun late, or replies read late, whatever the reason.
//!
//! Some lag is always there; it is a cause where it changes a figure. Either p99 of the response time would be more than
//! 10 % and more than half a millisecond lower without it (each request is taken at its own response time less its own
//! lag), or of the schedule of an open loop more than 0.1 % was not begun within the measured time, or its spacing was
//! disturbed for more than a twentieth of the time, or p99 of the read lag (how long replies were in the kernel before they
//! were read; known of a share of them) is more than 10 % of p99 of the response time and more than half a millisecond.

use super::look::{CauseState, RuleResult};
use crate::arrivals;
use crate::facts::Facts;
use brunt_model::finding::{Evidence, Limit, Origin, Side};
use brunt_model::numbers::short_percent;
use brunt_model::time::seconds_of;
use brunt_model::{Arrivals, Load, Plan};
use brunt_stats::quantile::{Quantile, rank};

/// What to do about it.
const REMEDY: &str =
    "see what kept brunt from running: a suspended machine, a debugger, other programs; then measure again";
/// The share by which p99 is lower without lag.
const SHARE: f64 = 0.1;
/// The seconds by which it is.
const SECONDS: f64 = 0.0005;
/// The share of the schedule that was not begun.
const SHORT: f64 = 0.001;
/// Replies whose read lag must be known before its p99 stands for something.
const READS: u64 = 100;
/// Seconds at the end of the schedule that are not held against us: there, some requests are always on their way.
const BORDER: f64 = 0.01;

/// Whether read lag is known of enough replies for its 99th percentile.
pub fn is_read_lag_known(facts: &Facts) -> bool {
    facts.run.total.read_lag.count() >= READS
}

/// Lag.
pub fn lag(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::at(facts).by(Origin::Unknown);
    let total = &facts.run.total;
    let (with, without) = (total.response_quantile(0.99), total.response_quantile_without_lag(0.99));
    let seconds = seconds_of(with.value.saturating_sub(without.value));
    let share = if seconds > 0.0 { seconds * 1e9 / with.value as f64 } else { 0.0 };
    let short = shortfall(facts);
    let (read, read_share) = read_lag(facts);
    let mut show = |name: &str, value, threshold| {
        let (limit, name) = (Limit::Lag, name.to_owned());
        look.evidence.push(Evidence { limit, name, value, threshold, side: Side::AtLeast });
    };
    show("part of the response p99 that is lag, share", share, SHARE);
    show("part of the response p99 that is lag, seconds", seconds, SECONDS);
    show("requests due but not begun in the measured time, share of the schedule", short, SHORT);
    let displaced = arrivals::displaced(facts.run).unwrap_or(0.0);
    show("time in which arrivals were a quarter off the schedule, share", displaced, arrivals::MOST_DISPLACED);
    if !total.read_lag.is_empty() {
        show("read lag p99, share of the response p99", read_share, SHARE);
        show("read lag p99, seconds", read, SECONDS);
    }
    let slower = share > SHARE && seconds > SECONDS && has_a_p99(facts);
    let uneven = displaced > arrivals::MOST_DISPLACED;
    let read_late = read_share > SHARE && read > SECONDS && is_read_lag_known(facts);
    if slower || short > SHORT || uneven || read_late {
        look.standing = CauseState::Cause;
        look.over = facts.lag_was_felt();
    }
    if read_late && !slower && short <= SHORT {
        look.over = vec![facts.measured_span()];
        return look.say(read_late_sentence(read, with), REMEDY);
    }
    let late = format!("requests were begun late {}", look.for_so_long());
    let sentence = if slower {
        let millis = |quantile: Quantile| quantile.value as f64 / 1e6;
        format!("{late}: without that, the response p99 of {:.3} ms would be {:.3} ms", millis(with), millis(without))
    } else if uneven {
        let share = short_percent(displaced);
        format!("{late}: for {share} of the time, a quarter more or fewer than planned were begun in a span of time")
    } else {
        format!("{late}: {} of the scheduled requests were not begun within the measured time", short_percent(short))
    };
    // Most of the lag was spent so.
    if total.opening_lag.sum() * 2 > total.lag.sum() {
        let rate = facts.run.plan.as_ref().map_or(0, |plan| plan.connection.connect_rate);
        let why = format!("they waited for paced connection opening, {rate} connections/s");
        return look
            .by(Origin::Generator)
            .say(format!("{sentence}; {why}"), format!("raise --connect-rate (now {rate})"));
    }
    look.say(sentence, REMEDY)
}

/// The 99th percentile of the read lag in seconds, and its share of that of the response time.
fn read_lag(facts: &Facts) -> (f64, f64) {
    let total = &facts.run.total;
    if total.read_lag.is_empty() {
        return (0.0, 0.0);
    }
    let (read, response) = (total.read_lag.quantile(0.99) as f64, total.response_quantile(0.99).value as f64);
    (read / 1e9, if response > 0.0 { read / response } else { 0.0 })
}

fn read_late_sentence(read: f64, response: Quantile) -> String {
    let (read, response) = (read * 1e3, response.value as f64 / 1e6);
    format!("replies were read late: read lag p99 is {read:.3} ms, the response p99 {response:.3} ms")
}

/// A percentile stands for something where a sample lies beyond it; otherwise it is the slowest request.
fn has_a_p99(facts: &Facts) -> bool {
    let count = facts.run.total.response.count();
    rank(0.99, count) < count
}

/// Of an open loop's schedule, the share that was due in the measured time and not begun in it, though it was neither
/// waiting for a connection nor dropped because no more were permitted: those are the server's doing.
fn shortfall(facts: &Facts) -> f64 {
    let Some(Load::Open { rate, arrivals, .. }) = facts.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load)
    else {
        return 0.0;
    };
    let (flow, total) = (facts.run.flow, &facts.run.total);
    let at_once = if let Arrivals::Burst(n) = arrivals { f64::from(*n) } else { 0.0 };
    let border = (rate.at(facts.measured()) * BORDER).ceil() + 3.0 + at_once;
    let accounted = flow.begun + flow.waiting.max(facts.dropped_at_the_cap());
    let missing = total.planned.saturating_sub(accounted) as f64 - border;
    if total.planned == 0 { 0.0 } else { (missing / total.planned as f64).max(0.0) }
}
