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

/// The local time zone at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    /// Seconds ahead of UTC.
    pub offset_seconds: i32,
    /// Its name: `UTC`, `GMT+2`.
    pub name: String,
}

impl Zone {
    /// The zone at an instant, in milliseconds since 1970.
    pub fn at(millis: u64) -> Self {
        let local = Local.timestamp_millis_opt(millis as i64).single();
        let offset_seconds = local.map_or(0, |local| local.offset().local_minus_utc());
        let name = match offset_seconds / 60 {
            0 => "UTC".to_owned(),
            minutes if minutes % 60 == 0 => format!("GMT{:+}", minutes / 60),
            minutes => format!("GMT{:+}:{:02}", minutes / 60, minutes.abs() % 60),
        };
        Self { offset_seconds, name }
    }
}

/// A date as JMeter writes it, with milliseconds since 1970: `2026 Nov 23 09:05:07 UTC (1795424707000)`.
pub fn date(millis: u64) -> String {
    let local = Local.timestamp_millis_opt(millis as i64).single();
    let text = local.map(|local| format!("{} {}", local.format("%Y %b %-d %H:%M:%S"), Zone::at(millis).name));
    format!("{} ({millis})", text.unwrap_or_default())
}
