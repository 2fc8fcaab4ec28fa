//! Tests the decisions of a run about itself: consistency checks, intervals, its end and its
//! beginning.

use crate::world::machine::retry_under_steal_time;
use crate::world::server::ServerProcess;
use crate::world::{lab, measure};
use serde_json::Value;
use std::process::{Command, Stdio};

#[test]
fn sound_runs_are_never_invalid() {
    let rounds = if std::env::var_os("BRUNT_PROVE").is_some() { 10 } else { 1 };
    let server = lab("--service exp:2ms --fail 1%:503 --fail 1%:reset");
    let loads = [
        "-c 8 -d 1s",
        "-c 3 --think 5ms..20ms -d 1s --warmup 300ms",
        "-r 300 -d 1s",
        "-r 200 -c 4 -d 1s --arrivals even",
        "-r 100..400/1s --no-keepalive",
    ];
    for load in (0..rounds).flat_map(|_| loads) {
        let ran = measure(&format!("{} {load}", server.url_of("/"))).assert_code(0);
        assert_eq!(ran.failed_checks(), [], "{load}");
        assert_ne!(ran.value("/verdict/state"), "invalid", "{load}");
    }
}

/// Starts a loop that uses a core, for a minute of CPU time at most. It ends when this value is
/// dropped.
fn start_busy_loop() -> ServerProcess {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t 60; while :; do :; done"]).stdin(Stdio::null());
    ServerProcess::start(&mut command)
}

#[test]
fn short_sound_runs_are_never_invalid() {
    let rounds = if std::env::var_os("BRUNT_PROVE").is_some() { 50 } else { 5 };
    let server = lab("");
    let loads = ["-r 60 -d 300ms", "-r 5000 -d 300ms", "-r 20000 -d 300ms", "-X HEAD -c 16 -d 1s"];
    for round in 0..rounds {
        let _others: Vec<ServerProcess> =
            (0..2).filter(|_| round % 2 == 0).map(|_| start_busy_loop()).collect();
        for load in loads {
            let ran = measure(&format!("{} {load}", server.url_of("/"))).assert_code(0);
            assert_eq!(ran.failed_checks(), [], "{load}");
            assert_ne!(ran.value("/verdict/state"), "invalid", "{load}");
        }
    }
}

#[test]
fn a_run_of_a_million_replies_is_sound() {
    let server = lab("");
    let ran = measure(&format!("{} -c 64 -n 1000000 -d 60s", server.url_of("/"))).assert_code(0);
    assert_eq!(ran.failed_checks(), []);
}

/// Rests before reads are reported with their true length, and only a closed loop takes them.
#[test]
fn rests_are_reported_and_an_open_loop_takes_none() {
    let server = lab("");
    let closed = measure(&format!("{} -c 256 -n 100000 -d 30s --threads 1", server.url_of("/")))
        .assert_all_good();
    let [rests, seconds] =
        ["rests", "rest_seconds"].map(|key| closed.figure(&format!("/generator/{key}")));
    assert!(seconds >= rests * 20e-6, "{rests} rests of {seconds} s");
    assert_eq!(rests > 0.0, closed.out.contains("rested "), "{}", closed.out);
    let open = measure(&format!("{} -r 2000 -d 1s", server.url_of("/"))).assert_all_good();
    assert_eq!(open.figure("/generator/rests"), 0.0);
    let precise =
        measure(&format!("{} -c 256 -n 20000 --precise", server.url_of("/"))).assert_all_good();
    assert!(
        precise.figure("/generator/rests") == 0.0
            || precise.value("/plan/precise") == &Value::Bool(false)
    );
}

#[test]
fn a_run_continues_until_the_target_precision() {
    retry_under_steal_time("truth::a_run_continues_until_the_target_precision", || {
        let server = lab("--service exp:5ms");
        let goal = "--until p50±10% --until throughput+-20% -d 2s";
        let ran = measure(&format!("{} -c 20 {goal} --max-duration 30s", server.url_of("/")))
            .assert_all_good();
        let measured = ran.figure("/measured_seconds");
        assert!((2.0..29.0).contains(&measured), "{measured}");
        ran.assert_text(&["--until was reached"]);
        let p50 = &ran.value("/response_time_intervals_seconds/0/estimate");
        let [value, high] = ["value", "high"].map(|key| p50[key].as_f64().expect("a number"));
        assert!(high <= 1.1 * value, "{p50}");
        let never = measure(&format!(
            "{} -c 4 --until p99.9±1% -d 1s --max-duration 1500ms",
            server.url_of("/")
        ))
        .ok();
        never.assert_text(&["--until was not reached"]);
    });
}

#[test]
fn measuring_begins_when_the_server_is_steady() {
    retry_under_steal_time("truth::measuring_begins_when_the_server_is_steady", || {
        let server = lab("--service exp:5ms");
        let ran = measure(&format!("{} -c 20 -d 1s --warmup auto", server.url_of("/"))).ok();
        ran.assert_text(&["--warmup auto"]);
        let elapsed = ran.figure("/elapsed_seconds");
        assert!(
            (6.0..13.0).contains(&elapsed) && (ran.figure("/measured_seconds") - 1.0).abs() < 0.01,
            "{elapsed}"
        );
        assert!(ran.value("/warmup/requests/completed").as_u64() > Some(1000));
    });
}

#[test]
fn a_run_that_cannot_be_precise_reports_that() {
    let server = lab("");
    let ran = measure(&format!("{} -r 500 --arrivals even -d 1s --precise", server.url_of("/")))
        .assert_all_good();
    assert_eq!(
        (ran.count("planned"), ran.value("/plan/precise")),
        (500, &Value::Bool(ran.value("/environment/cores") != 1))
    );
    measure(&format!("{} -r 500 -d 1s --precise --threads 64", server.url_of("/")))
        .ok()
        .assert_text(&["--precise: "]);
}
