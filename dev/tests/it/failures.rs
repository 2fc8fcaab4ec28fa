//! Causes each kind of failure, and checks its count, its words and its remedy.

use crate::world::brunt::{start, with_single_spaces};
use crate::world::odd::{page, serve_connections, serve_reply};
use crate::world::{BruntOutput, command, lab, measure, port, wait_until};
use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use rustix::process::{Resource, Rlimit, prlimit};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

/// Asserts that all requests fail as `kind`, and that the text contains these words.
fn assert_all_fail(ran: BruntOutput, kind: &str, words: &[&str]) -> BruntOutput {
    assert!(ran.count("begun") > 0, "{}", ran.out);
    assert_eq!(ran.failed(kind), ran.count("begun"), "{kind}: {}", ran.out);
    assert_eq!(ran.count("completed"), 0);
    let ran = ran.assert_code(3);
    ran.assert_text(&["Nothing could be measured"]);
    ran.assert_text(words);
    ran
}

/// Runs a lab that fails half of its requests in this way. Asserts that brunt counts the same ones.
fn assert_half_fail(lab_kind: &str, kind: &str, options: &str, words: &[&str]) {
    let lab = lab(&format!("--fail 50%:{lab_kind} --drip 1s --body 100"));
    let ran = measure(&format!("{} -c 4 -n 60 {options}", lab.url_of("/"))).ok();
    let failed = &lab.into_statistics()["requests"]["failed_by_kind"][lab_kind];
    assert_eq!(failed, ran.failed(kind), "{lab_kind}: {}", ran.out);
    assert_eq!(ran.failed(kind) + ran.count("good"), 60, "{lab_kind}: {}", ran.out);
    assert!(ran.failed(kind) > 0 && ran.count("good") > 0);
    ran.assert_text(words);
}

/// Runs a lab that fails all of its requests in this way.
fn assert_whole_fail(lab_kind: &str, kind: &str, options: &str, words: &[&str]) {
    let lab = lab(&format!("--fail 1:{lab_kind} --drip 1s --body 100"));
    let ran =
        assert_all_fail(measure(&format!("{} -c 4 -n 20 {options}", lab.url_of("/"))), kind, words);
    assert_eq!(ran.count("begun"), 20);
}

#[test]
fn a_closed_port_is_reported_as_refused() {
    let port = port::free();
    for load in
        ["-c 2 -d 300ms", "-r 50 -d 300ms", "-c 1 -n 5", "-r 10 -c 2 -d 300ms --no-keepalive"]
    {
        let ran = measure(&format!("http://127.0.0.1:{port}/ {load}")).assert_code(3);
        assert_eq!(ran.count("completed"), 0);
        ran.assert_text(&["Nothing could be measured", "refused"]);
        assert!(
            with_single_spaces(&ran.out).contains("connection refused")
                && !ran.out.contains("os error"),
            "{}",
            ran.out
        );
    }
}

#[test]
fn a_reset_is_counted_as_reset() {
    assert_whole_fail("reset", "reset", "", &["connection reset", "check the server's error log"]);
}

#[test]
fn a_close_without_a_reply_is_counted_as_closed_early() {
    assert_whole_fail(
        "close",
        "closed_early",
        "",
        &["closed early", "check the server's error log"],
    );
}

#[test]
fn a_close_within_a_reply_is_counted_as_closed_early() {
    assert_whole_fail(
        "close-early",
        "closed_early",
        "",
        &["closed early", "the connection ended before the whole reply had arrived"],
    );
    assert_half_fail("close-early", "closed_early", "", &["closed early"]);
}

#[test]
fn a_close_within_a_head_is_counted_as_closed_early() {
    assert_whole_fail("truncate-head", "closed_early", "", &["closed early"]);
    assert_half_fail("truncate-head", "closed_early", "", &["closed early"]);
}

#[test]
fn garbage_is_counted_as_a_protocol_error() {
    assert_whole_fail(
        "garbage",
        "protocol",
        "",
        &["protocol error", "does the server speak this version of HTTP on this port"],
    );
    assert_half_fail(
        "garbage",
        "protocol",
        "",
        &["protocol error", "does the server speak this version of HTTP on this port"],
    );
}

#[test]
fn a_redirect_to_a_host_that_is_not_allowed_is_refused() {
    let elsewhere = serve_reply(page("ok"));
    let location = elsewhere.url_of("/").replace("127.0.0.1", "localhost");
    let redirect =
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    let server = serve_reply(redirect);
    let line = format!("{} -c 1 -n 4 --follow 1 --allow-target 127.0.0.1", server.url_of("/"));
    let words = ["target not allowed", "`localhost`", "write --allow-target localhost"];
    assert_all_fail(measure(&line), "not_allowed", &words);
    assert_eq!((server.requests().len(), elsewhere.requests().len()), (4, 0));
}

#[test]
fn an_allowed_target_is_measured() {
    let lab = lab("");
    let line = format!("{} -c 2 -n 20 --allow-target 127.0.0.1", lab.url_of("/"));
    measure(&line).assert_all_good();
}

#[test]
fn bytes_after_a_reply_close_the_connection() {
    let lab = lab("--fail 1:extra --body 100");
    let ran = measure(&format!("{} -c 4 -n 20", lab.url_of("/"))).assert_all_good();
    assert_eq!(
        (ran.connections("unsolicited"), ran.connections("opened")),
        (20, 20),
        "{}",
        ran.out
    );
    ran.assert_text(&["20 closed because of unsolicited bytes"]);
}

#[test]
fn bytes_on_an_idle_connection_close_it() {
    let server = serve_connections(|mut client| {
        while client.request().is_some() && client.write(page("page")) {
            std::thread::sleep(std::time::Duration::from_millis(5));
            client.write("nobody asked");
        }
    });
    let ran = measure(&format!("{} -c 1 -n 5 --think 200ms", server.url_of("/"))).assert_all_good();
    assert!(ran.connections("unsolicited") >= 4, "{}", ran.out);
}

/// Each kind of malformed reply is reported, with the limit of brunt if that was the cause.
#[test]
fn the_cause_of_a_protocol_error_is_reported() {
    let ok = "HTTP/1.1 200 OK\r\n";
    let cases = [
        ("status_line", "SSH-2.0-OpenSSH_9.6\r\n".to_owned(), "the status line is not HTTP/1.x"),
        ("header_field", format!("{ok}no colon\r\n\r\n"), "a header field is malformed"),
        (
            "too_many_fields",
            format!("{ok}{}\r\n", "a: b\r\n".repeat(1025)),
            "more than 1024 header fields",
        ),
        (
            "head_too_large",
            format!("{ok}A: {}\r\n\r\n", "x".repeat(70_000)),
            "the head is larger than 64 kB (limit of brunt)",
        ),
        (
            "content_length",
            format!("{ok}Content-Length: five\r\n\r\n"),
            "Content-Length is not one number of bytes",
        ),
        (
            "transfer_encoding",
            format!("{ok}Transfer-Encoding: rot13\r\n\r\n"),
            "Transfer-Encoding is unknown",
        ),
        (
            "chunk",
            format!("{ok}Transfer-Encoding: chunked\r\n\r\nx\r\n"),
            "the chunked framing of the body is malformed",
        ),
        (
            "chunk_line_too_long",
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n1;{}", "x".repeat(5000)),
            "the line before a chunk",
        ),
    ];
    for (cause, reply, words) in cases {
        let server = serve_reply(reply);
        let ran = measure(&format!("{} -c 1 -n 3", server.url_of("/")));
        assert_eq!(
            (ran.failed("protocol"), ran.number(&format!("/malformed/{cause}"))),
            (3, 3),
            "{cause}: {}",
            ran.out
        );
        ran.assert_text(&[&format!("3 × {words}")]);
    }
}

#[test]
fn a_missing_reply_times_out() {
    assert_whole_fail(
        "never",
        "timeout",
        "--timeout 200ms",
        &["response timeout", "--timeout sets how long to wait"],
    );
    assert_half_fail("never", "timeout", "--timeout 400ms", &["response timeout"]);
}

#[test]
fn a_reply_that_drips_times_out() {
    assert_whole_fail("slow", "timeout", "--timeout 300ms", &["response timeout"]);
}

#[test]
fn timed_out_requests_are_in_the_response_time() {
    let lab = lab("--fail 20%:never");
    let ran = measure(&format!("{} -c 4 -n 50 --timeout 200ms", lab.url_of("/"))).ok();
    assert!(ran.failed("timeout") > 0);
    assert_eq!(ran.number("/response_time_seconds/count"), 50);
    assert_eq!(ran.number("/response_time_seconds/censored"), ran.failed("timeout"));
    // A timeout is never shorter than configured, and its true length is recorded.
    assert!(ran.figure("/response_time_seconds/max") >= 0.2);
    assert_eq!(ran.number("/response_time_good_seconds/count"), ran.count("good"));
}

#[test]
fn error_statuses_are_replies_but_not_good() {
    let lab = lab("--fail 30%:503 --fail 20%:404");
    let ran = measure(&format!("{} -c 3 -n 200", lab.url_of("/"))).ok();
    assert_eq!((ran.count("completed"), ran.count("failed")), (200, 0));
    assert_eq!(ran.count("good"), ran.status(200));
    let knows = lab.into_statistics();
    for status in [200, 404, 503] {
        assert_eq!(
            knows["requests"]["by_status"][status.to_string()],
            ran.status(status),
            "{status}"
        );
    }
    assert!(ran.figure("/goodput_per_second") < ran.figure("/throughput_per_second"));
    ran.assert_text(&["404", "503"]);
}

#[test]
fn a_connection_closed_at_its_reuse_is_stale() {
    // Each connection answers once, and closes at the next request.
    let server = serve_connections(|mut client| {
        if client.request().is_some() && client.write(page("once")) {
            client.request();
        }
    });
    let ran = measure(&format!("{} -c 2 -n 20", server.url_of("/"))).ok();
    assert_eq!(ran.failed("stale") + ran.count("good"), 20, "{}", ran.out);
    assert!((8..=12).contains(&ran.failed("stale")), "{}", ran.out);
    ran.assert_text(&["stale connection", "--retry-stale"]);
    let retried =
        measure(&format!("{} -c 2 -n 20 --retry-stale", server.url_of("/"))).assert_all_good();
    assert!((16..=19).contains(&retried.count("retries")), "{}", retried.out);
}

#[test]
fn unexpected_statuses_fail_the_check() {
    let lab = lab("--fail 50%:201");
    let ran = measure(&format!("{} -c 2 -n 60 --expect-status 200", lab.url_of("/"))).ok();
    assert!(ran.status(201) > 0);
    assert_eq!((ran.failed("check"), ran.count("good")), (ran.status(201), ran.status(200)));
    ran.assert_text(&["check failed", "these are among the completed", "--expect-status"]);
    let sound = crate::world::lab("");
    measure(&format!("{} -n 5 --expect-status 404,500-599", sound.url_of("/status/404")))
        .assert_all_good();
}

#[test]
fn bodies_that_do_not_match_fail_the_check() {
    let lab = lab("--body 40");
    measure(&format!("{} -c 2 -n 20 --expect-body ^abc.*01234", lab.url_of("/"))).assert_all_good();
    let ran = measure(&format!("{} -c 2 -n 20 --expect-body ^xyz", lab.url_of("/"))).assert_code(4);
    assert_eq!((ran.failed("check"), ran.count("good"), ran.count("completed")), (20, 0, 20));
}

#[test]
fn bodies_of_another_length_fail_the_check() {
    let lab = lab("");
    measure(&same_length_line(&lab.url_of("/bytes/100"))).assert_all_good();
    let ran = measure(&format!("{} --order random", same_length_line(&lab.url_of("/bytes/1{n}"))))
        .assert_code(2);
    assert!(ran.err.contains("--urls"), "{}", ran.err);
    // The first body has 10 bytes, the others have 11 to 19.
    let ran = measure(&same_length_line(&lab.url_of("/bytes/1{n}"))).ok();
    assert_eq!((ran.failed("check"), ran.count("good")), (9, 1), "{}", ran.out);
}

fn same_length_line(url: &str) -> String {
    format!("{url} -c 1 -n 10 --expect-same-length --seed 1")
}

/// Opens a listener that never accepts and whose queue is full.
fn full_listener() -> (OwnedFd, SocketAddr, Vec<TcpStream>) {
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&fd, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listen(&fd, 0).expect("a queue");
    let address =
        TcpListener::from(fd.try_clone().expect("a descriptor")).local_addr().expect("an address");
    let limit = std::time::Duration::from_millis(300);
    let fill = (0..5).map_while(|_| TcpStream::connect_timeout(&address, limit).ok()).collect();
    (fd, address, fill)
}

#[test]
fn connections_that_are_not_accepted_time_out() {
    let (_listener, address, _queue) = full_listener();
    let ran =
        measure(&format!("http://{address}/ -c 3 -d 300ms --connect-timeout 300ms")).assert_code(3);
    ran.assert_text(&["Nothing could be measured", "connecting timed out"]);
    let open = measure(&format!("http://{address}/ -r 20 -d 500ms --connect-timeout 300ms"))
        .assert_code(3);
    assert_eq!(open.failed("connect_timeout"), open.count("begun"), "{}", open.out);
}

#[test]
fn names_without_an_address_are_reported() {
    // The name is too long for DNS, so only the local resolver is asked.
    let name = "a".repeat(70);
    let ran = measure(&format!("http://{name}/ -c 2 -d 300ms")).assert_code(3);
    ran.assert_text(&["Nothing could be measured: name not resolved"]);
}

#[test]
fn exhausted_file_descriptors_are_reported() {
    let lab = lab("--service const:20ms");
    let running = start(&mut command(&format!(
        "{} -r 100 -d 2s --no-keepalive --arrivals even",
        lab.url_of("/")
    )));
    let limit = Rlimit { current: Some(4), maximum: Some(4) };
    wait_until("the first requests", || TcpStream::connect(("127.0.0.1", lab.port())).is_ok());
    std::thread::sleep(std::time::Duration::from_millis(700));
    prlimit(Some(running.pid()), Resource::Nofile, limit).expect("a limit for brunt");
    let ran = running.finish();
    assert!(ran.failed("fds_exhausted") > 20, "{}", ran.out);
    assert_eq!(ran.failed("fds_exhausted") + ran.count("good"), ran.count("begun"), "{}", ran.out);
    ran.assert_text(&["out of file descriptors", "ulimit -n"]);
}

#[test]
fn a_low_limit_of_files_bounds_the_connections() {
    let lab = lab("");
    run_with_80_files(&lab, "-c 16 -n 50").assert_all_good();
    let two = run_with_80_files(&lab, "-c 17 -n 50").assert_all_good();
    assert_eq!((two.number("/plan/processes"), two.connections("opened")), (2, 17));
    two.assert_text(&["17 connections need 2 processes"]);
    let open = run_with_80_files(&lab, "-r 100 -d 500ms").assert_all_good();
    assert_eq!(
        open.value("/plan/populations/0/load").to_string().matches("\"max_in_flight\":16").count(),
        1,
        "{}",
        open.value("/plan/populations/0/load")
    );
}

fn run_with_80_files(lab: &crate::world::Lab, options: &str) -> BruntOutput {
    let brunt = command(&format!("{} {options}", lab.url_of("/")));
    let mut limited = std::process::Command::new("sh");
    limited
        .args(["-c", "ulimit -n 80; exec \"$0\" \"$@\""])
        .arg(brunt.get_program())
        .args(brunt.get_args())
        .envs(brunt.get_envs().filter_map(|(name, value)| Some((name, value?))));
    start(&mut limited).finish()
}

#[test]
fn foreign_source_addresses_are_refused() {
    // An address of the block for documentation (RFC 5737).
    let ran = measure("http://127.0.0.1:1/ -c 1 -d 300ms --source 192.0.2.7").assert_code(3);
    ran.assert_text(&[
        "Nothing could be measured",
        "192.0.2.7 is no address of this machine",
        "--source",
    ]);
}
