//! A thread that takes the readings that are due, and sends them.
//!
//! It knows neither files nor pages; its [`Rounds`] do.

use super::machine::{Machine, Reads};
use super::pages::Page;
use super::stop::Stop;
use super::{ProbeError, SharedClock, WatchEvent};
use crate::sources::Values;
use brunt_model::sync::IgnorePoison;
use brunt_model::{ProbeSpec, Reading, Tick, text};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Stack size of a collector, in bytes. It needs little: there is no recursion, and texts are on
/// the heap. TLS needs most of it.
const STACK: usize = 512 << 10;
/// Minimum interval between readings.
const MIN_INTERVAL: Duration = Duration::from_millis(10);

/// The readings that one collector takes.
pub(super) trait Rounds: Send + 'static {
    /// When the next reading is due.
    fn due(&self) -> Tick;
    /// Takes all readings that are due.
    fn round(&mut self, collector: &Collector);
}

/// When a source is due, and whether it answered last time.
pub(super) struct Schedule {
    source: String,
    interval: Duration,
    due: Tick,
    is_silent: bool,
}

impl Schedule {
    pub fn new(spec: &ProbeSpec) -> Self {
        Self {
            source: spec.source(),
            interval: spec.interval.max(MIN_INTERVAL),
            due: Tick::ZERO,
            is_silent: false,
        }
    }
    /// Sets when the source is due next. Missed intervals are skipped.
    fn advance(&mut self, now: Tick) {
        self.due += self.interval;
        if self.due <= now {
            // Catching up would load the server with a burst of readings.
            self.due = now + self.interval;
        }
    }
}

/// The channel, the clock and the stop signal of a collector's thread.
pub(super) struct Collector {
    events: Sender<WatchEvent>,
    clock: SharedClock,
    stop: Arc<Stop>,
}

impl Collector {
    pub fn new(events: Sender<WatchEvent>, clock: SharedClock, stop: Arc<Stop>) -> Self {
        Self { events, clock, stop }
    }

    /// Starts a thread that reads until it is stopped. If the system provides no thread, sends a
    /// warning and returns None.
    pub fn run(self, mut rounds: impl Rounds) -> Option<JoinHandle<()>> {
        let events = self.events.clone();
        let thread = thread::Builder::new().name("brunt-probe".into()).stack_size(STACK);
        let spawned = thread.spawn(move || {
            while !self.stop.wait(rounds.due() - self.now()) {
                rounds.round(&self);
            }
        });
        if let Err(e) = &spawned {
            let text = text!("warning-probe-no-thread", why = e.to_string());
            let _ = events.send(WatchEvent::Warning(text));
        }
        spawned.ok()
    }

    pub fn now(&self) -> Tick {
        self.clock.lock().ignore_poison().now()
    }

    /// Sends a reading. If there is none, sends a warning the first time.
    fn report(&self, schedule: &mut Schedule, time: Tick, result: Result<Values, ProbeError>) {
        let was_silent = std::mem::replace(&mut schedule.is_silent, result.is_err());
        let source = schedule.source.clone();
        match result {
            Ok(values) => {
                if was_silent {
                    let text = text!("warning-probe-answers", source = &*source);
                    self.send(WatchEvent::Warning(text));
                }
                self.send(WatchEvent::Reading(Reading { at: time, source, values: values.0 }));
            }
            Err(trouble) if !was_silent => {
                let text = text!("warning-probe-silent", source, why = trouble.to_string());
                self.send(WatchEvent::Warning(text));
            }
            Err(_) => {}
        }
    }

    fn send(&self, event: WatchEvent) {
        // If the receiver was dropped, the watch is over, and the event is not needed.
        let _ = self.events.send(event);
    }
}

/// Returns the instant midway between two instants.
fn midway(from: Tick, to: Tick) -> Tick {
    from + (to - from) / 2
}

/// A probe of a machine.
pub(super) struct MachineProbe {
    schedule: Schedule,
    reads: Reads,
}

impl MachineProbe {
    pub fn new(spec: &ProbeSpec) -> Self {
        Self { schedule: Schedule::new(spec), reads: Reads::new(&spec.what) }
    }
}

/// All probes of one machine.
pub(super) struct MachineProbes {
    pub machine: Machine,
    pub probes: Vec<MachineProbe>,
}

impl Rounds for MachineProbes {
    fn due(&self) -> Tick {
        self.probes.iter().map(|probe| probe.schedule.due).min().unwrap_or(Tick::NEVER)
    }

    fn round(&mut self, collector: &Collector) {
        let began = collector.now();
        let mut due: Vec<&mut MachineProbe> =
            self.probes.iter_mut().filter(|p| p.schedule.due <= began).collect();
        let reads: Vec<&Reads> = due.iter().map(|probe| &probe.reads).collect();
        let refreshed = self.machine.refresh(&reads);
        // The values were read at some time between: the middle has the smallest possible error.
        let refreshed_at = midway(began, collector.now());
        for MachineProbe { schedule, reads } in &mut due {
            let result = refreshed.clone().and_then(|()| reads.read(&self.machine, refreshed_at));
            // A remote machine reads its files when it is asked; the files of this
            // machine are read now.
            let time =
                if self.machine.is_local() { midway(began, collector.now()) } else { refreshed_at };
            collector.report(schedule, time, result);
            schedule.advance(collector.now());
        }
    }
}

/// A probe of a status page.
pub(super) struct PageProbe {
    pub page: Page,
    pub schedule: Schedule,
}

impl Rounds for PageProbe {
    fn due(&self) -> Tick {
        self.schedule.due
    }

    fn round(&mut self, collector: &Collector) {
        let began = collector.now();
        let result = self.page.read();
        collector.report(&mut self.schedule, midway(began, collector.now()), result);
        self.schedule.advance(collector.now());
    }
}
