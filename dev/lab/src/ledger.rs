//! Records events: counts, and a compact record of each request.
//!
//! This module only stores; [`crate::report`] computes from it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fail::EffectOnTruth;
use crate::h2::session::Http2Counts;
use crate::outbox::CompletedReply;

/// Write tick of a reply that is not completely written (yet).
pub const UNWRITTEN: u64 = u64::MAX;

/// Write tick of a request that fails on purpose without a complete reply: it has no sojourn time.
pub const SPOILED: u64 = u64::MAX - 1;

/// Length of the table of statuses: one more than the highest.
const STATUSES: usize = 600;

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Complete requests, without those for `/stats`.
    pub received: u64,
    /// Replies that were passed to the kernel completely.
    pub answered: u64,
    /// Malformed requests, and HTTP/2 frames that break a rule.
    pub malformed: u64,
    /// Numbers of replies, by status.
    pub by_status: Vec<u64>,
    /// Failures by the index of their rule among the options.
    pub failed: Vec<u64>,
    /// Connections that became HTTP/2.
    pub http2_connections: u64,
    /// Other counts of these connections.
    pub http2: Http2Counts,
    /// Connections that became `WebSocket`s.
    pub websockets: u64,
    /// Messages that were compressed.
    pub deflated: u64,
    /// Description of the first rule that a WebSocket client broke.
    pub websocket_error: Option<String>,
    /// Counts of HTTP/3 connections.
    pub http3: Http3Counts,
    /// Number of accepted connections.
    pub accepted: u64,
    /// Number of closed connections.
    pub closed: u64,
    /// Maximum number of simultaneous connections.
    pub peak: u64,
    /// Failed accepts, for instance when descriptors run out.
    pub accept_errors: u64,
    /// Bytes read from sockets.
    pub bytes_received: u64,
    /// Bytes written to sockets.
    pub bytes_sent: u64,
    /// Tick of the earliest arrival.
    pub first_arrival: Option<u64>,
    /// Tick of the latest arrival.
    pub last_arrival: Option<u64>,
    /// Arrivals stamped by the kernel; the others were stamped when they were read.
    pub stamped_by_kernel: u64,
    /// Tick of the latest reply's last byte.
    pub last_written: Option<u64>,
    /// Record of each request, if requests are recorded.
    pub visits: Visits,
}

impl Ledger {
    /// Creates an empty ledger for this number of `--fail` rules and records.
    pub fn new(rules: usize, max_visits: u32) -> Self {
        let visits = Visits { limit: max_visits, ..Visits::default() };
        Self { by_status: vec![0; STATUSES], failed: vec![0; rules], visits, ..Self::default() }
    }

    /// Records the arrival of a complete request.
    pub fn record_arrival(&mut self, arrival: u64) {
        self.received += 1;
        self.first_arrival = Some(self.first_arrival.map_or(arrival, |first| first.min(arrival)));
        self.last_arrival = self.last_arrival.max(Some(arrival));
    }

    /// Records a completely sent reply.
    pub fn record_reply(&mut self, completed: CompletedReply, written: u64) {
        self.answered += 1;
        self.last_written = self.last_written.max(Some(written));
        self.by_status[usize::from(completed.status).min(STATUSES - 1)] += 1;
        if let Some(ticket) = completed.ticket {
            self.visits.write(ticket, written);
        }
    }

    /// Adds the counts of an HTTP/2 connection, and resets them.
    pub fn count_http2(&mut self, counts: &mut Http2Counts) {
        let new = std::mem::take(counts);
        let all = &mut self.http2;
        all.refused += new.refused;
        all.cancelled += new.cancelled;
        all.after_goaway += new.after_goaway;
        all.goaways += new.goaways;
        all.first_error = all.first_error.take().or(new.first_error);
        self.malformed += new.malformed;
        self.websockets += new.websockets;
        self.websocket_error = self.websocket_error.take().or(new.websocket_error);
    }

    /// Records a new connection.
    pub fn record_connection(&mut self) {
        self.accepted += 1;
        self.peak = self.peak.max(self.accepted - self.closed);
    }
}

/// Counts of HTTP/3 connections besides requests and replies.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Http3Counts {
    /// Number of HTTP/3 connections.
    pub connections: u64,
    /// Clients that were asked to prove their address (Retry).
    pub retries: u64,
    /// Requests that arrived before the end of the handshake (0-RTT).
    pub early_requests: u64,
    /// Requests after a GOAWAY; they are not among the requests received.
    pub after_goaway: u64,
    /// The first rule that a client broke.
    pub first_error: Option<&'static str>,
}

/// Arrival, service and writing of each recorded request, in nanoseconds; 24 bytes each.
#[derive(Debug, Default)]
pub struct Visits {
    /// Ticks at which the requests arrived.
    pub arrivals: Vec<u64>,
    /// Service times that were drawn.
    pub services: Vec<u64>,
    /// Ticks at which the last byte of the reply was passed to the kernel,
    /// or [`UNWRITTEN`], or [`SPOILED`].
    pub written: Vec<u64>,
    /// By ticket, the time from the first to the last byte of a dripping reply.
    pub tails: BTreeMap<u32, u64>,
    /// Requests beyond the limit.
    pub over_limit: u64,
    limit: u32,
}

impl Visits {
    /// Records an arrival. Returns its ticket, or None if the limit is reached.
    pub fn enter(&mut self, arrival: u64, service: u64, effect: EffectOnTruth) -> Option<u32> {
        let ticket = self.arrivals.len() as u32;
        if ticket >= self.limit {
            self.over_limit += 1;
            return None;
        }
        self.arrivals.push(arrival);
        self.services.push(service);
        self.written.push(if effect == EffectOnTruth::Answered { UNWRITTEN } else { SPOILED });
        Some(ticket)
    }

    fn write(&mut self, ticket: u32, instant: u64) {
        let written = &mut self.written[ticket as usize];
        // A spoiled reply has no time, even if its bytes were written.
        if *written == UNWRITTEN {
            *written = instant;
        }
    }
}
