//! What is read first: the verdict, the throughput and the errors; or that there are no figures, and why.

use super::fit::Part;
use super::{Report, notes, outcomes, verdict};
use crate::figures::with_interval;
use crate::view::{Detail, Emphasis};
use brunt_model::numbers::{count, fraction, plural, three};
use brunt_model::{Load, Plan};

/// The verdict and the headline.
pub fn section(report: &Report) -> Part {
    let rates = [verdict::section(report), throughput(report), goodput(report), errors(report)].concat();
    Part::fixed(rates + &notes::unfinished(report))
}

/// Plainly, that there are no figures, and why.
pub fn nothing_measured(report: &Report) -> Part {
    let why = format!("Nothing could be measured: {}.", outcomes::why_nothing(report.run));
    Part::fixed(verdict::section(report) + &report.view.hang("", &why) + &notes::unfinished(report))
}

fn throughput(report: &Report) -> String {
    let (run, view) = (report.run, report.view);
    let ends = report.judgement.throughput.and_then(|t| Some((t.low, t.high?)));
    let mut text = view.paint(Emphasis::Strong, &with_interval(run.throughput(), ends, "requests/s"));
    let open = matches!(run.plan.as_ref().and_then(Plan::only).map(|p| &p.load), Some(Load::Open { .. }));
    if run.flow.completed == 0 {
        text += " (every reply came after the measured time)";
    } else if open {
        text += &format!("; offered load {}/s", three(run.per_second(run.flow.planned)));
    }
    view.entry("Throughput", &text)
}

/// Absent if it equals the throughput.
fn goodput(report: &Report) -> String {
    let run = report.run;
    if run.flow.good == run.flow.completed && report.view.detail == Detail::Brief {
        return String::new();
    }
    report.view.entry("Goodput", &format!("{} requests/s", three(run.goodput())))
}

fn errors(report: &Report) -> String {
    let t = &report.run.total;
    let all = t.attempted();
    let emphasis = if t.errors() == 0 { Emphasis::Good } else { Emphasis::Bad };
    let share = report.view.paint(emphasis, &fraction(t.error_share()));
    report.view.entry("Errors", &format!("{share}, {} of {}", count(t.errors()), plural(all, "request")))
}
