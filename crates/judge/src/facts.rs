//! Readings within the measured time, as rates and states over spans of it. The rules examine them.
//!
//! Out of scope: a judgement. A name without readings gives no spans.

use crate::fleet::{self, AgentOfRun};
use brunt_model::history::History;
use brunt_model::reading_names as name;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Load, Phase, Plan, Run, Tick};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Readings nearer to each other than this count as one, in nanoseconds. The kernel counts CPU time
/// in steps of 10 ms, so a rate over a few of them would be noise.
const SHORTEST: u64 = 500_000_000;
/// Shortest time over which a rate is computed at all, in nanoseconds.
const SHORTEST_OF_ALL: u64 = 200_000_000;
/// Minimum lag of a moment that counts as lagging, in nanoseconds: half a millisecond, the least
/// that the rule on lag considers.
const LAGGING: u64 = 500_000;

/// A value that held for a part of the measured time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadingSpan {
    pub from: Tick,
    pub to: Tick,
    pub value: f64,
}

/// A span of time without a value: its start and end.
pub type UnreadSpan = (Tick, Tick);

/// A run, and its readings of the generator.
#[derive(Clone, Copy)]
pub struct RunFacts<'a> {
    pub run: &'a Run,
    /// The agent whose share of a run this is.
    agent: Option<AgentOfRun<'a>>,
    readings: Option<&'a History>,
    from: Tick,
    to: Tick,
}

impl<'a> RunFacts<'a> {
    /// Returns None if nothing was measured.
    pub fn new(run: &'a Run) -> Option<Self> {
        let (from, to) = run.measured_span()?;
        let readings = run.history.get(name::GENERATOR);
        (to > from).then_some(Self { run, agent: None, readings, from, to })
    }

    /// Returns the facts about an agent's share of a run; None if it measured nothing.
    pub fn of_agent(agent: AgentOfRun<'a>) -> Option<Self> {
        Some(Self { agent: Some(agent), ..Self::new(agent.run())? })
    }

    /// Returns facts that have the readings of the generator's machine. None if nothing was
    /// measured, or if agents on several machines generated the load.
    pub fn of_machine(run: &'a Run) -> Option<Self> {
        if run.agents.is_empty() {
            return Self::new(run);
        }
        Self::of_agent(fleet::agent_of_only_machine(run)?)
    }

    /// True if this is an agent's share of a run.
    pub fn is_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Share of the planned load of the first population that belongs to this run: an agent has a part of it.
    pub fn share_of_population(&self) -> f64 {
        self.agent.and_then(AgentOfRun::shares).map_or(1.0, |shares| shares.of_first())
    }

    /// Returns the other agents on the machine of this agent; empty for a run without agents.
    pub fn siblings(&self) -> impl Iterator<Item = AgentOfRun<'a>> + use<'a> {
        self.agent.into_iter().flat_map(AgentOfRun::siblings)
    }

    /// Number of cores that an agent used over the measured time of these facts.
    pub fn cores_of_agent(&self, agent: AgentOfRun<'a>) -> f64 {
        let readings = agent.run().history.get(name::GENERATOR);
        let spans = Self { readings, ..*self }.sum_of_rates(&[name::CPU_USER, name::CPU_SYSTEM]);
        // A lost agent has readings for a part of the time only.
        product_of_time(&spans) / self.measured().as_secs_f64()
    }

    /// Readings of the server's processes and other sources, by source.
    pub fn readings_by_source(&self) -> &'a BTreeMap<String, History> {
        match self.agent {
            // Probes on the controller's machine are readings of the whole run.
            Some(agent) if agent.shares_controllers_machine() => &agent.whole.history,
            Some(_) | None => &self.run.history,
        }
    }

    /// Length of the measured time.
    pub fn measured(&self) -> Duration {
        self.to - self.from
    }

    /// True if there are readings of the generator.
    pub fn has_readings(&self) -> bool {
        self.readings.is_some_and(|readings| !readings.names().is_empty())
    }

    /// Start of the measured time.
    pub fn begins(&self) -> Tick {
        self.from
    }

    /// End of the measured time.
    pub fn ends(&self) -> Tick {
        self.to
    }

    /// All readings of this name, of the whole run.
    pub fn values(&self, name: &str) -> Vec<(Tick, f64)> {
        self.readings.map(|readings| readings.values(name)).unwrap_or_default()
    }

    /// True if the measured time is long enough for rates.
    pub fn is_long_enough(&self) -> bool {
        self.to.nanos_since(self.from) >= SHORTEST_OF_ALL
    }

    /// True if there are readings of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names().iter().any(|candidate| candidate == name)
    }

    /// Names of all readings.
    pub fn names(&self) -> &'a [String] {
        self.readings.map_or(&[], |readings| readings.names())
    }

    /// Last value of a reading.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.run.reading(name::GENERATOR, name)
    }

    /// Growth of a counter per second.
    pub fn rates(&self, name: &str) -> Vec<ReadingSpan> {
        self.spans(name, growth)
    }

    /// Growth per second of a counter that readings leave out while it is 0. `companion` is a counter
    /// that they always have with it.
    pub fn rates_from_zero(&self, name: &str, companion: &str) -> Vec<ReadingSpan> {
        let by_instant: BTreeMap<Tick, f64> = self.values(name).into_iter().collect();
        let mut value = 0.0;
        let mut values = self.values(companion);
        for reading in &mut values {
            value = by_instant.get(&reading.0).copied().unwrap_or(value);
            reading.1 = value;
        }
        self.spans_between(values, growth)
    }

    /// Values of a state at the end of each span.
    pub fn states(&self, name: &str) -> Vec<ReadingSpan> {
        self.spans(name, |_, to, _| to)
    }

    /// Growth of several counters together, per second.
    pub fn sum_of_rates(&self, names: &[&str]) -> Vec<ReadingSpan> {
        let mut all = names.iter().map(|name| self.rates(name));
        let first = all.next().unwrap_or_default();
        all.fold(first, |sum, next| joined(&sum, &next, |a, b| Some(a + b)))
    }

    /// Growth of several counters of another source than the generator, per second.
    pub fn sum_of_rates_of(&self, source: &str, names: &[&str]) -> Vec<ReadingSpan> {
        Self { readings: self.readings_by_source().get(source), ..*self }.sum_of_rates(names)
    }

    /// True if requests arrive by a schedule, so that lag shows if the schedule was not kept.
    pub fn is_open(&self) -> bool {
        self.run
            .plan
            .iter()
            .flat_map(|plan| &plan.populations)
            .any(|one| matches!(one.load, Load::Open { .. }))
    }

    /// True if the users of a closed loop pause for longer than they wait, so that their
    /// pauses set the rate.
    pub fn users_mostly_pause(&self) -> bool {
        let Some(Load::Closed { think, .. }) =
            self.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load)
        else {
            return false;
        };
        let response = &self.run.total.response;
        // The sum of all think times compared with the sum of all response times.
        think.mean().as_nanos() * u128::from(response.count()) > response.sum()
    }

    /// Number of worker threads of all processes.
    pub fn workers(&self) -> usize {
        self.run.plan.as_ref().map_or(0, brunt_model::Plan::workers)
    }

    /// The greatest rate of all workers at each time.
    pub fn greatest_of_workers(&self, name: fn(usize) -> String) -> Vec<ReadingSpan> {
        let workers = (0..self.workers()).map(|worker| self.rates(&name(worker)));
        workers.reduce(|a, b| joined(&a, &b, |a, b| Some(a.max(b)))).unwrap_or_default()
    }

    /// Share of the machine's CPU time that these parts used.
    pub fn share_of_cores(&self, parts: &[&str]) -> Vec<ReadingSpan> {
        quotient(&self.sum_of_rates(parts), &self.sum_of_rates(&name::HOST_PARTS))
    }

    /// True if the server is on this machine; None if that is not known.
    pub fn same_host(&self) -> Option<bool> {
        self.agent.map_or_else(|| same_host(self.run), AgentOfRun::same_host)
    }

    /// Number of requests of the measured time that failed in this way.
    pub fn failed_by(&self, failure: Failure) -> u64 {
        self.run.total.failed_by(failure)
    }

    /// Number of arrivals dropped because the maximum number of requests was in flight. If never
    /// even half of the maximum was in flight, they were dropped because the generator was too
    /// late to begin them.
    pub fn dropped_at_the_cap(&self) -> u64 {
        let dropped = self.failed_by(Failure::Dropped);
        let permitted = match self.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load) {
            Some(Load::Open { connections: None, max_in_flight, .. }) => u64::from(*max_in_flight),
            _ => return dropped,
        };
        let has_neared_cap =
            self.run.series.points().any(|point| point.flow.in_flight >= permitted / 2);
        if has_neared_cap { dropped } else { 0 }
    }

    /// Times in which requests failed or were dropped, for any reason.
    pub fn failing(&self) -> Vec<UnreadSpan> {
        let points = self
            .run
            .series
            .points()
            .filter(|point| point.phase == Phase::Measure && point.flow.errors > 0);
        points.map(|point| (point.from, point.to)).collect()
    }

    /// Start and end of the measured time.
    pub fn measured_span(&self) -> UnreadSpan {
        (self.from, self.to)
    }

    /// Times in which at least one request in a hundred lagged by half a millisecond or more.
    pub fn lagging(&self) -> Vec<UnreadSpan> {
        let points = self.run.series.points().filter(|point| point.from >= self.from);
        points
            .filter(|point| point.lag.quantile(0.99) >= LAGGING)
            .map(|point| (point.from, point.to))
            .collect()
    }

    fn spans(&self, name: &str, value: fn(f64, f64, f64) -> f64) -> Vec<ReadingSpan> {
        self.spans_between(self.values(name), value)
    }

    fn spans_between(
        &self,
        readings: Vec<(Tick, f64)>,
        value: fn(f64, f64, f64) -> f64,
    ) -> Vec<ReadingSpan> {
        let readings = self.thinned(readings);
        let mut spans = Vec::new();
        for pair in readings.windows(2) {
            let (start, first) = pair[0];
            let (end, second) = pair[1];
            let from = start.max(self.from);
            let to = end.min(self.to);
            let length = end.nanos_since(start);
            // A span that lies mostly outside the measured time does not describe it.
            if length >= SHORTEST_OF_ALL && to.nanos_since(from) * 2 >= length {
                spans.push(ReadingSpan {
                    from,
                    to,
                    value: value(first, second, seconds_of(length)),
                });
            }
        }
        spans
    }

    /// Returns the readings from the one nearest to the start of the measured time to the
    /// one nearest to its end. None is nearer to its predecessor than [`SHORTEST`], unless
    /// too few would remain.
    fn thinned(&self, readings: Vec<(Tick, f64)>) -> Vec<(Tick, f64)> {
        let Some(first) = readings
            .iter()
            .min_by_key(|reading| distance(reading.0, self.from))
            .map(|reading| reading.0)
        else {
            return Vec::new();
        };
        let last = readings
            .iter()
            .rev()
            .min_by_key(|reading| distance(reading.0, self.to))
            .map_or(first, |reading| reading.0);
        let mut thinned: Vec<(Tick, f64)> = Vec::new();
        for reading in readings.into_iter().filter(|reading| (first..=last).contains(&reading.0)) {
            match thinned.last() {
                Some(before) if reading.0.nanos_since(before.0) < SHORTEST => {
                    // The last reading replaces its predecessor, so that the spans reach the end
                    // of the measured time.
                    if reading.0 == last && thinned.len() > 1 {
                        thinned.pop();
                    } else if reading.0 != last {
                        continue;
                    }
                    thinned.push(reading);
                }
                _ => thinned.push(reading),
            }
        }
        thinned
    }
}

/// Growth of a counter per second.
fn growth(from: f64, to: f64, seconds: f64) -> f64 {
    (to - from) / seconds
}

/// Sum of values × times, in seconds.
pub fn product_of_time<'a>(spans: impl IntoIterator<Item = &'a ReadingSpan>) -> f64 {
    spans.into_iter().map(|span| span.value * span.to.seconds_since(span.from)).sum()
}

/// Nanoseconds between two ticks, in either order.
fn distance(a: Tick, b: Tick) -> u64 {
    a.nanos_since(b) + b.nanos_since(a)
}

/// True if the server of a run is on the generator's machine; None if that is not known.
pub fn same_host(run: &Run) -> Option<bool> {
    // The route is that of the controller, which sends no requests.
    if !run.agents.is_empty() {
        return fleet::same_host(run);
    }
    if let Some(same) = run.environment.route.as_ref().and_then(|route| route.same_host) {
        return Some(same);
    }
    // An address that is not a loopback address may still be one of this machine.
    (has_unix_socket(run) || has_loopback_addresses(run)).then_some(true)
}

/// True if the target is a Unix socket, which is always on the machine of its client.
pub fn has_unix_socket(run: &Run) -> bool {
    run.plan.as_ref().is_some_and(|plan| plan.connection.unix_socket.is_some())
}

/// True if all of the target's addresses are loopback addresses.
pub fn has_loopback_addresses(run: &Run) -> bool {
    let addresses = &run.environment.addresses;
    !addresses.is_empty()
        && addresses.iter().all(|address| ip(address).is_some_and(|ip| ip.is_loopback()))
}

/// Parses an address with or without a port.
pub fn ip(address: &str) -> Option<IpAddr> {
    address.parse().ok().or_else(|| address.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

/// Combines the values of two lists at the same times. Leaves out times for
/// which `value` returns None.
pub fn joined(
    a: &[ReadingSpan],
    b: &[ReadingSpan],
    value: impl Fn(f64, f64) -> Option<f64>,
) -> Vec<ReadingSpan> {
    let partner =
        |span: &ReadingSpan| b.iter().find(|other| other.from == span.from && other.to == span.to);
    a.iter()
        .filter_map(|span| {
            Some(ReadingSpan { value: value(span.value, partner(span)?.value)?, ..*span })
        })
        .collect()
}

/// Quotients of two lists. Times with a divisor of 0 are left out.
pub fn quotient(a: &[ReadingSpan], b: &[ReadingSpan]) -> Vec<ReadingSpan> {
    joined(a, b, |a, b| (b > 0.0).then(|| a / b))
}

/// Total length of the stretches; overlaps count once.
pub fn total_length(stretches: &[UnreadSpan]) -> Duration {
    let mut sorted = stretches.to_vec();
    sorted.sort_unstable();
    let mut sum = Duration::ZERO;
    let mut seen_to = Tick::ZERO;
    for (from, to) in sorted {
        sum += to - from.max(seen_to);
        seen_to = seen_to.max(to);
    }
    sum
}

/// Share of `all` that lies within `by`; 0 if `all` is empty.
pub fn covered(all: &[UnreadSpan], by: &[UnreadSpan]) -> f64 {
    let mut common: Vec<UnreadSpan> = Vec::new();
    for a in all {
        common.extend(
            by.iter().map(|b| (a.0.max(b.0), a.1.min(b.1))).filter(|overlap| overlap.0 < overlap.1),
        );
    }
    let whole = total_length(all).as_secs_f64();
    if whole > 0.0 { total_length(&common).as_secs_f64() / whole } else { 0.0 }
}

/// Mean number of users that waited for a connection or a reply in the measured time. Parallel requests of
/// a user count once. None if nothing was measured.
pub fn waiting_users(run: &Run) -> Option<f64> {
    let (from, to) = run.measured_span()?;
    // The recorder counts requests in flight over time, so those that end later count, too.
    let in_flight = run.flow.in_flight_nanos as f64 - run.flow.overlap_nanos as f64;
    let before_begin = (run.total.queue_wait.sum() + run.total.lag.sum()) as f64;
    let seconds = to.seconds_since(from);
    (seconds > 0.0).then_some((in_flight + before_begin) / 1e9 / seconds)
}

/// True if this number of overflows of accept queues may be those of the server's queue, which has room for `backlog`
/// connections: no more than the SYNs of the run, if these fill the queue. Others are of another server of the
/// machine, or of other clients.
pub fn may_have_overflowed(run: &Run, overflows: f64, backlog: Option<u64>) -> bool {
    let most = most_syns(run);
    overflows <= most && backlog.is_none_or(|backlog| most > backlog as f64)
}

/// Upper bound of the number of SYNs that a run sent: one for each attempt to connect, and its
/// retransmissions. A request that was cut at the end may have been connecting.
pub fn most_syns(run: &Run) -> f64 {
    let mut sum = run.flow_all.opened as f64;
    for tally in [&run.total, &run.warmup] {
        let opened = tally.phases.connect.buckets();
        sum += opened.map(|bucket| bucket.count as f64 * retransmissions(bucket.low)).sum::<f64>();
        for (failure, times) in &tally.failure_times {
            if may_be_connecting(*failure) {
                sum += times.count() as f64 * (1.0 + retransmissions(times.max()));
            }
        }
    }
    sum
}

fn may_be_connecting(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectTimeout | Failure::Refused | Failure::Timeout | Failure::Cut)
}

/// Maximum number of retransmissions of a SYN in a time: the first after 1 s, each further one after twice
/// the time.
fn retransmissions(nanos: u64) -> f64 {
    (seconds_of(nanos) + 1.0).log2().floor()
}
