//! What an interface, or the kernel behind it, could not carry.

use super::look::{Bound, Figure, HUNDREDTH, RuleResult, TENTH};
use crate::facts::{Facts, Span, quotient};
use brunt_model::finding::Limit;
use brunt_model::numbers::short_percent;
use brunt_model::reading_names::{self as name, Nic};

/// Of a link's speed, what counted bytes can reach: with packets of 1514 bytes, 24 more of each go over the wire
/// uncounted (preamble, checksum, gap), so a full link shows 98 %; with small packets far less. Bursts fill queues before.
const LINK: f64 = 0.9;
/// One packet lost in a thousand: each is sent again after 200 ms or more, and one request in a few hundred waits for it.
const LOST: f64 = 0.001;
/// A core that does nothing but receive packets.
const RECEIVING: f64 = 0.95;

/// Bytes per second of the interface that was nearest to its speed.
pub fn nic(facts: &Facts) -> RuleResult {
    let mut look = RuleResult::at(facts);
    for interface in Nic::BitsPerSecond.interfaces(facts.names()) {
        let speed = facts.states(&Nic::BitsPerSecond.of(interface));
        for (what, direction) in [(Nic::SentBytes, "sent"), (Nic::ReceivedBytes, "received")] {
            let bytes = quotient(&facts.rates(&what.of(interface)), &speed);
            let bits = bytes.into_iter().map(|span| Span { value: span.value * 8.0, ..span });
            let name = format!("{interface} {direction}, share of the link's speed");
            let figure = Figure { limit: Limit::Nic, name, spans: bits.collect(), bound: Bound::AtLeast(LINK) };
            let before = look.over.len();
            look = look.hold(&figure, TENTH);
            if look.over.len() > before {
                look = full_link(facts, look, interface, (direction, figure.worst().unwrap_or(0.0)));
            }
        }
    }
    look
}

fn full_link(facts: &Facts, look: RuleResult, interface: &str, (direction, worst): (&str, f64)) -> RuleResult {
    let speed = facts.last(&Nic::BitsPerSecond.of(interface)).unwrap_or(0.0);
    let sentence = format!(
        "{interface} {direction} {} of its {} Mbit/s at worst, and {} or more {}",
        short_percent(worst),
        speed / 1e6,
        short_percent(LINK),
        look.for_so_long()
    );
    look.say(sentence, "ask for smaller replies, use a faster link, or measure from several machines")
}

/// Packets per second: those that came faster than the kernel took them in.
pub fn packets(facts: &Facts) -> RuleResult {
    let lost = |name: String, dropped: &str, of: &str| Figure {
        limit: Limit::Packets,
        name,
        spans: quotient(&facts.rates(dropped), &facts.sum_of_rates(&[of, dropped])),
        bound: Bound::AtLeast(LOST),
    };
    let queue = "packets dropped before a full receive queue, share".to_owned();
    let mut look = RuleResult::at(facts)
        .hold(&lost(queue, name::SOFTNET_DROPPED, name::SOFTNET_PROCESSED), HUNDREDTH)
        .hold(&receiving(facts), TENTH);
    for interface in Nic::Missed.interfaces(facts.names()) {
        let name = format!("packets that {interface} had no room for, share");
        let (missed, received) = (Nic::Missed.of(interface), Nic::ReceivedPackets.of(interface));
        look = look.hold(&lost(name, &missed, &received), HUNDREDTH);
    }
    let sentence =
        format!("packets came faster than this machine took them in, {}: {}", look.for_so_long(), worst_of(&look));
    let remedy = "spread the packets over more cores (receive queues of the interface, RPS), raise \
                  net.core.netdev_max_backlog and the interface's ring, or measure from several machines";
    look.say(sentence, remedy)
}

fn receiving(facts: &Facts) -> Figure {
    Figure {
        limit: Limit::Packets,
        name: "time that the busiest core spent on receiving packets, share".to_owned(),
        spans: facts.states(name::BUSIEST_SOFTIRQ),
        bound: Bound::AtLeast(RECEIVING),
    }
}

/// The figures that were over their thresholds.
fn worst_of(look: &RuleResult) -> String {
    let over = look.evidence.iter().filter(|one| one.value >= one.threshold);
    over.map(|one| format!("{} {}", one.name, short_percent(one.value))).collect::<Vec<_>>().join("; ")
}
