//! Parses the status of a php-fpm pool as JSON (`pm.status_path`, `?json`).

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use serde_json::Value;

/// Values by their names on the page and as readings.
const FIGURES: &[(&str, &str)] = &[
    ("active processes", server::WORKERS_BUSY),
    ("idle processes", server::WORKERS_IDLE),
    ("total processes", server::WORKERS),
    ("accepted conn", server::REQUESTS),
    ("max children reached", server::WORKERS_EXHAUSTED),
    ("slow requests", server::SLOW_REQUESTS),
];

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::PhpFpm { url } = probed else { return None };
    let mut limit = Limit::default();
    Some((url, Box::new(move |text| parse(text, &mut limit))))
}

/// The maximum number of children of a pool, as far as it was observed.
#[derive(Debug, Default)]
pub(super) struct Limit {
    /// Number of times that the maximum was reached.
    times_reached: Option<f64>,
    max_children: Option<f64>,
}

pub(super) fn parse(text: &str, limit: &mut Limit) -> Option<Values> {
    let status: Value = serde_json::from_str(text).ok()?;
    // Any other JSON page lacks this value.
    figure(&status, "active processes")?;
    let mut values = Values::default();
    for (key, reading) in FIGURES {
        values.push_some(*reading, figure(&status, key));
    }
    let total = figure(&status, "total processes");
    let is_static = status.get("process manager").is_some_and(|manager| manager == "static");
    let observed = limit.observe(total, figure(&status, "max children reached"));
    values.push_some(server::WORKERS_LIMIT, total.filter(|_| is_static).or(observed));
    // For a Unix socket php-fpm knows neither value, and reports 0 for both.
    if let Some(queue_limit) = figure(&status, "listen queue len").filter(|limit| *limit > 0.0) {
        values.push_some(server::QUEUE, figure(&status, "listen queue"));
        values.push(server::QUEUE_LIMIT, queue_limit);
    }
    Some(values)
}

fn figure(status: &Value, name: &str) -> Option<f64> {
    status.get(name)?.as_f64()
}
impl Limit {
    /// Returns `pm.max_children`, which the page does not contain. A static pool always has
    /// all its children. Any other pool had all of them when the count of times that the
    /// maximum was reached increased.
    fn observe(&mut self, total: Option<f64>, times_reached: Option<f64>) -> Option<f64> {
        let has_increased = self
            .times_reached
            .zip(times_reached)
            .is_some_and(|(previous, current)| current > previous);
        self.times_reached = times_reached;
        if has_increased {
            self.max_children = [self.max_children, total].into_iter().flatten().reduce(f64::max);
        }
        self.max_children
    }
}
