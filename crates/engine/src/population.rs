//! State of one population: the part that all workers of a process share, and that of one worker.

use crate::active_tasks::ActiveTasks;
use crate::activity::WorkerActivity;
use crate::check::ReplyChecker;
use crate::clock::WorkerClock;
use crate::control::{Borders, EndRun, RunControl};
use crate::gate::{Gate, LoadBegin};
use crate::labels::Labels;
use crate::message::{Message, Source};
use crate::pool::Pool;
use crate::request_context::RequestContext;
use crate::run_clock::{PhaseBorders, RunClock, phase_borders};
use crate::run_state::ActiveUsers;
use crate::tickets::Tickets;
use crate::user::Users;
use brunt_model::outcome::{CallErrorFields, status_text};
use brunt_model::plan::ConnectionSettings;
use brunt_model::tally::Statuses;
use brunt_model::{Plan, Population, ProcessPart, Text, Tick, text};
use brunt_wire::Transport;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// Maximum number of warnings: a server can be wrong in many ways, and differently in each reply.
const MAX_WARNINGS: usize = 100;

/// The state of one population that all workers of a process share.
pub struct PopulationShared {
    pub plan: Arc<Plan>,
    /// Index of the population in the plan.
    pub number: usize,
    pub check: Arc<ReplyChecker>,
    pub labels: Arc<Labels>,
    pub pool: Option<Arc<Pool>>,
    pub tickets: Arc<Tickets>,
    /// Position of this process in the run.
    pub process: ProcessPart,
    /// Part of the population that this process carries out; None: it has nothing of it.
    pub part: Option<ProcessPart>,
    pub gate: Arc<Gate>,
    pub control: RunControl,
    pub borders: Arc<Borders>,
    pub end_run: EndRun,
    pub active_users: Arc<ActiveUsers>,
}

impl PopulationShared {
    /// Returns the population in the plan.
    pub fn population(&self) -> &Population {
        &self.plan.populations[self.number]
    }

    /// Returns its connection settings.
    pub fn connection(&self) -> &ConnectionSettings {
        self.plan.connection_of(self.number)
    }
}

/// State that the populations of one worker share.
pub struct WorkerThread {
    time: WorkerClock,
    /// Number among the workers of its process.
    number: usize,
    out: Sender<Message>,
    activity: Arc<WorkerActivity>,
    /// By population.
    borders: RefCell<Vec<PhaseBorders>>,
    /// Number of ended exchanges, and of attempts to open a connection. Pieces of a long
    /// reply do not count.
    steps_done: Cell<u64>,
}

impl WorkerThread {
    /// Creates the state of a worker, which sends its messages to `out`.
    pub fn new(
        time: WorkerClock,
        number: usize,
        out: Sender<Message>,
        activity: Arc<WorkerActivity>,
    ) -> Self {
        let borders = RefCell::default();
        Self { time, number, out, activity, borders, steps_done: Cell::new(0) }
    }

    /// Returns the step that the worker is carrying out.
    pub fn activity(&self) -> &Arc<WorkerActivity> {
        &self.activity
    }

    /// Reports that all populations of the worker are over.
    pub fn end(&self) {
        self.send(Message::WorkerEnded(
            self.number,
            brunt_probe::self_probe::this_thread(),
            self.time.rests(),
        ));
    }

    fn send(&self, message: Message) {
        // There is no receiver only if the run was aborted.
        let _ = self.out.send(message);
    }

    /// Counts an exchange that ended, or the opening of a connection.
    #[inline]
    pub fn count_step(&self) {
        self.steps_done.set(self.steps_done.get() + 1);
    }

    /// Number of ended exchanges, and of attempts to open a connection.
    pub fn steps_done(&self) -> u64 {
        self.steps_done.get()
    }

    /// Sets the borders of a population. Until each population has set its own, all have those of
    /// their plan from `begins` on.
    fn set_borders(&self, plan: &Plan, begins: Tick, population: usize, new: PhaseBorders) {
        let mut borders = self.borders.borrow_mut();
        if borders.is_empty() {
            borders.extend(
                plan.populations
                    .iter()
                    .map(|one| phase_borders(&one.stop, begins + one.stop.warmup)),
            );
        }
        borders[population] = new;
        let ends = borders.iter().map(|[_, ends, _]| *ends).max().unwrap_or(Tick::NEVER);
        let graces = borders.iter().map(|[_, ends, cut]| *cut - *ends);
        self.activity.set_end(ends, graces.max().unwrap_or_default());
    }

    /// Returns the first border of any population after `from`, at most `limit`: all populations
    /// cut their snapshots at the same instants.
    fn next_border(&self, from: Tick, limit: Tick) -> Tick {
        self.borders
            .borrow()
            .iter()
            .flatten()
            .copied()
            .filter(|border| *border > from)
            .fold(limit, Tick::min)
    }
}

/// One population on one worker: its clock, its tasks, and its means to make requests.
pub struct WorkerPopulation<T: Transport> {
    pub shared: Arc<PopulationShared>,
    pub thread: Rc<WorkerThread>,
    pub clock: RunClock,
    pub tasks: ActiveTasks,
    /// Gate of the users on this worker, which the worker opens after its own begin. If users waited for the gate of all
    /// workers, the runtime would begin one of them in 31 turns, since other threads wake them; thousands would keep
    /// the worker itself waiting for seconds.
    pub users_gate: Gate,
    pub requests: RequestContext<T>,
    /// Warnings that were sent.
    warnings: RefCell<HashSet<Text>>,
    /// Statuses of gRPC of which an error was shown.
    shown_statuses: RefCell<Statuses>,
}

impl<T: Transport> WorkerPopulation<T> {
    /// Creates a population before its load.
    pub fn new(
        shared: Arc<PopulationShared>,
        thread: &Rc<WorkerThread>,
        transport: Rc<T>,
        users: Box<dyn Users>,
    ) -> Rc<Self> {
        let requests = RequestContext::new(
            &shared.plan,
            shared.connection(),
            &shared.labels,
            transport,
            users,
        );
        Rc::new(Self {
            clock: RunClock::new(thread.time.clone()),
            tasks: ActiveTasks::new(thread.time.timer()),
            users_gate: Gate::new(1),
            requests,
            warnings: RefCell::default(),
            shown_statuses: RefCell::default(),
            thread: Rc::clone(thread),
            shared,
        })
    }

    /// Returns the number of the worker among those of its process.
    #[inline]
    pub fn worker(&self) -> usize {
        self.thread.number
    }

    /// Returns the number of the worker among those of all processes that share the population, and the
    /// number of these workers. None: this process has nothing of it.
    pub fn among_all(&self) -> Option<(usize, usize)> {
        let part = self.shared.part?;
        let workers = self.shared.plan.threads as usize * part.count as usize;
        Some((part.worker(self.worker()), workers))
    }

    /// Warns the reader of the report. Each text is sent once; at most [`MAX_WARNINGS`] are sent.
    pub fn warn(&self, text: Text) {
        let mut warnings = self.warnings.borrow_mut();
        if warnings.len() < MAX_WARNINGS && warnings.insert(text.clone()) {
            self.send(Message::Warning(text, self.clock.now()));
        }
    }

    /// Shows the message and the details of the first call that ended with this status of gRPC.
    pub fn show_call_error(&self, status: u16, error: &CallErrorFields) {
        let mut shown = self.shown_statuses.borrow_mut();
        if shown.iter().all(|(other, _)| other != status) {
            shown.add(status, 1);
            let status = status_text(status);
            let error = error.decode().to_string();
            self.warn(text!("warning-call-error", status, error));
        }
    }

    /// Sends a message to the collecting thread.
    pub fn send(&self, message: Message) {
        self.thread.send(message);
    }

    /// Returns the source of its snapshots.
    pub fn source(&self) -> Source {
        Source { worker: self.worker(), population: self.shared.number }
    }

    /// Begins the load.
    pub fn begin(&self, begin: LoadBegin) {
        self.clock.begin(begin);
        self.measure_from(begin.begins + self.shared.population().stop.warmup);
    }

    /// Sets the begin of the measured time.
    pub fn measure_from(&self, instant: Tick) {
        let borders = phase_borders(&self.shared.population().stop, instant);
        self.clock.measure(instant, borders[1]);
        self.thread.set_borders(
            &self.shared.plan,
            self.clock.begins(),
            self.shared.number,
            borders,
        );
    }

    /// Returns the end of the next snapshot: `regular`, or an earlier border of any population.
    /// `grace` may have been shortened.
    pub fn next_border(&self, from: Tick, regular: Tick, grace: Duration) -> Tick {
        let borders = self.clock.borders(grace);
        self.thread.set_borders(
            &self.shared.plan,
            self.clock.begins(),
            self.shared.number,
            borders,
        );
        self.thread.next_border(from, regular)
    }

    /// Creates the random numbers of a stream of this population.
    pub fn random(&self, stream: u64) -> Pcg64Mcg {
        // The upper bits separate the populations.
        let stream = stream.wrapping_add((self.shared.number as u64) << 48);
        // 2⁶⁴ divided by the golden ratio: similar seeds give unrelated streams.
        Pcg64Mcg::seed_from_u64(
            self.shared.plan.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(stream),
        )
    }
}
