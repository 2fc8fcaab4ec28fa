//! Property tests on arbitrary observations: no panic, no invalid figure, bands in order.

use super::*;
use brunt_model::analysis::{ObservedQuantile, SecondOfTrial};
use brunt_model::objective::{Metric, Relation};
use brunt_model::{LoadUnit, Objective};
use proptest::prelude::*;
use std::time::Duration;

fn seconds() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![Just(None), Just(Some(0.0)), (1e-6f64..1e3).prop_map(Some)]
}

fn block() -> impl Strategy<Value = SecondOfTrial> {
    (0u64..1000, 0u64..1000, seconds(), seconds()).prop_map(|(planned, completed, mean, p99)| {
        SecondOfTrial { seconds: 1.0, planned, completed, mean, p99 }
    })
}

fn observation() -> impl Strategy<Value = Observation> {
    let blocks = prop_oneof![Just(0usize), Just(12usize)]
        .prop_flat_map(|n| prop::collection::vec(block(), n));
    let rates = (prop_oneof![Just(0.0), 0.0f64..1e6], prop::option::of(0.0f64..1e4));
    (
        0usize..2,
        0u32..7,
        0u32..8,
        rates,
        seconds(),
        seconds(),
        blocks,
        prop::option::of(any::<bool>()),
    )
        .prop_map(
            |(contender, repetition, load, (achieved, offered), mean, p99, blocks, met)| {
                Observation {
                    contender,
                    repetition,
                    load: f64::from(load) * 10.0,
                    offered,
                    achieved,
                    mean,
                    quantiles: p99
                        .into_iter()
                        .map(|seconds| ObservedQuantile {
                            quantile: 0.99,
                            seconds,
                            at_least: false,
                        })
                        .collect(),
                    objectives: vec![met],
                    blocks,
                    ..Observation::default()
                }
            },
        )
}

fn unit() -> impl Strategy<Value = LoadUnit> {
    prop_oneof![
        Just(LoadUnit::PerSecond),
        Just(LoadUnit::Users { think: None }),
        Just(LoadUnit::Users { think: Some(Duration::ZERO) }),
        Just(LoadUnit::Users { think: Some(Duration::from_secs(1)) }),
    ]
}

/// Texts of values that are no numbers.
fn is_sound(analysis: &Analysis) {
    let text = format!("{analysis:?}");
    assert!(!text.contains("NaN") && !text.contains(": inf") && !text.contains(": -inf"), "{text}");
    for limit in analysis.contenders.iter().flat_map(|contender| &contender.limits) {
        assert!(limit.at.is_none_or(|at| at.low <= at.value && at.value <= at.high), "{limit:?}");
        assert!(limit.how.ends_with('.'), "{limit:?}");
    }
    analysis.contenders.iter().for_each(no_contradiction);
    no_contradiction_in_words(analysis);
}

/// The conclusions on a contender agree with its limits.
fn no_contradiction_in_words(analysis: &Analysis) {
    for contender in &analysis.contenders {
        let is_found =
            |kind| contender.limits.iter().any(|limit| limit.kind == kind && limit.at.is_some());
        let own = format!("{}: ", contender.contender);
        for sentence in
            said(analysis, "capacity").into_iter().filter(|sentence| sentence.starts_with(&own))
        {
            assert_eq!(
                sentence.contains("saturates at"),
                is_found(LimitKind::Saturation),
                "{sentence}: {contender:?}"
            );
            assert_eq!(
                sentence.contains("bends at"),
                is_found(LimitKind::Knee),
                "{sentence}: {contender:?}"
            );
        }
        let is_any = is_found(LimitKind::Saturation) || is_found(LimitKind::Knee);
        let without_limit = said(analysis, "no_limit");
        let finds_nothing = without_limit.iter().any(|sentence| sentence.starts_with(&own));
        assert!(!(finds_nothing && is_any), "{contender:?}");
    }
    for sentence in said(analysis, "difference") {
        let both =
            analysis.contenders.iter().all(|contender| sentence.contains(&contender.contender));
        assert!(both && !sentence.contains("NaN"), "{sentence}");
    }
}

/// A saturation point below a measured throughput is a contradiction.
fn no_contradiction(contender: &ContenderAnalysis) {
    let most = contender.curve.iter().map(|point| point.achieved.value).fold(0.0, f64::max);
    let saturation = contender.limits.iter().find(|limit| limit.kind == LimitKind::Saturation);
    if let Some(at) = saturation.and_then(|limit| limit.at) {
        assert!(at.value >= 0.799 * most, "saturates at {} where {most} was measured", at.value);
    }
}

#[test]
fn the_saturation_throughput_is_not_below_a_single_measurement() {
    let achieved = [38_678.0, 13_100.0, 13_400.0, 13_228.0, 13_228.0, 13_000.0];
    let step = |(index, achieved): (usize, f64)| {
        let load = 40_000.0 * (index + 1) as f64;
        Observation {
            load,
            offered: Some(load),
            achieved,
            mean: Some(0.01),
            ..Observation::default()
        }
    };
    let analysis = analyse(&open(&["a"], achieved.into_iter().enumerate().map(step).collect()));
    is_sound(&analysis);
    let answer = &said(&analysis, "capacity")[0];
    assert!(answer.contains("throughput peaks at 38,678/s at 40,000/s"), "{answer}");
    assert!(!answer.contains("saturates"), "{answer}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_observations_give_finite_figures(observations in prop::collection::vec(observation(), 0..60), unit in unit()) {
        let objective = Objective { metric: Metric::Quantile(0.99), step: None, relation: Relation::Below, bound: 3.0 };
        let seen = Observations { unit, objectives: vec![objective], ..open(&["a", "b"], observations) };
        is_sound(&analyse(&seen));
    }
}

#[test]
fn values_that_are_not_numbers_are_excluded() {
    let odd = |load: f64, achieved: f64| Observation {
        load,
        achieved,
        mean: Some(f64::NAN),
        ..Observation::default()
    };
    is_sound(&analyse(&open(
        &["a"],
        vec![odd(1.0, f64::NAN), odd(f64::INFINITY, 1.0), odd(2.0, 2.0)],
    )));
    is_sound(&analyse(&open(&[], Vec::new())));
    is_sound(&analyse(&open(&["a"], Vec::new())));
}

#[test]
fn a_sweep_of_one_step_has_one_point_and_no_limits() {
    let one = Observation {
        load: 100.0,
        offered: Some(100.0),
        achieved: 100.0,
        mean: Some(0.01),
        ..Observation::default()
    };
    let analysis = analyse(&open(&["a"], vec![one]));
    assert_eq!(analysis.contenders[0].curve.len(), 1);
    let kinds: Vec<LimitKind> =
        analysis.contenders[0].limits.iter().map(|limit| limit.kind).collect();
    assert_eq!(kinds, [LimitKind::Kept]);
    assert_eq!(said(&analysis, "few_loads"), Vec::<&str>::new());
}

#[test]
fn a_flat_response_time_has_no_knee() {
    let step = |i: u32| {
        let load = f64::from(i) * 10.0;
        let mean = Some(0.01 * (1.0 + 0.1 * f64::from(i * i % 7)));
        Observation { load, offered: Some(load), achieved: load, mean, ..Observation::default() }
    };
    let analysis = analyse(&open(&["a"], (1..30).map(step).collect()));
    let knee = limit(&analysis.contenders[0], LimitKind::Knee);
    assert!(knee.at.is_none() && knee.how.starts_with("Not reached"), "{knee:?}");
}
