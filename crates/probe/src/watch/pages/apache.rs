//! Apache's `mod_status` as `?auto`: a figure a line, and the scoreboard, a character for each worker that may be.

use super::Parse;
use crate::sources::{Values, value_of};
use brunt_model::Probed;
use brunt_model::reading_names::server;

/// Figures, by their names there and ours. What a way of working does not have is left out.
const FIGURES: &[(&str, &str)] = &[
    ("BusyWorkers:", server::WORKERS_BUSY),
    ("IdleWorkers:", server::WORKERS_IDLE),
    ("Total Accesses:", server::REQUESTS),
    ("ConnsTotal:", server::CONNECTIONS),
    ("ConnsAsyncKeepAlive:", server::CONNECTIONS_IDLE),
];

pub(super) fn open(what: &Probed) -> Option<(&str, Parse)> {
    let Probed::Apache { url } = what else { return None };
    Some((url, Box::new(parse)))
}

/// The request for this page is one of the busy workers.
pub(super) fn parse(text: &str) -> Option<Values> {
    let scoreboard = text.lines().find_map(|line| line.strip_prefix("Scoreboard:"))?.trim();
    value_of(text, "BusyWorkers:")?;
    let mut values = Values::default();
    for (there, ours) in FIGURES {
        values.push_some(*ours, value_of(text, there));
    }
    // A dot is a place without a worker.
    values.push(server::WORKERS, scoreboard.bytes().filter(|place| *place != b'.').count() as f64);
    // A place for each worker that could ever be: `ServerLimit`, in threaded ways times `ThreadsPerChild`. It is
    // `MaxRequestWorkers` where `ServerLimit` was set to fit, and more than that where it was not.
    values.push(server::WORKERS_LIMIT, scoreboard.len() as f64);
    Some(values)
}
