//! The rule on the memory of the server, which grows during a long run.
//!
//! Growth of memory may be a leak, a cache or a heap below its limit, or a consequence of more load.
//! The rule excludes what the readings can exclude: growth that ends, single steps, a garbage
//! collector, more connections, and requests that queue up. It reports the rest without a cause.

use super::{ExplainFacts, Remark};
use crate::texts::message;
use brunt_model::history::History;
use brunt_model::numbers::{bytes, span, three_digits};
use brunt_model::reading_names::{MEMORY_AVAILABLE, SERVER_ANONYMOUS, SERVER_GROUP_ROOM, server};
use brunt_model::{Flow, Text};
use brunt_stats::growth::{Growth, LevelAt, steady_growth};

/// Minimum measured time. In a shorter one, everything that starts still grows.
const LEAST_SECONDS: f64 = 300.0;
/// Share of the measured time that is left out at its begin, since caches and heaps fill.
const LEFT_OUT: f64 = 0.1;
/// Minimum growth, as a share of the memory at the begin.
const LEAST_SHARE: f64 = 0.05;
/// Minimum growth in bytes: an allocator requests memory from the system in blocks of megabytes.
const LEAST_BYTES: f64 = 4e6;
/// Maximum ratio of connections and of requests in the server, from one half of the measured time
/// to the other. Each takes memory, so more of them explain growth.
const MAX_RATIO: f64 = 1.05;
/// Number of connections and requests that are no considerable change.
const FEW: f64 = 2.0;
/// Longest remaining time that is reported, in seconds.
const FAR: f64 = 90.0 * 86_400.0;

/// Growth of a process's memory, and the memory that is available to it.
struct MemoryGrowth<'a> {
    /// Name of the processes; None for the listener.
    name: Option<&'a str>,
    growth: Growth,
    /// Available memory of the machine, in bytes.
    available: Option<f64>,
    /// Memory that the control groups of the server allow further, in bytes.
    group_room: Option<f64>,
}

/// Rule: the memory of the server grows steadily until the end of a long run.
pub fn grows(facts: &ExplainFacts) -> Option<Remark> {
    if facts.seconds < LEAST_SECONDS || !has_constant_load(facts) {
        return None;
    }
    // One finding: the fastest growth uses up the memory first.
    let all = probed_growth(facts).into_iter().chain(listener_growth(facts));
    let fastest = all.max_by(|a, b| a.growth.rate.total_cmp(&b.growth.rate))?;
    Some(Remark::warning(sentence(facts, &fastest)).with_remedy(message!("server-memory.remedy")))
}

/// Growth of the processes that probes read.
fn probed_growth<'a>(facts: &ExplainFacts<'a>) -> Vec<MemoryGrowth<'a>> {
    let mut all = Vec::new();
    for (source, history) in &facts.run.history {
        let Some(name) = source.strip_prefix("process:") else { continue };
        all.extend(growth_of(facts, history, server::ANONYMOUS).map(|growth| MemoryGrowth {
            name: Some(name),
            growth,
            available: history.last(MEMORY_AVAILABLE),
            group_room: history.last(server::GROUP_ROOM),
        }));
    }
    all
}

/// Growth of the processes that hold the target's listening socket. They are on this machine.
fn listener_growth<'a>(facts: &ExplainFacts<'a>) -> Option<MemoryGrowth<'a>> {
    let history = facts.history()?;
    Some(MemoryGrowth {
        name: facts.route().and_then(|route| route.listener.as_deref()),
        growth: growth_of(facts, history, SERVER_ANONYMOUS)?,
        available: history.last(MEMORY_AVAILABLE),
        group_room: history.last(SERVER_GROUP_ROOM),
    })
}

/// Returns the steady growth of a reading, if it is considerable.
fn growth_of(facts: &ExplainFacts, history: &History, name: &str) -> Option<Growth> {
    let (from, to) = facts.measured();
    let from = from.0 + (LEFT_OUT * to.nanos_since(from) as f64) as u64;
    let values = history.values(name).into_iter();
    let levels: Vec<LevelAt> = values
        .filter(|(at, _)| (from..=to.0).contains(&at.0))
        .map(|(at, level)| LevelAt { time: at.seconds(), level })
        .collect();
    let growth = steady_growth(&levels)?;
    let least = (LEAST_SHARE * growth.first).max(LEAST_BYTES);
    // Readings that end early show nothing about the rest of the run.
    let has_all =
        levels.last()?.time - levels.first()?.time >= (1.0 - 2.0 * LEFT_OUT) * facts.seconds;
    (has_all && growth.last - growth.first >= least).then_some(growth)
}

/// True if neither the load, nor the connections, nor the requests in the server grew.
fn has_constant_load(facts: &ExplainFacts) -> bool {
    let is_planned = facts.plan.populations.iter().all(|p| p.load.shape().as_constant().is_some());
    is_planned
        && !has_level_grown(facts, |flow| flow.connections)
        && !has_level_grown(facts, |flow| flow.in_flight)
}

/// True if a level is considerably higher in the second half of the measured time.
fn has_level_grown(facts: &ExplainFacts, level: fn(&Flow) -> u64) -> bool {
    let before = mean_level(facts, level, LEFT_OUT, 0.5);
    mean_level(facts, level, 0.5, 1.0) > MAX_RATIO * before + FEW
}

fn mean_level(facts: &ExplainFacts, level: fn(&Flow) -> u64, from: f64, to: f64) -> f64 {
    let part = facts.part(from, to);
    part.iter().map(|interval| level(&interval.flow) as f64).sum::<f64>() / part.len().max(1) as f64
}

fn sentence(facts: &ExplainFacts, fastest: &MemoryGrowth) -> Text {
    let MemoryGrowth { growth, .. } = fastest;
    let server = fastest.name.map_or(message!("file-limit.server"), Text::from);
    let remaining = remaining(fastest);
    message!(
        "server-memory",
        server,
        first = bytes(growth.first),
        last = bytes(growth.last),
        time = span(facts.seconds.round()),
        rate = per_hour(growth.rate),
        low = per_hour(growth.low),
        high = per_hour(growth.high),
        remaining
    )
}

/// Megabytes per hour as text, from bytes per second.
fn per_hour(rate: f64) -> String {
    three_digits(rate * 3600.0 / 1e6)
}

/// Returns the time until the memory is used up at this rate; empty if the available memory is
/// unknown, or lasts longer than [`FAR`].
fn remaining(process: &MemoryGrowth) -> Text {
    let group = process.group_room.unwrap_or(f64::INFINITY);
    let machine = process.available.unwrap_or(f64::INFINITY);
    let is_group = group < machine;
    let room = group.min(machine);
    let seconds = room / process.growth.rate;
    if seconds > FAR {
        return Text::default();
    }
    let time = duration(seconds);
    if is_group {
        message!("server-memory.group", room = bytes(room), time)
    } else {
        message!("server-memory.machine", room = bytes(room), time)
    }
}

/// Formats a time with the precision of an extrapolation: `3 d`, `5 h`, `25 min`.
fn duration(seconds: f64) -> String {
    const DAY: f64 = 86_400.0;
    let hours = (seconds / 3600.0).round();
    if seconds >= 2.0 * DAY {
        return format!("{} d", (seconds / DAY).round());
    }
    if hours >= 3.0 { format!("{hours} h") } else { span((seconds / 60.0).round().max(1.0) * 60.0) }
}
