//! Lists the resources that the system does not show, which a verdict therefore cannot cover.

use crate::facts::RunFacts;
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names::{self as name, Nic};

/// Among this many replies, some have a read lag if the kernel reports it at all.
const ENOUGH_REPLIES: u64 = 1000;

/// Sentences on resources that were not examined, by the name of the missing reading.
const SENTENCES: &[(&str, &str)] = &[
    (name::HOST_IDLE, "idle and stolen CPU: /proc/stat is not shown"),
    (name::THROTTLED, "throttling by a CPU quota: cpu.stat of our control group is not shown"),
    (
        name::PRESSURE_MEMORY,
        "tasks that waited for memory: /proc/pressure is not shown (a kernel without PSI)",
    ),
    (name::MEMORY_AVAILABLE, "available memory: /proc/meminfo is not shown"),
    (
        name::DESCRIPTORS,
        "the number of open descriptors (available since Linux 6.2); failures caused by missing ones are counted",
    ),
    (
        name::TCP_IN_USE,
        "sockets in use: /proc/net/sockstat is not shown; failures for want of a port are counted",
    ),
    (
        name::PORT_RANGE,
        "how many local ports there are: /proc/sys/net/ipv4/ip_local_port_range is not shown",
    ),
    (
        name::SOFTNET_DROPPED,
        "packets dropped by full receive queues: /proc/net/softnet_stat is not shown",
    ),
    (name::CONNTRACK, "a firewall's table of connections: there is none here, or it is not shown"),
];

/// Returns a sentence for each thing that could not be examined.
pub fn sentences(facts: &RunFacts) -> Vec<String> {
    if !facts.has_readings() {
        return vec![
            "this run has no readings of the generator: only failures and lag were examined"
                .to_owned(),
        ];
    }
    if !facts.is_long_enough() {
        return vec![format!(
            "the measured time of {} is too short for rates",
            short_seconds(facts.measured())
        )];
    }
    let mut unseen = workers(facts);
    unseen.extend(SENTENCES.iter().filter(|row| !facts.has(row.0)).map(|row| row.1.to_owned()));
    unseen.extend(link(facts));
    unseen.extend(read_lag(facts));
    unseen
}

/// Returns a sentence if no reply has a read lag, though there were enough for some to have one.
fn read_lag(facts: &RunFacts) -> Option<String> {
    let total = &facts.run.total;
    let none = total.read_lag.is_empty() && total.completed >= ENOUGH_REPLIES;
    none.then(|| {
        "how late replies were read: the kernel does not stamp them (TLS, Unix sockets, or not Linux)".to_owned()
    })
}

fn workers(facts: &RunFacts) -> Vec<String> {
    let rows = [
        (
            name::worker_cpu as fn(usize) -> String,
            "CPU time of the worker threads: /proc/self/task is not shown",
        ),
        (
            name::worker_run_delay,
            "how long worker threads waited for a core: schedstat is not shown (a kernel without CONFIG_SCHED_INFO)",
        ),
    ];
    let mut sentences = Vec::new();
    for (name, sentence) in rows {
        if (0..facts.workers()).any(|worker| !facts.has(&name(worker))) {
            sentences.push(sentence.to_owned());
        }
    }
    sentences
}

/// Returns a sentence if the speed of the link to the server is unknown. On one machine
/// there is no link.
fn link(facts: &RunFacts) -> Option<String> {
    // Loopback has no link speed.
    if facts.same_host() == Some(true) {
        return None;
    }
    let interface =
        facts.run.environment.route.as_ref().and_then(|route| route.interface.as_deref());
    let is_known = match interface {
        Some(interface) => facts.has(&Nic::BitsPerSecond.reading_name(interface)),
        None => Nic::BitsPerSecond.interfaces(facts.names()).next().is_some(),
    };
    let link_name = interface.map_or(String::new(), |interface| format!(" ({interface})"));
    (!is_known).then(|| format!("the link's speed{link_name}: its driver does not report it"))
}
