//! The messages of `docs/agent-protocol.proto`, which documents each field. `tests/it/schema.rs` compares
//! both.

// The published schema has these names: every instant ends in its unit.
#![allow(clippy::struct_field_names)]

use crate::codec::wire::Event;

#[derive(Clone, PartialEq, prost::Message)]
pub struct FromController {
    #[prost(uint64, tag = "1")]
    pub run: u64,
    #[prost(oneof = "FromControllerKind", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10, 11")]
    pub kind: Option<FromControllerKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum FromControllerKind {
    #[prost(message, tag = "2")]
    Secrets(SecretsMessage),
    #[prost(message, tag = "3")]
    File(FileMessage),
    #[prost(message, tag = "4")]
    Assign(AssignmentMessage),
    #[prost(uint64, tag = "5")]
    ReadClockNanos(u64),
    #[prost(uint64, tag = "6")]
    GoNanos(u64),
    #[prost(uint64, tag = "7")]
    SteadyNanos(u64),
    #[prost(uint64, tag = "8")]
    EnoughNanos(u64),
    #[prost(uint64, tag = "9")]
    StopNanos(u64),
    #[prost(message, tag = "10")]
    Check(CheckMessage),
    #[prost(message, tag = "11")]
    Resume(ResumeMessage),
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct ResumeMessage {
    #[prost(uint64, tag = "1")]
    pub begins_nanos: u64,
    #[prost(uint64, tag = "2")]
    pub from_nanos: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SecretsMessage {
    #[prost(message, repeated, tag = "1")]
    pub secrets: Vec<SecretMessage>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SecretMessage {
    #[prost(string, tag = "1")]
    pub pointer: String,
    #[prost(string, tag = "2")]
    pub value_json: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FileMessage {
    #[prost(string, tag = "1")]
    pub path: String,
    #[prost(bytes = "vec", tag = "2")]
    pub content: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AssignmentMessage {
    #[prost(string, tag = "1")]
    pub plan_json: String,
    #[prost(uint32, tag = "2")]
    pub agent: u32,
    #[prost(uint32, tag = "3")]
    pub agents: u32,
    #[prost(uint64, tag = "4")]
    pub epoch_nanos: u64,
    #[prost(uint64, optional, tag = "5")]
    pub lease_nanos: Option<u64>,
    #[prost(uint64, tag = "6")]
    pub bytes_per_second: u64,
    #[prost(string, optional, tag = "7")]
    pub route_json: Option<String>,
    #[prost(uint32, tag = "8")]
    pub quiet_agents: u32,
    #[prost(message, repeated, tag = "9")]
    pub shares: Vec<ShareMessage>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ShareMessage {
    #[prost(uint32, tag = "1")]
    pub agent: u32,
    #[prost(uint32, tag = "2")]
    pub agents: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CheckMessage {
    #[prost(string, tag = "1")]
    pub plan_json: String,
    #[prost(bool, tag = "2")]
    pub has_load: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FromAgent {
    #[prost(uint64, tag = "1")]
    pub run: u64,
    #[prost(oneof = "FromAgentKind", tags = "2, 3, 4, 5, 6, 7, 8, 9")]
    pub kind: Option<FromAgentKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum FromAgentKind {
    #[prost(message, tag = "2")]
    Hello(HelloMessage),
    #[prost(message, tag = "3")]
    Clock(ClockMessage),
    #[prost(uint64, tag = "4")]
    ReadyNanos(u64),
    #[prost(message, tag = "5")]
    Event(Event),
    #[prost(bool, tag = "6")]
    // A variant of a oneof needs a value; this one has no meaning.
    EndRun(bool),
    #[prost(message, tag = "7")]
    Finished(RunEndMessage),
    #[prost(string, tag = "8")]
    Gone(String),
    #[prost(string, tag = "9")]
    CheckedJson(String),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct HelloMessage {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub facts_json: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockMessage {
    #[prost(uint64, tag = "1")]
    pub sent_nanos: u64,
    #[prost(uint64, tag = "2")]
    pub received_nanos: u64,
    #[prost(uint64, tag = "3")]
    pub replied_nanos: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RunEndMessage {
    #[prost(string, optional, tag = "1")]
    pub error: Option<String>,
    #[prost(message, repeated, tag = "2")]
    pub properties: Vec<Variable>,
    #[prost(message, repeated, tag = "3")]
    pub variables: Vec<Variable>,
    #[prost(bool, tag = "4")]
    pub has_ended_test: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Variable {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}
