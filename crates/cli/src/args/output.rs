//! What is shown and kept.

use super::values::{self, Output};
use crate::defaults;
use anyhow::{Result, bail};
use clap::{Args, value_parser};
use std::path::PathBuf;
use std::time::Duration;

/// What is shown and kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output, help = formats())]
    pub outputs: Vec<Output>,

    /// Keep the event log here, for `brunt replay`
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,

    /// Time between snapshots: the grain of the time series
    #[arg(long, value_name = "TIME", default_value = defaults::INTERVAL, value_parser = values::interval)]
    pub interval: Duration,

    /// Labels (URLs) reported one by one; the rest are summed under (other)
    #[arg(long, value_name = "N", default_value = defaults::LABELS, value_parser = value_parser!(u32).range(1..))]
    pub labels: u32,

    /// No progress while running, and no text beside the reports that -o names
    #[arg(short, long)]
    pub quiet: bool,
}

/// Whether there is a text that tells notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loudness {
    /// There is.
    Usual,
    /// `-q`: there is none.
    Quiet,
}

impl OutputArgs {
    /// Whether there is a text that tells notes.
    pub fn loudness(&self) -> Loudness {
        if self.quiet { Loudness::Quiet } else { Loudness::Usual }
    }
}

/// The help of `-o`.
fn formats() -> String {
    let names = brunt_report::REPORTS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    format!(
        "Report in FORMAT ({names}), to FILE or standard output; repeatable. The text goes to standard output where \
         nothing else does"
    )
}

/// Whether these outputs can be had. `formats` are the names that there are.
pub fn check(outputs: &[Output], formats: &[&str]) -> Result<()> {
    for (i, Output { format, file }) in outputs.iter().enumerate() {
        if !formats.contains(&format.as_str()) {
            bail!("-o {format}: there is no such format; write one of {}", formats.join(", "));
        }
        if outputs[..i].iter().any(|earlier| earlier.file == *file) {
            let place = file.as_ref().map_or("standard output".into(), |f| f.display().to_string());
            bail!("-o {format}: something else goes to {place} already; write -o {format}=FILE with another file");
        }
    }
    Ok(())
}
