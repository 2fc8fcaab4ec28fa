//! The run as text for people: plain characters, no colours, at most 96 columns.
//!
//! Each section is a function from run to text, in a file of `text/`; one that has nothing to say is empty. What it is
//! not: complete. Whoever wants every figure takes the JSON document.

mod asked;
mod bars;
mod labels;
mod notes;
mod outcomes;
mod outline;
mod rates;
mod times;
mod transactions;
mod verdict;

use crate::outline::{Block, of_study};
use brunt_model::{Analysis, Judgement, Run, Study};
use std::io;

pub(crate) use outline::text as of_outline;

/// A section, by what it is about.
enum Section {
    Run(fn(&Run) -> String),
    Judgement(fn(&Judgement) -> String),
    Both(fn(&Run, &Judgement) -> String),
}

use Section::{Both, Judgement as ObjectiveDocument, Run as Of};

/// What is shown of a run, in order.
const SECTIONS: &[Section] = &[
    Of(asked::section),
    Both(rates::section),
    Both(times::section),
    ObjectiveDocument(verdict::steady),
    Of(times::closed_loop),
    Of(times::phases),
    Of(outcomes::section),
    Of(outcomes::connections),
    Of(labels::populations),
    Of(labels::section),
    Of(transactions::section),
    Of(bars::section),
    Of(notes::generator),
    Of(notes::objectives),
    Of(notes::section),
    ObjectiveDocument(verdict::findings),
    ObjectiveDocument(verdict::section),
];

/// What is shown where no reply came.
const WITHOUT_REPLIES: &[Section] = &[
    Of(asked::section),
    Of(outcomes::nothing_measured),
    Of(outcomes::section_of_several),
    Of(notes::generator),
    Of(notes::objectives),
    Of(notes::section),
    ObjectiveDocument(verdict::findings),
    ObjectiveDocument(verdict::section),
];

/// Writes the report.
pub fn write(run: &Run, judgement: &Judgement, out: &mut dyn io::Write) -> io::Result<()> {
    let sections = if run.total.completed > 0 { SECTIONS } else { WITHOUT_REPLIES };
    let texts = sections.iter().map(|section| match section {
        Of(text) => text(run),
        ObjectiveDocument(text) => text(judgement),
        Both(text) => text(run, judgement),
    });
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    out.write_all(texts.join("\n").as_bytes())
}

/// Writes the report of a study: what [`crate::outline`] says of it.
pub fn write_study(study: &Study, analysis: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    let blocks: Vec<Block> = of_study(study, analysis);
    out.write_all(of_outline(&blocks).as_bytes())
}

#[cfg(test)]
mod tests;
