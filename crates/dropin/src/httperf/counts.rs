//! httperf's own counting: samples in, connections and sessions out, and the sums of its report.
//!
//! A connection's samples are those of its iteration from the one that opened it on. It knows no text.

mod open;
mod windows;

pub use windows::{Spread, Windows};

use brunt_model::{Failure, Sample, Tick};
use open::Open;
use std::collections::HashMap;
use std::time::Duration;

/// Bins of a millisecond in httperf's histogram of lifetimes.
pub const BINS: usize = 100_000;

/// What is known before the run.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Sessions rather than connections are begun.
    pub sessions: bool,
    /// How many requests each of them has, in turn.
    pub lengths: Vec<u64>,
    /// Some requests are sent together.
    pub together: bool,
    /// Each request has a connection of its own.
    pub one_each: bool,
    /// How long we wait for a connection, and for a reply; None: for ever.
    pub limits: Option<(Duration, Duration)>,
}

/// One connection that is over.
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    /// When it was due.
    pub planned: Tick,
    /// When we began to connect.
    pub begun: Tick,
    /// When it was over.
    pub ended: Tick,
    /// Whole replies on it.
    pub replies: u64,
}

/// Errors by kind, in the order of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// We waited no longer.
    pub client_timeout: u64,
    /// The system waited no longer.
    pub socket_timeout: u64,
    /// Refused.
    pub refused: u64,
    /// Reset or closed by the server.
    pub reset: u64,
    /// No descriptor was left.
    pub descriptors: u64,
    /// No port was left.
    pub ports: u64,
    /// Anything else.
    pub other: u64,
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { client_timeout, socket_timeout, refused, reset, descriptors, ports, other } = self;
        client_timeout + socket_timeout + refused + reset + descriptors + ports + other
    }
}

/// What was counted so far.
#[derive(Debug, Default)]
pub struct Counts {
    rules: Rules,
    open: HashMap<u64, Open>,
    /// Connections that are over.
    pub connections: Vec<Connection>,
    /// Requests that were sent, those again on another connection too.
    pub requests: u64,
    /// Bytes of them.
    pub request_bytes: u64,
    /// Replies.
    pub replies: u64,
    /// Bytes of their heads.
    pub head_bytes: u64,
    /// Bytes of their bodies.
    pub body_bytes: u64,
    /// Bytes behind the last chunk of chunked bodies.
    pub footer_bytes: u64,
    /// Replies by the first digit of their status, from 1 to 5.
    pub statuses: [u64; 5],
    /// Nanoseconds from requests to the first bytes of their replies.
    pub response: u128,
    /// Nanoseconds from there to the last.
    pub transfer: u128,
    /// Connections that stood, and the nanoseconds that took.
    pub connected: (u64, u128),
    /// Errors.
    pub errors: Errors,
    /// Replies every five seconds.
    pub reply_windows: Windows,
    /// Sessions.
    pub sessions: Sessions,
    /// The last event.
    pub last: Tick,
}

/// Sessions that are over.
#[derive(Debug, Default)]
pub struct Sessions {
    /// Those that went well, and those that did not.
    pub good: u64,
    /// Those that did not.
    pub failed: u64,
    /// Connections of the good ones.
    pub connections: u64,
    /// Nanoseconds of the good ones.
    pub lifetime: u128,
    /// Nanoseconds of the others.
    pub failtime: u128,
    /// By how many replies they had.
    pub lengths: Vec<u64>,
    /// Good ones every five seconds.
    pub windows: Windows,
}

impl Counts {
    /// Nothing yet. `windows`: when five-second rates are taken.
    pub fn new(rules: Rules, windows: &Windows) -> Self {
        let sessions = Sessions { windows: windows.clone(), ..Sessions::default() };
        Self { rules, reply_windows: windows.clone(), sessions, ..Self::default() }
    }

    /// The load begins.
    pub fn begin(&mut self, at: Tick) {
        self.reply_windows.begin(at);
        self.sessions.windows.begin(at);
    }

    /// Takes in a sample.
    pub fn take(&mut self, sample: &Sample) {
        if sample.outcome.failure == Some(Failure::Dropped) {
            return;
        }
        self.last = self.last.max(sample.last_byte);
        let mut open = self.open.remove(&sample.iteration).unwrap_or_else(|| Open::of(sample));
        if open.is_lost(sample) {
            self.lose(&mut open, sample);
        }
        self.count(&mut open, sample);
        open.last = sample.last_byte;
        let length = self.rules.lengths.get((sample.iteration % self.rules.lengths.len().max(1) as u64) as usize);
        if open.failed.is_some() || open.asked >= *length.unwrap_or(&1) {
            // What is sent together fails together: the rest of it is still to come.
            let more = self.rules.together && open.asked < *length.unwrap_or(&1);
            if !std::mem::replace(&mut open.over, true) {
                self.close(&open);
                self.end_session(&open);
            }
            if !more {
                return;
            }
        }
        self.open.insert(sample.iteration, open);
    }

    /// The run is over: what is still open ends with its last sample.
    pub fn finish(&mut self) {
        let open: Vec<Open> = self.open.drain().map(|(_, open)| open).filter(|open| !open.over).collect();
        for open in &open {
            self.close(open);
        }
    }

    /// The connection was lost, and another one opened for the same request.
    fn lose(&mut self, open: &mut Open, sample: &Sample) {
        self.connections.push(open.connection(sample.begun));
        open.reopen(sample);
        if !self.rules.one_each {
            self.errors.reset += 1;
            open.resent = Some((sample.planned, open.resent_at(sample.planned) + 1));
        }
    }

    fn count(&mut self, open: &mut Open, sample: &Sample) {
        open.asked += 1;
        let times = 1 + if self.rules.one_each { 0 } else { open.resent_at(sample.planned) };
        if sample.bytes_sent > 0 {
            self.requests += times;
            self.request_bytes += times * sample.bytes_sent;
        }
        if sample.opened {
            let steps = [sample.opening.resolve, sample.opening.connect, sample.opening.tls];
            self.connected.0 += 1;
            self.connected.1 += steps.into_iter().flatten().map(u128::from).sum::<u128>();
        }
        if sample.outcome.is_completed() || is_garbage(sample) {
            self.count_reply(open, sample);
        }
        if let Some(failure) = sample.outcome.failure.filter(|_| !is_garbage(sample)) {
            if open.failed.is_none() {
                self.count_error(failure, sample);
            }
            open.failed = Some(failure);
        }
    }

    fn count_reply(&mut self, open: &mut Open, sample: &Sample) {
        let class = sample.outcome.status.map_or(5, |status| (status / 100).clamp(1, 5));
        self.statuses[usize::from(class) - 1] += 1;
        self.replies += 1;
        open.replies += 1;
        open.replies_in_all += 1;
        let head = if sample.outcome.is_completed() { sample.head_bytes } else { sample.bytes_received };
        self.head_bytes += head;
        self.body_bytes += sample.body_bytes;
        // A body in chunks has more bytes than are its own; of those httperf counts the last line's.
        let framed = sample.bytes_received > head + sample.body_bytes;
        self.footer_bytes += if framed { 2 } else { 0 };
        self.response += u128::from(sample.first_byte.nanos_since(sample.sent));
        self.transfer += u128::from(sample.last_byte.nanos_since(sample.first_byte));
        self.reply_windows.count(sample.last_byte);
    }

    fn count_error(&mut self, failure: Failure, sample: &Sample) {
        let waited = Duration::from_nanos(sample.last_byte.nanos_since(sample.begun));
        let ours = self
            .rules
            .limits
            .is_some_and(|(connect, reply)| waited >= if failure == Failure::ConnectTimeout { connect } else { reply });
        let errors = &mut self.errors;
        let kind = match failure {
            Failure::Timeout | Failure::ConnectTimeout if ours => &mut errors.client_timeout,
            Failure::Timeout | Failure::ConnectTimeout => &mut errors.socket_timeout,
            Failure::Refused => &mut errors.refused,
            Failure::Reset | Failure::Stale | Failure::ClosedEarly => &mut errors.reset,
            Failure::FdsExhausted => &mut errors.descriptors,
            Failure::PortsExhausted => &mut errors.ports,
            Failure::Cut | Failure::Dropped | Failure::Check => return,
            _ => &mut errors.other,
        };
        *kind += 1;
    }

    fn close(&mut self, open: &Open) {
        // Without a descriptor there was nothing to connect.
        if open.failed != Some(Failure::FdsExhausted) || open.replies > 0 {
            self.connections.push(open.connection(open.last));
        }
    }

    fn end_session(&mut self, open: &Open) {
        if open.failed == Some(Failure::Cut) || !self.rules.sessions {
            return;
        }
        let sessions = &mut self.sessions;
        let replies = open.replies_in_all as usize;
        if sessions.lengths.len() <= replies {
            sessions.lengths.resize(replies + 1, 0);
        }
        sessions.lengths[replies] += 1;
        let time = u128::from(open.last.nanos_since(open.first));
        if open.failed.is_some() {
            sessions.failed += 1;
            sessions.failtime += time;
        } else {
            sessions.good += 1;
            sessions.lifetime += time;
            sessions.connections += open.number;
            sessions.windows.count(open.last);
        }
    }
}

/// Something came that is no HTTP: httperf takes it for a reply with status 599.
fn is_garbage(sample: &Sample) -> bool {
    sample.outcome.failure == Some(Failure::Protocol) && sample.bytes_received > 0 && sample.head_bytes == 0
}

#[cfg(test)]
mod tests;
