//! What this system did not show: a verdict says what it could not look at.

use crate::facts::Facts;
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names::{self as name, Nic};

/// Of so many replies, some tell how late they were read.
const ENOUGH_REPLIES: u64 = 1000;

/// What is not looked at where a name was never read.
const SENTENCES: &[(&str, &str)] = &[
    (name::HOST_IDLE, "idle and stolen CPU: /proc/stat is not shown"),
    (name::THROTTLED, "throttling by a CPU quota: cpu.stat of our control group is not shown"),
    (name::PRESSURE_MEMORY, "tasks that waited for memory: /proc/pressure is not shown (a kernel without PSI)"),
    (name::MEMORY_AVAILABLE, "available memory: /proc/meminfo is not shown"),
    (name::DESCRIPTORS, "how many descriptors were open (Linux tells since 6.2); failures for want of one are counted"),
    (name::TCP_IN_USE, "sockets in use: /proc/net/sockstat is not shown; failures for want of a port are counted"),
    (name::PORT_RANGE, "how many local ports there are: /proc/sys/net/ipv4/ip_local_port_range is not shown"),
    (name::SOFTNET_DROPPED, "packets dropped by full receive queues: /proc/net/softnet_stat is not shown"),
    (name::CONNTRACK, "a firewall's table of connections: there is none here, or it is not shown"),
];

/// What could not be looked at, each a sentence.
pub fn sentences(facts: &Facts) -> Vec<String> {
    if !facts.has_readings() {
        return vec!["this run has no readings of the generator: only failures and lag were examined".to_owned()];
    }
    if !facts.is_long_enough() {
        return vec![format!("the measured time of {} is too short for rates", short_seconds(facts.measured()))];
    }
    let mut unseen = workers(facts);
    unseen.extend(SENTENCES.iter().filter(|row| !facts.has(row.0)).map(|row| row.1.to_owned()));
    unseen.extend(link(facts));
    unseen.extend(read_lag(facts));
    unseen
}

/// How late replies were read, where none told it and there were enough for some to.
fn read_lag(facts: &Facts) -> Option<String> {
    let total = &facts.run.total;
    let none = total.read_lag.is_empty() && total.completed >= ENOUGH_REPLIES;
    none.then(|| {
        "how late replies were read: the kernel does not stamp them (TLS, Unix sockets, or not Linux)".to_owned()
    })
}

fn workers(facts: &Facts) -> Vec<String> {
    let missing = |name: fn(usize) -> String| (0..facts.workers()).any(|worker| !facts.has(&name(worker)));
    let rows = [
        (missing(name::worker_cpu), "CPU time of the worker threads: /proc/self/task is not shown"),
        (
            missing(name::worker_run_delay),
            "how long worker threads waited for a core: schedstat is not shown (a kernel without CONFIG_SCHED_INFO)",
        ),
    ];
    rows.into_iter().filter(|row| row.0).map(|row| row.1.to_owned()).collect()
}

/// The speed of the link to the server; on one machine there is none.
fn link(facts: &Facts) -> Option<String> {
    if facts.same_host() == Some(true) {
        return None;
    }
    let interface = facts.run.environment.route.as_ref().and_then(|route| route.interface.as_deref());
    let known = match interface {
        Some(interface) => facts.has(&Nic::BitsPerSecond.of(interface)),
        None => Nic::BitsPerSecond.interfaces(facts.names()).next().is_some(),
    };
    let which = interface.map_or(String::new(), |interface| format!(" ({interface})"));
    (!known).then(|| format!("the link's speed{which}: its driver does not tell it"))
}
