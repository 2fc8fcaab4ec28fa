//! Tests `brunt check` with servers that reply and with some that do not.

use crate::world::certs::Authority;
use crate::world::nginx::nginx_at;
use crate::world::odd::page;
use crate::world::{command, lab, measure, nginx, serve_reply};
use serde_json::Value;
use std::net::TcpListener;
use tempfile::TempDir;

/// Result of a check: exit code, text and JSON.
struct CheckResult {
    code: Option<i32>,
    text: String,
    json: Value,
}

fn check(line: &str) -> CheckResult {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("json");
    let out = command(&format!("check {line} -o json={} -o text", file.display()))
        .output()
        .expect("brunt");
    let text =
        String::from_utf8_lossy(&out.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let json = std::fs::read_to_string(file).unwrap_or_default();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(errors.is_empty(), "{errors}");
    CheckResult { code: out.status.code(), text, json: serde_json::from_str(&json).expect("JSON") }
}

impl CheckResult {
    fn assert_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.text);
        self
    }

    fn assert_text(&self, words: &[&str]) {
        for word in words {
            assert!(self.text.contains(word), "no `{word}` in: {}", self.text);
        }
    }

    fn value(&self, pointer: &str) -> &Value {
        self.json.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {:#}", self.json))
    }

    fn advice(&self, rule: &str) -> Option<&Value> {
        self.value("/advice").as_array().expect("advice").iter().find(|a| a["rule"] == rule)
    }
}

#[test]
fn a_check_reports_the_listener_and_its_replies() {
    let test = "a_check_reports_the_listener_and_its_replies";
    let compress = "gzip on; gzip_types text/plain; keepalive_timeout 33s 33s;";
    let Some(nginx) = nginx_at(test, "listen 127.0.0.1:PORT backlog=50;", compress) else { return };
    let before = nginx.requests();
    let checked = check(&format!("{} -c 60", nginx.url_of("/page.txt"))).assert_code(0);
    // Two requests of the check, and the preface of HTTP/2, which this server refuses.
    assert_eq!(nginx.requests() - before, 3);
    assert!(checked.value("/h2c").is_null());
    assert_eq!(checked.value("/reply/status"), 200);
    assert_eq!(checked.value("/reply/body_bytes"), 5800);
    assert_eq!(checked.value("/reply/framing"), "content-length");
    assert_eq!(checked.value("/reply/reused"), true);
    assert_eq!(checked.value("/reply/keep_alive_header"), "timeout=33");
    assert_eq!(checked.value("/compression/content_encoding"), "gzip");
    assert_eq!(checked.value("/route/same_host"), true);
    assert_eq!(checked.value("/route/interface"), "lo");
    assert_eq!(checked.value("/route/listener_backlog"), 50);
    let pid = nginx.server.child.id();
    assert_eq!(checked.value("/route/listener"), &format!("nginx (pid {pid})"));
    // The configuration gives each worker 4096, whatever the limit of the master.
    assert_eq!(checked.value("/route/listener_descriptors"), 4096);
    let mend = checked.advice("backlog").expect("advice")["command"]
        .as_str()
        .expect("a command")
        .to_owned();
    assert!(mend.contains("backlog=64"), "{mend}");
    assert_eq!(checked.advice("compression").expect("advice")["command"], "--compressed");
    checked.assert_text(&[
        "client and server share this machine",
        "Keep-Alive: timeout=33",
        "nginx",
    ]);
}

#[test]
fn a_sound_load_gets_less_advice() {
    let Some(nginx) = nginx("a_sound_load_gets_less_advice", "") else { return };
    let checked = check(&format!("{} -c 10 --compressed", nginx.url_of("/"))).assert_code(0);
    for rule in
        ["backlog", "server_descriptors", "local_ports", "compression", "redirect", "keep_alive"]
    {
        assert!(checked.advice(rule).is_none(), "{:#}", checked.value("/advice"));
    }
}

#[test]
fn a_load_beyond_the_limits_is_reported_with_remedies() {
    let lab = lab("");
    let checked = check(&format!("{} -c 50000000", lab.url_of("/"))).assert_code(0);
    assert_eq!(certainty_of(&checked, "descriptors"), Some("surely".into()));
    assert_eq!(certainty_of(&checked, "local_ports"), Some("surely".into()));
    checked.assert_text(&["ulimit -Hn 50000064", "ip_local_port_range"]);
}

fn certainty_of(check: &CheckResult, rule: &str) -> Option<Value> {
    check.advice(rule).map(|a| a["certainty"].clone())
}

#[test]
fn tls_is_reported_and_sessions_are_resumed() {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify("localhost");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; ssl_session_cache shared:it:1m;",
        certificate.cert, certificate.key
    );
    let Some(nginx) = nginx_at(
        "tls_is_reported_and_sessions_are_resumed",
        "listen 127.0.0.1:PORT ssl;",
        &directives,
    ) else {
        return;
    };
    let checked =
        check(&format!("{} --cacert {}", nginx.secure("/"), authority.pem)).assert_code(0);
    assert_eq!(checked.value("/tls/alpn"), "http/1.1");
    assert!(checked.value("/tls/version").as_str().is_some_and(|v| v.starts_with("TLSv1.")));
    assert_eq!(checked.value("/tls/resumed"), true);
    assert_eq!(checked.value("/tls/chain"), 1);
    assert_eq!(checked.value("/tls/certificate/names/0"), "localhost");
    assert_eq!(checked.value("/tls/certificate/self_signed"), false);
    assert!(
        checked
            .value("/tls/certificate/issuer")
            .as_str()
            .is_some_and(|i| i.contains("authority of a test"))
    );
    // The authority of a test is not trusted. The certificate is shown, and no request is sent.
    let requests = nginx.log().len();
    let stranger = check(&nginx.secure("/")).assert_code(3);
    assert_eq!(nginx.log().len(), requests);
    assert_eq!(stranger.value("/failure/kind"), "tls");
    assert_eq!(stranger.value("/tls/distrust"), "issuer not trusted (UnknownIssuer)");
    assert_eq!(stranger.value("/tls/certificate/names/0"), "localhost");
    stranger.assert_text(&["NOT TRUSTED: issuer not trusted (UnknownIssuer)", "--cacert FILE"]);
}

#[test]
fn http2_without_tls_is_named() {
    let lab = lab("");
    let both = check(&lab.url_of("/")).assert_code(0);
    both.assert_text(&["Offers HTTP/2 (", "without TLS (h2c), for --http 2"]);
    assert!(both.advice("needs_h2c").is_none());
    let test = "http2_without_tls_is_named";
    let Some(nginx) = nginx_at(test, "listen 127.0.0.1:PORT http2;", "") else { return };
    let only = check(&nginx.url_of("/")).assert_code(3);
    assert_eq!(only.advice("needs_h2c").expect("advice")["command"], "add --http 2");
    check(&format!("{} --http 2", nginx.url_of("/"))).assert_code(0);
}

#[test]
fn a_call_of_grpc_is_checked_by_its_status() {
    let dir = TempDir::new().expect("a directory");
    let proto = dir.path().join("e.proto");
    let text = "syntax = \"proto3\"; package p; message M { string a = 1; } service S { rpc Get(M) returns (M); }";
    std::fs::write(&proto, text).expect("a file");
    for (options, words, has_error) in [
        ("--http 2 --grpc", "Reply grpc 0 OK from brunt-lab, HTTP/2", false),
        ("--http 2", "Reply 200", false),
    ] {
        let lab = lab(options);
        let line = format!("{} --grpc p.S/Get --proto {}", lab.url_of("/"), proto.display());
        let checked = check(&line);
        assert_eq!(checked.advice("error_status").is_some(), has_error, "{}", checked.text);
        if options.ends_with("grpc") {
            checked.assert_code(0).assert_text(&[words]);
        }
    }
}

#[test]
fn a_client_certificate_and_a_version_of_tls_are_used() {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let server = authority.certify("localhost");
    let client = authority.certify("anna");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 TLSv1.3; ssl_client_certificate {}; ssl_verify_client on;",
        server.cert, server.key, authority.pem
    );
    let test = "a_client_certificate_and_a_version_of_tls_are_used";
    let Some(nginx) = nginx_at(test, "listen 127.0.0.1:PORT ssl http2;", &directives) else {
        return;
    };
    let line = format!(
        "{} --cacert {} --cert {} --key {}",
        nginx.secure("/"),
        authority.pem,
        client.cert,
        client.key
    );
    for (options, version) in
        [("", "TLSv1.3"), ("--tls-max 1.2", "TLSv1.2"), ("--http 2 --tls-max 1.2", "TLSv1.2")]
    {
        let checked = check(&format!("{line} {options}")).assert_code(0);
        assert_eq!(checked.value("/reply/status"), 200, "{options}");
        assert_eq!(checked.value("/tls/version"), version, "{options}");
        assert_eq!(checked.value("/tls/http").as_array().expect("versions").len(), 2);
    }
}

#[test]
fn a_head_above_the_limit_is_named() {
    let lab = lab(&format!("--tls --http3 --header X-Long:{}", "a".repeat(100_000)));
    let cause = "the head is larger than 64 kB (limit of brunt)";
    for version in ["1.1", "2", "3"] {
        let line = format!("{} -k --http {version}", lab.url_of("/"));
        let checked = check(&line).assert_code(3);
        checked.assert_text(&[cause]);
        let trace = command(&format!("run {line} --trace")).output().expect("brunt");
        let shown = String::from_utf8_lossy(&trace.stdout);
        assert!(shown.contains(&format!("FAILED: protocol error: {cause}")), "{shown}");
        let run = measure(&format!("{line} -n 3 -c 1")).assert_code(3);
        assert!(run.err.contains(&format!("3 × {cause}")), "{}", run.err);
    }
}

#[test]
fn an_expired_certificate_is_reported() {
    let dir = TempDir::new().expect("a directory");
    let authority = Authority::new(dir.path());
    let certificate = authority.certify_until("localhost", 2020);
    let directives =
        format!("ssl_certificate {}; ssl_certificate_key {};", certificate.cert, certificate.key);
    let Some(nginx) =
        nginx_at("an_expired_certificate_is_reported", "listen 127.0.0.1:PORT ssl;", &directives)
    else {
        return;
    };
    let checked =
        check(&format!("{} --cacert {}", nginx.secure("/"), authority.pem)).assert_code(3);
    assert_eq!(checked.value("/tls/certificate/valid_to"), "2020-01-01");
    assert!(checked.value("/tls/certificate/days_left").as_i64().is_some_and(|d| d < -2000));
    checked.assert_text(&["expired on 2020-01-01", "renew it; or --insecure"]);
    check(&format!("{} --insecure", nginx.secure("/"))).assert_code(0).assert_text(&["(expired)"]);
}

#[test]
fn a_self_signed_certificate_is_reported() {
    let lab = lab("--tls");
    let checked = check(&lab.url_of("/")).assert_code(3);
    assert_eq!(checked.value("/tls/certificate/self_signed"), true);
    checked.assert_text(&["signed by itself", "NOT TRUSTED"]);
}

#[test]
fn a_closed_port_and_an_unknown_name_are_reported() {
    let port =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let closed = check(&format!("http://127.0.0.1:{port}/")).assert_code(3);
    assert_eq!(closed.value("/failure/kind"), "refused");
    closed
        .assert_text(&["No reply connection refused", "is the server running, and on this port?"]);
    let unknown = check("http://no-such-name.invalid/ --connect-timeout 20s").assert_code(3);
    assert_eq!(unknown.value("/failure/kind"), "resolve");
    unknown.assert_text(&["no-such-name.invalid", "--resolve host:port:addr"]);
}

#[test]
fn a_redirect_is_reported() {
    let server = serve_reply("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n");
    let checked = check(&server.url_of("/")).assert_code(0);
    let command = checked.advice("redirect").expect("advice")["command"].clone();
    assert_eq!(command, format!("brunt {}, or --follow 5", server.url_of("/login")));
    assert!(
        check(&format!("{} --follow 5", server.url_of("/")))
            .assert_code(0)
            .advice("redirect")
            .is_none()
    );
}

#[test]
fn a_request_with_side_effects_is_sent_once() {
    let server = serve_reply(page("done"));
    let checked = check(&format!("{} --data x=1", server.url_of("/{n}"))).assert_code(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].starts_with("POST /"), "{requests:?}");
    assert!(checked.value("/reply/reused").is_null() && checked.value("/compression").is_null());
}

#[test]
fn a_server_that_closes_connections_is_reported() {
    let server = serve_reply("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    let checked = check(&format!("{} -r 100000 -d 1m", server.url_of("/"))).assert_code(0);
    assert_eq!(checked.value("/reply/keep_alive"), false);
    assert_eq!(checked.value("/requested/new_connections_per_second"), 100_000.0);
    assert!(checked.advice("keep_alive").is_some() && checked.advice("time_wait").is_some());
}

#[test]
fn options_that_a_check_lacks_are_refused() {
    for (line, word) in [("-o csv", "text or json"), ("--events /tmp/none", "event log")] {
        let output = command(&format!("check http://127.0.0.1:1/ {line}")).output().expect("brunt");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{output:?}");
    }
}

#[test]
fn a_run_reports_the_route_without_extra_requests() {
    let Some(nginx) = nginx("a_run_reports_the_route_without_extra_requests", "") else { return };
    let ran = measure(&format!("{} -c 2 -n 10", nginx.url_of("/"))).assert_all_good();
    assert_eq!(ran.value("/environment/route/same_host"), true);
    assert_eq!(
        ran.value("/environment/route/listener"),
        &format!("nginx (pid {})", nginx.server.child.id())
    );
    assert_eq!(ran.value("/warnings"), &serde_json::json!([]));
    assert_eq!(nginx.log().len(), 10);
}

#[test]
fn a_run_warns_of_certain_problems() {
    let Some(nginx) = nginx("a_run_warns_of_certain_problems", "") else { return };
    // Its only worker may have 4096 open files.
    let ran = measure(&format!("{} -r 10 -c 5000 -n 5", nginx.url_of("/"))).ok();
    let warnings = ran.value("/warnings").to_string();
    assert!(
        warnings.contains("4,096 open files") && warnings.contains("worker_rlimit_nofile"),
        "{warnings}"
    );
}
