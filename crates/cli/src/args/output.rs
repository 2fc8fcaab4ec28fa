//! What is shown and kept.

use super::values::{self, Output};
use crate::defaults;
use anyhow::{Result, bail};
use brunt_script::duration;
use clap::{Args, value_parser};
use std::path::PathBuf;
use std::time::Duration;

/// What is shown and kept.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Report in FORMAT (text, json, csv), to FILE or standard output; repeatable [default: text]
    #[arg(short, long = "output", value_name = "FORMAT[=FILE]", value_parser = values::output)]
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

    /// No progress while running; the report is shown all the same
    #[arg(short, long)]
    pub quiet: bool,
}

/// The outputs asked for, or the default one. `formats` are the names that there are.
pub fn outputs(asked: &[Output], formats: &[&str]) -> Result<Vec<Output>> {
    let default = [Output { format: defaults::OUTPUT.into(), file: None }];
    let outputs = if asked.is_empty() { &default } else { asked };
    for (i, output) in outputs.iter().enumerate() {
        let Output { format, file } = output;
        if !formats.contains(&format.as_str()) {
            bail!("-o {format}: there is no such format; write one of {}", formats.join(", "));
        }
        if outputs[..i].iter().any(|earlier| earlier.file == *file) {
            let place = file.as_ref().map_or("standard output".into(), |f| f.display().to_string());
            bail!("-o {format}: something else goes to {place} already; write -o {format}=FILE with another file");
        }
    }
    Ok(outputs.to_vec())
}
