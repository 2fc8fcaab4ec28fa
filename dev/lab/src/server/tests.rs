//! Tests the complete server over loopback sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Parser as _;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::*;

/// A server in a separate thread.
pub(super) struct Lab {
    pub(super) address: String,
    pub(super) certificate: Option<String>,
    stop: UnixStream,
    thread: JoinHandle<LabReport>,
}

impl Lab {
    pub(super) fn start(line: &str) -> Self {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (stopped, stop) = UnixStream::pair().unwrap();
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            let options =
                LabOptions::try_parse_from(["brunt-lab".to_owned()].into_iter().chain(words))
                    .unwrap();
            let server = LabServer::bind(options, stopped).unwrap();
            tell.send((server.address(), server.certificate_pem().map(str::to_owned))).unwrap();
            server.run().unwrap()
        });
        let (address, certificate) = told.recv().unwrap();
        Self { address, certificate, stop, thread }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address.split_once("://").unwrap().1).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket
    }

    /// Opens a connection with TLS that offers these protocols.
    pub(super) fn connect_tls(
        &self,
        protocols: &[&[u8]],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let mut roots = RootCertStore::empty();
        let pem = self.certificate.clone().unwrap();
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|one| one.to_vec()).collect();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), self.connect())
    }

    /// Returns all bytes that the server sends after `request` until it closes.
    pub(super) fn ask(&self, request: &str) -> String {
        let mut socket = self.connect();
        socket.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        socket.read_to_end(&mut reply).unwrap();
        String::from_utf8_lossy(&reply).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: lab\r\nConnection: close\r\n\r\n"))
    }

    pub(super) fn end(mut self) -> LabReport {
        // A server that has ended no longer listens.
        let _ = self.stop.write_all(b"end");
        self.thread.join().unwrap()
    }
}

const GET: &str = "GET / HTTP/1.1\r\nHost: lab\r\n\r\n";

#[test]
fn a_reply_is_given_and_counted() {
    let lab = Lab::start("--body 5 --header X-A:b --status 201");
    let reply = lab.get("/");
    assert!(
        reply.starts_with("HTTP/1.1 201 Created\r\n") && reply.contains("\r\nX-A: b\r\n"),
        "{reply}"
    );
    assert!(reply.ends_with("\r\n\r\nabcde"), "{reply}");
    let report = lab.end();
    assert_eq!((report.requests.received, report.requests.answered), (1, 1));
    assert_eq!(report.requests.by_status.get(&201), Some(&1));
    assert_eq!(
        (report.connections.accepted, report.connections.closed, report.connections.peak),
        (1, 1, 1)
    );
    assert_eq!(report.bytes.sent, reply.len() as u64);
    assert!(report.truth.reason.unwrap().contains("nothing was recorded"));
}

#[test]
fn paths_decide_the_reply() {
    let lab = Lab::start("");
    assert!(lab.get("/status/404").starts_with("HTTP/1.1 404 "));
    assert!(lab.get("/redirect/2").contains("\r\nLocation: /redirect/1\r\n"));
    assert!(lab.get("/redirect/0").starts_with("HTTP/1.1 200 "));
    assert!(lab.get("/bytes/3000").len() > 3000);
    assert!(lab.get("/delay/5").starts_with("HTTP/1.1 200 "));
    let stats = lab.get("/stats");
    let json: serde_json::Value =
        serde_json::from_str(stats.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(json["requests"]["received"], 5);
    assert_eq!(lab.end().requests.received, 5);
}

#[test]
fn a_large_reply_arrives_completely() {
    let lab = Lab::start("--body 8M --record");
    let reply = lab.get("/");
    assert_eq!(reply.split_once("\r\n\r\n").unwrap().1.len(), 8 << 20);
    let chunked = Lab::start("--body 40k --chunked");
    assert!(chunked.get("/").ends_with("\r\n0\r\n\r\n"));
    chunked.end();
    assert_eq!(lab.end().requests.answered, 1);
}

#[test]
fn echo_returns_the_request() {
    let lab = Lab::start("--echo");
    let request =
        "POST /a?b HTTP/1.1\r\nHost: lab\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody";
    assert!(lab.ask(request).ends_with(&format!("\r\n\r\n{request}")));
    lab.end();
}

#[test]
fn http_1_0_connections_are_closed_without_keep_alive() {
    let lab = Lab::start("--chunked");
    let reply = lab.ask("GET / HTTP/1.0\r\n\r\n");
    assert!(reply.contains("Content-Length: 10") && reply.contains("Connection: close"), "{reply}");
    let kept = lab.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n");
    assert_eq!(kept.matches("HTTP/1.1 200 OK").count(), 2, "{kept}");
    lab.end();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for line in
        ["", "--service exp:2ms", "--service exp:2ms --workers 2", "--record", "--stall 20ms/40ms"]
    {
        let lab = Lab::start(line);
        let numbered: Vec<_> =
            (200..250).map(|status| format!("GET /status/{status} HTTP/1.1\r\n\r\n")).collect();
        let mut requests = numbered.concat();
        requests +=
            "GET /status/404 HTTP/1.1\r\nConnection: close\r\n\r\nGET /never HTTP/1.1\r\n\r\n";
        let reply = lab.ask(&requests);
        let statuses: Vec<&str> = reply.split("HTTP/1.1 ").skip(1).map(|one| &one[..3]).collect();
        let expected: Vec<String> =
            (200..250).chain([404]).map(|status| status.to_string()).collect();
        assert_eq!(statuses, expected, "{line}");
        lab.end();
    }
}

#[test]
fn connections_end_after_their_share_of_requests() {
    let lab = Lab::start("--keepalive-requests 3");
    let reply = lab.ask(&GET.repeat(5));
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(reply.matches("Connection: close").count(), 1);
    lab.end();
}

#[test]
fn idle_connections_are_closed_in_time() {
    let lab = Lab::start("--idle-timeout 50ms");
    assert_eq!(lab.ask(GET).matches("HTTP/1.1 200 OK").count(), 1);
    assert_eq!(lab.ask(""), "");
    lab.end();
}

#[test]
fn malformed_requests_get_400() {
    let lab = Lab::start("");
    assert!(lab.ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let report = lab.end();
    assert_eq!((report.requests.malformed, report.requests.received), (1, 0));
}

#[test]
fn a_half_closed_client_gets_its_reply() {
    let lab = Lab::start("--service const:20ms");
    let mut socket = lab.connect();
    socket.write_all(GET.as_bytes()).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200 OK"));
    lab.end();
}

#[test]
fn failures_fail_as_they_are_named() {
    for service in ["", " --service const:1ms"] {
        let reply = |kind: &str| {
            let lab = Lab::start(&format!("--fail 1:{kind} --body 100 --drip 1ms{service}"));
            let reply = lab.get("/");
            let report = lab.end();
            assert_eq!(report.requests.failed_by_kind.get(kind), Some(&1), "{kind}");
            (reply, report.requests.answered)
        };
        let (whole, _) = reply("200");
        assert!(reply("503").0.starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
        assert_eq!(reply("close"), (String::new(), 0));
        assert_eq!(reply("close-early"), (whole[..whole.len() - 50].to_owned(), 0));
        assert_eq!(reply("truncate-head"), (whole[..(whole.len() - 100) / 2].to_owned(), 0));
        assert_eq!(reply("slow"), (whole.clone(), 1));
        let (garbage, answered) = reply("garbage");
        assert!(!garbage.is_empty() && !garbage.contains("HTTP/1") && answered == 0);
        let (extra, answered) = reply("extra");
        assert!(extra.starts_with(&whole) && extra.len() > whole.len() && answered == 1);
    }
}

#[test]
fn the_failures_reset_and_never_take_effect() {
    let lab = Lab::start("--fail 1:reset");
    let mut socket = lab.connect();
    socket.write_all(GET.as_bytes()).unwrap();
    assert_eq!(socket.read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    lab.end();
    let lab = Lab::start("--fail 1:never --service const:1ms");
    let mut socket = lab.connect();
    socket.write_all(GET.as_bytes()).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert_eq!(socket.read(&mut [0; 10]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(socket);
    let report = lab.end();
    assert_eq!((report.requests.received, report.requests.answered), (1, 0));
    assert_eq!(report.truth.sojourn_seconds, None);
}

#[test]
fn requests_wait_for_the_one_worker() {
    let lab = Lab::start("--service const:20ms --workers 1");
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| assert!(lab.get("/").starts_with("HTTP/1.1 200 OK")));
        }
    });
    let report = lab.end();
    let (sojourn, written) =
        (report.truth.sojourn_seconds.unwrap(), report.truth.written_seconds.unwrap());
    assert_eq!((sojourn.count, written.count), (5, 5));
    assert!(sojourn.max > 0.02 && sojourn.max <= 0.1, "{sojourn:?}");
    assert!(written.max >= sojourn.max && written.mean >= sojourn.mean, "{written:?} {sojourn:?}");
    assert_eq!(report.truth.stamped_by_kernel, 5);
    assert!(report.truth.method.contains("Lindley"));
}

#[test]
fn a_stall_delays_replies() {
    let lab = Lab::start("--stall 60ms/100ms");
    let mut socket = lab.connect();
    for _ in 0..10 {
        socket.write_all(GET.as_bytes()).unwrap();
        assert!(socket.read(&mut [0; 1000]).unwrap() > 0);
        thread::sleep(Duration::from_millis(15));
    }
    let sojourn = lab.end().truth.sojourn_seconds.unwrap();
    assert!(sojourn.max > 0.0 && sojourn.max <= 0.06, "{sojourn:?}");
}

#[test]
fn beyond_the_maximum_of_records_the_truth_is_refused() {
    let lab = Lab::start("--record --max-record 2");
    assert_eq!(lab.ask(&(GET.repeat(3) + "GET / HTTP/1.0\r\n\r\n")).matches("200 OK").count(), 4);
    let truth = lab.end().truth;
    assert!(
        !truth.accepted && truth.reason.unwrap().contains("2 requests came after --max-record")
    );
}

#[test]
fn clients_that_trust_the_certificate_can_use_tls() {
    for line in ["--tls --body 300k", "--tls --body 300k --service const:1ms"] {
        let lab = Lab::start(line);
        let mut stream = lab.connect_tls(&[]);
        stream.write_all(format!("{GET}GET / HTTP/1.0\r\n\r\n").as_bytes()).unwrap();
        let mut reply = String::new();
        // Ends without an error only if the server has announced the end.
        stream.read_to_string(&mut reply).unwrap();
        assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 2);
        let report = lab.end();
        assert_eq!(report.requests.answered, 2);
        assert!(report.listen.starts_with("https://"));
    }
}

#[test]
fn unix_sockets_are_listened_on() {
    let path = std::env::temp_dir().join(format!("brunt-lab-{}.sock", std::process::id()));
    let lab = Lab::start(&format!("--listen unix:{} --service const:1ms", path.display()));
    let mut socket = UnixStream::connect(&path).unwrap();
    socket.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(lab.end().truth.stamped_by_kernel, 0);
    assert!(!path.exists());
}

#[test]
fn the_lab_runs_until_stopped_by_default() {
    assert_eq!(LabOptions::try_parse_from(["brunt-lab"]).unwrap().max_runtime, None);
    let lab = Lab::start("--max-runtime 50ms");
    let report = lab.thread.join().unwrap();
    assert!(report.runtime_seconds >= 0.05);
}
