use super::*;
use brunt_model::Outcome;
use brunt_model::sample::ConnectTimes;

fn at(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

/// A reply in iteration `n`, with start and end in milliseconds.
fn reply(n: u64, from: u64, to: u64, reused: bool) -> Sample {
    Sample {
        planned: at(from),
        begun: at(from),
        sent: at(from),
        first_byte: at(to),
        last_byte: at(to),
        opened: !reused,
        reused,
        opening: ConnectTimes { connect: (!reused).then_some(0), ..ConnectTimes::default() },
        bytes_sent: 62,
        bytes_received: 245,
        head_bytes: 235,
        body_bytes: 10,
        outcome: Outcome { status: Some(200), failure: None, expected: true },
        iteration: n,
        ..Sample::default()
    }
}

fn failed(sample: Sample, failure: Failure) -> Sample {
    Sample {
        outcome: Outcome::failed(failure),
        bytes_received: 0,
        head_bytes: 0,
        body_bytes: 0,
        ..sample
    }
}

fn counts(rules: CountRules) -> HttperfCounts {
    HttperfCounts::new(rules, &Windows::of_client(0, 1))
}

/// httperf's counts for two connections of three calls, if the server closes after one reply: 4
/// requests, 2 replies, 2 resets.
#[test]
fn a_connection_that_the_server_closes_is_one_error() {
    let mut counts = counts(CountRules { lengths: vec![3], ..CountRules::default() });
    for n in 0..2 {
        counts.add(&reply(n, n * 10, n * 10 + 1, false));
        counts.add(&failed(reply(n, n * 10 + 1, n * 10 + 2, true), Failure::Stale));
    }
    counts.finish();
    assert_eq!(
        (counts.connections.len(), counts.requests, counts.replies, counts.errors.reset),
        (2, 4, 2, 2)
    );
    assert_eq!(counts.errors.total(), 2);
}

/// httperf's counts for two sessions of three calls and the same server: 6 connections, 10
/// requests, 6 replies, 4 resets.
#[test]
fn a_session_continues_on_another_connection() {
    let mut counts =
        counts(CountRules { has_sessions: true, lengths: vec![3], ..CountRules::default() });
    for n in 0..2 {
        (0..3).for_each(|k| counts.add(&reply(n, k * 5, k * 5 + 2, false)));
    }
    counts.finish();
    assert_eq!(
        (counts.connections.len(), counts.requests, counts.replies, counts.errors.reset),
        (6, 10, 6, 4)
    );
    let sessions = &counts.sessions;
    assert_eq!(
        (sessions.good, sessions.connections, &sessions.lengths[..]),
        (2, 6, &[0, 0, 0, 2][..])
    );
}

/// httperf's counts for a session of six calls in one burst, if the server closes after two
/// replies: 3 connections, 12 requests, 2 resets.
#[test]
fn a_broken_burst_resumes_after_its_last_reply() {
    let mut counts = counts(CountRules {
        has_sessions: true,
        lengths: vec![6],
        is_pipelined: true,
        ..CountRules::default()
    });
    counts.add(&reply(0, 0, 1, false));
    for k in 0..5 {
        // All are scheduled at one instant. The second and the fourth find the connection closed.
        let fresh = k == 1 || k == 3;
        counts.add(&Sample { planned: at(1), ..reply(0, 2 + k, 3 + k, !fresh) });
    }
    counts.finish();
    assert_eq!((counts.connections.len(), counts.requests, counts.errors.reset), (3, 12, 2));
    assert_eq!(counts.sessions.good, 1);
}

#[test]
fn errors_are_counted_by_kind() {
    let limits = Some((Duration::from_millis(100), Duration::from_millis(200)));
    let mut counts = counts(CountRules { limits, ..CountRules::default() });
    let kinds = [
        (Failure::Refused, 1),
        (Failure::FdsExhausted, 1),
        (Failure::PortsExhausted, 1),
        (Failure::ConnectTimeout, 100),
        (Failure::ConnectTimeout, 50),
        (Failure::Timeout, 200),
        (Failure::Tls, 1),
        (Failure::Cut, 1),
    ];
    for (n, (failure, took)) in kinds.into_iter().enumerate() {
        let sample = Sample { opened: false, bytes_sent: 0, ..reply(n as u64, 0, took, false) };
        counts.add(&failed(sample, failure));
    }
    let told = Errors {
        client_timeout: 2,
        socket_timeout: 1,
        refused: 1,
        reset: 0,
        descriptors: 1,
        ports: 1,
        other: 1,
    };
    assert_eq!((counts.errors, counts.connections.len(), counts.requests), (told, 7, 0));
}

#[test]
fn rates_are_counted_in_complete_windows() {
    let mut windows = Windows::of_client(0, 2);
    windows.begin(at(1000));
    for ms in [1100, 3400, 3600, 8400, 8600] {
        windows.count(at(ms));
    }
    // The first window is half as long. The third is incomplete.
    assert_eq!(windows.rates(at(9000)), [2.0 / 2.5, 2.0 / 5.0]);
    assert_eq!(windows.rates(at(3000)), [0.0; 0]);
    let spread = WindowSpread::of(&[1.0, 3.0]);
    assert_eq!((spread.min, spread.avg, spread.max, spread.samples), (1.0, 2.0, 3.0, 2));
    assert!((spread.stddev - 2.0_f64.sqrt()).abs() < 1e-12);
}
