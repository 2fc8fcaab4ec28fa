//! Tests HTTP/2 with nginx, whose log shows the requests, and with the lab.
//!
//! * `servers`: further servers, each with its own counters.

mod servers;

use crate::world::certs::Authority;
use crate::world::lab::hostile_rows;
use crate::world::log::distinct;
use crate::world::nginx::nginx_at;
use crate::world::{Nginx, lab, measure, stdout_of};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Starts an nginx with HTTP/2 and HTTP/1.1 over TLS. Returns it with the options that trust it.
fn secure(test: &str, directives: &str) -> Option<(Nginx, String, TempDir)> {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify("localhost");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; {directives}",
        certificate.cert, certificate.key
    );
    let nginx = nginx_at(test, "listen 127.0.0.1:PORT ssl http2;", &directives)?;
    Some((nginx, format!("--http 2 --cacert {}", authority.pem), dir))
}

#[test]
fn streams_share_the_connections_of_users() {
    let Some((nginx, http2, _dir)) = secure("streams_share_the_connections_of_users", "") else {
        return;
    };
    let ran = measure(&format!("{} {http2} -c 4 --streams 16 -n 3000", nginx.secure("/")))
        .assert_all_good();
    assert_eq!(ran.count("completed"), 3000);
    let log = nginx.log();
    assert_eq!((log.len(), distinct(&log, |l| l.connection()).len()), (3000, 4));
    assert!(log.iter().all(|line| line.request().ends_with(" HTTP/2.0")));
    measure(&format!("{} {http2} -c 3 -r 300 -d 1s", nginx.secure("/long"))).assert_all_good();
}

#[test]
fn users_have_several_connections_to_an_origin() {
    let Some((nginx, http2, _dir)) = secure("users_have_several_connections_to_an_origin", "")
    else {
        return;
    };
    for (http, streams) in [(&*http2, 8), ("-k --http 1.1", 1)] {
        let before = nginx.log().len();
        let several = format!("-c 2 --connections-per-origin 3 --streams {streams} -n 3000");
        let ran = measure(&format!("{} {http} {several}", nginx.secure("/"))).assert_all_good();
        assert_eq!((ran.count("completed"), ran.connections("opened")), (3000, 6), "{http}");
        let log = &nginx.log()[before..];
        assert_eq!((log.len(), distinct(log, |l| l.connection()).len()), (3000, 6), "{http}");
        let open = format!("-c 2 --connections-per-origin 3 --streams {streams} -r 600 -d 1s");
        let ran = measure(&format!("{} {http} {open}", nginx.secure("/long"))).assert_all_good();
        assert!(ran.connections("opened") <= 6, "{http}: {}", ran.connections("opened"));
    }
}

#[test]
fn a_server_that_closes_connections_loses_no_request() {
    let test = "a_server_that_closes_connections_loses_no_request";
    let Some((nginx, http2, _dir)) = secure(test, "keepalive_requests 50;") else { return };
    let ran = measure(&format!("{} {http2} -c 3 --streams 8 -n 3000", nginx.secure("/")))
        .assert_all_good();
    assert_eq!((ran.count("completed"), nginx.log().len()), (3000, 3000));
}

#[test]
fn requests_held_back_by_the_servers_window_are_reported() {
    let lab = lab("--h2-window 1000");
    let line = format!("{} --http 2 --streams 4 -c 2 -n 12", lab.url_of("/"));
    let ran = measure(&format!("{line} --data {}", "x".repeat(5000))).assert_all_good();
    assert_eq!(ran.connections("stalled_requests"), 12);
    assert!(ran.figure("/connections/stalled_seconds") > 0.0);
    let ran = measure(&line).assert_all_good();
    assert_eq!(ran.connections("stalled_requests"), 0);
    let text = stdout_of(&format!("run {line} -v --data {}", "x".repeat(5000)));
    assert!(text.contains("12 requests held back by the server's flow-control window"), "{text}");
}

#[test]
fn cleartext_needs_no_upgrade() {
    let Some(nginx) = nginx_at("cleartext_needs_no_upgrade", "listen 127.0.0.1:PORT http2;", "")
    else {
        return;
    };
    measure(&format!("{} --h2c -c 2 --streams 5 -n 500", nginx.url_of("/page.txt")))
        .assert_all_good();
    assert_eq!(nginx.log().len(), 500);
}

#[test]
fn cleartext_may_be_upgraded_from_http1() {
    for options in ["", "--keepalive-requests 50"] {
        let lab = lab(options);
        let ran = measure(&format!("{} --h2c-upgrade -c 4 --streams 3 -n 500", lab.url_of("/")))
            .assert_all_good();
        let knows = lab.into_statistics();
        let opened = ran.connections("opened");
        // The upgrade of each connection is a request, too.
        assert_eq!(knows["requests"]["received"].as_u64(), Some(500 + opened), "{knows}");
        assert_eq!(knows["http2"]["connections"].as_u64(), Some(opened), "{knows}");
        assert!(knows["http2"]["first_error"].is_null(), "{knows}");
    }
    let Some(nginx) =
        nginx_at("cleartext_may_be_upgraded_from_http1", "listen 127.0.0.1:PORT;", "")
    else {
        return;
    };
    measure(&format!("{} --h2c-upgrade -n 5", nginx.url_of("/")))
        .assert_code(3)
        .assert_text(&["the server does not take `Upgrade: h2c`: it answered with status"]);
}

#[test]
fn a_reply_before_the_end_of_the_body_is_accepted() {
    let directives = "client_max_body_size 8m; location = /early { return 200 taken; }";
    let Some((nginx, http2, dir)) =
        secure("a_reply_before_the_end_of_the_body_is_accepted", directives)
    else {
        return;
    };
    let body = dir.path().join("body");
    fs::write(&body, vec![b'x'; 900_000]).expect("a file");
    let ran = measure(&format!(
        "{} {http2} -c 2 --streams 4 -n 200 --data @{} --expect-body ^taken$",
        nginx.secure("/early"),
        body.display()
    ))
    .assert_all_good();
    assert_eq!(ran.count("completed"), 200);
}

/// Runs forty iterations that extract a value from the body and one from a field of a reply. The
/// next reply shows that both were sent.
pub fn reads_fields_and_bodies(dir: &Path, version: u8, json: &str, next: &str) {
    let plan = dir.join("plan.yaml");
    let text = format!(
        "load: {{users: 2, requests: 40}}
repetitions: 1
connection: {{http: {version}, insecure: true}}
scenario:
  steps:
  - get: {json}
    extract: {{id: {{json: $.id}}, token: {{header: X-Token}}}}
  - get: {next}?id=${{id}}
    headers: {{X-Token: '${{token}}'}}
    check: {{contains: abc 7}}
"
    );
    fs::write(&plan, text).expect("a file");
    let samples = dir.join("samples.jtl");
    stdout_of(&format!("run {} --no-store --jtl {}", plan.display(), samples.display()));
    let samples = fs::read_to_string(samples).expect("a result file");
    let good = samples.lines().skip(1).filter(|line| line.contains(",true,")).count();
    assert_eq!((samples.lines().count(), good), (81, 80), "{samples}");
}

#[test]
fn fields_and_bodies_of_replies_are_read() {
    let directives = "location = /json { add_header X-Token abc; default_type application/json; return 200 '{\"id\":7}'; } \
                      location = /next { return 200 '$http_x_token $arg_id'; } location = /moved { return 302 /next?id=7; }";
    let Some((nginx, http2, dir)) = secure("fields_and_bodies_of_replies_are_read", directives)
    else {
        return;
    };
    reads_fields_and_bodies(dir.path(), 2, &nginx.secure("/json"), &nginx.secure("/next"));
    measure(&format!("{} {http2} -n 20 --follow 2 --expect-body 7$", nginx.secure("/moved")))
        .assert_all_good();
}

#[test]
fn a_server_without_http2_is_reported() {
    let Some(nginx) = nginx_at("a_server_without_http2_is_reported", "listen 127.0.0.1:PORT;", "")
    else {
        return;
    };
    measure(&format!("{} --http 2 -n 5", nginx.url_of("/")))
        .assert_code(3)
        .assert_text(&["the server answered in HTTP/1, not in HTTP/2"]);
    let refused = [
        ("--streams 4", "an HTTP/1 connection carries one request at a time; write --http 2"),
        ("--h2c-upgrade --http 3", "one run has one version"),
        ("--http 2 --receive-rate 10k", "--receive-rate works with HTTP/1.0 and 1.1 only"),
        (
            "--http 2 --proxy 127.0.0.1:9",
            "--proxy for URLs of http:// works with HTTP/1.0 and 1.1 only",
        ),
        ("--http 7", "this is no version of HTTP that brunt speaks"),
        ("--http 1.1,2", "write brunt compare --http 1.1,2 URL"),
    ];
    for (options, expected) in refused {
        let ran = measure(&format!("{} {options} -n 5", nginx.url_of("/"))).assert_code(2);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
}

#[test]
fn versions_are_compared_and_a_check_lists_them() {
    let test = "versions_are_compared_and_a_check_lists_them";
    let Some((nginx, http2, _dir)) = secure(test, "") else { return };
    let trusts = http2.replace("--http 2", "");
    let checked = stdout_of(&format!("check {} {trusts}", nginx.secure("/")));
    assert!(checked.contains("HTTP/1.1, HTTP/2 (128 streams, window 65.5 kB)"), "{checked}");
    let options = "--http 1.1,2 -c 2 -d 300ms --repeat 2 --no-store";
    let compared = stdout_of(&format!("compare {} {trusts} {options}", nginx.secure("/")));
    assert!(
        compared.contains("HTTP/2 against HTTP/1.1") || compared.contains("undecided"),
        "{compared}"
    );
}

/// Every illegal answer of the lab is a named failure, or ends the connection after a complete
/// reply. Legal but rare answers are replies. None makes brunt wait longer than its timeout.
#[test]
#[allow(clippy::disallowed_methods, reason = "a stopwatch around another program")]
fn hostile_servers_are_reported_and_never_block() {
    let names = hostile_rows("");
    let names: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !(name.starts_with("h3-") || name.starts_with("ws-")))
        .collect();
    assert!(names.len() > 100, "{names:?}");
    for name in names {
        let lab = lab(&format!("--hostile {name} --body 100"));
        let began = Instant::now();
        let ran =
            measure(&format!("{} --http 2 -n 2 --timeout 1 --connect-timeout 1", lab.url_of("/")));
        assert!(began.elapsed() < Duration::from_secs(15), "{name}");
        let ends_behind_a_reply = ["data-after-end", "headers-after-end"].contains(&name);
        if name.starts_with("rare-") || ends_behind_a_reply {
            assert_eq!(ran.assert_all_good().count("completed"), 2, "{name}");
        } else {
            let failed = ran.count("failed");
            assert!(
                ran.count("good") == 0
                    && (failed == 2 || ran.out.contains("Nothing could be measured")),
                "{name}"
            );
        }
    }
}

#[test]
fn the_lab_finds_no_fault_in_requests() {
    let body = "--data {n}-0123456789012345678901234567890123456789012345678901234567890123456789";
    for (options, load) in [
        ("", ""),
        ("--tls", "--insecure"),
        ("--h2-streams 3 --service exp:1ms", ""),
        ("--h2-window 16 --h2-window-then 5", body),
        ("--h2-table 0", "-H X-Long:0123456789012345678901234567890123456789"),
        ("--keepalive-requests 20", ""),
    ] {
        let lab = lab(options);
        let ran = measure(&format!("{} --http 2 -c 4 --streams 8 -n 1000 {load}", lab.url_of("/")))
            .assert_all_good();
        let knows = lab.into_statistics();
        assert_eq!(knows["requests"]["received"], ran.count("completed"), "{options}: {knows}");
        assert_eq!(knows["http2"]["first_error"], serde_json::Value::Null, "{options}: {knows}");
    }
}

#[test]
fn failures_of_single_streams_do_not_affect_others() {
    let lab = lab("--fail 0.1:reset --fail 0.1:refused --fail 0.1:close-early --seed 3");
    let ran = measure(&format!("{} --http 2 -c 2 --streams 8 -n 600", lab.url_of("/")));
    let knows = lab.into_statistics();
    assert_eq!(ran.failed("closed_early") + ran.failed("timeout") + ran.failed("reset"), 0);
    assert!(ran.failed("stream_reset") > 60, "{}", ran.out);
    assert_eq!(knows["http2"]["connections"], 2, "{knows}");
    assert!(ran.out.contains("INTERNAL_ERROR"), "{}", ran.out);
}
