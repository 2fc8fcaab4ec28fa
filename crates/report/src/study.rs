//! A study, shown.

use brunt_model::{Analysis, Study};
use std::io;

/// Its name.
pub fn write_text(study: &Study, _: &Analysis, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{}", study.experiment.name)
}
