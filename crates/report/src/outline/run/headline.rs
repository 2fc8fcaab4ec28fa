//! Writes the headline: verdict, throughput and errors, or the reason why there are no figures.

use super::{ReportSection, RunReport, notes, outcomes, verdict};
use crate::figures::with_interval;
use crate::outline::block::{Fact, ReportBlock, Words};
use crate::view::{Detail, Emphasis};
use brunt_model::numbers::{count, fraction, plural, three_digits};
use brunt_model::run::iterations::Iterations;
use brunt_model::{Load, Plan};

/// Returns the verdict and the headline.
pub fn section(report: &RunReport) -> ReportSection {
    let rates = [
        verdict::of_judged(report),
        Some(throughput(report)),
        goodput(report),
        Some(errors(report)),
        iterations(report),
    ];
    vec![ReportBlock::Facts(rates.into_iter().flatten().chain(notes::unfinished(report)).collect())]
}

/// Returns the reason why there are no figures.
pub fn nothing_measured(report: &RunReport) -> ReportSection {
    let why = format!("Nothing could be measured: {}.", outcomes::why_nothing(report.run));
    let verdict = ReportBlock::Facts(verdict::of_judged(report).into_iter().collect());
    vec![verdict, ReportBlock::Paragraph(why), ReportBlock::Facts(notes::unfinished(report))]
}

fn throughput(report: &RunReport) -> Fact {
    let run = report.run;
    let ends = report.judgement.throughput.and_then(|t| Some((t.low, t.high?)));
    let text =
        Words::emphasized(Emphasis::Strong, with_interval(run.throughput(), ends, "requests/s"));
    // Only an open loop has an offered load that the server does not influence.
    let open =
        matches!(run.plan.as_ref().and_then(Plan::only).map(|p| &p.load), Some(Load::Open { .. }));
    let text = if run.flow.completed == 0 {
        text.and(" (every reply came after the measured time)")
    } else if open {
        text.and(format!("; offered load {}/s", three_digits(run.per_second(run.flow.planned))))
    } else {
        text
    };
    Fact::new("Throughput", text)
}

/// Returns the goodput. A brief report omits it if it equals the throughput.
fn goodput(report: &RunReport) -> Option<Fact> {
    let run = report.run;
    let is_shown = run.flow.good != run.flow.completed || report.detail == Detail::Full;
    is_shown.then(|| Fact::new("Goodput", format!("{} requests/s", three_digits(run.goodput()))))
}

fn errors(report: &RunReport) -> Fact {
    let t = &report.run.total;
    let all = t.attempted();
    let emphasis = if t.errors() == 0 { Emphasis::Good } else { Emphasis::Bad };
    let share = Words::emphasized(emphasis, fraction(t.error_share()));
    Fact::new("Errors", share.and(format!(", {} of {}", count(t.errors()), plural(all, "request"))))
}

/// Returns the iterations of scenarios.
fn iterations(report: &RunReport) -> Option<Fact> {
    let run = report.run;
    let Iterations { planned, done, failed, unfinished } = run.iterations()?;
    let planned =
        planned.map_or(String::new(), |planned| format!(" of {} planned", count(planned)));
    let rate = three_digits(run.per_second(done));
    let mut text = format!("{} done{planned}, {rate}/s", count(done));
    for (n, state) in [(failed, "with a failed request"), (unfinished, "unfinished")] {
        if n > 0 {
            text += &format!(", {} {state}", count(n));
        }
    }
    Some(Fact::new("Iterations", text))
}
