//! When and where the run was, what brunt itself used, the objectives, and everything else that the reader should know.

use super::{Report, Section};
use crate::outline::block::{Block, Fact, Mark, Point, Words};
use crate::outline::facts;
use crate::result::elapsed;
use crate::utc::rfc3339;
use crate::view::Emphasis;
use brunt_model::numbers::{bytes, count, fraction, plain, plural, seconds, span, three};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::{Plan, Run, reading_names};

/// When the run began, its machine, and CPU and memory of the generator, where they were read.
pub fn generator(report: &Report) -> Section {
    let run = report.run;
    let reading = |name| run.reading("generator", name);
    let mut parts = Vec::new();
    if let (Some(user), Some(system)) = (reading("cpu_user_seconds"), reading("cpu_system_seconds")) {
        parts.push(cpu(run, user, system));
    }
    if let Some(peak) = reading("peak_rss_bytes") {
        parts.push(format!("{} of memory at most", bytes(peak)));
    }
    if let Some(threads) = reading("threads") {
        parts.push(format!("{}{}", plural(threads as u64, "thread"), in_processes(run)));
    }
    parts.extend(rests(run));
    let used = (!parts.is_empty()).then(|| Fact::new("Generator", parts.join(", ")));
    let facts: Vec<Fact> = began(run).into_iter().chain(used).collect();
    if facts.is_empty() { Section::new() } else { vec![Block::Facts(facts)] }
}

/// Start time and machine of the run, if they are known.
fn began(run: &Run) -> Vec<Fact> {
    if run.unix_seconds <= 0.0 {
        return Vec::new();
    }
    vec![Fact::new("Started", rfc3339(run.unix_seconds)), Fact::new("Machine", facts::machine(&run.environment))]
}

/// How often workers rested to read several replies at once; None: never.
fn rests(run: &Run) -> Option<String> {
    let rests = run.sum_of_workers(reading_names::RESTS).filter(|rests| *rests > 0.0)?;
    let mean = seconds(run.sum_of_workers(reading_names::REST_SECONDS)? / rests);
    Some(format!(
        "rested {mean} on average before {} of its reads, so as to read several replies at once",
        count(rests as u64)
    ))
}

/// ` in 4 processes`, where there are several.
fn in_processes(run: &Run) -> String {
    let processes = run.plan.as_ref().map_or(1, |plan| plan.processes);
    if processes > 1 { format!(" in {processes} processes") } else { String::new() }
}

fn cpu(run: &Run, user: f64, system: f64) -> String {
    let mut out = format!("CPU {} s user + {} s system", three(user), three(system));
    let begun = run.flow_all.begun;
    if begun > 0 {
        out += &format!(", {} per request", seconds((user + system) / begun as f64));
    }
    let elapsed = elapsed(run).seconds();
    if elapsed > 0.0 {
        out += &format!(", {} % of a core", plain(((user + system) / elapsed * 100.0).round()));
    }
    out
}

/// Each bound, and whether it was kept; those that were missed come first.
pub fn objectives(report: &Report) -> Section {
    let run = report.run;
    let mut bounds: Vec<ObjectiveResult> = run.plan.iter().flat_map(|p| &p.objectives).map(|o| o.judge(run)).collect();
    bounds.sort_by_key(|judged| judged.met);
    let points: Vec<Point> = bounds.iter().map(|judged| objective(run, judged)).collect();
    if points.is_empty() {
        return Section::new();
    }
    vec![Block::Heading("Objectives".into()), Block::Points(points)]
}

fn objective(run: &Run, judged: &ObjectiveResult) -> Point {
    let mark = if judged.met { Mark::Met } else { Mark::Missed };
    Point { mark, ..Point::plain(format!("{}: {}", judged.objective, figure(run, judged))) }
}

fn figure(run: &Run, judged: &ObjectiveResult) -> String {
    let errors = matches!(judged.objective.metric, Metric::Errors);
    if run.total.planned == 0 || (run.total.completed == 0 && !errors) {
        return "nothing was measured".into();
    }
    let value = judged.value;
    let text = match judged.objective.metric {
        Metric::Errors => fraction(value),
        Metric::Throughput | Metric::Goodput => format!("{}/s", three(value)),
        Metric::Quantile(_) | Metric::Mean | Metric::Max => seconds(value),
    };
    if judged.at_least { format!("≥ {text}") } else { text }
}

/// That the run was not whole: its error, or that it was interrupted.
pub fn unfinished(report: &Report) -> Vec<Fact> {
    let run = report.run;
    let error = run.finish.as_ref().and_then(|f| f.error.as_deref()).filter(|_| run.total.completed > 0);
    let error = error.map(|error| Fact::new("Error", Words::emphasized(Emphasis::Bad, error)));
    let so_far = span(run.measured_seconds());
    let of = run.plan.as_ref().and_then(of_all).map_or(String::new(), |all| format!(" of {all}"));
    let state = match &run.finish {
        Some(finish) if finish.interrupted => {
            Some(format!("interrupted after {so_far}{of}; the figures cover this time"))
        }
        Some(_) => None,
        None => Some(format!("unfinished after {so_far}{of}; the record of this run has no end")),
    };
    let state = state.map(|state| Fact::new("State", Words::emphasized(Emphasis::Warning, state)));
    error.into_iter().chain(state).collect()
}

fn of_all(plan: &Plan) -> Option<String> {
    let seconds = plan.stop().duration.map(|d| span(d.as_secs_f64()));
    seconds.or_else(|| plan.stop().requests.map(|n| plural(n, "request")))
}

/// Warnings that the error of the run does not say already.
pub fn warnings(run: &Run) -> impl Iterator<Item = &String> {
    let error = run.finish.as_ref().and_then(|f| f.error.as_deref());
    run.warnings.iter().filter(move |w| Some(w.as_str()) != error)
}
