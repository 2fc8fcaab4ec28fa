//! What this machine lacks for the load that was asked for.

use super::{Advice, Certainty};
use crate::check::facts::Facts;
use brunt_model::numbers::{count, plural, three};
use brunt_spec::defaults;

/// How long a port rests after a connection was closed from here (`TCP_TIMEWAIT_LEN` of Linux), in seconds.
const TIME_WAIT: f64 = 60.0;
/// The same where such ports serve again (`tcp_tw_reuse`).
const REUSED_AFTER: f64 = 1.0;

/// Share of all cores from which on other processes are reported, as in the finding `busy_machine` of a run.
const BUSY: f64 = 0.25;

/// More connections than files that we may have open.
pub(super) fn descriptors(facts: &Facts) -> Option<Advice> {
    let (connections, limit) = (facts.asked.connections?, facts.machine.descriptors);
    let needed = connections + defaults::DESCRIPTORS_KEPT;
    let processes = connections.div_ceil(limit.saturating_sub(defaults::DESCRIPTORS_KEPT).max(1));
    let refused = processes > defaults::MOST_PROCESSES;
    let shared = format!("brunt splits the run into {processes} processes; each has its own queue of arrivals");
    (needed > limit).then(|| Advice {
        rule: "descriptors",
        bites: if refused { Certainty::Surely } else { Certainty::Perhaps },
        what: format!(
            "{} connections need {} open files; limit of a process: {}",
            count(connections),
            count(needed),
            count(limit)
        ),
        why: if refused { "brunt refuses to start such a run".into() } else { shared },
        command: format!(
            "ulimit -Hn {needed} (as root, in the shell that starts brunt); LimitNOFILE={needed} for a systemd service; --ulimit nofile={needed} for a container"
        ),
    })
}

/// More connections than local ports lead to the server.
pub(super) fn local_ports(facts: &Facts) -> Option<Advice> {
    let connections = facts.asked.connections?;
    let room = room_of_ports(facts)?;
    (connections > room).then(|| Advice {
        rule: "local_ports",
        bites: Certainty::Surely,
        what: format!("{} connections exceed the {} local ports for this server", count(connections), count(room)),
        why: "connections beyond that fail with `out of local ports`".into(),
        command: more_ports(connections.div_ceil(room)),
    })
}

/// New connections take ports faster than they come free.
pub(super) fn time_wait(facts: &Facts) -> Option<Advice> {
    let rate = facts.asked.new_connections_per_second?;
    let room = room_of_ports(facts)?;
    let reused = match facts.machine.settings.tw_reuse {
        Some(1) => true,
        Some(2) => facts.same_host(),
        _ => false,
    };
    let rests = if reused { REUSED_AFTER } else { TIME_WAIT };
    let resting = rate * rests.min(facts.asked.duration_seconds.unwrap_or(f64::INFINITY));
    (resting > room as f64).then(|| Advice {
        rule: "time_wait",
        bites: Certainty::Perhaps,
        what: format!(
            "{} new connections/s leave up to {} local ports in TIME_WAIT, more than the {} available",
            three(rate),
            three(resting),
            count(room)
        ),
        why: format!("ports stay in TIME_WAIT for {rests} s if brunt closes first; then none is free"),
        command: format!("sysctl -w net.ipv4.tcp_tw_reuse=1; or {}", more_ports((resting / room as f64).ceil() as u64)),
    })
}

/// The firewall cannot follow so many connections.
pub(super) fn conntrack(facts: &Facts) -> Option<Advice> {
    // It counts 0 where no rule makes it follow connections.
    let (most, now) =
        (facts.machine.settings.conntrack_max?, facts.machine.settings.conntrack_count.filter(|n| *n > 0)?);
    let lasting = facts.asked.connections.unwrap_or(0);
    // Closed ones are remembered for nf_conntrack_tcp_timeout_time_wait, 120 s.
    let remembered = facts.asked.new_connections_per_second.unwrap_or(0.0)
        * facts.asked.duration_seconds.unwrap_or(f64::INFINITY).min(120.0);
    let needed = now.saturating_add(lasting).saturating_add(remembered as u64);
    (needed > most).then(|| Advice {
        rule: "conntrack",
        bites: if now.saturating_add(lasting) > most { Certainty::Surely } else { Certainty::Perhaps },
        what: format!(
            "{} connections exceed the {} entries of the firewall's connection table",
            count(needed),
            count(most)
        ),
        why: "when its table is full, packets are dropped".into(),
        command: format!("sysctl -w net.netfilter.nf_conntrack_max={}", needed.next_power_of_two()),
    })
}

/// Other processes use much of this machine.
pub(super) fn busy_machine(facts: &Facts) -> Option<Advice> {
    let cores = f64::from(facts.machine.cores);
    let others = facts.machine.other_processes_cores.filter(|others| *others >= BUSY * cores)?;
    let effect = if facts.same_host() { "they slow down the server and brunt" } else { "they slow down brunt" };
    Some(Advice {
        rule: "busy_machine",
        bites: Certainty::Perhaps,
        what: format!(
            "other processes used {others:.2} of this machine's {} during the check",
            plural(facts.machine.cores.into(), "core")
        ),
        why: effect.into(),
        command: "end them, or measure on another machine".into(),
    })
}

/// The CPU slows down when there is little to do.
pub(super) fn governor(facts: &Facts) -> Option<Advice> {
    let governor = facts.machine.settings.governor.as_deref().filter(|g| *g != "performance")?;
    Some(Advice {
        rule: "governor",
        bites: Certainty::Perhaps,
        what: format!("the CPU frequency governor is `{governor}`"),
        why: "CPU frequencies that follow the load make times vary between runs".into(),
        command: "cpupower frequency-set -g performance".into(),
    })
}

/// Connections that can lead from our addresses to the server's.
fn room_of_ports(facts: &Facts) -> Option<u64> {
    // A Unix socket takes no ports.
    let addresses = facts.addresses.len() as u64;
    if addresses == 0 {
        return None;
    }
    Some(facts.machine.ports()? * facts.asked.sources * addresses)
}

fn more_ports(times: u64) -> String {
    let wider = "sysctl -w net.ipv4.ip_local_port_range='1024 65535'";
    if times <= 2 { wider.into() } else { format!("{wider}, and --source with {times} addresses of this machine") }
}
