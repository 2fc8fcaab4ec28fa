//! Runs one load with several processes: together they behave like one, and none outlives the run.

use crate::world::brunt::RunningBrunt;
use crate::world::machine::retry_under_steal_time;
use crate::world::{BruntOutput, command, lab, measure, start, start_logged, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// Child processes of brunt.
fn children(of: &RunningBrunt) -> Vec<Pid> {
    crate::world::server::children(of.pid().as_raw_nonzero().get())
}

/// Starts a run, and waits until all processes have sent requests.
fn start_run(line: &str, processes: usize) -> (RunningBrunt, Vec<Pid>) {
    let mut running = start_logged(&mut command(&format!("{line} --processes {processes}")));
    running.wait_until_logged("replies", |flow| flow.good > 0);
    let pids = children(&running);
    assert_eq!(pids.len(), processes);
    (running, pids)
}

fn assert_sound(ran: &BruntOutput) {
    assert_eq!(ran.failed_checks(), []);
    assert!(ran.checks().len() >= 6);
}

/// True if the process has ended, or is a zombie that its new parent will reap.
fn is_gone(pid: Pid) -> bool {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

fn wait_for_end(pids: &[Pid]) {
    wait_until("the end of its processes", || pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn processes_together_send_the_requested_number() {
    let lab = lab("");
    for (load, n) in [("-c 7", 500), ("-c 7", 2), ("-r 2000", 301), ("-r 2000 -c 5", 100)] {
        let ran =
            measure(&format!("{} {load} -n {n} --processes 3", lab.url_of("/"))).assert_all_good();
        assert_eq!((ran.count("planned"), ran.value("/plan/processes")), (n, &3.into()), "{load}");
        assert_sound(&ran);
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 903);
}

#[test]
fn processes_share_the_schedule_of_one_process() {
    let lab = lab("");
    assert_eq!(planned_requests(&lab, 1), planned_requests(&lab, 3));
}

fn planned_requests(lab: &crate::world::Lab, processes: u32) -> (u64, u64) {
    let line = format!(
        "{} -r 400 -d 1s --seed 7 --threads 2 --warmup 500ms --processes {processes}",
        lab.url_of("/")
    );
    let ran = measure(&line).assert_all_good();
    assert_sound(&ran);
    assert_eq!(ran.number("/generator/threads"), u64::from(2 * processes));
    (ran.count("planned"), ran.number("/warmup/requests/planned"))
}

#[test]
fn users_and_connections_are_shared() {
    let lab = lab("--service const:20ms");
    let ran = measure(&format!("{} -c 10 -d 1s --processes 4", lab.url_of("/"))).assert_all_good();
    assert_sound(&ran);
    assert_eq!((ran.connections("opened"), ran.connections("peak")), (10, 10));
    let queued =
        measure(&format!("{} -r 300 -c 6 -d 1s --processes 4", lab.url_of("/"))).assert_all_good();
    assert_eq!(queued.connections("opened"), 6);
    assert_eq!(lab.into_statistics()["connections"]["peak"], 10);
}

#[test]
fn several_processes_end_at_the_target_precision_and_log_it() {
    retry_under_steal_time(
        "processes::several_processes_end_at_the_target_precision_and_log_it",
        || {
            let lab = lab("--service const:5ms");
            let log = tempfile::NamedTempFile::new().expect("a file");
            let path = log.path().display();
            let goal = "--until throughput±90% -d 1s --max-duration 20s";
            let ran =
                measure(&format!("{} -c 4 {goal} --processes 2 --events {path}", lab.url_of("/")))
                    .assert_all_good();
            assert_sound(&ran);
            assert!(ran.figure("/measured_seconds") < 19.0, "{}", ran.out);
            ran.assert_text(&["--until was reached"]);
            let again = start(&mut command(&format!("replay {path}"))).finish().ok();
            assert_eq!(
                (again.value("/requests"), again.value("/connections")),
                (ran.value("/requests"), ran.value("/connections"))
            );
        },
    );
}

/// Where the parts of a run are, how many of four are killed at its start, and the exit code.
const LOSSES: [(&str, usize, i32); 6] = [
    ("--processes 4", 1, 6),
    ("--processes 4", 4, 5),
    ("--processes 4 --allow-lost 30%", 1, 0),
    ("--on local:4 --lease 10s", 1, 6),
    ("--on local:4 --lease 10s", 4, 5),
    ("--on local:4 --lease 10s --allow-lost 30%", 1, 0),
];

#[test]
fn a_run_without_its_load_is_no_success() {
    let lab = lab("");
    let url = lab.url_of("/");
    std::thread::scope(|scope| {
        for (place, killed, code) in LOSSES {
            let line = format!("{url} -r 100 -d 6s {place}");
            scope.spawn(move || {
                let mut running = start_logged(&mut command(&line));
                running.wait_until_logged("replies", |flow| flow.good > 0);
                let pids = children(&running);
                assert_eq!(pids.len(), 4, "{line}");
                for pid in &pids[..killed] {
                    kill_process(*pid, Signal::KILL).expect("a part");
                }
                let ran = running.finish_unchecked();
                assert_eq!(ran.code, code, "{line}, {killed} killed: {}{}", ran.out, ran.err);
                ran.assert_text(&["lost", "of the planned load"]);
                let measured = ran.figure("/measured_seconds");
                assert!(killed == 4 || measured > 5.9, "{line}: {measured}");
            });
        }
    });
}

#[test]
fn a_dead_process_is_reported_and_the_others_continue() {
    retry_under_steal_time("processes::a_dead_process_is_reported_and_the_others_continue", || {
        let lab = lab("--service const:30ms");
        for load in ["-c 6", "-r 300 --arrivals even"] {
            let (running, pids) = start_run(&format!("{} {load} -d 4s", lab.url_of("/")), 3);
            kill_process(pids[1], Signal::KILL).expect("a process");
            let ran = running.finish_unchecked().assert_code(6);
            assert_sound(&ran);
            assert!(
                ran.failed("cut") > 0 && ran.figure("/measured_seconds") > 3.9,
                "{load}: {}",
                ran.out
            );
            ran.assert_text(&[
                "ended before its time (killed by signal 9)",
                "its share of the load is missing",
            ]);
            wait_for_end(&pids);
        }
    });
}

#[test]
fn a_run_ends_when_all_processes_die() {
    let lab = lab("");
    let (running, pids) = start_run(&format!("{} -c 4 -d 60s", lab.url_of("/")), 2);
    for pid in &pids {
        kill_process(*pid, Signal::KILL).expect("a process");
    }
    let ran = running.finish_unchecked().assert_code(5);
    assert!(ran.count("good") > 0, "{}", ran.out);
}

#[test]
fn no_process_outlives_the_one_that_started_it() {
    let lab = lab("");
    let (running, pids) = start_run(&format!("{} -c 4 -d 60s", lab.url_of("/")), 2);
    running.signal(Signal::KILL);
    wait_for_end(&pids);
}

#[test]
fn a_signal_to_all_of_them_ends_the_run_with_its_report() {
    let lab = lab("--service const:5ms");
    for load in ["-c 4", "-r 200"] {
        let (running, pids) = start_run(&format!("{} {load} -d 60s", lab.url_of("/")), 2);
        // A terminal signals all processes.
        for pid in &pids {
            kill_process(*pid, Signal::INT).expect("a process");
        }
        running.signal(Signal::INT);
        let ran = running.finish().assert_code(130);
        assert_sound(&ran);
        assert!(
            ran.count("good") > 0 && ran.count("good") == ran.count("begun"),
            "{load}: {}",
            ran.out
        );
        assert_eq!(ran.value("/interrupted"), true);
        wait_for_end(&pids);
    }
}

#[test]
fn a_signal_to_all_of_them_during_their_start_ends_the_run() {
    let lab = lab("");
    let line = format!("{} -c 4 -d 60s --processes 2", lab.url_of("/"));
    let running = start(&mut command(&line));
    // They have no signal handler yet.
    wait_until("a process", || (0..1_000).any(|_| !children(&running).is_empty()));
    for pid in children(&running) {
        kill_process(pid, Signal::INT).expect("a process");
    }
    running.signal(Signal::INT);
    let ran = running.finish();
    assert!([3, 130].contains(&ran.code), "{}: {}{}", ran.code, ran.out, ran.err);
    assert_eq!(ran.value("/interrupted"), true);
}

#[test]
fn no_process_starts_without_a_server() {
    let port = crate::world::port::free();
    let ran = measure(&format!("http://127.0.0.1:{port}/ -c 4 -d 5s --processes 2")).assert_code(3);
    ran.assert_text(&["connection refused", "Nothing could be measured"]);
}
