//! Interrupts brunt, the server or the disk during a run.

use crate::world::brunt::RunningBrunt;
use crate::world::{
    Lab, command, lab, measure, nginx, start, start_logged, wait_a_moment, wait_until,
};
use rustix::process::Signal;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Starts a long run against a lab, and waits until it has begun three requests.
fn start_run(lab: &Lab, options: &str) -> RunningBrunt {
    let brunt = command(&format!("{} -d 60s {options}", lab.url_of("/")));
    // The parent process may ignore SIGHUP, and programs inherit that.
    let mut by_default = Command::new("env");
    by_default.arg("--default-signal=HUP").arg(brunt.get_program()).args(brunt.get_args());
    by_default
        .envs(brunt.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    let mut running = start_logged(&mut by_default);
    running.wait_until_logged("requests", |flow| flow.begun >= 3);
    running
}

/// Number of connections to a port on this machine.
fn connections_to(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table of connections");
    let remote = format!(" 0100007F:{port:04X} 01 ");
    table.lines().filter(|l| l.contains(&remote)).count()
}

#[test]
fn a_first_signal_ends_the_run_with_its_report() {
    for (signal, load) in [
        (Signal::INT, "-c 4"),
        (Signal::TERM, "-r 200"),
        (Signal::INT, "-r 100 -c 2"),
        (Signal::HUP, "-c 4"),
    ] {
        let lab = lab("--service const:5ms");
        let running = start_run(&lab, load);
        running.signal(signal);
        let ran = running.finish().assert_code(130);
        assert_eq!(ran.value("/interrupted"), true);
        assert!(
            ran.count("good") > 0 && ran.count("good") == ran.count("begun"),
            "{load}: {}",
            ran.out
        );
        assert!(ran.figure("/measured_seconds") < 30.0);
        assert_eq!(lab.into_statistics()["requests"]["received"], ran.count("begun"), "{load}");
        ran.assert_text(&["Throughput", "Outcomes", "interrupted"]);
    }
}

#[test]
fn requests_in_flight_at_a_signal_are_counted() {
    let lab = lab("--fail 1:never");
    let running = start_run(&lab, "-c 3");
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_eq!((ran.count("begun"), ran.count("cut")), (3, 3), "{}", ran.out);
}

/// Steps that take too long or too much memory, and the begin of the message about each. The pause before a script is
/// longer than an interval of figures, because a worker that is abandoned in it reports no unfinished interval.
const ENDLESS: [(&str, &str); 3] = [
    (
        "- think: 300ms\n  - script: 'String.raw({raw: {length: 2 ** 53 - 1}})'",
        "script `scenario.steps[2]`",
    ),
    (
        "- think: 300ms\n  - script: /(?=(a+))\\1b/.test('a'.repeat(400000))",
        "script `scenario.steps[2]`",
    ),
    ("- set: {a: '${a}${a}x'}", "the text of variable `a`: the values in a text are longer"),
];

/// Starts a run of two users with a request and the step.
fn start_endless(lab: &Lab, dir: &Path, step: &str, seconds: u32) -> RunningBrunt {
    let plan = format!(
        "load: {{users: 2, duration: {seconds}s}}\nrepetitions: 1\nscenario:\n  base: {}\n  language: javascript\n  variables: {{a: x}}\n  steps:\n  - get: /a\n  {step}\n",
        lab.url_of("")
    );
    std::fs::write(dir.join("plan.yaml"), plan).expect("a plan");
    let mut brunt = command("run plan.yaml --store store");
    start(brunt.current_dir(dir))
}

#[test]
fn an_endless_script_or_text_does_not_hold_a_run() {
    for (step, message) in ENDLESS {
        for signal in [None, Some(Signal::INT)] {
            let lab = lab("--service const:5ms");
            let dir = tempfile::TempDir::new().expect("a directory");
            let seconds = if signal.is_some() { 600 } else { 4 };
            let running = start_endless(&lab, dir.path(), step, seconds);
            if let Some(signal) = signal {
                wait_until("connections to the lab", || connections_to(lab.port()) > 0);
                sleep(Duration::from_secs(3));
                running.signal(signal);
            }
            let ran = running.finish_unchecked();
            // On a slow machine, the run ends without a worker that does not return in time.
            let is_abandoned = ran.code == 1 && ran.err.contains("did not return from");
            assert!([0, 130].contains(&ran.code) || is_abandoned, "{step}: {}{}", ran.out, ran.err);
            ran.assert_text(&["Throughput", message]);
        }
    }
}

#[test]
fn a_second_signal_quits() {
    let lab = lab("--fail 1:never");
    let running = start_run(&lab, "-c 3");
    running.signal(Signal::INT);
    wait_until("what it says to the first", || running.stderr().contains("again to quit"));
    running.signal(Signal::INT);
    let ran = running.finish().assert_code(130);
    assert!(ran.json.is_null() && ran.out.is_empty(), "{}", ran.out);
}

#[test]
fn a_signal_before_the_load_ends_the_run() {
    let lab = lab("");
    let running =
        start(&mut command(&format!("{} -c 1000 --connect-rate 10 -d 60s", lab.url_of("/"))));
    wait_until("connections to the lab", || connections_to(lab.port()) > 0);
    running.signal(Signal::INT);
    let ran = running.finish();
    assert!([3, 130].contains(&ran.code), "{}: {}", ran.code, ran.out);
    assert_eq!((ran.count("planned"), ran.value("/interrupted")), (0, &true.into()));
    ran.assert_text(&["stopped before the load began"]);
}

#[test]
fn a_suspended_server_is_reported_and_no_request_is_lost() {
    let lab = lab("");
    let running = start(&mut command(&format!("{} -r 200 --arrivals even -d 2s", lab.url_of("/"))));
    wait_until("connections to the lab", || connections_to(lab.port()) > 0);
    sleep(Duration::from_millis(500));
    lab.server.signal(Signal::STOP);
    sleep(Duration::from_millis(600));
    lab.server.signal(Signal::CONT);
    let ran = running.finish().assert_all_good();
    assert_eq!(ran.count("planned"), 400);
    // More than a tenth of the arrivals fell into the pause; the first of them waited for all of
    // it.
    assert!(ran.figure("/response_time_seconds/max") >= 0.55, "{}", ran.out);
    assert!(ran.figure("/response_time_seconds/p90") >= 0.2, "{}", ran.out);
    assert_eq!(lab.into_statistics()["requests"]["received"], ran.count("begun"));
}

#[test]
fn a_dead_server_is_not_flooded_with_connections() {
    let mut lab = lab("--service const:2ms");
    let running = start(&mut command(&format!("{} -c 4 -d 2s", lab.url_of("/"))));
    wait_until("connections to the lab", || connections_to(lab.port()) > 0);
    sleep(Duration::from_millis(500));
    lab.server.signal(Signal::KILL);
    wait_until("the lab's end", || lab.server.exit_status().is_some());
    let ran = running.finish().ok();
    assert!(ran.count("good") > 0 && ran.failed("refused") > 0, "{}", ran.out);
    let lost = ran.failed("reset") + ran.failed("closed_early") + ran.failed("stale");
    assert_eq!(ran.count("good") + ran.failed("refused") + lost, ran.count("begun"), "{}", ran.out);
    // At most 200 attempts per second, by four connections for two seconds.
    assert!(ran.failed("refused") < 200 * 4 * 2, "{}", ran.failed("refused"));
    ran.assert_text(&["connection refused", "is the server running"]);
}

#[test]
fn a_dead_server_fails_only_later_requests_of_the_open_loop() {
    let mut lab = lab("");
    let running = start(&mut command(&format!("{} -r 100 --arrivals even -d 5s", lab.url_of("/"))));
    wait_until("connections to the lab", || connections_to(lab.port()) > 0);
    sleep(Duration::from_millis(500));
    lab.server.signal(Signal::KILL);
    wait_until("the lab's end", || lab.server.exit_status().is_some());
    let ran = running.finish().ok();
    assert_eq!(ran.count("planned"), 500);
    assert!(ran.count("good") > 0 && ran.failed("refused") > 0, "{}", ran.out);
    assert_eq!(ran.count("dropped"), 0);
}

#[test]
fn a_reload_of_nginx_fails_no_request() {
    let Some(nginx) = nginx("a_reload_of_nginx_fails_no_request", "") else { return };
    let running = start(&mut command(&format!("{} -r 200 --retry-stale -d 2s", nginx.url_of("/"))));
    wait_until("requests", || nginx.requests() > 20);
    let master = std::fs::read_to_string(nginx.dir.path().join("pid")).expect("its pid");
    assert_eq!(master.trim(), nginx.server.child.id().to_string());
    // nginx replaces its workers gracefully: it closes idle connections.
    let pid = rustix::process::Pid::from_child(&nginx.server.child);
    rustix::process::kill_process(pid, Signal::HUP).expect("nginx");
    let ran = running.finish().assert_all_good();
    assert!(ran.connections("closed_idle") + ran.count("retries") >= 1, "{}", ran.out);
}

#[test]
fn a_full_disk_does_not_lose_the_text_report() {
    let lab = lab("");
    let out = command(&format!("{} -n 50 -o text -o json=/dev/full", lab.url_of("/")))
        .output()
        .expect("brunt");
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8_lossy(&out.stdout);
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(text.contains("0 of 50 requests"), "{text}");
    assert!(errors.contains("/dev/full") && errors.contains("No space left"), "{errors}");
}

#[test]
fn a_full_disk_ends_the_event_log_and_not_the_run() {
    let lab = lab("");
    let ran = measure(&format!("{} -n 50 --events /dev/full", lab.url_of("/"))).assert_code(1);
    assert_eq!(ran.count("good"), 50);
    ran.assert_text(&["50 completed"]);
    assert!(ran.err.contains("/dev/full") && ran.err.contains("No space left"), "{}", ran.err);
}

#[test]
fn an_unwritable_file_is_reported_before_the_load() {
    let lab = lab("");
    for option in ["-o json=/no/such/directory/a.json", "--events /no/such/directory/a"] {
        let output =
            command(&format!("{} -n 50 {option}", lab.url_of("/"))).output().expect("brunt");
        assert_eq!(output.status.code(), Some(2), "{option}: {output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("/no/such/directory/a"),
            "{output:?}"
        );
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 0);
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_failure() {
    let lab = lab("");
    let script = format!("\"$0\" {} -n 50 2>&1 | head -n 1", lab.url_of("/"));
    let out = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(command("").get_program())
        .output()
        .expect("sh");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.starts_with("GET http://127.0.0.1:") && text.lines().count() == 1, "{text}");
    wait_a_moment();
}
