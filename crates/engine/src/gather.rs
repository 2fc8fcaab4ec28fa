//! Merges the snapshots of several sources (threads or processes) in order of time, and
//! makes events of them.
//!
//! A source sends one [`Snapshot`] for each interval, and reports when it sends no more. This
//! module does not know what the sources are, nor how their snapshots arrive.

use crate::clock::{Rests, WorkerClock, unix_seconds};
use crate::labels::{Labels, NewLabel, OTHER};
use crate::message::{Sink, Source};
use brunt_model::event::{Finish, Reading, Warning};
use brunt_model::reading_names as name;
use brunt_model::system_error::without_number;
use brunt_model::{Clock, Environment, Event, Phase, Plan, Snapshot, Text, Tick, text};
use brunt_probe::ReadingMoment;
use std::collections::BTreeMap;
use std::time::Duration;

/// Interval between two readings of the generator itself.
pub(crate) const BETWEEN_READINGS: Duration = Duration::from_secs(1);

/// A source that sends its interval later than this counts as stopped meanwhile.
const LATE: Duration = Duration::from_millis(250);

/// Reads the resource usage of the generator itself.
pub(crate) trait SelfMonitor {
    /// Returns names, with their unit, and values.
    fn read(&mut self, moment: ReadingMoment) -> Vec<(String, f64)>;

    /// True if each source is a worker. False for processes, which report their own workers.
    fn sources_are_workers(&self) -> bool;
}

/// Time by which a source was late with its snapshots.
#[derive(Debug, Clone, Copy, Default)]
struct Lateness {
    /// Total time.
    time: Duration,
    /// Begin and end of the last time.
    since: Tick,
    to: Tick,
}

/// Number of sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources {
    pub workers: usize,
    pub populations: usize,
}

impl Sources {
    /// Creates the numbers for `workers` threads or processes that run a plan.
    pub fn new(workers: usize, plan: &Plan) -> Self {
        Self { workers, populations: plan.populations.len() }
    }
}

/// Merges the snapshots of its sources, and sends events to a sink.
pub(crate) struct Gather<'a, W> {
    pub monitor: W,
    clock: WorkerClock,
    sink: &'a mut dyn Sink,
    labels: &'a Labels,
    /// Snapshots that some source has not sent yet: by begin of the interval, then by population.
    open: BTreeMap<Tick, Vec<Option<Snapshot>>>,
    /// Begin of the last snapshot, by population and worker; None before the first,
    /// `NEVER` after the last.
    last_from: Vec<Vec<Option<Tick>>>,
    phase: Option<Phase>,
    emitted_to: Tick,
    error: Option<Text>,
    /// When the generator was last read.
    last_reading: Tick,
    /// Until this instant, the sources repeat what an earlier process has received from them.
    repeated_to: Tick,
    /// Latest instant that a source has reported.
    reported_to: Tick,
    /// By worker.
    lateness: BTreeMap<usize, Lateness>,
    /// Rests of threads that have ended, by worker. Threads that never rested are absent.
    rests: BTreeMap<usize, Rests>,
    has_warned_of_overflow: bool,
}

impl<'a, W: SelfMonitor> Gather<'a, W> {
    /// Creates the collector of these sources, without snapshots.
    pub fn new(
        sources: Sources,
        labels: &'a Labels,
        monitor: W,
        clock: WorkerClock,
        sink: &'a mut dyn Sink,
    ) -> Self {
        Self {
            monitor,
            clock,
            sink,
            labels,
            open: BTreeMap::new(),
            last_from: vec![vec![None; sources.workers]; sources.populations],
            phase: None,
            emitted_to: Tick::ZERO,
            error: None,
            last_reading: Tick::ZERO,
            repeated_to: Tick::ZERO,
            reported_to: Tick::ZERO,
            lateness: BTreeMap::new(),
            rests: BTreeMap::new(),
            has_warned_of_overflow: false,
        }
    }

    /// The sources first repeat what they have sent until this instant. It is received all at once, so
    /// their own instants count until then.
    pub fn with_repetition(self, repeated_to: Tick) -> Self {
        Self { repeated_to, ..self }
    }

    /// Sends the first events of a run.
    pub fn start(&mut self, plan: &Plan, environment: Environment) {
        self.sink.take(&Event::Started {
            plan: Box::new(plan.clone()),
            environment: Box::new(environment),
            // Of instant 0: the process may have begun later.
            unix_seconds: unix_seconds() - self.clock.now().seconds(),
        });
        self.read_generator(ReadingMoment::Edge);
    }

    /// Adds the next snapshot of a source, and sends the intervals that are now complete.
    pub fn add_snapshot(&mut self, source: Source, snapshot: Snapshot) {
        self.note_instant(snapshot.to);
        self.last_from[source.population][source.worker] = Some(snapshot.from);
        self.join(source.population, snapshot);
        self.emit_whole();
    }

    /// Notes if a worker took its snapshot late: it was stopped, waited for a core, or had other work. `now` is
    /// the worker's instant, because this thread may be late, too.
    pub fn note_lateness(&mut self, worker: usize, snapshot: &Snapshot, now: Tick) {
        // Lateness up to here was counted with an earlier snapshot.
        let known_to = self.lateness.get(&worker).map_or(Tick::ZERO, |known| known.to);
        let late = now - snapshot.to.max(known_to);
        if snapshot.phase != Phase::Setup && late >= LATE {
            let lateness = self.lateness.entry(worker).or_default();
            *lateness = Lateness { time: lateness.time + late, since: snapshot.to, to: now };
        }
    }

    /// Notes the rests of a worker's thread, which has ended.
    pub fn add_rests(&mut self, worker: usize, rests: Rests) {
        if rests.count > 0 {
            self.rests.insert(worker, rests);
        }
    }

    /// Adds the last interval of a population, after the end of all its sources.
    pub fn add_last(&mut self, population: usize, snapshot: Snapshot) {
        self.join(population, snapshot);
    }

    /// Notes that a source sends no more snapshots.
    pub fn end_source(&mut self, source: Source) {
        self.last_from[source.population][source.worker] = Some(Tick::NEVER);
        self.emit_whole();
    }

    /// Notes that another source takes the place of one that has ended. Its first snapshot begins at this instant,
    /// or at a later one.
    pub fn resume_source(&mut self, source: Source, from: Tick) {
        self.last_from[source.population][source.worker] = Some(Tick(from.0.saturating_sub(1)));
    }

    /// Sends an event unchanged.
    pub fn forward(&mut self, event: &Event) {
        self.sink.take(event);
    }

    /// Sends a warning for the reader of the report.
    pub fn warn(&mut self, instant: Tick, text: &Text) {
        let text = text.map(&without_number);
        self.forward(&Event::Warning(Warning { at: instant, text }));
    }

    /// Sends a warning that is known only at the end of the run.
    pub fn remark(&mut self, text: &Text) {
        self.warn(self.emitted_to, text);
    }

    /// Stores the reason why nothing can be measured; only the first reason is used.
    pub fn fatal(&mut self, why: Text) {
        self.error.get_or_insert(why);
    }

    /// Returns the end of the last interval that was sent.
    pub fn emitted_to(&self) -> Tick {
        self.emitted_to
    }

    /// Notes an instant that a source has reported.
    pub fn note_instant(&mut self, instant: Tick) {
        self.reported_to = self.reported_to.max(instant);
    }

    /// The current instant.
    fn now(&self) -> Tick {
        if self.reported_to < self.repeated_to { self.reported_to } else { self.clock.now() }
    }

    /// Reads the generator if the last reading is older than `time`.
    pub fn read_after(&mut self, time: Duration) {
        // A fake clock never gets here, because each thread has its own.
        if self.now() >= self.last_reading + time {
            self.read_generator(ReadingMoment::Within);
        }
    }

    /// Reads the generator, and sends the reading.
    pub fn read_generator(&mut self, moment: ReadingMoment) {
        let instant = self.now().max(self.emitted_to);
        self.last_reading = instant;
        let mut values = self.monitor.read(moment);
        for (worker, late) in self.lateness.iter().filter(|_| self.monitor.sources_are_workers()) {
            values.push((name::worker_stopped(*worker), late.time.as_secs_f64()));
            values.push((name::worker_stopped_at(*worker), late.since.seconds()));
        }
        for (worker, rests) in &self.rests {
            values.push((name::worker_reading(*worker, name::RESTS), rests.count as f64));
            values.push((
                name::worker_reading(*worker, name::REST_SECONDS),
                rests.time.as_secs_f64(),
            ));
        }
        self.sink.take(&Event::Reading(Reading {
            at: instant,
            source: name::GENERATOR.into(),
            values,
        }));
    }

    /// Ends the run: sends the remaining intervals, a last reading and the end event.
    pub fn finish(mut self, interrupted: bool) {
        while let Some((_, snapshots)) = self.open.pop_first() {
            self.emit_all(snapshots);
        }
        self.read_generator(ReadingMoment::Edge);
        self.sink.take(&Event::Finished(Finish {
            at: self.emitted_to,
            interrupted,
            error: self.error,
        }));
    }

    fn join(&mut self, population: usize, snapshot: Snapshot) {
        let populations = self.last_from.len();
        let interval = self.open.entry(snapshot.from).or_insert_with(|| vec![None; populations]);
        match &mut interval[population] {
            Some(whole) => {
                whole.to = whole.to.max(snapshot.to);
                // A part that leaves a phase early does not end it for the others.
                whole.phase = whole.phase.min(snapshot.phase);
                whole.merge(&snapshot);
            }
            empty => *empty = Some(snapshot),
        }
    }

    fn emit_whole(&mut self) {
        let complete_to = self.last_from.iter().flatten().min().copied().flatten();
        while let Some(first) =
            self.open.first_entry().filter(|first| Some(*first.key()) <= complete_to)
        {
            let snapshots = first.remove();
            self.emit_all(snapshots);
        }
    }

    /// Sends one interval: of each population if there are several, and of all together. The
    /// interval has the earliest phase of any population.
    fn emit_all(&mut self, snapshots: Vec<Option<Snapshot>>) {
        for NewLabel { id, name, hop_of } in self.labels.take_new() {
            self.sink.take(&Event::Label { id, name, hop_of });
        }
        let several = snapshots.len() > 1;
        let mut all: Option<Snapshot> = None;
        for (number, snapshot) in snapshots.into_iter().enumerate() {
            let Some(snapshot) = snapshot else { continue };
            if several {
                self.sink.take(&Event::Population {
                    number: number as u32,
                    snapshot: Box::new(snapshot.clone()),
                });
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
            // The first and the last reading of the measured time.
            if matches!(snapshot.phase, Phase::Measure | Phase::Grace) {
                self.read_generator(ReadingMoment::Edge);
            }
        }
        self.emitted_to = self.emitted_to.max(snapshot.to);
        let to = snapshot.to;
        self.sink.take(&Event::Snapshot(Box::new(snapshot)));
        if self.labels.overflowed() && !std::mem::replace(&mut self.has_warned_of_overflow, true) {
            let limit = self.labels.limit().to_string();
            self.warn(to, &text!("warning-labels", limit, other = OTHER));
        }
    }
}
