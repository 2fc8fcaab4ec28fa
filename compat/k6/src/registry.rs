//! The figures of the users of a worker, until a snapshot takes them.

use crate::kinds::{Declaration, MetricKind, Unit};
use crate::thresholds::Selector;
use brunt_model::metric::{Metric, Metrics, Trend};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem;

/// The metrics that every script has. A constant's value is its place in [`BUILT_IN`].
pub(crate) mod id {
    pub const HTTP_REQS: usize = 0;
    pub const HTTP_REQ_FAILED: usize = 1;
    pub const HTTP_REQ_DURATION: usize = 2;
    pub const HTTP_REQ_BLOCKED: usize = 3;
    pub const HTTP_REQ_CONNECTING: usize = 4;
    pub const HTTP_REQ_TLS_HANDSHAKING: usize = 5;
    pub const HTTP_REQ_SENDING: usize = 6;
    pub const HTTP_REQ_WAITING: usize = 7;
    pub const HTTP_REQ_RECEIVING: usize = 8;
    pub const CHECKS: usize = 9;
    pub const ITERATIONS: usize = 10;
    pub const ITERATION_DURATION: usize = 11;
    pub const GROUP_DURATION: usize = 12;
    pub const DATA_SENT: usize = 13;
    pub const DATA_RECEIVED: usize = 14;
}

/// In the order of the constants of [`id`].
const BUILT_IN: &[(&str, MetricKind, Unit)] = &[
    ("http_reqs", MetricKind::Counter, Unit::Number),
    ("http_req_failed", MetricKind::Rate, Unit::Number),
    ("http_req_duration", MetricKind::Trend, Unit::Time),
    ("http_req_blocked", MetricKind::Trend, Unit::Time),
    ("http_req_connecting", MetricKind::Trend, Unit::Time),
    ("http_req_tls_handshaking", MetricKind::Trend, Unit::Time),
    ("http_req_sending", MetricKind::Trend, Unit::Time),
    ("http_req_waiting", MetricKind::Trend, Unit::Time),
    ("http_req_receiving", MetricKind::Trend, Unit::Time),
    ("checks", MetricKind::Rate, Unit::Number),
    ("iterations", MetricKind::Counter, Unit::Number),
    ("iteration_duration", MetricKind::Trend, Unit::Time),
    ("group_duration", MetricKind::Trend, Unit::Time),
    ("data_sent", MetricKind::Counter, Unit::Data),
    ("data_received", MetricKind::Counter, Unit::Data),
];

/// The metrics of the users of a worker.
#[derive(Debug)]
pub struct Registry {
    metrics: RefCell<Vec<Slot>>,
    by_name: RefCell<HashMap<String, usize>>,
    /// Passed and all checks by path: `::group::name`.
    checks: RefCell<HashMap<String, (u64, u64)>>,
    /// Parts of metrics that thresholds ask for.
    selectors: Vec<Selector>,
    /// Exceptions, and words about the whole test, with their numbers.
    marks: RefCell<HashMap<String, u64>>,
    lines: RefCell<Vec<String>>,
    /// Number of lines beyond the maximum.
    unkept_lines: RefCell<u64>,
}

#[derive(Debug)]
struct Slot {
    declaration: Declaration,
    values: Option<Metric>,
    parts: Vec<(Selector, Option<Metric>)>,
}

/// Begins the name of a figure: exceptions that ended iterations, by their message.
pub const EXCEPTION: &str = "exception:";
/// The same: a script has ended the test, for this reason.
pub const ABORTED: &str = "test.abort:";
/// The same: a script has marked the test as failed.
pub const FAILED: &str = "test.fail:";

/// Maximum number of lines of the console in an interval.
const MOST_LINES: usize = 1000;

/// Maximum number of different checks.
const MOST_CHECKS: usize = 10_000;

impl Registry {
    /// Creates the metrics that every script has. `selectors` are those of thresholds.
    pub fn new(selectors: Vec<Selector>) -> Self {
        let registry = Self {
            metrics: RefCell::default(),
            by_name: RefCell::default(),
            checks: RefCell::default(),
            selectors,
            marks: RefCell::default(),
            lines: RefCell::default(),
            unkept_lines: RefCell::default(),
        };
        for (name, kind, unit) in BUILT_IN {
            registry.add(Declaration { name: (*name).to_owned(), kind: *kind, unit: *unit });
        }
        registry
    }

    fn add(&self, declaration: Declaration) -> usize {
        let parts = self.selectors.iter().filter(|selector| selector.metric == declaration.name);
        let parts = parts.map(|selector| (selector.clone(), empty(declaration.kind))).collect();
        let mut metrics = self.metrics.borrow_mut();
        self.by_name.borrow_mut().insert(declaration.name.clone(), metrics.len());
        metrics.push(Slot { values: empty(declaration.kind), declaration, parts });
        metrics.len() - 1
    }

    /// Returns the number of a metric of a script, which is added at its first declaration.
    ///
    /// # Errors
    ///
    /// The name is not permitted, or the metric has another kind.
    pub fn declare(&self, declaration: Declaration) -> Result<usize, String> {
        let Declaration { name, kind, unit } = &declaration;
        let mut letters = name.chars();
        // k6 refuses other names since version 0.44, so old scripts need a correction.
        let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let is_word = letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !begins || !is_word || !(2..=129).contains(&name.len()) {
            return Err(format!(
                "the name of a metric has 2 to 129 letters, digits and `_`, and begins with no digit; `{name}` does not"
            ));
        }
        let own_number = self.by_name.borrow().get(name).copied();
        let Some(number) = own_number else { return Ok(self.add(declaration)) };
        let metrics = self.metrics.borrow();
        let own = &metrics[number].declaration;
        // Two modules may create the same metric.
        if own.kind != *kind || own.unit != *unit {
            return Err(format!(
                "the metric `{name}` exists as a {}; choose another name",
                own.kind.word()
            ));
        }
        Ok(number)
    }

    /// Declarations of all metrics.
    pub fn declarations(&self) -> Vec<Declaration> {
        self.metrics.borrow().iter().map(|slot| slot.declaration.clone()).collect()
    }

    /// Adds a value to a metric, and to those parts of it that have these tags.
    pub fn record(&self, number: usize, value: f64, tag: &dyn Fn(&str) -> Option<String>) {
        let mut metrics = self.metrics.borrow_mut();
        let Slot { declaration, values, parts } = &mut metrics[number];
        add_value(values, declaration.kind, value);
        for (selector, values) in parts {
            if selector.matches(tag) {
                add_value(values, declaration.kind, value);
            }
        }
    }

    /// True if a threshold asks for parts of a metric.
    pub fn has_parts(&self, number: usize) -> bool {
        !self.metrics.borrow()[number].parts.is_empty()
    }

    /// Counts a check by its path.
    pub fn count_check(&self, path: &str, passes: bool) {
        let mut checks = self.checks.borrow_mut();
        if !checks.contains_key(path) {
            // Names may be computed from data, and memory is bounded.
            if checks.len() >= MOST_CHECKS {
                return;
            }
            checks.insert(path.to_owned(), (0, 0));
        }
        if let Some((passed, total)) = checks.get_mut(path) {
            *passed += u64::from(passes);
            *total += 1;
        }
    }

    /// Counts an exception that ended an iteration, by its first line.
    pub fn count_exception(&self, text: &str) {
        let line = text.lines().next().unwrap_or_default();
        self.mark(EXCEPTION, line);
    }

    /// Counts a word of the script about the whole test.
    pub fn mark(&self, kind: &str, message: &str) {
        *self.marks.borrow_mut().entry(format!("{kind} {message}")).or_default() += 1;
    }

    /// Adds a line of the console.
    pub fn line(&self, text: String) {
        let mut lines = self.lines.borrow_mut();
        if lines.len() < MOST_LINES {
            lines.push(text);
        } else {
            *self.unkept_lines.borrow_mut() += 1;
        }
    }

    /// Returns the values since the last call.
    pub fn take(&self) -> Metrics {
        let mut metrics = Metrics::default();
        for slot in self.metrics.borrow_mut().iter_mut() {
            let Slot { declaration: Declaration { name, kind, .. }, values, parts } = slot;
            take_values(&mut metrics, name, *kind, values);
            for (selector, values) in parts {
                take_values(&mut metrics, &selector.to_string(), *kind, values);
            }
        }
        for (path, (passed, total)) in self.checks.borrow_mut().drain() {
            metrics.figures.insert(path, Metric::Rate { passed, total });
        }
        for (text, count) in self.marks.borrow_mut().drain() {
            metrics.figures.insert(text, Metric::Counter { sum: count as f64, count });
        }
        metrics.lines = mem::take(&mut self.lines.borrow_mut());
        // Nothing is lost in silence.
        let unkept = self.unkept_lines.take();
        if unkept > 0 {
            metrics.lines.push(format!("{unkept} further lines of the console were not kept"));
        }
        metrics
    }
}

fn add_value(values: &mut Option<Metric>, kind: MetricKind, value: f64) {
    match (values, kind) {
        (Some(Metric::Counter { sum, count }), _) => {
            *sum += value;
            *count += 1;
        }
        (Some(Metric::Gauge { last, least, most }), _) => {
            *last = value;
            *least = least.min(value);
            *most = most.max(value);
        }
        (Some(Metric::Rate { passed, total }), _) => {
            *passed += u64::from(value != 0.0);
            *total += 1;
        }
        (Some(Metric::Trend(trend)), _) => trend.record(value),
        (empty @ None, MetricKind::Gauge) => {
            *empty = Some(Metric::Gauge { last: value, least: value, most: value });
        }
        (None, _) => {}
    }
}

fn take_values(taken: &mut Metrics, name: &str, kind: MetricKind, values: &mut Option<Metric>) {
    let is_used = match values {
        Some(Metric::Counter { count, .. }) => *count > 0,
        Some(Metric::Rate { total, .. }) => *total > 0,
        Some(Metric::Trend(trend)) => trend.count() > 0,
        Some(Metric::Gauge { .. }) => true,
        None => false,
    };
    if is_used && let Some(metric) = mem::replace(values, empty(kind)) {
        taken.figures.insert(name.to_owned(), metric);
    }
}

/// A metric without values.
fn empty(kind: MetricKind) -> Option<Metric> {
    match kind {
        MetricKind::Counter => Some(Metric::Counter { sum: 0.0, count: 0 }),
        // A level has a value only after the first one.
        MetricKind::Gauge => None,
        MetricKind::Rate => Some(Metric::Rate { passed: 0, total: 0 }),
        MetricKind::Trend => Some(Metric::Trend(Trend::default())),
    }
}
