//! The messages of events, as published in `docs/event-log.proto`: the payloads of a log.
//!
//! Every field and kind has a number that never changes its meaning; a new one has a new number.
//! Readers skip unknown ones, so logs remain readable in both directions. `tests/it/schema.rs`
//! compares this file with the published schema, which also documents each field. [`Flow`] is its
//! own message, and a macro derives the message of a [`Tally`](crate::Tally) from its rows.
//! [`write`] and [`read`] convert the other types.

mod kinds;
mod read;
mod write;

pub use crate::Flow;
pub use crate::tally::TallyMessage as Tally;
pub use crate::tally::sums::kinds::{Failure, MalformedReply};
pub use crate::tally::sums::messages::Histogram;
pub use kinds::Phase;
pub use read::{Decoded, event, transaction};
use serde::{Deserialize, Serialize};
pub use write::{event_message, transaction_message};

#[derive(Clone, PartialEq, prost::Message)]
pub struct Event {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    #[prost(message, tag = "1")]
    Started(Started),
    #[prost(message, tag = "2")]
    Stage(Stage),
    #[prost(message, tag = "3")]
    Label(Label),
    #[prost(message, tag = "4")]
    Target(Target),
    // Boxed, because an enum is as large as its largest variant.
    #[prost(message, boxed, tag = "5")]
    Snapshot(Box<Snapshot>),
    #[prost(message, tag = "6")]
    Samples(Samples),
    #[prost(message, tag = "7")]
    Reading(Reading),
    #[prost(message, tag = "8")]
    Warning(Warning),
    #[prost(message, tag = "9")]
    Finished(Finished),
    #[prost(message, tag = "10")]
    Lost(Lost),
    #[prost(message, boxed, tag = "11")]
    Population(Box<Population>),
    #[prost(message, tag = "12")]
    Records(Records),
    #[prost(message, tag = "13")]
    CheckFailures(CheckFailures),
    #[prost(message, boxed, tag = "14")]
    Agent(Box<Agent>),
    #[prost(message, tag = "15")]
    Resumed(Resumed),
    #[prost(message, tag = "16")]
    Mark(Mark),
    #[prost(message, tag = "17")]
    Metrics(Metrics),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Started {
    #[prost(string, tag = "1")]
    // JSON, so that a setting with a default can be added without a message for it.
    pub plan_json: String,
    #[prost(string, tag = "2")]
    pub environment_json: String,
    #[prost(double, tag = "3")]
    pub unix_seconds: f64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Stage {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(enumeration = "Phase", tag = "2")]
    pub phase: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Label {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(uint32, optional, tag = "3")]
    pub hop_of: Option<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Target {
    #[prost(string, repeated, tag = "1")]
    pub addresses: Vec<String>,
    #[prost(string, optional, tag = "2")]
    pub server: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Snapshot {
    #[prost(uint64, tag = "1")]
    pub from_nanos: u64,
    #[prost(uint64, tag = "2")]
    pub to_nanos: u64,
    #[prost(enumeration = "Phase", tag = "3")]
    pub phase: i32,
    #[prost(message, optional, tag = "4")]
    pub flow: Option<Flow>,
    #[prost(message, optional, tag = "5")]
    pub measured: Option<Tally>,
    #[prost(message, optional, tag = "6")]
    pub warmup: Option<Tally>,
    #[prost(message, repeated, tag = "7")]
    pub labels: Vec<LabelTally>,
    #[prost(message, repeated, tag = "8")]
    pub bins: Vec<Bin>,
    #[prost(message, repeated, tag = "9")]
    pub transactions: Vec<TransactionTally>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TransactionTally {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(uint64, tag = "2")]
    pub started: u64,
    #[prost(uint64, tag = "3")]
    pub succeeded: u64,
    #[prost(uint64, tag = "4")]
    pub failed: u64,
    #[prost(uint64, tag = "5")]
    pub unfinished: u64,
    #[prost(message, optional, tag = "6")]
    pub response: Option<Histogram>,
    #[prost(message, optional, tag = "7")]
    pub failed_response: Option<Histogram>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Population {
    #[prost(uint32, tag = "1")]
    pub number: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub snapshot: Option<Box<Snapshot>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LabelTally {
    #[prost(uint32, tag = "1")]
    pub label: u32,
    #[prost(message, optional, tag = "2")]
    pub tally: Option<Tally>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckFailures {
    #[prost(message, repeated, tag = "1")]
    pub failures: Vec<CheckFailure>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckFailure {
    #[prost(uint32, tag = "1")]
    pub label: u32,
    #[prost(string, tag = "2")]
    pub check: String,
    #[prost(uint64, tag = "5")]
    pub count: u64,
    #[prost(message, optional, tag = "6")]
    pub expected: Option<Text>,
    #[prost(message, optional, tag = "7")]
    pub found: Option<Text>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Bin {
    #[prost(uint64, tag = "1")]
    pub number: u64,
    #[prost(uint64, tag = "2")]
    pub planned: u64,
    #[prost(uint64, tag = "3")]
    pub acted: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Metrics {
    #[prost(string, tag = "1")]
    pub metrics_json: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Records {
    #[prost(string, tag = "1")]
    pub records_json: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Samples {
    #[prost(message, repeated, tag = "1")]
    pub samples: Vec<Sample>,
}

// Each is an independent property.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, PartialEq, prost::Message)]
pub struct Sample {
    #[prost(uint64, tag = "1")]
    pub planned_nanos: u64,
    #[prost(uint64, tag = "2")]
    pub free_nanos: u64,
    #[prost(uint64, tag = "3")]
    pub begun_nanos: u64,
    #[prost(uint64, tag = "4")]
    pub sent_nanos: u64,
    #[prost(uint64, tag = "5")]
    pub first_byte_nanos: u64,
    #[prost(uint64, tag = "6")]
    pub last_byte_nanos: u64,
    #[prost(uint64, tag = "7")]
    pub bytes_sent: u64,
    #[prost(uint64, tag = "8")]
    pub bytes_received: u64,
    #[prost(uint64, tag = "9")]
    pub head_bytes: u64,
    #[prost(uint64, tag = "10")]
    pub body_bytes: u64,
    #[prost(uint32, tag = "11")]
    pub user: u32,
    #[prost(uint64, tag = "12")]
    pub iteration: u64,
    #[prost(uint32, optional, tag = "13")]
    // protobuf has no integers of 16 bits.
    pub status: Option<u32>,
    #[prost(bool, tag = "14")]
    pub expected: bool,
    #[prost(bool, tag = "15")]
    pub reused: bool,
    #[prost(bool, tag = "16")]
    pub kept_alive: bool,
    #[prost(bool, tag = "17")]
    pub opened: bool,
    #[prost(uint32, tag = "18")]
    pub label: u32,
    #[prost(uint64, optional, tag = "19")]
    pub resolve_nanos: Option<u64>,
    #[prost(uint64, optional, tag = "20")]
    pub connect_nanos: Option<u64>,
    #[prost(uint64, optional, tag = "21")]
    pub tls_nanos: Option<u64>,
    #[prost(uint64, tag = "22")]
    pub extra_bytes: u64,
    #[prost(enumeration = "Failure", tag = "23")]
    pub failure: i32,
    #[prost(uint64, tag = "24")]
    pub opening_lag_nanos: u64,
    #[prost(uint64, optional, tag = "25")]
    pub read_lag_nanos: Option<u64>,
    #[prost(enumeration = "MalformedReply", tag = "26")]
    pub malformed: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Reading {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(string, tag = "2")]
    pub source: String,
    #[prost(message, repeated, tag = "3")]
    pub values: Vec<Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Value {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(double, tag = "2")]
    pub value: f64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Warning {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(message, optional, tag = "3")]
    pub text: Option<Text>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Finished {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(bool, tag = "2")]
    pub interrupted: bool,
    #[prost(message, optional, tag = "4")]
    pub error: Option<Text>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct Text {
    #[prost(string, tag = "1")]
    pub english: String,
    #[prost(string, tag = "2")]
    pub id: String,
    #[prost(message, repeated, tag = "3")]
    pub arguments: Vec<Argument>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct Argument {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "ArgumentValue", tags = "2, 3, 4, 5, 6, 7, 8")]
    pub argument_value: Option<ArgumentValue>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize, Deserialize)]
pub enum ArgumentValue {
    #[prost(uint64, tag = "2")]
    Count(u64),
    #[prost(message, tag = "3")]
    Text(Text),
    #[prost(message, tag = "4")]
    List(Texts),
    #[prost(message, tag = "5")]
    Clauses(Texts),
    #[prost(message, tag = "6")]
    Words(Texts),
    #[prost(message, tag = "7")]
    Series(Texts),
    #[prost(message, tag = "8")]
    Alternatives(Texts),
}

#[derive(Clone, PartialEq, prost::Message, Serialize, Deserialize)]
pub struct Texts {
    #[prost(message, repeated, tag = "1")]
    pub texts: Vec<Text>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Resumed {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(uint32, tag = "2")]
    pub process: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Mark {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(string, tag = "2")]
    pub text: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Lost {
    #[prost(uint64, tag = "1")]
    pub at_nanos: u64,
    #[prost(uint32, tag = "2")]
    pub process: u32,
    #[prost(uint32, tag = "3")]
    pub processes: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Agent {
    #[prost(uint32, tag = "1")]
    pub number: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub event: Option<Box<Event>>,
}
