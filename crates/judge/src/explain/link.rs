//! Whether the link between client and server was the ceiling.

use super::Remark;
use super::facts::{Facts, Interval};
use brunt_model::finding::Limit;
use brunt_model::numbers::{bits, percent};
use brunt_model::reading_names::{GENERATOR, HOST_IDLE, Nic};
use brunt_model::{Failure, Flow, Load};

/// The share of a link's speed at which it is full: what frames and acknowledgements take is part of it.
const FULL: f64 = 0.9;
/// Speeds that links are sold with, or shaped to, in bits per second.
const NOMINAL: [f64; 10] = [1e7, 1e8, 1e9, 2.5e9, 5e9, 1e10, 2.5e10, 4e10, 5e10, 1e11];
/// How far above a nominal speed a rate may lie: buckets let a little more through at first.
const ABOVE: f64 = 1.06;
/// How much a rate held down by a link varies: it is the link's clock that shows.
const STEADY: f64 = 0.05;
/// With a coarser grain, any rate would count as steady.
const COARSEST: f64 = 0.1;
/// The share of CPU that is idle where it is not the CPU that holds the rate down.
const IDLE: f64 = 0.2;
/// Bytes of a reply from which on its bytes may be what it costs. (Most of the service time may pass before the first
/// byte all the same: replies of others stand before it in the link's queue.)
const LONG: f64 = 10_000.0;
/// Parts of the run whose rates are compared.
const PARTS: usize = 8;

/// The link is the ceiling.
pub fn link(facts: &Facts) -> Option<Remark> {
    // The generator's verdict names a full interface too.
    if facts.so_far.verdict.causes.iter().any(|cause| cause.limit == Limit::Nic) || !facts.is_direct() {
        return None;
    }
    match speed(facts) {
        Some(speed) => known_link(facts, speed),
        None => unknown_link(facts),
    }
}

/// The speed of the interface that leads to the server, in bits per second; loopback has none.
fn speed(facts: &Facts) -> Option<f64> {
    let route = facts.route()?;
    let read = |interface: &String| facts.run.reading(GENERATOR, &Nic::BitsPerSecond.of(interface));
    let speed =
        route.link_bits_per_second.map(|speed| speed as f64).or_else(|| route.interface.as_ref().and_then(read));
    speed.filter(|speed| *speed > 0.0 && facts.same_host() != Some(true))
}

fn known_link(facts: &Facts, speed: f64) -> Option<Remark> {
    let used = median(&carried(facts).rates)?;
    (used >= FULL * speed).then(|| full(facts, used, speed, Sure::Yes))
}

/// Nobody says how fast the link is (a shaped one, or one further on): a rate that stands still at a nominal speed, while
/// more is asked for and CPU is left, says it.
fn unknown_link(facts: &Facts) -> Option<Remark> {
    let carried = carried(facts);
    let used = median(&carried.rates)?;
    let nominal = NOMINAL.into_iter().find(|speed| (FULL..=ABOVE).contains(&(used / speed)))?;
    let paced = facts.plan.connection.receive_rate.is_some();
    if paced || !wants_more(facts) || variation(&carried.rates) > STEADY + carried.grain {
        return None;
    }
    match idle_cpu(facts) {
        Some(idle) if idle < IDLE => None,
        Some(_) => Some(full(facts, used, nominal, Sure::Yes)),
        None => is_long(facts).then(|| full(facts, used, nominal, Sure::No)),
    }
}

#[derive(Clone, Copy)]
enum Sure {
    Yes,
    No,
}

fn full(facts: &Facts, used: f64, speed: f64, sure: Sure) -> Remark {
    let interface = facts.route().and_then(|route| route.interface.as_ref());
    let of = interface.map_or(String::new(), |interface| format!(" of {interface}"));
    let figures = format!("{} went over it, {} of {}", bits(used), percent(used / speed), bits(speed));
    let remedy = "use a faster link or smaller replies (--compressed); a faster server would not help";
    match sure {
        Sure::Yes => Remark::warning(format!("The link{of} is the bottleneck, not the server: {figures}.")),
        Sure::No => {
            Remark::note(format!("The link{of} may be the bottleneck: {figures}, and the rate did not grow further."))
        }
    }
    .remedy(remedy)
}

/// What the link carried.
struct LinkTraffic {
    /// Bits per second in the fuller direction, part by part of the run.
    rates: Vec<f64>,
    /// How much of their variation may come from the way in which they are known.
    grain: f64,
}

/// As the interface counted it; else as the bytes of requests and replies let one conclude.
fn carried(facts: &Facts) -> LinkTraffic {
    let counted = facts.route().and_then(|route| route.interface.as_ref()).map(|interface| {
        let [received, sent] =
            [Nic::ReceivedBytes.of(interface), Nic::SentBytes.of(interface)].map(|name| facts.rates(&name));
        let fuller = if sum(&received) >= sum(&sent) { received } else { sent };
        fuller.into_iter().map(|bytes| bytes * 8.0).collect::<Vec<_>>()
    });
    let counted = counted.filter(|rates| rates.len() >= 4);
    counted.map_or_else(|| concluded(facts), |rates| LinkTraffic { rates, grain: 0.0 })
}

/// Bytes are known when their reply is whole. Users in step end theirs together, once in a response time: a part has one
/// such wave more or less.
fn concluded(facts: &Facts) -> LinkTraffic {
    let parts = PARTS as f64;
    let rate = |i: usize| wire_rate(facts.part(i as f64 / parts, (i + 1) as f64 / parts), overhead(facts));
    let rates = if facts.intervals.len() < PARTS { Vec::new() } else { (0..PARTS).map(rate).collect() };
    LinkTraffic { rates, grain: (facts.response_seconds * parts / facts.seconds / 2.0).min(COARSEST) }
}

fn wire_rate(intervals: &[Interval], overhead: f64) -> f64 {
    let mut flow = Flow::default();
    for interval in intervals {
        flow.follow(&interval.flow);
    }
    let seconds: f64 = intervals.iter().map(Interval::seconds).sum();
    let bytes = flow.bytes_received.max(flow.bytes_sent) as f64;
    if seconds > 0.0 { bytes * 8.0 * overhead / seconds } else { 0.0 }
}

/// Bytes on the wire for each byte of payload: IP and TCP with timestamps take 52 of a packet, Ethernet adds 38 to it
/// (header, checksum, preamble, gap: IEEE 802.3).
fn overhead(facts: &Facts) -> f64 {
    let usual = if facts.is_loopback() { 65_536 } else { 1500 };
    let mtu = facts.route().and_then(|route| route.mtu_bytes).unwrap_or(usual).max(576) as f64;
    (mtu + 38.0) / (mtu - 52.0)
}

/// Users wait all the time, or the schedule is not kept up with.
fn wants_more(facts: &Facts) -> bool {
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

fn is_long(facts: &Facts) -> bool {
    let flow = &facts.run.flow;
    flow.bytes_received.max(flow.bytes_sent) as f64 >= LONG * flow.completed.max(1) as f64
}

/// The share of this machine's CPU that was idle; None where it was not read.
fn idle_cpu(facts: &Facts) -> Option<f64> {
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

/// Standard deviation over mean, without the first part: a bucket that is full at first lets more through.
fn variation(rates: &[f64]) -> f64 {
    let later = &rates[1.min(rates.len())..];
    let (n, mean) = (later.len().max(1) as f64, sum(later) / later.len().max(1) as f64);
    (later.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt() / mean
}
