//! Tests `brunt URL`: the numbers of the report are true, consistent, and equal to those of the
//! server.

use crate::world::brunt::with_single_spaces;
use crate::world::{BruntOutput, apache, command, lab, measure, nginx, start};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::codec::frame;
use brunt_tests::schema::SchemaValidator;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

#[test]
fn counts_of_a_closed_loop_equal_those_of_nginx() {
    let Some(nginx) = nginx("counts_of_a_closed_loop_equal_those_of_nginx", "") else { return };
    let ran = measure(&format!("{} -c 4 -d 1s", nginx.url_of("/"))).assert_all_good();
    assert_eq!(nginx.requests(), ran.count("begun"));
    assert_eq!(ran.status(200), ran.count("completed"));
    assert_eq!(ran.connections("opened"), 4);
    assert_eq!(ran.figure("/measured_seconds"), 1.0);
    let server = ran.value("/environment/server").as_str().unwrap_or_default();
    assert!(server.starts_with("nginx/"), "{server:?}");
}

#[test]
fn counts_of_an_open_loop_equal_those_of_nginx() {
    let Some(nginx) = nginx("counts_of_an_open_loop_equal_those_of_nginx", "") else { return };
    let ran = measure(&format!("{} -r 500 -d 1s", nginx.url_of("/"))).assert_all_good();
    assert_eq!(nginx.requests(), ran.count("begun"));
    // Six standard deviations of a Poisson number.
    assert!(ran.count("planned").abs_diff(500) < 135, "{}", ran.count("planned"));
}

#[test]
fn apache_is_measured_with_each_mpm() {
    for mpm in ["event", "prefork"] {
        let Some(apache) = apache::apache("apache_is_measured_with_each_mpm", mpm) else { return };
        let ran = measure(&format!("{} -c 3 -n 400", apache.url())).assert_all_good();
        assert_eq!(ran.count("begun"), 400, "{mpm}");
        // MaxKeepAliveRequests is 50: at least eight connections, and no failure.
        assert!(ran.connections("opened") >= 8, "{mpm}: {}", ran.connections("opened"));
        crate::world::wait_until("Apache's log", || apache.logged() == 400);
    }
}

#[test]
fn apache_is_measured_in_an_open_loop() {
    let Some(apache) = apache::apache("apache_is_measured_in_an_open_loop", "event") else {
        return;
    };
    let ran = measure(&format!("{} -r 200 --arrivals even -d 1s", apache.url())).assert_all_good();
    assert_eq!(ran.count("planned"), 200);
}

#[test]
fn counts_of_the_lab_and_brunt_are_equal() {
    for load in [
        "-c 5 -n 1234",
        "-n 1",
        "-c 9 -n 4",
        "-r 300 -d 1s",
        "-r 300 -c 3 -d 1s",
        "-c 3 -d 1s --threads 2",
    ] {
        let lab = lab("");
        let ran = measure(&format!("{} {load}", lab.url_of("/"))).assert_all_good();
        let knows = lab.into_statistics();
        assert_eq!(knows["requests"]["received"], ran.count("begun"), "{load}");
        assert_eq!(knows["connections"]["accepted"], ran.connections("opened"), "{load}");
        assert_eq!(knows["bytes"]["sent"], ran.number("/bytes/received"), "{load}");
        assert_eq!(knows["bytes"]["received"], ran.number("/bytes/sent"), "{load}");
    }
}

#[test]
fn the_text_has_its_sections() {
    let lab = lab("");
    let closed = measure(&format!("{} -c 4 -d 1s", lab.url_of("/"))).assert_all_good();
    closed.assert_text(&[
        "Load closed loop, 4 connections, no think time",
        "Duration 1 s",
        "Throughput",
        "Goodput",
        "Requests",
    ]);
    closed.assert_text(&[
        "Response time p50",
        "Clocks p50 p90 p99 p99.9 max",
        "service time",
        "lag",
        "Phases",
        "first byte",
    ]);
    closed.assert_text(&[
        "open loop at the same throughput: `brunt",
        "Outcomes 200",
        "100 %",
        "Connections 4 opened",
        "Generator CPU",
    ]);
    closed.assert_text(&[
        "A closed loop hides queueing (coordinated omission).",
        "Response times of",
        "cumulative",
        "memory",
    ]);
    let open = measure(&format!("{} -r 200 -c 4 -d 1s", lab.url_of("/"))).assert_all_good();
    open.assert_text(&[
        "open loop, Poisson arrivals, 200/s over at most 4 connections",
        "queue wait",
    ]);
    assert!(!open.out.contains("A closed loop hides"), "{}", open.out);
}

#[test]
fn the_brief_report_fits_80_columns_and_colors_are_a_choice() {
    let lab = lab("--fail 3%:503 --body 100");
    let brief = stdout_with(&lab, "", ("CLICOLOR", "1"));
    assert!(brief.lines().all(|line| line.chars().count() <= 80), "{brief}");
    // The verdict follows the load and an answer of one or two lines.
    assert!((3..=4).contains(&position_of_line(&brief, "Verdict")), "{brief}");
    assert!(
        position_of_line(&brief, "Throughput") < position_of_line(&brief, "Errors")
            && position_of_line(&brief, "Errors") < position_of_line(&brief, "Response time"),
        "{brief}"
    );
    assert!(!brief.contains('\x1b') && !brief.contains("Phases"), "{brief}");
    assert!(stdout_with(&lab, "-v", ("CLICOLOR", "1")).contains("\nPhases"));
    assert!(stdout_with(&lab, "", ("CLICOLOR_FORCE", "1")).contains("\x1b[1m"));
    assert!(!stdout_with(&lab, "--color never", ("CLICOLOR_FORCE", "1")).contains('\x1b'));
    assert!(stdout_with(&lab, "--color always", ("NO_COLOR", "1")).contains("\x1b[1m"));
}

fn position_of_line(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.starts_with(word)).expect(word)
}

fn stdout_with(lab: &crate::world::Lab, line: &str, set: (&str, &str)) -> String {
    let line = format!("{} -c 4 -n 400 {line}", lab.url_of("/"));
    let output = command(&line).env_remove("NO_COLOR").env(set.0, set.1).output().expect("brunt");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_suggested_open_loop_can_be_run() {
    let lab = lab("");
    let closed = command(&format!("{} -c 2 -n 200 --think 5ms -v", lab.url_of("/")))
        .output()
        .expect("brunt");
    let text = with_single_spaces(&String::from_utf8_lossy(&closed.stdout));
    let offered = text.split("open loop at the same throughput: `brunt ").nth(1);
    let offered =
        offered.and_then(|rest| rest.split('`').next()).unwrap_or_else(|| panic!("{text}"));
    // `measure` requests the full report itself.
    let again = measure(&offered.replace(" -v ", " ")).assert_all_good();
    assert_eq!(again.value("/plan/populations/0/stop/requests"), 200);
    again.assert_text(&["open loop"]);
}

#[test]
fn the_json_matches_the_schema() {
    let validator = printed_schema("result");
    let lab = lab("--fail 10%:503 --fail 10%:reset");
    let url = lab.url_of("/");
    for load in
        ["-c 4 -n 200 --warmup 200ms", "-r 100 -d 1s --objective p99<1s", "-r 0..50/1s -c 2"]
    {
        assert_valid(&validator, &measure(&format!("{url} {load}")));
    }
    assert_valid(&validator, &measure("http://127.0.0.1:1/ -c 1 -d 1s").assert_code(3));
}

/// Programs read these documents by the schemas of a release.
#[test]
fn the_json_of_experiments_matches_the_schema() {
    let store = TempDir::new().expect("a directory");
    let studies = printed_schema("study");
    for name in ["sweep", "find", "compare"] {
        output_with_store(&store, &format!("runs import {name}.brunt"));
        let study = json_with_store(&store, &format!("report {name} -o json"));
        assert_matches(&studies, &study);
        let file = store.path().join(format!("{name}.json"));
        fs::write(&file, study.to_string()).expect("a file");
        let analysis = json_with_store(&store, &format!("analyse {} -o json", file.display()));
        assert_matches(&printed_schema("analysis"), &analysis);
    }
}

fn json_with_store(store: &TempDir, line: &str) -> Value {
    serde_json::from_slice(&output_with_store(store, line)).expect("JSON")
}

/// Standard output of `brunt` in the folder of stored experiments.
fn output_with_store(store: &TempDir, line: &str) -> Vec<u8> {
    let mut brunt = command(line);
    brunt.env("BRUNT_STORE", store.path());
    brunt.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/data/stored"));
    let out = brunt.output().expect("brunt");
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn printed_schema(document: &str) -> SchemaValidator {
    let schema = command(&format!("schema {document}")).output().expect("brunt");
    SchemaValidator::new(serde_json::from_slice(&schema.stdout).expect("a schema"))
}

fn assert_valid(validator: &SchemaValidator, ran: &BruntOutput) {
    assert_matches(validator, &ran.json);
}

fn assert_matches(validator: &SchemaValidator, document: &Value) {
    validator.check(document).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_schema_refuses_another_document() {
    let validator = printed_schema("result");
    let lab = lab("");
    let mut json = measure(&format!("{} -n 10", lab.url_of("/"))).json;
    json["requests"]["begun"] = "many".into();
    assert!(validator.check(&json).is_err());
}

#[test]
fn histograms_can_be_read_by_hdrhistogram() {
    let lab = lab("--fail 20%:503 --service exp:2ms");
    let ran = measure(&format!("{} -c 4 -n 300", lab.url_of("/"))).ok();
    for times in [
        "response_time_seconds",
        "service_time_seconds",
        "lag_seconds",
        "response_time_good_seconds",
    ] {
        let times = ran.value(&format!("/{times}"));
        let bytes = STANDARD.decode(times["histogram"].as_str().expect("base64")).expect("base64");
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut &bytes[..]).expect("a histogram");
        assert_eq!(histogram.len(), times["count"].as_u64().expect("a count"));
        for (quantile, key) in [(0.5, "p50"), (0.99, "p99")] {
            let expected = histogram.value_at_quantile(quantile) as f64 / 1e9;
            let ours = times[key].as_f64().expect("seconds");
            assert!((expected - ours).abs() <= ours * 0.002, "{key}: {expected} against {ours}");
        }
    }
    assert_eq!(ran.number("/response_time_seconds/count"), 300);
    assert_eq!(ran.number("/response_time_good_seconds/count"), ran.count("good"));
    assert!(ran.count("good") < 300);
}

#[test]
fn csv_rows_are_the_series() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("csv");
    let line =
        format!("{} -r 200 -d 1s --interval 100ms -o csv={}", lab.url_of("/"), file.display());
    let ran = measure(&line).assert_all_good();
    let text = fs::read_to_string(file).expect("rows");
    let mut rows = text.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("a head");
    let completed = head.iter().position(|n| *n == "completed").expect("a column");
    let counts: Vec<u64> = rows.map(|r| r[completed].parse().expect("a count")).collect();
    assert_eq!(counts.iter().sum::<u64>(), ran.count("completed"));
    assert_eq!(counts.len(), ran.value("/series").as_array().map_or(0, Vec::len));
    assert!(counts.len() >= 10, "{text}");
}

/// Records a run. Returns its JSON and the path of its log.
fn record_run(dir: &TempDir) -> (BruntOutput, String) {
    let lab = lab("--fail 10%:503");
    let events = dir.path().join("events").display().to_string();
    let ran = measure(&format!(
        "{} -c 3 -d 1s --warmup 200ms --think 1ms --events {events}",
        lab.url_of("/")
    ))
    .ok();
    (ran, events)
}

#[test]
fn a_replay_gives_the_same_numbers() {
    let dir = TempDir::new().expect("a directory");
    let (ran, events) = record_run(&dir);
    let again = start(&mut command(&format!("replay {events}"))).finish().ok();
    assert_eq!(again.json, ran.json);
    assert_eq!(again.out, ran.out);
}

#[test]
fn a_truncated_log_is_replayed_up_to_its_last_complete_event() {
    let dir = TempDir::new().expect("a directory");
    let (ran, events) = record_run(&dir);
    let bytes = fs::read(&events).expect("the log");
    fs::write(&events, &bytes[..bytes.len() * 2 / 3]).expect("a torn log");
    // Requests in flight at the end of the log are neither completed nor failed nor cut.
    let torn = start(&mut command(&format!("replay {events}"))).finish_unchecked();
    assert!(torn.err.contains("is damaged after"), "{}", torn.err);
    let part = torn.count("completed");
    let all = ran.count("completed");
    assert!(0 < part && part < all, "{part} of {all}");
    assert_eq!(torn.value("/interrupted"), true);
}

#[test]
fn a_log_of_a_later_version_is_replayed_and_skipped_events_are_reported() {
    let dir = TempDir::new().expect("a directory");
    let (ran, events) = record_run(&dir);
    let mut bytes = fs::read(&events).expect("the log");
    // An event of the unknown kind 1000 with a message of one byte.
    bytes.extend(frame(&[0xc2, 0x3e, 1, 7]).expect("a frame"));
    fs::write(&events, &bytes).expect("a log");
    let again = start(&mut command(&format!("replay {events}"))).finish().ok();
    assert_eq!(again.count("completed"), ran.count("completed"));
    let warnings = again.value("/warnings").to_string();
    assert!(
        warnings.contains("skipped 1 events of the log of a kind unknown to this version"),
        "{warnings}"
    );
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("other");
    fs::write(&file, "some text").expect("a file");
    let output = command(&format!("replay {}", file.display())).output().expect("brunt");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("not an event log of brunt"),
        "{output:?}"
    );
}

#[test]
fn quiet_prints_nothing() {
    let lab = lab("");
    let ran = measure(&format!("{} -n 50 -q", lab.url_of("/"))).assert_all_good();
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}

#[test]
fn json_on_stdout_is_json_and_nothing_else() {
    let lab = lab("");
    let out = command(&format!("{} -n 50 -o json", lab.url_of("/"))).output().expect("brunt");
    let json: Value = serde_json::from_slice(&out.stdout).expect("JSON alone");
    assert_eq!(json["requests"]["good"], 50);
}

#[test]
fn the_machine_use_of_brunt_is_never_negative() {
    let lab = lab("");
    for _ in 0..20 {
        let ran = measure(&format!("{} -n 20 -q", lab.url_of("/"))).assert_all_good();
        let [user, system] =
            ["user", "system"].map(|kind| ran.figure(&format!("/generator/cpu_{kind}_seconds")));
        assert!(
            user >= 0.0 && system >= 0.0 && user + system > 0.0,
            "{user} s user, {system} s system"
        );
        assert!(ran.number("/generator/peak_rss_bytes") > 1_000_000);
    }
}
