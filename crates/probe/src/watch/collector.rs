//! A thread that reads what is due, and sends what it saw.
//!
//! It knows no file and no page; those are its [`Rounds`].

use super::machine::{Machine, Reads};
use super::pages::Page;
use super::stop::Stop;
use super::{Observed, SharedClock, Trouble};
use crate::sources::Values;
use brunt_model::{ProbeSpec, Reading, Tick};
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A collector needs little: no recursion, and its texts are on the heap. TLS is what needs most of it.
const STACK: usize = 512 << 10;
/// No interval is shorter.
const SHORTEST: Duration = Duration::from_millis(10);

/// What a collector's rounds are made of.
pub(super) trait Rounds: Send + 'static {
    /// When something is due next.
    fn due(&self) -> Tick;
    /// Reads all that is due.
    fn round(&mut self, collector: &Collector);
}

/// One thing that is read, by name: when it is due, and whether it answers.
pub(super) struct Subject {
    source: String,
    interval: Duration,
    due: Tick,
    silent: bool,
}

impl Subject {
    pub fn of(spec: &ProbeSpec) -> Self {
        Self { source: spec.source(), interval: spec.interval.max(SHORTEST), due: Tick::ZERO, silent: false }
    }

    /// Sets when it is due next: by its own beat, without those that were missed.
    fn go_on(&mut self, now: Tick) {
        self.due += self.interval;
        if self.due <= now {
            self.due = now + self.interval;
        }
    }
}

/// The thread's way out, its clock, and its end.
pub(super) struct Collector {
    seen: Sender<Observed>,
    clock: SharedClock,
    stop: Arc<Stop>,
}

impl Collector {
    pub fn new(seen: Sender<Observed>, clock: SharedClock, stop: Arc<Stop>) -> Self {
        Self { seen, clock, stop }
    }

    /// Reads until it is over. None, and told, where the system gives no thread.
    pub fn run(self, mut rounds: impl Rounds) -> Option<JoinHandle<()>> {
        let seen = self.seen.clone();
        let thread = thread::Builder::new().name("brunt-probe".into()).stack_size(STACK);
        let spawned = thread.spawn(move || {
            while !self.stop.within(rounds.due() - self.now()) {
                rounds.round(&self);
            }
        });
        let refused = |e| seen.send(Observed::Warning(format!("no thread to take readings of the server: {e}")));
        spawned.map_err(refused).ok()
    }

    pub fn now(&self) -> Tick {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).now()
    }

    /// Sends a reading, or tells once that there is none.
    fn tell(&self, spot: &mut Subject, at: Tick, read: Result<Values, Trouble>) {
        let was_silent = std::mem::replace(&mut spot.silent, read.is_err());
        let source = spot.source.clone();
        // Where nobody listens any more it is over anyway.
        let send = |seen| drop(self.seen.send(seen));
        match read {
            Ok(values) => {
                if was_silent {
                    send(Observed::Warning(format!("probe {source} answers again")));
                }
                send(Observed::Reading(Reading { at, source, values: values.0 }));
            }
            Err(trouble) if !was_silent => {
                send(Observed::Warning(format!(
                    "probe {source}: {trouble}; it is asked again, and its readings are missing until then"
                )));
            }
            Err(_) => {}
        }
    }
}

/// The instant midway between two.
fn midway(from: Tick, to: Tick) -> Tick {
    from + (to - from) / 2
}

/// Something that is read of a machine.
pub(super) struct MachineSpot {
    spot: Subject,
    reads: Reads,
}

impl MachineSpot {
    pub fn of(spec: &ProbeSpec) -> Self {
        Self { spot: Subject::of(spec), reads: Reads::of(&spec.what) }
    }
}

/// All that is read of one machine.
pub(super) struct Machines {
    pub machine: Machine,
    pub spots: Vec<MachineSpot>,
}

impl Rounds for Machines {
    fn due(&self) -> Tick {
        self.spots.iter().map(|s| s.spot.due).min().unwrap_or(Tick::NEVER)
    }

    fn round(&mut self, collector: &Collector) {
        let began = collector.now();
        let mut due: Vec<&mut MachineSpot> = self.spots.iter_mut().filter(|s| s.spot.due <= began).collect();
        let reads: Vec<&Reads> = due.iter().map(|s| &s.reads).collect();
        let asked = self.machine.look(&reads);
        let looked = midway(began, collector.now());
        for MachineSpot { spot, reads } in &mut due {
            let read = asked.clone().and_then(|()| reads.read(&self.machine, looked));
            // What is behind ssh was read there when it was asked for; files of this machine are read now.
            let at = if self.machine.is_here() { midway(began, collector.now()) } else { looked };
            collector.tell(spot, at, read);
            spot.go_on(collector.now());
        }
    }
}

/// One status page.
pub(super) struct Pages {
    pub page: Page,
    pub spot: Subject,
}

impl Rounds for Pages {
    fn due(&self) -> Tick {
        self.spot.due
    }

    fn round(&mut self, collector: &Collector) {
        let asked = collector.now();
        let read = self.page.read();
        collector.tell(&mut self.spot, midway(asked, collector.now()), read);
        self.spot.go_on(collector.now());
    }
}
