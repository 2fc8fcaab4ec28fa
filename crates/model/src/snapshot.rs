//! What happened in one interval of a run.

use crate::spread::Bin;
use crate::{Phase, Tally, Tick, TransactionTally};
use std::collections::BTreeMap;

/// What one worker (or, merged, all of them) saw in one interval. Merge is associative and commutative.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// When the interval began.
    pub from: Tick,
    /// When it ended.
    pub to: Tick,
    /// The part of the run that it lies in.
    pub phase: Phase,
    /// What flowed in this time, whenever it was planned.
    pub flow: Flow,
    /// Samples planned in the measured time that ended here.
    pub measured: Tally,
    /// Samples planned in the warm-up that ended here.
    pub warmup: Tally,
    /// `measured` by label number, where there is more than one label.
    pub labels: Vec<(u32, Tally)>,
    /// How arrivals were spread over time, by number of the bin (open loop).
    pub bins: Vec<Bin>,
    /// Transactions whose first request was planned in the measured time, by name: those that started here, and those that
    /// ended here.
    pub transactions: BTreeMap<String, TransactionTally>,
}

/// What flowed in an interval, and how things stood at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flow {
    /// Requests that became due.
    pub planned: u64,
    /// Arrivals of the open loop among them: the first request of each.
    pub arrivals: u64,
    /// Requests begun.
    pub begun: u64,
    /// Whole replies.
    pub completed: u64,
    /// Good ones among them.
    pub good: u64,
    /// Begun or dropped ones that ended without being good.
    pub errors: u64,
    /// Head and body of requests, before TLS.
    pub bytes_sent: u64,
    /// Head and body of replies, before TLS.
    pub bytes_received: u64,
    /// Connections opened.
    pub opened: u64,
    /// Requests sent on a connection that had been used before.
    pub reused: u64,
    /// Idle connections that the server closed.
    pub closed_idle: u64,
    /// Idle connections given up because bytes came on them that nobody had asked for.
    pub unsolicited: u64,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// Those of them that were taken for lost.
    pub packets_lost: u64,
    /// QUIC packets received behind the handshake, each number once.
    pub packets_received: u64,
    /// Packets of the server that are missing among them: lost on the way, or their numbers skipped on purpose.
    pub server_packets_lost: u64,
    /// QUIC connections whose handshake met a Retry packet.
    pub quic_retries: u64,
    /// Nanoseconds from the first packet of these connections to the Retry, summed up.
    pub quic_retry_nanos: u64,
    /// Resumed connections whose early data (0-RTT) the server took.
    pub early_accepted: u64,
    /// Those whose early data it refused: the requests were sent again.
    pub early_refused: u64,
    /// Round trips of QUIC connections as these estimate them, one for each connection and snapshot, summed up, in nanoseconds.
    pub rtt_nanos: u64,
    /// How many were added to `rtt_nanos`.
    pub rtts: u64,
    /// Requests whose body had to wait because the server's window was full (HTTP/2).
    pub stalled: u64,
    /// Nanoseconds for which they did, summed up.
    pub stalled_nanos: u64,
    /// Messages of WebSockets that no request awaited.
    pub pushes: u64,
    /// TLS handshakes for which the server asked for a further key share (`HelloRetryRequest`).
    pub hello_retries: u64,
    /// Nanoseconds that requests were under way: the integral of `in_flight` over time, kept by a clock of its own.
    pub in_flight_nanos: u64,
    /// Nanoseconds that virtual users spent between a reply and their next request, to the end of the load.
    pub thought_nanos: u64,
    /// Nanoseconds by which requests of one virtual user overlapped: for each of its parallel steps, the integral over time of
    /// the requests that had not ended, less one.
    pub overlap_nanos: u64,
    /// Bytes of body that replies with a Content-Length announced, of whole replies.
    pub announced_bytes: u64,
    /// Bytes that came of them: what was read, less the head.
    pub announced_came_bytes: u64,
    /// At its end: requests under way.
    pub in_flight: u64,
    /// At its end: arrivals waiting for a free connection.
    pub waiting: u64,
    /// At its end: connections open.
    pub connections: u64,
    /// At its end: virtual users there are (closed loop).
    pub users: u64,
}

impl Flow {
    /// Joins the same interval of another worker.
    pub fn merge(&mut self, other: &Self) {
        let ours = *self;
        self.follow(other);
        self.in_flight += ours.in_flight;
        self.waiting += ours.waiting;
        self.connections += ours.connections;
        self.users += ours.users;
    }

    /// Joins a later interval: flows add up, standings are the later's.
    pub fn follow(&mut self, later: &Self) {
        self.planned += later.planned;
        self.arrivals += later.arrivals;
        self.begun += later.begun;
        self.completed += later.completed;
        self.good += later.good;
        self.errors += later.errors;
        self.bytes_sent += later.bytes_sent;
        self.bytes_received += later.bytes_received;
        self.opened += later.opened;
        self.reused += later.reused;
        self.closed_idle += later.closed_idle;
        self.unsolicited += later.unsolicited;
        self.packets_sent += later.packets_sent;
        self.packets_lost += later.packets_lost;
        self.packets_received += later.packets_received;
        self.server_packets_lost += later.server_packets_lost;
        self.quic_retries += later.quic_retries;
        self.quic_retry_nanos += later.quic_retry_nanos;
        self.early_accepted += later.early_accepted;
        self.early_refused += later.early_refused;
        self.rtt_nanos += later.rtt_nanos;
        self.rtts += later.rtts;
        self.stalled += later.stalled;
        self.stalled_nanos += later.stalled_nanos;
        self.pushes += later.pushes;
        self.hello_retries += later.hello_retries;
        self.in_flight_nanos += later.in_flight_nanos;
        self.thought_nanos += later.thought_nanos;
        self.overlap_nanos += later.overlap_nanos;
        self.announced_bytes += later.announced_bytes;
        self.announced_came_bytes += later.announced_came_bytes;
        self.in_flight = later.in_flight;
        self.waiting = later.waiting;
        self.connections = later.connections;
        self.users = later.users;
    }
}

impl Snapshot {
    /// Joins the same interval of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.flow.merge(&other.flow);
        self.add_requests(other);
    }

    /// Joins a later interval of the same part of the run.
    pub fn follow(&mut self, later: &Self) {
        self.to = later.to;
        self.flow.follow(&later.flow);
        self.add_requests(later);
    }

    fn add_requests(&mut self, other: &Self) {
        self.measured.merge(&other.measured);
        self.warmup.merge(&other.warmup);
        for (label, tally) in &other.labels {
            self.label(*label).merge(tally);
        }
        self.labels.sort_by_key(|l| l.0);
        for bin in &other.bins {
            self.bin(bin.number).add(bin);
        }
        self.bins.sort_by_key(|b| b.number);
        for (name, tally) in &other.transactions {
            self.transactions.entry(name.clone()).or_default().merge(tally);
        }
    }

    /// The bin of that number, made when first asked for.
    pub fn bin(&mut self, number: u64) -> &mut Bin {
        Bin::find(&mut self.bins, number)
    }

    /// The tally of a label, made when first asked for.
    pub fn label(&mut self, label: u32) -> &mut Tally {
        let at = self.labels.iter().position(|l| l.0 == label).unwrap_or_else(|| {
            self.labels.push((label, Tally::default()));
            self.labels.len() - 1
        });
        &mut self.labels[at].1
    }
}
