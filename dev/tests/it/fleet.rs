//! Runs loads on agents: processes of this machine, and processes of "other" machines through an sshd
//! of the test.

use crate::world::brunt::RunningBrunt;
use crate::world::machine::retry_under_steal_time;
use crate::world::skip::{program, skip};
use crate::world::sshd::Sshd;
use crate::world::{BruntOutput, command, lab, measure, nginx, start, start_logged, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A command of brunt with `ssh` of this directory and a separate cache of agents.
fn with_ssh(programs: &Path, cache: &Path, line: &str) -> Command {
    let mut command = command(line);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", programs.display()));
    // sshd gives sessions a separate environment, so the login's home decides there.
    command.env("XDG_CACHE_HOME", cache);
    command
}

/// A directory with a program `ssh` that runs its last argument here, as `prefix` says.
fn fake_ssh(prefix: &str) -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let script = format!("#!/bin/sh\nfor last; do :; done\nexec {prefix} sh -c \"$last\"\n");
    fs::write(dir.path().join("ssh"), script).expect("a script");
    fs::set_permissions(dir.path().join("ssh"), fs::Permissions::from_mode(0o755))
        .expect("a script that can be executed");
    dir
}

fn is_gone(pid: Pid) -> bool {
    let stat =
        fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// Agents that this brunt has started, directly or through a program `ssh`.
fn agents(of: &RunningBrunt) -> Vec<Pid> {
    let mut all = Vec::new();
    let mut parents = vec![of.pid()];
    while let Some(parent) = parents.pop() {
        for child in crate::world::server::children(parent.as_raw_nonzero().get()) {
            let line = fs::read(format!("/proc/{}/cmdline", child.as_raw_nonzero()));
            let is_agent =
                line.is_ok_and(|line| line.split(|byte| *byte == 0).any(|word| word == b"worker"));
            if is_agent {
                all.push(child);
            }
            parents.push(child);
        }
    }
    all
}

fn assert_sound(ran: &BruntOutput) {
    assert_eq!(ran.failed_checks(), []);
    assert!(ran.checks().len() >= 6);
}

#[test]
fn local_agents_share_the_load_and_count_what_the_server_counts() {
    let lab = lab("");
    for (load, n) in [("-c 8", 501), ("-r 1000", 300), ("-r 1000 -c 4", 100)] {
        let line = format!("{} {load} -n {n} --on local:4 --lease 10s --seed 7", lab.url_of("/"));
        let ran = measure(&line).assert_all_good();
        assert_eq!(ran.count("planned"), n, "{load}");
        assert_eq!(ran.number("/plan/fleet/on/local"), 4);
        let agents = ran.value("/agents").as_array().expect("agents");
        let planned = agents.iter().map(|agent| agent["requests"]["planned"].as_u64());
        assert_eq!((agents.len(), planned.sum::<Option<u64>>()), (4, Some(n)));
        assert_sound(&ran);
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 901);
}

#[test]
fn agents_share_the_schedule_of_one_process() {
    let lab = lab("");
    let planned = |agents: &str| {
        let line = format!("{} -r 400 -d 1s --seed 7 --warmup 500ms {agents}", lab.url_of("/"));
        let ran = measure(&line).assert_all_good();
        assert_sound(&ran);
        (ran.count("planned"), ran.number("/warmup/requests/planned"))
    };
    assert_eq!(planned(""), planned("--on local:3 --lease 10s"));
}

#[test]
fn data_rows_and_setup_are_used_once_over_all_agents() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let rows: Vec<String> = (0..40).map(|row| format!("u{row}\n")).collect();
    fs::write(dir.path().join("users.csv"), format!("user\n{}", rows.concat())).expect("rows");
    let plan = format!(
        "on: local:4\nload: {{users: 4, iterations: 10}}\nsetup: [{{get: '{0}'}}]\n\
         scenario:\n  data: [users.csv]\n  steps: [{{get: '{0}?u=${{user}}'}}]\n",
        lab.url_of("/")
    );
    let file = dir.path().join("plan.yaml");
    fs::write(&file, plan).expect("a plan");
    let line = format!("run {} --no-store", file.display());
    let output = command(&line).output().expect("brunt");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    // 40 iterations and one request of setup.
    assert_eq!(lab.into_statistics()["requests"]["received"], 41);
}

#[test]
fn agents_through_ssh_measure_and_leave_nothing_but_their_program() {
    let test = "fleet::agents_through_ssh_measure_and_leave_nothing_but_their_program";
    let Some(sshd) = Sshd::start(test) else { return };
    let Some(nginx) = nginx(test, "") else { return };
    let programs = sshd.client(&["left", "right"]);
    let cache = TempDir::new().expect("a directory");
    let line = format!(
        "{} -r 500 -d 2s --on ssh:left,right --lease 10s --allow-target 127.0.0.1 --bearer planted-s3cret",
        nginx.url_of("/")
    );
    let mut running = start(&mut with_ssh(&programs, cache.path(), &line));
    let mut seen = String::new();
    while !running.is_over() {
        for entry in fs::read_dir("/proc").expect("processes").flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            // The user wrote the secret on the command line of the controller.
            let is_controller = line.contains("--on ssh:left,right");
            if !is_controller && (line.contains("ssh") || line.contains("worker")) {
                seen.push_str(&line);
            }
        }
        sleep(Duration::from_millis(100));
    }
    let ran = running.finish();
    if ran.err.contains("Permission denied") {
        return skip(test, "sshd lets nobody in");
    }
    let ran = ran.ok().assert_all_good();
    assert_sound(&ran);
    assert_eq!(ran.count("begun"), nginx.requests());
    assert!(seen.contains("worker"), "agents were seen");
    assert!(!seen.contains("planted-s3cret"), "{seen}");
    assert_eq!(ran.value("/agents/0/name"), "left");
}

#[test]
fn a_cut_ssh_ends_its_agent_and_the_report_names_it() {
    retry_under_steal_time("fleet::a_cut_ssh_ends_its_agent_and_the_report_names_it", || {
        let lab = lab("");
        let ssh = fake_ssh("");
        let cache = TempDir::new().expect("a directory");
        let line = format!(
            "{} -r 300 --arrivals even -d 5s --on ssh:left,right --allow-target 127.0.0.1",
            lab.url_of("/")
        );
        let running = start(&mut with_ssh(ssh.path(), cache.path(), &line));
        wait_until("both agents", || agents(&running).len() == 2);
        let pids = agents(&running);
        sleep(Duration::from_millis(2500));
        kill_process(pids[1], Signal::KILL).expect("an agent");
        let ran = running.finish_unchecked().assert_code(6);
        assert_sound(&ran);
        assert!(ran.figure("/measured_seconds") > 4.9, "{}", ran.out);
        ran.assert_text(&["ended before its time", "LIMITED BY THE GENERATOR: agent", "was lost"]);
        wait_until("the end of both agents", || pids.iter().all(|pid| is_gone(*pid)));
    });
}

/// Where the parts of a run are, how many of two are frozen in its load, and the exit code.
const FROZEN: [(&str, usize, i32); 3] =
    [("--on local:2", 1, 6), ("--on local:2", 2, 5), ("--processes 2", 1, 6)];

#[test]
fn frozen_agents_are_given_up_after_half_a_minute() {
    let lab = lab("");
    let url = lab.url_of("/");
    std::thread::scope(|scope| {
        for (place, frozen, code) in FROZEN {
            let line = format!("{url} -r 100 -d 6s {place}");
            scope.spawn(move || {
                let (running, pids) = start_and_freeze(&line, frozen);
                let ran = running.finish_unchecked();
                assert_eq!(ran.code, code, "{line}, {frozen} frozen: {}{}", ran.out, ran.err);
                ran.assert_text(&["it sent nothing for 30 s", "of the planned load"]);
                wait_until("the end of the agents", || pids.iter().all(|pid| is_gone(*pid)));
            });
        }
        // Ctrl-C shortens the wait, and the report of the other agent stays.
        scope.spawn(move || {
            let (running, pids) = start_and_freeze(&format!("{url} -r 100 -d 60s --on local:2"), 1);
            running.signal(Signal::INT);
            let ran = running.finish_unchecked();
            assert_eq!(ran.code, 130, "{}{}", ran.out, ran.err);
            ran.assert_text(&["it sent nothing for 10 s"]);
            assert!(ran.count("good") > 0, "{}", ran.out);
            wait_until("the end of the agents", || pids.iter().all(|pid| is_gone(*pid)));
        });
    });
}

/// Starts a run with two parts, and freezes some of them once there are replies. Returns all parts.
fn start_and_freeze(line: &str, frozen: usize) -> (RunningBrunt, Vec<Pid>) {
    let mut running = start_logged(&mut command(line));
    running.wait_until_logged("replies", |flow| flow.good > 0);
    let pids = agents(&running);
    assert_eq!(pids.len(), 2, "{line}");
    for pid in &pids[..frozen] {
        kill_process(*pid, Signal::STOP).expect("an agent");
    }
    (running, pids)
}

#[test]
fn ctrl_c_stops_all_agents_and_the_report_has_everything() {
    let test = "fleet::ctrl_c_stops_all_agents_and_the_report_has_everything";
    let Some(nginx) = nginx(test, "") else { return };
    let ssh = fake_ssh("");
    let cache = TempDir::new().expect("a directory");
    let line = format!(
        "{} -r 300 -d 60s --on ssh:left,right --lease 10s --allow-target 127.0.0.1",
        nginx.url_of("/")
    );
    let running = start(&mut with_ssh(ssh.path(), cache.path(), &line));
    wait_until("both agents", || agents(&running).len() == 2);
    let pids = agents(&running);
    wait_until("requests", || nginx.requests() > 100);
    // As a terminal does, to the whole group.
    running.signal(Signal::INT);
    let ran = running.finish();
    assert_sound(&ran);
    assert!(!ran.out.contains("ended before its time"), "{}", ran.out);
    assert!(ran.value("/interrupted").as_bool().unwrap_or(false), "{}", ran.out);
    assert_eq!(ran.count("begun"), nginx.requests());
    wait_until("the end of both agents", || pids.iter().all(|pid| is_gone(*pid)));
}

#[test]
fn agents_without_a_controller_stop_the_load_and_end() {
    retry_under_steal_time("fleet::agents_without_a_controller_stop_the_load_and_end", || {
        let test = "fleet::agents_without_a_controller_stop_the_load_and_end";
        let Some(nginx) = nginx(test, "") else { return };
        let line = format!("{} -r 300 -d 60s --on local:2 --lease 1s", nginx.url_of("/"));
        for (signal, longest) in [(Signal::STOP, 2.5), (Signal::KILL, 1.0)] {
            let running = start(&mut command(&line));
            wait_until("both agents", || agents(&running).len() == 2);
            let pids = agents(&running);
            sleep(Duration::from_millis(1500));
            kill_process(running.pid(), signal).expect("brunt");
            sleep(Duration::from_secs_f64(longest));
            let before = nginx.requests();
            sleep(Duration::from_millis(500));
            assert!(nginx.requests() <= before, "load after {longest} s");
            wait_until("the end of the agents", || pids.iter().all(|pid| is_gone(*pid)));
            running.signal(Signal::KILL);
        }
    });
}

#[test]
fn a_clock_of_another_time_namespace_is_measured() {
    let test = "fleet::a_clock_of_another_time_namespace_is_measured";
    let Some(unshare) = program("unshare") else { return skip(test, "no unshare here") };
    let works = Command::new(&unshare).args(["-T", "--monotonic", "5", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        return skip(test, "no time namespaces here");
    }
    let lab = lab("");
    for seconds in [100_000_i64, -3] {
        // Below the boot, a clock cannot be moved.
        let ssh = fake_ssh(&format!("{unshare} -T --fork --monotonic {seconds} "));
        let cache = TempDir::new().expect("a directory");
        let line = format!(
            "{} -r 200 -d 1500ms --arrivals even --on ssh:a,b --lease 10s --allow-target 127.0.0.1",
            lab.url_of("/")
        );
        let ran =
            start(&mut with_ssh(ssh.path(), cache.path(), &line)).finish().ok().assert_all_good();
        assert_sound(&ran);
        for agent in 0..2 {
            let clock = |name: &str| ran.figure(&format!("/agents/{agent}/clock_{name}_seconds"));
            let error = (clock("offset") - seconds as f64).abs();
            assert!(error <= clock("error"), "{error} of {}", clock("error"));
            assert!(clock("error") > 0.0);
        }
        // A check has no run, and states the same.
        let line = "check http://127.0.0.1:9/ --on ssh:a --allow-target 127.0.0.1 -o json";
        let output = with_ssh(ssh.path(), cache.path(), line).output().expect("brunt");
        let check: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let clock = |name: &str| check["agents"][0]["clock"][name].as_i64().expect("a number");
        let error = (clock("offset_nanos") - seconds * 1_000_000_000).abs();
        assert!(error <= clock("error_nanos") && clock("error_nanos") < 1_000_000_000, "{check}");
    }
}

#[test]
fn agents_that_cannot_start_are_named_with_the_reason() {
    let cache = TempDir::new().expect("a directory");
    let expect = |ssh: &Path, words: &[&str]| {
        let line = "http://127.0.0.1:9/ -n 1 --on ssh:a,b --allow-target 127.0.0.1";
        let ran = start(&mut with_ssh(ssh, cache.path(), line)).finish().assert_code(1);
        for word in words {
            assert!(ran.err.contains(word), "{word}: {}", ran.err);
        }
    };
    let failing = |text: &str| {
        let dir = TempDir::new().expect("a directory");
        fs::write(dir.path().join("ssh"), format!("#!/bin/sh\n{text}\n")).expect("a script");
        fs::set_permissions(dir.path().join("ssh"), fs::Permissions::from_mode(0o755))
            .expect("a script that can be executed");
        dir
    };
    let dir = failing("echo 'ssh: Could not resolve hostname' >&2; exit 255");
    expect(dir.path(), &["2 agents could not be started", "a (", "Could not resolve hostname"]);
    let dir = failing("echo 'brunt-agent 1 Linux sparc64'; read -r line");
    expect(dir.path(), &["there is no brunt for Linux sparc64", "--agent-binary"]);
    let dir =
        failing("echo 'brunt-agent 1 Linux '$(uname -m); read -r line; echo found; echo garbage");
    expect(dir.path(), &["could not be started"]);
}

#[test]
fn agents_elsewhere_need_a_list_of_targets() {
    let ran = start(&mut command("http://127.0.0.1:9/ -n 1 --on ssh:a")).finish().assert_code(1);
    assert!(ran.err.contains("--allow-target HOST"), "{}", ran.err);
}

/// A program `ssh` of another time namespace, behind a path that delays what is sent by the first
/// time and what is received by the second one.
const DELAYING_SSH: &str = r#"#!/usr/bin/env python3
import os, queue, subprocess, sys, threading, time
to_agent, from_agent, offset = DELAYS
agent = subprocess.Popen(["unshare", "-T", "--fork", "--monotonic", str(offset), "sh", "-c", sys.argv[-1]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
def carry(source, target, delay):
    waiting = queue.Queue()
    def read():
        while True:
            data = os.read(source, 65536)
            waiting.put((time.monotonic() + delay, data))
            if not data:
                return
    threading.Thread(target=read, daemon=True).start()
    while True:
        due, data = waiting.get()
        time.sleep(max(0, due - time.monotonic()))
        if not data:
            os.close(target)
            return
        try:
            os.write(target, data)
        except OSError:
            return
threading.Thread(target=carry, args=(0, agent.stdin.fileno(), to_agent), daemon=True).start()
carry(agent.stdout.fileno(), 1, from_agent)
agent.wait()
"#;

#[test]
fn the_stated_clock_error_covers_paths_with_unequal_delays() {
    let test = "fleet::the_stated_clock_error_covers_paths_with_unequal_delays";
    let (Some(unshare), Some(_)) = (program("unshare"), program("python3")) else {
        return skip(test, "no unshare or python3 here");
    };
    let works = Command::new(&unshare).args(["-T", "--monotonic", "5", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        return skip(test, "no time namespaces here");
    }
    for (to_agent, from_agent, seconds) in [(0.02, 0.002, 100_000_i64), (0.002, 0.02, -2)] {
        let dir = TempDir::new().expect("a directory");
        let script =
            DELAYING_SSH.replace("DELAYS", &format!("({to_agent}, {from_agent}, {seconds})"));
        fs::write(dir.path().join("ssh"), script).expect("a script");
        fs::set_permissions(dir.path().join("ssh"), fs::Permissions::from_mode(0o755))
            .expect("a script that can be executed");
        let line = "check http://127.0.0.1:9/ --on ssh:a,b,c --allow-target 127.0.0.1 -o json";
        let output = with_ssh(dir.path(), dir.path(), line).output().expect("brunt");
        let check: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for agent in check["agents"].as_array().expect("agents") {
            let clock = |name: &str| agent["clock"][name].as_i64().expect("a number");
            let error = (clock("offset_nanos") - seconds * 1_000_000_000).abs();
            // Half of the difference of the delays is invisible to any measurement.
            assert!(error > 5_000_000, "{agent}");
            assert!(error <= clock("error_nanos"), "{agent}");
        }
    }
}

#[test]
fn many_agents_start_and_share_a_load() {
    let lab = lab("");
    let line = format!("{} -r 900 -n 900 --on local:45 --lease 10s", lab.url_of("/"));
    let ran = measure(&line).assert_all_good();
    assert_eq!(ran.value("/agents").as_array().map(Vec::len), Some(45));
    assert_eq!(lab.into_statistics()["requests"]["received"], 900);
}

#[test]
fn a_check_shows_the_way_from_each_agent_and_what_it_carries() {
    let lab = lab("");
    let ssh = fake_ssh("");
    let line = format!("check {} --on ssh:a,b --allow-target 127.0.0.1 -o json", lab.url_of("/"));
    let output = with_ssh(ssh.path(), ssh.path(), &line).output().expect("brunt");
    let check: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for agent in check["agents"].as_array().expect("agents") {
        let found = &agent["check"];
        assert_eq!(found["route"]["same_host"], true, "{agent}");
        assert!(found["connection"]["round_trip_seconds"].as_f64() < Some(0.5), "{agent}");
        assert!(found["requests_per_core_second"].as_f64() > Some(100.0), "{agent}");
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 0, "a check on agents sends nothing");
    let line = "check http://127.0.0.1:9/ --on ssh:a --allow-target 127.0.0.1";
    let output = with_ssh(ssh.path(), ssh.path(), line).output().expect("brunt");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("no connection to the server: 127.0.0.1:9: "), "{text}");
}

#[test]
fn files_of_placeholders_are_found_on_other_machines() {
    let lab = lab("");
    let env = program("env").expect("env");
    // Another directory, as on another machine.
    let ssh = fake_ssh(&format!("{env} -C / "));
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("ids.csv"), "id\n1\n2\n").expect("rows");
    let url = lab.url_of("/?id={csv:ids.csv:id}");
    let line = format!("{url} -n 8 -c 2 --on ssh:a,b --lease 10s --allow-target 127.0.0.1");
    let mut command = with_ssh(ssh.path(), ssh.path(), &line);
    start(command.current_dir(dir.path())).finish().ok().assert_all_good();
}

#[test]
fn a_host_that_does_not_consent_is_not_loaded() {
    let lab = lab("");
    let line = format!("{} -n 1 --on local:1 --consent token-of-ours", lab.url_of("/"));
    let ran = start(&mut command(&line)).finish().assert_code(1);
    assert!(ran.err.contains("127.0.0.1 does not consent to be loaded"), "{}", ran.err);
    assert!(!ran.err.contains("starting"), "{}", ran.err);
    // The request for the file.
    assert_eq!(lab.into_statistics()["requests"]["received"], 1);
}

#[test]
fn drop_ins_share_a_load_among_agents() {
    let lab = lab("");
    let port = lab.port();
    let url = lab.url_of("/");
    let lines = [
        format!("ab --brunt-on local:2 -n 300 -c 4 {url}"),
        format!("siege --brunt-on local:2 -b -c 4 -r 25 {url}"),
        format!(
            "httperf --brunt-on local:2 --server 127.0.0.1 --port {port} --num-conn 50 --num-call 2 --rate 200"
        ),
    ];
    for line in &lines {
        let output = command(line).output().expect("brunt");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {text}");
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 500);
    let line = "ab --brunt-on ssh:a -n 1 http://127.0.0.1:9/";
    let output = command(line).output().expect("brunt");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--brunt-allow-target HOST"), "{text}");
}

#[test]
fn groups_of_agents_have_figures_of_their_own_and_are_compared() {
    let lab = lab("");
    let groups = "--group eu=local-1,local-2 --group us=local-3";
    let line = format!("{} -r 600 -d 3s --on local:3 --lease 10s {groups}", lab.url_of("/"));
    let ran = measure(&line).ok().assert_all_good();
    assert_sound(&ran);
    let rows = ran.value("/groups").as_array().expect("groups").clone();
    let of = |row: &serde_json::Value| {
        (row["label"].to_string(), row["requests"]["completed"].as_u64().unwrap_or(0))
    };
    let (eu, us) = (of(&rows[0]), of(&rows[1]));
    assert_eq!((eu.0.as_str(), us.0.as_str()), ("\"eu\"", "\"us\""));
    assert_eq!(eu.1 + us.1, ran.count("completed"));
    assert!(eu.1.abs_diff(2 * us.1) <= 2, "arrivals are dealt in turn: {} and {}", eu.1, us.1);
    assert_eq!(ran.value("/agents/2/group"), "us");
    assert!(ran.out.contains("eu (2 agents)"), "{}", ran.out);
    for (groups, what) in [
        ("--group eu=local-4", "the agents are local-1, local-2, local-3"),
        ("--group eu=local-1 --group us=local-1", "the agent local-1 is in another group, too"),
        ("--group local-1", "NAME=AGENT,AGENT"),
    ] {
        let line = format!("http://127.0.0.1:9/ -n 1 --on local:3 {groups}");
        let error = start(&mut command(&line)).finish().assert_code(2).err;
        assert!(error.contains(what), "{groups}: {error}");
    }
}

#[test]
fn populations_are_placed_on_groups_of_agents() {
    let (near, far) = (lab(""), lab(""));
    let dir = TempDir::new().expect("a directory");
    let plan = format!(
        "on: local:3\nfleet: {{groups: ['eu=local-3,local-1', us=local-2]}}\nsetup: [{{get: '{0}'}}]\n\
         populations:\n  near: {{script: {{request: '{0}'}}, load: {{rate: 500, requests: 601}}, group: eu}}\n  \
         far: {{script: {{request: '{1}'}}, load: {{users: 3, iterations: 40}}, group: us}}\n",
        near.url_of("/near"),
        far.url_of("/far")
    );
    let file = dir.path().join("plan.yaml");
    fs::write(&file, plan).expect("a plan");
    let store = format!("--store {}", dir.path().join("store").display());
    let line = format!("run {} {store}", file.display());
    let trials = start(&mut command(&line)).finish_unchecked().ok();
    let id = trials.value("/trials/0/id").as_str().expect("an id").to_owned();
    let line = format!("report {id} {store}");
    let ran = start(&mut command(&line)).finish().ok().assert_all_good();
    assert_sound(&ran);
    let completed = |pointer: &str| ran.number(&format!("{pointer}/requests/completed"));
    let counts = ["/agents/0", "/agents/1", "/agents/2", "/groups/0", "/groups/1"].map(completed);
    // The first agent of the group has the odd request.
    assert_eq!(counts, [301, 120, 300, 601, 120]);
    assert_eq!(["/groups/0/label", "/groups/1/label"].map(|label| ran.value(label)), ["eu", "us"]);
    assert_eq!(["/populations/0", "/populations/1"].map(completed), [601, 120]);
    // Groups with different requests are not compared.
    assert!(ran.json.get("group_comparisons").is_none());
    // The first agent carries out setup.
    assert_eq!(near.into_statistics()["requests"]["received"], 602);
    assert_eq!(far.into_statistics()["requests"]["received"], 120);
}

#[test]
fn quiet_agents_get_one_percent_and_are_compared() {
    let lab = lab("");
    let line =
        format!("{} -r 2000 -n 6000 --on local:3 --quiet-agents 1 --lease 10s", lab.url_of("/"));
    let ran = measure(&line).ok().assert_all_good();
    assert_sound(&ran);
    let agents = ran.value("/agents").as_array().expect("agents");
    let of = |number: usize| {
        (agents[number]["group"].to_string(), agents[number]["requests"]["completed"].as_u64())
    };
    assert_eq!(of(0), ("\"loaded\"".to_owned(), Some(2970)));
    assert_eq!(of(2), ("\"quiet\"".to_owned(), Some(60)));
    let findings = ran.value("/findings").to_string();
    assert!(findings.contains("quiet_agents"), "{findings}");
    for (options, what) in [
        ("-c 4 --quiet-agents 1", "--quiet-agents needs an open loop"),
        ("-r 9 --quiet-agents 2", "at least one of the 2 agents must not be quiet"),
        ("-r 9 --quiet-agents 1 --group a=local-1", "--group"),
    ] {
        let line = format!("http://127.0.0.1:9/ -n 1 --on local:2 {options}");
        let error = start(&mut command(&line)).finish_unchecked().err;
        assert!(error.contains(what), "{options}: {error}");
    }
}

#[test]
fn options_of_agents_are_refused_without_such_agents() {
    let nats = "--on nats:2 --nats nats://127.0.0.1:9 --fleet-name lab --fleet-key absent --allow-target 127.0.0.1";
    for (options, what) in [
        ("-n 1 --lease 2s".to_owned(), "--lease is for agents; write --on PLACES, too"),
        (
            "-n 1 --on local:2 --namespace load".to_owned(),
            "--namespace is for agents on Kubernetes or NATS; write --on k8s:N or nats:N",
        ),
        (
            "-n 1 --on local:2 --replace-lost".to_owned(),
            "--replace-lost is for agents on Kubernetes",
        ),
        (
            format!("-c 2 -n 9 --replace-lost {nats}"),
            "--replace-lost: a lost agent takes the number of requests that its users have made with it; \
             limit the load by a duration, or run without --replace-lost",
        ),
    ] {
        let line = format!("http://127.0.0.1:9/ {options}");
        let error = start(&mut command(&line)).finish_unchecked().err;
        assert!(error.contains(what), "{options}: {error}");
    }
}
