//! Connection migration (RFC 9000 section 9): moves a connection to another local port.
//!
//! It is complete when a packet of the server arrives at the new port. A server sends there once it
//! has accepted the new path. Its first packet contains the `PATH_CHALLENGE`, which QUIC answers at
//! once. The server never saw the port before.

use super::session::Http3Session;
use brunt_model::outcome::MalformedReply;
use brunt_model::{Failure, Tick};
use std::task::{Poll, Waker};

/// When the first packet left from the new port, and when the server's first packet arrived there;
/// or the failure with its cause.
pub type MigrationResult = Result<(Tick, Tick), (Failure, Option<MalformedReply>)>;

/// A migration of a connection.
#[derive(Debug)]
pub struct Migration {
    state: State,
    waker: Waker,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The driver changes the port once the server has confirmed the handshake.
    Requested,
    /// Packets leave from the new port.
    InProgress { sent: Tick },
    /// A packet arrived at the new port.
    Done { sent: Tick, received: Tick },
    /// The system provides no port.
    Failed(Failure),
}

impl Http3Session {
    /// Requests another port. Pending: the handshake or another migration is not
    /// complete; `waker` is woken.
    ///
    /// # Errors
    ///
    /// If the connection is over, or if the server forbids migrations, with the cause.
    pub fn begin_migration(
        &mut self,
        waker: &Waker,
    ) -> Poll<Result<(), (Failure, Option<MalformedReply>)>> {
        if let Some(end) = &self.end {
            return Poll::Ready(Err((end.failure, end.cause)));
        }
        if !self.is_connected || self.migration.is_some() {
            self.idle.add(waker);
            return Poll::Pending;
        }
        if self.settings().is_some_and(|settings| !settings.allows_migration) {
            return Poll::Ready(Err((Failure::Protocol, Some(MalformedReply::QuicMigration))));
        }
        self.migration = Some(Migration { state: State::Requested, waker: waker.clone() });
        Poll::Ready(Ok(()))
    }

    /// Waits for the end of the current migration; `waker` is woken.
    ///
    /// # Errors
    ///
    /// If the connection ended, or if the system provides no port.
    pub fn poll_migration(&mut self, waker: &Waker) -> Poll<MigrationResult> {
        let Some(migration) = &mut self.migration else {
            return Poll::Ready(Err((Failure::System, None)));
        };
        let result = match migration.state {
            State::Done { sent, received } => Ok((sent, received)),
            State::Failed(failure) => Err((failure, None)),
            State::Requested | State::InProgress { .. } => {
                let Some(end) = &self.end else {
                    migration.waker.clone_from(waker);
                    return Poll::Pending;
                };
                Err((end.failure, end.cause))
            }
        };
        self.end_migration();
        Poll::Ready(result)
    }

    /// Removes the migration, for which no task waits any more.
    pub fn end_migration(&mut self) {
        self.migration = None;
        self.idle.wake();
    }

    /// True if the driver must change the port now. Before the server has confirmed the handshake,
    /// it must not (RFC 9000 section 9).
    pub fn needs_port(&self) -> bool {
        self.migration.as_ref().is_some_and(|migration| matches!(migration.state, State::Requested))
            && self.quic.stats().frame_rx.handshake_done > 0
    }

    /// Records that the driver changed the port at `now`, or that the system provides none.
    pub fn set_port(&mut self, now: Tick, result: Result<(), Failure>) {
        let Some(migration) = &mut self.migration else { return };
        match result {
            Ok(()) => {
                // The library uses a new connection ID of the server, and sends a PING.
                self.quic.local_address_changed();
                migration.state = State::InProgress { sent: now };
            }
            Err(failure) => {
                migration.state = State::Failed(failure);
                migration.waker.wake_by_ref();
            }
        }
    }

    /// Records a packet that arrived at the connection's current port at `now`.
    pub fn record_packet_on_port(&mut self, now: Tick) {
        let Some(migration) = &mut self.migration else { return };
        if let State::InProgress { sent } = migration.state {
            migration.state = State::Done { sent, received: now };
            migration.waker.wake_by_ref();
        }
    }

    /// Wakes the task that waits for the migration, because the connection ended.
    pub(super) fn fail_migration(&self) {
        if let Some(migration) = &self.migration {
            migration.waker.wake_by_ref();
        }
    }
}
