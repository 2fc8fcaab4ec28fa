//! Reads the server under test during the load: its machines, processes and status pages.
//!
//! A [`ReadingTask`] takes each reading at its interval and stamps it with the run's clock, midway
//! between request and reply. It keeps the readings until they are [drained](ReadingTask::drain). It
//! reports once that a source does not answer, and once that it answers again. Such a failure
//! never ends the watch.
//!
//! It decides nothing, and changes nothing on the server: it reads /proc and /sys, and requests
//! pages. Values that a system does not show are missing from a reading, never 0.
//!
//! * `collector`: a thread that takes the readings that are due. There is one for this machine, for each machine
//!   reached by `ssh`, and for each page, so that none delays another.
//! * `machine`: the files of a machine, local or reached by `ssh`. `processes`:
//!   selects and reads processes.
//! * `pages`: status pages over HTTP. `trouble`: why a reading failed.

mod collector;
mod machine;
mod pages;
mod processes;
mod ssh;
mod stop;
#[cfg(test)]
mod tests;
mod trouble;

pub use trouble::ProbeError;

use brunt_model::probe_spec::ProbeAccess;
use brunt_model::{Clock, ProbeSpec, Probed, Reading, Text};
use collector::{Collector, Schedule};
use machine::Machine;
use pages::Page;
use ssh::ChildHandle;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use stop::Stop;

/// The clock that stamps readings.
type SharedClock = Arc<Mutex<dyn Clock + Send>>;

/// Maximum wait for the threads at the end. A thread that waits for a page ends
/// by itself soon after.
const MAX_END_WAIT: Duration = Duration::from_millis(500);

/// An event of a watch.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchEvent {
    /// A reading of one instant; its source is [`ProbeSpec::source`].
    Reading(Reading),
    /// One sentence: a source does not answer, or answers again.
    Warning(Text),
}

/// Takes readings until it is dropped.
pub struct ReadingTask {
    events: Receiver<WatchEvent>,
    stop: Arc<Stop>,
    child_handles: Vec<ChildHandle>,
    threads: Vec<JoinHandle<()>>,
}

impl ReadingTask {
    /// Starts reading all these sources, and takes the first readings at once. Returns before
    /// any source has answered.
    pub fn start(specs: &[ProbeSpec], clock: impl Clock + Send + 'static) -> Self {
        let clock: SharedClock = Arc::new(Mutex::new(clock));
        let (sender, events) = mpsc::channel();
        let mut watch =
            Self { events, stop: Arc::default(), child_handles: Vec::new(), threads: Vec::new() };
        for (machine, probes) in by_machine(specs) {
            watch.child_handles.extend(machine.child_handle());
            let collector = Collector::new(sender.clone(), clock.clone(), watch.stop.clone());
            watch.threads.extend(collector.run(collector::MachineProbes { machine, probes }));
        }
        for (page, schedule) in
            specs.iter().filter_map(|spec| Some((Page::open(&spec.what)?, Schedule::new(spec))))
        {
            let collector = Collector::new(sender.clone(), clock.clone(), watch.stop.clone());
            watch.threads.extend(collector.run(collector::PageProbe { page, schedule }));
        }
        watch
    }

    /// Returns all events since the last call, in order.
    pub fn drain(&mut self) -> Vec<WatchEvent> {
        self.events.try_iter().collect()
    }
}

impl Drop for ReadingTask {
    fn drop(&mut self) {
        self.stop.request();
        self.child_handles.iter().for_each(ChildHandle::end);
        let step = Duration::from_millis(5);
        for _ in 0..MAX_END_WAIT.as_millis() / step.as_millis() {
            if self.threads.iter().all(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(step);
        }
    }
}

/// Groups the probes by machine, because one request to a machine serves all of them.
fn by_machine(specs: &[ProbeSpec]) -> Vec<(Machine, Vec<collector::MachineProbe>)> {
    let mut machines: Vec<(&ProbeAccess, Vec<collector::MachineProbe>)> = Vec::new();
    for spec in specs {
        let (Probed::Host { via } | Probed::Processes { via, .. }) = &spec.what else { continue };
        let probe = collector::MachineProbe::new(spec);
        match machines.iter_mut().find(|(other, _)| *other == via) {
            Some((_, probes)) => probes.push(probe),
            None => machines.push((via, vec![probe])),
        }
    }
    machines.into_iter().map(|(via, probes)| (Machine::new(via), probes)).collect()
}
