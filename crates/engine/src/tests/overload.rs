//! Arrivals faster than they are begun: replies come first, connections are opened only if the
//! server has all of them busy, and the run ends in time.

use super::*;

fn opened(seen: &Seen) -> u64 {
    seen.run.flow_all.opened
}

#[test]
fn available_replies_are_read_before_connections_are_opened() {
    // The server replies at once: arrivals at one instant need no more connections than requests
    // are begun between two polls.
    let seen = Fake::delay(Duration::ZERO).run(&open(10_000.0, Arrivals::Burst(5000), secs(1)));
    assert_eq!((seen.run.total.planned, seen.run.total.completed), (10_000, 10_000));
    assert!(opened(&seen) <= 65, "{}", opened(&seen));
    assert!(seen.samples.iter().all(|s| s.begun == s.planned));
}

#[test]
fn connections_are_opened_while_the_server_has_all_of_them_busy() {
    let seen = Fake::delay(ms(10)).run(&open(1000.0, Arrivals::Burst(500), secs(2)));
    assert_eq!(opened(&seen), 500);
    assert!(seen.samples.iter().all(|s| s.begun == s.planned && s.response_nanos() == 10 * MS));
}

/// Two servers of 1 ms that begin to answer after a second.
fn stalled() -> Fake {
    Fake::new(|| {
        let mut two = queue(2, || MS);
        move |now: Tick| two(now.max(Tick(SECOND)))
    })
}

#[test]
fn response_times_include_a_stall_of_the_server() {
    let plan = open(1000.0, Arrivals::Even, secs(2));
    let seen = stalled().run(&plan);
    assert!((1000..=1002).contains(&opened(&seen)), "{}", opened(&seen));
    assert_eq!(seen.run.total.lag.max(), 0);
    let expected = |n: u64| {
        recursion(&(0..=n).map(|n| (n * MS).max(SECOND)).collect::<Vec<_>>(), 2, || MS)[n as usize]
            .1
    };
    for n in [0, 400, 999, 1500] {
        assert_eq!(
            seen.samples[n as usize].last_byte.nanos_since(seen.begins()),
            expected(n),
            "{n}"
        );
    }
}

#[test]
fn connections_open_at_their_rate_during_the_load() {
    let mut plan = open(1000.0, Arrivals::Even, secs(2));
    plan.connection.connect_rate = 100;
    let seen = stalled().run(&plan);
    // One connection before the load, three at once, and one each 10 ms of the stall and the
    // recovery.
    assert!((100..=210).contains(&opened(&seen)), "{}", opened(&seen));
    assert_eq!(seen.run.total.completed, 2000);
    let opened_in = |tenth: u64| {
        let within =
            |s: &&Sample| s.opened && s.begun.nanos_since(seen.begins()) / (100 * MS) == tenth;
        seen.samples.iter().filter(within).count()
    };
    assert!((0..10).all(|tenth| (9..=13).contains(&opened_in(tenth))));
    // The delay is lag of the generator, not of the server.
    let t = &seen.run.total;
    assert_eq!((t.queue_wait.max(), t.failed_by(Failure::Dropped)), (0, 0));
    assert!(t.lag.max() > 800 * MS);
    assert!(
        t.opening_lag.sum() * 10 > t.lag.sum() * 9,
        "{} of {}",
        t.opening_lag.sum(),
        t.lag.sum()
    );
    // The server is no less busy for it: it is done at the same instant.
    let done =
        |seen: &Seen| seen.samples.iter().map(|s| s.last_byte.nanos_since(seen.begins())).max();
    assert_eq!(done(&seen), done(&stalled().run(&open(1000.0, Arrivals::Even, secs(2)))));
}

/// Each reply takes 12 µs of the worker, which carries 83,000/s.
fn costly(world: Fake) -> Fake {
    world.wire(|wire| wire.with_read_time(Duration::from_micros(12)))
}

#[test]
fn a_busy_worker_opens_no_connections_without_more_throughput() {
    for (servers, service) in [(1, 10), (1, 14), (50, 500), (50, 700)] {
        let world = costly(Fake::queue(servers, Duration::from_micros(service)));
        let mut plan = open(150_000.0, Arrivals::Poisson, secs(1));
        (plan.record.samples, plan.main_mut().stop.grace) = (false, ms(10));
        let mut with_64 = capped(150_000.0, Arrivals::Poisson, 64, secs(1));
        (with_64.record.samples, with_64.main_mut().stop.grace) = (false, ms(10));
        let (seen, with_64) = (world.run(&plan), world.run(&with_64));
        // A connection costs nothing here: several hundred are opened until the worker is known to be busy.
        let most = if servers == 1 { 256 } else { 400 };
        assert!(opened(&seen) <= most, "{servers} {service}: {}", opened(&seen));
        let share = seen.run.total.completed as f64 / with_64.run.total.completed as f64;
        assert!(share > 0.95, "{servers} {service}: {share}");
        // Nobody asked for a limit on connections, so the wait for one is the generator's.
        let t = &seen.run.total;
        assert_eq!(t.queue_wait.max(), 0, "{servers} {service}");
        assert!(t.lag.max() > ms(100).as_nanos() as u64, "{servers} {service}");
    }
}

#[test]
fn a_busy_worker_opens_the_connections_that_its_rate_needs() {
    // 60,000/s over 20 ms need 1200 connections, and 72 % of the worker.
    let mut plan = open(60_000.0, Arrivals::Poisson, secs(1));
    plan.record.samples = false;
    // The first of them are late, as they must be.
    let seen = costly(Fake::delay(ms(20))).try_run(&plan, |_| ()).unwrap();
    assert_eq!(broken(&seen.run), []);
    assert!((1200..4000).contains(&opened(&seen)), "{}", opened(&seen));
    let late = |s: &Snapshot| s.measured.lag.max().max(s.measured.queue_wait.max());
    let late: Vec<_> = seen.snapshots().filter(|s| s.phase == Phase::Measure).map(late).collect();
    assert!(late[5..].iter().all(|late| *late < 5 * MS), "{late:?}");
}

#[test]
fn opening_of_replaced_connections_is_not_paced() {
    let mut plan = open(1000.0, Arrivals::Even, secs(1));
    (plan.connection.requests_per_connection, plan.connection.connect_rate) = (Some(1), 10);
    let seen = Fake::delay(Duration::ZERO).run(&plan);
    assert_eq!((opened(&seen), seen.run.total.lag.max()), (1000, 0));
}

/// On the system's clock: a rate that no machine carries.
#[test]
fn a_run_far_behind_its_schedule_ends_on_time() {
    for connections in [None, Some(4)] {
        let mut plan = open(50_000_000.0, Arrivals::Even, ms(400));
        let Load::Open { connections: asked, .. } = &mut plan.main_mut().load else {
            unreachable!()
        };
        *asked = connections;
        (plan.main_mut().stop.grace, plan.main_mut().stop.warmup, plan.record.samples) =
            (ms(100), ms(100), false);
        let seen = Fake { epoch: RunEpoch::now(), ..Fake::delay(ms(1)) }.run(&plan);
        let (t, w) = (&seen.run.total, &seen.run.warmup);
        assert_eq!((w.planned, t.planned), (5_000_000, 20_000_000));
        assert!(t.failed_by(Failure::Dropped) > 10_000_000);
        // Half a second was asked for.
        assert!(
            seen.run.last_interval_end.nanos_since(seen.begins()) < 5 * SECOND,
            "{:?}",
            seen.run.last_interval_end
        );
    }
}
