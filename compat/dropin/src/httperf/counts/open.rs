//! An open connection or session.

use super::ConnectionCounts;
use brunt_model::{Failure, Sample, Tick};

/// An open connection or session, with its counters.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenConnection {
    /// Start of the first connection.
    pub first: Tick,
    planned: Tick,
    begun: Tick,
    /// End of the last request.
    pub last: Tick,
    pub calls: u64,
    /// Replies on the current connection.
    pub replies: u64,
    /// Replies on all connections.
    pub total_replies: u64,
    /// Index of the current connection, from 1.
    pub number: u64,
    /// Scheduled time of the resent requests, and how often they were resent.
    pub resent: Option<(Tick, u64)>,
    pub failure: Option<Failure>,
    /// True once the connection is counted.
    pub is_counted: bool,
}

impl OpenConnection {
    pub fn new(sample: &Sample) -> Self {
        Self {
            first: sample.begun,
            planned: sample.planned,
            begun: sample.begun,
            last: sample.last_byte,
            calls: 0,
            replies: 0,
            total_replies: 0,
            number: 1,
            resent: None,
            failure: None,
            is_counted: false,
        }
    }

    /// True if this request opened, or tried to open, a new connection in place of the current one.
    pub fn is_lost(&self, sample: &Sample) -> bool {
        self.calls > 0 && self.failure.is_none() && !sample.reused
    }

    /// Continues on another connection.
    pub fn reopen(&mut self, sample: &Sample) {
        self.planned = sample.planned;
        self.begun = sample.begun;
        self.replies = 0;
        self.number += 1;
    }

    /// Number of times that requests scheduled at this time were resent.
    pub fn resend_count(&self, planned: Tick) -> u64 {
        self.resent.filter(|(scheduled, _)| *scheduled == planned).map_or(0, |(_, times)| times)
    }

    /// The current connection, closed at `ended`.
    pub fn connection(&self, ended: Tick) -> ConnectionCounts {
        ConnectionCounts { planned: self.planned, begun: self.begun, ended, replies: self.replies }
    }
}
