use super::until::{Decision, StopRule, goal_progress};
use super::*;
use brunt_model::goal::{Aim, Goal};
use brunt_model::{Event, Failure, Snapshot, Tick};
use std::time::Duration;

const TENTH: u64 = 100_000_000;

/// A run of points of 100 ms. Each has this many replies, with times spread evenly between 0.5
/// and 1.5 × `millis`.
fn run(points: &[(u64, f64)]) -> Run {
    let mut run = Run::default();
    run.fold(&Event::Stage { at: Tick(0), phase: Phase::Measure });
    for (i, (n, millis)) in points.iter().enumerate() {
        let from = Tick(i as u64 * TENTH);
        let mut s = Snapshot {
            from,
            to: Tick(from.0 + TENTH),
            phase: Phase::Measure,
            ..Snapshot::default()
        };
        for k in 0..*n {
            // The golden ratio gives evenly spread values, different in each point.
            let share = (0.618_033_988_75 * (k + i as u64 * 17) as f64).fract();
            s.measured.response.record((millis * 1e6 * (0.5 + share)) as u64);
        }
        (s.flow.completed, s.measured.planned, s.measured.begun) = (*n, *n, *n);
        run.fold(&Event::Snapshot(Box::new(s)));
    }
    run
}

fn wobbling(points: usize, mut millis: impl FnMut(usize) -> f64) -> Run {
    run(&(0..points).map(|i| (90 + (i as u64 * i as u64) % 21, millis(i))).collect::<Vec<_>>())
}

#[test]
fn intervals_of_a_steady_run_contain_its_figures() {
    let (steady, intervals, throughput) = figures(&wobbling(300, |_| 10.0));
    assert!(steady.unwrap().reached);
    assert_eq!(intervals.len(), QUANTILES.len());
    for interval in &intervals {
        let estimate = interval.estimate.unwrap();
        assert!(
            estimate.low <= estimate.value && estimate.value <= estimate.high.unwrap(),
            "{interval:?}"
        );
        let truth = 0.005 + 0.01 * interval.quantile;
        assert!((estimate.value - truth).abs() < 0.0005, "{interval:?}");
    }
    let throughput = throughput.unwrap();
    let truth = (0..300_u64).map(|i| 90 + i * i % 21).sum::<u64>() as f64 / 30.0;
    assert!((throughput.value - truth).abs() < 1e-6, "{throughput:?}");
    assert!(throughput.low < truth && throughput.high.unwrap() < truth * 1.05, "{throughput:?}");
}

#[test]
fn a_slow_start_is_found() {
    let steady = figures(&wobbling(300, |i| if i < 60 { 100.0 } else { 10.0 })).0.unwrap();
    assert!(steady.reached && (6.0..9.0).contains(&steady.cut.as_secs_f64()), "{steady:?}");
}

#[test]
fn a_run_that_slows_down_until_its_end_is_not_steady() {
    assert!(!figures(&wobbling(300, |i| 10.0 + i as f64 / 20.0)).0.unwrap().reached);
}

#[test]
fn a_trend_has_its_figures() {
    let rising = wobbling(300, |i| 10.0 + i as f64 / 100.0);
    let steady = figures(&rising).0.unwrap();
    assert!(!steady.reached, "{steady:?}");
    let trends = trends(&measured(&rising), &steady);
    let named: Vec<_> = trends.iter().map(|trend| trend.figure).collect();
    assert_eq!(named, [trend::TrendFigure::Response(0.5), trend::TrendFigure::Response(0.99)]);
    let p99 = trends[1];
    assert!((0.014..0.016).contains(&p99.first) && (0.0180..0.0195).contains(&p99.last), "{p99:?}");
    let even = wobbling(300, |_| 10.0);
    assert_eq!(super::trends(&measured(&even), &figures(&even).0.unwrap()), []);
}

#[test]
fn a_run_of_a_few_slow_waves_is_too_short() {
    let waves = wobbling(300, |i| if i % 100 < 50 { 10.0 } else { 30.0 });
    let p50 = &figures(&waves).1[0];
    assert!(p50.estimate.is_none() && p50.too_short.is_some(), "{p50:?}");
}

#[test]
fn a_percentile_with_too_few_samples_beyond_it_has_no_upper_bound() {
    let (_, intervals, _) = figures(&run(&[(20, 10.0); 150]));
    let p999 = intervals[5].estimate.unwrap();
    assert_eq!(p999.high, None);
    assert!(p999.low > 0.014 && intervals[4].estimate.unwrap().high.is_some());
}

#[test]
fn dropped_requests_leave_the_upper_bound_open() {
    let mut with_drops = wobbling(300, |_| 10.0);
    with_drops.total.failures[Failure::Dropped as usize] = 1000;
    let (_, intervals, _) = figures(&with_drops);
    assert!(intervals[2].estimate.unwrap().high.is_some());
    let p99 = intervals[4].estimate.unwrap();
    assert!(p99.high.is_none() && p99.low >= 0.0149, "{p99:?}");
}

#[test]
fn an_empty_run_has_no_steady_state() {
    let (steady, intervals, throughput) = figures(&Run::default());
    assert!(steady.is_none() && intervals.is_empty() && throughput.is_none());
    assert!(figures(&run(&[(0, 1.0); 100])).1.is_empty());
}

#[test]
fn all_times_in_one_bucket_are_an_interval_as_wide_as_it() {
    let mut one = run(&[]);
    for from in (0..100).map(|i| Tick(i * TENTH)) {
        let mut s = Snapshot {
            from,
            to: Tick(from.0 + TENTH),
            phase: Phase::Measure,
            ..Snapshot::default()
        };
        s.measured.response.record_n(5_000_000, 10);
        one.fold(&Event::Snapshot(Box::new(s)));
    }
    let p99 = figures(&one).1[4].estimate.unwrap();
    assert_eq!((p99.value, p99.low, p99.high), (0.005, 0.005, Some(0.005)));
}

#[test]
fn two_consecutive_narrow_intervals_end_the_run() {
    let goals = vec![
        Goal { aim: Aim::Quantile(0.5), within: 0.05 },
        Goal { aim: Aim::Throughput, within: 0.05 },
    ];
    let (short, long) = (wobbling(8, |_| 10.0), wobbling(300, |_| 10.0));
    assert!(!goal_progress(&short, &goals).is_narrow());
    let half = goal_progress(&long, &goals).goals[0].half_width.unwrap();
    assert!(half > 0.0 && half < 0.05);
    let mut looks = StopRule::new(goals, Duration::from_secs(2));
    let at = Duration::from_secs_f64;
    assert!(looks.evaluate_if_due(at(1.9), &long).is_none());
    assert!(matches!(looks.evaluate_if_due(at(2.0), &long), Some(Decision::Continue(_))));
    assert!(looks.evaluate_if_due(at(2.4), &long).is_none());
    assert!(matches!(looks.evaluate_if_due(at(2.5), &short), Some(Decision::Continue(_))));
    assert!(matches!(looks.evaluate_if_due(at(4.0), &long), Some(Decision::Continue(_))));
    assert!(looks.evaluate_if_due(at(4.9), &long).is_none());
    assert!(matches!(looks.evaluate_if_due(at(5.0), &long), Some(Decision::Done(_))));
}
