//! What the rules look at: the readings within the measured time, as rates and states over spans of it.
//!
//! Out of scope: a judgement. A name that was not read gives no spans.

use brunt_model::history::History;
use brunt_model::reading_names as name;
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Load, Phase, Plan, Run, Tick};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// Readings nearer to each other than this are taken as one: the kernel counts CPU time in steps of 10 ms, and a rate
/// over a few of them would be a lottery.
const SHORTEST: u64 = 500_000_000;
/// Over less than this, nothing is said of rates at all.
const SHORTEST_OF_ALL: u64 = 200_000_000;
/// Lag from which on a moment counts as one in which lag was felt: half a millisecond, the least that the rule on lag
/// takes seriously.
const FELT: u64 = 500_000;

/// A value that held for some of the measured time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// From when.
    pub from: Tick,
    /// To when.
    pub to: Tick,
    /// What.
    pub value: f64,
}

/// A time without a value.
pub type Stretch = (Tick, Tick);

/// A run, and its readings of the generator.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The run.
    pub run: &'a Run,
    readings: Option<&'a History>,
    from: Tick,
    to: Tick,
}

impl<'a> Facts<'a> {
    /// None where nothing was measured.
    pub fn of(run: &'a Run) -> Option<Self> {
        let (from, to) = run.measured_span()?;
        (to > from).then(|| Self { run, readings: run.history.get(name::GENERATOR), from, to })
    }

    /// The measured time.
    pub fn measured(&self) -> Duration {
        self.to - self.from
    }

    /// Whether there are readings at all.
    pub fn has_readings(&self) -> bool {
        self.readings.is_some_and(|readings| !readings.names().is_empty())
    }

    /// When the measured time began.
    pub fn begins(&self) -> Tick {
        self.from
    }

    /// When it ended.
    pub fn ends(&self) -> Tick {
        self.to
    }

    /// All that was read under this name, the whole run long.
    pub fn values(&self, name: &str) -> Vec<(Tick, f64)> {
        self.readings.map(|readings| readings.of(name)).unwrap_or_default()
    }

    /// Whether it lasted long enough for rates.
    pub fn is_long_enough(&self) -> bool {
        self.to.nanos_since(self.from) >= SHORTEST_OF_ALL
    }

    /// Whether this was read.
    pub fn has(&self, name: &str) -> bool {
        self.names().iter().any(|own| own == name)
    }

    /// The names of what was read.
    pub fn names(&self) -> &'a [String] {
        self.readings.map_or(&[], |readings| readings.names())
    }

    /// A reading's last value.
    pub fn last(&self, name: &str) -> Option<f64> {
        self.run.reading(name::GENERATOR, name)
    }

    /// The growth of a counter per second.
    pub fn rates(&self, name: &str) -> Vec<Span> {
        self.spans(name, |from, to, seconds| (to - from) / seconds)
    }

    /// A state, as it was found at the end of each span.
    pub fn states(&self, name: &str) -> Vec<Span> {
        self.spans(name, |_, to, _| to)
    }

    /// How fast all of these counters grow together, per second.
    pub fn sum_of_rates(&self, names: &[&str]) -> Vec<Span> {
        let mut all = names.iter().map(|name| self.rates(name));
        let first = all.next().unwrap_or_default();
        all.fold(first, |sum, next| joined(&sum, &next, |a, b| Some(a + b)))
    }

    /// The same of another source than the generator.
    pub fn sum_of_rates_of(&self, source: &str, names: &[&str]) -> Vec<Span> {
        Self { readings: self.run.history.get(source), ..*self }.sum_of_rates(names)
    }

    /// Whether requests come by a schedule, so that lag shows where it was not kept.
    pub fn is_open(&self) -> bool {
        self.run.plan.iter().flat_map(|plan| &plan.populations).any(|one| matches!(one.load, Load::Open { .. }))
    }

    /// Whether the users of a closed loop pause for longer than they wait, so that their pauses set the rate.
    pub fn users_mostly_pause(&self) -> bool {
        let Some(Load::Closed { think, .. }) = self.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load)
        else {
            return false;
        };
        let response = &self.run.total.response;
        think.mean().as_nanos() * u128::from(response.count()) > response.sum()
    }

    /// Worker threads, of all processes.
    pub fn workers(&self) -> usize {
        self.run.plan.as_ref().map_or(0, brunt_model::Plan::workers)
    }

    /// Of all workers, at each time, the one with the greatest rate.
    pub fn greatest_of_workers(&self, name: fn(usize) -> String) -> Vec<Span> {
        let workers = (0..self.workers()).map(|worker| self.rates(&name(worker)));
        workers.reduce(|a, b| joined(&a, &b, |a, b| Some(a.max(b)))).unwrap_or_default()
    }

    /// The share of the machine's CPU time that these parts had.
    pub fn share_of_cores(&self, parts: &[&str]) -> Vec<Span> {
        quotient(&self.sum_of_rates(parts), &self.sum_of_rates(&name::HOST_PARTS))
    }

    /// Whether the server is on this machine; None where that is not known.
    pub fn same_host(&self) -> Option<bool> {
        if let Some(same) = self.run.environment.route.as_ref().and_then(|route| route.same_host) {
            return Some(same);
        }
        if self.run.plan.as_ref().is_some_and(|plan| plan.connection.unix_socket.is_some()) {
            return Some(true);
        }
        let addresses = &self.run.environment.addresses;
        let known = addresses.iter().map(|address| ip(address)).collect::<Option<Vec<IpAddr>>>()?;
        // An address that is not a loopback address may still be one of ours.
        (!known.is_empty() && known.iter().all(IpAddr::is_loopback)).then_some(true)
    }

    /// How many requests of the measured time failed in this way.
    pub fn failed_by(&self, failure: Failure) -> u64 {
        self.run.total.failed_by(failure)
    }

    /// How many arrivals were dropped because no more requests were permitted under way. Where never half of what is
    /// permitted was, they were dropped because the generator was too late to begin them.
    pub fn dropped_at_the_cap(&self) -> u64 {
        let dropped = self.failed_by(Failure::Dropped);
        let permitted = match self.run.plan.as_ref().and_then(Plan::only).map(|only| &only.load) {
            Some(Load::Open { connections: None, max_in_flight, .. }) => u64::from(*max_in_flight),
            _ => return dropped,
        };
        let neared = self.run.series.points().any(|point| point.flow.in_flight >= permitted / 2);
        if neared { dropped } else { 0 }
    }

    /// The times in which requests failed or were dropped, whatever the reason.
    pub fn failing(&self) -> Vec<Stretch> {
        let points = self.run.series.points().filter(|point| point.phase == Phase::Measure && point.flow.errors > 0);
        points.map(|point| (point.from, point.to)).collect()
    }

    /// The measured time.
    pub fn measured_span(&self) -> Stretch {
        (self.from, self.to)
    }

    /// The times in which one request in a hundred lagged by half a millisecond or more.
    pub fn lag_was_felt(&self) -> Vec<Stretch> {
        let points = self.run.series.points().filter(|point| point.from >= self.from);
        points.filter(|point| point.lag.quantile(0.99) >= FELT).map(|point| (point.from, point.to)).collect()
    }

    fn spans(&self, name: &str, value: fn(f64, f64, f64) -> f64) -> Vec<Span> {
        let readings = self.readings.map(|readings| self.apart(readings.of(name))).unwrap_or_default();
        let span = |pair: &[(Tick, f64)]| {
            let ((start, first), (end, second)) = (pair[0], pair[1]);
            let (from, to) = (start.max(self.from), end.min(self.to));
            let length = end.nanos_since(start);
            let within = length >= SHORTEST_OF_ALL && to.nanos_since(from) * 2 >= length;
            within.then(|| Span { from, to, value: value(first, second, seconds_of(length)) })
        };
        readings.windows(2).filter_map(span).collect()
    }

    /// The readings from the one nearest to the beginning of the measured time to the one nearest to its end, none
    /// nearer to each other than [`SHORTEST`] where that can be.
    fn apart(&self, readings: Vec<(Tick, f64)>) -> Vec<(Tick, f64)> {
        let nearest = |to: Tick| move |reading: &&(Tick, f64)| reading.0.nanos_since(to) + to.nanos_since(reading.0);
        let Some(first) = readings.iter().min_by_key(nearest(self.from)).map(|reading| reading.0) else {
            return Vec::new();
        };
        let last = readings.iter().rev().min_by_key(nearest(self.to)).map_or(first, |reading| reading.0);
        let mut apart: Vec<(Tick, f64)> = Vec::new();
        for reading in readings.into_iter().filter(|reading| (first..=last).contains(&reading.0)) {
            match apart.last() {
                Some(before) if reading.0.nanos_since(before.0) < SHORTEST => {
                    if reading.0 == last && apart.len() > 1 {
                        apart.pop();
                    } else if reading.0 != last {
                        continue;
                    }
                    apart.push(reading);
                }
                _ => apart.push(reading),
            }
        }
        apart
    }
}

/// An address with or without a port.
fn ip(address: &str) -> Option<IpAddr> {
    address.parse().ok().or_else(|| address.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

/// The values of two lists at the same times; None where there is none.
pub fn joined(a: &[Span], b: &[Span], value: impl Fn(f64, f64) -> Option<f64>) -> Vec<Span> {
    let partner = |one: &Span| b.iter().find(|other| other.from == one.from && other.to == one.to);
    a.iter().filter_map(|one| Some(Span { value: value(one.value, partner(one)?.value)?, ..*one })).collect()
}

/// One over the other; where the other is 0, there is nothing.
pub fn quotient(a: &[Span], b: &[Span]) -> Vec<Span> {
    joined(a, b, |a, b| (b > 0.0).then(|| a / b))
}

/// How long these last together, where they overlap only once.
pub fn together(stretches: &[Stretch]) -> Duration {
    let mut sorted = stretches.to_vec();
    sorted.sort_unstable();
    let (mut sum, mut seen_to) = (Duration::ZERO, Tick::ZERO);
    for (from, to) in sorted {
        sum += to - from.max(seen_to);
        seen_to = seen_to.max(to);
    }
    sum
}

/// The share of `all` that lies within `by`; 0 where `all` is empty.
pub fn covered(all: &[Stretch], by: &[Stretch]) -> f64 {
    let cut = |a: &Stretch| {
        let a = *a;
        by.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))).filter(|c| c.0 < c.1)
    };
    let common: Vec<Stretch> = all.iter().flat_map(cut).collect();
    let whole = together(all).as_secs_f64();
    if whole > 0.0 { together(&common).as_secs_f64() / whole } else { 0.0 }
}
