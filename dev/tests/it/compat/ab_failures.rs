//! Compares the drop-in `ab` with the real ab when requests fail.

use super::both::{ToolPair, both, ours};
use crate::world::odd::{Client, ScriptedServer, serve_connections};
use crate::world::{port, wait_until};
use rustix::process::Signal;
use std::collections::HashMap;
use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

/// Starts a server whose behavior depends on the path. Counts the requests of each path.
fn moody() -> ScriptedServer {
    let counts: Arc<Mutex<HashMap<String, u32>>> = Arc::default();
    serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
            let number = {
                let mut counts = counts.lock().expect("the counts");
                let count = counts.entry(path.clone()).or_default();
                *count += 1;
                *count - 1
            };
            if !behave(&mut client, path.split('/').nth(1).unwrap_or(""), number) {
                return;
            }
        }
    })
}

fn page(status: u16, announced: usize, body: &str) -> String {
    // ab does not read the name of the server from an incomplete reply.
    let name = if body.len() == announced { "Server: moody 1\r\n" } else { "" };
    format!("HTTP/1.0 {status} Some\r\n{name}Content-Length: {announced}\r\n\r\n{body}")
}

/// Replies according to the path. Returns true if the connection continues.
fn behave(client: &mut Client, path: &str, number: u32) -> bool {
    let odd = number % 2 == 1;
    let third = &"abc"[..=(number as usize % 3)];
    match path {
        "vary" => client.write(page(200, third.len(), third)),
        "vary500" => client.write(page(if odd { 500 } else { 200 }, third.len(), third)),
        "short" => client.write(page(200, 50, "hello")),
        "shortsome" => client.write(page(200, 5, if odd { "hel" } else { "hello" })),
        "long" => client.write(page(200, 5, "hello world")),
        "garbage" => client.write("hello"),
        "reset" => return reset(client),
        "resetsome" if odd => return reset(client),
        "resetmid" if odd => {
            client.write(page(200, 5, "he"));
            sleep(Duration::from_millis(20));
            return reset(client);
        }
        "silent" => {
            sleep(Duration::from_secs(4));
            false
        }
        "some" if number % 6 == 5 => {
            sleep(Duration::from_secs(4));
            false
        }
        "slow" => {
            sleep(Duration::from_millis(30));
            client.write(page(200, 5, "hello"))
        }
        "resetsome" | "resetmid" | "some" => client.write(page(200, 5, "hello")),
        _ => true,
    };
    let _ = client.stream.shutdown(Shutdown::Both);
    false
}

/// Makes the close a reset for the client.
fn reset(client: &mut Client) -> bool {
    let linger = rustix::net::sockopt::set_socket_linger(&client.stream, Some(Duration::ZERO));
    linger.expect("a socket that may be reset");
    false
}

fn agree(ab: &ToolPair, odd: &ScriptedServer, lines: &[&str]) {
    for (i, line) in lines.iter().enumerate() {
        // Each line has a separate path, so that each program counts from 0.
        let (path, options) = line.split_once(' ').unwrap_or((line, ""));
        let url = odd.url_of(&format!("/{path}/{i}"));
        let words: Vec<&str> = options.split_whitespace().chain([&*url]).collect();
        ab.agree(&words);
    }
}

#[test]
fn failures_are_counted_the_same() {
    let Some(ab) = both("compat::ab_failures::failures_are_counted_the_same", "ab") else { return };
    let odd = moody();
    agree(
        &ab,
        &odd,
        &[
            "vary -n 6",
            "vary -n 6 -l",
            "vary -n 6 -w",
            "vary500 -n 6",
            "short -n 6",
            "shortsome -n 6",
            "long -n 6",
            "empty -n 6",
            "garbage -n 6",
            "reset -n 6",
            "reset -n 6 -r",
            "resetsome -n 6 -r",
            "resetsome -n 60 -r",
            "resetmid -n 6 -r",
            "resetmid -n 6",
            "resetsome -n 200 -r",
        ],
    );
}

#[test]
fn a_dead_port_is_reported_the_same() {
    let Some(ab) = both("compat::ab_failures::a_dead_port_is_reported_the_same", "ab") else {
        return;
    };
    let url = format!("http://127.0.0.1:{}/", port::free());
    for line in
        ["", "-n 4 -r", "-n 3 -r", "-n 200", "-c 4 -n 40 -r", "-n 200 -c 2 -r", "-w", "-v 2"]
    {
        let words: Vec<&str> = line.split_whitespace().chain([&*url]).collect();
        ab.agree(&words);
    }
}

#[test]
fn runs_that_cannot_start_are_reported_the_same() {
    let Some(ab) = both("compat::ab_failures::runs_that_cannot_start_are_reported_the_same", "ab")
    else {
        return;
    };
    for line in [
        "http://no-such-name.invalid/",
        "-X no-such-name.invalid:3 http://127.0.0.1:9/",
        "ftp://127.0.0.1:9/",
        "-B 192.0.2.1 http://127.0.0.1:9/",
        "-w http://no-such-name.invalid/",
        "-n 200 http://no-such-name.invalid/",
    ] {
        ab.agree(&line.split_whitespace().collect::<Vec<_>>());
    }
}

/// Only the line of ab itself is compared, not the errors of OpenSSL.
#[test]
fn failed_handshakes_are_reported_the_same() {
    let Some(ab) = both("compat::ab_failures::failed_handshakes_are_reported_the_same", "ab")
    else {
        return;
    };
    let odd = moody();
    for line in ["-n 3", "-n 3 -E /nonexistent", "-Z nonsense", "-Z BOGUS", "-Z aes", "-n 160"] {
        let url = odd.url_of("/garbage/x").replace("http:", "https:");
        let words: Vec<&str> = line.split_whitespace().chain([&*url]).collect();
        ab.agree(&words);
    }
}

#[test]
fn a_silent_server_ends_the_run_the_same() {
    let Some(ab) = both("compat::ab_failures::a_silent_server_ends_the_run_the_same", "ab") else {
        return;
    };
    let odd = moody();
    agree(&ab, &odd, &["silent -s 1", "some -s 1 -n 10"]);
}

#[test]
fn an_interrupted_run_prints_its_report() {
    let odd = moody();
    let url = odd.url_of("/slow");
    let mut command = crate::world::command("ab");
    command.args(["-q", "-n", "100000", &url]);
    let running = crate::world::brunt::start_plain(&mut command);
    wait_until("some requests", || odd.requests().len() > 20);
    running.signal(Signal::INT);
    let ran = running.finish_unchecked();
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("..done\n\n\nServer Software:        moody\n"), "{}", ran.out);
}

/// OpenSSL 3 fails every handshake of these versions, and ab reports requests of no bytes. The
/// drop-in measures nothing either.
#[test]
fn unsupported_versions_of_tls_are_refused() {
    for version in ["TLS1", "TLS1.1", "tls1"] {
        let output = ours("ab", &["-n", "3", "-f", version, "https://127.0.0.1:9/"]);
        assert_eq!(output.code, Some(1), "{}", output.err);
        assert!(
            output.err.starts_with("SSL handshake failed (1).\n")
                && output.err.contains("-f TLS1.2"),
            "{}",
            output.err
        );
    }
}
