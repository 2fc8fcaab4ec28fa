//! A finished request and its instants.

use crate::outcome::MalformedReply;
use crate::{Outcome, Tick};

/// A finished request. Its instants are defined in ARCHITECTURE.md, "The life of one request". Each
/// one is at or after the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// The request was due: by the schedule, or in a closed loop after the last reply
    /// and the think time.
    pub planned: Tick,
    /// A connection or user became available.
    pub free: Tick,
    /// brunt began to connect or to write.
    pub begun: Tick,
    /// The request was written; equal to `begun` if it never was.
    pub sent: Tick,
    /// First byte of the reply; 0 if there was none.
    pub first_byte: Tick,
    /// Last byte of the reply, or detection of the failure.
    pub last_byte: Tick,
    /// Times of the steps of opening a connection, if one was opened for this request.
    pub opening: ConnectTimes,
    /// True if a connection was opened for this request.
    pub opened: bool,
    /// True if the connection had been used before.
    pub reused: bool,
    /// True if the server left the connection open after a complete reply.
    pub kept_alive: bool,
    /// Bytes written: head and body of the request, before TLS.
    pub bytes_sent: u64,
    /// Bytes read: head and body of the reply, before TLS.
    pub bytes_received: u64,
    /// Received bytes of heads, without heads that never ended.
    pub head_bytes: u64,
    /// Received bytes of the body, without the framing of chunks; 0 without a complete reply.
    pub body_bytes: u64,
    /// Bytes after the complete reply that belong to no reply. They are
    /// not part of `bytes_received`.
    pub extra_bytes: u64,
    /// Number of the virtual user, or of the connection of an open loop, from 0.
    pub user: u32,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Number of the label.
    pub label: u32,
    /// Number of the iteration among those of the run.
    pub iteration: u64,
    /// Part of the lag that is due to the limit on opening connections, in nanoseconds.
    pub opening_lag: u64,
    /// Time between the arrival of the reply's last byte in the kernel and its read, in
    /// nanoseconds. None if not measured, since it is sampled.
    pub read_lag: Option<u64>,
    /// Cause of a protocol error; None for other outcomes.
    pub malformed: Option<MalformedReply>,
}

/// Times of the steps of opening a connection, in nanoseconds. None: the step did not take place
/// or did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectTimes {
    /// Time to resolve the name.
    pub resolve: Option<u64>,
    /// Time to connect, including the proxy's response.
    pub connect: Option<u64>,
    /// Time of the TLS handshake.
    pub tls: Option<u64>,
}

impl Sample {
    /// Response time: planned → last byte.
    pub fn response_nanos(&self) -> u64 {
        self.last_byte.nanos_since(self.planned)
    }

    /// Service time: sent → last byte. ab and wrk call it latency.
    pub fn service_nanos(&self) -> u64 {
        self.last_byte.nanos_since(self.sent)
    }

    /// Queue wait: planned → free. Its causes are the maximum number of connections and the
    /// server that occupies them.
    pub fn queue_wait_nanos(&self) -> u64 {
        self.free.nanos_since(self.planned)
    }

    /// Lag: free → begun, the delay that the generator causes.
    pub fn lag_nanos(&self) -> u64 {
        self.begun.nanos_since(self.free)
    }
}
