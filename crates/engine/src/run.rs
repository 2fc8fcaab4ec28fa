//! Workers started, their snapshots merged, events out.

use crate::check::Check;
use crate::clock::{Epoch, Time, runtime};
use crate::control::{Control, PartHandle};
use crate::gather::{BETWEEN_READINGS, Gather, Sources, Watch};
use crate::labels::Labels;
use crate::message::{Message, Sink};
use crate::pool::{Overflow, Pool, Take};
use crate::population::{PopulationShared, WorkerPopulation, WorkerThread};
use crate::surroundings::{ActiveUsers, RunSurroundings};
use crate::tickets::Tickets;
use crate::user::{Numbering, Surroundings, Users};
use crate::worker::work;
use brunt_model::{Environment, Event, Load, Part, Plan};
use brunt_probe::Ourselves;
use brunt_wire::Transport;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

/// What a run needs of the world: made once, used by all workers.
pub trait World: Send + Sync {
    /// How requests travel.
    type Transport: Transport;

    /// The clock that workers get.
    fn epoch(&self) -> Epoch;

    /// The transport of a worker, by its number among those of all processes; called on its thread. `population` has connection
    /// settings of its own; None: of all others.
    fn transport(&self, worker: usize, population: Option<usize>, time: &Time) -> Rc<Self::Transport>;

    /// The users of a worker; called on its thread.
    fn users(&self, transport: &Rc<Self::Transport>, of: UsersOf<'_>) -> Box<dyn Users>;

    /// Names of labels that are known beforehand.
    fn labels(&self) -> Vec<String>;

    /// What the reader of the report should know of the whole run; asked once, behind it.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Which users are wanted.
#[derive(Clone, Copy)]
pub struct UsersOf<'a> {
    /// The number of their population in the plan.
    pub population: usize,
    /// The number of their worker among those of all processes.
    pub worker: usize,
    /// Numbers the names of labels.
    pub labels: &'a Numbering,
    /// The run around them.
    pub surroundings: &'a Rc<dyn Surroundings>,
}

/// Why a run could not be carried out: we failed, not the server.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A thread or its runtime could not be made.
    #[error("a worker could not be started: {0}")]
    Worker(#[from] io::Error),
    /// A worker panicked: a fault of brunt.
    #[error("a worker thread ended unexpectedly; what was measured before is in the report")]
    Panicked,
    /// One of several processes broke; which, and how.
    #[error("{0}")]
    Part(String),
}

/// Carries a plan out: starts its workers, merges what they hand over, and tells `sink`. Returns when all is over.
///
/// # Errors
///
/// [`EngineError`] if a worker could not be made.
pub fn run<W: World>(
    plan: &Plan,
    environment: Environment,
    world: &W,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    run_part(plan, environment, world, &PartHandle::whole(plan, control), sink)
}

/// Carries out one process's part of a plan, as its handle is told.
///
/// # Errors
///
/// [`EngineError`] if a worker could not be made.
pub fn run_part<W: World>(
    plan: &Plan,
    environment: Environment,
    world: &W,
    handle: &PartHandle,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    let shared = ProcessShared::new(plan, world, handle);
    let (out, inbox) = channel();
    let watch = OwnThreads { ourselves: Ourselves::new(server(&environment)), threads: plan.threads };
    let mut gather =
        Gather::new(Sources::new(plan.threads as usize, plan), &shared.labels, watch, Time::new(world.epoch()), sink);
    gather.start(plan, environment);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for number in 0..plan.threads as usize {
            let (shared, out) = (&shared, out.clone());
            let name = format!("brunt-worker-{number}");
            let job = move || worker_thread(world, shared, number, out);
            let spawned = thread::Builder::new().name(name).spawn_scoped(scope, job);
            workers.push(spawned.inspect_err(|_| handle.gate.give_up())?);
        }
        drop(out);
        hear_all(&inbox, &mut gather);
        let ends = workers.into_iter().map(|w| w.join().map_err(|_| EngineError::Panicked));
        let outcome = ends.collect::<Result<Vec<_>, _>>();
        for remark in world.remarks() {
            gather.remark(&handle.part.named(remark));
        }
        gather.finish(handle.control.is_stopped());
        outcome?.into_iter().collect::<Result<(), _>>()
    })
}

/// The processes that hold the target's listening socket, where they are on this machine and known.
pub(crate) fn server(environment: &Environment) -> &[u32] {
    environment.route.as_ref().map_or(&[], |route| &route.listener_pids)
}

/// The threads of this process, read by itself.
struct OwnThreads {
    ourselves: Ourselves,
    threads: u32,
}

impl Watch for OwnThreads {
    fn read(&mut self) -> Vec<(String, f64)> {
        self.ourselves.read(self.threads)
    }

    fn sources_are_workers(&self) -> bool {
        true
    }
}

/// Until all workers are gone.
fn hear_all(inbox: &Receiver<Message>, gather: &mut Gather<'_, OwnThreads>) {
    loop {
        match inbox.recv_timeout(BETWEEN_READINGS) {
            Ok(message) => hear(message, gather),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        gather.read_after(BETWEEN_READINGS);
    }
}

fn hear(message: Message, gather: &mut Gather<'_, OwnThreads>) {
    match message {
        Message::Snapshot(source, snapshot) => gather.hand(source, *snapshot),
        Message::Samples(samples) => gather.tell(&Event::Samples(samples)),
        Message::CheckFailures(failures) => gather.tell(&Event::CheckFailures(failures)),
        Message::Records(records) => gather.tell(&Event::Records(records)),
        Message::Target(addresses, server) => gather.tell(&Event::Target { addresses, server }),
        Message::Warning(text, at) => gather.warn(at, &text),
        Message::Fatal(why) => gather.fatal(why),
        Message::Over(source) => gather.over(source),
        Message::Done(worker, thread, rests) => {
            gather.watch.ourselves.worker_ended(worker, thread);
            gather.worker_rested(worker, rests);
        }
    }
}

/// What the workers of a process share.
struct ProcessShared {
    populations: Vec<Arc<PopulationShared>>,
    labels: Arc<Labels>,
}

impl ProcessShared {
    fn new<W: World>(plan: &Plan, world: &W, handle: &PartHandle) -> Self {
        let labels = Arc::new(Labels::new(plan.record.labels));
        for name in world.labels() {
            labels.number(&name);
        }
        let plan = Arc::new(plan.clone());
        let check = Arc::new(Check::new(&plan));
        let active_users = Arc::new(ActiveUsers::new(plan.populations.len()));
        let shared = |number: usize| PopulationShared {
            check: Arc::clone(&check),
            labels: Arc::clone(&labels),
            pool: pool(&plan, number, handle.part).map(Arc::new),
            tickets: Arc::new(Tickets::new(plan.populations[number].stop.requests, handle.part)),
            part: handle.part,
            gate: Arc::clone(&handle.gate),
            control: handle.control.clone(),
            borders: Arc::clone(&handle.borders),
            end_run: Arc::clone(&handle.end_run),
            active_users: Arc::clone(&active_users),
            number,
            plan: Arc::clone(&plan),
        };
        let populations = (0..plan.populations.len()).map(|number| Arc::new(shared(number))).collect();
        Self { populations, labels }
    }
}

/// This part's share of the connections that all may have.
fn pool(plan: &Plan, population: usize, part: Part) -> Option<Pool> {
    let workers = plan.threads as usize;
    let share = |n: u32| part.share(n.into()) as usize;
    let streams = plan.connection_of(population).in_flight_per_user();
    let pool = match plan.populations[population].load {
        Load::Closed { .. } => return None,
        Load::Open { connections: Some(n), .. } => Pool::new(share(n), workers, Overflow::Wait, Take::Oldest),
        Load::Open { connections: None, max_in_flight, .. } => {
            let cap = share(max_in_flight).div_ceil(streams as usize);
            Pool::new(cap, workers, Overflow::Drop, Take::Newest)
        }
    };
    Some(pool.with_streams(streams))
}

fn worker_thread<W: World>(
    world: &W,
    shared: &ProcessShared,
    number: usize,
    out: Sender<Message>,
) -> Result<(), EngineError> {
    let _leaving: Vec<Leaving> =
        shared.populations.iter().map(|one| Leaving { population: Arc::clone(one), number }).collect();
    let Some(first) = shared.populations.first() else { return Ok(()) };
    let worker = first.part.worker(number);
    let time = Time::new(world.epoch());
    runtime()?.block_on(async move {
        let _attended = time.attend()?;
        if first.plan.precise {
            let time = time.clone();
            tokio::task::spawn_local(async move { time.spin().await });
        } else if first.plan.populations.iter().all(|population| matches!(population.load, Load::Closed { .. })) {
            time.coalesce_replies();
        }
        let shared_transport = world.transport(worker, None, &time);
        let labels = Arc::clone(&shared.labels);
        let labels: Numbering = Rc::new(move |name| labels.number(name));
        let thread = Rc::new(WorkerThread::new(time.clone(), number, out));
        let work = |shared: &Arc<PopulationShared>| {
            let surroundings: Rc<dyn Surroundings> =
                Rc::new(RunSurroundings::new(&time, &shared.active_users, shared.number, shared.part));
            let of = UsersOf { population: shared.number, worker, labels: &labels, surroundings: &surroundings };
            let own = shared.population().connection.as_ref();
            let own = own.map(|_| world.transport(worker, Some(shared.number), &time));
            let transport = own.unwrap_or_else(|| Rc::clone(&shared_transport));
            let users = world.users(&transport, of);
            // In a task of its own: a parking runtime sees that tasks were woken, and not what it blocks on.
            let population = WorkerPopulation::new(Arc::clone(shared), &thread, transport, users);
            tokio::task::spawn_local(work(population))
        };
        let all: Vec<_> = shared.populations.iter().map(work).collect();
        for one in all {
            one.await.map_err(|_| EngineError::Panicked)?;
        }
        thread.done();
        Ok(())
    })
}

/// Whatever becomes of a worker, the others do not wait for it when it is gone.
struct Leaving {
    population: Arc<PopulationShared>,
    number: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.population.gate.give_up();
        if let Some(pool) = &self.population.pool {
            pool.arrivals_over(self.number);
        }
    }
}
