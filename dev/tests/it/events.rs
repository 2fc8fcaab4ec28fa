//! Times each event of streamed replies: server-sent events and lines, over each version of HTTP.

use crate::world::caddy::caddy;
use crate::world::certs::Authority;
use crate::world::odd::{Client, ScriptedServer, serve_connections};
use crate::world::{BruntOutput, measure};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

const PAUSE: Duration = Duration::from_millis(30);

/// Starts a server of streams: `/five` sends five events and ends, `/endless` does not end,
/// `/silent` pauses after one event.
fn feed() -> ScriptedServer {
    serve_connections(|mut client: Client| {
        while let Some(request) = client.request() {
            let events = if request.contains("/five") { 5 } else { 1000 };
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            let mut goes_on = client.write(head);
            for n in 0..events {
                if !goes_on {
                    return;
                }
                if n == 1 && request.contains("/silent") {
                    sleep(Duration::from_secs(5));
                }
                sleep(PAUSE);
                // Two chunks, with a comment in the second.
                let first = format!("data: {n}\n");
                let second = "\n: still here\n\n";
                goes_on = [first.as_str(), second].iter().all(|text| {
                    let chunk = format!("{:x}\r\n{text}\r\n", text.len());
                    client.write(chunk)
                });
            }
            client.write("0\r\n\r\n");
        }
    })
}

/// Number of transactions with this name, and a figure of their response time in seconds.
fn times(ran: &BruntOutput, name: &str, figure: &str) -> (u64, f64) {
    let all = ran.value("/transactions").as_array().expect("a list");
    let found =
        all.iter().find(|one| one["transaction"].as_str().is_some_and(|label| label == name));
    let Some(found) = found else { panic!("{name}: {all:?}") };
    (
        found["succeeded"].as_u64().expect("a count"),
        found["response_time_seconds"][figure].as_f64().expect("a time"),
    )
}

fn assert_all_timed(url: &str, options: &str, requests: u64) {
    let ran = measure(&format!("{url} --reply-events sse -c 2 -n {requests} {options}"))
        .assert_all_good();
    let (first, least_first) = times(&ran, "first event", "min");
    let (next, mean_next) = times(&ran, "next event", "mean");
    assert_eq!((first, next), (requests, 4 * requests), "{}", ran.out);
    // A busy machine may read several events at once.
    assert!(least_first >= 0.029 && mean_next >= 0.01, "{least_first} {mean_next}");
}

#[test]
fn each_event_is_timed() {
    let feed = feed();
    assert_all_timed(&feed.url_of("/five"), "", 10);
    assert_eq!(feed.requests().len(), 10);
    // Ten lines per reply: `data` and a comment for each event.
    let ran = measure(&format!("{} --reply-events lines -c 1 -n 2", feed.url_of("/five")))
        .assert_all_good();
    assert_eq!(times(&ran, "first event", "min").0 + times(&ran, "next event", "min").0, 20);
}

#[test]
fn an_endless_stream_is_left_after_a_number_of_events_or_a_time() {
    let feed = feed();
    let ran = measure(&format!("{} --reply-events sse,3 -c 2 -n 8", feed.url_of("/endless")))
        .assert_all_good();
    assert_eq!((times(&ran, "first event", "min").0, times(&ran, "next event", "min").0), (8, 16));
    assert_eq!(
        ran.connections("opened"),
        8,
        "HTTP/1.1 has no other way to leave a reply than to close"
    );
    let ran = measure(&format!("{} --reply-events sse,600ms -c 2 -n 4", feed.url_of("/endless")))
        .assert_all_good();
    let next = times(&ran, "next event", "min").0;
    assert!((4..=4 * 21).contains(&next), "{next}");
    let ran = measure(&format!(
        "{} --reply-events sse -c 2 -n 2 --timeout 500ms",
        feed.url_of("/silent")
    ));
    assert_eq!(
        (ran.failed("timeout"), times(&ran, "first event", "min").0),
        (2, 2),
        "what came is told"
    );
}

#[test]
fn events_are_timed_over_http2_and_http3() {
    let feed = feed();
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify("localhost");
    let directives = format!("reverse_proxy {} {{\nflush_interval -1\n}}", feed.address);
    let Some(caddy) = caddy("events_are_timed_over_http2_and_http3", &certificate, &directives)
    else {
        return;
    };
    let options =
        format!("--resolve localhost:{}:127.0.0.1 --cacert {}", caddy.port, authority.pem);
    for version in ["2", "3"] {
        assert_all_timed(&caddy.url_of("/five"), &format!("{options} --http {version}"), 6);
        let line = format!(
            "{} --reply-events sse,2 -c 2 -n 6 {options} --http {version}",
            caddy.url_of("/endless")
        );
        let ran = measure(&line).assert_all_good();
        assert_eq!(
            (times(&ran, "next event", "min").0, ran.connections("opened")),
            (6, 2),
            "a stream is reset, no more"
        );
    }
}
