//! Lines with the paths of Apache JMeter's client.

use super::super::fold::{Traffic, UserCounts};
use super::*;
use std::collections::BTreeMap;

fn figures() -> LiveFigures {
    let mut times = Histogram::new();
    times.record(0);
    LiveFigures {
        ok: 1,
        ok_times: times,
        traffic: Some(Traffic { hits: 1, sent: 2, received: 3 }),
        ..LiveFigures::default()
    }
}

fn lines() -> GraphiteLines {
    let sink = GraphiteSink { host: "h".into(), port: 2003, prefix: "jmeter.".into() };
    GraphiteLines::new(&sink, LabelSelection::All, vec![90.0, 99.95])
}

#[test]
fn lines_are_those_of_jmeter() {
    let named = BTreeMap::from([("GET /a.b c".to_owned(), figures())]);
    let users = UserCounts { min: 1, max: 2, mean: 2, started: 3, ended: 1 };
    let interval = LiveInterval { unix_seconds: 1000.9, all: figures(), named, users };
    let lines = lines().of(&interval);
    let of = |context: &str| {
        [
            ("ok.count", "1"),
            ("ko.count", "0"),
            ("a.count", "1"),
            ("h.count", "1"),
            ("sb.bytes", "2"),
            ("rb.bytes", "3"),
            ("ok.min", "0.0"),
            ("ok.max", "0.0"),
            ("ok.avg", "0.0"),
            ("ok.pct90", "0.0"),
            ("ok.pct99_95", "0.0"),
            ("a.min", "0.0"),
            ("a.max", "0.0"),
            ("a.avg", "0.0"),
            ("a.pct90", "0.0"),
            ("a.pct99_95", "0.0"),
        ]
        .map(|(name, value)| format!("jmeter.{context}.{name} {value} 1000"))
    };
    let mut expected: Vec<String> = of("all").into_iter().chain(of("GET-/a_b-c")).collect();
    for (name, value) in [("minAT", 1), ("maxAT", 2), ("meanAT", 2), ("startedT", 3), ("endedT", 1)]
    {
        expected.push(format!("jmeter.test.{name} {value} 1000"));
    }
    assert_eq!(lines, expected);
}

#[test]
fn two_sets_of_figures_never_share_a_second() {
    let mut lines = lines();
    let mut second = |unix_seconds| {
        let last =
            lines.of(&LiveInterval { unix_seconds, ..LiveInterval::default() }).pop().unwrap();
        last.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!([second(10.0), second(10.7), second(11.9), second(20.0)], [10, 11, 12, 20]);
}

#[test]
fn names_are_one_component_of_a_path() {
    for (name, part) in [("a b.c\\d/e", "a-b_c-d/e"), ("a\nb\tc", "a-b-c"), ("é", "é")] {
        assert_eq!(sanitized(name), part, "{name:?}");
    }
}
