//! Runs the tests of a sweep: for each rate, one host after another.

use super::StopReason;
use super::number::perl;
use super::settings::{AutobenchSettings, TestedHost};
use super::table::TestTable;
use crate::caller::Caller;
use std::net::ToSocketAddrs;
use std::sync::Arc;

/// Runs a test of a host at a rate and returns its cells.
pub type RunTest<'a> = &'a mut dyn FnMut(&TestedHost, f64) -> Result<Vec<String>, StopReason>;

/// Checks that every host name resolves, before any request is sent.
pub fn resolve(settings: &AutobenchSettings) -> Result<(), StopReason> {
    for host in &settings.hosts {
        let addresses = (host.name.as_str(), host.port).to_socket_addrs();
        if addresses.is_ok_and(|mut addresses| addresses.next().is_some()) {
            continue;
        }
        let name = &host.name;
        return Err(StopReason::Error(format!(
            "{name} has no address; write --host1, --host2 or --single_host, or see ~/.autobench.conf"
        )));
    }
    Ok(())
}

/// Runs all tests and writes the table.
pub fn sweep(
    settings: &AutobenchSettings,
    columns: &[&str],
    caller: &Arc<Caller>,
    test: RunTest<'_>,
) -> Result<(), StopReason> {
    let mut table = TestTable::begin(settings, columns, caller)?;
    for rate in &settings.rates {
        let mut cells = vec![perl(settings.calls * rate)];
        for host in &settings.hosts {
            cells.extend(test(host, *rate)?);
        }
        table.write_line(&cells)?;
    }
    Ok(())
}

/// Options of httperf for one test, in autobench's order and with its abbreviations.
pub fn words(
    settings: &AutobenchSettings,
    host: &TestedHost,
    rate: f64,
    connections: u64,
) -> Vec<String> {
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
    words.chain(settings.httperf_options.iter().cloned()).collect()
}
