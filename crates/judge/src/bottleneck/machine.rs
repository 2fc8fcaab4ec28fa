//! The server's machine besides its cores: memory, disks, network; and the files that its processes may open.

use super::RuleResult;
use super::facts::{Facts, Figure, HALF, TENTH, joined};
use brunt_model::analysis::Culprit;
use brunt_model::finding::Side;
use brunt_model::numbers::{bits, bytes, percent};
use brunt_model::reading_names::{self as name, Nic, server};

/// Bytes per second read back from swap: 250 pages, each a wait for a disk in somebody's request.
const SWAPPED_IN: f64 = 1e6;
/// Of all memory, so little still to be had: the kernel then takes pages of programs.
const AVAILABLE: f64 = 0.05;
/// Of the time, so much in which some task waited for memory.
const PRESSURE: f64 = 0.1;
/// Of the time, so much in which a disk had something to do.
const DISK: f64 = 0.9;
/// Of a link's speed: with headers and gaps it is then full, as for the generator.
const LINK: f64 = 0.9;
/// One packet dropped in a thousand, as for the generator.
const DROPPED: f64 = 0.001;
/// Of a process's limit on open files.
const FILES: f64 = 0.95;

/// Swapping, little left, or tasks that wait for memory.
pub fn memory(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    let figure = |source, name: &str, values, (threshold, side)| Figure {
        culprit: Culprit::Memory,
        source,
        name: name.into(),
        values,
        threshold,
        side,
        share: HALF,
    };
    for source in facts.telling(name::MEMORY_TOTAL) {
        let swapped = facts.rates(source, name::SWAPPED_IN);
        if let Some(rate) =
            look.hold(&figure(source, "bytes swapped in per second", swapped, (SWAPPED_IN, Side::AtLeast)))
        {
            look.say(format!("memory: {source} read {}/s back from swap", bytes(rate)));
        }
        let (free, all) =
            (facts.states_at(source, name::MEMORY_AVAILABLE), facts.states_at(source, name::MEMORY_TOTAL));
        let share = joined(&free, &all, |free, all| free / all).into_values().collect();
        if let Some(left) = look.hold(&figure(source, "memory available, share", share, (AVAILABLE, Side::Below))) {
            look.say(format!("memory: {} of {source} available", percent(left)));
        }
        let waited = facts.rates(source, name::PRESSURE_MEMORY);
        if let Some(share) = look.hold(&figure(source, name::PRESSURE_MEMORY, waited, (PRESSURE, Side::AtLeast))) {
            look.say(format!("memory: tasks of {source} waited for it {} of the time", percent(share)));
        }
    }
    look
}

/// A disk that always has something to do.
pub fn disk(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.sources() {
        for disk in facts.names(source).iter().filter_map(|n| n.strip_prefix("disk.")?.strip_suffix(".busy_seconds")) {
            let name = server::disk_busy(disk);
            let values = facts.rates(source, &name);
            let (threshold, side) = (DISK, Side::AtLeast);
            let figure = Figure { culprit: Culprit::Disk, source, name, values, threshold, side, share: HALF };
            if let Some(share) = look.hold(&figure) {
                look.say(format!("disk {disk} of {source} busy {} of the time", percent(share)));
            }
        }
    }
    look
}

/// A full link, or packets that were dropped.
pub fn network(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.sources() {
        for nic in Nic::SentBytes.interfaces(facts.names(source)) {
            link(facts, &mut look, source, nic);
            dropped(facts, &mut look, source, nic);
        }
    }
    look
}

fn link(facts: &Facts, look: &mut RuleResult, source: &str, nic: &str) {
    let Some(speed) = facts.states(source, &Nic::BitsPerSecond.of(nic)).last().copied().filter(|s| *s > 0.0) else {
        return;
    };
    for (what, done) in [(Nic::SentBytes, "sent"), (Nic::ReceivedBytes, "received")] {
        let figure = Figure {
            culprit: Culprit::Network,
            source,
            name: format!("{nic} {done}, share of the link's speed"),
            values: facts.rates(source, &what.of(nic)).iter().map(|rate| rate * 8.0 / speed).collect(),
            threshold: LINK,
            side: Side::AtLeast,
            share: HALF,
        };
        if let Some(share) = look.hold(&figure) {
            look.say(format!("network: {nic} of {source} {done} {} of its {}", percent(share), bits(speed)));
        }
    }
}

fn dropped(facts: &Facts, look: &mut RuleResult, source: &str, nic: &str) {
    let growth = |what: Nic| facts.growth(source, &what.of(nic)).unwrap_or(0.0);
    let (lost, all) = (growth(Nic::Dropped), growth(Nic::ReceivedPackets) + growth(Nic::SentPackets));
    let figure = Figure {
        culprit: Culprit::Network,
        source,
        name: format!("{nic} dropped packets, share"),
        values: if all > 0.0 { vec![lost / (all + lost)] } else { Vec::new() },
        threshold: DROPPED,
        side: Side::AtLeast,
        share: HALF,
    };
    if let Some(share) = look.hold(&figure) {
        look.say(format!("network: {nic} of {source} dropped {} of its packets", percent(share)));
    }
}

/// A process near its limit on open files.
pub fn files(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::default();
    for source in facts.telling(server::DESCRIPTORS_SHARE) {
        let figure = Figure {
            culprit: Culprit::Files,
            source,
            name: server::DESCRIPTORS_SHARE.into(),
            values: facts.states(source, server::DESCRIPTORS_SHARE),
            threshold: FILES,
            side: Side::AtLeast,
            share: TENTH,
        };
        if let Some(share) = look.hold(&figure) {
            look.say(format!("{source}: {} of the limit on open files used", percent(share)));
        }
    }
    look
}
