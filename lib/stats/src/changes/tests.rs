//! Simulated series: how often a change is found that does not exist, and that exists.

use super::noise::normal;
use super::*;
use rand::RngExt as _;
use std::fmt::Write;

const LEVEL: f64 = 0.05;

/// A kind of noise, by name.
struct Law {
    name: &'static str,
    series: fn(usize, &mut Pcg64Mcg) -> Vec<f64>,
    /// Stated maximum share of series with a false change.
    limit: f64,
}

const LAWS: [Law; 8] = [
    Law { name: "normal", series: normals, limit: LEVEL },
    Law { name: "t, 2 degrees of freedom", series: heavy, limit: LEVEL },
    Law { name: "lognormal", series: skewed, limit: LEVEL },
    Law { name: "3 % outliers of 12 sigma", series: with_outliers, limit: LEVEL },
    Law { name: "rounded to sigma", series: rounded, limit: LEVEL },
    Law { name: "spread doubles at half", series: spreading, limit: LEVEL },
    Law {
        name: "autocorrelation 0.2",
        series: |n, random| correlated(n, 0.2, random),
        limit: 0.12,
    },
    Law {
        name: "autocorrelation 0.6",
        series: |n, random| correlated(n, 0.6, random),
        limit: 0.27,
    },
];

fn normals(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    (0..n).map(|_| normal(random)).collect()
}

fn heavy(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    let radius = |random: &mut Pcg64Mcg| (-(1.0 - random.random::<f64>()).ln()).sqrt();
    (0..n).map(|_| normal(random) / radius(random)).collect()
}

fn skewed(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    normals(n, random).into_iter().map(f64::exp).collect()
}

fn with_outliers(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    let values = normals(n, random);
    values.into_iter().map(|v| if random.random::<f64>() < 0.03 { v + 12.0 } else { v }).collect()
}

fn rounded(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    normals(n, random).into_iter().map(f64::round).collect()
}

fn spreading(n: usize, random: &mut Pcg64Mcg) -> Vec<f64> {
    let values = normals(n, random).into_iter().enumerate();
    values.map(|(i, v)| if i < n / 2 { v } else { 2.0 * v }).collect()
}

fn correlated(n: usize, rho: f64, random: &mut Pcg64Mcg) -> Vec<f64> {
    let mut state = normal(random);
    let mut values = Vec::with_capacity(n);
    for _ in 0..n {
        values.push(state);
        state = rho * state + (1.0 - rho * rho).sqrt() * normal(random);
    }
    values
}

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

#[test]
fn series_without_a_change_rarely_have_one() {
    const SERIES: usize = 150;
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for law in LAWS {
        let mut line = format!("{:26}", law.name);
        for n in [8, 12, 20, 50, 150] {
            let series = (0..SERIES).map(|_| (law.series)(n, &mut random));
            let changed = series
                .filter(|values| !change_points(values, LEVEL).unwrap().points.is_empty())
                .count();
            write!(line, "  n={n} {:.3}", share(changed, SERIES)).unwrap();
            // Three standard deviations above the stated share.
            let deviation = (law.limit * (1.0 - law.limit) / SERIES as f64).sqrt();
            assert!(share(changed, SERIES) <= law.limit + 3.0 * deviation, "{line}");
        }
        println!("{line}");
    }
}

/// Results of series with changes at known places.
struct Power {
    found: f64,
    /// Of those that were found: at most one value from its place.
    near: f64,
    /// Intervals of the relative change that contain the truth.
    covered: f64,
    /// Series with more changes than there are.
    excess: f64,
}

fn power(n: usize, changes: &[usize], levels: &[f64], random: &mut Pcg64Mcg) -> Power {
    const SERIES: usize = 40;
    let (mut found, mut near, mut covered, mut excess) = (0, 0, 0, 0);
    for _ in 0..SERIES {
        let values = normals(n, random).into_iter().enumerate().map(|(i, noise)| {
            let level = levels[changes.iter().filter(|change| i >= **change).count()];
            // Noise of 2 %, as of a quiet server.
            (0.02 * (noise + level)).exp()
        });
        let values: Vec<f64> = values.collect();
        let points = change_points(&values, LEVEL).unwrap().points;
        excess += usize::from(points.len() > changes.len());
        if points.len() < changes.len() {
            continue;
        }
        found += 1;
        let distance = |change: &usize| points.iter().map(|p| p.index.abs_diff(*change)).min();
        near += usize::from(changes.iter().all(|change| distance(change).unwrap() <= 1));
        let first = &points[0];
        let end = points.get(1).map_or(n, |next| next.index);
        let relative =
            relative_change(&values[..first.index], &values[first.index..end], 0.0).unwrap();
        let truth = (0.02 * (levels[1] - levels[0])).exp_m1();
        let below = relative.low.is_none_or(|low| low <= truth);
        covered += usize::from(below && relative.high.is_none_or(|high| high >= truth));
    }
    Power {
        found: share(found, SERIES),
        near: share(near, found.max(1)),
        covered: share(covered, found.max(1)),
        excess: share(excess, SERIES),
    }
}

#[test]
fn changes_are_found_at_their_place() {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    for n in [10, 20, 50, 150] {
        for sigma in [1.0, 2.0, 5.0] {
            let half = power(n, &[n / 2], &[0.0, sigma], &mut random);
            let late = power(n, &[n - 5], &[0.0, sigma], &mut random);
            let steps = power(n, &[n / 3, 2 * n / 3], &[0.0, sigma, 2.0 * sigma], &mut random);
            let excursion = power(n, &[n / 3, 2 * n / 3], &[0.0, sigma, 0.0], &mut random);
            println!(
                "n={n} {sigma} sigma: half {:.2} (place ±1 {:.2}, interval {:.2}, excess {:.2}), \
                 last 5 {:.2}, two steps {:.2}, excursion {:.2}",
                half.found,
                half.near,
                half.covered,
                half.excess,
                late.found,
                steps.found,
                excursion.found
            );
            assert!(half.excess <= 0.15 && half.near >= 0.3);
            if n >= 50 && sigma >= 2.0 {
                assert!(half.found >= 0.9 && excursion.found >= 0.6 && half.covered >= 0.85);
            }
            if n == 10 && sigma == 5.0 {
                assert!(half.found >= 0.9);
            }
        }
    }
}

#[test]
fn short_series_have_no_answer_and_constant_ones_no_change() {
    assert_eq!(change_points(&[1.0; MIN_VALUES - 1], LEVEL), None);
    let constant = change_points(&[1.0; 40], LEVEL).unwrap();
    assert_eq!((constant.points.len(), constant.autocorrelation), (0, 0.0));
}

#[test]
fn the_same_series_has_the_same_changes() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let values: Vec<f64> = normals(40, &mut random)
        .into_iter()
        .enumerate()
        .map(|(i, v)| v + (i / 20) as f64 * 3.0)
        .collect();
    let first = change_points(&values, LEVEL).unwrap();
    assert_eq!(first.points.len(), 1);
    assert_eq!(change_points(&values, LEVEL).unwrap(), first);
    // Ranks do not depend on the unit.
    let scaled: Vec<f64> = values.iter().map(|v| 1e-3 * v).collect();
    assert_eq!(change_points(&scaled, LEVEL).unwrap().points, first.points);
}

#[test]
fn the_clearest_split_is_that_of_pettitt() {
    // The statistic of 1, 2, 3 | 4, 5, 6, 7 by hand: (−6)² / (3 · 4).
    let ranks = centered_ranks(&[0.1, 0.2, 0.3, 10.0, 11.0, 12.0, 13.0]);
    assert_eq!(ranks, [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
    let split = clearest_split(&ranks).unwrap();
    assert_eq!((split.first, split.statistic), (3, 3.0));
    assert_eq!(centered_ranks(&[5.0, 1.0, 5.0]), [0.5, -1.0, 0.5]);
}

#[test]
fn the_relative_change_is_the_median_ratio() {
    let before = [100.0, 101.0, 99.0, 100.0, 100.5];
    let after = before.map(|value| value * 1.1);
    let change = relative_change(&before, &after, 0.0).unwrap();
    assert!((change.value - 0.1).abs() < 1e-3, "{change:?}");
    assert!(change.low.unwrap() < 0.1 && change.high.unwrap() > 0.1);
    // Noise with memory carries less information.
    let wider = relative_change(&before, &after, 0.5).unwrap();
    assert!(wider.low.unwrap_or(f64::NEG_INFINITY) <= change.low.unwrap());
    assert_eq!(relative_change(&before[..3], &after[..3], 0.0).unwrap().low, None);
    assert_eq!(relative_change(&[0.0], &[1.0], 0.0), None);
}
