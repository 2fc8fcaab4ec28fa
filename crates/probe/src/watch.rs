//! Readings of the server under test, taken again and again beside the load: its machines, its processes, its own status
//! pages.
//!
//! A [`Watch`] takes each reading at its interval, stamps it by the run's clock (midway between question and answer) and
//! keeps it until it is [drained](Watch::drain). A source that does not answer is told once, and once more when it
//! answers again; it is never the end of anything.
//!
//! It decides nothing, installs nothing and changes nothing: /proc and /sys are read, pages are asked
//! for. What a system does not show is missing from its reading, never 0.
//!
//! * `collector`: a thread that reads what is due. One for this machine, one for each machine behind `ssh`, one for each
//!   page: none waits for another.
//! * `machine`: the files of a machine, this one or one behind `ssh`. `processes`: whom to read there, and what.
//! * `pages`: status pages over HTTP, a row each. `trouble`: why there is no reading.

mod collector;
mod machine;
mod pages;
mod processes;
mod ssh;
mod stop;
#[cfg(test)]
mod tests;
mod trouble;

pub use trouble::Trouble;

use brunt_model::probe_spec::ProbeAccess;
use brunt_model::{Clock, ProbeSpec, Probed, Reading};
use collector::{Collector, Subject};
use machine::Machine;
use pages::Page;
use ssh::ChildHandle;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use stop::Stop;

/// What collectors stamp their readings by.
type SharedClock = Arc<Mutex<dyn Clock + Send>>;

/// For how long threads are waited for at the end; one that waits for a page ends by itself, soon after.
const PATIENCE: Duration = Duration::from_millis(500);

/// What was seen of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// Values of one instant; the source is [`ProbeSpec::source`].
    Reading(Reading),
    /// A source does not answer, or does so again: one sentence.
    Warning(String),
}

/// Takes readings until it is dropped.
pub struct Watch {
    seen: Receiver<Observed>,
    stop: Arc<Stop>,
    child_handles: Vec<ChildHandle>,
    threads: Vec<JoinHandle<()>>,
}

impl Watch {
    /// Begins to read all of these; the first readings are taken at once. Returns before any source has answered.
    pub fn start(specs: &[ProbeSpec], clock: impl Clock + Send + 'static) -> Self {
        let clock: SharedClock = Arc::new(Mutex::new(clock));
        let (sender, seen) = mpsc::channel();
        let mut watch = Self { seen, stop: Arc::default(), child_handles: Vec::new(), threads: Vec::new() };
        for (machine, spots) in by_machine(specs) {
            watch.child_handles.extend(machine.child_handle());
            let collector = Collector::new(sender.clone(), clock.clone(), watch.stop.clone());
            watch.threads.extend(collector.run(collector::Machines { machine, spots }));
        }
        for (page, spot) in specs.iter().filter_map(|spec| Some((Page::of(&spec.what)?, Subject::of(spec)))) {
            let collector = Collector::new(sender.clone(), clock.clone(), watch.stop.clone());
            watch.threads.extend(collector.run(collector::Pages { page, spot }));
        }
        watch
    }

    /// All that was seen since the last call, in the order in which it was known.
    pub fn drain(&mut self) -> Vec<Observed> {
        self.seen.try_iter().collect()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.now();
        self.child_handles.iter().for_each(ChildHandle::end);
        let step = Duration::from_millis(5);
        for _ in 0..PATIENCE.as_millis() / step.as_millis() {
            if self.threads.iter().all(JoinHandle::is_finished) {
                break;
            }
            std::thread::sleep(step);
        }
    }
}

/// Machines, each with what is to be read there: one machine is asked once for all of them.
fn by_machine(specs: &[ProbeSpec]) -> Vec<(Machine, Vec<collector::MachineSpot>)> {
    let mut machines: Vec<(&ProbeAccess, Vec<collector::MachineSpot>)> = Vec::new();
    for spec in specs {
        let (Probed::Host { via } | Probed::Processes { via, .. }) = &spec.what else { continue };
        let spot = collector::MachineSpot::of(spec);
        match machines.iter_mut().find(|(own, _)| *own == via) {
            Some((_, spots)) => spots.push(spot),
            None => machines.push((via, vec![spot])),
        }
    }
    machines.into_iter().map(|(via, spots)| (Machine::at(via), spots)).collect()
}
