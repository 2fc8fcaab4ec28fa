//! Limits of the server for the load of the plan, as far as they are visible from here.

use crate::advice::{Advice, Certainty};
use crate::facts::CheckFacts;
use brunt_model::numbers::{count, plural, three_digits};

/// Open files of a server in addition to its connections.
const OTHER_FILES: u64 = 16;
/// Share of the link speed above which the link limits the load: frames, IP and TCP take the rest.
const LINK_SHARE: f64 = 0.9;

/// Reports more connections than the server may have open files.
pub(super) fn descriptors(facts: &CheckFacts) -> Option<Advice> {
    let connections = facts.requested.connections?;
    let limit = facts.route.as_ref()?.listener_descriptors?;
    let needed = connections + OTHER_FILES;
    let server = facts.listener().unwrap_or("the server");
    let raised = needed.next_power_of_two();
    let at_once = pid(facts).map_or(String::new(), |pid| {
        format!("prlimit --nofile={raised}:{raised} --pid {pid}; for good: ")
    });
    let lasting = match name(facts) {
        Some("nginx") => {
            format!("worker_rlimit_nofile {raised}; and worker_connections {raised}; in nginx.conf")
        }
        _ => format!(
            "LimitNOFILE={raised} in its systemd unit, or ulimit -n {raised} before it starts"
        ),
    };
    // The workers of nginx have their own limit, which prlimit of the master does not change.
    let command = if name(facts) == Some("nginx") { lasting } else { at_once + &lasting };
    (needed > limit).then(|| Advice {
        rule: "server_descriptors",
        certainty: Certainty::Surely,
        what: format!(
            "{} connections exceed the limit of {} open files of {server}",
            count(connections),
            count(limit)
        ),
        why: "it cannot accept the connections beyond that".into(),
        command,
    })
}

/// Reports an accept queue that is shorter than the number of connections.
pub(super) fn backlog(facts: &CheckFacts) -> Option<Advice> {
    let connections = facts.requested.connections?;
    let backlog = facts.route.as_ref()?.listener_backlog?;
    if connections <= backlog {
        return None;
    }
    let raised = connections.next_power_of_two();
    let server = match name(facts) {
        Some("nginx") => format!("`listen … backlog={raised};` in nginx.conf"),
        Some("apache2" | "httpd") => format!("`ListenBacklog {raised}` in Apache's configuration"),
        _ => format!("a backlog of {raised} in the server's listen(2)"),
    };
    let kernel = facts.machine.settings.somaxconn.is_some_and(|most| most < raised);
    let kernel = if kernel {
        format!("sysctl -w net.core.somaxconn={raised}; then ")
    } else {
        String::new()
    };
    Some(Advice {
        rule: "backlog",
        certainty: Certainty::Perhaps,
        what: format!(
            "the server's accept queue holds {} connections, fewer than the {} requested",
            count(backlog),
            count(connections)
        ),
        why: "if more arrive at once, they wait 1 s or longer for a SYN retransmission".into(),
        command: format!("{kernel}{server}, and restart it"),
    })
}

/// Reports a short queue of half-open connections without SYN cookies.
pub(super) fn syn_backlog(facts: &CheckFacts) -> Option<Advice> {
    let connections = facts.requested.connections?;
    let backlog = facts.machine.settings.syn_backlog?;
    let without_cookies = facts.machine.settings.syncookies == Some(0);
    // These settings are those of this machine; another machine does not show its own.
    (facts.same_host() && without_cookies && connections > backlog).then(|| Advice {
        rule: "syn_backlog",
        certainty: Certainty::Perhaps,
        what: format!(
            "the SYN queue holds {} half-open connections, fewer than the {} requested",
            count(backlog),
            count(connections)
        ),
        why: "SYNs beyond that are dropped, because SYN cookies are off".into(),
        command: format!(
            "sysctl -w net.ipv4.tcp_max_syn_backlog={}",
            connections.next_power_of_two()
        ),
    })
}

/// Reports more bytes per second than the capacity of the link.
pub(super) fn link(facts: &CheckFacts) -> Option<Advice> {
    let speed = facts.route.as_ref()?.link_bits_per_second? as f64;
    let rate = facts.requested.rate_per_second?;
    let reply = facts.reply.as_ref()?;
    let bits = rate * (reply.head_bytes + reply.body_bytes) as f64 * 8.0;
    let max_rate = (speed * LINK_SHARE / (bits / rate)).floor();
    (bits > speed * LINK_SHARE).then(|| Advice {
        rule: "link",
        certainty: Certainty::Surely,
        what: format!(
            "replies of {} at {}/s need {} Mbit/s, more than the {} Mbit/s of the link",
            plural(reply.head_bytes + reply.body_bytes, "byte"),
            three_digits(rate),
            three_digits(bits / 1e6),
            three_digits(speed / 1e6)
        ),
        why: "the network is the limit, not the server".into(),
        command: format!("--rate {max_rate}, a smaller page, or a faster link"),
    })
}

/// Reports a client and a server that compete for CPU time.
pub(super) fn shared_cores(facts: &CheckFacts) -> Option<Advice> {
    // Without a server, there is nothing to compete with.
    if !facts.same_host() || (facts.reply.is_none() && facts.listener().is_none()) {
        return None;
    }
    let server = facts.listener().map_or(String::new(), |l| format!(" ({l})"));
    let cores = facts.machine.cores;
    let command = match (cores, pid(facts)) {
        // With one core, both must share it.
        (2.., Some(pid)) => format!(
            "taskset -acp {} {pid}; taskset -c {} brunt …; or measure from another machine",
            if cores == 2 { "0".into() } else { format!("0-{}", cores - 2) },
            cores - 1
        ),
        _ => "measure from another machine".into(),
    };
    Some(Advice {
        rule: "shared_cores",
        certainty: Certainty::Perhaps,
        what: format!(
            "client and server{server} share this machine and its {}",
            plural(cores.into(), "core")
        ),
        why: "they compete for CPU, which lowers the server's throughput".into(),
        command,
    })
}

/// Name of the process that listens: `nginx` of `nginx (pid 12)`.
fn name(facts: &CheckFacts) -> Option<&str> {
    facts.listener()?.split(" (pid ").next()
}

fn pid(facts: &CheckFacts) -> Option<&str> {
    facts.listener()?.rsplit("(pid ").next()?.strip_suffix(')')
}
