//! One thread's run, from its first connection to its last snapshot.
//!
//! Setup (connections are opened, at a bounded rate) → the gate, where all workers meet → load → grace (what is under
//! way may finish) → what is left is cut off. A snapshot leaves at each interval and at each border between the parts.

use crate::Time;
use crate::actor::Actor;
use crate::arrivals::{deal_out, drop_arrivals, spawn_seats};
use crate::check::Check;
use crate::clock::Sleep;
use crate::control::{Borders, Control, EndRun};
use crate::gate::Gate;
use crate::gather::Source;
use crate::labels::Labels;
use crate::pace::{Schedule, Thinking};
use crate::pool::Pool;
use crate::recorder::{Cohort, Recorder};
use crate::run::{Message, Tickets};
use crate::surroundings::UsersThere;
use crate::user::Users;
use crate::work::{Arrivals, Own, Presence, live, wait_until};
use brunt_model::plan::{Connection, ConnectionLifetime, Dialling};
use brunt_model::{Clock, Failure, Load, Part, Phase, Plan, Population, ReplyPolicy, Sample, Shape, Stage, Stop, Tick};
use brunt_wire::{ConnectionRules, Transport};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// How often the stop switch is looked at before the load begins.
const SETUP_LOOK: Duration = Duration::from_millis(20);
/// A server can be wrong in many ways, and each of its replies in another.
const MOST_WARNINGS: usize = 100;
/// After an interruption, requests under way get no more than this.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// What all workers of a process share of one population.
pub struct Common {
    pub plan: Arc<Plan>,
    /// The number of the population in the plan.
    pub number: usize,
    pub check: Arc<Check>,
    pub labels: Arc<Labels>,
    pub pool: Option<Arc<Pool>>,
    pub tickets: Arc<Tickets>,
    /// Which part of the run is this process's.
    pub part: Part,
    pub gate: Arc<Gate>,
    pub control: Control,
    pub borders: Arc<Borders>,
    pub end_run: EndRun,
    pub users_there: Arc<UsersThere>,
}

impl Common {
    pub fn population(&self) -> &Population {
        &self.plan.populations[self.number]
    }

    pub fn connection(&self) -> &Connection {
        self.plan.connection_of(self.number)
    }
}

/// What the populations of one worker share.
pub struct WorkerThread {
    time: Time,
    /// Its number among the workers of its process.
    number: usize,
    out: Sender<Message>,
    /// By population: when its measured time begins, its load ends, and what is left is cut off.
    borders: RefCell<Vec<[Tick; 3]>>,
    /// Exchanges that ended, and connections that were opened or could not be. Pieces of a long reply do not count.
    pub steps_done: Cell<u64>,
}

impl WorkerThread {
    pub fn new(time: Time, number: usize, out: Sender<Message>) -> Self {
        Self { time, number, out, borders: RefCell::default(), steps_done: Cell::new(0) }
    }

    /// All populations are over.
    pub fn done(&self) {
        self.say(Message::Done(self.number, brunt_probe::ourselves::this_thread(), self.time.rests()));
    }

    fn say(&self, message: Message) {
        // Nobody listens any more only when the run was given up.
        let _ = self.out.send(message);
    }

    /// The first border of any population behind `from`, `at` at the latest: all cut their snapshots at the same instants.
    fn next_border(&self, from: Tick, at: Tick) -> Tick {
        self.borders.borrow().iter().flatten().copied().filter(|border| *border > from).fold(at, Tick::min)
    }
}

/// What all tasks of one worker share of one population.
pub struct Shared<T: Transport> {
    pub common: Arc<Common>,
    pub thread: Rc<WorkerThread>,
    pub transport: Rc<T>,
    pub time: Time,
    pub users: Box<dyn Users>,
    pub recorder: RefCell<Recorder>,
    /// Its number among the workers of its process.
    pub number: usize,
    told: RefCell<HashSet<String>>,
    /// When the load begins; `NEVER` before the gate has opened.
    pub begins: Cell<Tick>,
    /// When the measured time begins.
    pub measured_from: Cell<Tick>,
    /// When no new request is begun any more.
    pub ends: Cell<Tick>,
    /// When what was still under way was to end; None: not yet.
    pub cut: Cell<Option<Tick>>,
    /// Users or connections that have not left.
    present: Cell<u64>,
    /// When users of a closed loop stopped of their own will: from then on they are idle.
    pub departures: RefCell<Vec<Tick>>,
    /// Users of a closed loop that are there, by their shape.
    pub users_there: Cell<u64>,
    /// No further arrivals come.
    pub arrivals_over: Cell<bool>,
    /// Wakes the worker when something may be over.
    pub bell: Sleep,
    opening: Cell<u64>,
    opened_ahead: Cell<u64>,
    open_failure: RefCell<Option<String>>,
    // Copies of what every request needs.
    pub connect_timeout: Duration,
    pub retry_stale: bool,
    pub keep: ConnectionLifetime,
    pub connection_rules: Rc<ConnectionRules>,
}

impl<T: Transport> std::ops::Deref for Shared<T> {
    type Target = Common;
    fn deref(&self) -> &Common {
        &self.common
    }
}

impl<T: Transport> Shared<T> {
    pub fn new(common: Arc<Common>, thread: &Rc<WorkerThread>, transport: Rc<T>, users: Box<dyn Users>) -> Rc<Self> {
        let (plan, connection) = (&common.plan, common.connection());
        // Redirects and page elements are labels that come to be during the load.
        let by_label = plan.reply_policies.iter().any(ReplyPolicy::finds_requests) || common.labels.count() > 1;
        let connection_rules = Rc::new(ConnectionRules {
            keep: connection.keep,
            requests_per_connection: connection.requests_per_connection.unwrap_or(u64::MAX),
            other_origins: connection.other_origins,
            connections_per_origin: connection.connections_per_origin.max(1) as usize,
            counts: RefCell::default(),
        });
        Rc::new(Self {
            transport,
            users,
            recorder: RefCell::new(Recorder::new(by_label, plan.record.samples)),
            number: thread.number,
            told: RefCell::default(),
            begins: Cell::new(Tick::NEVER),
            measured_from: Cell::new(Tick::NEVER),
            ends: Cell::new(Tick::NEVER),
            cut: Cell::new(None),
            present: Cell::new(0),
            departures: RefCell::default(),
            users_there: Cell::new(0),
            arrivals_over: Cell::new(false),
            bell: thread.time.timer(),
            opening: Cell::new(0),
            opened_ahead: Cell::new(0),
            open_failure: RefCell::default(),
            connect_timeout: connection.connect_timeout.min(connection.timeout),
            retry_stale: connection.retry_stale,
            keep: connection.keep,
            connection_rules,
            time: thread.time.clone(),
            thread: Rc::clone(thread),
            common,
        })
    }

    /// To which part of the run a request belongs.
    #[inline]
    pub fn cohort(&self, planned: Tick) -> Cohort {
        if planned >= self.measured_from.get() { Cohort::Measured } else { Cohort::Warmup }
    }

    /// Something that the reader of the report should know; each sentence once, and not more than [`MOST_WARNINGS`].
    pub fn warn(&self, text: String) {
        let mut told = self.told.borrow_mut();
        if told.len() < MOST_WARNINGS && told.insert(text.clone()) {
            self.say(Message::Warning(text, self.time.now()));
        }
    }

    fn say(&self, message: Message) {
        self.thread.say(message);
    }

    /// What hands over snapshots.
    fn source(&self) -> Source {
        Source { worker: self.number, population: self.common.number }
    }

    /// Remembers why the first connection could not be opened, for when none can.
    pub fn first_open_failure(&self, failure: Failure, note: Option<&str>) {
        let why = || note.map_or_else(|| failure.row().meaning.to_owned(), str::to_owned);
        self.open_failure.borrow_mut().get_or_insert_with(why);
    }

    /// An exchange ended, or the opening of a connection.
    #[inline]
    pub fn step_done(&self) {
        self.thread.steps_done.set(self.thread.steps_done.get() + 1);
    }

    /// A user left for good, or a connection's task ended.
    pub fn left(&self) {
        self.present.set(self.present.get() - 1);
        self.ended_one();
    }

    /// A request ended: where the end is near, the worker looks whether it was the last.
    pub fn ended_one(&self) {
        if self.present.get() == 0 || self.arrivals_over.get() {
            self.bell.fire();
        }
    }

    /// Its number among the workers of all processes, and how many these are.
    pub fn among_all(&self) -> (usize, usize) {
        (self.part.worker(self.number), self.plan.threads as usize * self.part.of as usize)
    }

    /// The load begins.
    fn begin(&self, begins: Tick) {
        self.begins.set(begins);
        if self.thread.borders.borrow().is_empty() {
            let borders = |population: &Population| borders(&population.stop, begins + population.stop.warmup);
            *self.thread.borders.borrow_mut() = self.plan.populations.iter().map(borders).collect();
        }
        self.measure_from(begins + self.population().stop.warmup);
    }

    fn measure_from(&self, at: Tick) {
        self.measured_from.set(at);
        let borders = borders(&self.population().stop, at);
        self.ends.set(borders[1]);
        self.thread.borders.borrow_mut()[self.common.number] = borders;
    }

    pub fn spawn(self: &Rc<Self>, task: impl Future<Output = ()> + 'static) {
        self.present.set(self.present.get() + 1);
        tokio::task::spawn_local(task);
    }

    fn random(&self, stream: u64) -> Pcg64Mcg {
        let stream = stream.wrapping_add((self.common.number as u64) << 48);
        Pcg64Mcg::seed_from_u64(self.plan.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(stream))
    }
}

/// When the measured time of a population begins, its load ends, and what is left is cut off.
fn borders(stop: &Stop, measured_from: Tick) -> [Tick; 3] {
    let ends = stop.duration.map_or(Tick::NEVER, |duration| measured_from + duration);
    [measured_from, ends, ends + stop.grace]
}

/// The whole run of one worker, of one population.
pub async fn work<T: Transport>(shared: Rc<Shared<T>>) {
    set_up(&shared).await;
    tell_target(&shared);
    if let Some(why) = why_not(&shared) {
        shared.say(Message::Fatal(why));
        shared.gate.give_up();
    } else {
        shared.gate.ready(shared.time.now());
    }
    if let Some(begins) = shared.gate.wait().await {
        shared.begin(begins);
        start_arrivals(&shared, begins);
        run_load(&shared, begins).await;
    }
    hand_over_records(&shared);
    shared.say(Message::Over(shared.source()));
}

/// Opens connections ahead: all that users will need, each at its time by the connect rate.
async fn set_up<T: Transport>(shared: &Rc<Shared<T>>) {
    let (worker, workers) = shared.among_all();
    let (wanted, mine) = actors_ahead(shared, workers, worker);
    let gap = 1e9 / f64::from(shared.connection().connect_rate.max(1));
    shared.opening.set(mine.len() as u64);
    for (k, number) in mine.into_iter().enumerate() {
        let at = Tick(((k * workers + worker) as f64 * gap) as u64);
        let actor = prepare_actor(Rc::clone(shared), number, at, k < wanted);
        shared.spawn(actor);
    }
    while shared.opening.get() > 0 && !shared.control.is_stopped() {
        shared.bell.set(shared.time.now() + SETUP_LOOK);
        (&shared.bell).await;
    }
}

/// How many connections this worker opens ahead, and the numbers of the actors that it has from the beginning.
fn actors_ahead(common: &Common, workers: usize, worker: usize) -> (usize, Vec<u64>) {
    let (plan, load) = (&common.plan, &common.population().load);
    let new_each = plan.connection.requests_per_connection == Some(1);
    let (actors, ahead) = match load {
        Load::Closed { users, .. } => {
            let begin = users.at(Duration::ZERO).floor() as u64;
            (users.peak().floor() as u64, if new_each { 1 } else { begin.max(1) })
        }
        Load::Open { connections, .. } => {
            let wanted = connections.map_or(1, u64::from);
            (wanted, if new_each { 1 } else { wanted })
        }
    };
    let ahead = if plan.connection.dialling == Dialling::Eager { 0 } else { ahead };
    let mine = |n: u64| (0..n).filter(move |k| (*k as usize) % workers == worker);
    (mine(ahead).count(), mine(actors).collect())
}

async fn prepare_actor<T: Transport>(shared: Rc<Shared<T>>, number: u64, at: Tick, ahead: bool) {
    let mut actor = Actor::new(&shared, number);
    if ahead {
        wait_until(&shared, &actor.timer, at).await;
        let opened = !shared.control.is_stopped() && actor.open_ahead().await;
        shared.opened_ahead.set(shared.opened_ahead.get() + u64::from(opened));
    }
    shared.opening.set(shared.opening.get() - 1);
    if shared.opening.get() == 0 {
        shared.bell.fire();
    }
    match &shared.common.pool {
        None => {
            let iterations = shared.population().stop.iterations_per_user.unwrap_or(u64::MAX);
            let iterations_left = Rc::new(Cell::new(iterations));
            for stream in 1..shared.connection().in_flight_per_user() {
                let other = Actor::sharing(&shared, Rc::clone(&actor.connections), number);
                shared.spawn(ask_from_begin(other, stream, Rc::clone(&iterations_left)));
            }
            // Written out, since an actor that another function is handed would take room twice while it waits.
            match begin_user(&shared, number, 0, iterations_left).await {
                Some(own) => live(actor, own).await,
                None => shared.left(),
            }
        }
        Some(pool) => {
            let seat = pool.reserve(shared.number);
            spawn_seats(&shared, pool, (&actor, seat));
            live(actor, Arrivals { pool: Arc::clone(pool), seat, fresh: false }).await;
        }
    }
}

/// A further stream of a user of the closed loop, from when the load begins.
async fn ask_from_begin<T: Transport>(actor: Actor<T>, stream: u32, iterations_left: Rc<Cell<u64>>) {
    let shared = Rc::clone(&actor.shared);
    match begin_user(&shared, actor.number, stream, iterations_left).await {
        Some(own) => live(actor, own).await,
        None => shared.left(),
    }
}

/// Waits until the load begins; what a user of the closed loop then does. None: there is no load.
async fn begin_user<T: Transport>(
    shared: &Rc<Shared<T>>,
    number: u64,
    stream: u32,
    iterations_left: Rc<Cell<u64>>,
) -> Option<Own> {
    let Load::Closed { users, think } = &shared.population().load else { return None };
    // Users may be woken before the worker itself.
    shared.begin(shared.gate.wait().await?);
    let presence = users.as_constant().is_none().then(|| Presence { users: with_warmup(users, shared), number });
    let pacer = Thinking::new(*think, shared.random(number + 1 + (u64::from(stream) << 32)));
    Some(Own { pacer, presence, iterations_left, stream, is_there: false })
}

/// Why there will be no load: not one connection could be opened, or somebody stopped it.
fn why_not<T: Transport>(shared: &Shared<T>) -> Option<String> {
    if shared.control.is_stopped() {
        return Some("stopped before the load began".into());
    }
    let streams = shared.connection().streams;
    if streams > 1 && !shared.transport.multiplexes() {
        return Some(format!("connection.streams is `{streams}`, and this protocol has one at a time; write 1"));
    }
    let failed = shared.open_failure.borrow().clone();
    failed.filter(|_| shared.opened_ahead.get() == 0)
}

fn tell_target<T: Transport>(shared: &Shared<T>) {
    if let Some((addresses, server)) = shared.transport.take_target() {
        shared.say(Message::Target(addresses, server));
    }
}

/// The warm-up runs at what the shape begins with.
fn with_warmup<T: Transport>(shape: &Shape, shared: &Shared<T>) -> Shape {
    let warmup = shared.population().stop.warmup;
    let mut shape = shape.clone();
    if !warmup.is_zero() {
        let from = shape.at(Duration::ZERO);
        shape.stages.insert(0, Stage { from, to: from, duration: Some(warmup) });
    }
    shape
}

fn start_arrivals<T: Transport>(shared: &Rc<Shared<T>>, begins: Tick) {
    if let (Load::Open { rate, arrivals, .. }, Some(pool)) = (&shared.population().load, &shared.common.pool) {
        // All shards draw the same sequence.
        let random = shared.random(0);
        let (shard, shards) = shared.among_all();
        let shards = (shard as u64, shards as u64);
        let schedule = Schedule::new(&with_warmup(rate, shared), *arrivals, random, begins, shards);
        tokio::task::spawn_local(deal_out(Rc::clone(shared), Arc::clone(pool), schedule));
    }
}

/// Snapshots at each interval and border, until all is over.
async fn run_load<T: Transport>(shared: &Rc<Shared<T>>, begins: Tick) {
    let mut from = begins;
    cut_snapshot(shared, Tick::ZERO, begins, Phase::Setup);
    let mut grace = shared.population().stop.grace;
    loop {
        let border = next_border(shared, from, begins, grace);
        shared.recorder.borrow_mut().expect(border);
        while shared.time.now() < border && !is_over(shared) {
            shared.bell.set(border);
            (&shared.bell).await;
        }
        let now = shared.time.now();
        // What ended behind the border belongs to the next snapshot.
        let over = is_over(shared) && now <= border;
        let to = if over { now.max(from) } else { border };
        if over {
            dismiss_connections(shared).await;
            record_departures(shared, to);
        }
        if to > from || over {
            cut_snapshot(shared, from, to, phase_at(shared, from));
        }
        from = to;
        if over {
            break;
        }
        grace = listen(shared, to, grace);
        if shared.cut.get().is_none() && to >= shared.ends.get() + grace {
            cut_off(shared);
        }
    }
}

/// Ends the tasks of the open loop's connections: each records transactions that it leaves unfinished, for the last snapshot.
async fn dismiss_connections<T: Transport>(shared: &Shared<T>) {
    if shared.common.pool.is_none() {
        return;
    }
    if shared.cut.get().is_none() {
        cut_off(shared);
    }
    while shared.present.get() > 0 {
        shared.bell.set(Tick::NEVER);
        (&shared.bell).await;
    }
}

/// Counts the rest of the load as idle time of users that stopped of their own will.
fn record_departures<T: Transport>(shared: &Shared<T>, to: Tick) {
    let until = to.min(shared.ends.get());
    let mut recorder = shared.recorder.borrow_mut();
    shared.departures.take().into_iter().for_each(|departure| recorder.thought(departure, until));
}

/// Does what was said to the run meanwhile; how much grace there is.
fn listen<T: Transport>(shared: &Shared<T>, now: Tick, grace: Duration) -> Duration {
    if shared.control.is_steady() && shared.measured_from.get() > now {
        // Far enough ahead that every worker hears of it before it comes.
        let soon = now + shared.plan.record.interval * 2;
        let warm = *shared.borders.warm.get_or_init(|| soon);
        shared.measure_from(warm.min(shared.measured_from.get()));
    }
    if !shared.control.is_over() || shared.ends.get() <= now {
        return grace;
    }
    let ends = *shared.borders.ends.get_or_init(|| now);
    if ends > now {
        // Told ahead: it comes with one of the next borders.
        return grace;
    }
    shared.ends.set(ends);
    shared.time.fire_all();
    if shared.control.is_stopped() { grace.min(SHORT_GRACE) } else { grace }
}

fn next_border<T: Transport>(shared: &Shared<T>, from: Tick, begins: Tick, grace: Duration) -> Tick {
    let interval = brunt_model::time::nanos(shared.plan.record.interval).max(1_000_000);
    let regular = Tick(begins.0 + (from.nanos_since(begins) / interval + 1) * interval);
    shared.thread.borders.borrow_mut()[shared.common.number] =
        [shared.measured_from.get(), shared.ends.get(), shared.ends.get() + grace];
    shared.thread.next_border(from, regular)
}

fn phase_at<T: Transport>(shared: &Shared<T>, at: Tick) -> Phase {
    if at >= shared.ends.get() {
        Phase::Grace
    } else if at >= shared.measured_from.get() {
        Phase::Measure
    } else {
        Phase::Warmup
    }
}

/// Whether nothing is under way and nothing will come. A time that was asked for is waited for, with or without load, unless users
/// are through with as many iterations as they were asked for.
fn is_over<T: Transport>(shared: &Shared<T>) -> bool {
    let nothing_left = match &shared.common.pool {
        None => shared.present.get() == 0,
        Some(pool) => shared.arrivals_over.get() && pool.is_quiet(shared.number),
    };
    let ends = shared.ends.get();
    let counted = shared.tickets.are_gone() || shared.population().stop.iterations_per_user.is_some();
    nothing_left && (ends == Tick::NEVER || shared.time.now() >= ends || counted)
}

/// Ends all that is under way: it counts as cut; what still waits was never begun.
fn cut_off<T: Transport>(shared: &Shared<T>) {
    shared.cut.set(Some(shared.time.now()));
    if let Some(pool) = &shared.common.pool {
        drop_arrivals(shared, &pool.close());
    }
    shared.time.fire_all();
}

fn hand_over_records<T: Transport>(shared: &Shared<T>) {
    if shared.plan.record.records.is_some() {
        let records = shared.users.take_records();
        if !records.is_empty() {
            shared.say(Message::Records(records));
        }
    }
}

fn cut_snapshot<T: Transport>(shared: &Rc<Shared<T>>, from: Tick, to: Tick, phase: Phase) {
    let waiting = shared.common.pool.as_ref().filter(|_| shared.number == 0).map_or(0, |p| p.waiting() as u64);
    let check_failures = shared.recorder.borrow_mut().take_check_failures();
    if !check_failures.is_empty() {
        shared.say(Message::CheckFailures(check_failures));
    }
    let (snapshot, samples): (_, Option<Vec<Sample>>) = {
        let mut recorder = shared.recorder.borrow_mut();
        for (label, times) in shared.transport.take_events(shared.common.number) {
            let labels = &shared.common.labels;
            let name = labels.name(label).filter(|_| labels.count() > 1);
            recorder.events(name.as_deref(), times);
        }
        let mut counts = shared.connection_rules.take_counts();
        counts.merge(&shared.transport.take_counts());
        counts.waiting = waiting;
        counts.users = shared.users_there.get();
        (recorder.take(from, to, phase, &counts), recorder.take_samples())
    };
    if let Some(samples) = samples {
        shared.say(Message::Samples(samples));
    }
    hand_over_records(shared);
    shared.say(Message::Snapshot(shared.source(), Box::new(snapshot)));
    tell_target(shared);
}
