//! Converts messages to the types of the model. It accepts every message.
//!
//! A missing field is zero or empty. Unknown kinds come from later versions. An event of an unknown
//! kind is skipped (its reader counts it). An unknown failure counts as
//! [`Failure::System`](crate::Failure::System), so that sums remain complete. An unknown cause of a
//! malformed reply is dropped. Impossible values (a histogram beyond 2^64, a plan that is not JSON)
//! mean that the message is damaged.

use super::{
    Bin, CheckFailure, Event, Finished, Kind, MalformedReply, Mark, Phase, Reading, Sample,
};
use super::{Snapshot, Started, TransactionTally};
use crate as model;
use crate::Tick;
use crate::sample::ConnectTimes;
use crate::tally::sums::Summand;
use crate::tally::sums::kinds::failure;

/// A decoded message.
#[derive(Debug, Clone, PartialEq)]
pub enum Decoded<T> {
    /// The message has a known kind.
    Known(T),
    /// The message has an unknown kind; a later version wrote it.
    Unknown,
}

/// Converts an event; None if the message is damaged.
pub fn event(message: Event) -> Option<Decoded<model::Event>> {
    Some(Decoded::Known(match message.kind {
        Some(Kind::Started(s)) => started(&s)?,
        Some(Kind::Stage(s)) => match Phase::from_number(s.phase) {
            Some(phase) => model::Event::Stage { at: Tick(s.at_nanos), phase },
            // An unknown phase comes from a later version, and no known part of the run is meant.
            None => return Some(Decoded::Unknown),
        },
        Some(Kind::Label(l)) => model::Event::Label { id: l.id, name: l.name, hop_of: l.hop_of },
        Some(Kind::Target(t)) => model::Event::Target { addresses: t.addresses, server: t.server },
        Some(Kind::Snapshot(s)) => match Phase::from_number(s.phase) {
            Some(phase) => model::Event::Snapshot(Box::new(snapshot(*s, phase)?)),
            None => return Some(Decoded::Unknown),
        },
        Some(Kind::Population(p)) => {
            let snapshot_of = p.snapshot.unwrap_or_default();
            let Some(phase) = Phase::from_number(snapshot_of.phase) else {
                return Some(Decoded::Unknown);
            };
            model::Event::Population {
                number: p.number,
                snapshot: Box::new(snapshot(*snapshot_of, phase)?),
            }
        }
        Some(Kind::Samples(s)) => {
            model::Event::Samples(s.samples.iter().map(sample).collect::<Option<_>>()?)
        }
        Some(Kind::CheckFailures(c)) => {
            model::Event::CheckFailures(c.failures.into_iter().map(Into::into).collect())
        }
        Some(Kind::Metrics(m)) => {
            model::Event::Metrics(serde_json::from_str(&m.metrics_json).ok()?)
        }
        Some(Kind::Records(r)) => {
            model::Event::Records(serde_json::from_str(&r.records_json).ok()?)
        }
        Some(Kind::Reading(r)) => model::Event::Reading(r.into()),
        Some(Kind::Warning(w)) => {
            let text = w.text.unwrap_or_default().into();
            model::Event::Warning(model::Warning { at: Tick(w.at_nanos), text })
        }
        Some(Kind::Finished(f)) => model::Event::Finished(f.into()),
        Some(Kind::Lost(l)) => {
            let part = model::ProcessPart { number: l.process, count: l.processes, quiet: 0 };
            let at = Tick(l.at_nanos);
            model::Event::Lost(model::LostProcess { at, part, until: Tick::NEVER })
        }
        Some(Kind::Mark(mark)) => model::Event::Mark(mark.into()),
        Some(Kind::Resumed(r)) => {
            model::Event::Resumed { at: Tick(r.at_nanos), process: r.process }
        }
        Some(Kind::Agent(agent)) => match event(agent.event.map(|event| *event)?)? {
            Decoded::Known(event) => {
                model::Event::Agent { number: agent.number, event: Box::new(event) }
            }
            Decoded::Unknown => return Some(Decoded::Unknown),
        },
        None => return Some(Decoded::Unknown),
    }))
}

fn started(s: &Started) -> Option<model::Event> {
    let plan = serde_json::from_str(&s.plan_json).ok()?;
    let environment = serde_json::from_str(&s.environment_json).ok()?;
    Some(model::Event::Started { plan, environment, unix_seconds: s.unix_seconds })
}

impl From<CheckFailure> for model::CheckFailure {
    fn from(failure: CheckFailure) -> Self {
        let CheckFailure { label, check, count, expected, found } = failure;
        let expected = expected.unwrap_or_default().into();
        let found = found.unwrap_or_default().into();
        Self { label, check, expected, found, count }
    }
}

impl From<Finished> for model::Finish {
    fn from(f: Finished) -> Self {
        Self { at: Tick(f.at_nanos), interrupted: f.interrupted, error: f.error.map(Into::into) }
    }
}

impl From<Mark> for model::Mark {
    fn from(m: Mark) -> Self {
        Self { at: Tick(m.at_nanos), text: m.text }
    }
}

impl From<Reading> for model::Reading {
    fn from(r: Reading) -> Self {
        let values = r.values.into_iter().map(|value| (value.name, value.value)).collect();
        Self { at: Tick(r.at_nanos), source: r.source, values }
    }
}

fn snapshot(s: Snapshot, phase: model::Phase) -> Option<model::Snapshot> {
    let labels =
        s.labels.into_iter().map(|label| Some((label.label, Summand::from_field(label.tally)?)));
    Some(model::Snapshot {
        from: Tick(s.from_nanos),
        to: Tick(s.to_nanos),
        phase,
        flow: s.flow.unwrap_or_default(),
        measured: Summand::from_field(s.measured)?,
        warmup: Summand::from_field(s.warmup)?,
        labels: labels.collect::<Option<_>>()?,
        bins: s.bins.iter().map(Into::into).collect(),
        transactions: s.transactions.into_iter().map(transaction).collect::<Option<_>>()?,
    })
}

/// Converts a transaction to its name and sums; None if the message is damaged.
pub fn transaction(t: TransactionTally) -> Option<(String, model::TransactionTally)> {
    let tally = model::TransactionTally {
        started: t.started,
        succeeded: t.succeeded,
        failed: t.failed,
        unfinished: t.unfinished,
        response: Summand::from_field(t.response)?,
        failed_response: Summand::from_field(t.failed_response)?,
    };
    Some((t.name, tally))
}

impl From<&Bin> for model::spread::ArrivalBin {
    fn from(b: &Bin) -> Self {
        Self { number: b.number, planned: b.planned, acted: b.acted }
    }
}

fn sample(s: &Sample) -> Option<model::Sample> {
    // A status above 65,535 is impossible, so the message is damaged.
    let status = s.status.map(u16::try_from).transpose().ok()?;
    let failed = (s.failure != 0).then(|| failure(s.failure));
    Some(model::Sample {
        planned: Tick(s.planned_nanos),
        free: Tick(s.free_nanos),
        begun: Tick(s.begun_nanos),
        sent: Tick(s.sent_nanos),
        first_byte: Tick(s.first_byte_nanos),
        last_byte: Tick(s.last_byte_nanos),
        opening: ConnectTimes {
            resolve: s.resolve_nanos,
            connect: s.connect_nanos,
            tls: s.tls_nanos,
        },
        opened: s.opened,
        reused: s.reused,
        kept_alive: s.kept_alive,
        bytes_sent: s.bytes_sent,
        bytes_received: s.bytes_received,
        head_bytes: s.head_bytes,
        body_bytes: s.body_bytes,
        extra_bytes: s.extra_bytes,
        user: s.user,
        outcome: model::Outcome { status, failure: failed, expected: s.expected },
        label: s.label,
        iteration: s.iteration,
        opening_lag: s.opening_lag_nanos,
        read_lag: s.read_lag_nanos,
        malformed: MalformedReply::from_number(s.malformed),
    })
}
