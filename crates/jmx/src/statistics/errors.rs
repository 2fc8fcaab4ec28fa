//! Which errors occurred, and how often.

use brunt_model::SampleRecord;
use std::collections::HashMap;

/// Kinds of errors of a whole run that are told apart; further ones share one row.
pub(super) const KINDS: usize = 1000;

/// The same for one label.
pub(super) const KINDS_OF_LABEL: usize = 100;

const OTHER: &str = "other errors";

/// A row of the table *Errors*.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRow {
    /// `code/message`; of a sample with a code of success, the message of the assertion that failed.
    pub error: String,
    /// Number of samples with it.
    pub count: u64,
    /// Their share of the failed samples, in percent.
    pub percent_of_errors: f64,
    /// Their share of all samples, in percent.
    pub percent_of_samples: f64,
}

/// A row of the table *Top 5 Errors by sampler*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelErrors {
    /// Label.
    pub label: String,
    /// Number of samples.
    pub samples: u64,
    /// Number of those that failed.
    pub errors: u64,
    /// The five most frequent errors, with their numbers.
    pub top: Vec<(String, u64)>,
}

#[derive(Debug, Clone)]
pub(super) struct Errors {
    most: usize,
    kinds: HashMap<String, u64>,
    count: u64,
}

impl Errors {
    /// Tells so many kinds apart.
    pub(super) fn of_kinds(most: usize) -> Self {
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

    /// The most frequent, by number and then by name.
    pub(super) fn top(&self, most: usize) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = self.kinds.iter().map(|(kind, count)| (kind.clone(), *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all.truncate(most);
        all
    }

    pub(super) fn rows(&self, samples: u64) -> Vec<ErrorRow> {
        let percent = |count: u64, of: u64| count as f64 * 100.0 / of.max(1) as f64;
        let row = |(error, count)| ErrorRow {
            error,
            count,
            percent_of_errors: percent(count, self.count),
            percent_of_samples: percent(count, samples),
        };
        self.top(usize::MAX).into_iter().map(row).collect()
    }
}

fn kind(record: &SampleRecord) -> String {
    let message = crate::jtl::failure_message(record).unwrap_or_default();
    let success_code =
        record.code.len() == 3 && record.code.starts_with(['2', '3']) && record.code.parse::<u16>().is_ok();
    match (&*record.code, &*record.message) {
        (code, _) if success_code || (code.is_empty() && !message.is_empty()) => match message {
            "" => "Assertion failed".to_owned(),
            message => message.to_owned(),
        },
        (code, "") => code.to_owned(),
        (code, message) => format!("{code}/{message}"),
    }
}
