//! Starts the workers of a run, merges their snapshots, and sends events.

use crate::activity::{LOOK, StuckStep, Watch, WorkerActivity};
use crate::check::ReplyChecker;
use crate::clock::{RunEpoch, WorkerClock, runtime};
use crate::control::{PartHandle, RunControl};
use crate::gather::{BETWEEN_READINGS, Gather, SelfMonitor, Sources};
use crate::labels::Labels;
use crate::ledger::Ledger;
use crate::message::{Message, Sink, Source};
use crate::pool::{ConnectionChoice, Overflow, Pool};
use crate::population::{PopulationShared, WorkerPopulation, WorkerThread};
use crate::run_state::{ActiveUsers, LiveRunState};
use crate::tickets::Tickets;
use crate::user::{Numbering, RunState, Users};
use crate::worker::work;
use brunt_model::{Clock, Environment, Event, Load, Plan, ProcessPart, Text};
use brunt_probe::{ReadingMoment, SelfProbe};
use brunt_wire::Transport;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};

/// Environment of a run: created once, used by all workers. Clones share their state: a worker that
/// does not return keeps its clone after the run.
pub trait RunEnvironment: Clone + Send + Sync + 'static {
    /// Sends requests.
    type Transport: Transport;

    /// Returns the clock of the workers.
    fn epoch(&self) -> RunEpoch;

    /// Creates the transport of a worker, by its number among those of all processes. Called on
    /// the worker's thread. `population` has its own connection settings; None: the transport
    /// of all other populations.
    fn transport(
        &self,
        worker: usize,
        population: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<Self::Transport>;

    /// Creates the users of a worker; called on its thread.
    fn users(&self, transport: &Rc<Self::Transport>, users_of: UserSetup<'_>) -> Box<dyn Users>;

    /// Returns the names of labels that are known before the run.
    fn labels(&self) -> Vec<String>;

    /// Returns warnings about the whole run; called once, at its end.
    fn remarks(&self) -> Vec<Text> {
        Vec::new()
    }

    /// Describes the step at a position that users of this population have noted, as the subject of a sentence.
    fn describe_step(&self, population: usize, position: u32) -> String {
        let _ = population;
        format!("step {position} of the scenario")
    }
}

/// Selects the users to create.
#[derive(Clone, Copy)]
pub struct UserSetup<'a> {
    /// Index of their population in the plan.
    pub population: usize,
    /// Number of their worker among those of all processes.
    pub worker: usize,
    /// Numbers the names of labels.
    pub labels: &'a Numbering,
    /// State of the run that contains them.
    pub run_state: &'a Rc<dyn RunState>,
}

/// Reason why a run could not be carried out: a failure of brunt, not of the server.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A thread or its runtime could not be created.
    #[error("a worker could not be started: {0}")]
    Worker(#[from] io::Error),
    /// A worker panicked: a bug in brunt.
    #[error("a worker thread ended unexpectedly; the report has the measurements before that")]
    Panicked,
    /// One of several processes failed.
    #[error("{0}")]
    Part(String),
    /// A step of a scenario did not end: the script or the text that it evaluates is too much work.
    #[error(
        "the run ended without a worker that did not return from {0}; the report has the measurements before that. Make its work shorter, or limit its input"
    )]
    StuckStep(String),
}

/// Runs a plan: starts its workers, merges their snapshots, and sends events to `sink`. Returns
/// when all workers have ended.
///
/// # Errors
///
/// [`EngineError`] if a worker could not be started.
pub fn run<W: RunEnvironment>(
    plan: &Plan,
    environment: Environment,
    world: &W,
    control: &RunControl,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    run_part(plan, environment, world, &PartHandle::whole(plan, control), sink)
}

/// Runs one process's part of a plan, controlled by its handle.
///
/// # Errors
///
/// [`EngineError`] if a worker could not be started.
pub fn run_part<W: RunEnvironment>(
    plan: &Plan,
    environment: Environment,
    world: &W,
    handle: &PartHandle,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    let shared = Arc::new(ProcessShared::new(plan, world, handle));
    let (out, inbox) = channel();
    let monitor = OwnThreads { probe: SelfProbe::new(server(&environment)), threads: plan.threads };
    let gather = Gather::new(
        Sources::new(plan.threads as usize, plan),
        &shared.labels,
        monitor,
        WorkerClock::new(world.epoch()),
        sink,
    );
    let mut workers = Workers {
        handle,
        gather,
        ledgers: plan.populations.iter().map(|_| Ledger::default()).collect(),
        watch: Watch::new(shared.activities.iter().cloned()),
        clock: WorkerClock::new(world.epoch()),
        stuck: None,
    };
    workers.gather.start(plan, environment);
    let threads = spawn_workers(world, &shared, out)?;
    workers.receive_all(&inbox, &threads, &shared);
    let mut returned =
        threads.into_iter().enumerate().filter(|one| !workers.watch.has_abandoned(one.0));
    let outcome =
        returned.try_for_each(|(_, thread)| thread.join().unwrap_or(Err(EngineError::Panicked)));
    for remark in world.remarks() {
        workers.gather.remark(&handle.shares.process.named(remark));
    }
    let stuck = workers.stuck.take();
    workers.finish();
    outcome?;
    stuck.map_or(Ok(()), |stuck| {
        let step = world.describe_step(stuck.population, stuck.position);
        Err(EngineError::StuckStep(step))
    })
}

type WorkerHandle = JoinHandle<Result<(), EngineError>>;

/// Starts a thread for each worker. They are not scoped, because one that does not return outlives the run.
fn spawn_workers<W: RunEnvironment>(
    world: &W,
    shared: &Arc<ProcessShared>,
    out: Sender<Message>,
) -> Result<Vec<WorkerHandle>, EngineError> {
    let mut threads: Vec<WorkerHandle> = Vec::new();
    for number in 0..shared.activities.len() {
        let world = world.clone();
        let shared_of_worker = Arc::clone(shared);
        let out = out.clone();
        let builder = thread::Builder::new().name(format!("brunt-worker-{number}"));
        let spawned = builder.spawn(move || worker_thread(&world, &shared_of_worker, number, out));
        match spawned {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                // Workers that have already started must not wait for this one at the gate.
                shared.populations.iter().for_each(|population| population.gate.give_up());
                for thread in threads {
                    drop(thread.join());
                }
                return Err(error.into());
            }
        }
    }
    // Only workers still hold the sender: the channel ends with the last of them.
    drop(out);
    Ok(threads)
}

/// Returns the processes that hold the target's listening socket, if they are on
/// this machine and known.
pub(crate) fn server(environment: &Environment) -> &[u32] {
    environment.route.as_ref().map_or(&[], |route| &route.listener_pids)
}

/// Reads the threads of this process.
struct OwnThreads {
    probe: SelfProbe,
    threads: u32,
}

impl SelfMonitor for OwnThreads {
    fn read(&mut self, moment: ReadingMoment) -> Vec<(String, f64)> {
        self.probe.read(self.threads, moment)
    }

    fn sources_are_workers(&self) -> bool {
        true
    }
}

/// The workers of a process, as the collecting thread sees them.
struct Workers<'a> {
    handle: &'a PartHandle,
    gather: Gather<'a, OwnThreads>,
    /// Sums of all workers, by population. Only with steps that the workers note.
    ledgers: Vec<Ledger>,
    watch: Watch,
    clock: WorkerClock,
    /// The first step from which a worker did not return.
    stuck: Option<StuckStep>,
}

impl Workers<'_> {
    /// Handles messages until all workers have ended, or were abandoned.
    fn receive_all(
        &mut self,
        inbox: &Receiver<Message>,
        threads: &[WorkerHandle],
        shared: &ProcessShared,
    ) {
        loop {
            let wait = if self.watch.is_needed() { LOOK } else { BETWEEN_READINGS };
            match inbox.recv_timeout(wait) {
                Ok(message) => self.handle_message(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.gather.read_after(BETWEEN_READINGS);
            let is_over = self.handle.control.is_over();
            while let Some(stuck) = self.watch.look(self.clock.now(), is_over) {
                self.abandon(stuck, shared);
            }
            // Abandoned workers keep the channel open.
            if self.watch.has_abandoned_any() && self.have_ended(threads) {
                return inbox.try_iter().for_each(|message| self.handle_message(message));
            }
        }
    }

    /// True if all workers have ended that were not abandoned.
    fn have_ended(&self, threads: &[WorkerHandle]) -> bool {
        let mut numbered = threads.iter().enumerate();
        numbered.all(|(number, thread)| self.watch.has_abandoned(number) || thread.is_finished())
    }

    /// Ends the run without a worker.
    fn abandon(&mut self, stuck: StuckStep, shared: &ProcessShared) {
        for population in &shared.populations {
            let source = Source { worker: stuck.worker, population: population.number };
            self.gather.end_source(source);
            release_others(population, stuck.worker);
        }
        self.stuck.get_or_insert(stuck);
        (self.handle.end_run)();
    }

    fn handle_message(&mut self, message: Message) {
        if message.worker().is_some_and(|worker| self.watch.has_abandoned(worker)) {
            // Its part of these intervals has been published without it.
            return;
        }
        let gather = &mut self.gather;
        match message {
            Message::Snapshot(source, snapshot, instant) => {
                gather.note_lateness(source.worker, &snapshot, instant);
                if self.watch.is_needed() {
                    self.ledgers[source.population].add(&snapshot);
                }
                gather.add_snapshot(source, *snapshot);
            }
            Message::Samples(samples) => gather.forward(&Event::Samples(samples)),
            Message::CheckFailures(failures) => gather.forward(&Event::CheckFailures(failures)),
            Message::Metrics(metrics) => gather.forward(&Event::Metrics(metrics)),
            Message::Records(records) => gather.forward(&Event::Records(records)),
            Message::Target(addresses, server) => {
                gather.forward(&Event::Target { addresses, server });
            }
            Message::Warning(text, at) => gather.warn(at, &text),
            Message::Fatal(why) => gather.fatal(why),
            Message::PopulationEnded(source) => gather.end_source(source),
            Message::WorkerEnded(worker, thread, rests) => {
                gather.monitor.probe.worker_ended(worker, thread);
                gather.add_rests(worker, rests);
            }
        }
    }

    /// Ends the run. Requests in flight of abandoned workers are cut.
    fn finish(mut self) {
        let abandoned = self.ledgers.iter().enumerate().filter(|_| self.watch.has_abandoned_any());
        for (population, ledger) in abandoned {
            if let Some(last) = ledger.closing() {
                self.gather.add_last(population, last);
            }
        }
        self.gather.finish(self.handle.control.is_stopped());
    }
}

/// State that the workers of a process share.
struct ProcessShared {
    populations: Vec<Arc<PopulationShared>>,
    labels: Arc<Labels>,
    /// By worker.
    activities: Vec<Arc<WorkerActivity>>,
}

impl ProcessShared {
    fn new<W: RunEnvironment>(plan: &Plan, world: &W, handle: &PartHandle) -> Self {
        let labels = Arc::new(Labels::new(plan.record.labels));
        for name in world.labels() {
            labels.number(&name);
        }
        let plan = Arc::new(plan.clone());
        let check = Arc::new(ReplyChecker::new(&plan));
        let active_users = Arc::new(ActiveUsers::new(plan.populations.len()));
        let populations = (0..plan.populations.len()).map(|number| {
            let part = handle.shares.of_population(number);
            Arc::new(PopulationShared {
                check: Arc::clone(&check),
                labels: Arc::clone(&labels),
                pool: pool(&plan, number, part).map(Arc::new),
                tickets: Arc::new(Tickets::new(plan.populations[number].stop.requests, part)),
                process: handle.shares.process,
                part,
                gate: Arc::clone(&handle.gate),
                control: handle.control.clone(),
                borders: Arc::clone(&handle.borders),
                end_run: Arc::clone(&handle.end_run),
                active_users: Arc::clone(&active_users),
                number,
                plan: Arc::clone(&plan),
            })
        });
        let populations = populations.collect();
        let activities = (0..plan.threads).map(|_| Arc::default()).collect();
        Self { populations, labels, activities }
    }
}

/// Creates the pool with this part's share of all permitted connections. None in a closed loop.
fn pool(plan: &Plan, population: usize, part: Option<ProcessPart>) -> Option<Pool> {
    let workers = plan.threads as usize;
    let share = |n: u32| part.map_or(0, |part| part.share(n.into())) as usize;
    let streams = plan.connection_of(population).in_flight_per_user();
    let pool = match plan.populations[population].load {
        Load::Closed { .. } => return None,
        // `-c`: all connections are used in turn, because the user asked to keep
        // this number in use.
        Load::Open { connections: Some(n), .. } => {
            Pool::new(share(n), workers, Overflow::Wait, ConnectionChoice::Oldest)
        }
        Load::Open { connections: None, max_in_flight, .. } => {
            // No `-c`: the newest is used first, so that few connections stay open.
            let cap = share(max_in_flight).div_ceil(streams as usize);
            Pool::new(cap, workers, Overflow::Drop, ConnectionChoice::Newest)
        }
    };
    Some(pool.with_streams(streams))
}

fn worker_thread<W: RunEnvironment>(
    world: &W,
    shared: &ProcessShared,
    number: usize,
    out: Sender<Message>,
) -> Result<(), EngineError> {
    let _exit_guards: Vec<WorkerExitGuard> = shared
        .populations
        .iter()
        .map(|one| WorkerExitGuard { population: Arc::clone(one), number })
        .collect();
    let Some(first) = shared.populations.first() else { return Ok(()) };
    let worker = first.process.worker(number);
    let time = WorkerClock::new(world.epoch());
    runtime()?.block_on(async move {
        let _hook_guard = time.install()?;
        if first.plan.precise {
            let time = time.clone();
            tokio::task::spawn_local(async move { time.spin().await });
        } else if first
            .plan
            .populations
            .iter()
            .all(|population| matches!(population.load, Load::Closed { .. }))
        {
            time.coalesce_replies();
        }
        let shared_transport = world.transport(worker, None, &time);
        let labels = Arc::clone(&shared.labels);
        let labels: Numbering = Rc::new(move |name| labels.number(name));
        let activity = Arc::clone(&shared.activities[number]);
        let thread = Rc::new(WorkerThread::new(time.clone(), number, out, activity));
        let mut tasks = Vec::with_capacity(shared.populations.len());
        for shared in &shared.populations {
            let run_state: Rc<dyn RunState> = Rc::new(LiveRunState::new(
                &time,
                thread.activity(),
                &shared.active_users,
                shared.number,
                shared.part,
            ));
            let users_of = UserSetup {
                population: shared.number,
                worker,
                labels: &labels,
                run_state: &run_state,
            };
            let transport = match shared.population().connection {
                Some(_) => world.transport(worker, Some(shared.number), &time),
                None => Rc::clone(&shared_transport),
            };
            let users = world.users(&transport, users_of);
            // A separate task: a parking runtime notices woken tasks, but not the future that it
            // blocks on.
            let population = WorkerPopulation::new(Arc::clone(shared), &thread, transport, users);
            tasks.push(tokio::task::spawn_local(work(population)));
        }
        for task in tasks {
            task.await.map_err(|_| EngineError::Panicked)?;
        }
        thread.end();
        Ok(())
    })
}

/// Releases the other workers when a worker ends for any reason, so that they do not wait for it.
struct WorkerExitGuard {
    population: Arc<PopulationShared>,
    number: usize,
}

impl Drop for WorkerExitGuard {
    fn drop(&mut self) {
        release_others(&self.population, self.number);
    }
}

/// Lets the other workers continue without this one.
fn release_others(population: &PopulationShared, worker: usize) {
    population.gate.give_up();
    if let Some(pool) = &population.pool {
        pool.arrivals_over(worker);
    }
}
