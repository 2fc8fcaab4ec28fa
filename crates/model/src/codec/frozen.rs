//! Reads the events of log versions 3 and 4, frozen as they were: postcard of the inner types of their time.
//!
//! That encoding carries no names and no numbers: the order of the fields is the format, and a struct within a struct is
//! the same as its fields in its place. So nothing on the left-hand side of a conversion here ever changes.
//! `tests/data/log-v3` and `log-v4` hold logs that these versions wrote. Out of scope: a writer.

use crate::outcome::Malformed;
use crate::sample::Opening;
use crate::{
    Event, Failure, Finish, Flow, Loss, Outcome, Part, Phase, Reading, Sample, Snapshot, Tally, Tick, Warning,
};
use brunt_stats::Histogram;
use serde::Deserialize;
use serde::de::DeserializeOwned;

mod tally;

use tally::{TallyV3, TallyV4};

/// The event of these bytes, of version 3; None where they are none.
pub fn decode_v3(payload: &[u8]) -> Option<Event> {
    decode::<FlowV3, TallyV3, SampleV3>(payload)
}

/// The same of version 4.
pub fn decode_v4(payload: &[u8]) -> Option<Event> {
    decode::<FlowV4, TallyV4, SampleV4>(payload)
}

fn decode<F, T, S>(payload: &[u8]) -> Option<Event>
where
    F: DeserializeOwned + Into<Flow>,
    T: DeserializeOwned + Into<Tally>,
    S: DeserializeOwned + Into<Sample>,
{
    postcard::from_bytes::<FrozenEvent<F, T, S>>(payload).ok()?.event()
}

/// What both versions wrote, but for the flow, the tallies and the samples.
#[derive(Deserialize)]
enum FrozenEvent<F, T, S> {
    Started { plan: String, environment: String, unix_seconds: f64 },
    Stage { at: u64, phase: FrozenPhase },
    Label { id: u32, name: String },
    Target { addresses: Vec<String>, server: Option<String> },
    Snapshot(Box<FrozenSnapshot<F, T>>),
    Samples(Vec<S>),
    Reading { at: u64, source: String, values: Vec<(String, f64)> },
    Warning { at: u64, text: String },
    Finished { at: u64, interrupted: bool, error: Option<String> },
    Lost { at: u64, number: u32, of: u32 },
}

impl<F: Into<Flow>, T: Into<Tally>, S: Into<Sample>> FrozenEvent<F, T, S> {
    fn event(self) -> Option<Event> {
        Some(match self {
            Self::Started { plan, environment, unix_seconds } => {
                let (plan, environment) = (serde_json::from_str(&plan), serde_json::from_str(&environment));
                Event::Started { plan: plan.ok()?, environment: environment.ok()?, unix_seconds }
            }
            Self::Stage { at, phase } => Event::Stage { at: Tick(at), phase: phase.0 },
            Self::Label { id, name } => Event::Label { id, name, hop_of: None },
            Self::Target { addresses, server } => Event::Target { addresses, server },
            Self::Snapshot(snapshot) => Event::Snapshot(Box::new((*snapshot).into())),
            Self::Samples(samples) => Event::Samples(samples.into_iter().map(Into::into).collect()),
            Self::Reading { at, source, values } => Event::Reading(Reading { at: Tick(at), source, values }),
            Self::Warning { at, text } => Event::Warning(Warning { at: Tick(at), text }),
            Self::Finished { at, interrupted, error } => Event::Finished(Finish { at: Tick(at), interrupted, error }),
            Self::Lost { at, number, of } => Event::Lost(Loss { at: Tick(at), part: Part { number, of } }),
        })
    }
}

#[derive(Deserialize)]
struct FrozenSnapshot<F, T> {
    from: u64,
    to: u64,
    phase: FrozenPhase,
    flow: F,
    measured: T,
    warmup: T,
    labels: Vec<(u32, T)>,
    bins: Vec<FrozenBin>,
}

impl<F: Into<Flow>, T: Into<Tally>> From<FrozenSnapshot<F, T>> for Snapshot {
    fn from(s: FrozenSnapshot<F, T>) -> Self {
        Self {
            from: Tick(s.from),
            to: Tick(s.to),
            phase: s.phase.0,
            flow: s.flow.into(),
            measured: s.measured.into(),
            warmup: s.warmup.into(),
            labels: s.labels.into_iter().map(|(label, tally)| (label, tally.into())).collect(),
            bins: s.bins.into_iter().map(Into::into).collect(),
            transactions: std::collections::BTreeMap::new(),
        }
    }
}

#[derive(Deserialize)]
struct FrozenBin {
    number: u64,
    planned: u64,
    acted: u64,
}

impl From<FrozenBin> for crate::spread::Bin {
    fn from(b: FrozenBin) -> Self {
        Self { number: b.number, planned: b.planned, acted: b.acted }
    }
}

#[derive(Deserialize)]
struct FlowV3 {
    flows: FlowHead,
    rest: FlowRest,
}

#[derive(Deserialize)]
struct FlowV4 {
    flows: FlowHead,
    unsolicited: u64,
    rest: FlowRest,
}

#[derive(Deserialize)]
struct FlowHead {
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
}

#[derive(Deserialize)]
struct FlowRest {
    in_flight_nanos: u64,
    thought_nanos: u64,
    announced_bytes: u64,
    announced_came_bytes: u64,
    in_flight: u64,
    waiting: u64,
    connections: u64,
    users: u64,
}

impl From<FlowV3> for Flow {
    fn from(FlowV3 { flows, rest }: FlowV3) -> Self {
        FlowV4 { flows, unsolicited: 0, rest }.into()
    }
}

impl From<FlowV4> for Flow {
    fn from(FlowV4 { flows, unsolicited, rest }: FlowV4) -> Self {
        Self {
            planned: flows.planned,
            arrivals: flows.arrivals,
            begun: flows.begun,
            completed: flows.completed,
            good: flows.good,
            errors: flows.errors,
            bytes_sent: flows.bytes_sent,
            bytes_received: flows.bytes_received,
            opened: flows.opened,
            reused: flows.reused,
            closed_idle: flows.closed_idle,
            unsolicited,
            packets_sent: 0,
            packets_lost: 0,
            packets_received: 0,
            server_packets_lost: 0,
            quic_retries: 0,
            quic_retry_nanos: 0,
            early_accepted: 0,
            early_refused: 0,
            rtt_nanos: 0,
            rtts: 0,
            stalled: 0,
            stalled_nanos: 0,
            pushes: 0,
            hello_retries: 0,
            in_flight_nanos: rest.in_flight_nanos,
            thought_nanos: rest.thought_nanos,
            overlap_nanos: 0,
            announced_bytes: rest.announced_bytes,
            announced_came_bytes: rest.announced_came_bytes,
            in_flight: rest.in_flight,
            waiting: rest.waiting,
            connections: rest.connections,
            users: rest.users,
        }
    }
}

#[derive(Deserialize)]
struct SampleV3 {
    head: SampleHead,
    rest: SampleRest,
}

#[derive(Deserialize)]
struct SampleV4 {
    head: SampleHead,
    extra_bytes: u64,
    rest: SampleRest,
    opening_lag: u64,
    read_lag: Option<u64>,
    malformed: Option<FrozenMalformed>,
}

#[derive(Deserialize)]
struct SampleHead {
    planned: u64,
    free: u64,
    begun: u64,
    sent: u64,
    first_byte: u64,
    last_byte: u64,
    resolve: Option<u64>,
    connect: Option<u64>,
    tls: Option<u64>,
    opened: bool,
    reused: bool,
    kept_alive: bool,
    bytes_sent: u64,
    bytes_received: u64,
    head_bytes: u64,
    body_bytes: u64,
}

#[derive(Deserialize)]
struct SampleRest {
    user: u32,
    status: Option<u16>,
    failure: Option<FrozenFailure>,
    expected: bool,
    label: u32,
    iteration: u64,
}

impl From<SampleV3> for Sample {
    fn from(SampleV3 { head, rest }: SampleV3) -> Self {
        SampleV4 { head, extra_bytes: 0, rest, opening_lag: 0, read_lag: None, malformed: None }.into()
    }
}

impl From<SampleV4> for Sample {
    fn from(SampleV4 { head, extra_bytes, rest, opening_lag, read_lag, malformed }: SampleV4) -> Self {
        let failure = rest.failure.map(|failure| failure.0);
        Self {
            planned: Tick(head.planned),
            free: Tick(head.free),
            begun: Tick(head.begun),
            sent: Tick(head.sent),
            first_byte: Tick(head.first_byte),
            last_byte: Tick(head.last_byte),
            opening: Opening { resolve: head.resolve, connect: head.connect, tls: head.tls },
            opened: head.opened,
            reused: head.reused,
            kept_alive: head.kept_alive,
            bytes_sent: head.bytes_sent,
            bytes_received: head.bytes_received,
            head_bytes: head.head_bytes,
            body_bytes: head.body_bytes,
            extra_bytes,
            user: rest.user,
            outcome: Outcome { status: rest.status, failure, expected: rest.expected },
            label: rest.label,
            iteration: rest.iteration,
            opening_lag,
            read_lag,
            malformed: malformed.map(|cause| cause.0),
        }
    }
}

/// A histogram: the exact figures, then for each non-empty bucket its distance from the last one and its count.
#[derive(Deserialize)]
struct Cells {
    sum: u128,
    min: u64,
    max: u64,
    steps: Vec<(u32, u64)>,
}

#[derive(Deserialize)]
#[serde(try_from = "Cells")]
struct FrozenHistogram(Histogram);

impl TryFrom<Cells> for FrozenHistogram {
    type Error = &'static str;

    fn try_from(c: Cells) -> Result<Self, Self::Error> {
        let histogram = Histogram::of_steps((c.sum, c.min, c.max), c.steps);
        histogram.map(Self).ok_or("a histogram goes beyond 2^64")
    }
}

/// Kinds in the order in which versions 3 and 4 numbered them, from 0.
macro_rules! numbered {
    ($frozen:ident: $kind:ident { $($name:ident)* }) => {
        #[derive(Deserialize)]
        #[serde(try_from = "u32")]
        struct $frozen($kind);

        impl $frozen {
            const ALL: &[$kind] = &[$($kind::$name),*];
        }

        impl TryFrom<u32> for $frozen {
            type Error = &'static str;

            fn try_from(number: u32) -> Result<Self, Self::Error> {
                Self::ALL.get(number as usize).map(|kind| Self(*kind)).ok_or("no such kind")
            }
        }
    };
}

numbered!(FrozenPhase: Phase { Setup Warmup Measure Grace });
numbered!(FrozenFailure: Failure {
    Resolve Refused Unreachable ConnectTimeout Tls Proxy Reset Stale Timeout Protocol ClosedEarly Check FdsExhausted
    PortsExhausted Dropped Cut System
});
numbered!(FrozenMalformed: Malformed {
    StatusLine HeaderField TooManyFields HeadTooLarge TooManyInterim ContentLength TransferEncoding Chunk
    ChunkLineTooLong TrailersTooLarge
});
