//! httperf's counting: computes connections, sessions and the sums of its report from samples.
//!
//! A connection consists of the samples of one iteration, from the sample that opened it. This
//! module formats no text.

mod open;
mod windows;

pub use windows::{WindowSpread, Windows};

use brunt_model::{Failure, Sample, Tick};
use open::OpenConnection;
use std::collections::HashMap;
use std::time::Duration;

/// Number of 1 ms bins in httperf's histogram of lifetimes.
pub const BINS: usize = 100_000;

/// Settings that change how samples are counted.
#[derive(Debug, Clone, Default)]
pub struct CountRules {
    /// True if the load consists of sessions, not single connections.
    pub has_sessions: bool,
    /// Number of requests of each connection or session, in turn.
    pub lengths: Vec<u64>,
    /// True if some requests are pipelined.
    pub is_pipelined: bool,
    /// True if each request has its own connection.
    pub one_call_per_connection: bool,
    /// Timeouts for a connection and for a reply.
    pub limits: Option<(Duration, Duration)>,
}

#[derive(Debug, Clone, Copy)]
pub struct ConnectionCounts {
    pub planned: Tick,
    pub begun: Tick,
    pub ended: Tick,
    /// Number of complete replies.
    pub replies: u64,
}

/// Number of errors by kind, in the order of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors {
    /// The client's timeout expired.
    pub client_timeout: u64,
    /// The operating system's timeout expired.
    pub socket_timeout: u64,
    pub refused: u64,
    /// Reset or closed by the server.
    pub reset: u64,
    /// No file descriptor was available.
    pub descriptors: u64,
    /// No local port was available.
    pub ports: u64,
    pub other: u64,
}

impl Errors {
    /// Sum of all kinds.
    pub fn total(&self) -> u64 {
        let Self { client_timeout, socket_timeout, refused, reset, descriptors, ports, other } =
            self;
        client_timeout + socket_timeout + refused + reset + descriptors + ports + other
    }
}

#[derive(Debug, Default)]
pub struct HttperfCounts {
    rules: CountRules,
    open: HashMap<u64, OpenConnection>,
    pub connections: Vec<ConnectionCounts>,
    /// Requests sent. A request that was resent on a new connection counts again.
    pub requests: u64,
    /// Bytes of these requests.
    pub request_bytes: u64,
    pub replies: u64,
    /// Bytes of reply heads.
    pub head_bytes: u64,
    /// Bytes of reply bodies.
    pub body_bytes: u64,
    /// Bytes after the last chunk of chunked bodies.
    pub footer_bytes: u64,
    /// Replies by class of their status (1xx to 5xx).
    pub statuses: [u64; 5],
    /// Sum of times from requests to first bytes of replies, in nanoseconds.
    pub response: u128,
    /// Sum of times from first to last bytes of replies, in nanoseconds.
    pub transfer: u128,
    /// Number of established connections, and the sum of their connect times in nanoseconds.
    pub connected: (u64, u128),
    pub errors: Errors,
    /// Replies in windows of five seconds.
    pub reply_windows: Windows,
    pub sessions: Sessions,
    /// Time of the last event.
    pub last: Tick,
}

/// Counters of completed sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    pub good: u64,
    pub failed: u64,
    /// Connections of successful sessions.
    pub connections: u64,
    /// Sum of durations of successful sessions, in nanoseconds.
    pub lifetime: u128,
    /// Sum of durations of failed sessions, in nanoseconds.
    pub failtime: u128,
    /// Number of sessions by their number of replies.
    pub lengths: Vec<u64>,
    /// Successful sessions in windows of five seconds.
    pub windows: Windows,
}

impl HttperfCounts {
    /// Creates empty counters with these five-second windows.
    pub fn new(rules: CountRules, windows: &Windows) -> Self {
        let sessions = Sessions { windows: windows.clone(), ..Sessions::default() };
        Self { rules, reply_windows: windows.clone(), sessions, ..Self::default() }
    }

    /// Sets the start of the load.
    pub fn begin(&mut self, start: Tick) {
        self.reply_windows.begin(start);
        self.sessions.windows.begin(start);
    }

    pub fn add(&mut self, sample: &Sample) {
        if sample.outcome.failure == Some(Failure::Dropped) {
            return;
        }
        self.last = self.last.max(sample.last_byte);
        let mut open =
            self.open.remove(&sample.iteration).unwrap_or_else(|| OpenConnection::new(sample));
        if open.is_lost(sample) {
            self.count_lost_connection(&mut open, sample);
        }
        self.count(&mut open, sample);
        open.last = sample.last_byte;
        let length = self
            .rules
            .lengths
            .get((sample.iteration % self.rules.lengths.len().max(1) as u64) as usize);
        if open.failure.is_some() || open.calls >= *length.unwrap_or(&1) {
            // Pipelined requests fail together: the samples of the others are still to come.
            let has_more = self.rules.is_pipelined && open.calls < *length.unwrap_or(&1);
            // The connection is counted once, at its first failure or its last reply.
            if !std::mem::replace(&mut open.is_counted, true) {
                self.close(&open);
                self.end_session(&open);
            }
            if !has_more {
                return;
            }
        }
        self.open.insert(sample.iteration, open);
    }

    /// Counts connections that are still open at the end of the run; each
    /// ends with its last sample.
    pub fn finish(&mut self) {
        let open: Vec<OpenConnection> =
            self.open.drain().map(|(_, open)| open).filter(|open| !open.is_counted).collect();
        for open in &open {
            self.close(open);
        }
    }

    /// Counts a lost connection. Another one was opened for its request.
    fn count_lost_connection(&mut self, open: &mut OpenConnection, sample: &Sample) {
        self.connections.push(open.connection(sample.begun));
        open.reopen(sample);
        if !self.rules.one_call_per_connection {
            self.errors.reset += 1;
            open.resent = Some((sample.planned, open.resend_count(sample.planned) + 1));
        }
    }

    fn count(&mut self, open: &mut OpenConnection, sample: &Sample) {
        open.calls += 1;
        let times = 1 + if self.rules.one_call_per_connection {
            0
        } else {
            open.resend_count(sample.planned)
        };
        // A request that found no connection was not sent.
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
            if open.failure.is_none() {
                self.count_error(failure, sample);
            }
            open.failure = Some(failure);
        }
    }

    fn count_reply(&mut self, open: &mut OpenConnection, sample: &Sample) {
        // Bytes that are not HTTP count as a status of class 5.
        let class = sample.outcome.status.map_or(5, |status| (status / 100).clamp(1, 5));
        self.statuses[usize::from(class) - 1] += 1;
        self.replies += 1;
        open.replies += 1;
        open.total_replies += 1;
        // Of such bytes, all count as the head.
        let head =
            if sample.outcome.is_completed() { sample.head_bytes } else { sample.bytes_received };
        self.head_bytes += head;
        self.body_bytes += sample.body_bytes;
        // A chunked body has more bytes than its contents. httperf counts only the two
        // bytes of the last line.
        let is_chunked = sample.bytes_received > head + sample.body_bytes;
        self.footer_bytes += if is_chunked { 2 } else { 0 };
        self.response += u128::from(sample.first_byte.nanos_since(sample.sent));
        self.transfer += u128::from(sample.last_byte.nanos_since(sample.first_byte));
        self.reply_windows.count(sample.last_byte);
    }

    fn count_error(&mut self, failure: Failure, sample: &Sample) {
        let waited = Duration::from_nanos(sample.last_byte.nanos_since(sample.begun));
        let is_client_timeout = self.rules.limits.is_some_and(|(connect, reply)| {
            waited >= if failure == Failure::ConnectTimeout { connect } else { reply }
        });
        let errors = &mut self.errors;
        let kind = match failure {
            Failure::Timeout | Failure::ConnectTimeout if is_client_timeout => {
                &mut errors.client_timeout
            }
            Failure::Timeout | Failure::ConnectTimeout => &mut errors.socket_timeout,
            Failure::Refused => &mut errors.refused,
            Failure::Reset | Failure::Stale | Failure::ClosedEarly => &mut errors.reset,
            Failure::FdsExhausted => &mut errors.descriptors,
            Failure::PortsExhausted => &mut errors.ports,
            // The end of the run is not an error.
            Failure::Cut | Failure::Dropped | Failure::Check => return,
            _ => &mut errors.other,
        };
        *kind += 1;
    }

    fn close(&mut self, open: &OpenConnection) {
        // Without a descriptor no connection was attempted.
        if open.failure != Some(Failure::FdsExhausted) || open.replies > 0 {
            self.connections.push(open.connection(open.last));
        }
    }

    fn end_session(&mut self, open: &OpenConnection) {
        if open.failure == Some(Failure::Cut) || !self.rules.has_sessions {
            return;
        }
        let sessions = &mut self.sessions;
        let replies = open.total_replies as usize;
        if sessions.lengths.len() <= replies {
            sessions.lengths.resize(replies + 1, 0);
        }
        sessions.lengths[replies] += 1;
        let time = u128::from(open.last.nanos_since(open.first));
        if open.failure.is_some() {
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

/// True for bytes that are not HTTP. httperf counts them as a reply with status 599.
fn is_garbage(sample: &Sample) -> bool {
    sample.outcome.failure == Some(Failure::Protocol)
        && sample.bytes_received > 0
        && sample.head_bytes == 0
}

#[cfg(test)]
mod tests;
