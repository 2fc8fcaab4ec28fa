//! Arranges the report of a run as blocks, verdict and headline first.
//!
//! A brief report fits on one screen; a full report has all sections. Each section is a function
//! that returns blocks. A section without content returns no blocks.

mod bars;
mod headline;
pub mod notes;
pub mod outcomes;
mod rates;
mod times;
pub mod verdict;
mod workload;

use super::block::{Fact, ReportBlock};
use crate::agents::{self, AgentRows};
use crate::breakdown::{self, Breakdown};
use crate::view::Detail::{self, Brief, Full};
use brunt_model::{Judgement, Run};

/// A run and its judgement, with the detail of the report.
#[derive(Clone, Copy)]
pub struct RunReport<'a> {
    /// Run that the report describes.
    pub run: &'a Run,
    /// The judgement of the run.
    pub judgement: &'a Judgement,
    /// Detail, which selects the sections.
    pub detail: Detail,
}

/// Blocks that belong together. Rows of the last block may be omitted if space is limited.
pub type ReportSection = Vec<ReportBlock>;

/// Minimum detail of a report with this section, and the function that returns its blocks.
type SectionRow = (Detail, fn(&RunReport) -> ReportSection);

/// The sections of a run, in order.
const SECTIONS: &[SectionRow] = &[
    (Brief, workload::title),
    (Brief, headline::section),
    (Brief, times::response),
    (Brief, workload::section),
    (Full, rates::section),
    (Full, times::clocks),
    (Full, times::phases),
    (Brief, notes::objectives),
    (Brief, outcomes::section),
    (Brief, check_failures),
    (Brief, notes::marks),
    (Brief, |report| parts(breakdown::populations(report.run))),
    (Brief, |report| parts(breakdown::groups(report.run))),
    (Brief, agents),
    (Brief, |report| parts(breakdown::labels(report.run))),
    (Brief, |report| parts(breakdown::transactions(report.run))),
    (Full, bars::section),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// The sections of a run without replies.
const WITHOUT_REPLIES: &[SectionRow] = &[
    (Brief, workload::title),
    (Brief, headline::nothing_measured),
    (Brief, workload::section),
    (Brief, notes::objectives),
    (Brief, outcomes::of_several),
    (Full, notes::generator),
    (Brief, verdict::findings),
];

/// Returns the sections of the report of a run.
pub fn of_run(run: &Run, judgement: &Judgement, detail: Detail) -> Vec<ReportSection> {
    let report = RunReport { run, judgement, detail };
    // Without a reply, throughput and times would be rows of unknowns.
    let sections = if run.total.completed > 0 { SECTIONS } else { WITHOUT_REPLIES };
    let shown = sections.iter().filter(|(minimum, _)| *minimum <= detail);
    shown.map(|(_, section)| section(&report)).filter(|section| !section.is_empty()).collect()
}

/// Returns the failed checks.
fn check_failures(report: &RunReport) -> ReportSection {
    let sentences = breakdown::check_failures(report.run);
    let facts: Vec<Fact> =
        sentences.into_iter().map(|sentence| Fact::new("Failed check", sentence)).collect();
    if facts.is_empty() { ReportSection::new() } else { vec![ReportBlock::FactOfEach(facts)] }
}

/// Returns a table of the agents.
fn agents(report: &RunReport) -> ReportSection {
    parts(agents::table(report.run, report.judgement, AgentRows::LargestLags))
}

fn parts(parts: Breakdown) -> ReportSection {
    if parts.rows.is_empty() { ReportSection::new() } else { vec![ReportBlock::Breakdown(parts)] }
}
