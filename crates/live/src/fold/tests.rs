//! Tests the interval and the figures of known samples in known snapshots.

use super::*;
use brunt_model::{Outcome, Sample};

const MS: u64 = 1_000_000;

/// A sample with this response time in milliseconds.
fn sample(outcome: Outcome, millis: u64) -> Sample {
    Sample {
        first_byte: Tick(millis * MS),
        last_byte: Tick(millis * MS),
        bytes_sent: 10,
        bytes_received: 100,
        outcome,
        ..Sample::default()
    }
}

fn good() -> Outcome {
    Outcome { status: Some(200), failure: None, expected: true }
}

fn bad() -> Outcome {
    Outcome { status: Some(500), failure: None, expected: false }
}

/// A snapshot that ends `to` milliseconds after the beginning, with these samples by label.
fn snapshot(to: u64, users: u64, samples: &[(u32, Sample)]) -> Event {
    let mut snapshot = Snapshot { to: Tick(to * MS), ..Snapshot::default() };
    for (label, sample) in samples {
        snapshot.label(*label).record(sample);
        snapshot.measured.record(sample);
    }
    snapshot.flow.users = users;
    Event::Snapshot(Box::new(snapshot))
}

fn label(id: u32, name: &str) -> Event {
    Event::Label { id, name: name.into(), hop_of: None }
}

fn intervals_of(fold: &mut Fold, events: &[Event]) -> Vec<LiveInterval> {
    events.iter().filter_map(|event| fold.add(event)).collect()
}

fn finished() -> Event {
    Event::Finished(brunt_model::Finish { at: Tick::ZERO, interrupted: false, error: None })
}

#[test]
fn each_sample_is_in_one_interval() {
    let mut fold = Fold::new(Duration::from_secs(1));
    let mut events = vec![label(0, "a"), label(1, "b")];
    // Snapshots of 300 ms: an interval ends with the first snapshot after its planned end.
    events.extend(
        (1..=10).map(|n| snapshot(n * 300, 2, &[(0, sample(good(), 5)), (1, sample(bad(), n))])),
    );
    events.push(finished());
    let intervals = intervals_of(&mut fold, &events);
    let counts: Vec<u64> = intervals.iter().map(|interval| interval.all.count()).collect();
    assert_eq!(counts, [8, 6, 6]);
    let ends: Vec<f64> = intervals.iter().map(|interval| interval.unix_seconds).collect();
    assert_eq!(ends, [1.2, 2.1, 3.0]);
    for interval in &intervals {
        let named: Vec<(&str, u64, u64)> = interval
            .named
            .iter()
            .map(|(name, figures)| (name.as_str(), figures.ok, figures.ko))
            .collect();
        let half = interval.all.count() / 2;
        assert_eq!(named, [("a", half, 0), ("b", 0, half)]);
    }
    assert!(fold.add(&finished()).is_none(), "nothing came since");
}

#[test]
fn figures_of_an_interval_are_those_of_its_samples() {
    let mut fold = Fold::new(Duration::from_secs(1));
    let refused = sample(Outcome::failed(Failure::Refused), 1);
    let late = sample(Outcome::failed(Failure::Timeout), 900);
    let samples = [sample(good(), 10), sample(good(), 30), sample(bad(), 50), refused, late]
        .map(|one| (0, one));
    let interval =
        intervals_of(&mut fold, &[label(0, "only"), snapshot(1000, 3, &samples)]).remove(0);
    let figures = &interval.all;
    assert_eq!((figures.ok, figures.ko, figures.count()), (2, 3, 5));
    assert_eq!(figures.traffic, Some(Traffic { hits: 5, sent: 50, received: 500 }));
    let about = |nanos: u64, millis: u64| (nanos as f64 / (millis * MS) as f64 - 1.0).abs() < 0.002;
    assert!(about(figures.ok_times.min(), 10) && about(figures.ok_times.max(), 30), "{figures:?}");
    assert!(about(figures.ko_times.min(), 1) && about(figures.ko_times.max(), 900), "{figures:?}");
    assert_eq!(figures.times().count(), 5);
    let errors: Vec<(&str, u64)> =
        figures.errors.iter().map(|(code, _, count)| (code.as_str(), *count)).collect();
    assert_eq!(errors, [("refused", 1), ("timeout", 1), ("500", 1)]);
    assert_eq!(figures.errors[2].1, "Internal Server Error");
    assert_eq!(interval.named.keys().collect::<Vec<_>>(), ["only"]);
}

#[test]
fn a_single_label_has_the_figures_of_the_total() {
    // Snapshots of a run with one label have no figures by label.
    let mut measured = Tally { begun: 1, ..Tally::default() };
    measured.record(&sample(good(), 4));
    let snapshot = Event::Snapshot(Box::new(Snapshot {
        to: Tick(1000 * MS),
        measured,
        ..Snapshot::default()
    }));
    let mut fold = Fold::new(Duration::from_secs(1));
    let interval = intervals_of(&mut fold, &[label(0, "/"), snapshot]).remove(0);
    assert_eq!(interval.named["/"], interval.all);
}

#[test]
fn expected_statuses_are_no_errors() {
    let expected = Outcome { status: Some(404), failure: None, expected: true };
    let mut fold = Fold::new(Duration::from_secs(1));
    let samples = [(0, sample(expected, 1)), (0, sample(bad(), 1))];
    let interval = intervals_of(&mut fold, &[label(0, "/"), snapshot(1000, 1, &samples)]).remove(0);
    assert_eq!(interval.all.errors, [("500".into(), "Internal Server Error".into(), 1)]);
    // An expected status is no cause, even if the reply failed a check.
    let checked = Outcome { status: Some(404), failure: Some(Failure::Check), expected: true };
    let failed = Outcome { failure: Some(Failure::Check), ..good() };
    let samples = [(0, sample(checked, 1)), (0, sample(failed, 1)), (0, sample(good(), 1))];
    let interval = intervals_of(&mut fold, &[snapshot(2000, 1, &samples)]).remove(0);
    let errors: Vec<(&str, u64)> =
        interval.all.errors.iter().map(|(code, _, count)| (code.as_str(), *count)).collect();
    assert_eq!(errors, [("check", 2)]);
}

#[test]
fn transactions_are_separate_from_requests() {
    let mut transactions = BTreeMap::new();
    let mut tally = TransactionTally { started: 3, ..TransactionTally::default() };
    tally.end(brunt_model::transaction::TransactionEnd::Succeeded, 7 * MS);
    tally.end(brunt_model::transaction::TransactionEnd::Failed, 9 * MS);
    transactions.insert("order".to_owned(), tally);
    let snapshot = Snapshot { to: Tick(1000 * MS), transactions, ..Snapshot::default() };
    let interval = intervals_of(
        &mut Fold::new(Duration::from_secs(1)),
        &[Event::Snapshot(Box::new(snapshot))],
    )
    .remove(0);
    let order = &interval.named["order"];
    assert_eq!((order.ok, order.ko, order.traffic, interval.all.count()), (1, 1, None, 0));
    assert!(order.ok_times.max() < order.ko_times.min());
}

#[test]
fn users_are_counted_over_all_runs_of_a_test() {
    let mut fold = Fold::new(Duration::from_secs(1));
    let run = [2, 5, 4].map(|users| snapshot(400 * users, users, &[]));
    let first = intervals_of(&mut fold, &[snapshot(400, 2, &[]), run[1].clone(), run[2].clone()]);
    assert_eq!(first[0].users, UserCounts { min: 2, max: 5, mean: 4, started: 5, ended: 0 });
    intervals_of(&mut fold, &[finished()]);
    let started = Event::Started {
        plan: Box::new(brunt_generator::exchange::plan()),
        environment: Box::default(),
        unix_seconds: 100.0,
    };
    let second = intervals_of(&mut fold, &[started, snapshot(1000, 3, &[]), finished()]);
    assert_eq!(second[0].users, UserCounts { min: 3, max: 3, mean: 3, started: 8, ended: 5 });
    assert_eq!(second[0].unix_seconds, 101.0);
}
