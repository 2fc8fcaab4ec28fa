//! Writes siege's log file: a header once, then one row for each run.

use super::classic::SiegeFigures;
use super::lines::date;
use super::print::{LOG_HEAD, log_row};
use super::settings::SiegeSettings;
use crate::caller::Caller;
use brunt_model::system_error::without_number;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// Appends the figures of a run to the log. `now` is in Unix seconds.
pub fn append(settings: &SiegeSettings, figures: &SiegeFigures, now: f64, caller: &Caller) {
    if let Err(error) = write(settings, figures, now) {
        let why = without_number(&error.to_string());
        caller.err_line(&format!(
            "[\x1b[1;33merror\x1b[0m] unable to create log file: {}: {why}",
            settings.logfile
        ));
    }
}

fn write(settings: &SiegeSettings, figures: &SiegeFigures, now: f64) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(&settings.logfile)?;
    let mut text = String::new();
    if file.metadata()?.len() == 0 {
        text += LOG_HEAD;
    }
    if let Some(mark) = &settings.mark {
        text.extend(["**** ", mark, " ****\n"]);
    }
    text += &log_row(figures, &date(now, "%Y-%m-%d %H:%M:%S"));
    file.write_all(text.as_bytes())
}
