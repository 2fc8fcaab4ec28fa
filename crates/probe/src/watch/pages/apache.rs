//! Parses Apache's `mod_status` page with `?auto`: one value per line, and the scoreboard with a
//! character for each possible worker.

use super::Parse;
use crate::sources::{Values, value_of};
use brunt_model::Probed;
use brunt_model::reading_names::server;

/// Values by their names on the page and as readings. A processing module (MPM) omits values that
/// it does not have.
const FIGURES: &[(&str, &str)] = &[
    ("BusyWorkers:", server::WORKERS_BUSY),
    ("IdleWorkers:", server::WORKERS_IDLE),
    ("Total Accesses:", server::REQUESTS),
    ("ConnsTotal:", server::CONNECTIONS),
    ("ConnsAsyncKeepAlive:", server::CONNECTIONS_IDLE),
];

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::Apache { url } = probed else { return None };
    Some((url, Box::new(parse)))
}

/// Parses the page. The request for the page itself occupies one of the busy workers.
pub(super) fn parse(text: &str) -> Option<Values> {
    let scoreboard = text.lines().find_map(|line| line.strip_prefix("Scoreboard:"))?.trim();
    value_of(text, "BusyWorkers:")?;
    let mut values = Values::default();
    for (key, reading) in FIGURES {
        values.push_some(*reading, value_of(text, key));
    }
    // A dot is a slot without a worker.
    values.push(server::WORKERS, scoreboard.bytes().filter(|place| *place != b'.').count() as f64);
    // The scoreboard has a slot for each possible worker: `ServerLimit`, with threads times
    // `ThreadsPerChild`. It equals `MaxRequestWorkers` if `ServerLimit` was set to match,
    // and exceeds it otherwise.
    values.push(server::WORKERS_LIMIT, scoreboard.len() as f64);
    Some(values)
}
