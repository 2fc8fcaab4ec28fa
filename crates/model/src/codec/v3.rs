//! Reads the events of log version 3, frozen as they were.
//!
//! The encoding carries no names, so a version is a set of types. Those that have changed since stand here as they were;
//! the others are today's, and a change to one of them freezes it here first. `tests/data/log-v3` holds logs that
//! version 3 wrote. What it is not: a writer.

use crate::event::as_json;
use crate::sample::Opening;
use crate::spread::Bin;
use crate::tally::{Phases, Statuses};
use crate::{Environment, Event, Failure, Finish, Flow, Loss, Outcome, Phase, Plan, Reading, Sample, Snapshot, Tally};
use crate::{Tick, Warning};
use brunt_stats::Histogram;
use serde::Deserialize;

/// How many kinds of failure there were.
const FAILURES: usize = 17;

/// The event of these bytes; None where they are none.
pub fn decode(payload: &[u8]) -> Option<Event> {
    postcard::from_bytes::<EventV3>(payload).ok().map(Event::from)
}

#[derive(Deserialize)]
enum EventV3 {
    Started {
        #[serde(with = "as_json")]
        plan: Box<Plan>,
        #[serde(with = "as_json")]
        environment: Box<Environment>,
        unix_seconds: f64,
    },
    Stage {
        at: Tick,
        phase: Phase,
    },
    Label {
        id: u32,
        name: String,
    },
    Target {
        addresses: Vec<String>,
        server: Option<String>,
    },
    Snapshot(Box<SnapshotV3>),
    Samples(Vec<SampleV3>),
    Reading(Reading),
    Warning(Warning),
    Finished(Finish),
    Lost(Loss),
}

#[derive(Deserialize)]
struct SnapshotV3 {
    from: Tick,
    to: Tick,
    phase: Phase,
    flow: FlowV3,
    measured: TallyV3,
    warmup: TallyV3,
    labels: Vec<(u32, TallyV3)>,
    bins: Vec<Bin>,
}

#[derive(Deserialize)]
struct FlowV3 {
    planned: u64,
    arrivals: u64,
    begun: u64,
    completed: u64,
    good: u64,
    errors: u64,
    bytes_sent: u64,
    bytes_received: u64,
    opened: u64,
    reused: u64,
    closed_idle: u64,
    in_flight_nanos: u64,
    thought_nanos: u64,
    announced_bytes: u64,
    announced_came_bytes: u64,
    in_flight: u64,
    waiting: u64,
    connections: u64,
    users: u64,
}

#[derive(Deserialize)]
struct TallyV3 {
    planned: u64,
    begun: u64,
    completed: u64,
    good: u64,
    failures: [u64; FAILURES],
    statuses: Statuses,
    bytes_sent: u64,
    bytes_received: u64,
    redirects: u64,
    retries: u64,
    response: Histogram,
    not_good: Histogram,
    timed_out: Histogram,
    service: Histogram,
    queue_wait: Histogram,
    lag: Histogram,
    late: Histogram,
    late_without_lag: Histogram,
    failure_times: Vec<(Failure, Histogram)>,
    phases: Phases,
}

#[derive(Deserialize)]
struct SampleV3 {
    planned: Tick,
    free: Tick,
    begun: Tick,
    sent: Tick,
    first_byte: Tick,
    last_byte: Tick,
    opening: Opening,
    opened: bool,
    reused: bool,
    kept_alive: bool,
    bytes_sent: u64,
    bytes_received: u64,
    head_bytes: u64,
    body_bytes: u64,
    user: u32,
    outcome: Outcome,
    label: u32,
    iteration: u64,
}

impl From<EventV3> for Event {
    fn from(event: EventV3) -> Self {
        match event {
            EventV3::Started { plan, environment, unix_seconds } => Self::Started { plan, environment, unix_seconds },
            EventV3::Stage { at, phase } => Self::Stage { at, phase },
            EventV3::Label { id, name } => Self::Label { id, name },
            EventV3::Target { addresses, server } => Self::Target { addresses, server },
            EventV3::Snapshot(snapshot) => Self::Snapshot(Box::new((*snapshot).into())),
            EventV3::Samples(samples) => Self::Samples(samples.into_iter().map(Sample::from).collect()),
            EventV3::Reading(reading) => Self::Reading(reading),
            EventV3::Warning(warning) => Self::Warning(warning),
            EventV3::Finished(finish) => Self::Finished(finish),
            EventV3::Lost(loss) => Self::Lost(loss),
        }
    }
}

impl From<SnapshotV3> for Snapshot {
    fn from(s: SnapshotV3) -> Self {
        let labels = s.labels.into_iter().map(|(label, tally)| (label, tally.into())).collect();
        let (flow, measured, warmup) = (s.flow.into(), s.measured.into(), s.warmup.into());
        Self { from: s.from, to: s.to, phase: s.phase, flow, measured, warmup, labels, bins: s.bins }
    }
}

impl From<FlowV3> for Flow {
    fn from(f: FlowV3) -> Self {
        Self {
            planned: f.planned,
            arrivals: f.arrivals,
            begun: f.begun,
            completed: f.completed,
            good: f.good,
            errors: f.errors,
            bytes_sent: f.bytes_sent,
            bytes_received: f.bytes_received,
            opened: f.opened,
            reused: f.reused,
            closed_idle: f.closed_idle,
            in_flight_nanos: f.in_flight_nanos,
            thought_nanos: f.thought_nanos,
            announced_bytes: f.announced_bytes,
            announced_came_bytes: f.announced_came_bytes,
            in_flight: f.in_flight,
            waiting: f.waiting,
            connections: f.connections,
            users: f.users,
            ..Self::default()
        }
    }
}

impl From<TallyV3> for Tally {
    fn from(t: TallyV3) -> Self {
        let mut failures = [0; Failure::COUNT];
        failures[..FAILURES].copy_from_slice(&t.failures);
        Self {
            planned: t.planned,
            begun: t.begun,
            completed: t.completed,
            good: t.good,
            failures,
            statuses: t.statuses,
            bytes_sent: t.bytes_sent,
            bytes_received: t.bytes_received,
            redirects: t.redirects,
            retries: t.retries,
            response: t.response,
            not_good: t.not_good,
            timed_out: t.timed_out,
            service: t.service,
            queue_wait: t.queue_wait,
            lag: t.lag,
            late: t.late,
            late_without_lag: t.late_without_lag,
            failure_times: t.failure_times,
            phases: t.phases,
            ..Self::default()
        }
    }
}

impl From<SampleV3> for Sample {
    fn from(s: SampleV3) -> Self {
        Self {
            planned: s.planned,
            free: s.free,
            begun: s.begun,
            sent: s.sent,
            first_byte: s.first_byte,
            last_byte: s.last_byte,
            opening: s.opening,
            opened: s.opened,
            reused: s.reused,
            kept_alive: s.kept_alive,
            bytes_sent: s.bytes_sent,
            bytes_received: s.bytes_received,
            head_bytes: s.head_bytes,
            body_bytes: s.body_bytes,
            user: s.user,
            outcome: s.outcome,
            label: s.label,
            iteration: s.iteration,
            ..Self::default()
        }
    }
}
