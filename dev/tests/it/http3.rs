//! Tests HTTP/3 with caddy, whose log shows the requests.
//!
//! * `hostile`: a server that breaks rules. `reference`: the lab. `rows`: the hostile rows of the
//!   lab. `loss`: a proxy that drops packets. `migration`: connections that change their port.
//!   `silence`: servers that acknowledge nothing any more.

mod hostile;
mod loss;
mod migration;
mod reference;
mod rows;
mod silence;

use crate::http2::reads_fields_and_bodies;
use crate::world::caddy::{Caddy, caddy};
use crate::world::certs::Authority;
use crate::world::{lab, measure, stdout_of};
use tempfile::TempDir;

/// Starts a caddy. Returns it with the options that trust it.
fn secure(test: &str, directives: &str) -> Option<(Caddy, String, TempDir)> {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify("localhost");
    let caddy = caddy(test, &certificate, directives)?;
    let options =
        format!("--http 3 --resolve localhost:{}:127.0.0.1 --cacert {}", caddy.port, authority.pem);
    Some((caddy, options, dir))
}

#[test]
fn requests_match_the_servers_log() {
    let Some((caddy, http3, _dir)) = secure("requests_match_the_servers_log", "") else { return };
    let ran = measure(&format!("{} {http3} -c 4 --streams 16 -n 3000", caddy.url_of("/")))
        .assert_all_good();
    assert_eq!((ran.count("completed"), ran.connections("opened")), (3000, 4));
    assert!(ran.connections("packets_sent") > 0);
    let rtt = ran.figure("/connections/quic_rtt_seconds");
    assert!(rtt > 1e-6 && rtt < 0.5, "{rtt}");
    let log = caddy.log(3000);
    assert_eq!(log.len(), 3000);
    assert!(log.iter().all(|line| line["request"]["proto"] == "HTTP/3.0" && line["status"] == 200));
    let ran =
        measure(&format!("{} {http3} -c 3 -r 300 -d 1s", caddy.url_of("/long"))).assert_all_good();
    assert_eq!(
        caddy.log(3000 + ran.count("completed") as usize).len() as u64,
        3000 + ran.count("completed")
    );
}

#[test]
fn auto_uses_the_best_version_of_the_server() {
    let Some((caddy, http3, _dir)) = secure("auto_uses_the_best_version_of_the_server", "") else {
        return;
    };
    let trusts = http3.replace("--http 3", "--http auto");
    let version = "/plan/connection/http";
    let ran = measure(&format!("{} {trusts} -n 20 --expect-http 2,3", caddy.url_of("/")))
        .assert_all_good();
    assert_eq!(ran.value(version), "3", "caddy announces it");
    let ran = measure(&format!("{} {trusts} -n 20 -X POST --data x", caddy.url_of("/")))
        .assert_all_good();
    assert_eq!(
        (ran.value(version), caddy.log(41).len()),
        (&"2".into(), 41),
        "what may change something is not sent for it"
    );
    let plain = lab("");
    let ran = measure(&format!("{} --http auto -n 20", plain.url_of("/"))).assert_all_good();
    assert_eq!(ran.value(version), "1.1");
    let refused = measure("http://127.0.0.1:1/ --http auto -n 1").assert_code(2);
    assert!(refused.err.contains("start it, or write a version"), "{}", refused.err);
    measure(&format!("{} --http auto,2 -n 1", plain.url_of("/"))).assert_code(2);
}

#[test]
fn each_connection_has_its_handshake_and_sessions_are_resumed() {
    let test = "each_connection_has_its_handshake_and_sessions_are_resumed";
    let Some((caddy, http3, _dir)) = secure(test, "") else { return };
    let ran = measure(&format!("{} {http3} -c 2 -n 40 --no-keepalive", caddy.url_of("/")))
        .assert_all_good();
    assert_eq!(ran.connections("opened"), 40);
    assert_eq!(caddy.log(40).len(), 40);
    let trusts = http3.replace("--http 3", "");
    assert!(
        stdout_of(&format!("check {} --http 3 {trusts}", caddy.url_of("/"))).contains("resumed")
    );
    measure(&format!(
        "{} {http3} -c 2 -n 20 --no-keepalive --no-tls-resumption",
        caddy.url_of("/")
    ))
    .assert_all_good();
    let checked =
        stdout_of(&format!("check {} --http 3 {trusts} --no-tls-resumption", caddy.url_of("/")));
    assert!(checked.contains("sessions are not resumed"), "{checked}");
}

#[test]
fn bodies_arrive_and_an_early_reply_is_accepted() {
    let lab = lab("");
    let to = lab.url.strip_prefix("http://").expect("a URL").trim_end_matches('/').to_owned();
    let test = "bodies_arrive_and_an_early_reply_is_accepted";
    let directives = format!("respond /early taken\nreverse_proxy /through {to} {{\nrewrite /\n}}");
    let Some((caddy, http3, dir)) = secure(test, &directives) else { return };
    let body = dir.path().join("body");
    std::fs::write(&body, vec![b'x'; 900_000]).expect("a file");
    let data = format!("--data @{}", body.display());
    measure(&format!(
        "{} {http3} {data} -c 2 --streams 4 -n 40 --expect-body ^taken$",
        caddy.url_of("/early")
    ))
    .assert_all_good();
    let ran =
        measure(&format!("{} {http3} {data} -c 2 --streams 4 -n 20", caddy.url_of("/through")))
            .assert_all_good();
    assert!(ran.number("/bytes/sent") > 20 * 900_000, "{}", ran.number("/bytes/sent"));
    assert_eq!(caddy.log(60).len(), 60);
}

#[test]
fn fields_and_bodies_of_replies_are_read() {
    let directives = "header /json X-Token abc\nrespond /json `{\"id\":7}`\n\
                      respond /next \"{http.request.header.X-Token} {http.request.uri.query.id}\"\nredir /moved /next?id=7";
    let Some((caddy, http3, dir)) = secure("fields_and_bodies_of_replies_are_read", directives)
    else {
        return;
    };
    reads_fields_and_bodies(dir.path(), 3, &caddy.url_of("/json"), &caddy.url_of("/next"));
    measure(&format!("{} {http3} -n 20 --follow 2 --expect-body 7$", caddy.url_of("/moved")))
        .assert_all_good();
}

#[test]
fn unsupported_options_are_reported() {
    let Some((caddy, http3, _dir)) = secure("unsupported_options_are_reported", "") else { return };
    let untrusted = format!("--http 3 --resolve localhost:{}:127.0.0.1", caddy.port);
    let ran = measure(&format!("{} {untrusted} -n 5", caddy.url_of("/"))).assert_code(3);
    assert!(ran.err.contains("issuer not trusted"), "{}", ran.err);
    let refused = [
        ("--receive-rate 10k", "--receive-rate works with HTTP/1.0 and 1.1 only"),
        ("--proxy 127.0.0.1:9", "--proxy does not work with HTTP/3"),
    ];
    for (options, expected) in refused {
        let ran = measure(&format!("{} {http3} {options} -n 5", caddy.url_of("/"))).assert_code(2);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    let plain = format!("http://localhost:{}/", caddy.port);
    let ran = measure(&format!("{plain} {http3} -n 5")).assert_code(2);
    assert!(ran.err.contains("a URL of http:// does not work with HTTP/3"), "{}", ran.err);
}

#[test]
fn a_stopped_server_fails_the_run_without_a_hang() {
    let test = "a_stopped_server_fails_the_run_without_a_hang";
    let Some((caddy, http3, _dir)) = secure(test, "") else { return };
    let url = caddy.url_of("/");
    let options = format!("{http3} -n 5 --connect-timeout 300ms");
    drop(caddy);
    let ran = measure(&format!("{url} {options}"));
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("connection refused"), "{}", ran.err);
}

#[test]
fn versions_are_compared_and_a_check_lists_them() {
    let test = "versions_are_compared_and_a_check_lists_them";
    let Some((caddy, http3, _dir)) = secure(test, "") else { return };
    let trusts = http3.replace("--http 3", "");
    let checked = stdout_of(&format!("check {} {trusts}", caddy.url_of("/")));
    assert!(checked.contains("HTTP/1.1, HTTP/2 (250 streams"), "{checked}");
    assert!(checked.contains("HTTP/3 (100 streams), Alt-Svc h3="), "{checked}");
    assert!(checked.contains("QUIC v1, "), "{checked}");
    assert!(checked.contains("connection migration forbidden"), "{checked}");
    let checked = stdout_of(&format!("check {} {http3}", caddy.url_of("/")));
    assert!(checked.contains("HTTP/3"), "{checked}");
    let options = "--http 1.1,2,3 -c 2 -d 300ms --repeat 2 --no-store";
    let compared = stdout_of(&format!("compare {} {trusts} {options}", caddy.url_of("/")));
    assert!(compared.contains("HTTP/3"), "{compared}");
}
