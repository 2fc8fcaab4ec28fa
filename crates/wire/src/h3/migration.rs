//! Connection migration (RFC 9000 section 9): a connection goes on from another local port.
//!
//! It is over when a packet of the server comes to the new port: a server sends there once it has taken the new path, and its
//! first packet has the `PATH_CHALLENGE`, which QUIC answers at once. The port is new to the server each time.

use super::session::Session;
use brunt_model::outcome::Malformed;
use brunt_model::{Failure, Tick};
use std::task::{Poll, Waker};

/// When the first packet left from the new port, and when the server's first came to it; or why it did not, with the cause.
pub type Migrated = Result<(Tick, Tick), (Failure, Option<Malformed>)>;

/// A migration of a connection.
#[derive(Debug)]
pub struct Migration {
    state: State,
    waker: Waker,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// The driver is to take another port once the server confirmed the handshake.
    Wanted,
    /// Packets leave from the new port.
    UnderWay { sent: Tick },
    /// A packet came to the new port.
    Over { sent: Tick, came: Tick },
    /// The system grants no port.
    Failed(Failure),
}

impl Session {
    /// Asks for another port. Pending: the handshake or another migration is not over, or it is under way; `waker` is woken.
    ///
    /// # Errors
    ///
    /// The connection is of no more use, or the server forbids migrations, with the cause.
    pub fn begin_migration(&mut self, waker: &Waker) -> Poll<Result<(), (Failure, Option<Malformed>)>> {
        if let Some(end) = &self.end {
            return Poll::Ready(Err((end.failure, end.cause)));
        }
        if !self.is_connected || self.migration.is_some() {
            self.idle.add(waker);
            return Poll::Pending;
        }
        if self.settings().is_some_and(|settings| !settings.allows_migration) {
            return Poll::Ready(Err((Failure::Protocol, Some(Malformed::QuicMigration))));
        }
        self.migration = Some(Migration { state: State::Wanted, waker: waker.clone() });
        Poll::Ready(Ok(()))
    }

    /// Waits for the end of the migration that was begun; `waker` is woken.
    ///
    /// # Errors
    ///
    /// The connection ended, or the system grants no port.
    pub fn poll_migration(&mut self, waker: &Waker) -> Poll<Migrated> {
        let Some(migration) = &mut self.migration else { return Poll::Ready(Err((Failure::System, None))) };
        let result = match migration.state {
            State::Over { sent, came } => Ok((sent, came)),
            State::Failed(failure) => Err((failure, None)),
            State::Wanted | State::UnderWay { .. } => {
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

    /// Nobody waits for the migration any more.
    pub fn end_migration(&mut self) {
        self.migration = None;
        self.idle.wake();
    }

    /// Whether the driver is to take another port now. Before the server confirmed the handshake it must not (RFC 9000 section 9).
    pub fn wants_port(&self) -> bool {
        self.migration.as_ref().is_some_and(|migration| matches!(migration.state, State::Wanted))
            && self.quic.stats().frame_rx.handshake_done > 0
    }

    /// The driver took another port at `now`, or the system grants none.
    pub fn took_port(&mut self, now: Tick, taken: Result<(), Failure>) {
        let Some(migration) = &mut self.migration else { return };
        match taken {
            Ok(()) => {
                // It takes an unused connection ID of the server, and sends a PING.
                self.quic.local_address_changed();
                migration.state = State::UnderWay { sent: now };
            }
            Err(failure) => {
                migration.state = State::Failed(failure);
                migration.waker.wake_by_ref();
            }
        }
    }

    /// A packet came to the port of the connection at `now`.
    pub fn came_to_port(&mut self, now: Tick) {
        let Some(migration) = &mut self.migration else { return };
        if let State::UnderWay { sent } = migration.state {
            migration.state = State::Over { sent, came: now };
            migration.waker.wake_by_ref();
        }
    }

    /// The connection ended.
    pub(super) fn fail_migration(&self) {
        if let Some(migration) = &self.migration {
            migration.waker.wake_by_ref();
        }
    }
}
