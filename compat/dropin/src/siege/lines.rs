//! Formats siege's line for each transaction, plain or as CSV, with siege's colors.

use super::classic::seconds;
use super::settings::SiegeSettings;
use crate::local_time;
use brunt_model::{Failure, Sample};
use std::collections::HashMap;
use std::fmt::Write;

/// A formatter of transaction lines.
pub struct TransactionLines {
    settings: SiegeSettings,
    /// Labels by their number.
    labels: HashMap<u32, Label>,
    /// Position of each label in the list of URLs.
    positions: HashMap<String, usize>,
}

struct Label {
    method: String,
    url: String,
    path: String,
    position: usize,
}

impl TransactionLines {
    /// Creates a formatter for requests with these labels, in the order of the list of URLs.
    pub fn new(settings: &SiegeSettings, labels: impl Iterator<Item = String>) -> Self {
        let mut positions = HashMap::new();
        // A URL that occurs twice has the position of its first occurrence.
        labels
            .enumerate()
            .for_each(|(position, label)| _ = positions.entry(label).or_insert(position));
        Self { settings: settings.clone(), labels: HashMap::new(), positions }
    }

    /// Sets the label of a number.
    pub fn set_label(&mut self, number: u32, label: &str) {
        let (method, url) = label.split_once(' ').unwrap_or(("GET", label));
        let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = after_scheme.find('/').map_or("/", |slash| &after_scheme[slash..]).to_owned();
        let position = self.positions.get(label).copied().unwrap_or(0);
        self.labels
            .insert(number, Label { method: method.into(), url: url.into(), path, position });
    }

    /// Formats the line of a transaction. `epoch` is the Unix time of the clock's zero.
    pub fn line(&self, sample: &Sample, epoch: f64) -> Option<String> {
        let status = sample.outcome.status?;
        let label = self.labels.get(&sample.label)?;
        let settings = &self.settings;
        let now = epoch + sample.last_byte.seconds();
        let url = if settings.fullurl || label.method != "GET" { &label.url } else { &label.path };
        let mut out = String::new();
        if settings.color {
            let _ = write!(out, "\x1b[0;{}m", color_code(status));
        }
        if settings.timestamp && (settings.csv || !settings.display_id) {
            let _ = write!(out, "[{}] ", date(now, "%a, %Y-%m-%d %H:%M:%S"));
        }
        // Samples do not contain the HTTP version of the reply, so every line shows HTTP/1.1.
        let seconds = seconds(sample);
        let bytes = sample.body_bytes;
        if settings.csv {
            let mark = settings.mark.as_ref().map(|mark| format!("{mark},")).unwrap_or_default();
            let id =
                if settings.display_id { format!("{:4},", sample.user) } else { String::new() };
            let time = date(now, "%Y-%m-%d %H:%M:%S");
            let _ = write!(
                out,
                "{mark}{id}HTTP/1.1,{status},{seconds:6.2},{bytes:7},{url},{},{time}",
                label.position
            );
        } else {
            let blanks = if settings.display_id { "" } else { "   " };
            let width = if settings.display_id { 6 } else { 5 };
            if settings.display_id {
                let _ = write!(out, "{:4}) ", sample.user);
            }
            let _ = write!(
                out,
                "HTTP/1.1 {status}{blanks} {seconds:width$.2} secs: {bytes:7} bytes ==> {:4} {url}",
                label.method
            );
        }
        out.push_str(if settings.color { "\x1b[0m\n" } else { "\n" });
        Some(out)
    }
}

fn color_code(status: u16) -> u8 {
    match status {
        200..300 => 34,
        300..400 => 36,
        400..500 => 35,
        _ => 31,
    }
}

/// Formats a local time.
pub fn date(unix_seconds: f64, form: &str) -> String {
    local_time::format((unix_seconds * 1000.0) as i64, form)
}

/// siege's error message for a failure.
pub fn error_message(failure: Failure) -> String {
    let error = "[\x1b[1;33merror\x1b[0m]";
    let why = match failure {
        Failure::Resolve => format!(
            "Address resolution failed at sock.c:158 with the following error:\n{error} Name or service not known"
        ),
        Failure::Refused => "socket: unable to connect sock.c:282: Connection refused".to_owned(),
        Failure::ConnectTimeout => {
            "socket: unable to connect sock.c:282: Connection timed out".to_owned()
        }
        other => format!("socket: {}", other.row().name),
    };
    format!("{error} {why}\n")
}
