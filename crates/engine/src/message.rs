//! Messages from workers to the collecting thread, and the receiver of its events.

use crate::clock::Rests;
use brunt_model::metric::Metrics;
use brunt_model::{CheckFailure, Event, Sample, SampleRecord, Snapshot, Text, Tick};
use brunt_probe::self_probe::Thread;

/// Receives the events of a run.
pub trait Sink {
    /// Takes the next event.
    fn take(&mut self, event: &Event);
}

impl<F: FnMut(&Event)> Sink for F {
    fn take(&mut self, event: &Event) {
        self(event);
    }
}

/// Source of snapshots: a population of a worker, or of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub worker: usize,
    pub population: usize,
}

/// A message from a worker.
pub enum Message {
    /// A snapshot, and the instant at which the worker took it: late if it did not run, or was busy.
    Snapshot(Source, Box<Snapshot>, Tick),
    Samples(Vec<Sample>),
    Records(Vec<SampleRecord>),
    CheckFailures(Vec<CheckFailure>),
    Metrics(Metrics),
    Target(Vec<String>, Option<String>),
    Warning(Text, Tick),
    Fatal(Text),
    /// This population of this worker sends no more snapshots.
    PopulationEnded(Source),
    /// The worker ended. Carries the readings of its thread, which are unavailable later.
    WorkerEnded(usize, Thread, Rests),
}

impl Message {
    /// Returns the worker whose figures it has; None if it has none.
    pub fn worker(&self) -> Option<usize> {
        match self {
            Self::Snapshot(source, ..) | Self::PopulationEnded(source) => Some(source.worker),
            Self::WorkerEnded(worker, ..) => Some(*worker),
            Self::Samples(_)
            | Self::Records(_)
            | Self::CheckFailures(_)
            | Self::Metrics(_)
            | Self::Target(..)
            | Self::Warning(..)
            | Self::Fatal(_) => None,
        }
    }
}
