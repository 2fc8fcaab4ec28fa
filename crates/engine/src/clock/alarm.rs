//! Wakes a worker at an instant: with a `timerfd` on Linux, with the runtime's timer elsewhere.

use brunt_model::Tick;
use std::cell::Cell;
use std::io;

#[cfg(all(target_os = "linux", not(brunt_portable)))]
use linux::Bell;
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
use portable::Bell;

/// An alarm for at most one instant.
pub(super) struct Alarm {
    bell: Bell,
    /// `NEVER`: no alarm is set.
    due: Cell<Tick>,
}

impl Alarm {
    pub(super) fn new(epoch: u64) -> io::Result<Self> {
        Ok(Self { bell: Bell::new(epoch)?, due: Cell::new(Tick::NEVER) })
    }

    /// Sets the alarm to `due`, in place of any earlier setting.
    pub(super) fn set(&self, due: Tick) {
        // Setting the same instant again needs no system call.
        if due != self.due.replace(due) {
            self.bell.set(due);
        }
    }

    /// True if the alarm rang since the last call; it is then no longer set.
    pub(super) fn take_ring(&self) -> bool {
        let has_rung = self.bell.take_ring();
        if has_rung {
            self.due.set(Tick::NEVER);
        }
        has_rung
    }
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux {
    use super::{Tick, io};
    use rustix::fd::OwnedFd;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    pub(super) struct Bell {
        fd: AsyncFd<OwnedFd>,
        /// The run's beginning on the kernel's monotonic clock, in nanoseconds.
        epoch: u64,
    }

    impl Bell {
        pub(super) fn new(epoch: u64) -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = brunt_wire::watch(timerfd_create(TimerfdClockId::Monotonic, flags)?)?;
            Ok(Self { fd, epoch })
        }

        pub(super) fn set(&self, due: Tick) {
            let due_nanos = self.epoch.saturating_add(due.0);
            let due_time = Timespec {
                tv_sec: (due_nanos / 1_000_000_000) as i64,
                tv_nsec: (due_nanos % 1_000_000_000) as i64,
            };
            let spec =
                Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: due_time };
            // Fails only for an invalid descriptor or time; both are valid.
            let _ = timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &spec);
        }

        /// Checks only whether the runtime has seen an event. The descriptor is registered
        /// edge-triggered, and setting it again resets its count, so it is never read.
        pub(super) fn take_ring(&self) -> bool {
            let mut has_rung = false;
            let _ = self.fd.try_io(Interest::READABLE, |_| -> io::Result<()> {
                has_rung = true;
                // The error makes the runtime clear the event.
                Err(io::ErrorKind::WouldBlock.into())
            });
            has_rung
        }
    }
}

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable {
    use super::{Tick, io};
    use crate::clock::monotonic;
    use crate::race::{First, race};
    use std::cell::Cell;
    use std::rc::Rc;
    use std::time::Duration;
    use tokio::sync::Notify;

    pub(super) struct Bell(Rc<Inner>);

    struct Inner {
        epoch: u64,
        due: Cell<Tick>,
        changed: Notify,
        has_rung: Cell<bool>,
    }

    impl Bell {
        pub(super) fn new(epoch: u64) -> io::Result<Self> {
            let inner = Inner {
                epoch,
                due: Cell::new(Tick::NEVER),
                changed: Notify::new(),
                has_rung: Cell::new(false),
            };
            let inner = Rc::new(inner);
            tokio::task::spawn_local(Rc::clone(&inner).ring());
            Ok(Self(inner))
        }

        pub(super) fn set(&self, due: Tick) {
            self.0.due.set(due);
            self.0.changed.notify_one();
        }

        pub(super) fn take_ring(&self) -> bool {
            self.0.has_rung.replace(false)
        }
    }

    impl Inner {
        /// Runs until the worker ends. Waking this task makes the runtime check
        /// whether the alarm rang.
        async fn ring(self: Rc<Self>) {
            loop {
                let remaining =
                    self.due.get().0.saturating_add(self.epoch).saturating_sub(monotonic());
                // The limit prevents an overflow in tokio for `NEVER`.
                let sleep = tokio::time::sleep(Duration::from_nanos(remaining.min(u64::MAX / 4)));
                if let First::A(()) = race(sleep, self.changed.notified()).await {
                    self.has_rung.set(true);
                    // Rings only once: waits for the next setting.
                    self.changed.notified().await;
                }
            }
        }
    }
}
