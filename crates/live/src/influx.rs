//! Writes figures as lines of InfluxDB's line protocol, with the
//! names of JMeter's `InfluxdbBackendListenerClient`.
//!
//! Numbers have no type suffix, as in JMeter, so that they fit fields that JMeter created.
//! Times are in milliseconds.

use crate::fold::{LiveFigures, LiveInterval, UserCounts};
use crate::labels::LabelSelection;
use brunt_java::number;
use brunt_model::live_output::InfluxSink;
use brunt_stats::Histogram;
use std::fmt::Write;

/// Writer of InfluxDB's lines.
pub struct InfluxLines {
    measurement: String,
    /// Tags of all lines, before those of the line: `,application=NAME`.
    application: String,
    /// Further tags of all lines.
    tags: String,
    title: String,
    event_tags: String,
    selection: LabelSelection,
    percentiles: Vec<f32>,
    /// Unit of times in nanoseconds, by the URL.
    unit: u64,
    has_begun: bool,
}

impl InfluxLines {
    /// Creates a writer for this sink.
    pub fn new(sink: &InfluxSink, selection: LabelSelection, percentiles: Vec<f32>) -> Self {
        let tags = sink.tags.iter().map(|(name, value)| tag(name, value)).collect();
        Self {
            measurement: escaped(&sink.measurement),
            application: tag("application", &sink.application),
            tags,
            title: sink.title.clone(),
            event_tags: tag("tags", &sink.event_tags),
            selection,
            percentiles,
            unit: unit(&sink.url),
            has_begun: false,
        }
    }

    /// The event of the start of a test, once.
    pub fn begin(&mut self, unix_seconds: f64) -> Vec<String> {
        if std::mem::replace(&mut self.has_begun, true) {
            Vec::new()
        } else {
            self.event("started", unix_seconds)
        }
    }

    /// The event of the end of a test, if it was started.
    pub fn end(&self, unix_seconds: f64) -> Vec<String> {
        if self.has_begun { self.event("ended", unix_seconds) } else { Vec::new() }
    }

    fn event(&self, word: &str, unix_seconds: f64) -> Vec<String> {
        let Self { application, tags, event_tags, .. } = self;
        let text = format!("{} {word}", self.title.trim())
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', " ");
        let time = self.time(unix_seconds);
        // The title of JMeter, by which queries of dashboards select annotations.
        vec![format!(
            "events{application},title=ApacheJMeter{tags}{event_tags} text=\"{text}\" {time}"
        )]
    }

    /// Lines for the figures of an interval.
    pub fn of(&self, interval: &LiveInterval) -> Vec<String> {
        let time = self.time(interval.unix_seconds);
        let mut lines = Vec::new();
        if interval.all.count() > 0 {
            lines.push(self.line("all", ",statut=all", &self.all(&interval.all), time));
        }
        for (name, figures) in interval.named.iter().filter(|(name, _)| self.selection.has(name)) {
            self.add_label_lines(name, figures, time, &mut lines);
        }
        // Without requests as well: the number of users stays visible in a pause.
        lines.push(self.line("internal", "", &users(&interval.users), time));
        lines
    }

    fn line(&self, transaction: &str, more: &str, fields: &str, time: u64) -> String {
        let Self { measurement, application, tags, .. } = self;
        format!(
            "{measurement}{application}{}{more}{tags} {fields} {time}",
            tag("transaction", transaction)
        )
    }

    /// Fields of all requests. Mean, minimum and maximum are those of good requests, as in JMeter.
    fn all(&self, figures: &LiveFigures) -> String {
        let mut fields = format!("count={},countError={}", figures.count(), figures.ko);
        times(&mut fields, &figures.ok_times);
        self.rest(fields, figures, &figures.times())
    }

    /// Lines of a label or transaction: all, good and bad requests, and errors.
    fn add_label_lines(
        &self,
        name: &str,
        figures: &LiveFigures,
        time: u64,
        lines: &mut Vec<String>,
    ) {
        let all = figures.times();
        let parts = [
            ("all", figures.count(), &all),
            ("ok", figures.ok, &figures.ok_times),
            ("ko", figures.ko, &figures.ko_times),
        ];
        for (status, count, histogram) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
            let mut fields = format!("count={count}");
            times(&mut fields, histogram);
            let fields = self.rest(fields, figures, histogram);
            lines.push(self.line(name, &format!(",statut={status}"), &fields, time));
        }
        for (code, text, count) in &figures.errors {
            let tags = tag("responseCode", code) + &tag("responseMessage", text);
            lines.push(self.line(name, &tags, &format!("count={count}"), time));
        }
    }

    fn rest(&self, mut fields: String, figures: &LiveFigures, histogram: &Histogram) -> String {
        if let Some(traffic) = figures.traffic {
            let _ =
                write!(fields, ",hit={},sb={},rb={}", traffic.hits, traffic.sent, traffic.received);
        }
        for percentile in self.percentiles.iter().filter(|_| !histogram.is_empty()) {
            let value = histogram.quantile(f64::from(*percentile) / 100.0) as f64;
            let _ = write!(fields, ",pct{}={}", number::float(*percentile), millis(value));
        }
        fields
    }

    fn time(&self, unix_seconds: f64) -> u64 {
        (unix_seconds * 1e3).round() as u64 * 1_000_000 / self.unit
    }
}

fn times(fields: &mut String, histogram: &Histogram) {
    if !histogram.is_empty() {
        let [mean, min, max] =
            [histogram.mean(), histogram.min() as f64, histogram.max() as f64].map(millis);
        let _ = write!(fields, ",avg={mean},min={min},max={max}");
    }
}

fn users(users: &UserCounts) -> String {
    let UserCounts { min, max, mean, started, ended } = users;
    format!("minAT={min},maxAT={max},meanAT={mean},startedT={started},endedT={ended}")
}

/// Converts nanoseconds to milliseconds, to a microsecond.
pub fn millis(nanos: f64) -> String {
    number::double((nanos / 1e3).round() / 1e3)
}

/// A tag with its comma; empty if its value is empty, which the protocol does not allow.
fn tag(name: &str, value: &str) -> String {
    let name = escaped(name);
    let value = escaped(value);
    if name.is_empty() || value.is_empty() { String::new() } else { format!(",{name}={value}") }
}

/// Escapes a name or value outside quotes. A line break becomes `\n`, as in JMeter. A backslash at
/// the end would escape the separator after it.
fn escaped(text: &str) -> String {
    let text = text.trim();
    let text = if text.ends_with('\\') {
        format!("{}/", text.trim_end_matches('\\'))
    } else {
        text.to_owned()
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | ',' | '=' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str("\\ "),
            c => out.push(c),
        }
    }
    out
}

/// Unit of times in nanoseconds, by the parameter `precision` of a URL.
fn unit(url: &str) -> u64 {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    match query.split('&').find_map(|field| field.strip_prefix("precision=")) {
        // InfluxDB 1 accepts `u`, InfluxDB 2 `us`.
        Some("u" | "us") => 1_000,
        Some("ms") => 1_000_000,
        Some("s") => 1_000_000_000,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
