//! Rule on the link between client and server as the bottleneck.

use super::Remark;
use super::facts::{ExplainFacts, FlowInterval};
use crate::texts::message;
use brunt_model::finding::LimitingResource;
use brunt_model::numbers::{bits, percent};
use brunt_model::reading_names::{HOST_IDLE, Nic};
use brunt_model::{Failure, Flow, Load};

/// Share of a link's speed at which it is full. Frames and acknowledgements take the rest.
const FULL: f64 = 0.9;
/// Common speeds of links, physical or shaped, in bits per second.
const NOMINAL: [f64; 10] = [1e7, 1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11];
/// Maximum ratio of a rate to a nominal speed: token buckets let a little more through at first.
const ABOVE: f64 = 1.06;
/// Maximum variation of a rate that a link limits. The clock of the link keeps it constant.
const STEADY: f64 = 0.05;
/// Maximum allowance for the grain of the rates. With a coarser grain, any rate
/// would count as steady.
const COARSEST: f64 = 0.1;
/// Share of idle CPU from which on the CPU does not limit the rate.
const IDLE: f64 = 0.2;
/// Minimum bytes of a reply for its length to determine its time. Even so, most of the service time
/// may pass before the first byte, because other replies precede it in the link's queue.
const LONG: f64 = 10_000.0;
/// Number of parts of the run for the comparison of rates.
const PARTS: usize = 8;

/// Rule: the link is the bottleneck.
pub fn link(facts: &ExplainFacts) -> Option<Remark> {
    // The generator's verdict already reports a full interface.
    if facts.so_far.verdict.causes.iter().any(|cause| cause.limit == LimitingResource::Nic)
        || !facts.is_direct()
    {
        return None;
    }
    match speed(facts) {
        Some(speed) => known_link(facts, speed),
        None => unknown_link(facts),
    }
}

/// Speed of the interface on the route to the server, in bits per second; None for loopback.
fn speed(facts: &ExplainFacts) -> Option<f64> {
    let route = facts.route()?;
    let speed_of_route = route.link_bits_per_second.map(|speed| speed as f64);
    let speed = speed_of_route.or_else(|| {
        let interface = route.interface.as_ref()?;
        facts.history()?.last(&Nic::BitsPerSecond.reading_name(interface))
    });
    speed.filter(|speed| *speed > 0.0 && facts.same_host() != Some(true))
}

fn known_link(facts: &ExplainFacts, speed: f64) -> Option<Remark> {
    let used = median(&traffic(facts).rates)?;
    (used >= FULL * speed).then(|| full(facts, used, speed, Certainty::Certain))
}

/// Recognizes a full link of unknown speed, such as a shaped one, or one further on the route. Its
/// rate is constant near a nominal speed, while more is requested and the CPU is not the limit.
fn unknown_link(facts: &ExplainFacts) -> Option<Remark> {
    let traffic = traffic(facts);
    let used = median(&traffic.rates)?;
    let nominal = NOMINAL.into_iter().find(|speed| (FULL..=ABOVE).contains(&(used / speed)))?;
    // A receive rate of the plan limits the traffic itself.
    let paced = facts.plan.connection.receive_rate.is_some();
    if paced || !wants_more(facts) || variation(&traffic.rates) > STEADY + traffic.grain {
        return None;
    }
    match idle_cpu(facts) {
        Some(idle) if idle < IDLE => None,
        Some(_) => Some(full(facts, used, nominal, Certainty::Certain)),
        None => is_long(facts).then(|| full(facts, used, nominal, Certainty::Likely)),
    }
}

#[derive(Clone, Copy)]
enum Certainty {
    Certain,
    Likely,
}

fn full(facts: &ExplainFacts, used: f64, speed: f64, certainty: Certainty) -> Remark {
    let interface = facts.route().and_then(|route| route.interface.as_deref());
    let link = match interface {
        Some(interface) => message!("link.of-interface", interface),
        None => message!("link.any"),
    };
    let rate = bits(used);
    let share = percent(used / speed);
    let speed = bits(speed);
    match certainty {
        Certainty::Certain => Remark::warning(message!("link", link, rate, share, speed)),
        Certainty::Likely => Remark::note(message!("link.likely", link, rate, share, speed)),
    }
    .with_remedy(message!("link.remedy"))
}

/// Traffic on the link.
struct LinkTraffic {
    /// Bits per second in the busier direction, for each part of the run.
    rates: Vec<f64>,
    /// Share of their variation that may be an artifact of how they were measured.
    grain: f64,
}

/// Traffic as the interface counted it, otherwise as estimated from the bytes
/// of requests and replies.
fn traffic(facts: &ExplainFacts) -> LinkTraffic {
    let interface = facts.route().and_then(|route| route.interface.as_ref());
    let counted = interface.map(|interface| interface_rates(facts, interface));
    match counted.filter(|rates| rates.len() >= 4) {
        Some(rates) => LinkTraffic { rates, grain: 0.0 },
        None => estimated_traffic(facts),
    }
}

/// Bits per second of an interface in the busier direction.
fn interface_rates(facts: &ExplainFacts, interface: &str) -> Vec<f64> {
    let received = facts.rates(&Nic::ReceivedBytes.reading_name(interface));
    let sent = facts.rates(&Nic::SentBytes.reading_name(interface));
    let busier = if sum(&received) >= sum(&sent) { received } else { sent };
    busier.into_iter().map(|bytes| bytes * 8.0).collect()
}

/// Estimates the traffic from the bytes of whole replies. Synchronized users complete their replies
/// together, once in a response time, so a part of the run may have one such wave more or less.
fn estimated_traffic(facts: &ExplainFacts) -> LinkTraffic {
    let parts = PARTS as f64;
    let mut rates = Vec::new();
    if facts.intervals.len() >= PARTS {
        for part in 0..PARTS {
            let intervals = facts.part(part as f64 / parts, (part + 1) as f64 / parts);
            rates.push(wire_rate(intervals, overhead(facts)));
        }
    }
    LinkTraffic {
        rates,
        grain: (facts.response_seconds * parts / facts.seconds / 2.0).min(COARSEST),
    }
}

fn wire_rate(intervals: &[FlowInterval], overhead: f64) -> f64 {
    let mut flow = Flow::default();
    for interval in intervals {
        flow.follow(&interval.flow);
    }
    let seconds: f64 = intervals.iter().map(FlowInterval::seconds).sum();
    let bytes = flow.bytes_received.max(flow.bytes_sent) as f64;
    if seconds > 0.0 { bytes * 8.0 * overhead / seconds } else { 0.0 }
}

/// Bytes on the wire for each byte of payload. IP and TCP with timestamps take 52 bytes of a
/// packet; Ethernet adds 38 to it (header, checksum, preamble, gap: IEEE 802.3).
fn overhead(facts: &ExplainFacts) -> f64 {
    let default = if facts.is_loopback() { 65_536 } else { 1500 };
    // Every IPv4 host accepts 576 bytes (RFC 791), so a smaller MTU is not plausible.
    let mtu = facts.route().and_then(|route| route.mtu_bytes).unwrap_or(default).max(576) as f64;
    (mtu + 38.0) / (mtu - 52.0)
}

/// True if users wait all the time, or the server does not keep up with the schedule.
fn wants_more(facts: &ExplainFacts) -> bool {
    match (facts.plan.only().map(|only| &only.load), &facts.users) {
        (Some(Load::Closed { .. }), Some(users)) => users.waiting >= 0.8 * users.count,
        (Some(Load::Closed { .. }) | None, _) => false,
        (Some(Load::Open { .. }), _) => {
            let flow = &facts.run.flow;
            let dropped = facts.total().failed_by(Failure::Dropped);
            (flow.completed as f64) < 0.95 * flow.planned as f64 || dropped > 0
        }
    }
}

fn is_long(facts: &ExplainFacts) -> bool {
    let flow = &facts.run.flow;
    flow.bytes_received.max(flow.bytes_sent) as f64 >= LONG * flow.completed.max(1) as f64
}

/// Share of this machine's CPU that was idle; None if it was not read.
fn idle_cpu(facts: &ExplainFacts) -> Option<f64> {
    let rates = facts.rates(HOST_IDLE);
    let cores = f64::from(facts.run.environment.cores.max(1));
    (!rates.is_empty()).then(|| sum(&rates) / rates.len() as f64 / cores)
}

fn sum(rates: &[f64]) -> f64 {
    rates.iter().sum()
}

fn median(rates: &[f64]) -> Option<f64> {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().filter(|rate| *rate > 0.0)
}

/// Standard deviation divided by mean, without the first part: a token bucket that is full at
/// first lets more through.
fn variation(rates: &[f64]) -> f64 {
    let later = &rates[1.min(rates.len())..];
    let n = later.len().max(1) as f64;
    let mean = sum(later) / n;
    (later.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt() / mean
}
