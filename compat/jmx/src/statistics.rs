//! Computes the tables of JMeter's dashboard and its `statistics.json` from sample records.
//!
//! Memory is bounded by the number of labels. Histograms hold response times, exactly below 2048
//! ms, else to 0.1 %. Percentiles cover all samples; JMeter's dashboard uses only the last 20,000
//! samples of a label.

mod errors;
mod json;
mod label;
pub mod timeline;

pub use errors::{ErrorRow, LabelErrors};
pub use label::{ApdexRow, ApdexThresholds, ResponseOverview, StatisticsRow};

use brunt_model::SampleRecord;
use errors::Errors;
use label::LabelTotals;
use std::collections::HashMap;
use timeline::Timeline;

/// Label of the row for all samples.
pub const TOTAL: &str = "Total";

/// Percentiles, Apdex thresholds and limits of the tables.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsSettings {
    /// Percentiles of the three columns, in percent: `aggregate_rpt_pct1` to `3`.
    pub percentiles: [f64; 3],
    /// Apdex thresholds: `jmeter.reportgenerator.apdex_satisfied_threshold`
    /// and `…_tolerated_threshold`.
    pub apdex: ApdexThresholds,
    /// Different thresholds for individual labels.
    pub apdex_of_labels: Vec<(String, ApdexThresholds)>,
    /// Maximum number of labels with a separate row; further ones share the row `other labels`.
    pub labels: usize,
}

impl Default for StatisticsSettings {
    fn default() -> Self {
        Self {
            percentiles: [90.0, 95.0, 99.0],
            apdex: ApdexThresholds { satisfied_millis: 500, tolerated_millis: 1500 },
            apdex_of_labels: Vec::new(),
            labels: 10_000,
        }
    }
}

/// Aggregates sample records to the tables of the report.
#[derive(Debug, Clone)]
pub struct Statistics {
    settings: StatisticsSettings,
    total: LabelTotals,
    /// Labels in the order of their first record.
    labels: Vec<LabelTotals>,
    index: HashMap<String, usize>,
    errors: Errors,
    timeline: Timeline,
}

impl Statistics {
    /// Creates statistics without records.
    pub fn new(settings: StatisticsSettings) -> Self {
        let total = LabelTotals::new(TOTAL.to_owned(), settings.apdex, false);
        Self {
            settings,
            total,
            labels: Vec::new(),
            index: HashMap::new(),
            errors: Errors::with_limit(errors::KINDS),
            timeline: Timeline::default(),
        }
    }

    /// Counts a record, without its sub-samples. A transaction counts for its label but not for the
    /// total. A transaction without samples is ignored.
    pub fn record(&mut self, record: &SampleRecord) {
        // No field says that a transaction is empty; JMeter only writes this message.
        if record.is_transaction
            && record.message.starts_with("Number of samples in transaction : 0,")
        {
            return;
        }
        let label = self.label(record);
        let apdex = self.labels[label].add(record);
        if !record.is_transaction {
            self.total.add_with(record, apdex);
            self.labels[label].count_errors(record);
            self.errors.add(record);
        }
        self.timeline.record(record);
    }

    /// Returns the records over time.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The table *Statistics*: the total, then each label in the order of its first record.
    pub fn rows(&self) -> Vec<StatisticsRow> {
        self.all().map(|totals| totals.row(self.settings.percentiles)).collect()
    }

    /// The table *APDEX*: the total, then each label.
    pub fn apdex(&self) -> Vec<ApdexRow> {
        self.all().map(LabelTotals::apdex).collect()
    }

    /// Samples by response time and success, without transactions.
    pub fn overview(&self) -> ResponseOverview {
        let overview = self.total.overview();
        let thresholds = overview.thresholds.filter(|_| self.settings.apdex_of_labels.is_empty());
        ResponseOverview { thresholds, ..overview }
    }

    /// The table *Errors*, most frequent first, without transactions.
    pub fn errors(&self) -> Vec<ErrorRow> {
        self.errors.rows(self.total.count())
    }

    /// The table *Top 5 Errors by sampler*: the total, then each label
    /// with errors, without transactions.
    pub fn errors_by_label(&self) -> Vec<LabelErrors> {
        let total = LabelErrors {
            label: TOTAL.to_owned(),
            samples: self.total.count(),
            errors: self.total.failed(),
            top: self.errors.top(5),
        };
        std::iter::once(total).chain(self.labels.iter().filter_map(LabelTotals::errors)).collect()
    }

    /// `statistics.json`, with JMeter's keys, order and layout.
    pub fn to_json(&self) -> String {
        json::write(&self.rows())
    }

    fn all(&self) -> impl Iterator<Item = &LabelTotals> {
        std::iter::once(&self.total).chain(&self.labels)
    }

    fn label(&mut self, record: &SampleRecord) -> usize {
        if let Some(&index) = self.index.get(&record.label) {
            return index;
        }
        let has_row = self.labels.len() < self.settings.labels;
        let label = if has_row { record.label.as_str() } else { "other labels" };
        if let Some(&index) = self.index.get(label) {
            return index;
        }
        let thresholds = self.settings.apdex_of_labels.iter().find(|(other, _)| other == label);
        let thresholds = thresholds.map_or(self.settings.apdex, |(_, thresholds)| *thresholds);
        self.labels.push(LabelTotals::new(label.to_owned(), thresholds, true));
        self.index.insert(label.to_owned(), self.labels.len() - 1);
        self.labels.len() - 1
    }
}

#[cfg(test)]
mod tests;
