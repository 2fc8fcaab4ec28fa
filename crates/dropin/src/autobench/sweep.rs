//! A test after the other: each rate, and at each rate one host after the other.

use super::End;
use super::number::perl;
use super::settings::{Host, Settings};
use super::table::Table;
use crate::caller::Caller;
use std::net::ToSocketAddrs;
use std::sync::Arc;

/// What a test comes to: the cells of its host at a rate.
pub type Test<'a> = &'a mut dyn FnMut(&Host, f64) -> Result<Vec<String>, End>;

/// Every host must have an address before anything is sent to any of them.
pub fn resolve(settings: &Settings) -> Result<(), End> {
    for host in &settings.hosts {
        let found = (host.name.as_str(), host.port).to_socket_addrs();
        if found.is_ok_and(|mut addresses| addresses.next().is_some()) {
            continue;
        }
        let name = &host.name;
        return Err(End::Died(format!(
            "{name} has no address; write --host1, --host2 or --single_host, or see ~/.autobench.conf"
        )));
    }
    Ok(())
}

/// Carries out all tests, and writes the table.
pub fn sweep(settings: &Settings, columns: &[&str], caller: &Arc<Caller>, test: Test<'_>) -> Result<(), End> {
    let mut table = Table::begin(settings, columns, caller)?;
    for rate in &settings.rates {
        let mut cells = vec![perl(settings.calls * rate)];
        for host in &settings.hosts {
            cells.extend(test(host, *rate)?);
        }
        table.line(&cells)?;
    }
    Ok(())
}

/// httperf's options for one test, in autobench's order and with its abbreviations.
pub fn words(settings: &Settings, host: &Host, rate: f64, connections: u64) -> Vec<String> {
    let pairs = [
        ("--server", host.name.clone()),
        ("--uri", host.uri.clone()),
        ("--num-conn", connections.to_string()),
        ("--num-call", perl(settings.calls)),
        ("--timeout", settings.timeout.clone()),
        ("--rate", perl(rate)),
        ("--port", host.port.to_string()),
    ];
    let words = pairs.into_iter().flat_map(|(option, value)| [option.to_owned(), value]);
    words.chain(settings.passed_on.iter().cloned()).collect()
}
