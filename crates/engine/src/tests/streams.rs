//! Many exchanges at once on one connection: lanes, resets, lost connections, GOAWAY, and
//! consistency checks.

use super::*;
use brunt_wire::fake::{ConnectionFate, FakeStreams, StreamCounts};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

type MakeStreams = Arc<dyn Fn(FakeStreams<WorkerClock>) -> FakeStreams<WorkerClock> + Send + Sync>;

/// The world of a [`Fake`], over connections that carry many exchanges at once.
#[derive(Clone)]
struct Streams {
    fake: Fake,
    /// The server's limit.
    limit: u32,
    counts: Arc<StreamCounts>,
    transport: MakeStreams,
}

impl Streams {
    fn new(fake: Fake, limit: u32) -> Self {
        Self { fake, limit, counts: Arc::default(), transport: Arc::new(|transport| transport) }
    }

    fn with(
        mut self,
        transport: impl Fn(FakeStreams<WorkerClock>) -> FakeStreams<WorkerClock> + Send + Sync + 'static,
    ) -> Self {
        self.transport = Arc::new(transport);
        self
    }

    fn run(&self, plan: &Plan) -> Seen {
        let seen = carry_out(self, plan, &self.fake.stop, |_| ()).unwrap();
        seen.check(plan, RunEpoch::Fake);
        self.check_counts(&seen);
        seen
    }

    /// Compares the engine's counts with the transport's.
    fn check_counts(&self, seen: &Seen) {
        assert_eq!(seen.run.flow_all.opened, count(&self.counts.opened), "opened");
        assert_eq!(count(&self.counts.open), 0, "left open");
    }
}

fn count(count: &AtomicU64) -> u64 {
    count.load(Relaxed)
}

impl RunEnvironment for Streams {
    type Transport = FakeStreams<WorkerClock>;

    fn epoch(&self) -> RunEpoch {
        self.fake.epoch
    }

    fn transport(
        &self,
        _: usize,
        _: Option<usize>,
        time: &WorkerClock,
    ) -> Rc<FakeStreams<WorkerClock>> {
        let server: ServerModel = Rc::new(RefCell::new((self.fake.server)()));
        let transport =
            FakeStreams::new(time.clone(), server, Arc::clone(&self.counts), self.limit);
        Rc::new((self.transport)(transport))
    }

    fn users(&self, transport: &Rc<FakeStreams<WorkerClock>>, of: UserSetup<'_>) -> Box<dyn Users> {
        self.fake.folk(transport, of.labels)
    }

    fn labels(&self) -> Vec<String> {
        self.fake.labels.clone()
    }
}

/// The same with this number of requests in flight on each connection.
fn streams(mut plan: Plan, streams: u32) -> Plan {
    plan.connection.streams = streams;
    plan
}

#[test]
fn a_user_has_one_request_in_flight_per_stream() {
    for users in [1, 5] {
        let world = Streams::new(Fake::delay(ms(10)), 100);
        let seen = world.run(&streams(closed(users as f64, secs(1)), 8));
        assert_eq!((seen.run.total.completed, count(&world.counts.opened)), (users * 800, users));
        assert_eq!((count(&world.counts.most_open), count(&world.counts.most_streams)), (users, 8));
        assert_eq!(seen.run.flow_all.users, 0);
        assert!(
            seen.samples.iter().all(|s| s.response_nanos() == 10 * MS && s.queue_wait_nanos() == 0)
        );
        // Of each connection one request is the first.
        assert_eq!(seen.run.flow_all.reused, users * 800 - users);
    }
}

#[test]
fn a_user_spreads_its_requests_over_its_connections() {
    for (streams_each, connections, users) in [(8, 3, 1), (4, 2, 5), (1, 6, 2)] {
        let world = Streams::new(Fake::delay(ms(10)), 100);
        let mut plan = streams(closed(users as f64, secs(1)), streams_each);
        plan.connection.connections_per_origin = connections;
        let seen = world.run(&plan);
        let at_once = u64::from(streams_each * connections);
        assert_eq!(seen.run.total.completed, users * at_once * 100);
        assert_eq!(count(&world.counts.most_open), users * u64::from(connections));
        // Until all are open, those that are have more.
        assert!(count(&world.counts.most_streams) < at_once, "{connections} connections");
    }
}

#[test]
fn iterations_of_a_user_are_shared_by_its_streams() {
    let mut plan = streams(closed(3.0, secs(1)), 8);
    (plan.main_mut().stop.duration, plan.main_mut().stop.iterations_per_user) = (None, Some(20));
    let world = Streams::new(Fake::delay(ms(10)), 100);
    assert_eq!(world.run(&plan).run.total.completed, 60);
    assert_eq!(count(&world.counts.opened), 3);
}

#[test]
fn each_user_opens_a_connection_per_origin() {
    let labels = vec!["http://here/".to_owned(), "http://there/".to_owned()];
    let user = |turn: UserTurn<'_>| match turn.step {
        0 => Next::Ask("http://here/"),
        1 => Next::Ask("http://there/"),
        _ => Next::Done,
    };
    let world = Streams::new(Fake { labels, ..Fake::delay(ms(10)).user(user) }, 100);
    let seen = world.run(&streams(closed(3.0, secs(1)), 8));
    assert_eq!((count(&world.counts.opened), count(&world.counts.most_open)), (6, 6));
    assert!(near(seen.run.total.completed as f64, 2400.0, 0.03), "{}", seen.run.total.completed);
}

#[test]
fn requests_wait_for_the_connection_that_is_being_opened() {
    let world =
        Streams::new(Fake::delay(ms(10)), 100).with(|transport| transport.with_open_time(ms(5)));
    let mut plan = streams(closed(1.0, secs(1)), 8);
    plan.connection.dialling = Dialling::Eager;
    let seen = world.run(&plan);
    assert_eq!(count(&world.counts.opened), 1);
    let first: Vec<_> = seen.samples.iter().filter(|s| s.planned == seen.begins()).collect();
    assert_eq!(first.len(), 8);
    assert_eq!(first.iter().filter(|s| s.opened).count(), 1);
    let waited = first.iter().filter(|s| !s.opened);
    assert!(
        waited.clone().all(|s| s.queue_wait_nanos() == 5 * MS && s.lag_nanos() == 0),
        "{first:#?}"
    );
    assert!(first.iter().all(|s| s.response_nanos() == 15 * MS));
}

#[test]
fn a_limit_of_the_server_below_the_streams_is_queue_wait() {
    let world = Streams::new(Fake::delay(ms(10)), 3);
    let seen = world.run(&streams(closed(1.0, secs(1)), 8));
    assert_eq!((count(&world.counts.most_streams), count(&world.counts.opened)), (3, 1));
    assert_eq!(seen.run.total.completed, 300 + 5);
    assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0 && s.service_nanos() == 10 * MS));
    // Each stream has its turn: 8 streams share the service of 3, in order.
    let longest = seen.samples.iter().map(Sample::queue_wait_nanos).max();
    assert_eq!(longest, Some(20 * MS));
}

#[test]
fn one_connection_with_eight_streams_equals_eight_servers() {
    let world = Streams::new(Fake::delay(ms(10)), 100);
    let seen = world.run(&streams(capped(900.0, Arrivals::Poisson, 1, secs(3)), 8));
    assert_eq!((count(&world.counts.opened), count(&world.counts.most_streams)), (1, 8));
    let expected = recursion(&seen.planned(), 8, || 10 * MS);
    let begins = seen.begins();
    let since = |at: Tick| at.nanos_since(begins);
    let actual: Vec<_> =
        seen.samples.iter().map(|s| (since(s.begun), since(s.last_byte))).collect();
    assert_eq!(actual, expected);
    assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0));
    assert!(seen.run.total.queue_wait.max() > 10 * MS);
}

#[test]
fn an_open_loop_without_a_cap_opens_a_connection_when_all_streams_are_used() {
    let world = Streams::new(Fake::delay(ms(100)), 100);
    // 200 at once come after each other.
    let seen = world.run(&streams(open(2000.0, Arrivals::Even, secs(2)), 8));
    assert_eq!(seen.run.total.completed, 4000);
    assert!((25..=27).contains(&count(&world.counts.opened)), "{:?}", world.counts);
    assert!(count(&world.counts.most_streams) == 8);
}

#[test]
fn connections_of_several_workers_stay_within_the_cap() {
    for cap in [1, 2, 3] {
        let mut plan = streams(capped(900.0, Arrivals::Poisson, cap, ms(500)), 8);
        plan.threads = 2;
        plan.record.samples = false;
        let world = Streams::new(Fake { epoch: RunEpoch::now(), ..Fake::delay(ms(5)) }, 100);
        let seen = carry_out(&world, &plan, &world.fake.stop, |_| ()).unwrap();
        assert!(count(&world.counts.most_open) <= u64::from(cap), "{:?}", world.counts);
        assert_eq!(seen.run.total.planned, seen.run.total.begun);
        assert_eq!(seen.run.total.begun, seen.run.total.completed + seen.run.total.failed());
        world.check_counts(&seen);
    }
}

/// Each connection ends so half a second after it was opened.
fn ending(fate: impl Fn(Tick) -> ConnectionFate + Send + Sync + Copy + 'static) -> Streams {
    Streams::new(Fake::delay(ms(10)), 100).with(move |transport| transport.with_fate(fate))
}

#[test]
fn all_exchanges_of_a_lost_connection_fail() {
    let lost = |opened: Tick| ConnectionFate { lost_at: opened + ms(506), ..ConnectionFate::STAYS };
    for users in [1, 3] {
        let world = ending(lost);
        let seen = world.run(&streams(closed(users as f64, secs(2)), 8));
        let t = &seen.run.total;
        assert_eq!(
            (count(&world.counts.opened), count(&world.counts.most_open)),
            (4 * users, users)
        );
        // Each of the eight requests has its own outcome.
        assert_eq!(t.failed_by(Failure::Reset), 3 * 8 * users);
        assert_eq!(seen.samples.iter().filter(|s| s.opened).count() as u64, 3 * users);
        assert_eq!(seen.run.flow_all.closed_idle, 0);
    }
    let world = ending(lost);
    let seen = world.run(&streams(capped(400.0, Arrivals::Even, 1, secs(2)), 8));
    assert_eq!((count(&world.counts.opened), count(&world.counts.most_open)), (4, 1));
    // At 400/s and 10 ms each, four requests are in flight.
    assert_eq!(seen.run.total.failed_by(Failure::Reset), 3 * 4);
}

#[test]
fn requests_in_flight_finish_after_goaway() {
    let goes =
        |opened: Tick| ConnectionFate { goes_away_at: opened + ms(505), ..ConnectionFate::STAYS };
    for users in [1, 3] {
        let world = ending(goes);
        let seen = world.run(&streams(closed(users as f64, secs(2)), 8));
        assert_eq!(seen.run.total.failed(), 0);
        assert_eq!(seen.run.total.completed, seen.run.total.begun);
        // The next connection is opened when the last exchange of the one before has ended.
        assert_eq!(
            (count(&world.counts.opened), count(&world.counts.most_open)),
            (4 * users, users)
        );
    }
    let world = ending(goes);
    let seen = world.run(&streams(capped(400.0, Arrivals::Even, 1, secs(2)), 8));
    assert_eq!((seen.run.total.failed(), count(&world.counts.most_open)), (0, 1));
    assert_eq!(count(&world.counts.opened), 4);
    // What came meanwhile waited for the next connection.
    assert!(seen.samples.iter().all(|s| s.lag_nanos() == 0));
    assert!((MS..=10 * MS).contains(&seen.run.total.queue_wait.max()));
}

#[test]
fn an_idle_connection_that_ends_is_counted_once() {
    for fate in [
        ConnectionFate { lost_at: Tick(SECOND), ..ConnectionFate::STAYS },
        ConnectionFate { goes_away_at: Tick(SECOND), ..ConnectionFate::STAYS },
    ] {
        let world =
            ending(move |opened| if opened < Tick(SECOND) { fate } else { ConnectionFate::STAYS });
        let think = ThinkTime { least: ms(700), most: ms(700) };
        let seen = world.run(&streams(thinking(LoadShape::constant(1.0), think, secs(3)), 8));
        assert_eq!((count(&world.counts.opened), seen.run.flow_all.closed_idle), (2, 1));
        assert_eq!(seen.run.total.failed(), 0);
        let world =
            ending(move |opened| if opened < Tick(SECOND) { fate } else { ConnectionFate::STAYS });
        let seen = world.run(&streams(capped(1.5, Arrivals::Even, 1, secs(3)), 8));
        assert_eq!((count(&world.counts.opened), seen.run.flow_all.closed_idle), (2, 1));
    }
}

#[test]
fn a_timeout_resets_only_its_stream() {
    let fake = Fake::new(|| {
        let mut asked = 0;
        move |now: Tick| {
            asked += 1;
            if asked % 50 == 0 {
                SimulatedReaction::Never
            } else {
                SimulatedReaction::Reply(200, now + ms(10))
            }
        }
    });
    let world = Streams::new(fake, 100);
    let mut plan = streams(closed(1.0, secs(2)), 8);
    plan.connection.timeout = ms(100);
    let seen = world.run(&plan);
    let timeouts = seen.run.total.failed_by(Failure::Timeout);
    assert!(timeouts > 10, "{timeouts}");
    assert_eq!((count(&world.counts.resets), count(&world.counts.opened)), (timeouts, 1));
}

#[test]
fn arrivals_that_wait_for_a_stream_at_the_cut_are_dropped() {
    let mut plan = streams(closed(1.0, secs(1)), 8);
    plan.main_mut().stop.grace = ms(100);
    let world = Streams::new(Fake::new(|| |_| SimulatedReaction::Never), 3);
    let seen = world.run(&plan);
    let t = &seen.run.total;
    assert_eq!((t.planned, t.begun), (8, 3));
    assert_eq!((t.failed_by(Failure::Cut), t.failed_by(Failure::Dropped)), (3, 5));
}

#[test]
fn connections_are_closed_after_the_maximum_number_of_exchanges() {
    let mut plan = streams(closed(1.0, secs(1)), 8);
    plan.connection.requests_per_connection = Some(20);
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(200));
    let world = Streams::new(Fake::delay(ms(10)), 100);
    let seen = world.run(&plan);
    assert_eq!((seen.run.total.completed, count(&world.counts.opened)), (200, 10));
    assert_eq!(count(&world.counts.most_open), 1);
}

#[test]
fn a_transport_without_streams_refuses_several() {
    let seen = Fake::delay(ms(10)).run(&streams(closed(1.0, secs(1)), 8));
    let error = seen.run.finish.unwrap().error.unwrap();
    assert!(error.contains("connection.streams"), "{error}");
}

#[test]
fn requests_of_a_parallel_step_share_the_connection() {
    let user = |turn: UserTurn<'_>| if turn.step == 0 { Next::Parallel(20, 6) } else { Next::Done };
    for (limit, step) in [(100, 40), (4, 50)] {
        let world = Streams::new(Fake::delay(ms(10)).user(user), limit);
        let seen = world.run(&streams(closed(3.0, secs(2)), 1));
        assert_eq!((count(&world.counts.most_open), count(&world.counts.opened)), (3, 3));
        assert_eq!(count(&world.counts.most_streams), u64::from(limit.min(6)));
        assert_eq!(seen.run.total.good, 3 * 20 * 2000 / step);
    }
}

/// A hundred runs, each with any load, limits and ends of connections.
#[test]
fn runs_over_streams_pass_all_checks() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    for number in 0..100 {
        let mut plan = super::conservation::any_plan(&mut random);
        plan.connection.streams = random.random_range(1..10);
        let stop = &mut plan.main_mut().stop;
        stop.duration = stop.duration.map(|time| time.min(secs(4)));
        plan.connection.retry_stale = random.random();
        let limit = random.random_range(1..12);
        let opens_for = ms([0, 0, 30][random.random_range(0..3)]);
        let ends: (u64, u64) = (random.random_range(1..40), random.random_range(1..40));
        let seeds = std::sync::Mutex::new(random.clone());
        random.random::<u64>();
        let fake = Fake::new(move || super::conservation::moody(&mut seeds.lock().unwrap()));
        let (together, most) = (random.random_range(0..9), random.random_range(1..5));
        let fake = fake.user(move |turn| match turn.step {
            0 if together > 3 => Next::Parallel(together, most),
            0 => Next::Ask("http://fake/"),
            _ => Next::Done,
        });
        let fate = move |opened: Tick| ConnectionFate {
            lost_at: if ends.0 < 10 { opened + ms(ends.0 * 300) } else { Tick::NEVER },
            goes_away_at: if ends.1 < 10 { opened + ms(ends.1 * 200) } else { Tick::NEVER },
        };
        let world =
            Streams::new(fake, limit).with(move |t| t.with_open_time(opens_for).with_fate(fate));
        let seen = carry_out(&world, &plan, &world.fake.stop, |_| ()).unwrap();
        assert_eq!(broken(&seen.run), [], "run {number}: {plan:#?}");
        world.check_counts(&seen);
        let most = match plan.main().load {
            Load::Closed { ref users, .. } => users.peak().floor() as u64,
            Load::Open { connections, max_in_flight, .. } => {
                connections.unwrap_or(max_in_flight).into()
            }
        };
        assert!(
            count(&world.counts.most_open) <= most,
            "run {number}: {:?} {plan:#?}",
            world.counts
        );
    }
}
