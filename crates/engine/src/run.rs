//! Workers started, their snapshots merged, events out.

use crate::check::Check;
use crate::clock::{Epoch, Time, runtime, unix_seconds};
use crate::gate::Gate;
use crate::labels::Labels;
use crate::pool::{Overflow, Pool, Take};
use crate::recorder::Cohort;
use crate::user::Users;
use crate::worker::{Common, Shared, work};
use brunt_model::event::{Finish, Reading, Warning};
use brunt_model::{Clock, Environment, Event, Load, Phase, Plan, Sample, Snapshot, Tick};
use brunt_probe::ourselves::Thread;
use brunt_wire::Wire;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// How far readings of ourselves are apart.
const BETWEEN_READINGS: Duration = Duration::from_secs(1);

/// Who listens to a run.
pub trait Sink {
    /// Takes the next event.
    fn take(&mut self, event: &Event);
}

impl<F: FnMut(&Event)> Sink for F {
    fn take(&mut self, event: &Event) {
        self(event);
    }
}

/// What a run needs of the world: made once, used by all workers.
pub trait World: Send + Sync {
    /// How requests travel.
    type Wire: Wire;

    /// The clock that workers get.
    fn epoch(&self) -> Epoch;

    /// The wire of a worker; called on its thread.
    fn wire(&self, worker: usize, time: &Time) -> Rc<Self::Wire>;

    /// The users of a worker; called on its thread. `labels` numbers the names of labels.
    fn users(&self, wire: &Rc<Self::Wire>, worker: usize, labels: &dyn Fn(&str) -> u32) -> Box<dyn Users>;

    /// Names of labels that are known beforehand.
    fn labels(&self) -> Vec<String>;
}

/// What may be said to a run while it goes on; clones speak to the same run. Each is said once and heard by all workers
/// at the end of an interval.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<Said>);

#[derive(Debug, Default)]
struct Said {
    stop: AtomicBool,
    enough: AtomicBool,
    steady: AtomicBool,
}

impl Control {
    /// Somebody wants it to end: no new requests, a short grace, and the report of what was measured.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Whether somebody wanted it to end.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// What was asked for is known: the run ends as if its time were up.
    pub fn enough(&self) {
        self.0.enough.store(true, Ordering::Relaxed);
    }

    /// It need not go on.
    pub(crate) fn is_over(&self) -> bool {
        self.is_stopped() || self.0.enough.load(Ordering::Relaxed)
    }

    /// The server is warm: the measured time begins.
    pub fn steady(&self) {
        self.0.steady.store(true, Ordering::Relaxed);
    }

    /// The measured time may begin.
    pub(crate) fn is_steady(&self) -> bool {
        self.0.steady.load(Ordering::Relaxed)
    }
}

/// Why a run could not be carried out: we failed, not the server.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A thread or its runtime could not be made.
    #[error("a worker could not be started: {0}")]
    Worker(#[from] io::Error),
    /// The pattern for bodies.
    #[error("the pattern for bodies: {0}")]
    Pattern(#[from] regex::Error),
    /// A worker panicked: a fault of brunt.
    #[error("a worker thread ended unexpectedly; what was measured before is in the report")]
    Panicked,
}

/// Numbers for requests, and the end of them where a run is bounded in requests.
#[derive(Debug)]
pub struct Tickets {
    next: AtomicU64,
    /// Those of the measured time, where they are bounded.
    measured: AtomicU64,
    limit: Option<u64>,
}

impl Tickets {
    /// The number of the next request; None: enough were made. Those of the warm-up are not bounded.
    pub fn take(&self, cohort: Cohort) -> Option<u64> {
        if let (Some(limit), Cohort::Measured) = (self.limit, cohort)
            && self.measured.fetch_add(1, Ordering::Relaxed) >= limit
        {
            return None;
        }
        Some(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Whether enough were made.
    pub fn are_gone(&self) -> bool {
        self.limit.is_some_and(|limit| self.measured.load(Ordering::Relaxed) >= limit)
    }
}

/// What workers say to the thread that gathers.
pub enum Message {
    /// Of which worker.
    Snapshot(usize, Box<Snapshot>),
    Samples(Vec<Sample>),
    Target(Vec<String>, Option<String>),
    Warning(String, Tick),
    Fatal(String),
    /// Which worker, and what its thread had of the machine: it cannot be asked when it is gone.
    Done(usize, Thread),
}

/// Carries a plan out: starts its workers, merges what they hand over, and tells `sink`. Returns when all is over.
pub fn run<W: World>(
    plan: &Plan,
    environment: Environment,
    world: &W,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    let common = Arc::new(common(plan, world, control)?);
    let (out, inbox) = channel();
    let mut gather = Gather::new(&common, Time::new(world.epoch()), sink);
    gather.start(environment);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for number in 0..plan.threads as usize {
            let (shared, out) = (Arc::clone(&common), out.clone());
            let name = format!("brunt-worker-{number}");
            let job = move || worker_thread(world, shared, number, out);
            let spawned = thread::Builder::new().name(name).spawn_scoped(scope, job);
            workers.push(spawned.inspect_err(|_| common.gate.give_up())?);
        }
        drop(out);
        gather.all(&inbox);
        let ends = workers.into_iter().map(|w| w.join().map_err(|_| EngineError::Panicked));
        let outcome = ends.collect::<Result<Vec<_>, _>>();
        gather.finish();
        outcome?.into_iter().collect::<Result<(), _>>()
    })
}

fn common<W: World>(plan: &Plan, world: &W, control: &Control) -> Result<Common, EngineError> {
    let labels = Arc::new(Labels::new(plan.record.labels));
    for name in world.labels() {
        labels.number(&name);
    }
    Ok(Common {
        check: Check::new(&plan.checks)?,
        labels,
        pool: pool(plan).map(Arc::new),
        tickets: Arc::new(Tickets { next: AtomicU64::new(0), measured: AtomicU64::new(0), limit: plan.stop.requests }),
        gate: Gate::new(plan.threads as usize),
        control: control.clone(),
        stopped: OnceLock::new(),
        warm: OnceLock::new(),
        plan: plan.clone(),
    })
}

fn pool(plan: &Plan) -> Option<Pool> {
    let workers = plan.threads as usize;
    match plan.load {
        Load::Closed { .. } => None,
        Load::Open { connections: Some(n), .. } => Some(Pool::new(n as usize, workers, Overflow::Wait, Take::Oldest)),
        Load::Open { connections: None, max_in_flight, .. } => {
            Some(Pool::new(max_in_flight as usize, workers, Overflow::Drop, Take::Newest))
        }
    }
}

fn worker_thread<W: World>(
    world: &W,
    common: Arc<Common>,
    number: usize,
    out: Sender<Message>,
) -> Result<(), EngineError> {
    let _leaving = Leaving { common: Arc::clone(&common), number };
    let time = Time::new(world.epoch());
    runtime()?.block_on(async move {
        let _attended = time.attend()?;
        if common.plan.precise {
            let time = time.clone();
            tokio::task::spawn_local(async move { time.spin().await });
        }
        let wire = world.wire(number, &time);
        let labels = Arc::clone(&common.labels);
        let users = world.users(&wire, number, &|name| labels.number(name));
        let shared = Shared::new(common, (wire, users), time, number, out);
        // In a task of its own: a parking runtime sees that tasks were woken, and not what it blocks on.
        tokio::task::spawn_local(work(shared)).await.map_err(|_| EngineError::Panicked)
    })
}

/// Whatever becomes of a worker, the others do not wait for it when it is gone.
struct Leaving {
    common: Arc<Common>,
    number: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.common.gate.give_up();
        if let Some(pool) = &self.common.pool {
            pool.arrivals_over(self.number);
        }
    }
}

/// Joins what workers hand over, in order of time.
struct Gather<'a> {
    common: &'a Common,
    sink: &'a mut dyn Sink,
    /// By beginning: snapshots that not all workers have handed over yet.
    open: BTreeMap<Tick, Snapshot>,
    /// By worker: the beginning of its last snapshot; None: there is none yet.
    handed: Vec<Option<Tick>>,
    phase: Option<Phase>,
    seen_to: Tick,
    error: Option<String>,
    ourselves: brunt_probe::Ourselves,
    clock: Time,
    /// When we read ourselves last.
    last_reading: Tick,
    overflow_told: bool,
}

impl<'a> Gather<'a> {
    fn new(common: &'a Common, clock: Time, sink: &'a mut dyn Sink) -> Self {
        Self {
            common,
            sink,
            open: BTreeMap::new(),
            handed: vec![None; common.plan.threads as usize],
            phase: None,
            seen_to: Tick::ZERO,
            error: None,
            ourselves: brunt_probe::Ourselves::new(),
            clock,
            last_reading: Tick::ZERO,
            overflow_told: false,
        }
    }

    fn start(&mut self, environment: Environment) {
        let plan = Box::new(self.common.plan.clone());
        let environment = Box::new(environment);
        self.sink.take(&Event::Started { plan, environment, unix_seconds: unix_seconds() });
        self.read_ourselves();
    }

    fn all(&mut self, inbox: &Receiver<Message>) {
        loop {
            match inbox.recv_timeout(BETWEEN_READINGS) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // A fake clock, which is another for each thread, never gets there.
            if self.clock.now() >= self.last_reading + BETWEEN_READINGS {
                self.read_ourselves();
            }
        }
        while let Some((_, snapshot)) = self.open.pop_first() {
            self.emit(&snapshot);
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Snapshot(worker, snapshot) => {
                self.handed[worker] = Some(snapshot.from);
                self.join(*snapshot);
            }
            Message::Samples(samples) => self.sink.take(&Event::Samples(samples)),
            Message::Target(addresses, server) => self.sink.take(&Event::Target { addresses, server }),
            Message::Warning(text, at) => self.sink.take(&Event::Warning(Warning { at, text })),
            Message::Fatal(why) => self.error = Some(why),
            Message::Done(worker, thread) => {
                self.handed[worker] = Some(Tick::NEVER);
                self.ourselves.worker_ended(worker, thread);
            }
        }
        let all_have = self.handed.iter().min().copied().flatten();
        while let Some(first) = self.open.first_entry().filter(|first| Some(*first.key()) <= all_have) {
            let snapshot = first.remove();
            self.emit(&snapshot);
        }
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

    fn emit(&mut self, snapshot: &Snapshot) {
        for (id, name) in self.common.labels.take_fresh() {
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
        if self.common.labels.overflowed() && !std::mem::replace(&mut self.overflow_told, true) {
            let text = format!(
                "more than {} labels: the rest are summed under {}; see --labels",
                self.common.plan.record.labels,
                crate::labels::OTHER
            );
            self.sink.take(&Event::Warning(Warning { at: snapshot.to, text }));
        }
    }

    fn read_ourselves(&mut self) {
        let at = self.clock.now().max(self.seen_to);
        self.last_reading = at;
        let values = self.ourselves.read(self.common.plan.threads);
        self.sink.take(&Event::Reading(Reading { at, source: brunt_model::reading_names::GENERATOR.into(), values }));
    }

    fn finish(&mut self) {
        self.read_ourselves();
        let interrupted = self.common.control.is_stopped();
        let error = self.error.take();
        self.sink.take(&Event::Finished(Finish { at: self.seen_to, interrupted, error }));
    }
}
