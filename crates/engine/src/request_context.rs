//! The means of a population's users on one worker to make requests and record them.

use crate::labels::Labels;
use crate::recorder::Recorder;
use crate::user::{Users, VirtualUser};
use brunt_model::metric::Metrics;
use brunt_model::plan::{ConnectionLifetime, ConnectionSettings};
use brunt_model::{CheckFailure, Phase, Plan, ReplyPolicy, Sample, SampleRecord, Snapshot, Tick};
use brunt_wire::{ConnectionPool, ConnectionRules, Prepared, Transport};
use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::time::Duration;

/// Transport, users, recorder, and the settings that every request needs.
pub struct RequestContext<T: Transport> {
    transport: Rc<T>,
    users: Box<dyn Users>,
    recorder: RefCell<Recorder>,
    connection_rules: Rc<ConnectionRules>,
    /// Copied from the plan, because every request reads it.
    connect_timeout: Duration,
    retries_stale: bool,
    lifetime: ConnectionLifetime,
}

/// Time and phase of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotInterval {
    pub from: Tick,
    pub to: Tick,
    pub phase: Phase,
}

/// Gauges of a population at the time of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Gauges {
    /// Number of arrivals that wait for a connection.
    pub waiting: u64,
    /// Number of active users.
    pub users: u64,
}

impl<T: Transport> RequestContext<T> {
    /// Creates the means of a population with these connection settings.
    pub fn new(
        plan: &Plan,
        connection: &ConnectionSettings,
        labels: &Labels,
        transport: Rc<T>,
        users: Box<dyn Users>,
    ) -> Self {
        // Redirects and page elements become labels during the load.
        let by_label =
            plan.reply_policies.iter().any(ReplyPolicy::finds_requests) || labels.count() > 1;
        let connection_rules = Rc::new(ConnectionRules {
            keep: connection.keep,
            requests_per_connection: connection.requests_per_connection.unwrap_or(u64::MAX),
            other_origins: connection.other_origins,
            connections_per_origin: connection.connections_per_origin.max(1) as usize,
            counts: RefCell::default(),
        });
        Self {
            transport,
            users,
            recorder: RefCell::new(Recorder::new(by_label, plan.record.samples)),
            connection_rules,
            connect_timeout: connection.connect_timeout.min(connection.timeout),
            retries_stale: connection.retry_stale,
            lifetime: connection.keep,
        }
    }

    #[inline]
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Borrows the recorder. The borrow must end before the next `await`.
    #[inline]
    pub fn recorder(&self) -> RefMut<'_, Recorder> {
        self.recorder.borrow_mut()
    }

    /// Creates the user of this number.
    pub fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        self.users.user(number)
    }

    /// Returns the request for which connections are opened before the load; None if its origin is not known
    /// before.
    pub fn first_request(&self) -> Option<Rc<Prepared>> {
        self.users.first()
    }

    /// Returns the records that users have made since the last call.
    pub fn take_records(&self) -> Vec<SampleRecord> {
        self.users.take_records()
    }

    /// Returns the figures that users' scripts have reported since the last call.
    pub fn take_metrics(&self) -> Metrics {
        self.users.take_metrics()
    }

    /// Creates the connections of one client.
    pub fn new_connections(&self) -> ConnectionPool<T> {
        ConnectionPool::new(&self.connection_rules, &*self.transport)
    }

    /// Time limit for opening a connection.
    #[inline]
    pub fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// True if a request is sent again when its connection was stale.
    #[inline]
    pub fn retries_stale(&self) -> bool {
        self.retries_stale
    }

    /// Returns how long connections are kept.
    #[inline]
    pub fn lifetime(&self) -> ConnectionLifetime {
        self.lifetime
    }

    /// Returns the failed checks since the last call.
    pub fn take_check_failures(&self) -> Vec<CheckFailure> {
        self.recorder().take_check_failures()
    }

    /// Returns the snapshot of an interval, and its single samples if they are recorded.
    pub fn take_snapshot(
        &self,
        interval: SnapshotInterval,
        gauges: Gauges,
        labels: &Labels,
        population: usize,
    ) -> (Snapshot, Option<Vec<Sample>>) {
        let mut recorder = self.recorder();
        for (label, times) in self.transport.take_events(population) {
            let name = labels.name(label).filter(|_| labels.count() > 1);
            recorder.events(name.as_deref(), times);
        }
        let mut counts = self.connection_rules.take_counts();
        counts.merge(&self.transport.take_counts());
        counts.waiting = gauges.waiting;
        counts.users = gauges.users;
        (
            recorder.take(interval.from, interval.to, interval.phase, &counts),
            recorder.take_samples(),
        )
    }
}
