//! How the run ended, and whether it lasted long enough to speak for the server.

use super::command::{REQUESTS, WARMUP};
use super::{Facts, Remark};
use crate::steady;
use crate::steady::trend::{Trend, TrendFigure};
use brunt_model::numbers::{count, listed, percentile, plural, rate, seconds};

/// A run that lacks more than this share of its time is another measurement than the one asked for.
const MISSING: f64 = 0.05;
/// Shorter runs show the start: connections, slow start of TCP, cold caches.
const SHORT_SECONDS: f64 = 1.0;
/// Length that the remedy for a short run proposes.
const LONG_SECONDS: f64 = 10.0;

/// The run was cut short and is not comparable.
pub fn cut_short(facts: &Facts) -> Option<Remark> {
    let why = why_cut(facts)?;
    let said = format!("The run is incomplete and not comparable with a complete one: {why}.");
    Some(Remark::warning(said).remedy("repeat it to the end before a comparison"))
}

fn why_cut(facts: &Facts) -> Option<String> {
    let (done, run) = (done(facts), facts.run);
    let Some(finish) = &run.finish else { return Some(format!("its event log has no end, after {done}")) };
    if let Some(error) = &finish.error {
        return Some(format!("brunt failed after {done} ({error})"));
    }
    if finish.interrupted {
        return Some(format!("it was interrupted after {done}"));
    }
    // Users that are through with their iterations end a run as it was asked for.
    let is_of_iterations = facts.plan.stop().iterations_per_user.is_some();
    (!is_of_iterations && lacks_requests(facts) && lacks_time(facts)).then(|| format!("it ended after {done}"))
}

/// Fewer requests than asked for; so too where none were asked for by number.
fn lacks_requests(facts: &Facts) -> bool {
    let made = facts.total().attempted();
    facts.plan.stop().requests.is_none_or(|asked| (made as f64) < asked as f64 * (1.0 - MISSING))
}

/// Less time than asked for; of a run that may end when it is sure enough, less than the least. Stages that end by themselves are no time that was asked for.
fn lacks_time(facts: &Facts) -> bool {
    let stop = facts.plan.until.as_ref().map(|until| until.least).or(facts.plan.stop().duration);
    let asked = stop.map(|d| d.as_secs_f64());
    match (asked, facts.plan.stop().requests) {
        (Some(asked), _) => facts.seconds < asked * (1.0 - MISSING),
        (None, requests) => requests.is_some(),
    }
}

fn done(facts: &Facts) -> String {
    let stop = facts.plan.stop();
    let ran = seconds(facts.seconds);
    let begun = facts.total().begun;
    match (stop.duration, stop.requests) {
        (Some(asked), None) => format!("{ran} of {}", seconds(asked.as_secs_f64())),
        (_, Some(asked)) => format!("{} of {} in {ran}", count(begun), plural(asked, "request")),
        (None, None) => ran,
    }
}

/// The run was over before there was anything to see but its start.
pub fn too_short(facts: &Facts) -> Option<Remark> {
    let completed = facts.run.flow.completed;
    if facts.seconds >= SHORT_SECONDS || completed == 0 || why_cut(facts).is_some() {
        return None;
    }
    let said = format!(
        "The run lasted only {} and got {} replies: it shows the start of the server, and the next run may differ.",
        seconds(facts.seconds),
        count(completed)
    );
    let advice = "measure for 10 s or more";
    let stop = facts.plan.stop();
    let remedy = match stop.requests {
        _ if stop.iterations_per_user.is_some() => "let each user make more iterations".to_owned(),
        Some(requests) if !lacks_requests(facts) => {
            let enough = requests as f64 * LONG_SECONDS / facts.seconds.max(f64::MIN_POSITIVE);
            facts.command().advise(advice, REQUESTS, &ceil_two_digits(enough).to_string())
        }
        _ => facts.advise_duration(advice, LONG_SECONDS),
    };
    Some(Remark::warning(said).remedy(remedy))
}

/// Rounded up to two digits: more would pretend that the rate stays as it was.
fn ceil_two_digits(number: f64) -> u64 {
    let unit = 10_f64.powf(number.max(1.0).log10().floor() - 1.0).max(1.0);
    ((number / unit).ceil() * unit) as u64
}

/// The run reached no steady state.
pub fn not_steady(facts: &Facts) -> Option<Remark> {
    let steady = facts.so_far.steady.as_ref().filter(|steady| !steady.reached)?;
    let trends = steady::trends(&steady::measured(facts.run), steady);
    if trends.is_empty() {
        let sentence =
            format!("The run reached no steady state ({}): its figures describe a transition.", steady.method);
        let advice = "run longer, or exclude the transition";
        return Some(Remark::warning(sentence).remedy(facts.command().advise(advice, WARMUP, "auto")));
    }
    // An open loop that the server cannot keep up with has a rising response time by itself.
    if super::load::overload(facts).is_some() {
        return None;
    }
    let changes: Vec<String> = trends.iter().map(change).collect();
    let sentence =
        format!("From the first to the last fifth of the run, {}: the figures depend on its length.", listed(&changes));
    let advice = "look for what grows or slows down with time (memory, connections, data, throttling, other processes), \
                  then repeat the run and compare";
    Some(Remark::warning(sentence).remedy(advice))
}

fn change(trend: &Trend) -> String {
    let direction = if trend.last > trend.first { "rose" } else { "fell" };
    match trend.figure {
        TrendFigure::Response(q) => {
            format!("{} {direction} from {} to {}", percentile(q), seconds(trend.first), seconds(trend.last))
        }
        TrendFigure::Throughput => {
            format!("throughput {direction} from {} to {}", rate(trend.first), rate(trend.last))
        }
    }
}
