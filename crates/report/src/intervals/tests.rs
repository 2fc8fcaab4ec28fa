use super::*;
use brunt_model::{Event, Snapshot};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Parts of an interval: width, replies, errors, response times in µs, requests in flight.
#[derive(Debug, Clone)]
struct Recorded {
    millis: u64,
    completed: u64,
    errors: u64,
    micros: Vec<u64>,
    in_flight: u64,
}

fn any_interval() -> impl Strategy<Value = Recorded> {
    let micros = prop::collection::vec(1u64..5_000_000, 0..4);
    (50u64..2_000, 0u64..1_000, 0u64..50, micros, 0u64..300).prop_map(
        |(millis, completed, errors, micros, in_flight)| Recorded {
            millis,
            completed,
            errors,
            micros,
            in_flight,
        },
    )
}

fn run_of(all: &[Recorded], warmup: usize) -> Run {
    let mut at = Tick::ZERO;
    let mut events = Vec::new();
    for (i, interval) in all.iter().enumerate() {
        let phase = if i < warmup { Phase::Warmup } else { Phase::Measure };
        if i == warmup {
            events.push(Event::Stage { at, phase });
        }
        let to = Tick(at.0 + interval.millis * MS);
        let mut snapshot = Snapshot { from: at, to, phase, ..Snapshot::default() };
        snapshot.flow.completed = interval.completed;
        snapshot.flow.errors = interval.errors;
        snapshot.flow.in_flight = interval.in_flight;
        interval.micros.iter().for_each(|micros| snapshot.measured.response.record(micros * 1_000));
        events.push(Event::Snapshot(snapshot.into()));
        at = to;
    }
    Run::of(&events)
}

fn sums(points: &[SeriesPoint]) -> (u64, u64, u64, u64) {
    let sum = |of: fn(&SeriesPoint) -> u64| points.iter().map(of).sum();
    let max = points.iter().map(|point| point.response.max()).max().unwrap_or(0);
    (sum(|p| p.flow.completed), sum(|p| p.flow.errors), sum(|p| p.response.count()), max)
}

proptest! {
    #[test]
    fn merging_keeps_every_sum(all in prop::collection::vec(any_interval(), 0..900), warmup in 0usize..300) {
        let run = run_of(&all, warmup);
        let before: Vec<SeriesPoint> = run.series.points().collect();
        let merged = of_run(&run);
        prop_assert_eq!(sums(&merged.points), sums(&before));
        // Warm-up and measured time may share an interval, and the first and the last may be cut.
        prop_assert!(merged.points.len() <= MOST_POINTS + 3, "{}", merged.points.len());
        prop_assert_eq!(merged.width.is_some(), recorded(&run).len() > MOST_POINTS);
        prop_assert!(merged.points.windows(2).all(|pair| pair[0].to == pair[1].from));
        let mut whole = brunt_stats::Sketch::default();
        for point in &before {
            whole.merge(&point.response);
        }
        let mut again = brunt_stats::Sketch::default();
        for point in &merged.points {
            again.merge(&point.response);
        }
        prop_assert_eq!(whole, again);
    }

    #[test]
    fn a_merged_rate_is_the_mean_over_the_time(all in prop::collection::vec((0.01f64..3.0, 0.0f64..1e6), 0..1500)) {
        let mut at = -7.0;
        let spans: Vec<ValueSpan> = all.iter().map(|(seconds, value)| {
            let span = ValueSpan { from: at, to: at + seconds, value: *value };
            at += seconds;
            span
        }).collect();
        let merged = of_spans(&spans);
        prop_assert!(merged.points.len() <= MOST_POINTS + 2);
        let highest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let before = highest(&mut spans.iter().map(|span| span.value));
        let after = highest(&mut merged.points.iter().map(|point| point.high.or(point.y).unwrap()));
        prop_assert_eq!(before, after);
        let Some(width) = merged.width else {
            prop_assert_eq!(merged.points.len(), spans.len());
            return Ok(());
        };
        // The area below the line stays the same.
        let seconds = |n: i64| spans.iter().filter(|s| number(s.at(), width) == n).map(|s| s.to - s.from).sum::<f64>();
        let after: f64 = merged.points.iter().map(|p| p.y.unwrap() * seconds(number(p.x, width))).sum();
        let before: f64 = spans.iter().map(|span| span.value * (span.to - span.from)).sum();
        prop_assert!((after / before - 1.0).abs() < 1e-9, "{after} {before}");
    }
}

#[test]
fn an_hour_and_a_day_have_round_widths() {
    assert_eq!(width_of(3_600, 3_600.0), Some(20.0));
    assert_eq!(width_of(86_400, 86_400.0), Some(600.0));
    assert_eq!(width_of(300, 30.0), Some(0.2));
    assert_eq!(width_of(200, 3_600.0), None);
    assert_eq!(width_of(4_000, 400.0 * DAY), Some(2.0 * DAY));
}

#[test]
fn intervals_with_too_few_replies_are_wider() {
    let all: Vec<Recorded> = (0..60)
        .map(|i| Recorded {
            millis: 1_000,
            completed: 12,
            errors: 0,
            micros: vec![i + 1; 12],
            in_flight: 0,
        })
        .collect();
    let merged = with_responses(&run_of(&all, 0), 100).unwrap();
    assert_eq!((merged.width, merged.points.len()), (Some(10.0), 6));
    assert!(merged.points.iter().all(|point| point.response.count() == 120));
    assert!(with_responses(&run_of(&all[..20], 0), 100).is_none());
    assert_eq!(with_responses(&run_of(&all, 0), 12).map(|merged| merged.width), Some(None));
}

#[test]
fn a_short_last_interval_is_merged_with_its_neighbor() {
    let of = |millis: u64, completed: u64| Recorded {
        millis,
        completed,
        errors: 0,
        micros: Vec::new(),
        in_flight: 0,
    };
    // Before the measured time 3 ms, and 20 ms of grace at its end.
    let run = run_of(&[of(3, 0), of(1_000, 100), of(1_000, 100), of(20, 7)], 1);
    let points = recorded(&run);
    let flows: Vec<(Phase, u64)> =
        points.iter().map(|point| (point.phase, point.flow.completed)).collect();
    assert_eq!(flows, [(Phase::Measure, 100), (Phase::Measure, 107)]);
    // The rest is as long as a recorded interval, and shorter than merged ones.
    let mut all = vec![of(100, 10); 400];
    all.push(of(100, 30));
    let merged = of_run(&run_of(&all, 0));
    assert_eq!((merged.width, merged.points.len()), (Some(0.5), 80));
    assert_eq!(merged.points.last().map(|point| point.flow.completed), Some(80));
}
