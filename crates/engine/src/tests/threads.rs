//! Two threads and the system's clock. These are the only tests here that vary from run to run.
//! They assert only invariants.

use super::*;
use crate::user::RunState;
use brunt_model::reading_names as name;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn real(plan: Plan) -> Plan {
    let stop = Stop { grace: secs(2), ..plan.main().stop };
    let record = RecordSettings { interval: ms(20), ..plan.record.clone() };
    Plan { threads: 2, record, ..plan.with_stop(stop) }
}

/// A queue that all workers share.
fn shared_queue(servers: usize, service: Duration) -> Fake {
    let service = service.as_nanos() as u64;
    let shared = Arc::new(Mutex::new(queue(servers, move || service)));
    let server = move || {
        let shared = Arc::clone(&shared);
        move |now| (shared.lock().unwrap())(now)
    };
    Fake { epoch: RunEpoch::now(), ..Fake::new(server) }
}

#[test]
fn an_open_loop_of_two_threads_loses_nothing() {
    let seen = shared_queue(8, ms(2)).run(&real(open(1000.0, Arrivals::Poisson, ms(400))));
    assert_eq!(seen.run.total.completed, seen.run.total.planned);
    assert!(seen.run.total.planned > 200);
    // The sequence is that of one thread.
    let alone = Fake::delay(ms(2)).run(&open(1000.0, Arrivals::Poisson, ms(400)));
    assert_eq!(seen.planned(), alone.planned());
}

#[test]
fn arrivals_of_two_threads_wait_in_one_queue() {
    let seen = shared_queue(8, ms(10)).run(&real(capped(500.0, Arrivals::Poisson, 4, ms(400))));
    let t = &seen.run.total;
    assert_eq!(t.completed, t.planned);
    assert_eq!(seen.run.flow_all.opened, 4);
    // Connections become free in some order, and arrivals get them in order. If both threads act at
    // the same time, neighbors may be exchanged; more of them are if the machine suspends one of
    // the threads. In random order it would be half of them, in the opposite order nearly all.
    let free: Vec<_> = seen.samples.iter().map(|s| s.free).collect();
    let behind = free.windows(6).filter(|w| w[0] > w[5]).count();
    assert!(behind * 4 < free.len(), "{behind} of {}", free.len());
}

#[test]
fn overload_of_two_threads_is_dropped_and_cut_and_counted() {
    let mut plan = real(capped(2000.0, Arrivals::Even, 4, ms(200)));
    plan.main_mut().stop.grace = ms(100);
    let seen = shared_queue(8, ms(10)).run(&plan);
    assert_eq!(seen.run.total.planned, 400);
    assert!(seen.run.total.failed_by(Failure::Dropped) > 0);
    plan.main_mut().stop.grace = Duration::ZERO;
    shared_queue(8, ms(10)).run(&plan);
}

#[test]
fn users_of_two_threads_send_the_requested_number_of_requests() {
    let mut plan = real(closed(5.0, secs(1)));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(301));
    let seen = shared_queue(4, ms(1)).run(&plan);
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (301, 301));
    let mut plan = real(open(1000.0, Arrivals::Poisson, secs(1)));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(301));
    let seen = shared_queue(4, ms(1)).run(&plan);
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (301, 301));
}

#[test]
fn users_of_both_threads_are_active_during_the_whole_run() {
    let seen = shared_queue(4, ms(1)).run(&real(closed(5.0, ms(300))));
    let all: Vec<_> = seen.snapshots().filter(|s| s.phase == Phase::Measure).collect();
    assert!(all[..all.len() - 1].iter().all(|s| s.flow.users == 5 && s.flow.in_flight == 5));
    assert!(seen.samples[..5].iter().all(|s| s.planned == seen.begins()));
}

/// Other threads wake the workers at the begin of the load. A worker that its users keep from its own begin counts their
/// requests as setup.
#[test]
fn the_first_requests_of_thousands_of_users_are_no_setup() {
    let mut plan = real(closed(4000.0, ms(300)));
    plan.connection.connect_rate = 1_000_000;
    let seen = shared_queue(8, Duration::from_micros(20)).run(&plan);
    let mut setups = seen.snapshots().filter(|snapshot| snapshot.phase == Phase::Setup);
    assert!(setups.all(|setup| setup.measured.planned == 0));
    assert!(seen.run.flow.completed > 0);
}

#[test]
fn an_event_listener_can_stop_a_run() {
    for plan in [open(200.0, Arrivals::Poisson, secs(3600)), closed(4.0, secs(3600))] {
        let world = shared_queue(4, ms(5));
        let stop = world.stop.clone();
        let mut snapshots = 0;
        let seen = world.run_listening(&real(plan), |event| {
            snapshots += usize::from(matches!(event, Event::Snapshot(_)));
            if snapshots == 5 {
                stop.stop();
            }
        });
        assert!(seen.run.is_interrupted() && seen.run.measured_seconds() < 3000.0);
        assert_eq!(seen.run.total.completed, seen.run.total.begun);
    }
}

#[test]
fn a_worker_that_fails_does_not_leave_the_other_waiting() {
    let made = AtomicUsize::new(0);
    let world = Fake::delay(ms(1)).wire(move |wire| {
        assert_eq!(made.fetch_add(1, Ordering::Relaxed), 0, "the second worker breaks");
        wire
    });
    let world = Fake { epoch: RunEpoch::now(), ..world };
    let ended = world.try_run(&real(open(100.0, Arrivals::Even, ms(50))), |_| ());
    assert!(matches!(ended, Err(EngineError::Panicked)));
}

#[test]
fn a_precise_run_loses_no_requests_and_reads_replies() {
    let plan = Plan { precise: true, threads: 1, ..real(open(5000.0, Arrivals::Even, ms(400))) };
    let seen = shared_queue(8, ms(1)).run(&plan);
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (2000, 2000));
}

#[test]
fn own_readings_are_taken_every_second_and_include_ended_threads() {
    let seen = shared_queue(8, ms(5)).run(&real(closed(4.0, ms(1200))));
    let readings: Vec<_> = seen
        .events
        .iter()
        .filter_map(|e| if let Event::Reading(r) = e { Some(r) } else { None })
        .collect();
    // At the start, at the beginning of the measured time, a second after the last, and at the end.
    assert!(readings.len() >= 4, "{:?}", readings.iter().map(|r| r.at).collect::<Vec<_>>());
    assert!(readings.windows(2).all(|w| w[0].at <= w[1].at));
    let cpu = |worker| seen.run.reading(name::GENERATOR, &name::worker_cpu(worker));
    assert_eq!(
        [cpu(0), cpu(1)].map(|cpu| cpu.is_some()),
        [std::fs::exists("/proc/self/schedstat").unwrap(); 2]
    );
}

/// A world in which the first worker's users do not return from their third step.
#[derive(Clone)]
struct Stuck {
    fake: Fake,
    is_released: Arc<AtomicBool>,
}

struct StuckUsers {
    users: Box<dyn Users>,
    run_state: Rc<dyn RunState>,
    is_released: Arc<AtomicBool>,
}

struct StuckUser {
    user: Box<dyn VirtualUser>,
    run_state: Rc<dyn RunState>,
    is_released: Arc<AtomicBool>,
    steps: u32,
}

impl RunEnvironment for Stuck {
    type Transport = FakeTransport<WorkerClock>;

    fn epoch(&self) -> RunEpoch {
        self.fake.epoch
    }

    fn transport(
        &self,
        worker: usize,
        population: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<FakeTransport<WorkerClock>> {
        self.fake.transport(worker, population, time)
    }

    fn users(
        &self,
        transport: &Rc<FakeTransport<WorkerClock>>,
        of: UserSetup<'_>,
    ) -> Box<dyn Users> {
        let users = self.fake.users(transport, of);
        if of.worker > 0 {
            return users;
        }
        let is_released = Arc::clone(&self.is_released);
        Box::new(StuckUsers { users, run_state: Rc::clone(of.run_state), is_released })
    }

    fn labels(&self) -> Vec<String> {
        self.fake.labels()
    }
}

impl Users for StuckUsers {
    fn user(&self, number: u64) -> Box<dyn VirtualUser> {
        Box::new(StuckUser {
            user: self.users.user(number),
            run_state: Rc::clone(&self.run_state),
            is_released: Arc::clone(&self.is_released),
            steps: 0,
        })
    }

    fn first(&self) -> Option<Rc<Prepared>> {
        self.users.first()
    }
}

impl VirtualUser for StuckUser {
    fn next(&mut self, turn: UserTurn<'_>) -> UserStep {
        self.run_state.begin_step();
        self.steps += 1;
        self.run_state.set_position(self.steps);
        while self.steps == 3 && !self.is_released.load(Ordering::Relaxed) {
            std::thread::sleep(ms(5));
        }
        let step = self.user.next(turn);
        self.run_state.end_step();
        step
    }

    fn redirect(&mut self, from: &Prepared, reply: &Reply, hops: u32) -> Option<Rc<Prepared>> {
        self.user.redirect(from, reply, hops)
    }
}

#[test]
fn a_run_ends_without_a_worker_that_does_not_return() {
    let plan = real(closed(4.0, ms(300)));
    let world = Stuck { fake: shared_queue(4, ms(1)), is_released: Arc::default() };
    let mut seen = Run::default();
    let ended =
        run(&plan, Environment::default(), &world, &RunControl::default(), &mut |event: &Event| {
            seen.fold(event);
        });
    world.is_released.store(true, Ordering::Relaxed);
    let Err(EngineError::StuckStep(step)) = ended else { panic!("{ended:?}") };
    assert_eq!(step, "step 3 of the scenario");
    let total = &seen.total;
    assert!(total.completed > 10 && seen.finish.is_some(), "{total:?}");
    assert_eq!(
        total.begun,
        total.completed + total.failed() + total.failed_by(Failure::Cut),
        "{total:?}"
    );
}
