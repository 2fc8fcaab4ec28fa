//! Tests on E1: nginx and Apache in front of php-fpm, measured with autobench and httperf in 2010;
//! one value for each step.

use super::*;

/// Offered load per second; achieved throughput of nginx and Apache; mean response times of nginx
/// and Apache in ms.
const TABLE: [(f64, f64, f64, f64, f64); 20] = [
    (5.0, 5.0, 5.0, 36.0, 36.3),
    (10.0, 10.0, 10.0, 33.0, 31.7),
    (15.0, 15.0, 15.0, 35.6, 31.9),
    (20.0, 19.9, 19.9, 36.8, 32.3),
    (25.0, 25.0, 25.0, 42.6, 36.2),
    (30.0, 29.8, 29.7, 45.1, 67.6),
    (35.0, 34.3, 32.4, 115.5, 248.5),
    (40.0, 35.5, 34.9, 396.8, 427.3),
    (45.0, 35.3, 33.4, 699.0, 865.8),
    (50.0, 35.7, 30.5, 962.3, 1394.0),
    (55.0, 35.5, 33.3, 1103.9, 1354.7),
    (60.0, 35.7, 32.9, 1269.2, 1471.3),
    (65.0, 34.9, 33.5, 1445.8, 1573.6),
    (70.0, 37.6, 29.7, 1458.0, 2049.5),
    (75.0, 37.2, 35.9, 1610.1, 1496.8),
    (80.0, 23.9, 31.2, 1588.2, 1993.3),
    (85.0, 24.7, 33.2, 1674.9, 1880.2),
    (90.0, 37.1, 34.5, 1838.6, 1946.0),
    (95.0, 35.0, 30.3, 2027.4, 2387.2),
    (100.0, 35.3, 36.4, 1996.3, 1904.5),
];

fn table() -> Observations {
    let row = |contender: usize, load: f64, achieved: f64, millis: f64| Observation {
        contender,
        load,
        offered: Some(load),
        achieved,
        mean: Some(millis / 1e3),
        ..Observation::default()
    };
    let rows = TABLE.iter().flat_map(|t| [row(0, t.0, t.1, t.3), row(1, t.0, t.2, t.4)]);
    open(&["nginx", "Apache"], rows.collect())
}

#[test]
fn knee_and_saturation_equal_those_of_the_author() {
    let analysis = analyse(&table());
    let [nginx, apache] = &analysis.contenders[..] else { panic!() };
    for contender in [nginx, apache] {
        assert!(
            (25.0..=35.0).contains(&at(contender, LimitKind::Knee).value),
            "{:?}",
            contender.limits
        );
        assert_eq!(at(contender, LimitKind::Kept).value, 30.0);
        assert_eq!(limit(contender, LimitKind::Knee).robust, Some(true));
    }
    let (nginx, apache) =
        (at(nginx, LimitKind::Saturation).value, at(apache, LimitKind::Saturation).value);
    assert!((34.5..=36.5).contains(&nginx) && (32.0..=34.5).contains(&apache), "{nginx} {apache}");
}

#[test]
fn two_steps_of_nginx_are_outliers_and_none_of_apache() {
    let analysis = analyse(&table());
    let loads: Vec<f64> =
        analysis.contenders[0].outliers.iter().map(|outlier| outlier.load).collect();
    assert_eq!(loads, [80.0, 85.0]);
    assert_eq!(analysis.contenders[1].outliers, []);
    let [outliers] = said(&analysis, "outliers")[..] else { panic!("{:?}", analysis.findings) };
    assert!(
        outliers.contains("23.9/s") && outliers.ends_with("The others: nginx at 85/s."),
        "{outliers}"
    );
}

#[test]
fn with_one_value_per_step_no_difference_can_be_tested() {
    let analysis = analyse(&table());
    assert_eq!(said(&analysis, "difference"), Vec::<&str>::new());
    let undecided = analysis.conclusions.iter().find(|one| one.rule == "undecided").unwrap();
    assert_eq!(undecided.remedy.as_deref(), Some("measure each at least 4 times"));
    assert!(!said(&analysis, "few_repetitions").is_empty());
}

#[test]
fn conclusions_and_findings_have_this_wording() {
    let analysis = analyse(&table());
    let all = analysis.conclusions.iter().chain(&analysis.findings);
    let told: Vec<&str> = all.map(|finding| &finding.sentence[..]).collect();
    assert_eq!(
        told,
        [
            "nginx: throughput saturates at 35.5/s and the response time bends at 30/s.",
            "Apache: throughput saturates at 33.0/s and the response time bends at 25/s.",
            "Undecided: the difference of the saturation points of nginx and Apache: 1 repetition is too few.",
            "2 outliers. nginx: at 80/s the throughput was 23.9/s, where its neighbours have 37.1/s. Measure this step \
             again. The others: nginx at 85/s.",
            "One repetition shows no variation between runs; a 95 % CI needs 6.",
        ]
    );
}
