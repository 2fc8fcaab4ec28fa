//! Tests that timeouts, the duration, the grace and signals hold while sockets stay readable.
//!
//! Each run may take twice the requested time and two seconds more, for a busy machine.

use crate::world::brunt::RunningBrunt;
use crate::world::odd::{Client, serve_connections};
use crate::world::{BruntOutput, Nginx, command, nginx, start, wait_until};
use rustix::process::Signal;
use std::fs::File;
use std::time::{Duration, Instant};

/// Starts an nginx with a sparse file of 1 GB.
fn nginx_with_huge_file(test: &str) -> Option<Nginx> {
    let nginx = nginx(test, "sendfile on;")?;
    let file = File::create(nginx.dir.path().join("www/huge")).expect("a file");
    file.set_len(1 << 30).expect("a sparse file");
    Some(nginx)
}

/// Waits for the end of a run of this planned duration, and asserts that it is not late.
#[allow(clippy::disallowed_methods)] // a stopwatch around another program
fn finish_in_time(running: RunningBrunt, planned: Duration) -> BruntOutput {
    let began = Instant::now();
    let ran = running.finish();
    let took = began.elapsed();
    assert!(
        took < planned * 2 + Duration::from_secs(2),
        "{took:?} instead of {planned:?}: {}",
        ran.out
    );
    ran
}

/// Asserts that every request times out before the run ends.
fn assert_timeouts(url: &str, options: &str) {
    let line = format!("{url} {options} -d 2s --timeout 1200ms --grace 4s");
    let ran = finish_in_time(start(&mut command(&line)), Duration::from_secs(6));
    assert!(ran.failed("timeout") > 0, "{}", ran.out);
    assert_eq!((ran.failed("timeout"), ran.count("cut")), (ran.count("begun"), 0), "{}", ran.out);
}

/// Answers each request with `head`, and then with `piece` until the client closes.
fn send_endlessly(head: &'static str, piece: Vec<u8>) -> impl Fn(Client) + Send + Sync + 'static {
    move |mut client| {
        if client.request().is_some() && client.write(head) {
            while client.write(&piece) {}
        }
    }
}

#[test]
fn timeouts_hold_while_long_bodies_arrive_continuously() {
    let Some(nginx) = nginx_with_huge_file("timeouts_hold_while_long_bodies_arrive_continuously")
    else {
        return;
    };
    assert_timeouts(&nginx.url_of("/huge"), "-c 64");
}

#[test]
fn the_grace_ends_replies_that_still_arrive() {
    let Some(nginx) = nginx_with_huge_file("the_grace_ends_replies_that_still_arrive") else {
        return;
    };
    let line = format!("{} -c 64 -d 1s --timeout 60s --grace 1s", nginx.url_of("/huge"));
    let ran = finish_in_time(start(&mut command(&line)), Duration::from_secs(2));
    assert!(ran.count("cut") > 0, "{}", ran.out);
}

#[test]
fn timeouts_hold_while_a_reply_never_ends() {
    let chunk =
        [format!("{:x}\r\n", 16_000).into_bytes(), vec![b'x'; 16_000], b"\r\n".to_vec()].concat();
    for (head, piece) in [
        ("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 64_000]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
    ] {
        let server = serve_connections(send_endlessly(head, piece));
        assert_timeouts(&server.url_of("/"), "-c 4");
    }
}

#[test]
fn interim_replies_without_end_are_a_protocol_error() {
    let server = serve_connections(send_endlessly(
        "",
        "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000).into_bytes(),
    ));
    let line = format!("{} -c 4 -n 40 --timeout 5s", server.url_of("/"));
    let ran = finish_in_time(start(&mut command(&line)), Duration::from_secs(5));
    assert_eq!((ran.count("begun"), ran.failed("protocol")), (40, 40), "{}", ran.out);
}

#[test]
fn a_signal_ends_a_run_that_reads_long_bodies() {
    let Some(nginx) = nginx_with_huge_file("a_signal_ends_a_run_that_reads_long_bodies") else {
        return;
    };
    for load in ["-c 64", "-r 50"] {
        let before = nginx.requests();
        let running =
            start(&mut command(&format!("{} {load} -d 60s --timeout 60s", nginx.url_of("/huge"))));
        wait_until("requests", || nginx.requests() > before + 20);
        running.signal(Signal::TERM);
        // The end of an interval, plus the grace after a signal.
        let ran = finish_in_time(running, Duration::from_secs(2)).assert_code(3);
        assert!(ran.count("cut") > 0 && ran.value("/interrupted") == true, "{}", ran.out);
    }
}
