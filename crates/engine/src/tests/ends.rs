//! The phases of a run and their borders: warm-up, grace, the cut, interruption, snapshots.

use super::*;

#[test]
fn the_warm_up_is_counted_separately() {
    let mut plan = open(100.0, Arrivals::Even, secs(5));
    plan.main_mut().stop.warmup = secs(2);
    let seen = Fake::delay(ms(15)).run(&plan);
    let begins = seen.begins();
    assert_eq!((seen.run.warmup.planned, seen.run.warmup.completed), (200, 200));
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (500, 500));
    let begun = |phase| seen.run.phase_start(phase);
    assert_eq!(begun(Phase::Warmup), Some(begins));
    assert_eq!(begun(Phase::Measure), Some(begins + secs(2)));
    assert_eq!(begun(Phase::Grace), Some(begins + secs(7)));
    assert_eq!(seen.run.measured_seconds(), 5.0);
    // Two replies of the warm-up came in the measured time, two of the measured time in the grace.
    assert_eq!(seen.run.throughput(), 100.0);
    for point in seen.run.series.points().skip(1) {
        let s = point.from.nanos_since(begins) / SECOND;
        assert_eq!(
            point.phase,
            if s < 2 {
                Phase::Warmup
            } else if s < 7 {
                Phase::Measure
            } else {
                Phase::Grace
            }
        );
    }
}

#[test]
fn the_warm_up_runs_at_the_initial_load_of_a_ramp() {
    let mut plan = shaped(shape(&[(10.0, 30.0, 10)]), Arrivals::Even, secs(10));
    plan.main_mut().stop.warmup = secs(5);
    let seen = Fake::delay(ms(1)).run(&plan);
    assert_eq!((seen.run.warmup.planned, seen.run.total.planned), (50, 200));
    let mut plan = thinking(shape(&[(1.0, 1.0, 5), (3.0, 3.0, 5)]), ThinkTime::NONE, secs(10));
    plan.main_mut().stop.warmup = secs(5);
    let seen = Fake::delay(ms(10)).run(&plan);
    assert_eq!((seen.run.warmup.planned, seen.run.total.planned), (500, 2000));
}

#[test]
fn snapshots_end_at_each_interval_and_at_each_border() {
    let mut plan = open(100.0, Arrivals::Even, ms(1030));
    (plan.main_mut().stop.warmup, plan.main_mut().stop.grace) = (ms(250), ms(140));
    let seen = Fake::new(|| |_| SimulatedReaction::Never).run(&plan);
    let ends: Vec<_> = seen.snapshots().map(|s| s.to.nanos_since(seen.begins()) / MS).collect();
    let expected = [
        0, 100, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1280, 1300, 1400,
        1420, 1420,
    ];
    assert_eq!(ends, expected);
    assert_eq!(seen.run.total.failed_by(Failure::Cut), 103);
    assert_eq!(seen.run.warmup.failed_by(Failure::Cut), 25);
    // What happened at an instant is in the snapshot that ends there or in the next one.
    for s in seen.snapshots().filter(|s| s.phase == Phase::Measure) {
        let planned = (s.to.nanos_since(s.from) / (10 * MS)).abs_diff(s.flow.planned);
        assert!(planned <= 1, "{:?}", s.flow);
    }
}

#[test]
fn requests_in_flight_may_finish_within_the_grace_time() {
    for (grace, completed) in [(5, 10), (2, 8), (0, 6)] {
        let mut plan = open(1.0, Arrivals::Even, secs(10));
        plan.main_mut().stop.grace = secs(grace);
        // Ties between a reply and the end are avoided.
        let seen = Fake::delay(ms(3500)).run(&plan);
        let expected = (0..10).filter(|n| n * 1000 + 3500 < (10 + grace) * 1000).count() as u64;
        assert_eq!(seen.run.total.completed, expected, "{completed}");
        assert_eq!(seen.run.total.failed_by(Failure::Cut), 10 - expected);
        let cut = seen.samples.iter().filter(|s| s.outcome.failure == Some(Failure::Cut));
        assert!(cut.map(|s| s.last_byte).all(|at| at == seen.begins() + secs(10 + grace)));
        let closed = Fake::delay(ms(3500)).run(&closed(2.0, secs(10)).with_stop(plan.main().stop));
        assert_eq!(closed.run.total.begun, 6);
        assert_eq!(closed.run.total.failed_by(Failure::Cut), if grace == 0 { 2 } else { 0 });
    }
}

/// Replies after 300 ms; one request in `never` gets no reply. The run is stopped after 3.11 s.
fn interrupted(never: u64) -> Fake {
    let stop = RunControl::default();
    let switch = stop.clone();
    let server = move || {
        let (switch, mut n) = (switch.clone(), 0);
        move |now: Tick| {
            n += 1;
            if now >= Tick(3_110 * MS) {
                switch.stop();
            }
            if n % never == 0 {
                SimulatedReaction::Never
            } else {
                SimulatedReaction::Reply(200, now + ms(300))
            }
        }
    };
    Fake { stop, ..Fake::new(server) }
}

fn check_interrupted(seen: &Seen) {
    let ends = seen.run.phase_start(Phase::Grace).unwrap();
    // At the end of the interval in which the switch was set.
    let intervals = ends.nanos_since(seen.begins()) / (100 * MS);
    assert_eq!(ends, seen.begins() + ms(100 * intervals));
    assert!((32..=33).contains(&intervals), "{intervals}");
    assert!(seen.samples.iter().all(|s| s.planned <= ends));
    // Requests in flight get one second.
    let t = &seen.run.total;
    assert_eq!(seen.run.finish.as_ref().unwrap().at, ends + secs(1));
    assert!(seen.run.finish.as_ref().unwrap().interrupted);
    assert_eq!(
        (t.failed_by(Failure::Timeout), t.begun),
        (0, t.completed + t.failed_by(Failure::Cut))
    );
    assert!(t.failed_by(Failure::Cut) > 0);
    assert_eq!(
        (t.service.min(), t.service.max()),
        (300 * MS, 300 * MS),
        "no reply came before its time"
    );
}

#[test]
fn an_interrupted_run_accounts_for_all() {
    check_interrupted(&interrupted(10).run(&open(100.0, Arrivals::Poisson, secs(3600))));
    check_interrupted(&interrupted(10).run(&closed(40.0, secs(3600))));
    let think = ThinkTime { least: ms(10), most: ms(90) };
    check_interrupted(&interrupted(10).run(&thinking(
        LoadShape::constant(80.0),
        think,
        secs(3600),
    )));
    let mut plan = open(100.0, Arrivals::Even, secs(1));
    (plan.main_mut().stop.duration, plan.main_mut().stop.requests) = (None, Some(1_000_000));
    check_interrupted(&interrupted(10).run(&plan));
}

#[test]
fn an_interrupted_run_drops_waiting_arrivals() {
    let seen = interrupted(1_000_000).run(&capped(100.0, Arrivals::Poisson, 20, secs(3600)));
    check_interrupted(&seen);
    assert!(seen.run.total.failed_by(Failure::Dropped) > 0);
}

#[test]
fn a_run_stopped_before_its_load_is_marked() {
    let world = Fake::delay(ms(10));
    world.stop.stop();
    let seen = world.run(&closed(3.0, secs(10)));
    assert_eq!(seen.run.finish.unwrap().error.as_deref(), Some("stopped before the load began"));
}

/// Replies after 10 ms; the run gets a command in its fourth second.
fn told(say: impl Fn(&RunControl) + Clone + Send + Sync + 'static) -> Fake {
    let control = RunControl::default();
    let switch = control.clone();
    let server = move || {
        let (switch, say) = (switch.clone(), say.clone());
        move |now: Tick| {
            if now >= Tick(3_950 * MS) {
                say(&switch);
            }
            SimulatedReaction::Reply(200, now + ms(10))
        }
    };
    Fake { stop: control, ..Fake::new(server) }
}

#[test]
fn a_run_ended_early_ends_like_one_whose_duration_is_over() {
    for plan in [open(100.0, Arrivals::Even, secs(3600)), closed(4.0, secs(3600))] {
        let seen = told(RunControl::end).run(&plan);
        let ends = seen.run.phase_start(Phase::Grace).unwrap();
        assert!(near(ends.seconds_since(seen.begins()), 4.0, 0.03), "{ends:?}");
        assert!(!seen.run.is_interrupted());
        assert_eq!(seen.run.total.failed_by(Failure::Cut), 0);
    }
}

#[test]
fn the_measured_time_begins_at_steady_state() {
    let think = ThinkTime { least: ms(1), most: ms(9) };
    let plans = [
        open(100.0, Arrivals::Even, secs(7)),
        closed(4.0, secs(7)),
        thinking(LoadShape::constant(4.0), think, secs(7)),
    ];
    for mut plan in plans {
        (plan.main_mut().stop.warmup, plan.main_mut().stop.warmup_until_steady) = (secs(100), true);
        let seen = told(RunControl::begin_measuring).run(&plan);
        let warm =
            seen.run.phase_start(Phase::Measure).unwrap().nanos_since(seen.begins()) as f64 / 1e9;
        assert!(near(warm, 4.2, 0.03), "{warm}");
        assert_eq!(seen.run.measured_seconds(), 7.0);
        assert!(near(seen.run.total.completed as f64, seen.run.throughput() * 7.0, 0.02));
    }
}
