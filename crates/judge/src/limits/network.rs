//! Rules for the limits of network interfaces and of the kernel's receive path.

use super::result::{FigureThreshold, HUNDREDTH, LimitFigure, RuleResult, TENTH};
use crate::facts::{ReadingSpan, RunFacts, product_of_time, quotient};
use crate::shares::HALF;
use crate::texts::message;
use brunt_model::finding::{LimitingResource, UseOrigin};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names::{self as name, Nic};

/// Share of a link's speed that counted bytes can reach. With packets of 1514 bytes, 24 more bytes
/// of each are sent uncounted (preamble, checksum, gap). A full link then shows 98 %; with small
/// packets far less. Bursts fill queues before that.
const LINK: f64 = 0.9;
/// Share of lost packets: one in a thousand. Each is retransmitted after 200 ms or more, and one
/// request in a few hundred waits for it.
const LOST: f64 = 0.001;
/// Bytes of content in the longest packet of Ethernet, with the usual options of TCP.
const FULL_PACKET: f64 = 1448.0;
/// Share of its time that a core spends on receiving packets.
const RECEIVING: f64 = 0.95;

/// Rule: the interface nearest to its speed, in bytes per second.
pub fn nic(facts: &RunFacts) -> RuleResult {
    let mut result = RuleResult::new(facts);
    for interface in Nic::BitsPerSecond.interfaces(facts.names()) {
        let speed = facts.states(&Nic::BitsPerSecond.reading_name(interface));
        for (counter, direction) in [(Nic::SentBytes, "sent"), (Nic::ReceivedBytes, "received")] {
            let bytes = quotient(&facts.rates(&counter.reading_name(interface)), &speed);
            let bits =
                bytes.into_iter().map(|span| ReadingSpan { value: span.value * 8.0, ..span });
            let name = format!("{interface} {direction}, share of the link's speed");
            let figure = LimitFigure {
                limit: LimitingResource::Nic,
                name,
                spans: bits.collect(),
                bound: FigureThreshold::AtLeast(LINK),
            };
            let before = result.over.len();
            result = result.compare(&figure, TENTH);
            // The sentence describes the last interface that was over its threshold.
            if result.over.len() > before {
                result =
                    full_link(facts, result, interface, counter, figure.worst().unwrap_or(0.0));
            }
        }
    }
    result
}

fn full_link(
    facts: &RunFacts,
    result: RuleResult,
    interface: &str,
    counter: Nic,
    worst: f64,
) -> RuleResult {
    let speed = facts.last(&Nic::BitsPerSecond.reading_name(interface)).unwrap_or(0.0);
    let speed = (speed / 1e6).to_string();
    let worst = short_percent(worst);
    let threshold = short_percent(LINK);
    let duration = result.duration_text();
    let sentence = match counter {
        Nic::SentBytes => message!("limit-nic.sent", interface, worst, speed, threshold, duration),
        _ => message!("limit-nic.received", interface, worst, speed, threshold, duration),
    };
    let counter = counter.reading_name(interface);
    result
        .with_origin(user_of_link(facts, &counter))
        .with_message(sentence, message!("limit-nic.remedy"))
}

/// Returns the user of most of the bytes that an interface counted: brunt, if half of them are those of
/// its requests or replies.
fn user_of_link(facts: &RunFacts, counter: &str) -> UseOrigin {
    let counted = product_of_time(&facts.rates(counter));
    let total = &facts.run.total;
    let own = total.bytes_sent.max(total.bytes_received) as f64;
    if own >= HALF * counted { UseOrigin::Generator } else { UseOrigin::Unknown }
}

/// Rule: packets arrived faster than the kernel processed them.
pub fn packets(facts: &RunFacts) -> RuleResult {
    let queue = "packets dropped before a full receive queue, share".to_owned();
    let mut result = RuleResult::new(facts)
        .compare(
            &lost_packets(facts, queue, name::SOFTNET_DROPPED, name::SOFTNET_PROCESSED),
            HUNDREDTH,
        )
        .compare(&receiving(facts), TENTH);
    for interface in Nic::Missed.interfaces(facts.names()) {
        let name = format!("packets that {interface} had no room for, share");
        let missed = Nic::Missed.reading_name(interface);
        let received = Nic::ReceivedPackets.reading_name(interface);
        result = result.compare(&lost_packets(facts, name, &missed, &received), HUNDREDTH);
    }
    let duration = result.duration_text();
    let sentence = message!("limit-packets", duration, figures = worst_of(&result));
    result
        .with_origin(user_of_packets(facts))
        .with_message(sentence, message!("limit-packets.remedy"))
}

/// Returns the user of most received packets: brunt, if half of them are at least those of its replies.
fn user_of_packets(facts: &RunFacts) -> UseOrigin {
    let total = &facts.run.total;
    let own = total.response.count() as f64 + total.bytes_received as f64 / FULL_PACKET;
    let processed = product_of_time(&facts.rates(name::SOFTNET_PROCESSED));
    if own >= HALF * processed { UseOrigin::Generator } else { UseOrigin::Unknown }
}

fn lost_packets(facts: &RunFacts, name: String, dropped: &str, processed: &str) -> LimitFigure {
    LimitFigure {
        limit: LimitingResource::Packets,
        name,
        spans: quotient(&facts.rates(dropped), &facts.sum_of_rates(&[processed, dropped])),
        bound: FigureThreshold::AtLeast(LOST),
    }
}

fn receiving(facts: &RunFacts) -> LimitFigure {
    LimitFigure {
        limit: LimitingResource::Packets,
        name: "time that the busiest core spent on receiving packets, share".to_owned(),
        spans: facts.states(name::BUSIEST_SOFTIRQ),
        bound: FigureThreshold::AtLeast(RECEIVING),
    }
}

/// Lists the figures that were over their thresholds.
fn worst_of(result: &RuleResult) -> String {
    let over = result.evidence.iter().filter(|one| one.value >= one.threshold);
    over.map(|one| format!("{} {}", one.name, short_percent(one.value)))
        .collect::<Vec<_>>()
        .join("; ")
}
