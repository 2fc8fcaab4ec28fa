//! Writes figures as lines of Graphite's plaintext protocol, with the
//! paths of JMeter's `GraphiteBackendListenerClient`.

use crate::fold::{LiveFigures, LiveInterval};
use crate::influx::millis;
use crate::labels::LabelSelection;
use brunt_model::live_output::GraphiteSink;
use brunt_stats::Histogram;

/// Writer of Graphite's lines.
pub struct GraphiteLines {
    prefix: String,
    selection: LabelSelection,
    percentiles: Vec<f32>,
    /// Second of the last figures. It must increase, since Graphite stores one value for
    /// each path and second.
    last: u64,
}

impl GraphiteLines {
    /// Creates a writer for this sink.
    pub fn new(sink: &GraphiteSink, selection: LabelSelection, percentiles: Vec<f32>) -> Self {
        Self { prefix: sink.prefix.clone(), selection, percentiles, last: 0 }
    }

    /// Lines for the figures of an interval.
    pub fn of(&mut self, interval: &LiveInterval) -> Vec<String> {
        self.last = (interval.unix_seconds as u64).max(self.last + 1);
        let mut lines = Vec::new();
        if interval.all.count() > 0 {
            self.figures("all", &interval.all, &mut lines);
        }
        for (name, figures) in interval.named.iter().filter(|(name, _)| self.selection.has(name)) {
            self.figures(&sanitized(name), figures, &mut lines);
        }
        let users = &interval.users;
        for (name, value) in [
            ("minAT", users.min),
            ("maxAT", users.max),
            ("meanAT", users.mean),
            ("startedT", users.started),
            ("endedT", users.ended),
        ] {
            lines.push(self.line("test", name, &value));
        }
        lines
    }

    fn line(&self, context: &str, name: &str, value: &dyn std::fmt::Display) -> String {
        format!("{}{context}.{name} {value} {}", self.prefix, self.last)
    }

    fn figures(&self, context: &str, figures: &LiveFigures, lines: &mut Vec<String>) {
        lines.push(self.line(context, "ok.count", &figures.ok));
        lines.push(self.line(context, "ko.count", &figures.ko));
        lines.push(self.line(context, "a.count", &figures.count()));
        if let Some(traffic) = figures.traffic {
            lines.push(self.line(context, "h.count", &traffic.hits));
            lines.push(self.line(context, "sb.bytes", &traffic.sent));
            lines.push(self.line(context, "rb.bytes", &traffic.received));
        }
        for (part, times) in
            [("ok", &figures.ok_times), ("ko", &figures.ko_times), ("a", &figures.times())]
        {
            self.times(context, part, times, lines);
        }
    }

    fn times(&self, context: &str, part: &str, times: &Histogram, lines: &mut Vec<String>) {
        if times.is_empty() {
            return;
        }
        for (name, nanos) in
            [("min", times.min() as f64), ("max", times.max() as f64), ("avg", times.mean())]
        {
            lines.push(self.line(context, &format!("{part}.{name}"), &millis(nanos)));
        }
        for percentile in &self.percentiles {
            // JMeter's format is `0.##`, and a point would begin the next part of the path.
            let name = format!(
                "{part}.pct{}",
                ((f64::from(*percentile) * 100.0).round() / 100.0).to_string().replace('.', "_")
            );
            let value = times.quantile(f64::from(*percentile) / 100.0) as f64;
            lines.push(self.line(context, &name, &millis(value)));
        }
    }
}

/// A name as a part of a path. As in JMeter, `-` replaces a space or backslash, and `_` a
/// point. Other white space and control characters would end the path, so they become `-`
/// as well; `/` stays.
fn sanitized(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '.' => '_',
            '\\' => '-',
            c if c.is_whitespace() || c.is_control() => '-',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests;
