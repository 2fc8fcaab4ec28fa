//! What has happened: counts, and a compact record of each visit.
//!
//! Only keeps; [`crate::report`] computes from it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::fail::Effect;
use crate::h2::session::Counts;
use crate::outbox::Settled;

/// The record of a reply that has not been written whole (yet).
pub const UNWRITTEN: u64 = u64::MAX;

/// The record of a request that is failed on purpose without a whole reply: it has no sojourn time.
pub const SPOILT: u64 = u64::MAX - 1;

/// One past the highest status.
const STATUSES: usize = 600;

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Complete requests, without those for `/stats`.
    pub received: u64,
    /// Replies of which every byte was given to the kernel.
    pub answered: u64,
    /// What was no request, and HTTP/2 frames that break a rule.
    pub malformed: u64,
    /// Replies by status.
    pub by_status: Vec<u64>,
    /// Failures by the place of their rule among the options.
    pub failed: Vec<u64>,
    /// Connections that became HTTP/2.
    pub http2_connections: u64,
    /// What else happened on them.
    pub http2: Counts,
    /// Connections that became `WebSocket`s.
    pub websockets: u64,
    /// Messages on them that came compressed.
    pub deflated: u64,
    /// What a client of a WebSocket broke first.
    pub websocket_error: Option<String>,
    /// HTTP/3.
    pub http3: Http3Counts,
    /// Connections accepted.
    pub accepted: u64,
    /// Connections closed.
    pub closed: u64,
    /// The most connections at one time.
    pub peak: u64,
    /// Accepts refused by the kernel, as when descriptors run out.
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
    /// A record of each visit, if they are recorded.
    pub visits: Visits,
}

impl Ledger {
    /// An empty ledger for so many `--fail` rules and records.
    pub fn new(rules: usize, most_visits: u32) -> Self {
        let visits = Visits { limit: most_visits, ..Visits::default() };
        Self { by_status: vec![0; STATUSES], failed: vec![0; rules], visits, ..Self::default() }
    }

    /// Enters an arrival.
    pub fn arrived(&mut self, arrival: u64) {
        self.received += 1;
        self.first_arrival = Some(self.first_arrival.map_or(arrival, |first| first.min(arrival)));
        self.last_arrival = self.last_arrival.max(Some(arrival));
    }

    /// Enters a reply that has gone out whole.
    pub fn settle(&mut self, settled: Settled, written: u64) {
        self.answered += 1;
        self.last_written = self.last_written.max(Some(written));
        self.by_status[usize::from(settled.status).min(STATUSES - 1)] += 1;
        if let Some(ticket) = settled.ticket {
            self.visits.write(ticket, written);
        }
    }

    /// Takes in what happened on an HTTP/2 connection.
    pub fn count_http2(&mut self, counts: &mut Counts) {
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

    /// Enters a new connection.
    pub fn connected(&mut self) {
        self.accepted += 1;
        self.peak = self.peak.max(self.accepted - self.closed);
    }
}

/// What happened on connections of HTTP/3 besides requests and replies.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Http3Counts {
    /// Connections.
    pub connections: u64,
    /// Clients that were asked to prove their address (Retry).
    pub retries: u64,
    /// Requests that were there before the handshake was over (0-RTT).
    pub early_requests: u64,
    /// Requests behind a GOAWAY; they are not among the requests received.
    pub after_goaway: u64,
    /// The first rule that a client broke.
    pub first_error: Option<&'static str>,
}

/// Arrival, service and writing of each recorded request, in nanoseconds; 24 bytes each.
#[derive(Debug, Default)]
pub struct Visits {
    /// Ticks of arrival.
    pub arrivals: Vec<u64>,
    /// Drawn service times.
    pub services: Vec<u64>,
    /// Ticks when the last byte of the reply was with the kernel, or [`UNWRITTEN`], or [`SPOILT`].
    pub written: Vec<u64>,
    /// By ticket, how much longer than the first byte the last one of a dripping reply takes.
    pub tails: BTreeMap<u32, u64>,
    /// Requests past the limit.
    pub missed: u64,
    limit: u32,
}

impl Visits {
    /// Records an arrival; gives its ticket unless the limit is reached.
    pub fn enter(&mut self, arrival: u64, service: u64, effect: Effect) -> Option<u32> {
        let ticket = self.arrivals.len() as u32;
        if ticket >= self.limit {
            self.missed += 1;
            return None;
        }
        self.arrivals.push(arrival);
        self.services.push(service);
        self.written.push(if effect == Effect::Answered { UNWRITTEN } else { SPOILT });
        Some(ticket)
    }

    fn write(&mut self, ticket: u32, instant: u64) {
        let written = &mut self.written[ticket as usize];
        if *written == UNWRITTEN {
            *written = instant;
        }
    }
}
