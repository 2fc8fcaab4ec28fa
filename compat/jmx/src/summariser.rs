//! Formats the lines that JMeter writes to the console during a test: `summary +` for the last
//! interval, `summary =` for all.
//!
//! Scripts parse these lines, so they match JMeter's byte for byte, always with `.` as the decimal
//! separator. JMeter writes them when a sample arrives. Here the caller's timer decides
//! ([`next_report`](Summariser::next_report)), so an interval without samples also has a line.

use brunt_model::SampleRecord;
use std::fmt::Write as _;
use std::time::Duration;

/// Format and interval of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummariserSettings {
    /// The first word of each line: `summariser.name`.
    pub name: String,
    /// Time between lines, aligned to the clock: `summariser.interval`. At least 1 s.
    pub interval: Duration,
    /// True if transactions are not counted:
    /// `summariser.ignore_transaction_controller_sample_result`, which is true by default.
    pub ignore_transactions: bool,
}

impl Default for SummariserSettings {
    fn default() -> Self {
        Self {
            name: "summary".to_owned(),
            interval: Duration::from_secs(30),
            ignore_transactions: true,
        }
    }
}

/// Numbers of threads (virtual users) of all groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadCounts {
    /// Number of running threads.
    pub active: u64,
    /// Total number of started threads.
    pub started: u64,
    /// Total number of ended threads.
    pub finished: u64,
}

/// Sums for one line. Times are milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sums {
    samples: u64,
    errors: u64,
    /// Sum of the response times of all samples.
    elapsed: u128,
    min: u64,
    max: u64,
    start: u64,
    end: u64,
}

impl Sums {
    fn starting_at(start: u64) -> Self {
        Self { samples: 0, errors: 0, elapsed: 0, min: u64::MAX, max: 0, start, end: start }
    }

    fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.elapsed += other.elapsed;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.end = self.end.max(other.end);
    }
}

/// Aggregates samples and formats the lines.
#[derive(Debug, Clone)]
pub struct Summariser {
    settings: SummariserSettings,
    delta: Sums,
    total: Sums,
}

impl Summariser {
    /// Starts at a time in milliseconds since 1970-01-01 UTC.
    pub fn new(settings: SummariserSettings, now_unix_millis: u64) -> Self {
        Self {
            settings,
            delta: Sums::starting_at(now_unix_millis),
            total: Sums::starting_at(now_unix_millis),
        }
    }

    /// Counts a sample. It ends at the sum of start, elapsed and idle time, as in a result file.
    pub fn record(&mut self, record: &SampleRecord) {
        if record.is_transaction && self.settings.ignore_transactions {
            return;
        }
        let end = record
            .start_unix_millis
            .saturating_add(record.elapsed_millis)
            .saturating_add(record.idle_millis);
        self.delta.add(&Sums {
            samples: record.sample_count.into(),
            errors: record.error_count.into(),
            elapsed: record.elapsed_millis.into(),
            min: record.elapsed_millis,
            max: record.elapsed_millis,
            start: 0,
            end,
        });
    }

    /// Time of the next report: the next multiple of the interval after now. Both are
    /// milliseconds since 1970-01-01 UTC.
    pub fn next_report(&self, now_unix_millis: u64) -> u64 {
        let interval = (self.settings.interval.as_millis() as u64).max(1000);
        (now_unix_millis / interval).saturating_add(1).saturating_mul(interval)
    }

    /// Lines of an interval that ends now: `+`, and `=` if it differs.
    pub fn report(&mut self, now_unix_millis: u64, threads: ThreadCounts) -> Vec<String> {
        if self.delta.samples == 0 {
            self.delta.end = self.delta.end.max(now_unix_millis);
        }
        let delta = self.close(now_unix_millis);
        let mut lines = vec![self.line(&delta, '+', Some(threads))];
        if self.total.samples != delta.samples {
            lines.push(self.line(&self.total, '=', None));
        }
        lines
    }

    /// Lines at the end of the test: `=` always, and `+` only if it has samples and an
    /// earlier `+` had some.
    pub fn finish(&mut self, now_unix_millis: u64, threads: ThreadCounts) -> Vec<String> {
        let earlier = self.total.samples > 0;
        self.delta.end = self.delta.end.max(now_unix_millis);
        let delta = self.close(now_unix_millis);
        let mut lines = Vec::new();
        if earlier && delta.samples > 0 {
            lines.push(self.line(&delta, '+', Some(threads)));
        }
        lines.push(self.line(&self.total, '=', None));
        lines
    }

    fn close(&mut self, now: u64) -> Sums {
        let delta = std::mem::replace(&mut self.delta, Sums::starting_at(now));
        self.total.add(&delta);
        delta
    }

    fn line(&self, sums: &Sums, sign: char, threads: Option<ThreadCounts>) -> String {
        let millis = sums.end.saturating_sub(sums.start);
        let samples = sums.samples;
        let errors = sums.errors;
        let max = sums.max;
        let rate = match millis {
            // JMeter writes this where the rate would be infinite.
            0 => "******".to_owned(),
            millis => format!("{:6.1}", samples as f64 / millis as f64 * 1000.0),
        };
        let average = if samples == 0 { 0 } else { sums.elapsed / u128::from(samples) };
        let min = if samples == 0 { 0 } else { sums.min };
        let percent = if samples == 0 { 0.0 } else { errors as f64 / samples as f64 * 100.0 };
        let name = &self.settings.name;
        let elapsed = duration(millis);
        let mut line = format!(
            "{name} {sign} {samples:6} in {elapsed} = {rate}/s Avg: {average:5} Min: {min:5} Max: {max:5} Err: {errors:5} ({percent:.2}%)"
        );
        if let Some(ThreadCounts { active, started, finished }) = threads {
            let _ = write!(line, " Active: {active} Started: {started} Finished: {finished}");
        }
        line
    }
}

/// Formats milliseconds as `HH:MM:SS`, rounded to a second.
fn duration(millis: u64) -> String {
    let seconds = millis.saturating_add(500) / 1000;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests;
