//! Counts errors by kind.

use brunt_model::SampleRecord;
use std::collections::HashMap;

/// Maximum number of error kinds of a whole run; further ones share one row.
pub(super) const KINDS: usize = 1000;

/// Maximum number of error kinds of a label.
pub(super) const KINDS_OF_LABEL: usize = 100;

const OTHER: &str = "other errors";

/// A row of the table *Errors*.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRow {
    /// `code/message`. For a sample with a success code, the message of the failed assertion.
    pub error: String,
    /// Number of samples with this error.
    pub count: u64,
    /// Share of the failed samples, in percent.
    pub percent_of_errors: f64,
    /// Share of all samples, in percent.
    pub percent_of_samples: f64,
}

/// A row of the table *Top 5 Errors by sampler*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelErrors {
    /// Label of the samples.
    pub label: String,
    /// Number of samples with this label.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// The five most frequent errors, with their counts.
    pub top: Vec<(String, u64)>,
}

#[derive(Debug, Clone)]
pub(super) struct Errors {
    most: usize,
    kinds: HashMap<String, u64>,
    count: u64,
}

impl Errors {
    /// Creates counters for a maximum number of error kinds.
    pub(super) fn with_limit(most: usize) -> Self {
        Self { most, kinds: HashMap::new(), count: 0 }
    }

    pub(super) fn add(&mut self, record: &SampleRecord) {
        if record.success {
            return;
        }
        self.count += 1;
        let mut kind = kind(record);
        if self.kinds.len() >= self.most && !self.kinds.contains_key(&kind) {
            OTHER.clone_into(&mut kind);
        }
        *self.kinds.entry(kind).or_default() += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The most frequent errors, ordered by count and then by name.
    pub(super) fn top(&self, most: usize) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> =
            self.kinds.iter().map(|(kind, count)| (kind.clone(), *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.truncate(most);
        all
    }

    pub(super) fn rows(&self, samples: u64) -> Vec<ErrorRow> {
        let rows = self.top(usize::MAX).into_iter().map(|(error, count)| ErrorRow {
            error,
            count,
            percent_of_errors: percent(count, self.count),
            percent_of_samples: percent(count, samples),
        });
        rows.collect()
    }
}

fn percent(count: u64, total: u64) -> f64 {
    count as f64 * 100.0 / total.max(1) as f64
}

fn kind(record: &SampleRecord) -> String {
    let message = crate::jtl::failure_message(record).unwrap_or_default();
    let success_code = record.code.len() == 3
        && record.code.starts_with(['2', '3'])
        && record.code.parse::<u16>().is_ok();
    match (&*record.code, &*record.message) {
        (code, _) if success_code || (code.is_empty() && !message.is_empty()) => match message {
            "" => "Assertion failed".to_owned(),
            message => message.to_owned(),
        },
        (code, "") => code.to_owned(),
        (code, message) => format!("{code}/{message}"),
    }
}
