//! Limits of this machine for the load of the plan.

use crate::advice::{Advice, Certainty};
use crate::facts::CheckFacts;
use brunt_model::numbers::{count, plural, three_digits};
use brunt_spec::defaults;

/// Time in seconds for which a port is unusable after this side closed a
/// connection (`TCP_TIMEWAIT_LEN` of Linux).
const TIME_WAIT: f64 = 60.0;
/// The same time if such ports may be reused (`tcp_tw_reuse`).
const REUSED_AFTER: f64 = 1.0;

/// Share of all cores above which other processes are reported, as in the finding
/// `busy_machine` of a run.
const BUSY: f64 = 0.25;

/// Reports more connections than this process may have open files.
pub(super) fn descriptors(facts: &CheckFacts) -> Option<Advice> {
    let connections = facts.requested.connections?;
    let limit = facts.machine.descriptors;
    let needed = connections + defaults::RESERVED_DESCRIPTORS;
    // brunt splits the connections over processes if one may not have enough open files.
    let processes =
        connections.div_ceil(limit.saturating_sub(defaults::RESERVED_DESCRIPTORS).max(1));
    let is_refused = processes > defaults::MAX_PROCESSES;
    let effect = format!(
        "brunt splits the run into {processes} processes; each has its own queue of arrivals"
    );
    (needed > limit).then(|| Advice {
        rule: "descriptors",
        certainty: if is_refused { Certainty::Surely } else { Certainty::Perhaps },
        what: format!(
            "{} connections need {} open files; limit of a process: {}",
            count(connections),
            count(needed),
            count(limit)
        ),
        why: if is_refused { "brunt refuses to start such a run".into() } else { effect },
        command: format!(
            "ulimit -Hn {needed} (as root, in the shell that starts brunt); LimitNOFILE={needed} for a systemd service; --ulimit nofile={needed} for a container"
        ),
    })
}

/// Reports more connections than there are local ports for the server.
pub(super) fn local_ports(facts: &CheckFacts) -> Option<Advice> {
    let connections = facts.requested.connections?;
    let capacity = port_capacity(facts)?;
    (connections > capacity).then(|| Advice {
        rule: "local_ports",
        certainty: Certainty::Surely,
        what: format!(
            "{} connections exceed the {} local ports for this server",
            count(connections),
            count(capacity)
        ),
        why: "connections beyond that fail with `out of local ports`".into(),
        command: more_ports(connections.div_ceil(capacity)),
    })
}

/// Reports new connections that use ports faster than they become free.
pub(super) fn time_wait(facts: &CheckFacts) -> Option<Advice> {
    let rate = facts.requested.new_connections_per_second?;
    let capacity = port_capacity(facts)?;
    let reuses_ports = match facts.machine.settings.tw_reuse {
        Some(1) => true,
        // The kernel reuses ports of loopback connections only.
        Some(2) => facts.same_host(),
        _ => false,
    };
    let rests = if reuses_ports { REUSED_AFTER } else { TIME_WAIT };
    let resting = rate * rests.min(facts.requested.duration_seconds.unwrap_or(f64::INFINITY));
    (resting > capacity as f64).then(|| Advice {
        rule: "time_wait",
        certainty: Certainty::Perhaps,
        what: format!(
            "{} new connections/s leave up to {} local ports in TIME_WAIT, more than the {} available",
            three_digits(rate),
            three_digits(resting),
            count(capacity)
        ),
        why: format!("ports stay in TIME_WAIT for {rests} s if brunt closes first; then none is free"),
        command: format!(
            "sysctl -w net.ipv4.tcp_tw_reuse=1; or {}",
            more_ports((resting / capacity as f64).ceil() as u64)
        ),
    })
}

/// Reports more connections than the firewall can track.
pub(super) fn conntrack(facts: &CheckFacts) -> Option<Advice> {
    let max_entries = facts.machine.settings.conntrack_max?;
    // The count is 0 if no rule of the firewall tracks connections.
    let tracked = facts.machine.settings.conntrack_count.filter(|n| *n > 0)?;
    let lasting = facts.requested.connections.unwrap_or(0);
    // Closed connections stay in the table for nf_conntrack_tcp_timeout_time_wait, 120 s.
    let remembered = facts.requested.new_connections_per_second.unwrap_or(0.0)
        * facts.requested.duration_seconds.unwrap_or(f64::INFINITY).min(120.0);
    let needed = tracked.saturating_add(lasting).saturating_add(remembered as u64);
    (needed > max_entries).then(|| Advice {
        rule: "conntrack",
        certainty: if tracked.saturating_add(lasting) > max_entries {
            Certainty::Surely
        } else {
            Certainty::Perhaps
        },
        what: format!(
            "{} connections exceed the {} entries of the firewall's connection table",
            count(needed),
            count(max_entries)
        ),
        why: "when its table is full, packets are dropped".into(),
        command: format!("sysctl -w net.netfilter.nf_conntrack_max={}", needed.next_power_of_two()),
    })
}

/// Reports other processes that use much of this machine.
pub(super) fn busy_machine(facts: &CheckFacts) -> Option<Advice> {
    let cores = f64::from(facts.machine.cores);
    let others = facts.machine.other_processes_cores.filter(|others| *others >= BUSY * cores)?;
    let effect = if facts.same_host() {
        "they slow down the server and brunt"
    } else {
        "they slow down brunt"
    };
    Some(Advice {
        rule: "busy_machine",
        certainty: Certainty::Perhaps,
        what: format!(
            "other processes used {others:.2} of this machine's {} during the check",
            plural(facts.machine.cores.into(), "core")
        ),
        why: effect.into(),
        command: "end them, or measure on another machine".into(),
    })
}

/// Reports a CPU that slows down under low load.
pub(super) fn governor(facts: &CheckFacts) -> Option<Advice> {
    let governor = facts.machine.settings.governor.as_deref().filter(|g| *g != "performance")?;
    Some(Advice {
        rule: "governor",
        certainty: Certainty::Perhaps,
        what: format!("the CPU frequency governor is `{governor}`"),
        why: "CPU frequencies that follow the load make times vary between runs".into(),
        command: "cpupower frequency-set -g performance".into(),
    })
}

/// Maximum number of connections between the local addresses and those of the server; None
/// for a Unix socket.
fn port_capacity(facts: &CheckFacts) -> Option<u64> {
    // A Unix socket uses no ports, and has no addresses.
    let addresses = facts.addresses.len() as u64;
    if addresses == 0 {
        return None;
    }
    Some(facts.machine.ports()? * facts.requested.sources * addresses)
}

fn more_ports(times: u64) -> String {
    let wider = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
    if times <= 2 {
        wider.into()
    } else {
        format!("{wider}, and --source with {times} addresses of this machine")
    }
}
