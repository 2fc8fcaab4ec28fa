use super::*;
use proptest::prelude::*;

const START: u64 = 1_709_212_000_000;

fn sample(after: u64, elapsed: u64, success: bool) -> SampleRecord {
    SampleRecord {
        start_unix_millis: START + after,
        elapsed_millis: elapsed,
        success,
        sample_count: 1,
        error_count: u32::from(!success),
        ..SampleRecord::default()
    }
}

fn summariser() -> Summariser {
    Summariser::new(SummariserSettings::default(), START)
}

const THREADS: ThreadCounts = ThreadCounts { active: 20, started: 21, finished: 1 };

/// The lines of the reference, from sums that give them.
#[test]
fn lines_equal_those_of_jmeter() {
    let mut summariser = summariser();
    summariser.delta = Sums {
        samples: 54_310,
        errors: 3,
        elapsed: 54_310 * 11 + 7,
        min: 1,
        max: 412,
        start: START,
        end: START + 30_004,
    };
    assert_eq!(
        summariser.report(START + 30_004, THREADS),
        [
            "summary +  54310 in 00:00:30 = 1810.1/s Avg:    11 Min:     1 Max:   412 Err:     3 (0.01%) Active: 20 Started: 21 Finished: 1"
        ]
    );
    summariser.delta.add(&Sums {
        samples: 53_890,
        elapsed: 53_890 * 11,
        end: START + 60_004,
        ..summariser.total.clone()
    });
    summariser.delta.errors = 0;
    let lines = summariser.report(START + 60_004, THREADS);
    assert_eq!(
        lines[1],
        "summary = 108200 in 00:01:00 = 1803.2/s Avg:    11 Min:     1 Max:   412 Err:     3 (0.00%)"
    );
}

#[test]
fn large_numbers_exceed_their_columns() {
    let mut summariser = Summariser::new(
        SummariserSettings { name: "x".into(), ..SummariserSettings::default() },
        START,
    );
    summariser.delta = Sums {
        samples: 1_234_567,
        errors: 123_456,
        elapsed: 1_234_567 * 123_456,
        min: 100_000,
        max: 1_000_000,
        start: START,
        end: START + 360_000_000,
    };
    let line = summariser.finish(START, THREADS);
    assert_eq!(
        line,
        [
            "x = 1234567 in 100:00:00 =    3.4/s Avg: 123456 Min: 100000 Max: 1000000 Err: 123456 (10.00%)"
        ]
    );
}

#[test]
fn the_end_has_a_delta_and_a_total_line_after_a_report() {
    let mut summariser = summariser();
    summariser.record(&sample(0, 100, true));
    summariser.record(&sample(1000, 201, false));
    summariser.record(&SampleRecord { is_transaction: true, ..sample(0, 9999, true) });
    let first = summariser.report(START + 2000, THREADS);
    assert_eq!(
        first,
        [
            "summary +      2 in 00:00:01 =    1.7/s Avg:   150 Min:   100 Max:   201 Err:     1 (50.00%) Active: 20 Started: 21 Finished: 1"
        ]
    );
    let mut short = summariser.clone();
    assert_eq!(
        short.finish(START + 3000, THREADS),
        [
            "summary =      2 in 00:00:03 =    0.7/s Avg:   150 Min:   100 Max:   201 Err:     1 (50.00%)"
        ]
    );
    summariser.record(&sample(2500, 500, true));
    assert_eq!(
        summariser.finish(START + 4000, THREADS),
        [
            "summary +      1 in 00:00:02 =    0.5/s Avg:   500 Min:   500 Max:   500 Err:     0 (0.00%) Active: 20 Started: 21 Finished: 1",
            "summary =      3 in 00:00:04 =    0.8/s Avg:   267 Min:   100 Max:   500 Err:     1 (33.33%)"
        ]
    );
}

#[test]
fn a_summary_without_samples_has_zeros() {
    assert_eq!(
        summariser().finish(START, THREADS),
        [
            "summary =      0 in 00:00:00 = ******/s Avg:     0 Min:     0 Max:     0 Err:     0 (0.00%)"
        ]
    );
}

#[test]
fn reports_are_aligned_to_the_clock() {
    let summariser = summariser();
    assert_eq!(summariser.next_report(START) % 30_000, 0);
    assert_eq!(summariser.next_report(30_000), 60_000);
    assert_eq!(summariser.next_report(59_999), 60_000);
}

proptest! {
    #[test]
    fn any_records_are_summarized(records in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>()), 0..20), now in any::<u64>()) {
        let mut summariser = summariser();
        for (start, elapsed, samples, errors) in records {
            let record = SampleRecord { start_unix_millis: start, elapsed_millis: elapsed, sample_count: samples, error_count: errors, ..SampleRecord::default() };
            summariser.record(&record);
        }
        prop_assert!(summariser.next_report(now) > 0);
        let lines = [summariser.report(now, THREADS), summariser.finish(now, THREADS)].concat();
        prop_assert!(lines.iter().all(|line| line.starts_with("summary ")));
    }
}
