//! Tests loads: numbers of requests, rates, durations, users, and waiting times.

use crate::world::machine::retry_under_steal_time;
use crate::world::{command, lab, measure, start};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn exactly_the_requested_number_of_requests_is_sent() {
    retry_under_steal_time("load::exactly_the_requested_number_of_requests_is_sent", || {
        let lab = lab("");
        for n in [1, 7, 500] {
            assert_eq!(
                measure(&format!("{} -c 5 -n {n}", lab.url_of("/")))
                    .assert_all_good()
                    .count("planned"),
                n
            );
            assert_eq!(
                measure(&format!("{} -r 2000 -n {n}", lab.url_of("/")))
                    .assert_all_good()
                    .count("planned"),
                n
            );
        }
    });
}

#[test]
fn even_arrivals_match_the_rate() {
    let lab = lab("");
    for (load, planned) in [
        ("-r 200 -d 1s", 200),
        ("-r 50.5 -d 2s", 101),
        ("-r 100/1s,300/500ms", 250),
        ("-r 0..200/1s", 100),
    ] {
        let ran = measure(&format!("{} {load} --arrivals even", lab.url_of("/"))).assert_all_good();
        assert!(ran.count("planned").abs_diff(planned) <= 1, "{load}: {}", ran.count("planned"));
    }
}

#[test]
fn a_rate_below_one_is_possible() {
    let lab = lab("");
    let ran =
        measure(&format!("{} -r 0.8 --arrivals even -d 3s", lab.url_of("/"))).assert_all_good();
    assert!((2..=3).contains(&ran.count("planned")), "{}", ran.count("planned"));
}

#[test]
fn arrivals_come_in_bursts() {
    let lab = lab("");
    let ran =
        measure(&format!("{} -r 100 --arrivals burst:25 -d 1s --interval 20ms", lab.url_of("/")))
            .assert_all_good();
    assert_eq!(ran.count("planned"), 100);
    let series = ran.value("/series").as_array().expect("a series");
    let planned: Vec<_> =
        series.iter().filter_map(|i| i["planned"].as_u64()).filter(|n| *n > 0).collect();
    assert!(planned.iter().all(|n| n % 25 == 0), "{planned:?}");
}

#[test]
fn a_seed_repeats_the_arrivals() {
    let lab = lab("");
    let once = planned_per_interval(&lab, 7);
    let again = planned_per_interval(&lab, 7);
    let other = planned_per_interval(&lab, 8);
    assert_eq!(once.iter().sum::<u64>(), again.iter().sum::<u64>());
    assert_ne!(once, other);
}

fn planned_per_interval(lab: &crate::world::Lab, seed: u32) -> Vec<u64> {
    let ran = measure(&format!("{} -r 400 -d 1s --seed {seed}", lab.url_of("/"))).assert_all_good();
    let series = ran.value("/series").as_array().expect("a series").clone();
    series
        .iter()
        .filter(|i| i["phase"] == "measure")
        .filter_map(|i| i["planned"].as_u64())
        .collect::<Vec<_>>()
}

#[test]
fn waiting_for_a_connection_is_queue_wait_and_no_lag() {
    // Two connections of 40 ms each can send 50/s; the rate is 150/s.
    let lab = lab("--service const:40ms");
    let ran =
        measure(&format!("{} -r 150 -c 2 -d 1s --grace 10s", lab.url_of("/"))).assert_all_good();
    assert_eq!(ran.connections("opened"), 2);
    assert!(ran.connections("peak") <= 2);
    let [response, service, wait, lag] = ["response_time", "service_time", "queue_wait", "lag"]
        .map(|t| ran.figure(&format!("/{t}_seconds/mean")));
    assert!(wait > 0.3, "two thirds of the arrivals wait for a second and more: {wait}");
    assert!(
        (response - (wait + lag + service)).abs() < 0.05 * response,
        "{response} {wait} {lag} {service}"
    );
    assert!(lag < wait / 10.0, "{lag} {wait}");
    assert_eq!(lab.into_statistics()["connections"]["peak"], 2);
}

#[test]
fn arrivals_that_wait_too_long_are_dropped_and_reported() {
    let lab = lab("--service const:100ms");
    let ran = measure(&format!("{} -r 200 -c 1 -d 1s --grace 100ms", lab.url_of("/"))).ok();
    assert!(ran.count("dropped") > 100, "{}", ran.count("dropped"));
    assert!(ran.number("/response_time_seconds/censored") >= ran.count("dropped"));
    assert!(
        ran.value("/response_time_seconds/at_least")
            .as_array()
            .is_some_and(|keys| keys.contains(&"p99".into()))
    );
    ran.assert_text(&["dropped", "≥", "lower --rate"]);
}

#[test]
fn arrivals_beyond_max_in_flight_are_dropped() {
    let lab = lab("--service const:300ms");
    let ran =
        measure(&format!("{} -r 100 --arrivals even --max-in-flight 5 -d 1s", lab.url_of("/")))
            .ok();
    assert_eq!(ran.count("planned"), 100);
    assert!(ran.count("dropped") >= 70, "{}", ran.count("dropped"));
    assert!(ran.connections("peak") <= 5);
}

#[test]
fn one_and_two_threads_serve_one_queue() {
    let lab = lab("--service const:20ms");
    for threads in [1, 2] {
        let ran = measure(&format!(
            "{} -r 100 --arrivals even -c 4 -d 1s --threads {threads}",
            lab.url_of("/")
        ))
        .assert_all_good();
        assert_eq!(ran.number("/generator/threads"), threads);
        assert_eq!(ran.count("planned"), 100);
        assert_eq!(ran.connections("opened"), 4, "{threads} threads");
    }
}

#[test]
fn thinking_users_send_fewer_requests() {
    let lab = lab("");
    let ran =
        measure(&format!("{} -c 3 --think 100ms..200ms -d 1s", lab.url_of("/"))).assert_all_good();
    assert!((3..=33).contains(&ran.count("planned")), "{}", ran.count("planned"));
    ran.assert_text(&["think"]);
}

#[test]
fn the_warm_up_is_counted_separately() {
    let lab = lab("");
    let ran = measure(&format!("{} -r 100 --arrivals even --warmup 500ms -d 1s", lab.url_of("/")))
        .assert_all_good();
    let warm = |kind: &str| ran.number(&format!("/warmup/requests/{kind}"));
    assert_eq!((warm("planned"), ran.count("planned")), (50, 100));
    let received = lab.into_statistics()["requests"]["received"].as_u64();
    assert_eq!(received, Some(warm("begun") + ran.count("begun")));
}

#[test]
fn users_follow_the_stages() {
    retry_under_steal_time("load::users_follow_the_stages", || {
        let lab = lab("--service const:5ms");
        let ran = measure(&format!("{} -c 1..5/1s,5..0/500ms", lab.url_of("/"))).assert_all_good();
        // The last of five users stops when fewer than one is planned. That ends the load after 1.4
        // of 1.5 s.
        let measured = ran.figure("/measured_seconds");
        assert!((1.4..=1.5).contains(&measured), "{measured}");
        let series = ran.value("/series").as_array().expect("a series");
        assert!(
            open_connections(series, 1) < 4 && ran.connections("peak") == 5,
            "{} then {}",
            open_connections(series, 1),
            ran.connections("peak")
        );
    });
}

fn open_connections(series: &[Value], i: usize) -> u64 {
    series[i]["connections"].as_u64().expect("a number")
}

#[test]
fn requests_in_flight_at_the_end_are_finished_or_cut() {
    retry_under_steal_time("load::requests_in_flight_at_the_end_are_finished_or_cut", || {
        let lab = lab("--service const:2s");
        let finished =
            measure(&format!("{} -c 2 -d 500ms --grace 20s", lab.url_of("/"))).assert_all_good();
        assert_eq!(finished.count("completed"), 2);
        let cut = measure(&format!("{} -c 2 -d 3s --grace 50ms", lab.url_of("/"))).ok();
        assert_eq!((cut.count("completed"), cut.count("cut")), (2, 2));
        cut.assert_text(&["cut off 2", "a longer --grace lets them finish"]);
    });
}

#[test]
fn steps_and_transactions_can_have_objectives() {
    let lab = lab("--fail 50%:503 --seed 3");
    let dir = TempDir::new().expect("a directory");
    let bounds = r#"['errors of start < 1%', 'errors of pay < 1%', 'errors of "buy, pay" > 30%', errors < 40%]"#;
    let run = start(&mut command(&format!("run {}", write_plan(&dir, &lab, bounds).display())))
        .finish_unchecked()
        .assert_code(4);
    let met: Vec<bool> = (0..4)
        .map(|n| run.value(&format!("/trials/0/objectives/{n}/met")) == &Value::Bool(true))
        .collect();
    assert_eq!(met, [true, false, true, true], "{}", run.out);
    let errors = |name: &str| run.figure(&format!("/trials/0/objectives/{name}/value"));
    // Half of the requests of `pay` fail, so a quarter of all do.
    assert!(
        (errors("1") - errors("2")).abs() < 1e-9 && (errors("3") * 2.0 - errors("1")).abs() < 0.02,
        "{}",
        run.out
    );
    let unknown =
        command(&format!("plan check {}", write_plan(&dir, &lab, "[p99 of home < 1s]").display()))
            .output()
            .expect("brunt");
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        error.contains(
            "no step or transaction is called `home`; write one of `start`, `pay`, `buy, pay`"
        ),
        "{error}"
    );
}

fn write_plan(dir: &TempDir, lab: &crate::world::Lab, objectives: &str) -> std::path::PathBuf {
    let file = dir.path().join("plan.yaml");
    let steps = format!(
        "scenario:\n  steps:\n  - {{get: '{url}', name: start, check: {{status: '200,503'}}}}\n  \
             - {{transaction: 'buy, pay', steps: [{{get: '{url}', name: pay}}]}}\n",
        url = lab.url_of("/")
    );
    fs::write(
        &file,
        format!("{steps}objectives: {objectives}\nload: {{users: 2, requests: 200}}\n"),
    )
    .expect("a plan");
    file
}

#[test]
fn objectives_decide_the_exit_code() {
    let lab = lab("--fail 5%:503");
    let met = measure_with_objectives(&lab, "p99<20s,errors<50%").assert_code(0);
    assert_eq!(met.value("/objectives/0/met"), true);
    let missed = measure_with_objectives(&lab, "p50<20s,errors<0.1%").assert_code(4);
    assert_eq!(
        (missed.value("/objectives/0/met"), missed.value("/objectives/1/met")),
        (&true.into(), &false.into())
    );
    assert!(missed.figure("/objectives/1/value") > 0.001);
    missed.assert_text(&["errors < 0.1"]);
}

fn measure_with_objectives(lab: &crate::world::Lab, bounds: &str) -> crate::world::BruntOutput {
    measure(&format!("{} -c 2 -n 400 --objective {bounds}", lab.url_of("/")))
}
