//! The tables of JMeter's dashboard and its `statistics.json`, from records.
//!
//! Memory is bounded by the number of labels: response times are kept as histograms (exact below 2048 ms, else to 0.1 %).
//! JMeter's dashboard takes percentiles over the last 20,000 samples of a label only; these are over all.

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

/// The label of the row over all samples.
pub const TOTAL: &str = "Total";

/// How the tables are made.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsSettings {
    /// The percentiles of the three columns, in percent: `aggregate_rpt_pct1` to `3`.
    pub percentiles: [f64; 3],
    /// The thresholds of Apdex: `jmeter.reportgenerator.apdex_satisfied_threshold` and `…_tolerated_threshold`.
    pub apdex: ApdexThresholds,
    /// Other thresholds for single labels.
    pub apdex_of_labels: Vec<(String, ApdexThresholds)>,
    /// Labels with a row of their own; further ones share the row `other labels`.
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

/// Sums up records.
#[derive(Debug, Clone)]
pub struct Statistics {
    settings: StatisticsSettings,
    total: LabelTotals,
    /// In the order in which labels first came.
    labels: Vec<LabelTotals>,
    index: HashMap<String, usize>,
    errors: Errors,
    timeline: Timeline,
}

impl Statistics {
    /// Begins without records.
    pub fn new(settings: StatisticsSettings) -> Self {
        let total = LabelTotals::new(TOTAL.to_owned(), settings.apdex, false);
        Self {
            settings,
            total,
            labels: Vec::new(),
            index: HashMap::new(),
            errors: Errors::of_kinds(errors::KINDS),
            timeline: Timeline::default(),
        }
    }

    /// Counts a record. Samples within it are not counted. The sum of a transaction counts for its label, and not for the total;
    /// that of a transaction without samples is left out.
    pub fn record(&mut self, record: &SampleRecord) {
        if record.is_transaction && record.message.starts_with("Number of samples in transaction : 0,") {
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

    /// The records by time.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The table *Statistics*: the total, then each label in the order in which it first came.
    pub fn rows(&self) -> Vec<StatisticsRow> {
        self.all().map(|totals| totals.row(self.settings.percentiles)).collect()
    }

    /// The table *APDEX*: the total, then each label.
    pub fn apdex(&self) -> Vec<ApdexRow> {
        self.all().map(LabelTotals::apdex).collect()
    }

    /// The samples by response time and success. Transactions are not counted.
    pub fn overview(&self) -> ResponseOverview {
        let overview = self.total.overview();
        let thresholds = overview.thresholds.filter(|_| self.settings.apdex_of_labels.is_empty());
        ResponseOverview { thresholds, ..overview }
    }

    /// The table *Errors*, the most frequent first. Transactions are not counted.
    pub fn errors(&self) -> Vec<ErrorRow> {
        self.errors.rows(self.total.count())
    }

    /// The table *Top 5 Errors by sampler*: the total, then each label with errors. Transactions are not counted.
    pub fn errors_by_label(&self) -> Vec<LabelErrors> {
        let total = LabelErrors {
            label: TOTAL.to_owned(),
            samples: self.total.count(),
            errors: self.total.failed(),
            top: self.errors.top(5),
        };
        std::iter::once(total).chain(self.labels.iter().filter_map(LabelTotals::errors)).collect()
    }

    /// `statistics.json`, with JMeter's keys in its order, and its layout.
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
        let own = self.labels.len() < self.settings.labels;
        let label = if own { record.label.as_str() } else { "other labels" };
        if let Some(&index) = self.index.get(label) {
            return index;
        }
        let thresholds = self.settings.apdex_of_labels.iter().find(|(of, _)| of == label);
        let thresholds = thresholds.map_or(self.settings.apdex, |(_, thresholds)| *thresholds);
        self.labels.push(LabelTotals::new(label.to_owned(), thresholds, true));
        self.index.insert(label.to_owned(), self.labels.len() - 1);
        self.labels.len() - 1
    }
}

#[cfg(test)]
mod tests;
