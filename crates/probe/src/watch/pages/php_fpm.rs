//! The status of a php-fpm pool as JSON (`pm.status_path`, `?json`).

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use serde_json::Value;

/// Figures, by their names there and ours.
const FIGURES: &[(&str, &str)] = &[
    ("active processes", server::WORKERS_BUSY),
    ("idle processes", server::WORKERS_IDLE),
    ("total processes", server::WORKERS),
    ("accepted conn", server::REQUESTS),
    ("max children reached", server::WORKERS_EXHAUSTED),
    ("slow requests", server::SLOW_REQUESTS),
];

pub(super) fn open(what: &Probed) -> Option<(&str, Parse)> {
    let Probed::PhpFpm { url } = what else { return None };
    let mut limit = Limit::default();
    Some((url, Box::new(move |text| parse(text, &mut limit))))
}

/// What is known of the most children that a pool may have.
#[derive(Debug, Default)]
pub(super) struct Limit {
    exhausted: Option<f64>,
    known: Option<f64>,
}

pub(super) fn parse(text: &str, limit: &mut Limit) -> Option<Values> {
    let status: Value = serde_json::from_str(text).ok()?;
    let figure = |name: &str| status.get(name)?.as_f64();
    figure("active processes")?;
    let mut values = Values::default();
    for (there, ours) in FIGURES {
        values.push_some(*ours, figure(there));
    }
    let total = figure("total processes");
    let fixed = total.filter(|_| status.get("process manager").is_some_and(|manager| manager == "static"));
    let learnt = limit.learn(total, figure("max children reached"));
    values.push_some(server::WORKERS_LIMIT, fixed.or(learnt));
    // Of a Unix socket php-fpm knows neither: it tells 0 for both.
    if let Some(room) = figure("listen queue len").filter(|room| *room > 0.0) {
        values.push_some(server::QUEUE, figure("listen queue"));
        values.push(server::QUEUE_LIMIT, room);
    }
    Some(values)
}

impl Limit {
    /// `pm.max_children`, which the page does not tell. A pool of a fixed size has all its children; another one had all
    /// of them when the count of times that they were not enough grew.
    fn learn(&mut self, total: Option<f64>, exhausted: Option<f64>) -> Option<f64> {
        let grew = self.exhausted.zip(exhausted).is_some_and(|(was, is)| is > was);
        self.exhausted = exhausted;
        if grew {
            self.known = [self.known, total].into_iter().flatten().reduce(f64::max);
        }
        self.known
    }
}
