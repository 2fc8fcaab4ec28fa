//! Rule for lag: requests begun late, or replies read late, for any reason.
//!
//! There is always some lag; it is a cause if it changes a figure, in one of these ways:
//!
//! * Without lag, p99 or p50 of the response time would be more than 10 % and more than half a
//!   millisecond lower. Each request then counts with its own response time minus its own lag.
//! * More than 0.1 % of the schedule of an open loop was not begun within the measured time.
//! * The spacing of the schedule was disturbed for more than a twentieth of the time.
//! * p99 of the read lag is more than 10 % of p99 of the response time and more than half a
//!   millisecond. Read lag is the time that replies were in the kernel before brunt read them; it
//!   is known for a share of them.

use super::result::{CauseState, RuleResult, TENTH};
use crate::arrivals;
use crate::facts::{RunFacts, covered};
use crate::shares::HALF;
use crate::texts::message;
use brunt_model::finding::{FigureEvidence, LimitingResource, ThresholdSide, UseOrigin};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names as name;
use brunt_model::time::seconds_of;
use brunt_model::{Arrivals, Load, Plan, Text};
use brunt_stats::quantile::{Quantile, rank};

/// Percentiles of the response time that lag must not change. The first one that it changed is named.
const PERCENTILES: [(&str, f64); 2] = [("p99", 0.99), ("p50", 0.5)];
/// Threshold: share of a percentile that is lag.
const SHARE: f64 = 0.1;
/// Threshold: seconds of a percentile that are lag.
const SECONDS: f64 = 0.0005;
/// Threshold: share of the schedule that was not begun.
const SHORT: f64 = 0.001;
/// Minimum number of replies with a known read lag before its p99 is meaningful.
const ENOUGH_READS: u64 = 100;
/// Seconds at the end of the schedule that do not count, because some requests are
/// always in flight there.
const UNCOUNTED_END: f64 = 0.01;

/// A percentile of the response time, with and without lag.
struct LatePercentile {
    name: &'static str,
    with: Quantile,
    without: Quantile,
    /// False if the percentile is just the slowest request.
    is_known: bool,
}

impl LatePercentile {
    fn of(facts: &RunFacts, name: &'static str, q: f64) -> Self {
        let total = &facts.run.total;
        let count = total.response.count();
        Self {
            name,
            with: total.response_quantile(q),
            without: total.response_quantile_without_lag(q),
            is_known: rank(q, count) < count,
        }
    }

    /// Part of the percentile that is lag.
    fn seconds(&self) -> f64 {
        seconds_of(self.with.value.saturating_sub(self.without.value))
    }

    fn share(&self) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 { seconds * 1e9 / self.with.value as f64 } else { 0.0 }
    }

    /// True if lag changed the percentile.
    fn is_changed(&self) -> bool {
        self.share() > SHARE && self.seconds() > SECONDS && self.is_known
    }
}

/// True if read lag is known of enough replies for its 99th percentile.
pub fn is_read_lag_known(facts: &RunFacts) -> bool {
    facts.run.total.read_lag.count() >= ENOUGH_READS
}

/// Rule: lag that changed a figure.
pub fn lag(facts: &RunFacts) -> RuleResult {
    let mut result = RuleResult::new(facts);
    let total = &facts.run.total;
    let percentiles = PERCENTILES.map(|(name, q)| LatePercentile::of(facts, name, q));
    let short = shortfall(facts);
    let (read, read_share) = read_lag(facts);
    for percentile in &percentiles {
        let name = format!("part of the response {} that is lag", percentile.name);
        add_evidence(&mut result, &format!("{name}, share"), percentile.share(), SHARE);
        add_evidence(&mut result, &format!("{name}, seconds"), percentile.seconds(), SECONDS);
    }
    let name = "requests due but not begun in the measured time, share of the schedule";
    add_evidence(&mut result, name, short, SHORT);
    let displaced = arrivals::displaced(facts.run).unwrap_or(0.0);
    // Agents do not report the spacing of their arrivals.
    if !facts.is_agent() {
        let name = "time in which arrivals were a quarter off the schedule, share";
        add_evidence(&mut result, name, displaced, arrivals::MOST_DISPLACED);
    }
    if !total.read_lag.is_empty() {
        add_evidence(&mut result, "read lag p99, share of the response p99", read_share, SHARE);
        add_evidence(&mut result, "read lag p99, seconds", read, SECONDS);
    }
    let slower = percentiles.iter().find(|percentile| percentile.is_changed());
    let uneven = displaced > arrivals::MOST_DISPLACED;
    let read_late = read_share > SHARE && read > SECONDS && is_read_lag_known(facts);
    if slower.is_some() || short > SHORT || uneven || read_late {
        result.state = CauseState::Cause;
        result.over = facts.lagging();
    }
    // The times of read lag are not known, so it counts for the whole measured time.
    if read_late && slower.is_none() && short <= SHORT {
        result.over = vec![facts.measured_span()];
        let sentence = read_late_sentence(read, total.response_quantile(0.99));
        return result.with_message(sentence, message!("limit-lag.remedy"));
    }
    let duration = result.duration_text();
    let sentence = if let Some(LatePercentile { name, with, without, .. }) = slower {
        let with = milliseconds(with.value as f64 / 1e6);
        let without = milliseconds(without.value as f64 / 1e6);
        message!("limit-lag.slower", duration, percentile = *name, with, without)
    } else if uneven {
        message!("limit-lag.uneven", duration, share = short_percent(displaced))
    } else {
        message!("limit-lag.short", duration, share = short_percent(short))
    };
    // Paced connection opening caused most of the lag.
    if total.opening_lag.sum() * 2 > total.lag.sum() {
        let rate = facts.run.plan.as_ref().map_or(0, |plan| plan.connection.connect_rate);
        let rate = rate.to_string();
        let remedy = message!("limit-lag.remedy-opening", rate = rate.clone());
        return result
            .with_origin(UseOrigin::Generator)
            .with_message(message!("limit-lag.opening", sentence, rate), remedy);
    }
    if is_of_a_busy_worker(facts, &result) {
        let remedy = message!("limit-lag.remedy-busy");
        return result.with_origin(UseOrigin::Generator).with_message(sentence, remedy);
    }
    result.with_message(sentence, message!("limit-lag.remedy"))
}

/// True if requests were late for a considerable time, and a worker ran for half of it or more. Such a
/// worker opens few further connections (`engine::pace::headroom`), so arrivals wait for a connection.
fn is_of_a_busy_worker(facts: &RunFacts, result: &RuleResult) -> bool {
    let is_lasting = result.over_duration() >= facts.measured().mul_f64(TENTH);
    let cores = facts.greatest_of_workers(name::worker_cpu);
    let mut late = cores.iter().filter(|span| covered(&[(span.from, span.to)], &result.over) > 0.0);
    is_lasting && !cores.is_empty() && late.all(|span| span.value >= HALF)
}

/// Formats milliseconds with the digits that a difference of two percentiles needs.
fn milliseconds(milliseconds: f64) -> String {
    format!("{milliseconds:.3} ms")
}

fn add_evidence(result: &mut RuleResult, name: &str, value: f64, threshold: f64) {
    let name = name.to_owned();
    result.evidence.push(FigureEvidence {
        limit: LimitingResource::Lag,
        name,
        value,
        threshold,
        side: ThresholdSide::AtLeast,
    });
}

/// Returns the 99th percentile of the read lag in seconds, and its ratio to that
/// of the response time.
fn read_lag(facts: &RunFacts) -> (f64, f64) {
    let total = &facts.run.total;
    if total.read_lag.is_empty() {
        return (0.0, 0.0);
    }
    let read = total.read_lag.quantile(0.99) as f64;
    let response = total.response_quantile(0.99).value as f64;
    (read / 1e9, if response > 0.0 { read / response } else { 0.0 })
}

fn read_late_sentence(read: f64, response: Quantile) -> Text {
    let read = milliseconds(read * 1e3);
    message!("limit-lag.read-late", read, response = milliseconds(response.value as f64 / 1e6))
}

/// Share of an open loop's schedule that was due in the measured time and not begun in it.
/// Requests that waited for a connection, or were dropped at the maximum in flight, do not count:
/// the server caused those.
fn shortfall(facts: &RunFacts) -> f64 {
    let Some(Load::Open { rate, arrivals, .. }) =
        facts.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load)
    else {
        return 0.0;
    };
    let flow = facts.run.flow;
    let total = &facts.run.total;
    let burst_size = if let Arrivals::Burst(size) = arrivals { f64::from(*size) } else { 0.0 };
    let rate = rate.at(facts.measured()) * facts.share_of_population();
    let border = (rate * UNCOUNTED_END).ceil() + 3.0 + burst_size;
    let accounted = flow.begun + flow.waiting.max(facts.dropped_at_the_cap());
    let missing = total.planned.saturating_sub(accounted) as f64 - border;
    if total.planned == 0 { 0.0 } else { (missing / total.planned as f64).max(0.0) }
}
