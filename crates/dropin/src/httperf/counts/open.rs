//! A connection, or a session, that goes on.

use super::Connection;
use brunt_model::{Failure, Sample, Tick};

/// A connection, or a session, that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    /// When it began, whatever its connections.
    pub first: Tick,
    planned: Tick,
    begun: Tick,
    /// When its last request ended.
    pub last: Tick,
    /// Requests.
    pub asked: u64,
    /// Replies on this connection.
    pub replies: u64,
    /// Replies on all of them.
    pub replies_in_all: u64,
    /// Which connection it is, from 1.
    pub number: u64,
    /// What was sent again: due when, and how often.
    pub resent: Option<(Tick, u64)>,
    /// What it failed of.
    pub failed: Option<Failure>,
    /// It was counted.
    pub over: bool,
}

impl Open {
    pub fn of(sample: &Sample) -> Self {
        Self {
            first: sample.begun,
            planned: sample.planned,
            begun: sample.begun,
            last: sample.last_byte,
            asked: 0,
            replies: 0,
            replies_in_all: 0,
            number: 1,
            resent: None,
            failed: None,
            over: false,
        }
    }

    /// Whether a new connection was opened for this request, or tried, in place of the one that there was.
    pub fn is_lost(&self, sample: &Sample) -> bool {
        self.asked > 0 && self.failed.is_none() && !sample.reused
    }

    /// On another connection.
    pub fn reopen(&mut self, sample: &Sample) {
        (self.planned, self.begun, self.replies) = (sample.planned, sample.begun, 0);
        self.number += 1;
    }

    /// How often what was due then was sent again.
    pub fn resent_at(&self, planned: Tick) -> u64 {
        self.resent.filter(|(at, _)| *at == planned).map_or(0, |(_, times)| times)
    }

    /// Its connection, which is over.
    pub fn connection(&self, ended: Tick) -> Connection {
        Connection { planned: self.planned, begun: self.begun, ended, replies: self.replies }
    }
}
