//! What wakes a worker at an instant: a `timerfd` on Linux, the runtime's timer elsewhere.

use brunt_model::Tick;
use std::cell::Cell;
use std::io;

#[cfg(all(target_os = "linux", not(brunt_portable)))]
use linux::Bell;
#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
use portable::Bell;

/// An alarm set to at most one instant.
pub(super) struct Alarm {
    bell: Bell,
    /// `NEVER`: not set.
    due: Cell<Tick>,
}

impl Alarm {
    pub(super) fn new(epoch: u64) -> io::Result<Self> {
        Ok(Self { bell: Bell::new(epoch)?, due: Cell::new(Tick::NEVER) })
    }

    pub(super) fn set_if_earlier(&self, due: Tick) {
        if due < self.due.get() {
            self.due.set(due);
            self.bell.set(due);
        }
    }

    /// Waits until it rings; it is then not set any more.
    pub(super) async fn rings(&self) -> io::Result<()> {
        self.bell.rings().await?;
        self.due.set(Tick::NEVER);
        Ok(())
    }
}

#[cfg(all(target_os = "linux", not(brunt_portable)))]
mod linux {
    use super::{Tick, io};
    use rustix::fd::OwnedFd;
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
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
            let at = self.epoch.saturating_add(due.0);
            let at = Timespec { tv_sec: (at / 1_000_000_000) as i64, tv_nsec: (at % 1_000_000_000) as i64 };
            let spec = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
            // It fails for a bad descriptor or time only, and has neither.
            let _ = timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &spec);
        }

        /// The descriptor is registered edge-triggered, and setting it again forgets its count: no need to read it.
        pub(super) async fn rings(&self) -> io::Result<()> {
            self.fd.readable().await?.clear_ready();
            Ok(())
        }
    }
}

#[cfg(not(all(target_os = "linux", not(brunt_portable))))]
mod portable {
    use super::{Tick, io};
    use crate::clock::monotonic;
    use crate::race::{First, race};
    use std::cell::Cell;
    use std::time::Duration;
    use tokio::sync::Notify;

    pub(super) struct Bell {
        epoch: u64,
        due: Cell<Tick>,
        changed: Notify,
    }

    impl Bell {
        pub(super) fn new(epoch: u64) -> io::Result<Self> {
            Ok(Self { epoch, due: Cell::new(Tick::NEVER), changed: Notify::new() })
        }

        pub(super) fn set(&self, due: Tick) {
            self.due.set(due);
            self.changed.notify_one();
        }

        pub(super) async fn rings(&self) -> io::Result<()> {
            loop {
                let left = self.due.get().0.saturating_add(self.epoch).saturating_sub(monotonic());
                let sleep = tokio::time::sleep(Duration::from_nanos(left.min(u64::MAX / 4)));
                if let First::A(()) = race(sleep, self.changed.notified()).await {
                    return Ok(());
                }
            }
        }
    }
}
