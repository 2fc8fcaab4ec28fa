//! Converts the types of the model to messages. Empty values and zeros take no bytes.

use super::{
    Agent, Bin, CheckFailure, CheckFailures, Event, Failure, Finished, Kind, Label, LabelTally,
    Lost, MalformedReply, Mark, Metrics, Phase, Population, Reading, Records, Resumed, Sample,
    Samples, Snapshot, Stage, Started, Target, TransactionTally, Value, Warning,
};
use crate as model;
use crate::tally::sums::Summand;
use serde_json::to_string;

/// Converts an event.
///
/// # Errors
///
/// Its plan or environment cannot be encoded as JSON.
pub fn event_message(event: &model::Event) -> serde_json::Result<Event> {
    Ok(Event { kind: Some(kind(event)?) })
}

fn kind(event: &model::Event) -> serde_json::Result<Kind> {
    Ok(match event {
        model::Event::Started { plan, environment, unix_seconds } => Kind::Started(Started {
            plan_json: to_string(plan)?,
            environment_json: to_string(environment)?,
            unix_seconds: *unix_seconds,
        }),
        model::Event::Stage { at, phase } => {
            Kind::Stage(Stage { at_nanos: at.0, phase: Phase::number(*phase) })
        }
        model::Event::Label { id, name, hop_of } => {
            Kind::Label(Label { id: *id, name: name.clone(), hop_of: *hop_of })
        }
        model::Event::Target { addresses, server } => {
            Kind::Target(Target { addresses: addresses.clone(), server: server.clone() })
        }
        model::Event::Snapshot(snapshot) => Kind::Snapshot(Box::new((&**snapshot).into())),
        model::Event::Population { number, snapshot } => Kind::Population(Box::new(Population {
            number: *number,
            snapshot: Some(Box::new((&**snapshot).into())),
        })),
        model::Event::Samples(samples) => {
            Kind::Samples(Samples { samples: samples.iter().map(Into::into).collect() })
        }
        model::Event::CheckFailures(failures) => Kind::CheckFailures(CheckFailures {
            failures: failures.iter().map(Into::into).collect(),
        }),
        model::Event::Metrics(metrics) => {
            Kind::Metrics(Metrics { metrics_json: to_string(metrics)? })
        }
        model::Event::Records(records) => {
            Kind::Records(Records { records_json: to_string(records)? })
        }
        model::Event::Reading(reading) => Kind::Reading(reading.into()),
        model::Event::Warning(warning) => {
            Kind::Warning(Warning { at_nanos: warning.at.0, text: Some((&warning.text).into()) })
        }
        model::Event::Finished(finish) => Kind::Finished(finish.into()),
        model::Event::Agent { number, event } => Kind::Agent(Box::new(Agent {
            number: *number,
            event: Some(Box::new(event_message(event)?)),
        })),
        model::Event::Lost(loss) => Kind::Lost(Lost {
            at_nanos: loss.at.0,
            process: loss.part.number,
            processes: loss.part.count,
        }),
        model::Event::Mark(mark) => Kind::Mark(mark.into()),
        model::Event::Resumed { at, process } => {
            Kind::Resumed(Resumed { at_nanos: at.0, process: *process })
        }
    })
}

impl From<&model::Mark> for Mark {
    fn from(mark: &model::Mark) -> Self {
        Self { at_nanos: mark.at.0, text: mark.text.clone() }
    }
}

impl From<&model::CheckFailure> for CheckFailure {
    fn from(failure: &model::CheckFailure) -> Self {
        let model::CheckFailure { label, check, expected, found, count } = failure;
        Self {
            label: *label,
            check: check.clone(),
            count: *count,
            expected: (!expected.is_empty()).then(|| expected.into()),
            found: (!found.is_empty()).then(|| found.into()),
        }
    }
}

impl From<&model::Reading> for Reading {
    fn from(r: &model::Reading) -> Self {
        let values = r
            .values
            .iter()
            .map(|(name, value)| Value { name: name.clone(), value: *value })
            .collect();
        Self { at_nanos: r.at.0, source: r.source.clone(), values }
    }
}

impl From<&model::Snapshot> for Snapshot {
    fn from(s: &model::Snapshot) -> Self {
        Self {
            from_nanos: s.from.0,
            to_nanos: s.to.0,
            phase: Phase::number(s.phase),
            flow: (s.flow != model::Flow::default()).then_some(s.flow),
            measured: s.measured.to_field(),
            warmup: s.warmup.to_field(),
            labels: s
                .labels
                .iter()
                .map(|(label, tally)| LabelTally { label: *label, tally: tally.to_field() })
                .collect(),
            bins: s.bins.iter().map(Into::into).collect(),
            transactions: s
                .transactions
                .iter()
                .map(|(name, tally)| transaction_message(name, tally))
                .collect(),
        }
    }
}

impl From<&model::spread::ArrivalBin> for Bin {
    fn from(b: &model::spread::ArrivalBin) -> Self {
        Self { number: b.number, planned: b.planned, acted: b.acted }
    }
}

impl From<&model::Finish> for Finished {
    fn from(finish: &model::Finish) -> Self {
        let model::Finish { at, interrupted, error } = finish;
        Self { at_nanos: at.0, interrupted: *interrupted, error: error.as_ref().map(Into::into) }
    }
}

/// Converts a transaction.
pub fn transaction_message(name: &str, t: &model::TransactionTally) -> TransactionTally {
    TransactionTally {
        name: name.to_owned(),
        started: t.started,
        succeeded: t.succeeded,
        failed: t.failed,
        unfinished: t.unfinished,
        response: t.response.to_field(),
        failed_response: t.failed_response.to_field(),
    }
}

impl From<&model::Sample> for Sample {
    fn from(s: &model::Sample) -> Self {
        Self {
            planned_nanos: s.planned.0,
            free_nanos: s.free.0,
            begun_nanos: s.begun.0,
            sent_nanos: s.sent.0,
            first_byte_nanos: s.first_byte.0,
            last_byte_nanos: s.last_byte.0,
            bytes_sent: s.bytes_sent,
            bytes_received: s.bytes_received,
            head_bytes: s.head_bytes,
            body_bytes: s.body_bytes,
            user: s.user,
            iteration: s.iteration,
            status: s.outcome.status.map(u32::from),
            expected: s.outcome.expected,
            reused: s.reused,
            kept_alive: s.kept_alive,
            opened: s.opened,
            label: s.label,
            resolve_nanos: s.opening.resolve,
            connect_nanos: s.opening.connect,
            tls_nanos: s.opening.tls,
            extra_bytes: s.extra_bytes,
            failure: s.outcome.failure.map_or(0, Failure::number),
            opening_lag_nanos: s.opening_lag,
            read_lag_nanos: s.read_lag,
            malformed: s.malformed.map_or(0, MalformedReply::number),
        }
    }
}
