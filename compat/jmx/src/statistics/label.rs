//! Aggregates the samples of one label.

use super::errors::{Errors, KINDS_OF_LABEL, LabelErrors};
use brunt_model::SampleRecord;
use brunt_stats::Histogram;

/// Apdex thresholds, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexThresholds {
    /// Maximum response time that satisfies a user (T).
    pub satisfied_millis: u64,
    /// Maximum response time that a user tolerates (F).
    pub tolerated_millis: u64,
}

/// A row of the table *APDEX*.
#[derive(Debug, Clone, PartialEq)]
pub struct ApdexRow {
    /// Label of the samples.
    pub label: String,
    /// (satisfied + tolerating / 2) / samples, from 0 to 1. Failed samples count as
    /// neither; 0 without samples.
    pub apdex: f64,
    /// Apdex thresholds of the label.
    pub thresholds: ApdexThresholds,
}

/// Number of samples by response time and success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseOverview {
    /// Passed samples up to the first threshold.
    pub satisfied: u64,
    /// Passed samples up to the second threshold.
    pub tolerating: u64,
    /// Passed samples above the second threshold.
    pub slow: u64,
    /// Number of failed samples.
    pub failed: u64,
    /// Apdex thresholds; None if labels have different ones.
    pub thresholds: Option<ApdexThresholds>,
}

/// A row of the table *Statistics*. Times are milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsRow {
    /// Label of the samples.
    pub label: String,
    /// Number of samples with this label.
    pub samples: u64,
    /// Number of failed samples.
    pub failed: u64,
    /// Share of failed samples, in percent.
    pub failed_percent: f64,
    /// Mean of the response times.
    pub mean: f64,
    /// Minimum of the response times.
    pub min: f64,
    /// Maximum of the response times.
    pub max: f64,
    /// Median of the response times.
    pub median: f64,
    /// The three percentiles of the settings.
    pub percentiles: [f64; 3],
    /// Samples/s, from the first start to the last end.
    pub throughput: f64,
    /// KB/s received (1 KB = 1024 bytes).
    pub received_kb: f64,
    /// KB/s sent (1 KB = 1024 bytes).
    pub sent_kb: f64,
}

/// Apdex category of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apdex {
    Satisfied,
    Tolerating,
    Frustrated,
}

/// Totals of one label.
#[derive(Debug, Clone)]
pub(super) struct LabelTotals {
    label: String,
    thresholds: ApdexThresholds,
    /// Response times in milliseconds.
    times: Histogram,
    failed: u64,
    satisfied: u64,
    tolerating: u64,
    received: u64,
    sent: u64,
    first_start: u64,
    last_end: u64,
    /// Errors without transactions; None for the total, which counts them separately.
    errors: Option<Errors>,
    /// Number of samples without transactions.
    plain: u64,
}

impl LabelTotals {
    pub(super) fn new(label: String, thresholds: ApdexThresholds, with_errors: bool) -> Self {
        Self {
            label,
            thresholds,
            times: Histogram::new(),
            failed: 0,
            satisfied: 0,
            tolerating: 0,
            received: 0,
            sent: 0,
            first_start: u64::MAX,
            last_end: 0,
            errors: with_errors.then(|| Errors::with_limit(KINDS_OF_LABEL)),
            plain: 0,
        }
    }

    /// Counts a sample with the thresholds of this label.
    pub(super) fn add(&mut self, record: &SampleRecord) -> Apdex {
        let apdex = match record.elapsed_millis {
            _ if !record.success => Apdex::Frustrated,
            millis if millis <= self.thresholds.satisfied_millis => Apdex::Satisfied,
            millis if millis <= self.thresholds.tolerated_millis => Apdex::Tolerating,
            _ => Apdex::Frustrated,
        };
        self.add_with(record, apdex);
        apdex
    }

    pub(super) fn add_with(&mut self, record: &SampleRecord, apdex: Apdex) {
        self.times.record(record.elapsed_millis);
        self.failed += u64::from(!record.success);
        self.satisfied += u64::from(apdex == Apdex::Satisfied);
        self.tolerating += u64::from(apdex == Apdex::Tolerating);
        self.received = self.received.saturating_add(record.bytes);
        self.sent = self.sent.saturating_add(record.sent_bytes);
        self.first_start = self.first_start.min(record.start_unix_millis);
        self.last_end =
            self.last_end.max(record.start_unix_millis.saturating_add(record.elapsed_millis));
    }

    pub(super) fn count_errors(&mut self, record: &SampleRecord) {
        self.plain += 1;
        if let Some(errors) = &mut self.errors {
            errors.add(record);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.times.count()
    }

    pub(super) fn failed(&self) -> u64 {
        self.failed
    }

    pub(super) fn row(&self, percentiles: [f64; 3]) -> StatisticsRow {
        let samples = self.count();
        let seconds = self.last_end.saturating_sub(self.first_start) as f64 / 1000.0;
        StatisticsRow {
            label: self.label.clone(),
            samples,
            failed: self.failed,
            failed_percent: if samples == 0 {
                0.0
            } else {
                self.failed as f64 * 100.0 / samples as f64
            },
            mean: self.times.mean(),
            min: self.times.min() as f64,
            max: self.times.max() as f64,
            median: percentile(&self.times, 50.0),
            percentiles: percentiles.map(|percent| percentile(&self.times, percent)),
            throughput: per_second(samples as f64, seconds),
            received_kb: per_second(self.received as f64 / 1024.0, seconds),
            sent_kb: per_second(self.sent as f64 / 1024.0, seconds),
        }
    }

    pub(super) fn apdex(&self) -> ApdexRow {
        let sum = self.satisfied as f64 + self.tolerating as f64 / 2.0;
        let apdex = if self.count() == 0 { 0.0 } else { sum / self.count() as f64 };
        ApdexRow { label: self.label.clone(), apdex, thresholds: self.thresholds }
    }

    pub(super) fn overview(&self) -> ResponseOverview {
        let Self { satisfied, tolerating, failed, .. } = *self;
        ResponseOverview {
            satisfied,
            tolerating,
            slow: self.count() - satisfied - tolerating - failed,
            failed,
            thresholds: Some(self.thresholds),
        }
    }

    /// Errors of the label; None without errors.
    pub(super) fn errors(&self) -> Option<LabelErrors> {
        let errors = self.errors.as_ref().filter(|errors| errors.count() > 0)?;
        let label = self.label.clone();
        Some(LabelErrors { label, samples: self.plain, errors: errors.count(), top: errors.top(5) })
    }
}

fn per_second(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// A percentile by the dashboard's definition: linear between the neighbors of rank
/// p (n + 1) / 100. This is the estimator "legacy" of Apache Commons Math, method 6 of
/// Hyndman & Fan 1996. Returns 0 without values.
pub(super) fn percentile(times: &Histogram, percent: f64) -> f64 {
    let count = times.count();
    let rank = percent / 100.0 * (count as f64 + 1.0);
    if count == 0 || rank < 1.0 {
        return times.min() as f64;
    }
    if rank >= count as f64 {
        return times.max() as f64;
    }
    let low = times.value_at_rank(rank as u64) as f64;
    let high = times.value_at_rank(rank as u64 + 1) as f64;
    low + rank.fract() * (high - low)
}
