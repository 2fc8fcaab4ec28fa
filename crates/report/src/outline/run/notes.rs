//! Writes setup and resource use of the generator, the objectives, and notes for the reader.

use super::{ReportSection, RunReport};
use crate::layout::clean;
use crate::outline::block::{Fact, ListItem, ListMark, ReportBlock, Words};
use crate::outline::facts;
use crate::result::elapsed;
use crate::utc::rfc3339;
use crate::view::Emphasis;
use brunt_model::numbers::{bytes, count, fraction, plain, plural, seconds, span, three_digits};
use brunt_model::objective::{Metric, ObjectiveResult};
use brunt_model::{Mark, Phase, Plan, Run, Text, reading_names};

/// Returns the start time, the machine, and CPU and memory of the generator, as far
/// as they were read.
pub fn generator(report: &RunReport) -> ReportSection {
    let run = report.run;
    let mut parts = Vec::new();
    if let (Some(user), Some(system)) = (
        run.reading("generator", "cpu_user_seconds"),
        run.reading("generator", "cpu_system_seconds"),
    ) {
        parts.push(cpu(run, user, system));
    }
    if let Some(peak) = run.reading("generator", "peak_rss_bytes") {
        parts.push(format!("{} of memory at most", bytes(peak)));
    }
    if let Some(threads) = run.reading("generator", "threads") {
        parts.push(format!("{}{}", plural(threads as u64, "thread"), in_processes(run)));
    }
    parts.extend(rests(run));
    let used = (!parts.is_empty()).then(|| Fact::new("Generator", parts.join(", ")));
    let facts: Vec<Fact> = start(run).into_iter().chain(used).collect();
    if facts.is_empty() { ReportSection::new() } else { vec![ReportBlock::Facts(facts)] }
}

/// Returns start time and machine of the run, if they are known.
fn start(run: &Run) -> Vec<Fact> {
    // A log without its beginning has no start time.
    if run.unix_seconds <= 0.0 {
        return Vec::new();
    }
    // Agents may be on other machines.
    let machine = if run.agents.is_empty() { "Machine" } else { "Controller" };
    vec![
        Fact::new("Started", rfc3339(run.unix_seconds)),
        Fact::new(machine, facts::machine(&run.environment)),
    ]
}

/// Returns how often workers paused to read several replies at once; None if they never did.
fn rests(run: &Run) -> Option<String> {
    let rests = run.sum_of_workers(reading_names::RESTS).filter(|rests| *rests > 0.0)?;
    let mean = seconds(run.sum_of_workers(reading_names::REST_SECONDS)? / rests);
    Some(format!(
        "rested {mean} on average before {} of its reads, so as to read several replies at once",
        count(rests as u64)
    ))
}

/// Returns ` in 4 processes` or ` on 4 agents` if there are several.
fn in_processes(run: &Run) -> String {
    if !run.agents.is_empty() {
        return format!(" on {}", plural(run.agents.len() as u64, "agent"));
    }
    let processes = run.plan.as_ref().map_or(1, |plan| plan.processes);
    if processes > 1 { format!(" in {processes} processes") } else { String::new() }
}

fn cpu(run: &Run, user: f64, system: f64) -> String {
    let mut out = format!("CPU {} s user + {} s system", three_digits(user), three_digits(system));
    // CPU readings cover the whole run, so the requests of the warm-up count, too.
    let requests = run.flow_all.begun;
    if requests > 0 {
        out += &format!(", {} per request", seconds((user + system) / requests as f64));
    }
    let elapsed = elapsed(run).seconds();
    if elapsed > 0.0 {
        out += &format!(", {} % of a core", plain(((user + system) / elapsed * 100.0).round()));
    }
    out
}

/// Returns each objective with its result, missed ones first.
pub fn objectives(report: &RunReport) -> ReportSection {
    let items = objective_items(report);
    if items.is_empty() {
        return ReportSection::new();
    }
    vec![ReportBlock::Heading("Objectives".into()), ReportBlock::List(items)]
}

/// Returns the same as items of a list; empty without objectives.
pub fn objective_items(report: &RunReport) -> Vec<ListItem> {
    let run = report.run;
    let mut bounds: Vec<ObjectiveResult> =
        run.plan.iter().flat_map(|p| &p.objectives).map(|o| o.judge(run)).collect();
    // The sort is stable: within both groups, the order of the plan remains.
    bounds.sort_by_key(|judged| judged.met);
    bounds.iter().map(|judged| objective(run, judged)).collect()
}

fn objective(run: &Run, judged: &ObjectiveResult) -> ListItem {
    let mark = if judged.met { ListMark::Met } else { ListMark::Missed };
    ListItem { mark, ..ListItem::plain(format!("{}: {}", judged.objective, figure(run, judged))) }
}

fn figure(run: &Run, judged: &ObjectiveResult) -> String {
    let errors = matches!(judged.objective.metric, Metric::Errors);
    // Failed requests have an error ratio, but no other figure.
    if run.total.planned == 0 || (run.total.completed == 0 && !errors) {
        return "nothing was measured".into();
    }
    let value = judged.value;
    let text = match judged.objective.metric {
        Metric::Errors => fraction(value),
        Metric::Throughput | Metric::Goodput => format!("{}/s", three_digits(value)),
        Metric::Quantile(_) | Metric::Mean | Metric::Max => seconds(value),
    };
    if judged.at_least { format!("≥ {text}") } else { text }
}

/// Returns the instants that the user has marked.
pub fn marks(report: &RunReport) -> ReportSection {
    let zero = report.run.phase_start(Phase::Measure).unwrap_or_default();
    let fact = |mark: &Mark| {
        Fact::new(
            "Mark",
            format!("{} at {}", clean(&mark.text), seconds(mark.at.seconds_from(zero))),
        )
    };
    let facts: Vec<Fact> = report.run.marks.iter().map(fact).collect();
    if facts.is_empty() { ReportSection::new() } else { vec![ReportBlock::FactOfEach(facts)] }
}

/// Returns the error of the run, and a note if it was interrupted or has no end.
pub fn unfinished(report: &RunReport) -> Vec<Fact> {
    let run = report.run;
    // Without replies the error is already the reason why nothing was measured.
    let error =
        run.finish.as_ref().and_then(|f| f.error.as_deref()).filter(|_| run.total.completed > 0);
    let error = error.map(|error| Fact::new("Error", Words::emphasized(Emphasis::Bad, error)));
    let so_far = span(run.measured_seconds());
    let planned = run
        .plan
        .as_ref()
        .and_then(planned_extent)
        .map_or(String::new(), |all| format!(" of {all}"));
    let state = match &run.finish {
        Some(finish) if finish.interrupted => {
            Some(format!("interrupted after {so_far}{planned}; the figures cover this time"))
        }
        Some(_) => None,
        None => {
            Some(format!("unfinished after {so_far}{planned}; the record of this run has no end"))
        }
    };
    let state = state.map(|state| Fact::new("State", Words::emphasized(Emphasis::Warning, state)));
    error.into_iter().chain(state).collect()
}

/// Returns the planned duration, or else the planned number of requests.
fn planned_extent(plan: &Plan) -> Option<String> {
    let seconds = plan.stop().duration.map(|d| span(d.as_secs_f64()));
    seconds.or_else(|| plan.stop().requests.map(|n| plural(n, "request")))
}

/// Returns the warnings, without the error of the run, which is shown separately.
pub fn warnings(run: &Run) -> impl Iterator<Item = &Text> {
    let error = run.finish.as_ref().and_then(|f| f.error.as_deref());
    run.warnings.iter().filter(move |w| Some(w.as_str()) != error)
}
