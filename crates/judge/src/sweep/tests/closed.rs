//! Tests of sweeps over users: users with think time, by mean value analysis; the scalability law;
//! the idle users of E5.

use super::*;
use brunt_model::analysis::{Band, SecondOfTrial};
use brunt_stats::usl::ScalabilityLaw;
use proptest::prelude::*;
use std::time::Duration;

fn users(think: f64, observations: Vec<Observation>) -> Observations {
    Observations {
        unit: LoadUnit::Users { think: Some(Duration::from_secs_f64(think)) },
        ..open(&["one"], observations)
    }
}

/// One exponential server, and users with think time: mean value analysis (Reiser & Lavenberg,
/// J. ACM 27, 1980).
fn interactive(service: f64, think: f64, loads: &[f64]) -> Observations {
    let mut observations = Vec::new();
    let mut queue = 0.0;
    for n in 1..=loads.iter().fold(1.0_f64, |a, b| a.max(*b)) as u32 {
        let response = service * (1.0 + queue);
        let achieved = f64::from(n) / (response + think);
        queue = achieved * response;
        if loads.contains(&f64::from(n)) {
            observations.push(Observation {
                load: f64::from(n),
                achieved,
                mean: Some(response),
                ..Observation::default()
            });
        }
    }
    users(think, observations)
}

fn doubling(to: u32) -> Vec<f64> {
    (0..20).map(|i| f64::from(1_u32 << i)).take_while(|n| *n <= f64::from(to)).collect()
}

#[test]
fn asymptotes_with_think_time_cross_as_the_formula_predicts() {
    // 10 ms of service and 0.9 s of think time: 100/s, and N* = (0.01 + 0.9) / 0.01 = 91.
    let analysis = analyse(&interactive(0.01, 0.9, &doubling(1024)));
    let one = &analysis.contenders[0];
    assert!((at(one, LimitKind::Saturation).value / 100.0 - 1.0).abs() < 0.03, "{:?}", one.limits);
    assert!((at(one, LimitKind::Asymptotes).value / 91.0 - 1.0).abs() < 0.03, "{:?}", one.limits);
    assert_eq!(at(one, LimitKind::Knee).value, 64.0);
    assert!(limit(one, LimitKind::Knee).how.contains("and of the load"));
    assert!(one.limits.iter().all(|limit| limit.kind != LimitKind::Kept));
    assert_eq!((one.scalability.as_ref(), &one.outliers[..]), (None, &[][..]));
}

#[test]
fn think_time_is_reported() {
    // E5: 500 to 2000 users, about half a second of pause, 15 ms of response time: 3 of
    // 2000 wait at a time.
    let step = |load: f64, achieved: f64| Observation {
        load,
        achieved,
        mean: Some(0.015),
        ..Observation::default()
    };
    let analysis =
        analyse(&users(0.5, vec![step(500.0, 487.0), step(1000.0, 706.0), step(2000.0, 212.0)]));
    let [sleeping] = said(&analysis, "idle_users")[..] else { panic!("{:?}", analysis.findings) };
    assert!(sleeping.contains("of 2,000 users, 3.18 at a time"), "{sleeping}");
    // The others waited for replies that never came.
    let waiting = |trial: Observation| Observation { waiting_users: Some(trial.load), ..trial };
    let stalled = users(0.5, [500.0, 1000.0].map(|load| waiting(step(load, 5.0))).to_vec());
    assert_eq!(said(&analyse(&stalled), "idle_users"), Vec::<&str>::new());
    assert!(!said(&analysis, "few_loads").is_empty());
}

/// A sweep that follows a law, with noise in its blocks and over repetitions.
fn law(law: ScalabilityLaw, repetitions: u32, noise: f64) -> Observations {
    let at = |n: f64, repetition: u32| {
        let wave = |i: u32| noise * (f64::from(i * i % 7) / 3.0 - 1.0);
        let achieved = law.at(n) * (1.0 + wave(repetition + n as u32));
        let block = |i: u32| SecondOfTrial {
            seconds: 1.0,
            completed: (achieved * (1.0 + wave(i))) as u64,
            ..SecondOfTrial::default()
        };
        Observation {
            load: n,
            repetition,
            achieved,
            blocks: (0..20).map(block).collect(),
            ..Observation::default()
        }
    };
    let steps = doubling(256).into_iter().flat_map(|n| (0..repetitions).map(move |r| (n, r)));
    users(0.0, steps.map(|(n, r)| at(n, r)).collect())
}

#[test]
fn a_scalability_law_is_fitted_with_its_peak() {
    let truth = ScalabilityLaw { lambda: 1000.0, sigma: 0.03, kappa: 0.0005 };
    let analysis = analyse(&law(truth, 6, 0.01));
    let fit = analysis.contenders[0].scalability.as_ref().unwrap();
    assert!((fit.sigma.low..=fit.sigma.high).contains(&0.03), "{fit:?}");
    assert!(
        fit.kappa.band == Band::Repetitions && (fit.kappa.value / 0.0005 - 1.0).abs() < 0.2,
        "{fit:?}"
    );
    assert!(
        (fit.peak.unwrap().value / truth.peak().unwrap() - 1.0).abs() < 0.1 && fit.r_squared > 0.99
    );
    assert!(fit.caution.contains("its peak lies within"), "{}", fit.caution);
}

#[test]
fn a_scalability_law_without_a_certain_peak_is_not_extrapolated() {
    let straight = ScalabilityLaw { lambda: 1000.0, sigma: 0.05, kappa: 0.0 };
    for repetitions in [1, 3, 6] {
        let analysis = analyse(&law(straight, repetitions, 0.02));
        let fit = analysis.contenders[0].scalability.as_ref().unwrap();
        assert!(fit.caution.contains("Do not extrapolate"), "{fit:?}");
        assert!(fit.peak.is_none_or(|peak| peak.high > 256.0), "{fit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_interactive_system_has_its_asymptotes(service in 0.002f64..0.1, star in 8.0f64..100.0) {
        let think = service * (star - 1.0);
        let analysis = analyse(&interactive(service, think, &doubling(1024)));
        let one = &analysis.contenders[0];
        prop_assert!((at(one, LimitKind::Saturation).value * service - 1.0).abs() < 0.03);
        prop_assert!((at(one, LimitKind::Asymptotes).value / star - 1.0).abs() < 0.05);
        let knee = at(one, LimitKind::Knee).value;
        prop_assert!(knee >= star / 4.0 && knee <= star * 2.0, "{} {}", knee, star);
        prop_assert_eq!(&one.outliers[..], &[]);
    }
}
