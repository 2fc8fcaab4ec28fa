//! The short form at the start of each run: the way to the server, and what surely bites.
//!
//! No request is made, and no connection: the server would count it.

use super::facts::{Facts, Machine, RequestedLoad};
use super::rules::{self, Certainty};
use crate::route::{addresses, route};
use brunt_model::{Plan, Route};
use brunt_probe::Root;
use brunt_probe::settings::settings;

/// The way to the server, where it is known without a connection; and warnings for the load that was asked for.
pub fn preflight_short(plan: &Plan, descriptors: u64, cores: u32) -> (Option<Route>, Vec<String>) {
    if plan.connection.unix_socket.is_some() {
        return (route(plan), Vec::new());
    }
    let addresses = addresses(plan);
    let route = addresses.first().copied().map(brunt_probe::route);
    let facts = Facts {
        asked: RequestedLoad::of(plan),
        machine: Machine { descriptors, cores, settings: settings(&Root::system()), other_processes_cores: None },
        addresses: addresses.iter().map(ToString::to_string).collect(),
        route,
        ..Facts::default()
    };
    let surely = rules::advise(&facts).into_iter().filter(|a| a.bites == Certainty::Surely);
    let warnings = surely.map(|a| a.note()).collect();
    (facts.route, warnings)
}
