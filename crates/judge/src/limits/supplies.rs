//! What a generator may run out of: descriptors, ports, memory, room in the firewall's table.

use super::look::{Bound, Figure, HUNDREDTH, RuleResult, TENTH};
use crate::facts::{Facts, quotient};
use brunt_model::finding::{Cause, Evidence, Limit, Origin, Side, State};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names as name;
use brunt_model::{Failure, Load, Run, Verdict};
use std::time::Duration;

/// The command leaves so many descriptors to everything but connections; a cap this near to the limit was made by it.
const KEPT: f64 = 64.0;
/// A table of connections that is fuller than this has no room at its busiest moments.
const FULL: f64 = 0.95;
/// With less of the machine's memory available, programs are paged out.
const MEMORY: f64 = 0.02;
/// Of the memory in use, the part from which on it is mostly brunt's own.
const HALF: f64 = 0.5;
/// Tasks that waited for memory for this share of the time.
const MEMORY_PRESSURE: f64 = 0.1;

/// File descriptors: requests that got none, or arrivals dropped at a cap that is all the limit allows.
pub fn descriptors(facts: &Facts) -> RuleResult {
    let failed = facts.failed_by(Failure::FdsExhausted);
    let dropped = if capped_by_descriptors(facts) { facts.dropped_at_the_cap() } else { 0 };
    let used = Figure {
        limit: Limit::Descriptors,
        name: "open descriptors, share of the limit".to_owned(),
        spans: quotient(&facts.states(name::DESCRIPTORS), &facts.states(name::DESCRIPTORS_LIMIT)),
        bound: Bound::AtLeast(1.0),
    };
    let count = "requests that found no free descriptor";
    let look = RuleResult::at(facts).none_of(Limit::Descriptors, count, failed + dropped, facts.failing()).show(&used);
    let limit = facts.last(name::DESCRIPTORS_LIMIT).map_or(String::new(), |limit| format!(" of {limit} open files"));
    let sentence =
        format!("{} requests could not be begun, because the limit{limit} leaves room for no more", failed + dropped);
    look.say(sentence, Failure::FdsExhausted.row().remedy)
}

/// The verdict on a run that had no load at all: not one connection could be opened, and perhaps that was our doing.
pub fn without_load(run: &Run) -> Verdict {
    let error = run.finish.as_ref().and_then(|finish| finish.error.as_deref()).unwrap_or_default();
    let ours = [(Limit::Descriptors, Failure::FdsExhausted), (Limit::Ports, Failure::PortsExhausted)];
    let says = |failure: Failure| [failure.row().name, failure.row().meaning].iter().any(|words| error.contains(words));
    let Some((limit, failure)) = ours.into_iter().find(|(_, failure)| says(*failure)) else {
        return Verdict { state: State::Unjudged, ..Verdict::default() };
    };
    let sentence = format!("not one connection could be opened: {}", failure.row().meaning);
    let remedy = failure.row().remedy.to_owned();
    let cause = Cause { limit, origin: Origin::Generator, lasted: Duration::ZERO, sentence, remedy };
    let count =
        Evidence { limit, name: "connections opened".to_owned(), value: 0.0, threshold: 1.0, side: Side::Below };
    Verdict { state: State::Limited, causes: vec![cause], evidence: vec![count], ..Verdict::default() }
}

/// Whether as many requests were allowed under way in each process as the limit on descriptors lets the command allow.
fn capped_by_descriptors(facts: &Facts) -> bool {
    let cap = facts.run.plan.as_ref().and_then(|plan| match plan.only()?.load {
        Load::Open { connections: None, max_in_flight, .. } => {
            Some(f64::from(max_in_flight.div_ceil(plan.processes.max(1))))
        }
        _ => None,
    });
    cap.zip(facts.last(name::DESCRIPTORS_LIMIT)).is_some_and(|(cap, limit)| cap + KEPT >= limit)
}

/// Local ports.
pub fn ports(facts: &Facts) -> RuleResult {
    let failed = facts.failed_by(Failure::PortsExhausted);
    let range = facts.states(name::PORT_RANGE);
    let share = |name: &str, what: &str| Figure {
        limit: Limit::Ports,
        name: format!("sockets {what}, share of the local ports"),
        spans: quotient(&facts.states(name), &range),
        bound: Bound::AtLeast(1.0),
    };
    let look = RuleResult::at(facts)
        .none_of(Limit::Ports, "requests that found no free local port", failed, facts.failing())
        .show(&share(name::TCP_IN_USE, "in use"))
        .show(&share(name::TCP_TIME_WAIT, "in TIME_WAIT"));
    let range = facts.last(name::PORT_RANGE).map_or(String::new(), |ports| format!(" of {ports}"));
    let sentence = format!("{failed} requests found no free local port{range}");
    look.say(sentence, Failure::PortsExhausted.row().remedy)
}

/// Memory of the machine.
pub fn memory(facts: &Facts) -> RuleResult {
    let available = Figure {
        limit: Limit::Memory,
        name: "available memory, share of the machine's".to_owned(),
        spans: quotient(&facts.states(name::MEMORY_AVAILABLE), &facts.states(name::MEMORY_TOTAL)),
        bound: Bound::Below(MEMORY),
    };
    let pressure = Figure {
        limit: Limit::Memory,
        name: "memory pressure of the machine (some task waited), share of the time".to_owned(),
        spans: facts.rates(name::PRESSURE_MEMORY),
        bound: Bound::AtLeast(MEMORY_PRESSURE),
    };
    let look = RuleResult::at(facts).hold(&available, TENTH).hold(&pressure, TENTH);
    let sentence = format!(
        "this machine was short of memory {}: {} of it available at worst, and tasks waited for memory for up to {} of the time",
        look.for_so_long(),
        short_percent(available.worst().unwrap_or(0.0)),
        short_percent(pressure.worst().unwrap_or(0.0))
    );
    if is_mostly_ours(facts) {
        return look.say(sentence, "use fewer connections, or a machine with more memory");
    }
    look.by(Origin::Machine).say(sentence, "stop other programs, or use a machine with more memory")
}

/// Whether brunt has half of the memory that is in use, or that is not known.
fn is_mostly_ours(facts: &Facts) -> bool {
    let used = facts.last(name::MEMORY_TOTAL).zip(facts.last(name::MEMORY_AVAILABLE)).map(|(all, free)| all - free);
    used.zip(facts.last(name::RESIDENT)).is_none_or(|(used, resident)| resident >= HALF * used)
}

/// The firewall's table of connections.
pub fn conntrack(facts: &Facts) -> RuleResult {
    let full = Figure {
        limit: Limit::Conntrack,
        name: "connections in the firewall's table, share of its limit".to_owned(),
        spans: quotient(&facts.states(name::CONNTRACK), &facts.states(name::CONNTRACK_LIMIT)),
        bound: Bound::AtLeast(FULL),
    };
    let dropped = dropped_by_conntrack(facts);
    let look = RuleResult::at(facts).hold(&full, HUNDREDTH).hold(&dropped, HUNDREDTH);
    let limit = facts.last(name::CONNTRACK_LIMIT).unwrap_or(0.0);
    let sentence = format!(
        "the firewall's table of connections was full {}: {} of {limit} entries at worst; what is new is then dropped",
        look.for_so_long(),
        short_percent(full.worst().unwrap_or(0.0))
    );
    look.say(sentence, "raise net.netfilter.nf_conntrack_max, exempt these connections (notrack), or reuse connections")
}

fn dropped_by_conntrack(facts: &Facts) -> Figure {
    Figure {
        limit: Limit::Conntrack,
        name: "packets dropped by the firewall's full table, per second".to_owned(),
        spans: facts.rates(name::CONNTRACK_DROPPED),
        bound: Bound::AtLeast(1.0),
    }
}
