//! Lists the resources that the system does not show, which a verdict therefore cannot cover.

use crate::facts::RunFacts;
use crate::texts::message;
use brunt_model::Text;
use brunt_model::numbers::short_seconds;
use brunt_model::reading_names::{self as name, Nic};

/// Among this many replies, some have a read lag if the kernel reports it at all.
const ENOUGH_REPLIES: u64 = 1000;

/// Messages on resources that were not examined, by the name of the missing reading.
const MESSAGES: &[(&str, &str)] = &[
    (name::HOST_IDLE, "unseen.idle"),
    (name::THROTTLED, "unseen.throttled"),
    (name::PRESSURE_MEMORY, "unseen.memory-pressure"),
    (name::MEMORY_AVAILABLE, "unseen.memory"),
    (name::DESCRIPTORS, "unseen.descriptors"),
    (name::TCP_IN_USE, "unseen.sockets"),
    (name::PORT_RANGE, "unseen.ports"),
    (name::SOFTNET_DROPPED, "unseen.packets"),
    (name::CONNTRACK, "unseen.conntrack"),
];

/// Returns a sentence for each thing that could not be examined.
pub fn sentences(facts: &RunFacts) -> Vec<Text> {
    if !facts.has_readings() {
        return vec![message!("unseen.no-readings")];
    }
    if !facts.is_long_enough() {
        return vec![message!("unseen.too-short", time = short_seconds(facts.measured()))];
    }
    let mut unseen = workers(facts);
    let missing = MESSAGES.iter().filter(|row| !facts.has(row.0));
    unseen.extend(missing.map(|row| message!(row.1)));
    unseen.extend(link(facts));
    unseen.extend(read_lag(facts));
    unseen
}

/// Returns a sentence if no reply has a read lag, though there were enough for some to have one.
fn read_lag(facts: &RunFacts) -> Option<Text> {
    let total = &facts.run.total;
    let none = total.read_lag.is_empty() && total.completed >= ENOUGH_REPLIES;
    none.then(|| message!("unseen.read-lag"))
}

fn workers(facts: &RunFacts) -> Vec<Text> {
    let rows = [
        (name::worker_cpu as fn(usize) -> String, "unseen.worker-cpu"),
        (name::worker_run_delay, "unseen.worker-run-delay"),
    ];
    let mut sentences = Vec::new();
    for (name, id) in rows {
        if (0..facts.workers()).any(|worker| !facts.has(&name(worker))) {
            sentences.push(message!(id));
        }
    }
    sentences
}

/// Returns a sentence if the speed of the link to the server is unknown. On one machine
/// there is no link.
fn link(facts: &RunFacts) -> Option<Text> {
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
    (!is_known).then(|| match interface {
        Some(interface) => message!("unseen.link-of-interface", interface),
        None => message!("unseen.link"),
    })
}
