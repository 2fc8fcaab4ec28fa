//! Checks requests for reports.

use anyhow::{Result, bail};
use brunt_spec::defaults;
use brunt_spec::settings::OutputSettings;
use brunt_spec::words::live_output::{self, LIVE_OUTPUTS};
use brunt_spec::words::values::Output;
use std::path::Path;

/// Amount of text that a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Notes are printed with the report.
    Normal,
    /// `-q`: no text is printed.
    Quiet,
}

impl From<&OutputSettings> for Verbosity {
    fn from(settings: &OutputSettings) -> Self {
        if settings.quiet { Self::Quiet } else { Self::Normal }
    }
}

/// Checks that these reports can be written. `formats` lists the valid names.
pub fn check(outputs: &[Output], formats: &[&str]) -> Result<()> {
    for (i, Output { format, file }) in outputs.iter().enumerate() {
        // Commands with a load have taken the live outputs out of this list before.
        if live_output::row(format).is_some() {
            bail!(
                "-o {format}: it receives figures while a load runs, and here is none; write one of {}",
                formats.join(", ")
            );
        }
        if !formats.contains(&format.as_str()) {
            let live = LIVE_OUTPUTS
                .iter()
                .map(|row| format!("{}={}", row.name, row.value))
                .collect::<Vec<_>>()
                .join(" or ");
            // A file without its format.
            let ending = Path::new(format).extension().and_then(|ending| ending.to_str());
            let of_file = ending.map(|ending| if ending == "md" { "markdown" } else { ending });
            if let Some(known) = of_file.filter(|known| formats.contains(known)) {
                bail!("-o {format}: the format is missing; write -o {known}={format}");
            }
            let valid = formats.join(", ");
            bail!("-o {format}: unknown format; write one of {valid}, or {live} while a load runs");
        }
        let mut others = outputs[..i].iter().filter(|earlier| earlier.file == *file);
        if others.any(|earlier| !can_share_stdout(&earlier.format, &outputs[i])) {
            let place = file.as_ref().map_or("standard output".into(), |f| f.display().to_string());
            bail!(
                "-o {format}: something else goes to {place} already; write -o {format}=FILE with another file"
            );
        }
    }
    Ok(())
}

/// True if a format and another report can both go to standard output: the text of a report, and
/// commands for the CI system that reads it.
fn can_share_stdout(format: &str, other: &Output) -> bool {
    let formats = [format, &other.format];
    other.file.is_none()
        && formats.contains(&defaults::OUTPUT)
        && formats.into_iter().any(writes_commands)
}

/// True if a format writes commands for the CI system that reads standard output.
fn writes_commands(format: &str) -> bool {
    brunt_report::format(format).is_some_and(|format| format.job_summary.is_some())
}
