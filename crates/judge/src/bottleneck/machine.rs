//! Rules for the server's machine besides its cores (memory, disks, network) and for the open
//! files of its processes.

use super::RuleResult;
use super::facts::{BottleneckFigure, HALF, ReadingValues, ServerFacts, TENTH, joined};
use crate::texts::message;
use brunt_model::Text;
use brunt_model::analysis::Culprit;
use brunt_model::finding::ThresholdSide;
use brunt_model::numbers::{bits, bytes, percent};
use brunt_model::reading_names::{self as name, Nic, server};

/// Bytes per second read back from swap: 250 pages, each of which makes a request wait for a disk.
const SWAPPED_IN: f64 = 1e6;
/// Available share of all memory below which the kernel takes pages of programs.
const AVAILABLE: f64 = 0.05;
/// Share of the time in which some task waited for memory.
const PRESSURE: f64 = 0.1;
/// Share of the time in which a disk was busy.
const DISK: f64 = 0.9;
/// Share of a link's speed at which it counts as full, with headers and gaps. The generator's
/// rule uses the same.
const LINK: f64 = 0.9;
/// Share of dropped packets: one in a thousand. The generator's rule uses the same.
const DROPPED: f64 = 0.001;
/// Share of a process's limit on open files.
const FILES: f64 = 0.95;

/// Rule: swapping, little available memory, or tasks that wait for memory.
pub fn memory(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(name::MEMORY_TOTAL) {
        let swapped = facts.rates(source, name::SWAPPED_IN);
        let figure = memory_figure(
            source,
            message!("reading.swapped"),
            swapped,
            SWAPPED_IN,
            ThresholdSide::AtLeast,
        );
        if let Some(rate) = result.compare(&figure) {
            result.limits.push(message!("bottleneck.swap", source, rate = bytes(rate)));
        }
        let free = facts.states_at(source, name::MEMORY_AVAILABLE);
        let all = facts.states_at(source, name::MEMORY_TOTAL);
        let share = joined(&free, &all, |free, all| free / all).into_values().collect();
        let figure = memory_figure(
            source,
            message!("reading.memory-available"),
            share,
            AVAILABLE,
            ThresholdSide::Below,
        );
        if let Some(available) = result.compare(&figure) {
            result.limits.push(message!(
                "bottleneck.memory-available",
                share = percent(available),
                source
            ));
        }
        let waited = facts.rates(source, name::PRESSURE_MEMORY);
        let figure = memory_figure(
            source,
            name::PRESSURE_MEMORY.into(),
            waited,
            PRESSURE,
            ThresholdSide::AtLeast,
        );
        if let Some(share) = result.compare(&figure) {
            let waited = message!("bottleneck.memory-waited", source, share = percent(share));
            result.limits.push(waited);
        }
    }
    result
}

fn memory_figure(
    source: &str,
    name: Text,
    values: ReadingValues,
    threshold: f64,
    side: ThresholdSide,
) -> BottleneckFigure<'_> {
    BottleneckFigure {
        culprit: Culprit::Memory,
        source,
        name,
        values,
        threshold,
        side,
        share: HALF,
    }
}

/// Rule: a disk is always busy.
pub fn disk(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources() {
        for disk in facts
            .names(source)
            .iter()
            .filter_map(|n| n.strip_prefix("disk.")?.strip_suffix(".busy_seconds"))
        {
            let name = server::disk_busy(disk);
            let values = facts.rates(source, &name);
            let figure = BottleneckFigure {
                culprit: Culprit::Disk,
                source,
                name: name.into(),
                values,
                threshold: DISK,
                side: ThresholdSide::AtLeast,
                share: HALF,
            };
            if let Some(share) = result.compare(&figure) {
                let busy = message!("bottleneck.disk-busy", disk, source, share = percent(share));
                result.limits.push(busy);
            }
        }
    }
    result
}

/// Rule: a full link, or dropped packets.
pub fn network(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources() {
        for nic in Nic::SentBytes.interfaces(facts.names(source)) {
            link(facts, &mut result, source, nic);
            dropped_packets(facts, &mut result, source, nic);
        }
    }
    result
}

fn link(facts: &ServerFacts, result: &mut RuleResult, source: &str, nic: &str) {
    let Some(speed) = facts
        .states(source, &Nic::BitsPerSecond.reading_name(nic))
        .last()
        .copied()
        .filter(|s| *s > 0.0)
    else {
        return;
    };
    for counter in [Nic::SentBytes, Nic::ReceivedBytes] {
        let figure = BottleneckFigure {
            culprit: Culprit::Network,
            source,
            name: match counter {
                Nic::SentBytes => message!("reading.link-sent", nic),
                _ => message!("reading.link-received", nic),
            },
            values: facts
                .rates(source, &counter.reading_name(nic))
                .iter()
                .map(|rate| rate * 8.0 / speed)
                .collect(),
            threshold: LINK,
            side: ThresholdSide::AtLeast,
            share: HALF,
        };
        if let Some(share) = result.compare(&figure) {
            let share = percent(share);
            let speed = bits(speed);
            result.limits.push(match counter {
                Nic::SentBytes => message!("bottleneck.link-sent", nic, source, share, speed),
                _ => message!("bottleneck.link-received", nic, source, share, speed),
            });
        }
    }
}

fn dropped_packets(facts: &ServerFacts, result: &mut RuleResult, source: &str, nic: &str) {
    let growth = |counter: Nic| facts.growth(source, &counter.reading_name(nic)).unwrap_or(0.0);
    let lost = growth(Nic::Dropped);
    let all = growth(Nic::ReceivedPackets) + growth(Nic::SentPackets);
    let figure = BottleneckFigure {
        culprit: Culprit::Network,
        source,
        name: message!("reading.dropped", nic),
        // Dropped packets are not among the received ones, so they are added to the total.
        values: if all > 0.0 { vec![lost / (all + lost)] } else { Vec::new() },
        threshold: DROPPED,
        side: ThresholdSide::AtLeast,
        share: HALF,
    };
    if let Some(share) = result.compare(&figure) {
        let dropped = message!("bottleneck.dropped", nic, source, share = percent(share));
        result.limits.push(dropped);
    }
}

/// Rule: a process is near its limit on open files.
pub fn files(facts: &ServerFacts) -> RuleResult {
    let mut result = RuleResult::default();
    for source in facts.sources_with(server::DESCRIPTORS_SHARE) {
        let figure = BottleneckFigure {
            culprit: Culprit::Files,
            source,
            name: server::DESCRIPTORS_SHARE.into(),
            values: facts.states(source, server::DESCRIPTORS_SHARE),
            threshold: FILES,
            side: ThresholdSide::AtLeast,
            share: TENTH,
        };
        if let Some(share) = result.compare(&figure) {
            result.limits.push(message!("bottleneck.files-used", source, share = percent(share)));
        }
    }
    result
}
