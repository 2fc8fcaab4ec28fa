//! Tests how connections are opened, reused, kept and lost.

use crate::world::log::{LogLine, distinct};
use crate::world::nginx::nginx_at;
use crate::world::odd::{page, serve_connections};
use crate::world::skip::skip;
use crate::world::{command, lab, measure, nginx, port};
use std::fs;
use std::io::copy;
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use tempfile::NamedTempFile;

#[test]
fn connections_are_reused() {
    let Some(nginx) = nginx("connections_are_reused", "") else { return };
    let ran = measure(&format!("{} -c 3 -n 300", nginx.url_of("/"))).assert_all_good();
    assert_eq!((ran.connections("opened"), ran.connections("reused")), (3, 297));
    assert_eq!(distinct(&nginx.log(), |l| l.connection()).len(), 3);
}

/// Writes a file of URLs.
fn list(urls: &[String]) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a file");
    fs::write(&file, urls.join("\n")).expect("a list");
    file
}

#[test]
fn users_keep_a_connection_to_each_origin() {
    let [one, other] = [lab(""), lab("")];
    let urls = list(&[one.url_of("/a"), other.url_of("/b"), one.url_of("/c")]);
    let ran = measure(&format!("{} -c 3 -n 300 --urls {}", one.url_of("/"), urls.path().display()))
        .assert_all_good();
    assert!((4..=6).contains(&ran.connections("opened")), "{}", ran.connections("opened"));
    let ran =
        measure(&format!("{} -r 400 -c 3 -d 1s --urls {}", one.url_of("/"), urls.path().display()))
            .assert_all_good();
    assert!(
        ran.connections("reused") > 10 * ran.connections("opened"),
        "{}",
        ran.connections("opened")
    );
}

#[test]
fn a_connection_that_the_server_closed_is_not_used() {
    let test = "a_connection_that_the_server_closed_is_not_used";
    let Some(nginx) = nginx(test, "keepalive_timeout 1;") else { return };
    let lab = lab("");
    let urls = list(&[lab.url_of("/a"), lab.url_of("/b"), nginx.url_of("/")]);
    // nginx gets every third request, one in 2.1 s.
    let line = format!(
        "{} -r 1.4 --arrivals even -d 6s --urls {}",
        lab.url_of("/"),
        urls.path().display()
    );
    let ran = measure(&line).assert_all_good();
    assert!(ran.connections("closed_idle") >= 1, "{}", ran.out);
}

#[test]
fn without_keepalive_each_request_has_a_connection() {
    let Some(nginx) = nginx("without_keepalive_each_request_has_a_connection", "") else { return };
    let ran =
        measure(&format!("{} -c 3 -n 60 --no-keepalive", nginx.url_of("/"))).assert_all_good();
    assert_eq!((ran.connections("opened"), ran.connections("reused")), (60, 0));
    assert_eq!(distinct(&nginx.log(), |l| l.connection()).len(), 60);
    let open =
        measure(&format!("{} -r 100 --arrivals even -d 500ms --no-keepalive", nginx.url_of("/")))
            .assert_all_good();
    assert_eq!(open.connections("opened"), 50);
}

/// The server sends no `Connection` header, and would keep the connection open.
#[test]
fn a_request_with_connection_close_is_the_last_of_its_connection() {
    let server = serve_connections(|mut client| {
        while client.request().is_some() && client.write(page("x").as_bytes()) {}
    });
    assert_eq!(
        (connections_opened(&server, "keep-alive"), connections_opened(&server, "TE, Close")),
        (Some(1), Some(10))
    );
}

fn connections_opened(server: &crate::world::ScriptedServer, value: &str) -> Option<u64> {
    let line = format!("{} -c 1 -n 10", server.url_of("/"));
    let mut brunt = command(&line);
    brunt.args(["-o", "json", "-H", &format!("connection: {value}")]);
    let output = brunt.output().expect("brunt");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["connections"]["opened"].as_u64()
}

#[test]
fn requests_per_connection_are_limited() {
    let Some(nginx) = nginx("requests_per_connection_are_limited", "") else { return };
    let ran = measure(&format!("{} -c 2 -n 50 --requests-per-connection 5", nginx.url_of("/")))
        .assert_all_good();
    let log = nginx.log();
    assert_eq!(log.iter().map(LogLine::of_connection).max(), Some(5));
    assert_eq!(distinct(&log, |l| l.connection()).len() as u64, ran.connections("opened"));
}

#[test]
fn a_servers_limit_of_requests_is_no_failure() {
    let Some(nginx) = nginx("a_servers_limit_of_requests_is_no_failure", "keepalive_requests 10;")
    else {
        return;
    };
    let ran = measure(&format!("{} -c 2 -n 200", nginx.url_of("/"))).assert_all_good();
    // Two users share 200 requests, so the last connection of each may get fewer than 10.
    assert!((20..=21).contains(&ran.connections("opened")), "{}", ran.connections("opened"));
    assert_eq!(nginx.log().iter().map(LogLine::of_connection).max(), Some(10));
}

#[test]
fn idle_connections_that_the_server_closes_are_reopened() {
    let Some(nginx) =
        nginx("idle_connections_that_the_server_closes_are_reopened", "keepalive_timeout 1;")
    else {
        return;
    };
    let line = format!("{} -r 0.7 --arrivals even -d 4s", nginx.url_of("/"));
    let ran = measure(&line).ok();
    assert!(ran.connections("closed_idle") >= 1);
    // A connection that closes at the moment of its use is stale; nothing else may fail.
    assert_eq!(ran.count("good") + ran.failed("stale"), ran.count("begun"));
    assert!(ran.count("good") >= 1);
    let retried = measure(&format!("{line} --retry-stale")).assert_all_good();
    assert!(retried.connections("closed_idle") + retried.count("retries") >= 1);
}

#[test]
fn http_1_0_is_supported() {
    let Some(nginx) = nginx("http_1_0_is_supported", "") else { return };
    let persistent =
        measure(&format!("{} -c 2 -n 40 --http1.0", nginx.url_of("/"))).assert_all_good();
    assert_eq!(persistent.connections("opened"), 2);
    let each = measure(&format!("{} -c 2 -n 40 --http1.0 --no-keepalive", nginx.url_of("/")))
        .assert_all_good();
    assert_eq!(each.connections("opened"), 40);
    assert!(nginx.log().iter().all(|l| l.request() == "GET / HTTP/1.0"));
}

#[test]
fn a_unix_socket_reaches_the_server() {
    let listen = "listen unix:DIR/socket; listen 127.0.0.1:PORT;";
    let Some(nginx) = nginx_at("a_unix_socket_reaches_the_server", listen, "") else { return };
    let socket = nginx.dir.path().join("socket");
    measure(&unix_socket_line(&socket.display().to_string())).assert_all_good();
    let log = nginx.log();
    assert_eq!(log.len(), 30);
    assert!(log.iter().all(|l| l.client() == "unix:" && l.host() == "some.host"), "{log:?}");
    let refused = measure(&unix_socket_line(&format!("{}.not", socket.display()))).assert_code(3);
    refused.assert_text(&["Nothing could be measured"]);
}

fn unix_socket_line(path: &str) -> String {
    format!("http://some.host/ -c 2 -n 30 --unix-socket {path}")
}

#[test]
fn source_addresses_are_used_in_turn() {
    let Some(nginx) = nginx("source_addresses_are_used_in_turn", "") else { return };
    measure(&format!("{} -c 4 -n 40 --source 127.0.0.2,127.0.0.3", nginx.url_of("/")))
        .assert_all_good();
    assert_eq!(distinct(&nginx.log(), |l| l.client()), ["127.0.0.2", "127.0.0.3"].into());
}

#[test]
fn a_name_can_be_given_its_address() {
    let Some(nginx) = nginx("a_name_can_be_given_its_address", "") else { return };
    let port = nginx.port;
    let url = format!("http://name.test:{port}/");
    let ran = measure(&format!("{url} -c 2 -n 20 --resolve name.test:{port}:127.0.0.1"))
        .assert_all_good();
    assert_eq!(distinct(&nginx.log(), |l| l.host()), ["name.test"].into());
    assert_eq!(ran.value("/environment/addresses/0"), &format!("127.0.0.1:{port}"));
}

#[test]
fn all_addresses_of_a_name_are_used() {
    let listen = "listen 127.0.0.1:PORT; listen 127.0.0.2:PORT;";
    let Some(nginx) = nginx_at("all_addresses_of_a_name_are_used", listen, "") else { return };
    let port = nginx.port;
    let two = format!("--resolve name.test:{port}:127.0.0.1 --resolve name.test:{port}:127.0.0.2");
    measure(&format!("http://name.test:{port}/ -c 4 -n 40 {two}")).assert_all_good();
    assert_eq!(distinct(&nginx.log(), |l| l.server()), ["127.0.0.1", "127.0.0.2"].into());
}

#[test]
fn both_kinds_of_addresses_are_used() {
    let test = "both_kinds_of_addresses_are_used";
    if !port::has_ipv6() {
        return skip(test, "no IPv6 loopback address here");
    }
    let listen = "listen 127.0.0.1:PORT; listen [::1]:PORT;";
    let Some(nginx) = nginx_at(test, listen, "") else { return };
    measure(&format!("http://[::1]:{}/ -c 1 -n 10", nginx.port)).assert_all_good();
    assert_eq!(distinct(&nginx.log(), |l| l.server()), ["::1"].into());
    // All addresses of the name on this machine are used, even if there is only one.
    let of_localhost =
        ("localhost", nginx.port).to_socket_addrs().expect("localhost").map(|a| a.ip().to_string());
    let addresses: std::collections::HashSet<_> = of_localhost.collect();
    measure(&format!("http://localhost:{}/ -c 4 -n 40", nginx.port)).assert_all_good();
    let log = nginx.log();
    let used = distinct(&log[10..], |l| l.server());
    assert_eq!(used, addresses.iter().map(String::as_str).collect());
}

/// Starts a proxy that answers plain requests itself. It opens the requested tunnels if `status` is
/// 200.
pub fn proxy(status: &'static str) -> crate::world::ScriptedServer {
    serve_connections(move |mut client| {
        while let Some(request) = client.request() {
            let Some(to) = request.strip_prefix("CONNECT ") else {
                client.write(page("from the proxy"));
                continue;
            };
            let to = to.split(' ').next().unwrap_or_default().replace("behind.test", "127.0.0.1");
            client.write(format!("HTTP/1.1 {status}\r\n\r\n"));
            if !status.starts_with("200") {
                return;
            }
            let server = TcpStream::connect(to).expect("the server behind the proxy");
            let mut from = client.stream.try_clone().expect("a handle");
            let mut into = server.try_clone().expect("a handle");
            thread::spawn(move || copy(&mut from, &mut into));
            let mut from = server;
            let mut into = client.stream.try_clone().expect("a handle");
            let _ = copy(&mut from, &mut into);
            return;
        }
    })
}

#[test]
fn a_proxy_gets_the_whole_url() {
    let proxy = proxy("200 Connected");
    let line = format!("http://behind.test:81/a?b -c 2 -n 20 --proxy {}", proxy.address);
    measure(&line).assert_all_good();
    let requests = proxy.requests();
    assert_eq!(requests.len(), 20);
    assert!(
        requests
            .iter()
            .all(|r| r
                .starts_with("GET http://behind.test:81/a?b HTTP/1.1\r\nHost: behind.test:81\r\n")),
        "{requests:?}"
    );
}

#[test]
fn a_proxy_makes_a_tunnel_for_tls() {
    let proxy = proxy("200 Connected");
    let lab = lab("--tls");
    let url = format!("https://behind.test:{}/", lab.port());
    let ran =
        measure(&format!("{url} -c 2 -n 20 -k --proxy http://{}", proxy.address)).assert_all_good();
    assert_eq!(proxy.requests().len() as u64, ran.connections("opened"));
    assert_eq!(lab.into_statistics()["requests"]["received"], 20);
}

#[test]
fn a_refusing_proxy_is_reported() {
    let proxy = proxy("403 Forbidden");
    let ran = measure(&format!("https://behind.test/ -c 1 -d 500ms -k --proxy {}", proxy.address))
        .assert_code(3);
    ran.assert_text(&["Nothing could be measured", "proxy", "403"]);
}

#[test]
fn an_unreachable_proxy_is_named_instead_of_the_server() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let proxy = listener.local_addr().expect("an address");
    drop(listener);
    let ran = measure(&format!("http://behind.test/ -c 1 -d 500ms --proxy {proxy}")).assert_code(3);
    ran.assert_text(&["proxy error", &format!("{proxy}: Connection refused")]);
    assert!(!ran.err.contains("os error"), "{}", ran.err);
}

#[test]
fn connections_are_opened_at_their_rate() {
    let lab = lab("");
    let ran =
        measure(&format!("{} -c 20 -d 200ms --connect-rate 20", lab.url_of("/"))).assert_all_good();
    // The twentieth connection is due after 19/20 s.
    let setup = ran.figure("/elapsed_seconds") - ran.figure("/measured_seconds");
    assert!(setup >= 0.94, "{setup}");
    assert_eq!((ran.connections("opened"), ran.connections("opened_in_measured_time")), (20, 0));
}

#[test]
fn more_connections_than_all_processes_may_have_are_refused() {
    for load in ["-c 90000000", "-r 10 -c 90000000", "-r 10 --max-in-flight 90000000"] {
        let output = command(&format!("http://127.0.0.1:1/ {load}")).output().expect("brunt");
        assert_eq!(output.status.code(), Some(2), "{load}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("too many for 256 processes") && text.contains("ulimit"), "{text}");
    }
}

#[test]
fn five_hundred_connections_are_opened() {
    let Some(nginx) = nginx("five_hundred_connections_are_opened", "") else { return };
    let ran = measure(&format!("{} -c 500 -d 1s", nginx.url_of("/"))).assert_all_good();
    assert_eq!((ran.connections("opened"), ran.connections("peak")), (500, 500));
    assert_eq!(distinct(&nginx.log(), |l| l.connection()).len(), 500);
}
