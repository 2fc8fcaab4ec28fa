//! Runs one population on one thread, from its first connection to its last snapshot.
//!
//! Setup (connections are opened, at a bounded rate) → the gate, where all workers meet → load →
//! grace (requests in flight may finish) → cut of the rest. The worker sends a snapshot at each
//! interval, and at each border between the phases.

use crate::actor::Actor;
use crate::arrivals::{deal_out, drop_arrivals, spawn_seats};
use crate::gate::LoadBegin;
use crate::message::Message;
use crate::pace::{Schedule, ScheduleShard, Thinking};
use crate::population::{PopulationShared, WorkerPopulation};
use crate::request_context::{Gauges, SnapshotInterval};
use crate::work::{ClosedLoop, OpenWork, RampPosition, run_actor};
use brunt_model::plan::Dialling;
use brunt_model::{Load, LoadShape, LoadStage, Phase, Text, Tick, text};
use brunt_wire::Transport;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which the stop command is polled before the load begins.
const SETUP_LOOK: Duration = Duration::from_millis(20);
/// Maximum grace for requests in flight after an interruption.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// Runs one population on one worker.
pub async fn work<T: Transport>(population: Rc<WorkerPopulation<T>>) {
    set_up(&population).await;
    send_target(&population);
    if let Some(why) = no_load_reason(&population) {
        population.send(Message::Fatal(why));
        population.shared.gate.give_up();
    } else {
        population.shared.gate.ready(population.clock.now());
    }
    match population.shared.gate.wait().await {
        Some(begin) => {
            population.begin(begin);
            start_arrivals(&population, begin);
            population.users_gate.open(begin);
            run_load(&population, begin).await;
        }
        None => population.users_gate.give_up(),
    }
    send_records(&population);
    population.send(Message::PopulationEnded(population.source()));
}

/// Opens the connections of all users before the load, each at its time by the connect rate.
async fn set_up<T: Transport>(population: &Rc<WorkerPopulation<T>>) {
    let Some((worker, workers)) = population.among_all() else { return };
    let (ahead, numbers) = actors_ahead(&population.shared, workers, worker);
    let gap = 1e9 / f64::from(population.shared.connection().connect_rate.max(1));
    population.tasks.begin_opening(numbers.len() as u64);
    for (k, number) in numbers.into_iter().enumerate() {
        let instant = Tick(((k * workers + worker) as f64 * gap) as u64);
        let actor = prepare_actor(Rc::clone(population), number, instant, k < ahead);
        population.tasks.spawn(actor);
    }
    while population.tasks.are_opening() && !population.shared.control.is_stopped() {
        population.tasks.bell.set(population.clock.now() + SETUP_LOOK);
        (&population.tasks.bell).await;
    }
}

/// Returns how many connections this worker opens before the load, and the numbers
/// of its initial actors.
fn actors_ahead(shared: &PopulationShared, workers: usize, worker: usize) -> (usize, Vec<u64>) {
    let plan = &shared.plan;
    let load = &shared.population().load;
    // Connections for one request each are opened when needed. One opened ahead shows whether the
    // server is reachable.
    let new_each = plan.connection.requests_per_connection == Some(1);
    let (actors, ahead) = match load {
        Load::Closed { users, .. } => {
            let begin = users.at(Duration::ZERO).floor() as u64;
            (users.peak().floor() as u64, if new_each { 1 } else { begin.max(1) })
        }
        Load::Open { connections, .. } => {
            let count = connections.map_or(1, u64::from);
            (count, if new_each { 1 } else { count })
        }
    };
    // Old tools open no connection before the load.
    let ahead = if plan.connection.dialling == Dialling::Eager { 0 } else { ahead };
    (numbers_of(worker, workers, ahead).count(), numbers_of(worker, workers, actors).collect())
}

/// Returns the actor numbers below `limit` that belong to this worker.
fn numbers_of(worker: usize, workers: usize, limit: u64) -> impl Iterator<Item = u64> {
    (0..limit).filter(move |k| (*k as usize) % workers == worker)
}

async fn prepare_actor<T: Transport>(
    population: Rc<WorkerPopulation<T>>,
    number: u64,
    instant: Tick,
    ahead: bool,
) {
    let mut actor = Actor::new(&population, number);
    if ahead {
        population.clock.wait_until(&actor.timer, instant).await;
    }
    let has_opened = ahead && !population.shared.control.is_stopped() && actor.open_ahead().await;
    population.tasks.end_opening(has_opened);
    match &population.shared.pool {
        None => {
            let iterations =
                population.shared.population().stop.iterations_per_user.unwrap_or(u64::MAX);
            let iterations_left = Rc::new(Cell::new(iterations));
            for stream in 1..population.shared.connection().in_flight_per_user() {
                let other = Actor::sharing(&population, Rc::clone(&actor.connections), number);
                population.tasks.spawn(ask_from_begin(other, stream, Rc::clone(&iterations_left)));
            }
            // Not a shared function: an actor that is passed to another function would take memory
            // twice while it waits.
            match begin_user(&population, number, 0, iterations_left).await {
                Some(closed_loop) => run_actor(actor, closed_loop).await,
                None => population.tasks.end_task(),
            }
        }
        Some(pool) => {
            let seat = pool.reserve(population.worker());
            spawn_seats(&population, pool, &actor, seat);
            run_actor(actor, OpenWork { pool: Arc::clone(pool), seat, has_job: false }).await;
        }
    }
}

/// Runs a further stream of a user of the closed loop, from the begin of the load.
async fn ask_from_begin<T: Transport>(
    actor: Actor<T>,
    stream: u32,
    iterations_left: Rc<Cell<u64>>,
) {
    let population = Rc::clone(&actor.population);
    match begin_user(&population, actor.number, stream, iterations_left).await {
        Some(closed_loop) => run_actor(actor, closed_loop).await,
        None => population.tasks.end_task(),
    }
}

/// Waits until the load begins. Returns the loop of a closed-loop user; None: there is no load.
async fn begin_user<T: Transport>(
    population: &Rc<WorkerPopulation<T>>,
    number: u64,
    stream: u32,
    iterations_left: Rc<Cell<u64>>,
) -> Option<ClosedLoop> {
    let Load::Closed { users, think } = &population.shared.population().load else { return None };
    population.users_gate.wait().await?;
    let warmup = population.shared.population().stop.warmup;
    let ramp_position = users
        .as_constant()
        .is_none()
        .then(|| RampPosition { users: with_warmup(users, warmup), number });
    let pacer = Thinking::new(*think, population.random(number + 1 + (u64::from(stream) << 32)));
    Some(ClosedLoop { pacer, ramp_position, iterations_left, stream, is_active: false })
}

/// Returns why there will be no load: no connection could be opened, or the run was stopped.
fn no_load_reason<T: Transport>(population: &WorkerPopulation<T>) -> Option<Text> {
    if population.shared.control.is_stopped() {
        return Some(text!("warning-stopped-before-load"));
    }
    let streams = population.shared.connection().streams;
    if streams > 1 && !population.requests.transport().multiplexes() {
        let why = format!(
            "connection.streams is `{streams}`, and this protocol has one at a time; write 1"
        );
        return Some(why.into());
    }
    population.tasks.open_failure()
}

fn send_target<T: Transport>(population: &WorkerPopulation<T>) {
    if let Some((addresses, server)) = population.requests.transport().take_target() {
        population.send(Message::Target(addresses, server));
    }
}

/// Adds the warm-up to a shape, at the shape's initial value.
fn with_warmup(shape: &LoadShape, warmup: Duration) -> LoadShape {
    let mut shape = shape.clone();
    if !warmup.is_zero() {
        let from = shape.at(Duration::ZERO);
        shape.stages.insert(0, LoadStage { from, to: from, duration: Some(warmup) });
    }
    shape
}

fn start_arrivals<T: Transport>(population: &Rc<WorkerPopulation<T>>, begin: LoadBegin) {
    if let (Load::Open { rate, arrivals, .. }, Some(pool)) =
        (&population.shared.population().load, &population.shared.pool)
    {
        let Some(part) = population.shared.part else {
            population.tasks.end_arrivals();
            return pool.arrivals_over(population.worker());
        };
        // All shards draw the same sequence.
        let random = population.random(0);
        let shard = ScheduleShard {
            part,
            worker: population.worker() as u64,
            workers: u64::from(population.shared.plan.threads),
        };
        let rate = with_warmup(rate, population.shared.population().stop.warmup);
        let schedule = Schedule::new(&rate, *arrivals, random, begin.begins, shard);
        tokio::task::spawn_local(deal_out(Rc::clone(population), Arc::clone(pool), schedule));
    }
}

/// Sends snapshots at each interval and border, until the population is over.
async fn run_load<T: Transport>(population: &Rc<WorkerPopulation<T>>, begin: LoadBegin) {
    let LoadBegin { begins, mut from } = begin;
    // The setup of a process that takes the place of another one belongs to its first interval.
    if from == begins {
        let setup = SnapshotInterval { from: Tick::ZERO, to: begins, phase: Phase::Setup };
        cut_snapshot(population, setup);
    }
    let mut grace = population.shared.population().stop.grace;
    loop {
        let border = next_border(population, from, begins, grace);
        population.requests.recorder().set_border(border);
        while population.clock.now() < border && !is_over(population) {
            population.tasks.bell.set(border);
            (&population.tasks.bell).await;
        }
        let now = population.clock.now();
        // Requests that ended after the border belong to the next snapshot.
        let over = is_over(population) && now <= border;
        let to = if over { now.max(from) } else { border };
        if over {
            dismiss_connections(population).await;
            record_departures(population, to);
        }
        if to > from || over {
            cut_snapshot(
                population,
                SnapshotInterval { from, to, phase: population.clock.phase_at(from) },
            );
        }
        from = to;
        if over {
            break;
        }
        grace = apply_control(population, to, grace);
        if population.clock.cut().is_none() && to >= population.clock.ends() + grace {
            cut_off(population);
        }
    }
}

/// Ends the tasks of the open loop's connections. Each records its unfinished transactions
/// for the last snapshot.
async fn dismiss_connections<T: Transport>(population: &WorkerPopulation<T>) {
    if population.shared.pool.is_none() {
        return;
    }
    if population.clock.cut().is_none() {
        cut_off(population);
    }
    while !population.tasks.are_over() {
        // The last task wakes the worker.
        population.tasks.bell.set(Tick::NEVER);
        (&population.tasks.bell).await;
    }
}

/// Counts the rest of the load as idle time of users that stopped by their scenario.
fn record_departures<T: Transport>(population: &WorkerPopulation<T>, to: Tick) {
    let until = to.min(population.clock.ends());
    let mut recorder = population.requests.recorder();
    population
        .tasks
        .take_departures()
        .into_iter()
        .for_each(|departure| recorder.record_idle(departure, until));
}

/// Applies the commands to the run, and returns the remaining grace period.
fn apply_control<T: Transport>(
    population: &WorkerPopulation<T>,
    now: Tick,
    grace: Duration,
) -> Duration {
    if population.shared.control.is_steady() && population.clock.measured_from() > now {
        // Two intervals ahead, so that every worker sees the instant before it comes.
        let soon = now + population.shared.plan.record.interval * 2;
        let warm = *population.shared.borders.warm.get_or_init(|| soon);
        population.measure_from(warm.min(population.clock.measured_from()));
    }
    if !population.shared.control.is_over() || population.clock.ends() <= now {
        return grace;
    }
    let ends = *population.shared.borders.ends.get_or_init(|| now);
    if ends > now {
        // The parent process sets the instant ahead: it comes with one of the next borders.
        return grace;
    }
    population.clock.end_early(ends);
    if population.shared.control.is_stopped() { grace.min(SHORT_GRACE) } else { grace }
}

fn next_border<T: Transport>(
    population: &WorkerPopulation<T>,
    from: Tick,
    begins: Tick,
    grace: Duration,
) -> Tick {
    let interval = brunt_model::time::nanos(population.shared.plan.record.interval).max(1_000_000);
    let regular = Tick(begins.0 + (from.nanos_since(begins) / interval + 1) * interval);
    population.next_border(from, regular, grace)
}

/// True if nothing is in flight and nothing will come. A run with a duration lasts that long, with
/// or without load, unless its users have completed a fixed number of iterations.
fn is_over<T: Transport>(population: &WorkerPopulation<T>) -> bool {
    let nothing_left = match &population.shared.pool {
        None => population.tasks.are_over(),
        Some(pool) => population.tasks.arrivals_are_over() && pool.is_quiet(population.worker()),
    };
    let ends = population.clock.ends();
    let counted = population.shared.tickets.are_gone()
        || population.shared.population().stop.iterations_per_user.is_some();
    nothing_left && (ends == Tick::NEVER || population.clock.now() >= ends || counted)
}

/// Cuts off all requests in flight; arrivals that still wait are dropped.
fn cut_off<T: Transport>(population: &WorkerPopulation<T>) {
    population.clock.cut_off();
    if let Some(pool) = &population.shared.pool {
        drop_arrivals(population, &pool.close());
    }
    population.clock.time.fire_all();
}

fn send_metrics<T: Transport>(population: &WorkerPopulation<T>) {
    let metrics = population.requests.take_metrics();
    if !metrics.is_empty() {
        population.send(Message::Metrics(metrics));
    }
}

fn send_records<T: Transport>(population: &WorkerPopulation<T>) {
    if population.shared.plan.record.records.is_some() {
        let records = population.requests.take_records();
        if !records.is_empty() {
            population.send(Message::Records(records));
        }
    }
}

fn cut_snapshot<T: Transport>(population: &WorkerPopulation<T>, interval: SnapshotInterval) {
    // One worker reports the queue of all workers.
    let waiting = population
        .shared
        .pool
        .as_ref()
        .filter(|_| population.worker() == 0)
        .map_or(0, |p| p.waiting() as u64);
    let check_failures = population.requests.take_check_failures();
    if !check_failures.is_empty() {
        population.send(Message::CheckFailures(check_failures));
    }
    let gauges = Gauges { waiting, users: population.tasks.users() };
    let PopulationShared { labels, number, .. } = &*population.shared;
    let (snapshot, samples) = population.requests.take_snapshot(interval, gauges, labels, *number);
    if let Some(samples) = samples {
        population.send(Message::Samples(samples));
    }
    send_records(population);
    send_metrics(population);
    let now = population.clock.now();
    population.send(Message::Snapshot(population.source(), Box::new(snapshot), now));
    send_target(population);
}
