//! Parses nginx's `stub_status` page: the connections
//! of all workers (`ngx_http_stub_status_module`).

use super::Parse;
use crate::sources::{Values, numbers, value_of};
use brunt_model::Probed;
use brunt_model::reading_names::server;

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::Nginx { url, connections } = probed else { return None };
    let limit = *connections;
    Some((url, Box::new(move |text| parse(text, limit))))
}

/// Parses `Active connections: 6`, a heading, the counts of accepted, handled and requests, and the
/// states of open connections. Connections that were accepted but not handled were closed at once,
/// because nginx had no connection left.
pub(super) fn parse(text: &str, limit: Option<u64>) -> Option<Values> {
    let mut values = Values::default();
    values.push(server::CONNECTIONS, value_of(text, "Active connections")?);
    let counters: Vec<f64> =
        numbers(text.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1)?)
            .collect();
    let [accepted, handled, requests] = counters[..] else { return None };
    values.push(server::ACCEPTED, accepted);
    values.push(server::REFUSED, accepted - handled);
    values.push(server::REQUESTS, requests);
    let states = text.lines().find(|line| line.starts_with("Reading:"))?;
    let [reading, writing, waiting] = numbers(states).collect::<Vec<_>>()[..] else { return None };
    // `Reading` and `Writing` count the connections with a request (ngx_http_stub_status_module).
    values.push(server::CONNECTIONS_ACTIVE, reading + writing);
    values.push(server::CONNECTIONS_IDLE, waiting);
    values.push_some(server::CONNECTIONS_LIMIT, limit.map(|limit| limit as f64));
    Some(values)
}
