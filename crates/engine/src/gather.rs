//! Snapshots of several sources (threads, or processes) joined in order of time, and events made of them.
//!
//! A source hands over one [`Snapshot`] for each interval, and says when there will be no more. It does
//! not know who the sources are, nor how their snapshots came here.

use crate::clock::{Rests, Time, unix_seconds};
use crate::labels::{Labels, NewLabel, OTHER};
use crate::message::{Sink, Source};
use brunt_model::event::{Finish, Reading, Warning};
use brunt_model::reading_names as name;
use brunt_model::system_error::without_number;
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

/// How many sources there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources {
    pub workers: usize,
    pub populations: usize,
}

impl Sources {
    /// So many workers or processes that carry out a plan.
    pub fn new(workers: usize, plan: &Plan) -> Self {
        Self { workers, populations: plan.populations.len() }
    }
}

/// Joins what its sources hand over.
pub(crate) struct Gather<'a, W> {
    /// Who reads ourselves.
    pub watch: W,
    clock: Time,
    sink: &'a mut dyn Sink,
    labels: &'a Labels,
    /// By beginning, and by population: snapshots that not all sources have handed over yet.
    open: BTreeMap<Tick, Vec<Option<Snapshot>>>,
    /// By population, and by worker: the beginning of its last snapshot; None: there is none yet.
    handed: Vec<Vec<Option<Tick>>>,
    phase: Option<Phase>,
    seen_to: Tick,
    error: Option<String>,
    /// When we read ourselves last.
    last_reading: Tick,
    /// By worker: how late it was with its snapshots.
    stopped: BTreeMap<usize, Stopped>,
    /// Rests by worker, of threads that have ended and rested.
    rests: BTreeMap<usize, Rests>,
    overflow_told: bool,
}

impl<'a, W: Watch> Gather<'a, W> {
    /// Nothing was handed over yet, by so many sources.
    pub fn new(sources: Sources, labels: &'a Labels, watch: W, clock: Time, sink: &'a mut dyn Sink) -> Self {
        Self {
            watch,
            clock,
            sink,
            labels,
            open: BTreeMap::new(),
            handed: vec![vec![None; sources.workers]; sources.populations],
            phase: None,
            seen_to: Tick::ZERO,
            error: None,
            last_reading: Tick::ZERO,
            stopped: BTreeMap::new(),
            rests: BTreeMap::new(),
            overflow_told: false,
        }
    }

    /// The run begins.
    pub fn start(&mut self, plan: &Plan, environment: Environment) {
        let (plan, environment) = (Box::new(plan.clone()), Box::new(environment));
        self.sink.take(&Event::Started { plan, environment, unix_seconds: unix_seconds() });
        self.read_ourselves();
    }

    /// A source hands over its next interval.
    pub fn hand(&mut self, source: Source, snapshot: Snapshot) {
        self.note_lateness(source.worker, &snapshot);
        self.handed[source.population][source.worker] = Some(snapshot.from);
        self.join(source.population, snapshot);
        self.emit_whole();
    }

    /// A source that comes late with its interval did not get to it: it was stopped, or had other things to do.
    fn note_lateness(&mut self, worker: usize, snapshot: &Snapshot) {
        let now = self.clock.now();
        let known_to = self.stopped.get(&worker).map_or(Tick::ZERO, |stopped| stopped.to);
        let late = now - snapshot.to.max(known_to);
        if snapshot.phase != Phase::Setup && late >= STOPPED {
            let stopped = self.stopped.entry(worker).or_default();
            *stopped = Stopped { time: stopped.time + late, since: snapshot.to, to: now };
        }
    }

    /// A worker's thread has ended, and this is how often it rested.
    pub fn worker_rested(&mut self, worker: usize, rests: Rests) {
        if rests.count > 0 {
            self.rests.insert(worker, rests);
        }
    }

    /// A source hands over no more.
    pub fn over(&mut self, source: Source) {
        self.handed[source.population][source.worker] = Some(Tick::NEVER);
        self.emit_whole();
    }

    /// Passes an event on as it is.
    pub fn tell(&mut self, event: &Event) {
        self.sink.take(event);
    }

    /// Something that the reader of the report should know.
    pub fn warn(&mut self, at: Tick, text: &str) {
        self.tell(&Event::Warning(Warning { at, text: without_number(text) }));
    }

    /// Something that is known at the end of the run.
    pub fn remark(&mut self, text: &str) {
        self.warn(self.seen_to, text);
    }

    /// Why nothing can be measured. The first reason counts.
    pub fn fatal(&mut self, why: String) {
        self.error.get_or_insert(why);
    }

    /// The end of the last interval that left.
    pub fn seen_to(&self) -> Tick {
        self.seen_to
    }

    /// Reads this process where the last reading is older than the interval.
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
        for (worker, rests) in &self.rests {
            values.push((name::of_worker(*worker, name::RESTS), rests.count as f64));
            values.push((name::of_worker(*worker, name::REST_SECONDS), rests.time.as_secs_f64()));
        }
        self.sink.take(&Event::Reading(Reading { at, source: name::GENERATOR.into(), values }));
    }

    /// The run is over: whatever was handed over leaves.
    pub fn finish(mut self, interrupted: bool) {
        while let Some((_, snapshots)) = self.open.pop_first() {
            self.emit_all(snapshots);
        }
        self.read_ourselves();
        self.sink.take(&Event::Finished(Finish { at: self.seen_to, interrupted, error: self.error }));
    }

    fn join(&mut self, population: usize, snapshot: Snapshot) {
        let populations = self.handed.len();
        let interval = self.open.entry(snapshot.from).or_insert_with(|| vec![None; populations]);
        match &mut interval[population] {
            Some(whole) => {
                whole.to = whole.to.max(snapshot.to);
                whole.phase = whole.phase.max(snapshot.phase);
                whole.merge(&snapshot);
            }
            none => *none = Some(snapshot),
        }
    }

    fn emit_whole(&mut self) {
        let all_have = self.handed.iter().flatten().min().copied().flatten();
        while let Some(first) = self.open.first_entry().filter(|first| Some(*first.key()) <= all_have) {
            let snapshots = first.remove();
            self.emit_all(snapshots);
        }
    }

    /// An interval: of each population where there are several, and of all of them. All are in the earliest phase that one is
    /// in.
    fn emit_all(&mut self, snapshots: Vec<Option<Snapshot>>) {
        for NewLabel { id, name, hop_of } in self.labels.take_new() {
            self.sink.take(&Event::Label { id, name, hop_of });
        }
        let several = snapshots.len() > 1;
        let mut all: Option<Snapshot> = None;
        for (number, snapshot) in snapshots.into_iter().enumerate() {
            let Some(snapshot) = snapshot else { continue };
            if several {
                self.sink.take(&Event::Population { number: number as u32, snapshot: Box::new(snapshot.clone()) });
            }
            match &mut all {
                Some(all) => {
                    all.to = all.to.max(snapshot.to);
                    all.phase = all.phase.min(snapshot.phase);
                    all.merge(&snapshot);
                }
                None => all = Some(snapshot),
            }
        }
        if let Some(all) = all {
            self.emit(all);
        }
    }

    fn emit(&mut self, snapshot: Snapshot) {
        if self.phase != Some(snapshot.phase) {
            self.phase = Some(snapshot.phase);
            self.sink.take(&Event::Stage { at: snapshot.from, phase: snapshot.phase });
            if snapshot.phase == Phase::Measure {
                self.read_ourselves();
            }
        }
        self.seen_to = self.seen_to.max(snapshot.to);
        let to = snapshot.to;
        self.sink.take(&Event::Snapshot(Box::new(snapshot)));
        if self.labels.overflowed() && !std::mem::replace(&mut self.overflow_told, true) {
            let limit = self.labels.limit();
            self.warn(to, &format!("more than {limit} labels: the rest are summed under {OTHER}; see --labels"));
        }
    }
}
