//! JMeter's console lines and log file.

use super::settings::JmeterSettings;
use crate::caller::Caller;
use crate::local_time;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;

const LOG: &str = "jmeter.log";

/// Destination of console and log lines.
pub struct Console {
    caller: Arc<Caller>,
    /// None if the file cannot be written.
    log: Option<File>,
}

impl Console {
    /// Creates the log file. A failure is ignored.
    pub fn open(settings: &JmeterSettings, caller: &Arc<Caller>) -> Self {
        let name = settings.options.log_file.as_deref().unwrap_or(LOG);
        let log = OpenOptions::new().create(true).write(true).truncate(true).open(name).ok();
        Self { caller: Arc::clone(caller), log }
    }

    /// Prints a line to the console.
    pub fn print(&self, line: &str) {
        self.caller.out(&format!("{line}\n"));
    }

    /// Writes a line of a JMeter class to the log.
    pub fn log(&mut self, class: &str, line: &str) {
        let time = local_time::format(now_millis() as i64, "%Y-%m-%d %H:%M:%S,%3f");
        if let Some(log) = &mut self.log {
            // A write error, such as a full disk, must not end the test.
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
    /// Name, such as `UTC` or `GMT+2`.
    pub name: String,
}

impl Zone {
    /// The zone at an instant in milliseconds since 1970.
    pub fn of_instant(millis: u64) -> Self {
        let offset_seconds = local_time::offset(millis as i64);
        let name = match offset_seconds / 60 {
            0 => "UTC".to_owned(),
            minutes if minutes % 60 == 0 => format!("GMT{:+}", minutes / 60),
            minutes => format!("GMT{:+}:{:02}", minutes / 60, minutes.abs() % 60),
        };
        Self { offset_seconds, name }
    }
}

/// Formats a date like JMeter, with milliseconds since 1970:
/// `2026 Nov 23 09:05:07 UTC (1795424707000)`.
pub fn date(millis: u64) -> String {
    let time = local_time::format(millis as i64, "%Y %b %-d %H:%M:%S");
    format!("{time} {} ({millis})", Zone::of_instant(millis).name)
}
