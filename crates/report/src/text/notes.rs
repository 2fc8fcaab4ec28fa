//! What brunt itself used, the objectives, and everything else that the reader should know.

use crate::figures::{bytes, fraction, plain, plural, seconds, span, three};
use crate::layout::{Table, clean, entry, hang};
use crate::result::elapsed;
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::{Plan, Run};

/// CPU and memory of the generator, where they were read.
pub fn generator(run: &Run) -> String {
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
    if parts.is_empty() { String::new() } else { entry("Generator", &parts.join(", ")) }
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

/// Each bound, and whether it was kept.
pub fn objectives(run: &Run) -> String {
    let bounds: Vec<ObjectiveResult> = run.plan.iter().flat_map(|p| &p.objectives).map(|o| o.judge(run)).collect();
    if bounds.is_empty() {
        return String::new();
    }
    let mut table = Table::default();
    for judged in &bounds {
        let verdict = if judged.met { "met" } else { "MISSED" };
        table.noted([format!("  {verdict}")], format!("{}: {}", judged.objective, figure(run, judged)));
    }
    format!("Objectives\n{}", table.render())
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

/// Warnings, errors, and that the run was not whole.
pub fn section(run: &Run) -> String {
    let mut out: String = untold(run).map(|w| hang("note: ", &clean(w))).collect();
    if let Some(error) = run.finish.as_ref().and_then(|f| f.error.as_deref()).filter(|_| run.total.completed > 0) {
        out += &hang("error: ", &clean(error));
    }
    out + &unfinished(run)
}

fn unfinished(run: &Run) -> String {
    let so_far = span(run.measured_seconds());
    let of = run.plan.as_ref().and_then(of_all).map_or(String::new(), |all| format!(" of {all}"));
    match &run.finish {
        Some(f) if f.interrupted => {
            hang("", &format!("interrupted after {so_far}{of}: the figures are of the time until then"))
        }
        Some(_) => String::new(),
        None => hang("", &format!("unfinished after {so_far}{of}: the record of this run has no end")),
    }
}

fn of_all(plan: &Plan) -> Option<String> {
    let seconds = plan.stop().duration.map(|d| span(d.as_secs_f64()));
    seconds.or_else(|| plan.stop().requests.map(|n| plural(n, "request")))
}

/// Warnings that the error of the run does not say already.
fn untold(run: &Run) -> impl Iterator<Item = &String> {
    let error = run.finish.as_ref().and_then(|f| f.error.as_deref());
    run.warnings.iter().filter(move |w| Some(w.as_str()) != error)
}
