//! Compares the drop-in `httperf` with the real httperf when requests fail. Tests cases in which
//! the real one breaks and the drop-in must not.

use super::both::{both, ours};
use super::httperf::{mask, without};
use crate::world::odd::{ScriptedServer, page, serve_connections};
use crate::world::{nginx, port};
use std::thread::sleep;
use std::time::Duration;

/// Starts a server that closes each connection after a number of replies, without `Connection:
/// close`.
fn closing_after(replies: usize) -> ScriptedServer {
    serve_connections(move |mut client| {
        for _ in 0..replies {
            if client.request().is_none() || !client.write(page("hello")) {
                return;
            }
        }
    })
}

/// Arguments of httperf for a server.
fn words<'a>(port: &'a str, line: &'a str) -> Vec<&'a str> {
    ["--server", "127.0.0.1", "--port", port].into_iter().chain(line.split(' ')).collect()
}

#[test]
fn errors_are_counted_the_same() {
    let Some(httperf) = both("compat::httperf_failures::errors_are_counted_the_same", "httperf")
    else {
        return;
    };
    let closed = port::free().to_string();
    for line in ["--num-conns 3", "--wsess 3,2,0", "--num-conns 5 --rate 100"] {
        httperf.agree_masked(&words(&closed, line), mask);
    }
    let silent = serve_connections(|mut client| {
        client.request();
        sleep(Duration::from_secs(2));
    });
    let silent = silent.address.port().to_string();
    for line in ["--num-conns 2 --timeout 0.2", "--wsess 2,3,0 --rate 5 --timeout 0.2"] {
        httperf
            .agree_masked(&words(&silent, line), |text| without(&mask(text), "Session failtime"));
    }
}

/// The number of requests sent into a closing connection is random.
#[test]
fn connections_that_the_server_closes_are_counted_the_same() {
    let test = "compat::httperf_failures::connections_that_the_server_closes_are_counted_the_same";
    let Some(httperf) = both(test, "httperf") else { return };
    let one = closing_after(1);
    let two = closing_after(2);
    let port = one.address.port().to_string();
    for line in ["--num-conns 2 --num-calls 3", "--wsess 2,3,0"] {
        httperf.agree_masked(&words(&port, line), without_random_counts);
    }
    let port = two.address.port().to_string();
    httperf.agree_masked(&words(&port, "--num-conns 3 --num-calls 3"), without_random_counts);
}

fn without_random_counts(text: &str) -> String {
    mask(text).lines().map(|line| without_request_count(line) + "\n").collect::<String>()
}

fn without_request_count(line: &str) -> String {
    let total = line.find(" requests ").filter(|_| line.starts_with("Total"));
    if line.starts_with("Request size") {
        String::new()
    } else {
        total.map_or_else(|| line.to_owned(), |at: usize| line[..at].to_owned())
    }
}

/// httperf is limited to 1024 descriptors, whatever the limit of the process.
#[test]
fn connections_may_exceed_the_descriptors_of_the_real_one() {
    let odd = serve_connections(|mut client| {
        client.request();
        sleep(Duration::from_millis(1500));
        client.write(page("hello"));
    });
    let port = odd.address.port().to_string();
    let output = ours("httperf", &words(&port, "--num-conns 1300 --rate 2000 --timeout 20"));
    assert!(
        output.out.contains("Total: connections 1300 requests 1300 replies 1300 "),
        "{}{}",
        output.out,
        output.err
    );
    assert!(output.out.contains("Errors: total 0 "), "{}", output.out);
    let rate = output.field("Connection rate:");
    let most = rate
        .split_once("<=")
        .and_then(|(_, rest)| rest.split(' ').next())
        .and_then(|n| n.parse::<u64>().ok());
    assert!(most.is_some_and(|most| most > 1024), "{rate}");
}

#[test]
fn a_failed_handshake_does_not_end_the_run() {
    let Some(nginx) =
        nginx("compat::httperf_failures::a_failed_handshake_does_not_end_the_run", "")
    else {
        return;
    };
    let port = nginx.port.to_string();
    let output = ours("httperf", &words(&port, "--ssl --num-conns 2"));
    assert_eq!(output.code, Some(0));
    assert!(
        output.out.contains("Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 2"),
        "{}",
        output.out
    );
}

/// A list without repetition is requested to its end, and every reply is awaited.
#[test]
fn a_list_is_requested_to_its_end() {
    let Some(nginx) = nginx("compat::httperf_failures::a_list_is_requested_to_its_end", "") else {
        return;
    };
    let file = nginx.dir.path().join("list");
    std::fs::write(&file, b"/index.html\0/long\0/page.txt\0").expect("a file");
    let port = nginx.port.to_string();
    let line = format!("--wlog n,{} --num-conns 9 --num-calls 2", file.display());
    let output = ours("httperf", &words(&port, &line));
    assert!(output.out.contains("Total: connections 2 requests 3 replies 3 "), "{}", output.out);
}

/// Bursts of a session log have no limit; those of --wsess have one.
#[test]
fn few_piped_calls_refuse_what_the_real_one_refuses() {
    let test = "compat::httperf_failures::few_piped_calls_refuse_what_the_real_one_refuses";
    let Some(httperf) = both(test, "httperf") else { return };
    let odd = crate::world::odd::serve_reply(page("hello"));
    let port = odd.address.port().to_string();
    let dir = tempfile::TempDir::new().expect("a directory");
    let log = dir.path().join("log").display().to_string();
    std::fs::write(&log, "/a\n /b\n /c\n /d\n /e\n /f\n").expect("a file");
    let logged = format!("--wsesslog 1,0,{log} --max-piped-calls 1 --timeout 5");
    for (line, refused) in [
        ("--wsess 2,3,0 --max-piped-calls 1", false),
        ("--wsess 1,6,0 --burst-length 6 --max-piped-calls 1", true),
        (logged.as_str(), false),
    ] {
        for output in [httperf.real(&words(&port, line)), httperf.ours(&words(&port, line))] {
            assert_eq!(
                output.err.contains("too many calls pending"),
                refused,
                "{line}: {}",
                output.err
            );
        }
    }
}
