//! Tests of repetitions: bands, differences, and excluded trials.

use super::queue::{PHP, Queue, loads};
use super::*;
use brunt_model::analysis::Band;
use brunt_model::finding::State;

/// Two contenders; the second takes longer by this factor.
fn two(repetitions: u32, longer: f64) -> Observations {
    let loads = loads(100, 540, 40);
    let php = Queue { drift: 0.02, ..PHP };
    let mut ours = php.sweep(&loads, repetitions, 1);
    let slower = Queue { service: php.service * longer, ..php };
    let theirs = slower.sweep(&loads, repetitions, 2).observations;
    ours.contenders = vec!["nginx".into(), "Apache".into()];
    ours.observations.extend(theirs.into_iter().map(|o| Observation { contender: 1, ..o }));
    ours
}

#[test]
fn fewer_than_six_repetitions_have_a_range_and_six_an_interval() {
    for (repetitions, band) in [(2, Band::Range), (5, Band::Range), (6, Band::Repetitions)] {
        let analysis = analyse(&PHP.sweep(&loads(100, 540, 40), repetitions, 3));
        let php = &analysis.contenders[0];
        assert!(
            php.curve
                .iter()
                .all(|point| point.achieved.band == band && point.trials == repetitions)
        );
        for limit in php.limits.iter().filter_map(|limit| limit.at) {
            assert!(
                limit.band == band && limit.low <= limit.value && limit.value <= limit.high,
                "{limit:?}"
            );
        }
        assert_eq!(said(&analysis, "few_repetitions").is_empty(), repetitions == 6);
    }
}

#[test]
fn a_single_run_has_an_interval_if_it_is_long_enough() {
    let short = analyse(&PHP.sweep(&loads(100, 540, 40), 1, 3));
    let long = analyse(&Queue { seconds: 20.0, ..PHP }.sweep(&loads(100, 540, 40), 1, 3));
    let band = |analysis: &Analysis| at(&analysis.contenders[0], LimitKind::Saturation).band;
    assert_eq!([band(&short), band(&long)], [Band::One, Band::WithinRun]);
    let point = &long.contenders[0].curve[5];
    assert!(
        point.achieved.band == Band::WithinRun && point.achieved.low < point.achieved.value,
        "{point:?}"
    );
    assert!(point.mean.unwrap().high > point.mean.unwrap().value);
}

#[test]
fn six_repetitions_each_can_differ_but_three_cannot() {
    let analysis = analyse(&two(3, 1.1));
    assert_eq!(said(&analysis, "difference"), Vec::<&str>::new());
    assert_eq!(
        said(&analysis, "undecided"),
        [
            "Undecided: the difference of the saturation points of nginx and Apache: 3 repetitions are too few."
        ]
    );
    let analysis = analyse(&two(6, 1.1));
    let [difference] = said(&analysis, "difference")[..] else { panic!() };
    assert!(
        difference.starts_with("nginx saturates at 39") && difference.contains("they differ by"),
        "{difference}"
    );
    let analysis = analyse(&two(6, 1.0));
    let [difference] = said(&analysis, "difference")[..] else { panic!() };
    assert!(difference.contains("no significant difference"), "{difference}");
}

#[test]
fn interrupted_and_invalid_trials_are_excluded() {
    let whole = analyse(&PHP.sweep(&loads(100, 540, 40), 2, 4));
    let mut seen = PHP.sweep(&loads(100, 540, 40), 2, 4);
    for (load, achieved) in [(460.0, 3.0), (500.0, f64::NAN)] {
        let cut = achieved > 0.0;
        let verdict = (!cut).then_some(State::Invalid);
        seen.observations.push(Observation {
            load,
            achieved,
            cut_short: cut,
            verdict,
            ..Observation::default()
        });
    }
    let analysis = analyse(&seen);
    assert_eq!(analysis.contenders, whole.contenders);
    let [cut, invalid] = said(&analysis, "trials_left_out")[..] else {
        panic!("{:?}", analysis.findings)
    };
    assert!(cut.contains("php at 460/s") && invalid.contains("php at 500/s"), "{cut} {invalid}");
}

#[test]
fn loads_limited_by_the_generator_are_reported() {
    let mut seen = PHP.sweep(&loads(100, 540, 40), 1, 4);
    seen.observations
        .iter_mut()
        .filter(|o| o.load > 450.0)
        .for_each(|o| o.verdict = Some(State::Limited));
    let analysis = analyse(&seen);
    let [limited] = said(&analysis, "generator_limited")[..] else { panic!() };
    assert!(
        limited.contains("3 of 12 trials (php at 460/s, php at 500/s and php at 540/s)"),
        "{limited}"
    );
}

#[test]
fn disturbed_trials_show_no_limit_of_the_server() {
    let mut seen = PHP.sweep(&loads(100, 540, 40), 1, 4);
    assert!(!said(&analyse(&seen), "capacity").is_empty());
    for observation in &mut seen.observations {
        observation.verdict = Some(State::BusyMachine);
    }
    let analysis = analyse(&seen);
    assert_eq!(said(&analysis, "capacity"), Vec::<&str>::new());
    // A busy machine makes no server better: at 380/s, 99 % are achieved.
    assert_eq!(said(&analysis, "no_limit"), ["php: no limit up to 380/s."]);
    for observation in &mut seen.observations {
        observation.achieved /= 2.0;
        observation.good = None;
    }
    let analysis = analyse(&seen);
    assert_eq!(said(&analysis, "no_limit"), Vec::<&str>::new());
    assert_eq!(
        said(&analysis, "undecided"),
        [
            "Undecided: the limits of php, since something else than the server changed the figures of 12 of 12 trials."
        ]
    );
}

#[test]
fn a_rate_limiter_saturates_at_its_limit() {
    let step = |load: f64| {
        let good = load.min(300.0);
        Observation {
            load,
            offered: Some(load),
            achieved: load,
            good: Some(good),
            errors: Some(1.0 - good / load),
            mean: Some(0.001),
            ..Observation::default()
        }
    };
    let mut seen = open(&["limiter"], (1..=7).map(|n| step(f64::from(n) * 100.0)).collect());
    let quiet = analyse(&seen);
    assert_eq!(
        said(&quiet, "capacity"),
        [
            "limiter: goodput saturates at 300/s, errors < 1% holds up to 300/s and 57.1 % of the requests fail at 700/s."
        ]
    );
    // A reply that the server itself refuses is no work of a busy machine.
    for observation in &mut seen.observations {
        observation.verdict = Some(State::BusyMachine);
    }
    assert_eq!(
        said(&analyse(&seen), "capacity"),
        ["limiter: errors < 1% holds up to 300/s and 57.1 % of the requests fail at 700/s."]
    );
}

#[test]
fn an_outlying_repetition_is_named() {
    let mut seen = PHP.sweep(&loads(100, 540, 40), 4, 5);
    let odd = seen.observations.iter_mut().find(|o| o.load == 260.0 && o.repetition == 2).unwrap();
    odd.achieved *= 0.7;
    let outliers = analyse(&seen).contenders[0].outliers.clone();
    let [outlier] = &outliers[..] else { panic!("{outliers:?}") };
    assert_eq!((outlier.load, outlier.repetition), (260.0, Some(2)));
    assert!(outlier.sentence.contains("in repetition 3 at 260/s"), "{}", outlier.sentence);
}

#[test]
fn decreasing_throughput_under_overload_is_reported() {
    let mut seen = PHP.sweep(&loads(100, 740, 40), 1, 5);
    seen.observations
        .iter_mut()
        .filter(|o| o.load > 500.0)
        .for_each(|o| o.achieved *= 300.0 / (o.load - 100.0));
    let analysis = analyse(&seen);
    assert!(said(&analysis, "throughput_falls")[0].contains("740/s"), "{:?}", analysis.findings);
    assert_eq!(analysis.contenders[0].outliers, []);
}
