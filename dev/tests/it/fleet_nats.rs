//! Runs loads on agents that wait on NATS, with a server of NATS that the test starts.

use crate::world::brunt::with_single_spaces;
use crate::world::server::ServerProcess;
use crate::world::skip::{program, skip};
use crate::world::{BruntOutput, command, lab, port, start, start_logged, wait_until};
use nkeys::KeyPair;
use rustix::process::{Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Servers of NATS with JetStream, and the files of a fleet.
struct Nats {
    ports: Vec<u16>,
    dir: TempDir,
    servers: Vec<ServerProcess>,
}

impl Nats {
    /// Starts a server that accepts one user. Skips the test and returns None without the program.
    fn start(test: &str) -> Option<Self> {
        Self::start_cluster(test, 1)
    }

    /// Starts servers that store each message on all of them.
    fn start_cluster(test: &str, count: usize) -> Option<Self> {
        let Some(program) = program("nats-server") else {
            skip(test, "no nats-server here");
            return None;
        };
        let dir = TempDir::new().expect("a directory");
        let user = KeyPair::new_user();
        fs::write(dir.path().join("seed"), user.seed().expect("a seed")).expect("a file");
        let key = command("fleet key").output().expect("brunt");
        fs::write(dir.path().join("key"), key.stdout).expect("a file");
        let ports: Vec<u16> = (0..count).map(|_| port::free()).collect();
        let routes: Vec<u16> = (0..count).map(|_| port::free()).collect();
        let all_routes: Vec<String> =
            routes.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let mut servers = Vec::new();
        for (number, (port, route)) in ports.iter().zip(&routes).enumerate() {
            let cluster = format!(
                "server_name: n{number}\ncluster {{ name: c, listen: \"127.0.0.1:{route}\", routes: [{}] }}\n",
                all_routes.join(", ")
            );
            let configuration = format!(
                "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n\
                 authorization {{ users: [ {{ nkey: \"{}\" }} ] }}\n{}",
                dir.path().join(format!("store/{number}")).display(),
                user.public_key(),
                if count > 1 { cluster } else { String::new() }
            );
            let file = dir.path().join(format!("{number}.conf"));
            fs::write(&file, configuration).expect("a configuration");
            let log = fs::File::create(dir.path().join(format!("{number}.log"))).expect("a log");
            let mut command = Command::new(&program);
            servers.push(ServerProcess::start(command.arg("-c").arg(file).stderr(log)));
        }
        wait_until("servers of NATS", || {
            let have_ended = servers.iter_mut().any(|server| server.exit_status().is_some());
            assert!(!have_ended, "a server of NATS has ended: {}", dir.path().display());
            ports.iter().all(|port| port::has_listener(*port))
        });
        Some(Self { ports, dir, servers })
    }

    /// Number of the server that stores the fleet's messages first.
    fn leader(&self) -> Option<usize> {
        (0..self.servers.len()).find(|number| {
            let log = fs::read_to_string(self.dir.path().join(format!("{number}.log")));
            log.is_ok_and(|log| log.contains("new stream leader for '$G > brunt-lab'"))
        })
    }

    /// The options of an agent or of a run.
    fn options(&self, seed: &Path) -> String {
        let path = self.dir.path();
        let servers: Vec<String> =
            self.ports.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        format!(
            "--nats {} --fleet-name lab --fleet-key {} --nats-nkey {}",
            servers.join(","),
            path.join("key").display(),
            seed.display()
        )
    }

    fn seed(&self) -> std::path::PathBuf {
        self.dir.path().join("seed")
    }

    fn agents(&self, count: usize) -> Vec<ServerProcess> {
        (0..count).map(|number| self.agent(number)).collect()
    }

    fn agent(&self, number: usize) -> ServerProcess {
        let line = format!("agent {} --name waiting-{number}", self.options(&self.seed()));
        ServerProcess::start(command(&line).stdin(Stdio::null()))
    }

    /// True if a file of the server contains this text.
    fn stores(&self, text: &[u8]) -> bool {
        let mut folders = vec![self.dir.path().join("store")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path)
                    .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text))
                {
                    return true;
                }
            }
        }
        false
    }
}

#[test]
fn agents_that_wait_on_nats_take_one_run_after_the_other() {
    let test = "fleet_nats::agents_that_wait_on_nats_take_one_run_after_the_other";
    let Some(nats) = Nats::start(test) else { return };
    let lab = lab("");
    let _agents = nats.agents(3);
    for _ in 0..2 {
        let line = format!(
            "{} -r 300 -n 600 --on nats:3 --allow-target 127.0.0.1 {}",
            lab.url_of("/"),
            nats.options(&nats.seed())
        );
        let ran = start(&mut command(&line)).finish().ok().assert_all_good();
        assert_eq!(ran.count("planned"), 600);
        let agents = ran.value("/agents").as_array().expect("agents");
        let names: Vec<_> = agents.iter().filter_map(|agent| agent["name"].as_str()).collect();
        assert_eq!(names, ["waiting-0", "waiting-1", "waiting-2"]);
        assert_eq!(ran.failed_checks(), []);
        // Each agent has found its route to the server, which is on its machine.
        let remarks = ran.value("/findings").to_string();
        assert!(remarks.contains("Client and server, brunt-lab (pid"), "{remarks}");
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 1200);
}

#[test]
fn servers_of_nats_store_no_plan_and_no_secret() {
    let test = "fleet_nats::servers_of_nats_store_no_plan_and_no_secret";
    let Some(nats) = Nats::start(test) else { return };
    let lab = lab("");
    let _agents = nats.agents(2);
    let line = format!(
        "{} -r 200 -d 3s --on nats:2 --allow-target 127.0.0.1 -H Authorization:planted-secret {}",
        lab.url_of("/planted-path"),
        nats.options(&nats.seed())
    );
    let mut run = start(&mut command(&line));
    run.wait_until("packets of a run", |_| nats.stores(b"brunt.lab.from."));
    sleep(Duration::from_secs(2));
    assert!(!nats.stores(b"planted-secret") && !nats.stores(b"planted-path"));
    run.finish().ok().assert_all_good();
    wait_until("the end of the stream", || !nats.stores(b"brunt.lab.from."));
}

#[test]
fn unknown_users_and_missing_agents_are_errors() {
    let test = "fleet_nats::unknown_users_and_missing_agents_are_errors";
    let Some(nats) = Nats::start(test) else { return };
    let run = |seed: &Path, more: &str| {
        let line = format!(
            "http://127.0.0.1:9/ -n 1 --on nats:2 --allow-target 127.0.0.1 {} {more}",
            nats.options(seed)
        );
        start(&mut command(&line)).finish().assert_code(1).err
    };
    let stranger = nats.dir.path().join("stranger");
    fs::write(&stranger, KeyPair::new_user().seed().expect("a seed")).expect("a file");
    let error = run(&stranger, "");
    assert!(error.contains("--nats-nkey FILE") && error.contains("authorization"), "{error}");
    let error = run(&nats.seed(), "--start-deadline 1s");
    assert!(error.contains("0 of 2 agents announced themselves within 1 s"), "{error}");
    let line = "http://127.0.0.1:9/ -n 1 --on nats:2 --allow-target 127.0.0.1 --nats nats://a:b@127.0.0.1:9";
    let error = start(&mut command(line)).finish().assert_code(2).err;
    assert!(error.contains("it contains a user") && !error.contains("a:b"), "{error}");
}

#[test]
fn a_run_survives_the_end_of_the_leader_of_three_servers() {
    let test = "fleet_nats::a_run_survives_the_end_of_the_leader_of_three_servers";
    let Some(nats) = Nats::start_cluster(test, 3) else { return };
    let lab = lab("");
    let _agents = nats.agents(2);
    // Three servers need a few seconds until they agree on a leader.
    sleep(Duration::from_secs(5));
    let line = format!(
        "{} -r 200 -d 20s --on nats:2 --allow-target 127.0.0.1 {}",
        lab.url_of("/"),
        nats.options(&nats.seed())
    );
    let mut run = start(&mut command(&line));
    run.wait_until("a leader", |_| nats.leader().is_some());
    sleep(Duration::from_secs(4));
    let leader = nats.leader().expect("a leader");
    // Without a chance to hand its messages over.
    nats.servers[leader].signal(Signal::KILL);
    let ran = run.finish().ok().assert_all_good();
    assert!(!ran.out.contains("was lost"), "{}", ran.out);
    assert_eq!(ran.failed_checks(), []);
    assert_eq!(
        lab.into_statistics()["requests"]["received"].as_u64(),
        Some(ran.count("completed")),
        "no figure is missing"
    );
}

#[test]
fn a_fleet_has_one_controller_and_survives_its_end() {
    let test = "fleet_nats::a_fleet_has_one_controller_and_survives_its_end";
    let Some(nats) = Nats::start(test) else { return };
    let lab = lab("");
    let _agents = nats.agents(2);
    let run = |load: &str| {
        let line = format!(
            "{} {load} --on nats:2 --allow-target 127.0.0.1 {}",
            lab.url_of("/"),
            nats.options(&nats.seed())
        );
        start_logged(&mut command(&line))
    };
    let mut first = run("-r 50 -d 60s");
    first.wait_until_logged("replies", |flow| flow.good > 0);
    let error = run("-n 1").finish().assert_code(1).err;
    assert!(error.contains("the fleet lab is in use by another brunt"), "{error}");
    kill_process(first.pid(), Signal::KILL).expect("a signal");
    run("-r 50 -n 20 --start-deadline 1m").finish().ok().assert_all_good();
}

/// Kills brunt in the middle of a run, and has another one go on with it. Returns its report and the number of
/// requests that the server received.
fn attach_after_a_kill(test: &str, options: &str, pause: Duration) -> Option<(BruntOutput, u64)> {
    let nats = Nats::start(test)?;
    let lab = lab("");
    let _agents = nats.agents(2);
    let store = TempDir::new().expect("a directory");
    let in_store = |line: &str| command(&format!("{line} --store {}", store.path().display()));
    let line = format!(
        "{} {options} --on nats:2 --allow-target 127.0.0.1 -H Authorization:planted-secret {}",
        lab.url_of("/"),
        nats.options(&nats.seed())
    );
    let mut first = start_logged(&mut in_store(&line));
    first.wait_until_logged("replies", |flow| flow.good > 0);
    let runs = in_store("runs").output().expect("brunt").stdout;
    let runs = String::from_utf8(runs).expect("text");
    let id = runs.lines().last().and_then(|line| line.split(' ').next()).expect("a run");
    let error = start(&mut in_store(&format!("attach {id}"))).finish().assert_code(1).err;
    assert!(error.contains("the fleet lab is in use by another brunt"), "{error}");
    kill_process(first.pid(), Signal::KILL).expect("a signal");
    let kept = fs::read_dir(store.path().join("fleets")).expect("a folder").next();
    let kept = kept.expect("a fleet").expect("a folder").path();
    for file in ["fleet.json", "packets"] {
        let bytes = fs::read(kept.join(file)).expect("a file");
        assert!(!bytes.windows(14).any(|part| part == b"planted-secret"), "{file}");
    }
    sleep(pause);
    let ran = start(&mut in_store(&format!("attach {id}"))).finish();
    let out = with_single_spaces(&ran.out);
    assert!(out.contains("another process took its place"), "{out}");
    assert!(!ran.out.contains("planted-secret"), "{}", ran.out);
    assert_eq!(fs::read_dir(store.path().join("fleets")).expect("a folder").count(), 0);
    let stored = start(&mut in_store(&format!("report {id}"))).finish().json;
    assert_eq!(stored["requests"], ran.json["requests"], "the stored run is the reported one");
    let received = lab.into_statistics()["requests"]["received"].as_u64()?;
    Some((ran, received))
}

#[test]
fn another_brunt_goes_on_with_the_run_of_one_that_was_killed() {
    let test = "fleet_nats::another_brunt_goes_on_with_the_run_of_one_that_was_killed";
    let ran = attach_after_a_kill(test, "-r 300 -d 12s", Duration::from_secs(2));
    let Some((ran, received)) = ran else { return };
    let ran = ran.ok().assert_all_good();
    assert_eq!(ran.failed_checks(), []);
    assert_eq!(ran.count("completed"), received, "no figure is missing");
    assert!(ran.count("planned") > 3_000 && !ran.out.contains("ended before its time"));
}

#[test]
fn agents_stop_if_no_other_brunt_comes_and_nothing_is_lost() {
    let test = "fleet_nats::agents_stop_if_no_other_brunt_comes_and_nothing_is_lost";
    let options = "-r 300 -d 60s --lease 2s";
    let Some((ran, received)) = attach_after_a_kill(test, options, Duration::from_secs(4)) else {
        return;
    };
    assert_eq!(ran.failed_checks(), []);
    // A request in flight at the end of the lease is cut, perhaps before the server has read it.
    let begun = ran.count("begun");
    assert_eq!((ran.count("completed") + ran.count("cut"), ran.count("failed")), (begun, 0));
    assert!(
        (ran.count("completed")..=begun).contains(&received),
        "{received} of {}",
        ran.json["requests"]
    );
    let out = with_single_spaces(&ran.out);
    assert!(out.contains("received nothing from brunt for the time of --lease"), "{out}");
    assert!(out.contains("The run is incomplete"), "{out}");
}

#[test]
fn an_agent_that_is_started_again_goes_on_with_the_share_of_the_killed_one() {
    let test =
        "fleet_nats::an_agent_that_is_started_again_goes_on_with_the_share_of_the_killed_one";
    let Some(nats) = Nats::start(test) else { return };
    let lab = lab("");
    let agents = nats.agents(3);
    let line = format!(
        "{} -r 300 -d 20s --lease 2s --replace-lost --allow-lost 40% --on nats:3 --allow-target 127.0.0.1 {}",
        lab.url_of("/"),
        nats.options(&nats.seed())
    );
    let mut run = start_logged(&mut command(&line));
    run.wait_until_logged("replies", |flow| flow.good > 0);
    agents[1].signal(Signal::KILL);
    let _again = nats.agent(1);
    let ran = run.finish().ok();
    assert_eq!(ran.failed_checks(), []);
    let seconds = |path: &str| ran.value(path).as_f64().expect("an instant");
    let missing = seconds("/agents/1/replaced_at_seconds") - seconds("/agents/1/lost_at_seconds");
    assert!(missing > 2.0, "{missing} s: the lost agent could still load the server");
    let planned = ran.count("planned") as f64;
    let expected = 300.0 * 20.0 - 100.0 * missing;
    // The arrivals are random.
    assert!((planned - expected).abs() < 4.0 * expected.sqrt(), "{planned}, not {expected}");
    // The server knows of requests that the killed agent has not reported.
    let received = lab.into_statistics()["requests"]["received"].as_u64().unwrap_or_default();
    let completed = ran.count("completed");
    assert!((completed..completed + 200).contains(&received), "{completed}, {received}");
    let out = with_single_spaces(&ran.out);
    assert!(out.contains("agent waiting-1 was lost: its share is missing from"), "{out}");
    assert!(out.contains("another process took the place of agent waiting-1"), "{out}");
}
