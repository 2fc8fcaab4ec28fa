//! By how many processes, and from which addresses: both follow from how many connections there may be at once.

use crate::System;
use crate::defaults::{self, MOST_PROCESSES};
use crate::error::{Result, require};
use crate::settings::{Names, RunSettings};
use crate::words::target;
use brunt_model::numbers::count;
use brunt_model::{Load, Plan};
use std::net::{IpAddr, Ipv4Addr};

/// Of the local ports, so many in a hundred are taken for granted: others use some.
const PORTS_IN_A_HUNDRED: u64 = 90;
/// With several addresses, at most this many ports of each are used: connect(2) tries every second port first, and
/// once those are taken it looks at all of them, one by one, for each connection: milliseconds.
const QUICK_PORTS_IN_A_HUNDRED: u64 = 45;
/// More loopback addresses than this are not taken.
const MOST_ADDRESSES: u64 = 250;

/// Connections that a process has descriptors for.
pub(super) fn room(system: &System) -> u64 {
    system.descriptors.saturating_sub(defaults::DESCRIPTORS_KEPT)
}

/// The option that says how many connections there may be at once, and how many that are.
fn most(load: &Load) -> (&'static str, u64) {
    match load {
        Load::Closed { users, .. } => ("connections", users.peak() as u64),
        Load::Open { connections: Some(n), .. } => ("connections", (*n).into()),
        Load::Open { max_in_flight, .. } => ("max-in-flight", (*max_in_flight).into()),
    }
}

/// How many processes, and what is to be told about it.
pub(super) fn processes(settings: &RunSettings, load: &Load, system: &System) -> Result<(u32, Option<String>)> {
    let ((option, most), room, limit) = (most(load), room(system), count(system.descriptors));
    let said = &settings.said;
    let needed = most.div_ceil(room.max(1)).max(1);
    let raise = format!(
        "To raise the limit: `ulimit -Hn {0}` as root, LimitNOFILE= for a systemd service, --ulimit nofile={0} for a container",
        most + defaults::DESCRIPTORS_KEPT
    );
    let connections = count(most);
    require!(said, room > 0, |names| format!(
        "{}: no connection can be opened with {limit} open files (the hard limit): brunt needs {} for itself. {raise}",
        names.of(option),
        defaults::DESCRIPTORS_KEPT
    ));
    require!(said, needed <= MOST_PROCESSES, |names| format!(
        "{}: {connections} connections are too many for {MOST_PROCESSES} processes of {limit} open files each (the hard limit). {raise}",
        names.of(option)
    ));
    let Some(asked) = settings.load.processes else {
        let note = format!("{connections} connections need {needed} processes: one may have {limit} open files");
        return Ok((needed as u32, (needed > 1).then_some(note)));
    };
    let name = |names: &Names<'_>| names.of("processes");
    require!(said, u64::from(asked) >= needed, |names| format!(
        "{0} {asked}: {connections} connections need {needed}, because one may have {limit} open files (its hard limit); write {0} {needed}. {raise}",
        name(names)
    ));
    let bound = most.clamp(1, MOST_PROCESSES);
    require!(said, u64::from(asked) <= bound, |names| format!(
        "{0} {asked}: {connections} connections cannot be shared by so many; write {0} {bound} or less",
        name(names)
    ));
    Ok((asked, None))
}

/// Where one pair of addresses has too few ports for all connections, and the server is on this machine's loopback
/// interface: the plan connects from further loopback addresses, and this is to be told about it.
pub(super) fn sources(settings: &RunSettings, plan: &mut Plan, system: &System) -> Option<String> {
    // As many as the descriptors allow is no wish for so many.
    if settings.load.connections.is_none() && settings.load.max_in_flight.is_none() {
        return None;
    }
    with_sources(plan, system)
}

/// The same for a plan in which so many connections were asked for.
pub fn with_sources(plan: &mut Plan, system: &System) -> Option<String> {
    let ports = system.ports.filter(|_| is_free_to_choose(plan))?;
    let (most, usable) = (most(&plan.main().load).1, ports * PORTS_IN_A_HUNDRED / 100);
    if most <= usable || usable == 0 {
        return None;
    }
    let needed = most.div_ceil((ports * QUICK_PORTS_IN_A_HUNDRED / 100).max(1));
    if needed > MOST_ADDRESSES {
        return None;
    }
    plan.connection.source = (1..=needed).map(|n| IpAddr::from(Ipv4Addr::new(127, 0, 0, n as u8))).collect();
    Some(format!(
        "{} connections are made from {needed} local addresses, 127.0.0.1 to 127.0.0.{needed}, with {} ports each",
        count(most),
        count(ports)
    ))
}

/// Nobody said where to connect from, and every server has a loopback address of IPv4.
fn is_free_to_choose(plan: &Plan) -> bool {
    let connection = &plan.connection;
    let given = connection.resolve.iter().all(|r| matches!(r.address, IpAddr::V4(a) if a.is_loopback()));
    let resolved = |url: &str| {
        brunt_wire::request::origin_of(url)
            .is_ok_and(|(_, origin)| connection.resolve.iter().any(|r| r.is_of(&origin.host, origin.port)))
    };
    let straight = connection.source.is_empty() && connection.unix_socket.is_none() && connection.proxy.is_none();
    straight && given && plan.requests().all(|r| target::is_loopback_v4(&r.url) || resolved(&r.url))
}
