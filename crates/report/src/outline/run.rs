//! What is said of a run: verdict and headline first, on one screen; everything in full where it is asked for.
//!
//! Each section is a function from a report to its blocks; one that has nothing to say has none.

mod asked;
mod bars;
mod headline;
mod notes;
pub mod outcomes;
mod rates;
mod times;
pub mod verdict;

use super::block::{Block, Fact};
use crate::breakdown::{self, Breakdown};
use crate::view::Detail::{self, Brief, Full};
use brunt_model::{Judgement, Run};

/// What a report is about, and how much it says.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The run.
    pub run: &'a Run,
    /// What was decided about it.
    pub judgement: &'a Judgement,
    /// How much is said.
    pub detail: Detail,
}

/// Blocks that stand together. Rows of the last of them may give way where there is little room.
pub type Section = Vec<Block>;

/// From which detail on a section is there, and what it says.
type Shown = (Detail, fn(&Report) -> Section);

/// What is shown of a run, in order.
const SECTIONS: &[Shown] = &[
    (Brief, asked::title),
    (Brief, headline::section),
    (Brief, times::response),
    (Brief, asked::section),
    (Full, rates::section),
    (Full, times::clocks),
    (Full, times::phases),
    (Brief, notes::objectives),
    (Brief, outcomes::section),
    (Brief, check_failures),
    (Brief, |report| parts(breakdown::populations(report.run))),
    (Brief, |report| parts(breakdown::labels(report.run))),
    (Brief, |report| parts(breakdown::transactions(report.run))),
    (Full, bars::section),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// What is shown where no reply came.
const WITHOUT_REPLIES: &[Shown] = &[
    (Brief, asked::title),
    (Brief, headline::nothing_measured),
    (Brief, asked::section),
    (Brief, notes::objectives),
    (Brief, outcomes::of_several),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// The sections of the report of a run.
pub fn of_run(run: &Run, judgement: &Judgement, detail: Detail) -> Vec<Section> {
    let report = Report { run, judgement, detail };
    let sections = if run.total.completed > 0 { SECTIONS } else { WITHOUT_REPLIES };
    let shown = sections.iter().filter(|(from, _)| *from <= detail);
    shown.map(|(_, section)| section(&report)).filter(|section| !section.is_empty()).collect()
}

/// Checks that replies failed.
fn check_failures(report: &Report) -> Section {
    let sentences = breakdown::check_failures(report.run);
    let facts: Vec<Fact> = sentences.into_iter().map(|sentence| Fact::new("Failed check", sentence)).collect();
    if facts.is_empty() { Section::new() } else { vec![Block::FactOfEach(facts)] }
}

fn parts(parts: Breakdown) -> Section {
    if parts.rows.is_empty() { Section::new() } else { vec![Block::Breakdown(parts)] }
}
