//! Rules for supplies that a generator may use up: descriptors, ports, memory, entries
//! of the firewall's table.

use super::result::{FigureThreshold, HUNDREDTH, LimitFigure, RuleResult, TENTH};
use crate::facts::{RunFacts, quotient};
use crate::shares::HALF;
use crate::texts::message;
use brunt_model::finding::{
    FigureEvidence, LimitingResource, OtherCause, State, ThresholdSide, UseOrigin,
};
use brunt_model::numbers::short_percent;
use brunt_model::reading_names as name;
use brunt_model::{Failure, Load, Run, Verdict};
use std::time::Duration;

/// Descriptors that the command reserves for everything but connections. A cap this near to the
/// limit was derived from it.
const RESERVED: f64 = 64.0;
/// Filled share above which the table of connections has no room at its busiest moments.
const FULL: f64 = 0.95;
/// Available share of the machine's memory below which programs are paged out.
const MEMORY: f64 = 0.02;
/// Share of the time for which tasks waited for memory.
const MEMORY_PRESSURE: f64 = 0.1;

/// Rule: requests got no file descriptor, or arrivals were dropped at a cap that the
/// limit on descriptors determined.
pub fn descriptors(facts: &RunFacts) -> RuleResult {
    let failed = facts.failed_by(Failure::FdsExhausted);
    let dropped = if capped_by_descriptors(facts) { facts.dropped_at_the_cap() } else { 0 };
    // Shown only: a nearly used limit does no harm before a request fails.
    let used = LimitFigure {
        limit: LimitingResource::Descriptors,
        name: "open descriptors, share of the limit".to_owned(),
        spans: quotient(&facts.states(name::DESCRIPTORS), &facts.states(name::DESCRIPTORS_LIMIT)),
        bound: FigureThreshold::AtLeast(1.0),
    };
    let count = "requests that found no free descriptor";
    let result = RuleResult::new(facts)
        .expect_zero(LimitingResource::Descriptors, count, failed + dropped, facts.failing())
        .with_evidence(&used);
    let requests = (failed + dropped).to_string();
    let sentence = match facts.last(name::DESCRIPTORS_LIMIT) {
        Some(limit) => {
            message!("limit-descriptors.with-limit", requests, limit = limit.to_string())
        }
        None => message!("limit-descriptors", requests),
    };
    // Each process has its own limit.
    result
        .with_origin(UseOrigin::Generator)
        .with_message(sentence, Failure::FdsExhausted.row().remedy.clone())
}

/// Returns the verdict on a run without any load: no connection could be opened, possibly because
/// the generator had no descriptor or port left.
pub fn without_load(run: &Run) -> Verdict {
    // Without load there are no readings, so the error of the run is the only evidence.
    let error = run.finish.as_ref().and_then(|finish| finish.error.as_deref()).unwrap_or_default();
    let supplies = [
        (LimitingResource::Descriptors, Failure::FdsExhausted),
        (LimitingResource::Ports, Failure::PortsExhausted),
    ];
    let Some((limit, failure)) =
        supplies.into_iter().find(|(_, failure)| is_named_in(error, *failure))
    else {
        return Verdict { state: State::Unjudged, ..Verdict::default() };
    };
    let sentence = message!("limit-no-connection", reason = failure.row().meaning.clone());
    let remedy = failure.row().remedy.clone();
    let cause = OtherCause {
        limit,
        origin: UseOrigin::Generator,
        lasted: Duration::ZERO,
        sentence,
        remedy,
    };
    let count = FigureEvidence {
        limit,
        name: "connections opened".into(),
        value: 0.0,
        threshold: 1.0,
        side: ThresholdSide::Below,
    };
    Verdict {
        state: State::Limited,
        causes: vec![cause],
        evidence: vec![count],
        ..Verdict::default()
    }
}

/// True if an error text names this failure.
fn is_named_in(error: &str, failure: Failure) -> bool {
    [&failure.row().name, &failure.row().meaning].iter().any(|text| error.contains(text.as_str()))
}

/// True if the cap on requests in flight in each process is the highest that the command allows
/// with the limit on descriptors.
fn capped_by_descriptors(facts: &RunFacts) -> bool {
    let cap = facts.run.plan.as_ref().and_then(|plan| match plan.only()?.load {
        Load::Open { connections: None, max_in_flight, .. } => {
            Some(f64::from(max_in_flight.div_ceil(plan.processes.max(1))))
        }
        _ => None,
    });
    cap.zip(facts.last(name::DESCRIPTORS_LIMIT)).is_some_and(|(cap, limit)| cap + RESERVED >= limit)
}

/// Rule: requests got no local port.
pub fn ports(facts: &RunFacts) -> RuleResult {
    let failed = facts.failed_by(Failure::PortsExhausted);
    let result = RuleResult::new(facts)
        .expect_zero(
            LimitingResource::Ports,
            "requests that found no free local port",
            failed,
            facts.failing(),
        )
        .with_evidence(&port_share(facts, name::TCP_IN_USE, "in use"))
        .with_evidence(&port_share(facts, name::TCP_TIME_WAIT, "in TIME_WAIT"));
    let requests = failed.to_string();
    let sentence = match facts.last(name::PORT_RANGE) {
        Some(ports) => message!("limit-ports.with-range", requests, ports = ports.to_string()),
        None => message!("limit-ports", requests),
    };
    result
        .with_origin(UseOrigin::Generator)
        .with_message(sentence, Failure::PortsExhausted.row().remedy.clone())
}

fn port_share(facts: &RunFacts, sockets: &str, state: &str) -> LimitFigure {
    LimitFigure {
        limit: LimitingResource::Ports,
        name: format!("sockets {state}, share of the local ports"),
        spans: quotient(&facts.states(sockets), &facts.states(name::PORT_RANGE)),
        bound: FigureThreshold::AtLeast(1.0),
    }
}

/// Rule: the machine is short of memory.
pub fn memory(facts: &RunFacts) -> RuleResult {
    let available = LimitFigure {
        limit: LimitingResource::Memory,
        name: "available memory, share of the machine's".to_owned(),
        spans: quotient(&facts.states(name::MEMORY_AVAILABLE), &facts.states(name::MEMORY_TOTAL)),
        bound: FigureThreshold::Below(MEMORY),
    };
    let pressure = LimitFigure {
        limit: LimitingResource::Memory,
        name: "memory pressure of the machine (some task waited), share of the time".to_owned(),
        spans: facts.rates(name::PRESSURE_MEMORY),
        bound: FigureThreshold::AtLeast(MEMORY_PRESSURE),
    };
    let result = RuleResult::new(facts).compare(&available, TENTH).compare(&pressure, TENTH);
    let sentence = message!(
        "limit-memory",
        duration = result.duration_text(),
        available = short_percent(available.worst().unwrap_or(0.0)),
        waited = short_percent(pressure.worst().unwrap_or(0.0))
    );
    let origin = user_of_memory(facts);
    let remedy = match origin {
        UseOrigin::Generator => message!("limit-memory.remedy-brunt"),
        UseOrigin::Machine | UseOrigin::Unknown => message!("limit-memory.remedy-others"),
    };
    result.with_origin(origin).with_message(sentence, remedy)
}

/// Returns the user of most of the memory in use.
fn user_of_memory(facts: &RunFacts) -> UseOrigin {
    let used = facts
        .last(name::MEMORY_TOTAL)
        .zip(facts.last(name::MEMORY_AVAILABLE))
        .map(|(all, free)| all - free);
    match used.zip(facts.last(name::RESIDENT)) {
        Some((used, resident)) if resident >= HALF * used => UseOrigin::Generator,
        Some(_) => UseOrigin::Machine,
        None => UseOrigin::Unknown,
    }
}

/// Rule: the firewall's table of connections is full.
pub fn conntrack(facts: &RunFacts) -> RuleResult {
    let full = LimitFigure {
        limit: LimitingResource::Conntrack,
        name: "connections in the firewall's table, share of its limit".to_owned(),
        spans: quotient(&facts.states(name::CONNTRACK), &facts.states(name::CONNTRACK_LIMIT)),
        bound: FigureThreshold::AtLeast(FULL),
    };
    let dropped = dropped_by_conntrack(facts);
    let result = RuleResult::new(facts).compare(&full, HUNDREDTH).compare(&dropped, HUNDREDTH);
    let sentence = message!(
        "limit-conntrack",
        duration = result.duration_text(),
        worst = short_percent(full.worst().unwrap_or(0.0)),
        limit = facts.last(name::CONNTRACK_LIMIT).unwrap_or(0.0).to_string()
    );
    result
        .with_origin(user_of_conntrack(facts))
        .with_message(sentence, message!("limit-conntrack.remedy"))
}

/// Returns the user of most entries of the firewall's table. A connection stays in it for a while after
/// its end, so all connections that the run opened count.
fn user_of_conntrack(facts: &RunFacts) -> UseOrigin {
    let opened = facts.run.flow.opened as f64;
    match facts.last(name::CONNTRACK) {
        Some(entries) if opened >= HALF * entries => UseOrigin::Generator,
        Some(_) => UseOrigin::Machine,
        None => UseOrigin::Unknown,
    }
}

fn dropped_by_conntrack(facts: &RunFacts) -> LimitFigure {
    LimitFigure {
        limit: LimitingResource::Conntrack,
        name: "packets dropped by the firewall's full table, per second".to_owned(),
        spans: facts.rates(name::CONNTRACK_DROPPED),
        bound: FigureThreshold::AtLeast(1.0),
    }
}
