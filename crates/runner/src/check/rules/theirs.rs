//! What the server's side lacks for the load that was asked for, as far as it is seen from here.

use super::{Advice, Certainty};
use crate::check::facts::Facts;
use brunt_model::numbers::{count, plural, three};

/// Files that a server has open besides its connections.
const OTHER_FILES: u64 = 16;
/// Share of a link's speed from which on it is the limit: frames, IP and TCP take the rest.
const LINK_SHARE: f64 = 0.9;

/// More connections than files that the server may have open.
pub(super) fn descriptors(facts: &Facts) -> Option<Advice> {
    let connections = facts.asked.connections?;
    let limit = facts.route.as_ref()?.listener_descriptors?;
    let needed = connections + OTHER_FILES;
    let who = facts.listener().unwrap_or("the server");
    let wanted = needed.next_power_of_two();
    let at_once =
        pid(facts).map_or(String::new(), |pid| format!("prlimit --nofile={wanted}:{wanted} --pid {pid}; for good: "));
    let lasting = match name(facts) {
        Some("nginx") => format!("worker_rlimit_nofile {wanted}; and worker_connections {wanted}; in nginx.conf"),
        _ => format!("LimitNOFILE={wanted} in its systemd unit, or ulimit -n {wanted} before it starts"),
    };
    // nginx's workers have a limit of their own, which the master's does not change.
    let command = if name(facts) == Some("nginx") { lasting } else { at_once + &lasting };
    (needed > limit).then(|| Advice {
        rule: "server_descriptors",
        bites: Certainty::Surely,
        what: format!("{} connections exceed the limit of {} open files of {who}", count(connections), count(limit)),
        why: "it cannot accept the connections beyond that".into(),
        command,
    })
}

/// A shorter accept queue than connections that may come at once.
pub(super) fn backlog(facts: &Facts) -> Option<Advice> {
    let connections = facts.asked.connections?;
    let backlog = facts.route.as_ref()?.listener_backlog?;
    if connections <= backlog {
        return None;
    }
    let wanted = connections.next_power_of_two();
    let server = match name(facts) {
        Some("nginx") => format!("`listen … backlog={wanted};` in nginx.conf"),
        Some("apache2" | "httpd") => format!("`ListenBacklog {wanted}` in Apache's configuration"),
        _ => format!("a backlog of {wanted} in the server's listen(2)"),
    };
    let kernel = facts.machine.settings.somaxconn.is_some_and(|most| most < wanted);
    let kernel = if kernel { format!("sysctl -w net.core.somaxconn={wanted}; then ") } else { String::new() };
    Some(Advice {
        rule: "backlog",
        bites: Certainty::Perhaps,
        what: format!(
            "the server's accept queue holds {} connections, fewer than the {} requested",
            count(backlog),
            count(connections)
        ),
        why: "if more arrive at once, they wait 1 s or longer for a SYN retransmission".into(),
        command: format!("{kernel}{server}, and restart it"),
    })
}

/// A short queue of half-open connections, and no SYN cookies.
pub(super) fn syn_backlog(facts: &Facts) -> Option<Advice> {
    let (connections, most) = (facts.asked.connections?, facts.machine.settings.syn_backlog?);
    let without_cookies = facts.machine.settings.syncookies == Some(0);
    (facts.same_host() && without_cookies && connections > most).then(|| Advice {
        rule: "syn_backlog",
        bites: Certainty::Perhaps,
        what: format!(
            "the SYN queue holds {} half-open connections, fewer than the {} requested",
            count(most),
            count(connections)
        ),
        why: "SYNs beyond that are dropped, because SYN cookies are off".into(),
        command: format!("sysctl -w net.ipv4.tcp_max_syn_backlog={}", connections.next_power_of_two()),
    })
}

/// More bytes per second than the link carries.
pub(super) fn link(facts: &Facts) -> Option<Advice> {
    let speed = facts.route.as_ref()?.link_bits_per_second? as f64;
    let (rate, reply) = (facts.asked.rate_per_second?, facts.reply.as_ref()?);
    let bits = rate * (reply.head_bytes + reply.body_bytes) as f64 * 8.0;
    let most = (speed * LINK_SHARE / (bits / rate)).floor();
    (bits > speed * LINK_SHARE).then(|| Advice {
        rule: "link",
        bites: Certainty::Surely,
        what: format!(
            "replies of {} at {}/s need {} Mbit/s, more than the {} Mbit/s of the link",
            plural(reply.head_bytes + reply.body_bytes, "byte"),
            three(rate),
            three(bits / 1e6),
            three(speed / 1e6)
        ),
        why: "the network is the limit, not the server".into(),
        command: format!("--rate {most}, a smaller page, or a faster link"),
    })
}

/// Client and server take each other's CPU time.
pub(super) fn shared_cores(facts: &Facts) -> Option<Advice> {
    // Where nobody answers, nothing is shared.
    if !facts.same_host() || (facts.reply.is_none() && facts.listener().is_none()) {
        return None;
    }
    let (who, cores) = (facts.listener().map_or(String::new(), |l| format!(" ({l})")), facts.machine.cores);
    let command = match (cores, pid(facts)) {
        (2.., Some(pid)) => format!(
            "taskset -acp {} {pid}; taskset -c {} brunt …; or measure from another machine",
            if cores == 2 { "0".into() } else { format!("0-{}", cores - 2) },
            cores - 1
        ),
        _ => "measure from another machine".into(),
    };
    Some(Advice {
        rule: "shared_cores",
        bites: Certainty::Perhaps,
        what: format!("client and server{who} share this machine and its {}", plural(cores.into(), "core")),
        why: "they compete for CPU, which lowers the server's throughput".into(),
        command,
    })
}

/// `nginx` of `nginx (pid 12)`.
fn name(facts: &Facts) -> Option<&str> {
    facts.listener()?.split(" (pid ").next()
}

fn pid(facts: &Facts) -> Option<&str> {
    facts.listener()?.rsplit("(pid ").next()?.strip_suffix(')')
}
