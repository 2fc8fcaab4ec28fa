use super::label::percentile;
use super::*;
use brunt_stats::Histogram;
use proptest::prelude::*;

fn sample(label: &str, start: u64, elapsed: u64, code: &str) -> SampleRecord {
    SampleRecord {
        start_unix_millis: start,
        elapsed_millis: elapsed,
        label: label.into(),
        code: code.into(),
        success: code == "200",
        bytes: 2048,
        sent_bytes: 512,
        ..SampleRecord::default()
    }
}

fn of(records: &[SampleRecord]) -> Statistics {
    let mut statistics = Statistics::new(StatisticsSettings::default());
    for record in records {
        statistics.record(record);
    }
    statistics
}

#[test]
fn figures_equal_those_of_the_jmeter_dashboard() {
    let transaction = SampleRecord {
        is_transaction: true,
        message: "Number of samples in transaction : 2, number of failing samples : 1".into(),
        ..sample("both", 1000, 600, "200")
    };
    let empty = SampleRecord {
        message: "Number of samples in transaction : 0, number of failing samples : 0".into(),
        ..transaction.clone()
    };
    let failed = SampleRecord { message: "Not Found".into(), ..sample("b", 1500, 1500, "404") };
    let statistics = of(&[
        sample("a", 1000, 500, "200"),
        sample("a", 1100, 100, "200"),
        failed,
        transaction,
        empty,
    ]);
    let rows = statistics.rows();
    let labels: Vec<_> =
        rows.iter().map(|row| (row.label.as_str(), row.samples, row.failed)).collect();
    assert_eq!(labels, [("Total", 3, 1), ("a", 2, 0), ("b", 1, 1), ("both", 1, 0)]);
    let total = &rows[0];
    assert_eq!((total.mean, total.min, total.max, total.median), (700.0, 100.0, 1500.0, 500.0));
    assert_eq!((total.throughput, total.received_kb, total.sent_kb), (1.5, 3.0, 0.75));
    assert_eq!(total.failed_percent, 100.0 / 3.0);
    let apdex: Vec<_> = statistics.apdex().into_iter().map(|row| row.apdex).collect();
    assert_eq!(apdex, [2.0 / 3.0, 1.0, 0.0, 0.5]);
}

#[test]
fn the_json_equals_that_of_jmeter() {
    let expected = r#"{
  "Total" : {
    "transaction" : "Total",
    "sampleCount" : 3,
    "errorCount" : 1,
    "errorPct" : 33.333332,
    "meanResTime" : 200.0,
    "medianResTime" : 200.0,
    "minResTime" : 100.0,
    "maxResTime" : 300.0,
    "pct1ResTime" : 300.0,
    "pct2ResTime" : 300.0,
    "pct3ResTime" : 300.0,
    "throughput" : 7.5,
    "receivedKBytesPerSec" : 15.0,
    "sentKBytesPerSec" : 3.75
  },
  "say \"a\"" : {"#;
    let label = "say \"a\"";
    let json = of(&[
        sample(label, 0, 100, "200"),
        sample(label, 100, 300, "200"),
        sample(label, 0, 200, "500"),
    ])
    .to_json();
    assert!(json.starts_with(expected), "{json}");
    assert!(json.ends_with("  }\n}"), "{json}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()[label]["sampleCount"], 3);
}

/// R: quantile(c(1, 2, 3, 4, 10), c(.5, .75, .9), type = 6) is 3, 7, 10.
#[test]
fn percentiles_equal_those_of_the_jmeter_dashboard() {
    let mut times = Histogram::new();
    for time in [1, 2, 3, 4, 10] {
        times.record(time);
    }
    assert_eq!(
        [10.0, 50.0, 75.0, 90.0].map(|percent| percentile(&times, percent)),
        [1.0, 3.0, 7.0, 10.0]
    );
    assert_eq!(percentile(&Histogram::new(), 50.0), 0.0);
}

#[test]
fn errors_are_named_by_code_and_message_or_by_assertion() {
    let failed = |code: &str, message: &str, failure: Option<&str>| SampleRecord {
        success: false,
        message: message.into(),
        failure_message: failure.map(str::to_owned),
        ..sample("a", 0, 1, code)
    };
    let statistics = of(&[
        failed("404", "Not Found", None),
        failed("404", "Not Found", None),
        failed("200", "OK", Some("expected x")),
        failed("302", "", None),
        failed("", "", Some("timeout")),
        failed("503", "", None),
        failed("Non HTTP response code: java.net.SocketTimeoutException", "Read timed out", None),
        sample("b", 0, 1, "200"),
    ]);
    let rows = statistics.errors();
    let names: Vec<_> = rows.iter().map(|row| (row.error.as_str(), row.count)).collect();
    let timeout = "Non HTTP response code: java.net.SocketTimeoutException/Read timed out";
    assert_eq!(
        names,
        [
            ("404/Not Found", 2),
            ("503", 1),
            ("Assertion failed", 1),
            (timeout, 1),
            ("expected x", 1),
            ("timeout", 1)
        ]
    );
    assert_eq!((rows[0].percent_of_errors, rows[0].percent_of_samples), (200.0 / 7.0, 25.0));
    let by_label = statistics.errors_by_label();
    assert_eq!(
        by_label
            .iter()
            .map(|row| (row.label.as_str(), row.samples, row.errors))
            .collect::<Vec<_>>(),
        [("Total", 8, 7), ("a", 7, 7)]
    );
    assert_eq!(by_label[1].top.len(), 5);
}

#[test]
fn labels_beyond_the_limit_share_a_row() {
    let mut statistics =
        Statistics::new(StatisticsSettings { labels: 2, ..StatisticsSettings::default() });
    for label in ["a", "b", "c", "d", "a", "c"] {
        statistics.record(&sample(label, 0, 1, "200"));
    }
    let rows: Vec<_> = statistics.rows().into_iter().map(|row| (row.label, row.samples)).collect();
    assert_eq!(
        rows,
        [("Total", 6), ("a", 2), ("b", 1), ("other labels", 3)]
            .map(|(label, count)| (label.to_owned(), count))
    );
}

#[test]
fn kinds_of_errors_beyond_the_limit_share_a_row() {
    let records: Vec<_> = (1000..2100).map(|code| sample("a", 0, 1, &code.to_string())).collect();
    let statistics = of(&records);
    let rows = statistics.errors();
    assert_eq!((rows.len(), rows[0].error.as_str(), rows[0].count), (1001, "other errors", 100));
    assert_eq!(statistics.errors_by_label()[1].top[0], ("other errors".to_owned(), 1000));
}

proptest! {
    #[test]
    fn percentiles_follow_their_definition(mut times in prop::collection::vec(0_u64..2048, 1..60), percent in 1_u32..100) {
        let mut histogram = Histogram::new();
        for &time in &times {
            histogram.record(time);
        }
        times.sort_unstable();
        let rank = f64::from(percent) / 100.0 * (times.len() as f64 + 1.0);
        let at = |rank: f64| times[(rank as usize).clamp(1, times.len()) - 1] as f64;
        let low = at(rank.floor());
        let expected = low + (at(rank.floor() + 1.0) - low) * rank.fract();
        prop_assert!((percentile(&histogram, f64::from(percent)) - expected).abs() < 1e-9);
    }
}
