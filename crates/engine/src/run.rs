//! Starts the workers of a run, merges their snapshots, and sends events.

use crate::check::ReplyChecker;
use crate::clock::{RunEpoch, WorkerClock, runtime};
use crate::control::{PartHandle, RunControl};
use crate::gather::{BETWEEN_READINGS, Gather, SelfMonitor, Sources};
use crate::labels::Labels;
use crate::message::{Message, Sink};
use crate::pool::{ConnectionChoice, Overflow, Pool};
use crate::population::{PopulationShared, WorkerPopulation, WorkerThread};
use crate::run_state::{ActiveUsers, LiveRunState};
use crate::tickets::Tickets;
use crate::user::{Numbering, RunState, Users};
use crate::worker::work;
use brunt_model::{Environment, Event, Load, Plan, ProcessPart};
use brunt_probe::{ReadingMoment, SelfProbe};
use brunt_wire::Transport;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

/// Environment of a run: created once, used by all workers.
pub trait RunEnvironment: Send + Sync {
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
    fn remarks(&self) -> Vec<String> {
        Vec::new()
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
    let shared = ProcessShared::new(plan, world, handle);
    let (out, inbox) = channel();
    let monitor = OwnThreads { probe: SelfProbe::new(server(&environment)), threads: plan.threads };
    let mut gather = Gather::new(
        Sources::new(plan.threads as usize, plan),
        &shared.labels,
        monitor,
        WorkerClock::new(world.epoch()),
        sink,
    );
    gather.start(plan, environment);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for number in 0..plan.threads as usize {
            let shared = &shared;
            let out = out.clone();
            let builder = thread::Builder::new().name(format!("brunt-worker-{number}"));
            let spawned =
                builder.spawn_scoped(scope, move || worker_thread(world, shared, number, out));
            // Workers that have already started must not wait for this one at the gate.
            workers.push(spawned.inspect_err(|_| handle.gate.give_up())?);
        }
        // The channel ends when the last worker drops its sender.
        drop(out);
        receive_all(&inbox, &mut gather);
        let ends = workers.into_iter().map(|w| w.join().map_err(|_| EngineError::Panicked));
        let outcome = ends.collect::<Result<Vec<_>, _>>();
        for remark in world.remarks() {
            gather.remark(&handle.shares.process.named(remark));
        }
        gather.finish(handle.control.is_stopped());
        outcome?.into_iter().collect::<Result<(), _>>()
    })
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

/// Handles messages until all workers have ended.
fn receive_all(inbox: &Receiver<Message>, gather: &mut Gather<'_, OwnThreads>) {
    loop {
        match inbox.recv_timeout(BETWEEN_READINGS) {
            Ok(message) => handle_message(message, gather),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        gather.read_after(BETWEEN_READINGS);
    }
}

fn handle_message(message: Message, gather: &mut Gather<'_, OwnThreads>) {
    match message {
        Message::Snapshot(source, snapshot, instant) => {
            gather.note_lateness(source.worker, &snapshot, instant);
            gather.add_snapshot(source, *snapshot);
        }
        Message::Samples(samples) => gather.forward(&Event::Samples(samples)),
        Message::CheckFailures(failures) => gather.forward(&Event::CheckFailures(failures)),
        Message::Records(records) => gather.forward(&Event::Records(records)),
        Message::Target(addresses, server) => gather.forward(&Event::Target { addresses, server }),
        Message::Warning(text, at) => gather.warn(at, &text),
        Message::Fatal(why) => gather.fatal(why),
        Message::PopulationEnded(source) => gather.end_source(source),
        Message::WorkerEnded(worker, thread, rests) => {
            gather.monitor.probe.worker_ended(worker, thread);
            gather.add_rests(worker, rests);
        }
    }
}

/// State that the workers of a process share.
struct ProcessShared {
    populations: Vec<Arc<PopulationShared>>,
    labels: Arc<Labels>,
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
        Self { populations, labels }
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
        let thread = Rc::new(WorkerThread::new(time.clone(), number, out));
        let mut tasks = Vec::with_capacity(shared.populations.len());
        for shared in &shared.populations {
            let run_state: Rc<dyn RunState> =
                Rc::new(LiveRunState::new(&time, &shared.active_users, shared.number, shared.part));
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
        self.population.gate.give_up();
        if let Some(pool) = &self.population.pool {
            pool.arrivals_over(self.number);
        }
    }
}
