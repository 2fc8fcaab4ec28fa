//! The clocks of a request as tables, and what a closed loop cannot see.

use crate::figures::{self, UNKNOWN, enough, quantile_of, round3};
use crate::layout::{Table, clean, entry, hang};
use brunt_model::finding::{Estimate, Interval};
use brunt_model::{Body, Failure, Judgement, Load, Plan, Run, Tally};
use brunt_stats::Histogram;

const QUANTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];
const HEAD: [&str; 8] = ["Times", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"];

/// A clock: its name, from which instant to which, its values.
type Row<'a> = (&'static str, &'static str, &'a Histogram);

/// Percentiles of every clock, those of the response time with their intervals.
pub fn section(run: &Run, judgement: &Judgement) -> String {
    let mut table = Table::with_head(&HEAD);
    let interval = |q: f64| judgement.intervals.iter().find(|i| (i.quantile - q).abs() < 1e-9);
    let response = QUANTILES.map(|q| open_ended(interval(q)).unwrap_or_else(|| response_quantile(&run.total, q)));
    let bounded = response.iter().any(|r| r.starts_with('≥'));
    table.row(["response time".to_string()].into_iter().chain(response));
    if judgement.intervals.iter().any(|i| i.estimate.is_some()) {
        let end = |end: fn(&Estimate) -> Option<f64>| {
            QUANTILES.map(|q| interval(q)?.estimate.as_ref().and_then(end).map(figures::seconds))
        };
        for (name, ends) in [("  95 % from", end(|e| Some(e.low))), ("  95 % to", end(|e| e.high))] {
            let ends = ends.map(|end| end.unwrap_or_else(|| UNKNOWN.into()));
            table.row([name.to_string()].into_iter().chain(ends));
        }
    }
    let rows = rows(run);
    for (name, _, histogram) in &rows {
        let figures = QUANTILES.map(|q| quantile_of(histogram, q));
        table.row([(*name).to_string()].into_iter().chain(figures));
    }
    table.render() + &legend(&rows) + &if bounded { hang("", BOUND) } else { String::new() } + &method(judgement)
}

/// A percentile with too few samples beyond it is only known from below.
fn open_ended(interval: Option<&Interval>) -> Option<String> {
    let estimate = interval?.estimate?;
    estimate.high.is_none().then(|| format!("> {}", figures::seconds(estimate.low)))
}

/// How the intervals were found, or why there are none.
fn method(judgement: &Judgement) -> String {
    let with = judgement.intervals.iter().find(|i| i.estimate.is_some());
    let without = judgement.intervals.iter().find_map(|i| i.too_short.as_ref());
    match (with, without) {
        (Some(interval), _) => {
            // How long its blocks are differs from one percentile to the next.
            let method = interval.method.split(" from ").next().unwrap_or_default();
            hang("", &format!("95 %: {method}, from blocks of the time series"))
        }
        (None, Some(why)) => hang("", &format!("no intervals: {why}")),
        (None, None) => String::new(),
    }
}

const BOUND: &str = "≥: so many requests were dropped, cut off or timed out that the true figure is this or more";

fn rows(run: &Run) -> Vec<Row<'_>> {
    let t = &run.total;
    let capped = matches!(
        run.plan.as_ref().and_then(Plan::only).map(|p| &p.load),
        Some(Load::Open { connections: Some(_), .. })
    );
    let mut rows: Vec<Row> = vec![("service time", "sent -> last byte", &t.service)];
    if capped || t.queue_wait.max() > 0 {
        rows.push(("queue wait", "planned -> a connection was free", &t.queue_wait));
    }
    rows.push(("lag", "free -> begun, brunt's own lateness", &t.lag));
    if !t.opening_lag.is_empty() {
        rows.push((
            "opening lag",
            "waiting for paced connection opening (--connect-rate), part of the lag",
            &t.opening_lag,
        ));
    }
    if !t.phases.connection.is_empty() {
        rows.push(("connection time", "begun -> sent, where one was opened", &t.phases.connection));
    }
    rows
}

fn legend(rows: &[Row<'_>]) -> String {
    let others = rows.iter().map(|(name, from_to, _)| format!("; {name}: {from_to}"));
    hang("", &format!("response time: planned -> last byte{}", others.collect::<String>()))
}

/// A quantile of the response time, where there are enough requests to speak of it.
pub fn response_quantile(t: &Tally, q: f64) -> String {
    let all = t.response.count() + t.failed_by(Failure::Dropped) + t.failed_by(Failure::Cut);
    if t.response.is_empty() || !enough(q, all) {
        return UNKNOWN.into();
    }
    figures::quantile(t.response_quantile(q))
}

/// The steps of a request that occurred.
pub fn phases(run: &Run) -> String {
    let p = &run.total.phases;
    let steps = [
        ("resolve", &p.resolve),
        ("connect", &p.connect),
        ("TLS handshake", &p.tls),
        ("first byte", &p.first_byte),
        ("receive", &p.receive),
        ("read lag", &run.total.read_lag),
    ];
    let mut table = Table::with_head(&["Phases", "p50", "p99", "max", "count"]);
    for (name, h) in steps.into_iter().filter(|s| !s.1.is_empty()) {
        table.row([
            name.to_string(),
            quantile_of(h, 0.5),
            quantile_of(h, 0.99),
            quantile_of(h, 1.0),
            figures::count(h.count()),
        ]);
    }
    table.render()
}

/// What a closed loop cannot see, and the command that would show it.
pub fn closed_loop(run: &Run) -> String {
    let Some(plan) = run.plan.as_ref().filter(|p| matches!(p.only().map(|only| &only.load), Some(Load::Closed { .. })))
    else {
        return String::new();
    };
    let out = entry("Closed loop", "A closed loop cannot see queueing before its users.");
    if run.flow.completed == 0 {
        return out;
    }
    out + &entry("", &format!("Open loop at this throughput: {}", open_command(run, plan, run.throughput())))
}

fn open_command(run: &Run, plan: &Plan, throughput: f64) -> String {
    let rate = round3(throughput);
    if let Some(command) = without_connections(&run.environment.command) {
        return clean(&format!("{command} -r {rate}"));
    }
    match plan.main().scenario.requests.as_slice() {
        [r] if r.method == "GET" && r.body == Body::None && r.headers.is_empty() => {
            format!("brunt -r {rate} {}", quoted(&clean(&r.url)))
        }
        _ => format!("the same command with -r {rate} in place of the connections"),
    }
}

/// The command line of a closed loop without what only a closed loop has; None where it is not known or looks unusual.
fn without_connections(command: &str) -> Option<String> {
    let mut words = command.split(' ').filter(|w| !w.is_empty());
    let program = words.next()?.rsplit('/').next()?;
    let mut kept = vec![program];
    while let Some(word) = words.next() {
        match word {
            "-c" | "--connections" | "--think" => drop(words.next()?),
            _ if ["-c", "--connections=", "--think="].iter().any(|o| word.starts_with(o)) => {}
            _ => kept.push(word),
        }
    }
    (program == "brunt").then(|| kept.join(" "))
}

/// As a shell needs it.
fn quoted(url: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "/:.-_~%=,+@".contains(c);
    if url.chars().all(safe) { url.into() } else { format!("'{}'", url.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_command_is_the_closed_one_without_its_users() {
        let open = |command| without_connections(command);
        assert_eq!(open("./brunt http://h/ -c 64 -d 5s").as_deref(), Some("brunt http://h/ -d 5s"));
        assert_eq!(
            open("brunt --think 1s -c64 --connect-rate 9 'http://h/a b'").as_deref(),
            Some("brunt --connect-rate 9 'http://h/a b'")
        );
        assert_eq!(open("brunt-x http://h/"), None);
        assert_eq!(open(""), None);
    }
}
