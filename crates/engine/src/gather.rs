//! Snapshots of several sources (threads, or processes) joined in order of time, and events made of them.
//!
//! A source hands over one [`Snapshot`] for each interval, and says when there will be no more. What it is **not**: it does
//! not know who the sources are, nor how their snapshots came here.

use crate::clock::{Time, unix_seconds};
use crate::labels::{Labels, OTHER};
use crate::run::Sink;
use brunt_model::event::{Finish, Reading, Warning};
use brunt_model::reading_names as name;
use brunt_model::{Clock, Environment, Event, Phase, Plan, Snapshot, Tick};
use std::collections::BTreeMap;
use std::time::Duration;

/// How far readings of ourselves are apart.
pub(crate) const BETWEEN_READINGS: Duration = Duration::from_secs(1);

/// A source that comes so late with an interval was stopped meanwhile.
const STOPPED: Duration = Duration::from_millis(250);

/// Who reads ourselves.
pub(crate) trait Watch {
    /// Names, with their unit, and values.
    fn read(&mut self) -> Vec<(String, f64)>;

    /// Whether each source is a worker; of several processes, each tells of its own workers.
    fn sources_are_workers(&self) -> bool;
}

/// How late a source was with its snapshots.
#[derive(Debug, Clone, Copy, Default)]
struct Stopped {
    /// In all.
    time: Duration,
    /// When the last time began, and when it ended.
    since: Tick,
    to: Tick,
}

/// Joins what its sources hand over.
pub(crate) struct Gather<'a, W> {
    /// Who reads ourselves.
    pub watch: W,
    clock: Time,
    sink: &'a mut dyn Sink,
    labels: &'a Labels,
    /// By beginning: snapshots that not all sources have handed over yet.
    open: BTreeMap<Tick, Snapshot>,
    /// By source: the beginning of its last snapshot; None: there is none yet.
    handed: Vec<Option<Tick>>,
    phase: Option<Phase>,
    seen_to: Tick,
    error: Option<String>,
    /// When we read ourselves last.
    last_reading: Tick,
    /// By source: how late it was with its snapshots.
    stopped: BTreeMap<usize, Stopped>,
    overflow_told: bool,
}

impl<'a, W: Watch> Gather<'a, W> {
    /// Nothing was handed over yet, by so many sources.
    pub fn new(sources: usize, labels: &'a Labels, watch: W, clock: Time, sink: &'a mut dyn Sink) -> Self {
        Self {
            watch,
            clock,
            sink,
            labels,
            open: BTreeMap::new(),
            handed: vec![None; sources],
            phase: None,
            seen_to: Tick::ZERO,
            error: None,
            last_reading: Tick::ZERO,
            stopped: BTreeMap::new(),
            overflow_told: false,
        }
    }

    /// The run begins.
    pub fn start(&mut self, plan: &Plan, environment: Environment) {
        let (plan, environment) = (Box::new(plan.clone()), Box::new(environment));
        self.sink.take(&Event::Started { plan, environment, unix_seconds: unix_seconds() });
        self.read_ourselves();
    }

    /// Source number `source` hands over its next interval.
    pub fn hand(&mut self, source: usize, snapshot: Snapshot) {
        self.note_lateness(source, &snapshot);
        self.handed[source] = Some(snapshot.from);
        self.join(snapshot);
        self.emit_whole();
    }

    /// A source that comes late with its interval did not get to it: it was stopped, or had other things to do.
    fn note_lateness(&mut self, source: usize, snapshot: &Snapshot) {
        let now = self.clock.now();
        let known_to = self.stopped.get(&source).map_or(Tick::ZERO, |stopped| stopped.to);
        let late = now - snapshot.to.max(known_to);
        if snapshot.phase != Phase::Setup && late >= STOPPED {
            let stopped = self.stopped.entry(source).or_default();
            *stopped = Stopped { time: stopped.time + late, since: snapshot.to, to: now };
        }
    }

    /// Source number `source` hands over no more.
    pub fn over(&mut self, source: usize) {
        self.handed[source] = Some(Tick::NEVER);
        self.emit_whole();
    }

    /// Passes an event on as it is.
    pub fn tell(&mut self, event: &Event) {
        self.sink.take(event);
    }

    /// Something that the reader of the report should know.
    pub fn warn(&mut self, at: Tick, text: String) {
        self.tell(&Event::Warning(Warning { at, text }));
    }

    /// Why nothing can be measured. The first reason counts.
    pub fn fatal(&mut self, why: String) {
        self.error.get_or_insert(why);
    }

    /// The end of the last interval that left.
    pub fn seen_to(&self) -> Tick {
        self.seen_to
    }

    /// Reads ourselves where the last reading is so long ago.
    pub fn read_after(&mut self, time: Duration) {
        // A fake clock, which is another for each thread, never gets there.
        if self.clock.now() >= self.last_reading + time {
            self.read_ourselves();
        }
    }

    /// Reads ourselves.
    pub fn read_ourselves(&mut self) {
        let at = self.clock.now().max(self.seen_to);
        self.last_reading = at;
        let mut values = self.watch.read();
        for (worker, stopped) in self.stopped.iter().filter(|_| self.watch.sources_are_workers()) {
            values.push((name::worker_stopped(*worker), stopped.time.as_secs_f64()));
            values.push((name::worker_stopped_at(*worker), stopped.since.seconds()));
        }
        self.sink.take(&Event::Reading(Reading { at, source: name::GENERATOR.into(), values }));
    }

    /// The run is over: whatever was handed over leaves.
    pub fn finish(mut self, interrupted: bool) {
        while let Some((_, snapshot)) = self.open.pop_first() {
            self.emit(&snapshot);
        }
        self.read_ourselves();
        self.sink.take(&Event::Finished(Finish { at: self.seen_to, interrupted, error: self.error }));
    }

    fn join(&mut self, snapshot: Snapshot) {
        match self.open.get_mut(&snapshot.from) {
            Some(whole) => {
                whole.to = whole.to.max(snapshot.to);
                whole.phase = whole.phase.max(snapshot.phase);
                whole.merge(&snapshot);
            }
            None => {
                self.open.insert(snapshot.from, snapshot);
            }
        }
    }

    fn emit_whole(&mut self) {
        let all_have = self.handed.iter().min().copied().flatten();
        while let Some(first) = self.open.first_entry().filter(|first| Some(*first.key()) <= all_have) {
            let snapshot = first.remove();
            self.emit(&snapshot);
        }
    }

    fn emit(&mut self, snapshot: &Snapshot) {
        for (id, name) in self.labels.take_fresh() {
            self.sink.take(&Event::Label { id, name });
        }
        if self.phase != Some(snapshot.phase) {
            self.phase = Some(snapshot.phase);
            self.sink.take(&Event::Stage { at: snapshot.from, phase: snapshot.phase });
            if snapshot.phase == Phase::Measure {
                self.read_ourselves();
            }
        }
        self.seen_to = self.seen_to.max(snapshot.to);
        self.sink.take(&Event::Snapshot(Box::new(snapshot.clone())));
        if self.labels.overflowed() && !std::mem::replace(&mut self.overflow_told, true) {
            let limit = self.labels.limit();
            self.warn(
                snapshot.to,
                format!("more than {limit} labels: the rest are summed under {OTHER}; see --labels"),
            );
        }
    }
}
