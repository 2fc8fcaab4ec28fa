//! What brunt itself used, the objectives, and everything else that the reader should know.

use super::Report;
use super::fit::Part;
use crate::layout::clean;
use crate::result::elapsed;
use crate::view::Emphasis;
use brunt_model::numbers::{bytes, count, fraction, plain, plural, seconds, span, three};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::{Plan, Run, reading_names};

/// CPU and memory of the generator, where they were read.
pub fn generator(report: &Report) -> Part {
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
    if parts.is_empty() { Part::default() } else { Part::fixed(report.view.entry("Generator", &parts.join(", "))) }
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
pub fn objectives(report: &Report) -> Part {
    let (run, view) = (report.run, report.view);
    let mut bounds: Vec<ObjectiveResult> = run.plan.iter().flat_map(|p| &p.objectives).map(|o| o.judge(run)).collect();
    bounds.sort_by_key(|judged| judged.met);
    let row = |judged: &ObjectiveResult| {
        let verdict =
            if judged.met { view.paint(Emphasis::Good, "met   ") } else { view.paint(Emphasis::Bad, "MISSED") };
        view.hang(&format!("  {verdict}   "), &format!("{}: {}", judged.objective, figure(run, judged)))
    };
    let rows: Vec<String> = bounds.iter().map(row).collect();
    if rows.is_empty() {
        Part::default()
    } else {
        Part { fixed: view.paint(Emphasis::Strong, "Objectives") + "\n", rows }
    }
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
pub fn unfinished(report: &Report) -> String {
    let (run, view) = (report.run, report.view);
    let error = run.finish.as_ref().and_then(|f| f.error.as_deref()).filter(|_| run.total.completed > 0);
    let error = error.map_or(String::new(), |error| view.entry("Error", &view.paint(Emphasis::Bad, &clean(error))));
    let so_far = span(run.measured_seconds());
    let of = run.plan.as_ref().and_then(of_all).map_or(String::new(), |all| format!(" of {all}"));
    let unfinished = match &run.finish {
        Some(f) if f.interrupted => format!("interrupted after {so_far}{of}; the figures cover this time"),
        Some(_) => return error,
        None => format!("unfinished after {so_far}{of}; the record of this run has no end"),
    };
    error + &view.entry("State", &view.paint(Emphasis::Warning, &unfinished))
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
