//! Causes limits on this machine.

use super::quiet::{assert_limits, first_core, is_full_proof, start_busy_loop};
use super::{judge_run, judge_suspended_run};
use crate::world::brunt::program;
use crate::world::lab::lab_by;
use crate::world::skip::{program as tool, skip};
use crate::world::{Lab, command, lab, nginx};
use brunt_model::finding::LimitingResource;
use brunt_model::reading_names as name;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Command that starts brunt with another program: `taskset -c 0`, `sh -c '… exec "$0" "$@"'`.
fn wrapped_brunt(before: &[&str], line: &str) -> Command {
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(program("BRUNT_BIN", "brunt")).args(line.split_whitespace());
    command
}

/// True if taskset is installed; otherwise skips the test.
fn has_taskset(test: &str) -> bool {
    let found = tool("taskset").is_some();
    if !found {
        skip(test, "no taskset here");
    }
    found
}

#[test]
fn a_healthy_run_names_none() {
    let (runs, seconds) = if is_full_proof() { (20, 10) } else { (5, 1) };
    let lab = lab("--service const:1ms");
    for load in ["-r 300", "-c 4 --think 5ms"].iter().cycle().take(runs) {
        let is_tested = assert_limits("a_healthy_run_names_none", &[], || {
            let healthy =
                judge_run(&mut command(&format!("{} {load} -d {seconds}s", lab.url_of("/"))));
            assert!(!healthy.verdict.evidence.is_empty());
            healthy
        });
        if !is_tested {
            return;
        }
    }
}

#[test]
fn a_saturated_worker_is_named() {
    // The load is expensive for brunt (a pattern on each body of 200 kB) and cheap for nginx.
    let Some(nginx) = nginx("verdict::real::a_saturated_worker_is_named", "sendfile on;") else {
        return;
    };
    assert_limits("a_saturated_worker_is_named", &[LimitingResource::Worker], || {
        judge_run(&mut command(&format!(
            "{} -c 8 --threads 1 -d 2s --expect-body ^x*y?x*$",
            nginx.url_of("/long")
        )))
    });
}

#[test]
fn other_processes_on_all_cores_are_named() {
    if !has_taskset("verdict::real::other_processes_on_all_cores_are_named") {
        return;
    }
    // A load that needs the whole machine. The scheduler delays a small one only a little, so
    // nothing would be named.
    let lab = lab("");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    assert_limits(
        "other_processes_on_all_cores_are_named",
        &[LimitingResource::OtherProcesses],
        || {
            let _neighbours: Vec<_> = (0..2 * cores).map(|_| start_busy_loop(None)).collect();
            judge_run(&mut command(&format!("{} -c 32 -d 2s", lab.url_of("/"))))
        },
    );
}

/// A server with the same name as busy loops is distinguished by its pid.
#[test]
fn namesakes_of_the_server_are_other_processes() {
    if !has_taskset("verdict::real::namesakes_of_the_server_are_other_processes") {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let namesake = dir.path().join("sh");
    fs::copy(program("BRUNT_LAB_BIN", "brunt-lab"), &namesake).expect("a copy of the lab");
    let lab = lab_by(Command::new(&namesake), "");
    let loops: Vec<_> = (0..2).map(|_| start_busy_loop(None)).collect();
    let judged_run = judge_run(&mut command(&format!("{} -r 50 -d 3s", lab.url_of("/"))));
    drop(loops);
    let others = seconds_of(&judged_run, &name::processes("sh"));
    assert!(
        others > 0.6 && seconds_of(&judged_run, name::SERVER_PROCESSES) < 0.5 * others,
        "{}",
        judged_run.ran.out
    );
    let verdict = &judged_run.verdict;
    assert!(verdict.other_processes.iter().any(|process| process.name == "sh"), "{verdict:?}");
    assert!(
        !judged_run.ran.out.contains("CPU-bound") && !judged_run.ran.out.contains("more threads"),
        "{}",
        judged_run.ran.out
    );
}

/// CPU time of a counter of processes.
fn seconds_of(judged: &super::JudgedRun, reading: &str) -> f64 {
    judged.run.history[name::GENERATOR].values(reading).last().map_or(0.0, |value| value.1)
}

#[test]
fn waiting_for_a_core_is_named() {
    if !has_taskset("verdict::real::waiting_for_a_core_is_named") {
        return;
    }
    let lab = lab("");
    let core = first_core();
    assert_limits("waiting_for_a_core_is_named", &[LimitingResource::RunQueue], || {
        let _neighbour = start_busy_loop(Some(&core));
        judge_run(&mut wrapped_brunt(
            &["taskset", "-c", &core],
            &format!("{} -c 8 -d 2s", lab.url_of("/")),
        ))
    });
}

/// A control group with a quota of a tenth of a core, of the version that is writable here. It is
/// removed when this value is dropped.
struct Group {
    folder: PathBuf,
    /// Processes of the group; with version 1 they may have to leave it for another.
    processes: PathBuf,
}

impl Group {
    fn new() -> Option<Self> {
        let v1 = || {
            Self::at(
                "/sys/fs/cgroup/cpu",
                &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")],
            )
        };
        v1().or_else(|| Self::at("/sys/fs/cgroup", &[("cpu.max", "10000 100000")]))
    }

    fn at(mount: &str, settings: &[(&str, &str)]) -> Option<Self> {
        let folder = PathBuf::from(format!("{mount}/brunt-test-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let group = Self { processes: folder.join("cgroup.procs"), folder };
        settings
            .iter()
            .all(|(file, value)| fs::write(group.folder.join(file), value).is_ok())
            .then_some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group may need a moment to become empty after its last process has ended.
        let _ =
            (0..100).any(|_| fs::remove_dir(&self.folder).is_ok() || crate::world::wait_a_moment());
    }
}

#[test]
fn cpu_throttling_is_named() {
    let test = "verdict::real::cpu_throttling_is_named";
    let Some(group) = Group::new() else {
        return skip(test, "no control group with a CPU quota can be made here");
    };
    let lab = lab("");
    let join = format!("echo $$ > {} && exec \"$0\" \"$@\"", group.processes.display());
    assert_limits("cpu_throttling_is_named", &[LimitingResource::Throttled], || {
        judge_run(&mut wrapped_brunt(
            &["sh", "-c", &join],
            &format!("{} -c 16 -d 2s", lab.url_of("/")),
        ))
    });
}

#[test]
fn a_low_limit_on_open_files_is_named() {
    let lab = lab("--service const:200ms");
    let low = "ulimit -n 100 && exec \"$0\" \"$@\"";
    assert_limits("a_low_limit_on_open_files_is_named", &[LimitingResource::Descriptors], || {
        judge_run(&mut wrapped_brunt(
            &["sh", "-c", low],
            &format!("{} -r 400 -d 1s", lab.url_of("/")),
        ))
    });
}

#[test]
fn exhausted_descriptors_are_named() {
    let test = "exhausted_descriptors_are_named";
    let Some(bash) = tool("bash") else {
        return skip(&format!("verdict::real::{test}"), "no bash here");
    };
    let lab = lab("--service const:1ms");
    // brunt keeps 64 descriptors free; here the parent leaves it with a hundred open ones.
    let leave = "for n in {30..129}; do eval \"exec $n</dev/null\"; done; ulimit -n 180 && exec \"$0\" \"$@\"";
    assert_limits(test, &[LimitingResource::Descriptors], || {
        let judged_run = judge_run(&mut wrapped_brunt(
            &[&bash, "-c", leave],
            &format!("{} -c 100 -d 1s --grace 1s", lab.url_of("/")),
        ));
        assert!(
            judged_run.ran.failed("fds_exhausted") > 0,
            "{}{}",
            judged_run.ran.out,
            judged_run.ran.err
        );
        judged_run
    });
}

/// Script for a network namespace with ten local ports that executes its arguments.
const FEW_PORTS: &str = "ip link set lo up && echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" \"$@\"";

fn may_make_namespaces() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["-n", "sh", "-c", FEW_PORTS, "true"]);
    tool("nsenter").is_some() && unshare.output().is_ok_and(|output| output.status.success())
}

fn lab_with_few_ports() -> Lab {
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-c", FEW_PORTS]).arg(program("BRUNT_LAB_BIN", "brunt-lab"));
    // At 8000 requests/s, a worker on two cores waits for a core 5 % of the time, which would also
    // be a cause.
    lab_by(command, "--service const:5ms")
}

#[test]
fn a_narrow_range_of_ports_is_named() {
    let test = "verdict::real::a_narrow_range_of_ports_is_named";
    if !may_make_namespaces() {
        return skip(test, "no network namespace can be made here");
    }
    assert_limits("a_narrow_range_of_ports_is_named", &[LimitingResource::Ports], || {
        // A new namespace each time: the ports of the last one are in TIME_WAIT.
        let lab = lab_with_few_ports();
        let namespace = format!("--net=/proc/{}/ns/net", lab.server.child.id());
        judge_run(&mut wrapped_brunt(
            &["nsenter", &namespace],
            &format!("{} -c 40 -d 1s --source 127.0.0.1", lab.url_of("/")),
        ))
    });
}

#[test]
fn a_suspended_brunt_is_named() {
    let lab = lab("--service const:1ms");
    let mut sentences = Vec::new();
    let named = assert_limits("a_suspended_brunt_is_named", &[LimitingResource::Stopped], || {
        let judged = judge_suspended_run(
            Duration::from_millis(600),
            &mut command(&format!("{} -r 200 -d 3s", lab.url_of("/"))),
        );
        sentences = judged.verdict.causes.iter().map(|cause| cause.sentence.clone()).collect();
        judged
    });
    if named {
        assert!(sentences[0].contains("did not run for 0."), "{sentences:?}");
    }
}

#[test]
fn a_full_accept_queue_is_read() {
    // The listener never accepts. Its queue has room for 128 connections (the value of the standard
    // library), and the rest overflow.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let line = format!("{url} -c 300 -d 2s --timeout 1s --connect-timeout 1s --grace 0s");
    let judged_run = judge_run(&mut command(&line));
    let overflows = judged_run.run.history[name::GENERATOR].values(name::LISTEN_OVERFLOWS);
    let grown =
        overflows.last().zip(overflows.first()).map_or(0.0, |(last, first)| last.1 - first.1);
    assert!(grown > 0.0, "{overflows:?}\n{}", judged_run.ran.out);
}
