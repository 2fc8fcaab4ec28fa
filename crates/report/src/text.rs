//! Writes reports as text for a terminal. [`crate::outline`] has their content; this module formats
//! it in the width of the view.
//!
//! A brief report of a run fits on one screen: rows of tables are omitted. The JSON
//! document has every figure.

mod bars;
mod fit;
mod graph;
mod outline;

use crate::outline::block::ReportBlock;
use crate::outline::{head_of_run, of_study, run, tail_of_run};
use crate::view::{Detail, View};
use brunt_model::{Analysis, Judgement, Run, Study};
use fit::ReportPart;
use std::io;

pub(crate) use outline::text as of_outline;

/// Writes the report of a run on one screen, in plain characters.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    write_as(&View::default(), run, judgement, out)
}

/// Writes the report of a run in this view.
pub fn write_as(
    view: &View,
    run: &Run,
    judgement: &Judgement,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let sections = run::of_run(run, judgement, view.detail);
    let parts: Vec<ReportPart> =
        sections.iter().map(|section| outline::part(view, section)).collect();
    let max_lines = view.lines.filter(|_| view.detail == Detail::Brief).unwrap_or(usize::MAX);
    out.write_all(fit::fit(&parts, max_lines).as_bytes())
}

/// Writes the report of a study.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    write_study_as(&View::default(), study, analysis, out)
}

/// Writes the report of a study in this view.
pub fn write_study_as(
    view: &View,
    study: &Study,
    analysis: &Analysis,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let Some(trial) = study.only_run() else {
        let blocks: Vec<ReportBlock> = of_study(study, analysis, view.detail);
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
