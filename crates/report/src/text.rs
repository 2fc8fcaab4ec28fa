//! The run as text for people: plain characters, no colours, at most 96 columns.
//!
//! Each section is a function from run to text, in a file of `text/`; one that has nothing to say is empty. What it is
//! not: complete. Whoever wants every figure takes the JSON document.

mod asked;
mod bars;
mod labels;
mod notes;
mod outcomes;
mod rates;
mod times;

use brunt_model::Run;
use std::io;

type Section = fn(&Run) -> String;

/// What is shown of a run, in order.
const SECTIONS: &[Section] = &[
    asked::section,
    rates::section,
    times::section,
    times::closed_loop,
    times::phases,
    outcomes::section,
    outcomes::connections,
    labels::section,
    bars::section,
    notes::generator,
    notes::objectives,
    notes::section,
];

/// What is shown where no reply came.
const WITHOUT_REPLIES: &[Section] = &[
    asked::section,
    outcomes::nothing_measured,
    outcomes::section_of_several,
    notes::generator,
    notes::objectives,
    notes::section,
];

/// Writes the report.
pub fn write(run: &Run, out: &mut dyn io::Write) -> io::Result<()> {
    let sections = if run.total.completed > 0 { SECTIONS } else { WITHOUT_REPLIES };
    let texts: Vec<String> = sections.iter().map(|section| section(run)).filter(|text| !text.is_empty()).collect();
    out.write_all(texts.join("\n").as_bytes())
}

#[cfg(test)]
mod tests;
