//! siege's line for each transaction, plain or as CSV, in its colours.

use super::classic::seconds;
use super::settings::Settings;
use brunt_model::{Failure, Sample};
use chrono::{Local, TimeZone};
use std::collections::HashMap;
use std::fmt::Write;

/// Writes lines.
pub struct Lines {
    settings: Settings,
    /// By number of the label: method, whole URL, and where in the list it is.
    known: HashMap<u32, Known>,
    /// By label: where in the list it is.
    places: HashMap<String, usize>,
}

struct Known {
    method: String,
    url: String,
    path: String,
    place: usize,
}

impl Lines {
    /// Lines for requests of these labels, in the order of the list.
    pub fn new(settings: &Settings, labels: impl Iterator<Item = String>) -> Self {
        let mut places = HashMap::new();
        labels.enumerate().for_each(|(place, label)| _ = places.entry(label).or_insert(place));
        Self { settings: settings.clone(), known: HashMap::new(), places }
    }

    /// A label has this number.
    pub fn learn(&mut self, number: u32, label: &str) {
        let (method, url) = label.split_once(' ').unwrap_or(("GET", label));
        let behind = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = behind.find('/').map_or("/", |at| &behind[at..]).to_owned();
        let place = self.places.get(label).copied().unwrap_or(0);
        self.known.insert(number, Known { method: method.into(), url: url.into(), path, place });
    }

    /// The line of a transaction. `epoch`: Unix seconds of the clock's zero.
    pub fn line(&self, sample: &Sample, epoch: f64) -> Option<String> {
        let (status, known) = (sample.outcome.status?, self.known.get(&sample.label)?);
        let settings = &self.settings;
        let now = epoch + sample.last_byte.seconds();
        let url = if settings.fullurl || known.method != "GET" { &known.url } else { &known.path };
        let mut out = String::new();
        if settings.color {
            let _ = write!(out, "\x1b[0;{}m", colour(status));
        }
        if settings.timestamp && (settings.csv || !settings.display_id) {
            let _ = write!(out, "[{}] ", date(now, "%a, %Y-%m-%d %H:%M:%S"));
        }
        let (seconds, bytes) = (seconds(sample), sample.body_bytes);
        if settings.csv {
            let mark = settings.mark.as_ref().map(|mark| format!("{mark},")).unwrap_or_default();
            let id = if settings.display_id { format!("{:4},", sample.user) } else { String::new() };
            let when = date(now, "%Y-%m-%d %H:%M:%S");
            let _ = write!(out, "{mark}{id}HTTP/1.1,{status},{seconds:6.2},{bytes:7},{url},{},{when}", known.place);
        } else {
            let blanks = if settings.display_id { "" } else { "   " };
            let width = if settings.display_id { 6 } else { 5 };
            if settings.display_id {
                let _ = write!(out, "{:4}) ", sample.user);
            }
            let _ = write!(
                out,
                "HTTP/1.1 {status}{blanks} {seconds:width$.2} secs: {bytes:7} bytes ==> {:4} {url}",
                known.method
            );
        }
        out.push_str(if settings.color { "\x1b[0m\n" } else { "\n" });
        Some(out)
    }
}

fn colour(status: u16) -> u8 {
    match status {
        200..300 => 34,
        300..400 => 36,
        400..500 => 35,
        _ => 31,
    }
}

/// Local time.
pub fn date(unix_seconds: f64, form: &str) -> String {
    Local.timestamp_opt(unix_seconds as i64, 0).single().map(|time| time.format(form).to_string()).unwrap_or_default()
}

/// What siege says on stderr of a failure.
pub fn complaint(failure: Failure) -> String {
    let error = "[\x1b[1;33merror\x1b[0m]";
    let why = match failure {
        Failure::Resolve => format!(
            "Address resolution failed at sock.c:158 with the following error:\n{error} Name or service not known"
        ),
        Failure::Refused => "socket: unable to connect sock.c:282: Connection refused".to_owned(),
        Failure::ConnectTimeout => "socket: unable to connect sock.c:282: Connection timed out".to_owned(),
        other => format!("socket: {}", other.row().name),
    };
    format!("{error} {why}\n")
}
