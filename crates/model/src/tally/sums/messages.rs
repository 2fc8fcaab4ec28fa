//! Messages of parts of sums. `docs/event-log.proto` defines their fields.

use super::kinds::{Failure, MalformedReply};

/// Count of failures of one kind.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FailureCount {
    #[prost(enumeration = "Failure", tag = "1")]
    pub failure: i32,
    #[prost(uint64, tag = "2")]
    pub count: u64,
}

/// Times of failures of one kind.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FailureTimes {
    #[prost(enumeration = "Failure", tag = "1")]
    pub failure: i32,
    #[prost(message, optional, tag = "2")]
    pub times: Option<Histogram>,
}

/// Count of replies with one status.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StatusCount {
    #[prost(uint32, tag = "1")]
    pub status: u32,
    #[prost(uint64, tag = "2")]
    pub count: u64,
}

/// Count of malformed replies of one cause.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MalformedCount {
    #[prost(enumeration = "MalformedReply", tag = "1")]
    pub cause: i32,
    #[prost(uint64, tag = "2")]
    pub count: u64,
}

/// Counts of values.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Histogram {
    #[prost(uint64, tag = "1")]
    pub sum: u64,
    #[prost(uint64, tag = "2")]
    pub sum_high: u64,
    #[prost(uint64, tag = "3")]
    pub min: u64,
    #[prost(uint64, tag = "4")]
    pub max: u64,
    #[prost(uint32, repeated, tag = "5")]
    pub steps: Vec<u32>,
    #[prost(uint64, repeated, tag = "6")]
    pub counts: Vec<u64>,
}
