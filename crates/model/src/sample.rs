//! One finished request and its clocks.

use crate::outcome::Malformed;
use crate::{Outcome, Tick};

/// One finished request. The instants are those of ARCHITECTURE.md, "The life of one request"; each is at or after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Due by the schedule; in a closed loop the end of the last reply plus think time.
    pub planned: Tick,
    /// A permitted connection or user was there.
    pub free: Tick,
    /// We acted: began to connect, or to write.
    pub begun: Tick,
    /// The request was written; `begun` where it never was.
    pub sent: Tick,
    /// The first byte of the reply came; 0 where none did.
    pub first_byte: Tick,
    /// The last byte came, or the failure was known.
    pub last_byte: Tick,
    /// Nanoseconds of the steps of opening a connection, where one was opened for it.
    pub opening: Opening,
    /// A connection was opened for it.
    pub opened: bool,
    /// It was sent on a connection that had been used before.
    pub reused: bool,
    /// A whole reply came behind which the server leaves the connection open.
    pub kept_alive: bool,
    /// Bytes written: head and body of the request, before TLS.
    pub bytes_sent: u64,
    /// Bytes read: head and body of the reply, before TLS.
    pub bytes_received: u64,
    /// How many of the bytes read were heads; those of a head that never ended are not among them.
    pub head_bytes: u64,
    /// How many of them were body, without the framing of chunks; 0 where no whole reply came.
    pub body_bytes: u64,
    /// Bytes that came behind the whole reply and belong to none. They are not among the bytes received.
    pub extra_bytes: u64,
    /// Number of the virtual user, or of the connection of an open loop, from 0.
    pub user: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// Number of the label.
    pub label: u32,
    /// Number of its iteration among those of the run.
    pub iteration: u64,
    /// The part of its lag that it waited for its turn to open a connection, in nanoseconds.
    pub opening_lag: u64,
    /// How long the last byte of the reply had been in the kernel before we read it, in nanoseconds; None where that was
    /// not looked at: it is sampled.
    pub read_lag: Option<u64>,
    /// What was wrong with the bytes that came, where the failure is a protocol error.
    pub malformed: Option<Malformed>,
}

/// Nanoseconds of the steps of opening a connection; None where a step did not take place or did not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opening {
    /// Resolving the name.
    pub resolve: Option<u64>,
    /// Connecting (and the proxy's answer).
    pub connect: Option<u64>,
    /// The TLS handshake.
    pub tls: Option<u64>,
}

impl Sample {
    /// planned → last byte: the headline.
    pub fn response_nanos(&self) -> u64 {
        self.last_byte.nanos_since(self.planned)
    }

    /// sent → last byte: what ab and wrk call latency.
    pub fn service_nanos(&self) -> u64 {
        self.last_byte.nanos_since(self.sent)
    }

    /// planned → free: waiting for a connection, the doing of a cap and of the server behind it.
    pub fn queue_wait_nanos(&self) -> u64 {
        self.free.nanos_since(self.planned)
    }

    /// free → begun: the generator's own lateness.
    pub fn lag_nanos(&self) -> u64 {
        self.begun.nanos_since(self.free)
    }
}
