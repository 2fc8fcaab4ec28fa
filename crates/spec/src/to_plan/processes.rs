//! Number of processes, and their local addresses. Both follow from the maximum number
//! of connections at once.

use crate::System;
use crate::defaults::{self, MAX_PROCESSES};
use crate::error::{Result, require};
use crate::settings::RunSettings;
use crate::words::target;
use brunt_model::numbers::count;
use brunt_model::plan::ConnectionSettings;
use brunt_model::{Load, Plan};
use std::net::{IpAddr, Ipv4Addr};

/// Percentage of the local ports that count as available: other programs use some.
const USABLE_PORT_PERCENT: u64 = 90;
/// Percentage of the ports of each address that are used if there are several addresses. connect(2)
/// tries every second port first. Once those are taken, it tries all ports one by one for each
/// connection, which takes milliseconds.
const QUICK_PORT_PERCENT: u64 = 45;
/// Maximum number of loopback addresses of a plan.
// Addresses are 127.0.0.n, so n must fit into a byte.
const MAX_ADDRESSES: u64 = 250;

/// Maximum number of connections of a process, by its file descriptors.
pub(super) fn connection_capacity(system: &System) -> u64 {
    system.descriptors.saturating_sub(defaults::RESERVED_DESCRIPTORS)
}

/// Option that limits the number of connections at once, and the limit.
fn connection_limit(load: &Load) -> (&'static str, u64) {
    match (load.most_connections(), load) {
        (None, Load::Open { max_in_flight, .. }) => {
            // Each request in flight may have its own connection.
            ("max-in-flight", (*max_in_flight).into())
        }
        (most, _) => ("connections", most.unwrap_or_default()),
    }
}

/// Number of processes, and a note for the user.
pub(super) fn processes(
    settings: &RunSettings,
    load: &Load,
    system: &System,
) -> Result<(u32, Option<String>)> {
    let (option, most) = connection_limit(load);
    if let Some(on) = &settings.fleet.on {
        // The limits of the agents are known only when they have started.
        let agents = settings.fleet.sharing_agents().unwrap_or_default() as u64;
        require!(&settings.sources, agents <= most, |names| format!(
            "{0} {on}: {1} connections are too few for {agents} agents; write {2} {agents} or more",
            names.name_of("on"),
            count(most),
            names.name_of(option)
        ));
        return Ok((on.agents() as u32, None));
    }
    let capacity = connection_capacity(system);
    let limit = count(system.descriptors);
    let sources = &settings.sources;
    // The limit on open files applies to each process, so more processes have more connections.
    let needed_processes = most.div_ceil(capacity.max(1)).max(1);
    let raise = format!(
        "To raise the limit: `ulimit -Hn {0}` as root, LimitNOFILE= for a systemd service, --ulimit nofile={0} for a container",
        most + defaults::RESERVED_DESCRIPTORS
    );
    let connections = count(most);
    require!(sources, capacity > 0, |names| format!(
        "{}: no connection can be opened with {limit} open files (the hard limit): brunt needs {} for itself. {raise}",
        names.name_of(option),
        defaults::RESERVED_DESCRIPTORS
    ));
    require!(sources, needed_processes <= MAX_PROCESSES, |names| format!(
        "{}: {connections} connections are too many for {MAX_PROCESSES} processes of {limit} open files each (the hard limit). {raise}",
        names.name_of(option)
    ));
    let Some(requested) = settings.load.processes else {
        let note = format!(
            "{connections} connections need {needed_processes} processes: one may have {limit} open files"
        );
        return Ok((needed_processes as u32, (needed_processes > 1).then_some(note)));
    };
    require!(sources, u64::from(requested) >= needed_processes, |names| format!(
        "{0} {requested}: {connections} connections need {needed_processes}, because one may have {limit} open files (its hard limit); write {0} {needed_processes}. {raise}",
        names.name_of("processes")
    ));
    // Each process needs a connection.
    let bound = most.clamp(1, MAX_PROCESSES);
    require!(sources, u64::from(requested) <= bound, |names| format!(
        "{0} {requested}: {connections} connections are too few for this number; write {0} {bound} or less",
        names.name_of("processes")
    ));
    Ok((requested, None))
}

/// Adds further loopback addresses to the plan if one pair of addresses has too few ports for all
/// connections. Returns a note for the user.
pub(super) fn sources(settings: &RunSettings, plan: &mut Plan, system: &System) -> Option<String> {
    // Without a number from the user, the limit is that of the descriptors, and no plan needs
    // addresses for all of them.
    if settings.load.connections.is_none() && settings.load.max_in_flight.is_none() {
        return None;
    }
    with_sources(plan, system)
}

/// Adds further loopback addresses to a plan with a requested number of connections.
pub fn with_sources(plan: &mut Plan, system: &System) -> Option<String> {
    let ports = system.ports.filter(|_| is_free_to_choose(plan))?;
    let max_connections = connection_limit(&plan.main().load).1;
    // A single address suffices as long as some ports stay free for other programs.
    let usable = ports * USABLE_PORT_PERCENT / 100;
    if max_connections <= usable || usable == 0 {
        return None;
    }
    let needed_addresses = max_connections.div_ceil((ports * QUICK_PORT_PERCENT / 100).max(1));
    // The connections that find no port fail as `ports_exhausted`, which names a remedy.
    if needed_addresses > MAX_ADDRESSES {
        return None;
    }
    plan.connection.source =
        (1..=needed_addresses).map(|n| IpAddr::from(Ipv4Addr::new(127, 0, 0, n as u8))).collect();
    Some(format!(
        "{} connections are made from {needed_addresses} local addresses, 127.0.0.1 to 127.0.0.{needed_addresses}, with {} ports each",
        count(max_connections),
        count(ports)
    ))
}

/// True if brunt may choose the local addresses: the user did not, and each server has a
/// loopback address of IPv4.
fn is_free_to_choose(plan: &Plan) -> bool {
    let connection = &plan.connection;
    // Connections to a proxy or a Unix socket do not start from a loopback address for the server.
    let is_direct = connection.source.is_empty()
        && connection.unix_socket.is_none()
        && connection.proxy.is_none();
    let resolves_to_loopback =
        connection.resolve.iter().all(|r| matches!(r.address, IpAddr::V4(a) if a.is_loopback()));
    is_direct
        && resolves_to_loopback
        // A source in 127.0.0.0/8 reaches only destinations on this machine.
        && plan.requests().all(|r| target::is_loopback_v4(&r.url) || is_resolved(connection, &r.url))
}

/// True if an option gives the address of the server of a URL.
fn is_resolved(connection: &ConnectionSettings, url: &str) -> bool {
    brunt_wire::request::origin_of(url).is_ok_and(|(_, origin)| {
        connection.resolve.iter().any(|r| r.is_of(&origin.host, origin.port))
    })
}
