//! The expected counts are those of ab 2.4.71, measured with servers that behave like this.

use super::*;
use brunt_model::Outcome;

fn reply(status: u16, body: u64) -> Sample {
    let outcome = Outcome { status: Some(status), failure: None, expected: true };
    Sample { outcome, bytes_received: 40 + body, head_bytes: 40, ..Sample::default() }
}

fn failed(failure: Failure, body: u64) -> Sample {
    let head = if body > 0 { 40 } else { 0 };
    let outcome = Outcome::failed(failure);
    Sample { outcome, bytes_received: head + body, head_bytes: head, ..Sample::default() }
}

/// Counts done, failed, receive, length, exceptions, non-2xx, document length.
fn counted(rules: FailureRules, samples: &[Sample]) -> [u64; 7] {
    let mut classic = AbReport::new(rules, 10);
    for sample in samples {
        classic.take(sample).unwrap();
    }
    let AbReport {
        completed,
        failed,
        receive_errors,
        length_errors,
        exceptions,
        non_2xx,
        document_length,
        ..
    } = classic;
    [completed, failed, receive_errors, length_errors, exceptions, non_2xx, document_length]
}

const SURVIVE: FailureRules = FailureRules { survive: true, any_length: false };

#[test]
fn lengths_are_compared_with_the_first_reply() {
    let bodies = [1, 2, 3, 1, 2, 3].map(|n| reply(if n == 2 { 500 } else { 200 }, n));
    assert_eq!(counted(FailureRules::default(), &bodies), [6, 4, 0, 4, 0, 2, 1]);
    assert_eq!(
        counted(FailureRules { any_length: true, ..FailureRules::default() }, &bodies),
        [6, 0, 0, 0, 0, 2, 1]
    );
}

#[test]
fn a_reset_counts_up_to_three_times() {
    let some =
        [0, 1, 0, 1, 0, 1].map(|n| if n == 1 { failed(Failure::Reset, 0) } else { reply(200, 5) });
    // The reset after the first good reply sets the length again.
    assert_eq!(counted(SURVIVE, &some), [6, 8, 3, 2, 3, 0, 0]);
    let cut =
        [0, 1, 0, 1, 0, 1].map(|n| if n == 1 { failed(Failure::Reset, 2) } else { reply(200, 5) });
    assert_eq!(counted(SURVIVE, &cut), [6, 8, 3, 2, 3, 0, 2]);
    assert_eq!(counted(SURVIVE, &[failed(Failure::Reset, 0); 6]), [6, 12, 6, 0, 6, 0, 0]);
}

#[test]
fn refused_connections_come_in_pairs() {
    for (n, failed_, receive, exceptions) in
        [(1, 3, 2, 1), (3, 6, 4, 2), (4, 6, 4, 2), (6, 9, 6, 3)]
    {
        let all = vec![failed(Failure::Refused, 0); n];
        assert_eq!(counted(SURVIVE, &all), [n as u64, failed_, receive, 0, exceptions, 0, 0]);
    }
}

#[test]
fn replies_that_end_early_are_complete_requests() {
    assert_eq!(
        counted(FailureRules::default(), &[failed(Failure::ClosedEarly, 0); 6]),
        [6, 0, 0, 0, 0, 0, 0]
    );
    let some = [5, 3, 5, 3, 5, 3]
        .map(|n| if n == 5 { reply(200, 5) } else { failed(Failure::ClosedEarly, 3) });
    assert_eq!(counted(FailureRules::default(), &some), [6, 3, 0, 3, 0, 0, 5]);
    assert_eq!(
        counted(FailureRules::default(), &[failed(Failure::Tls, 0); 4]),
        [4, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(counted(FailureRules::default(), &[failed(Failure::Cut, 0); 4]), [0; 7]);
}

#[test]
fn without_r_the_first_error_ends_the_test() {
    let ends =
        |failure| AbReport::new(FailureRules::default(), 1).take(&failed(failure, 0)).unwrap_err();
    assert_eq!(ends(Failure::Refused).text, "apr_socket_recv: Connection refused (111)\n");
    assert_eq!(ends(Failure::Reset).number, 104);
    assert_eq!(ends(Failure::FdsExhausted).text, "socket: Too many open files (24)\n");
}

#[test]
fn the_test_aborts_after_ten_failed_connections() {
    let mut classic = AbReport::new(SURVIVE, 20);
    let sample = failed(Failure::PortsExhausted, 0);
    assert!((0..10).all(|_| classic.take(&sample).is_ok()));
    let fatal = classic.take(&sample).unwrap_err();
    assert!(
        fatal
            .text
            .starts_with("\nTest aborted after 10 failures\n\napr_socket_connect(): Cannot assign")
    );
    assert_eq!((fatal.number, classic.completed, classic.connect_errors), (99, 0, 11));
}
