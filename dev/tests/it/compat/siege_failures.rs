//! Compares the drop-in `siege` with the real siege when requests fail. Tests cases in which siege
//! itself fails.

use super::both::{both, ours};
use super::siege::{PLAIN, mask, rc};
use crate::world::odd::{page, serve_connections, serve_reply};
use crate::world::{command, lab, port, wait_until};
use rustix::process::Signal;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

#[test]
fn a_dead_port_is_reported_the_same() {
    let Some(siege) = both("compat::siege_failures::a_dead_port_is_reported_the_same", "siege")
    else {
        return;
    };
    let dir = TempDir::new().expect("a directory");
    let url = format!("http://127.0.0.1:{}/", port::free());
    let [plain, few] = [("plain", ""), ("few", "failures = 5\n")]
        .map(|(name, more)| rc(dir.path(), name, &format!("{PLAIN}{more}")));
    for words in [
        &["-R", &plain, "-c1", "-r1", &url][..],
        &["-R", &plain, "-c1", "-r3", "-j", &url],
        &["-R", &few, "-c1", "-r20", &url],
    ] {
        siege.agree_masked(words, mask);
    }
    let output = ours("siege", &["-R", &few, "-c3", "-r20", &url]);
    assert!(
        output.err.contains("siege aborted due to excessive socket failure; you\n"),
        "{}",
        output.err
    );
    assert!(output.err.contains("Failed transactions:\t           5\n"), "{}", output.err);
    assert!(
        output.err.contains("\nbrunt - the run ended early at the limit of 5 failures"),
        "{}",
        output.err
    );
}

/// The server accepts connections and never replies: siege waits forever, or reports neither hits
/// nor failures.
#[test]
fn a_silent_server_is_reported() {
    let odd = serve_connections(|mut client| {
        client.request();
        sleep(Duration::from_secs(5));
    });
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}timeout = 1\n"));
    let output = ours("siege", &["-R", &rc, "-c3", "-r1", &odd.url_of("/")]);
    assert!(output.err.contains("Failed transactions:\t           3\n"), "{}", output.err);
    let rc = super::siege::rc(dir.path(), "patient", PLAIN);
    let output = ours("siege", &["-R", &rc, "-c3", "-t1S", &odd.url_of("/")]);
    assert!(
        output.err.contains("\nbrunt - 3 requests were in flight at the end and are in no figure"),
        "{}",
        output.err
    );
}

/// siege fails to allocate memory for 3000 users, and polls the wrong descriptors from 1024 on.
#[test]
fn three_thousand_users_are_served() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}limit = 5000\n"));
    let output = ours("siege", &["-R", &rc, "-c", "3000", "-r", "2", "-b", &lab.url_of("/")]);
    assert!(
        output.err.contains("** Preparing 3000 concurrent users for battle.\n"),
        "{}",
        output.err
    );
    assert!(output.err.contains("Transactions:\t\t        6000 hits\n"), "{}", output.err);
    assert!(output.err.contains("Failed transactions:\t           0\n"), "{}", output.err);
}

#[test]
fn more_users_than_the_limit_are_reported() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}limit = 4\n"));
    let output = ours("siege", &["-R", &rc, "-c", "9", "-r", "1", "-b", &lab.url_of("/")]);
    assert!(
        output.out.contains("\nWARNING: The number of users is capped at 4.  To increase this\n"),
        "{}",
        output.out
    );
    assert!(output.err.contains("Transactions:\t\t           4 hits\n"), "{}", output.err);
    assert!(output.err.contains("\nbrunt - 9 users requested, capped at 4"), "{}", output.err);
}

/// Pauses determined the figures of many published comparisons.
#[test]
fn decisive_pauses_are_reported() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", PLAIN);
    let output = ours("siege", &["-R", &rc, "-c", "5", "-t1S", "-d", "0.5", &lab.url_of("/")]);
    assert!(
        output.err.contains("\nbrunt - each user paused 250 ms on average after a page that took "),
        "{}",
        output.err
    );
    assert!(
        !ours("siege", &["-R", &rc, "-c", "5", "-r9", "-b", &lab.url_of("/")])
            .err
            .contains("paused")
    );
}

#[test]
fn time_with_repetitions_is_reported_the_same() {
    let Some(siege) =
        both("compat::siege_failures::time_with_repetitions_is_reported_the_same", "siege")
    else {
        return;
    };
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", PLAIN);
    let url = format!("http://127.0.0.1:{}/", port::free());
    let words = ["-R", &rc, "-c1", "-r2", "-t1S", "-d99999", &url];
    assert_eq!(first_lines(&siege.real(&words).err), first_lines(&siege.ours(&words).err));
}

fn first_lines(err: &str) -> Vec<String> {
    err.lines().take(4).map(str::to_owned).collect::<Vec<_>>()
}

#[test]
fn an_interrupted_run_prints_its_report() {
    let odd = serve_reply(page("hello"));
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", PLAIN);
    let mut command = command("siege");
    command.args(["-R", &rc, "-c2", "-b", &odd.url_of("/")]);
    let running = crate::world::brunt::start_plain(&mut command);
    wait_until("some requests", || odd.requests().len() > 20);
    running.signal(Signal::INT);
    let ran = running.finish_unchecked();
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("\nLifting the server siege...\nTransactions:\t\t"), "{}", ran.err);
}

/// siege requests a page that requires credentials five times, with or without a login; `attempts`
/// changes that number.
#[test]
fn a_page_with_a_login_is_requested_equally_often() {
    let Some(siege) =
        both("compat::siege_failures::a_page_with_a_login_is_requested_equally_often", "siege")
    else {
        return;
    };
    let dir = TempDir::new().expect("a directory");
    for (name, more, each) in
        [("none", "", 5), ("wrong", "login = a:b\n", 5), ("few", "login = a:b\nattempts = 3\n", 3)]
    {
        let rc = rc(dir.path(), name, &format!("{PLAIN}{more}"));
        let real = refusing_server();
        let ours = refusing_server();
        siege.real(&["-R", &rc, "-c1", "-r2", "-b", &real.url_of("/")]);
        siege.ours(&["-R", &rc, "-c1", "-r2", "-b", &ours.url_of("/")]);
        assert_eq!((real.requests().len(), ours.requests().len()), (2 * each, 2 * each), "{name}");
    }
}

fn refusing_server() -> crate::world::ScriptedServer {
    serve_reply(
        "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno",
    )
}

/// Programs that read the report on stderr take any text before a colon as a key.
#[test]
fn notes_contain_no_colon() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}limit = 4\n"));
    let output = ours(
        "siege",
        &[
            "-R",
            &rc,
            "-c9",
            "-r1",
            "--brunt-store-dir",
            &dir.path().display().to_string(),
            &lab.url_of("/"),
        ],
    );
    let notes: Vec<&str> = output.err.lines().filter(|line| line.starts_with("brunt")).collect();
    assert!(notes.len() >= 2 && notes.iter().all(|note| !note.contains(':')), "{notes:?}");
}

/// Elements of a page become labels during the load.
#[test]
fn page_elements_have_labels_with_one_url() {
    let odd = serve_connections(|mut client| {
        while client.request().is_some() {
            let html = "<html><img src=\"/1.png\"></html>";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
            if !client.write(format!("{head}Content-Length: {}\r\n\r\n{html}", html.len())) {
                return;
            }
        }
    });
    let dir = TempDir::new().expect("a directory");
    let rc = rc(dir.path(), "rc", &format!("{PLAIN}parser = true\n"));
    let json = dir.path().join("json").display().to_string();
    ours("siege", &["-R", &rc, "-c1", "-r3", "-b", "--brunt-json", &json, &odd.url_of("/")]);
    let json = std::fs::read_to_string(json).expect("the JSON");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let labels = json["labels"].to_string();
    assert!(labels.contains("1.png"), "{labels}");
}
