//! The run as text for people: verdict and headline first, on one screen; everything in full where it is asked for.
//!
//! Each section is a function from a report to a part of it, in a file of `text/`; one that has nothing to say is empty.
//! The JSON document has every figure.

mod asked;
mod bars;
mod breakdown;
mod fit;
mod graph;
mod headline;
mod notes;
mod outcomes;
mod outline;
mod rates;
mod times;
pub(crate) mod verdict;

use crate::outline::{Block, head_of_run, of_study, tail_of_run};
use crate::view::{Detail, View};
use brunt_model::{Analysis, Judgement, Run, Study};
use fit::Part;
use std::io;

pub(crate) use outline::text as of_outline;

/// What a report is about, and how it is set.
pub(crate) struct Report<'a> {
    run: &'a Run,
    judgement: &'a Judgement,
    view: &'a View,
}

/// From which detail on a section is there, and what it says.
type Section = (Detail, fn(&Report) -> Part);

use Detail::{Brief, Full};

/// What is shown of a run, in order.
const SECTIONS: &[Section] = &[
    (Brief, asked::title),
    (Brief, headline::section),
    (Brief, times::response),
    (Brief, asked::section),
    (Full, rates::section),
    (Full, times::clocks),
    (Full, times::phases),
    (Brief, notes::objectives),
    (Brief, outcomes::section),
    (Brief, breakdown::check_failures),
    (Brief, breakdown::populations),
    (Brief, breakdown::labels),
    (Brief, breakdown::transactions),
    (Full, bars::section),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// What is shown where no reply came.
const WITHOUT_REPLIES: &[Section] = &[
    (Brief, asked::title),
    (Brief, headline::nothing_measured),
    (Brief, asked::section),
    (Brief, notes::objectives),
    (Brief, outcomes::of_several),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// Writes the report on one screen, in plain characters.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    write_as(&View::default(), run, judgement, out)
}

/// Writes the report as the view says.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_as(view: &View, run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let report = Report { run, judgement, view };
    let sections = if run.total.completed > 0 { SECTIONS } else { WITHOUT_REPLIES };
    let shown = sections.iter().filter(|(from, _)| *from <= view.detail);
    let parts: Vec<Part> = shown.map(|(_, part)| part(&report)).filter(|part| !part.is_empty()).collect();
    let most = view.lines.filter(|_| view.detail == Brief).unwrap_or(usize::MAX);
    out.write_all(fit::fit(&parts, most).as_bytes())
}

/// Writes the report of a study: what [`crate::outline`] says of it.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    write_study_as(&View::default(), study, analysis, out)
}

/// Writes the report of a study as the view says.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write_study_as(view: &View, study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(trial) = study.only_run() else {
        let blocks: Vec<Block> = of_study(study, analysis, view.detail);
        return out.write_all(of_outline(view, &blocks).as_bytes());
    };
    out.write_all(of_outline(view, &head_of_run(study)).as_bytes())?;
    write_as(view, &trial.run, &trial.judgement, out)?;
    let tail = of_outline(view, &tail_of_run(study));
    if tail.is_empty() { Ok(()) } else { write!(out, "\n{tail}") }
}

#[cfg(test)]
mod screens;
#[cfg(test)]
mod tests;
