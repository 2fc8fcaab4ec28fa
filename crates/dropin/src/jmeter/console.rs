//! JMeter's lines on the console, and its log.

use super::settings::Settings;
use crate::caller::Caller;
use chrono::{Local, TimeZone};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;

/// The log where none is named.
const LOG: &str = "jmeter.log";

/// Where lines go.
pub struct Console {
    caller: Arc<Caller>,
    /// None: it cannot be written.
    log: Option<File>,
}

impl Console {
    /// Begins the log; without one, nothing but the log is missing.
    pub fn open(settings: &Settings, caller: &Arc<Caller>) -> Self {
        let name = settings.options.log_file.as_deref().unwrap_or(LOG);
        let log = OpenOptions::new().create(true).write(true).truncate(true).open(name).ok();
        Self { caller: Arc::clone(caller), log }
    }

    /// A line on the console.
    pub fn say(&self, line: &str) {
        self.caller.out(&format!("{line}\n"));
    }

    /// A line of the log, of one of JMeter's classes.
    pub fn log(&mut self, class: &str, line: &str) {
        let now = Local.timestamp_millis_opt(now_millis() as i64).single();
        let time = now.map(|now| now.format("%Y-%m-%d %H:%M:%S,%3f").to_string()).unwrap_or_default();
        if let Some(log) = &mut self.log {
            // A full disk costs the log, not the test.
            let _ = writeln!(log, "{time} INFO {class}: {line}");
        }
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_millis() -> u64 {
    (brunt_engine::clock::unix_seconds() * 1e3) as u64
}

/// A date as JMeter writes it, with milliseconds since 1970: `2026 Nov 23 09:05:07 UTC (1795424707000)`.
pub fn date(millis: u64) -> String {
    let local = Local.timestamp_millis_opt(millis as i64).single();
    let text = local.map(|local| {
        let offset = local.offset().local_minus_utc() / 60;
        let zone = match offset {
            0 => "UTC".to_owned(),
            offset if offset % 60 == 0 => format!("GMT{:+}", offset / 60),
            offset => format!("GMT{:+}:{:02}", offset / 60, offset.abs() % 60),
        };
        format!("{} {zone}", local.format("%Y %b %-d %H:%M:%S"))
    });
    format!("{} ({millis})", text.unwrap_or_default())
}
