//! The check at the start of each run: the route to the server, and certain problems.
//!
//! It sends no request and opens no connection, because the server would count them.

use crate::advice::Certainty;
use crate::facts::{CheckFacts, MachineFacts, RequestedLoad};
use crate::route::{RESOLVE_TIMEOUT, addresses, route};
use crate::rules;
use brunt_model::{Plan, Route, Text};
use brunt_probe::Root;
use brunt_probe::settings::settings;

/// Returns the route to the server, if it is known without a connection, and warnings about the
/// load of the plan.
pub fn preflight_short(plan: &Plan, descriptors: u64, cores: u32) -> (Option<Route>, Vec<Text>) {
    // Agents on other machines have routes of their own.
    if plan.is_elsewhere() {
        return (None, Vec::new());
    }
    if plan.connection.unix_socket.is_some() {
        return (route(plan), Vec::new());
    }
    let addresses = addresses(plan, RESOLVE_TIMEOUT);
    let route = addresses.first().copied().map(brunt_probe::route);
    let facts = CheckFacts {
        requested: RequestedLoad::of(plan),
        machine: MachineFacts {
            descriptors,
            cores,
            settings: settings(&Root::system()),
            other_processes_cores: None,
        },
        addresses: addresses.iter().map(ToString::to_string).collect(),
        route,
        ..CheckFacts::default()
    };
    // Likely problems would be noise before each run; `brunt check` shows them.
    let certain = rules::advise(&facts).into_iter().filter(|a| a.certainty == Certainty::Surely);
    let warnings = certain.map(|a| a.note().into()).collect();
    (facts.route, warnings)
}
