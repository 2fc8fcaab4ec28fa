//! Tests `autobench_admin` and `autobenchd` on one machine: their protocol and their results.

use super::false_httperf::{Home, report};
use crate::world::lab;
use crate::world::server::ServerProcess;
use crate::world::{port, wait_until};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

/// A daemon that waits for orders.
struct Daemon {
    port: u16,
    _server: ServerProcess,
}

fn daemon(home: &Home, httperf: &str, more: &str) -> Daemon {
    let port = port::free();
    let mut command =
        home.command("autobenchd", &format!("--port {port} --httperf {httperf} {more}"));
    let server = ServerProcess::start(command.stderr(Stdio::inherit()));
    wait_until("a daemon", || port::has_listener(port));
    Daemon { port, _server: server }
}

/// Writes a file with a secret that only its owner can read.
fn secret(home: &Home, name: &str, text: &str) -> String {
    let path = home.path(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
    path.display().to_string()
}

#[test]
fn two_machines_share_a_load_and_their_figures_are_merged() {
    let home = Home::new("host1 = 127.0.0.1\nhost2 = localhost\n");
    let others = Home::new("");
    let secret = secret(&home, "secret", "nobody will ever guess this\n");
    let with = format!("--brunt-secret {secret}");
    let one = daemon(&home, &home.httperf(&report(38, 2)), &with);
    let two = daemon(&others, &others.httperf(&report(40, 0)), &with);
    let line = format!(
        "--clients 127.0.0.1:{},127.0.0.1:{} {with} --brunt-start-in 0.1 --low_rate 5 --high_rate 5 --num_conn 11 --num_call 2",
        one.port, two.port
    );
    let output = home.run("autobench_admin", &line);
    assert_eq!(output.code, Some(0), "{}", output.err);
    // Sums, except response time and errors, in the number format of Perl.
    let cells = "42\t21\t39.6\t40\t40.8\t0.4\t12.3\t17.4\t2.63157894736842\t0\t78\t0\t0\t0";
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!((lines.len(), lines[1]), (2, &*format!("10\t{cells}\t{cells}")));
    assert_eq!(lines[0].split('\t').count(), 29);
    assert!(
        lines[0].contains("\terrors_127.0.0.1\tstatus_100_127.0.0.1\t")
            && lines[0].ends_with("\tstatus_500_localhost")
    );
    let first = home.arguments();
    let second = others.arguments();
    assert_eq!((first.len(), second.len()), (2, 2));
    assert!(
        first[0].contains("[--num-conns][6]") && second[0].contains("[--num-conns][5]"),
        "{first:?} {second:?}"
    );
    assert!(first[0].contains("[--rate][2.5]") && second[0].contains("[--rate][2.5]"));
    assert!(
        output.err.contains("Testing server 127.0.0.1 at rate: 5\n")
            && output.err.contains("Benchmark complete\n")
    );
}

#[test]
fn orders_require_the_secret() {
    let home = Home::new("host1 = 127.0.0.1\nsingle_host = 1\nlow_rate = 5\nhigh_rate = 5\n");
    let httperf = home.httperf(&report(40, 0));
    let known_secret = secret(&home, "known", "nobody will ever guess this");
    let other_secret = secret(&home, "other", "somebody else has this one");
    let guarded = daemon(&home, &httperf, &format!("--brunt-secret {known_secret}"));
    let open = daemon(&home, &httperf, "");
    assert_refused(&home, guarded.port, "", "requires a secret: write --brunt-secret FILE");
    assert_refused(
        &home,
        guarded.port,
        &format!("--brunt-secret {other_secret}"),
        "the secret differs",
    );
    assert_refused(
        &home,
        open.port,
        &format!("--brunt-secret {known_secret}"),
        "was started without --brunt-secret",
    );
    assert_refused(&home, port::free(), "", "no reply from autobenchd; start it");
    assert!(home.arguments().is_empty());
    fs::set_permissions(&known_secret, fs::Permissions::from_mode(0o644)).expect("its mode");
    assert_refused(&home, guarded.port, &format!("--brunt-secret {known_secret}"), "chmod 600");
    let output = home.run("autobenchd", "--port 0 --bindaddr 0.0.0.0");
    assert!(
        output.code == Some(255) && output.err.contains("--brunt-secret FILE"),
        "{}",
        output.err
    );
}

fn assert_refused(home: &Home, port: u16, more: &str, why: &str) {
    let output = home
        .run("autobench_admin", &format!("--clients 127.0.0.1:{port} --brunt-start-in 0.1 {more}"));
    assert!(output.code == Some(255) && output.err.contains(why), "{more}: {}", output.err);
}

/// Sends an order in the original protocol.
fn admin(daemon: &Daemon, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).expect("the daemon");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream.write_all(text.as_bytes()).expect("an order");
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

#[test]
fn the_original_protocol_is_supported() {
    let home = Home::new("");
    let open = daemon(&home, &home.httperf(&report(38, 2)), "");
    let output = answer(admin(
        &open,
        "--server h --uri \"/a\" --num-conn 10 --num-call 1 --timeout 5 --rate 3.5 --port 80\n0\nEND_AB\n",
    ));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        (lines[0], lines[1], lines[lines.len() - 1]),
        ("ACCEPTED", "BENCH_COMPLETE", "END_DATA")
    );
    for line in [
        "replies:38",
        "conn_rate:10.5",
        "rep_rate_stdv:0.2",
        "errors:2",
        "percent_errors:5.26315789473684",
        "status_200:38",
    ] {
        assert!(lines.contains(&line), "{line}: {output}");
    }
    let expected = "[--server][h][--uri][/a][--num-conns][10][--num-calls][1][--timeout][5][--rate][3.5][--port][80]";
    assert_eq!(home.arguments(), [expected]);
    home.httperf(&report(0, 20));
    assert_eq!(answer(admin(&open, "--server h\n0\nEND_AB\n")), "ACCEPTED\nBENCH_FAILED\n\n");
}

#[test]
fn remote_input_reaches_no_shell_and_no_file() {
    let home = Home::new("");
    let open = daemon(&home, &home.httperf(&report(38, 2)), "");
    for (order, why) in [
        ("--server h; touch DIR/made\n0\nEND_AB\n", "unknown option touch"),
        ("--wlog y,DIR/secret\n0\nEND_AB\n", "unrecognized option '--wlog'"),
        ("--brunt-json DIR/made\n0\nEND_AB\n", "not accepted from a remote host"),
        ("--server h\nsoon\nEND_AB\n", "`soon` is not a start time"),
        ("--server h\n99999999999\nEND_AB\n", "set the clocks"),
        ("--server h\n0\nmore\n", "ends with END_AB"),
    ] {
        let output =
            answer(admin(&open, &order.replace("DIR", &home.dir.path().display().to_string())));
        assert!(output.starts_with("REFUSED ") && output.contains(why), "{order}: {output}");
    }
    assert!(home.arguments().is_empty() && !home.path("made").exists());
    let output = answer(admin(&open, "--uri $(touch\\ made)`id`\n0\nEND_AB\n"));
    assert!(output.contains("END_DATA") || output.starts_with("REFUSED"), "{output}");
    assert!(!home.path("made").exists());
}

#[test]
fn a_test_ends_when_its_admin_aborts_or_disconnects() {
    let home = Home::new("");
    let httperf = home.script("echo $$ >DIR/aside; mv DIR/aside DIR/pid; exec sleep 30");
    let open = daemon(&home, &httperf, "");
    for how in ["ABORT", "gone"] {
        let mut stream = admin(&open, "--server h\n0\nEND_AB\n");
        wait_until("a test", || home.path("pid").exists());
        let pid = fs::read_to_string(home.path("pid")).expect("a number");
        fs::remove_file(home.path("pid")).expect("gone");
        if how == "ABORT" {
            stream.write_all(b"ABORT\n").expect("a word");
        } else {
            stream.shutdown(Shutdown::Both).expect("an end");
        }
        wait_until("the end of the test", || {
            !std::path::Path::new(&format!("/proc/{}", pid.trim())).exists()
        });
    }
}

#[test]
fn agents_share_the_load_of_each_test() {
    let lab = lab("");
    let home = Home::new("host1 = 127.0.0.1\n");
    let line = format!(
        "--single_host --port1 {} --uri1 / --low_rate 50 --high_rate 100 --rate_step 50 --num_conn 40 --num_call 2 --quiet --brunt-on local:2",
        lab.port()
    );
    let output = home.run("autobench_admin", &line);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", output.out);
    for line in &lines[1..] {
        // The last columns are replies by class: each test has 80 replies with 200.
        assert!(line.ends_with("\t0\t0\t80\t0\t0\t0"), "{line}");
    }
    assert_eq!(lab.into_statistics()["requests"]["received"], 160);
    let output = home.run("autobench_admin", "--single_host --brunt-json=a.json");
    assert!(output.err.contains("write --brunt-on PLACES for agents"), "{}", output.err);
}
