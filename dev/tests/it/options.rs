//! Tests options of connections with each protocol: an option works, or is refused by name before
//! the load.
//!
//! docs/http2.md has the same table.

use crate::connections::proxy;
use crate::world::certs::{Authority, CertificateFiles};
use crate::world::{Lab, command, lab, measure};
use std::fs;
use std::io::copy;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use tempfile::TempDir;

/// Content of a cell of the table.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Works,
    /// Refused with a message that contains this text.
    Refused(&'static str),
}

use Cell::{Refused, Works};

const COLUMNS: [&str; 6] =
    ["HTTP/1.1", "HTTP/2", "HTTP/3", "WebSocket", "WebSocket over HTTP/2", "gRPC"];

const STREAMS: Cell = Refused("an HTTP/1 connection carries one request at a time");
const RATE: Cell = Refused("--receive-rate works with HTTP/1.0 and 1.1 only");
const EARLY: Cell = Refused("--early-data works with HTTP/3 only");
const UPGRADE: Cell = Refused("--h2c-upgrade is for HTTP/2 without TLS");
const VERSIONS: Cell = Refused("one run has one version");

/// Rows: options, and whether they work with each column over TLS. `PORT` is the port of the
/// server, `RELAY` a Unix socket that leads to it, `PROXY` a proxy, `CERT` and `KEY` a client
/// certificate.
const ROWS: [(&str, [Cell; 6]); 14] = [
    (
        "--proxy PROXY",
        [Works, Works, Refused("--proxy does not work with HTTP/3"), Works, Works, Works],
    ),
    ("--resolve behind.test:PORT:127.0.0.1", [Works; 6]),
    ("--resolve-all 127.0.0.1:PORT,tls", [Works; 6]),
    ("--resolve behind.test:PORT:127.0.0.1 --source 127.0.0.2", [Works; 6]),
    ("--resolve behind.test:PORT:127.0.0.1 --cert CERT --key KEY", [Works; 6]),
    ("--resolve behind.test:PORT:127.0.0.1 --no-tls-resumption --no-keepalive", [Works; 6]),
    (
        "--unix-socket RELAY",
        [Works, Works, Refused("--unix-socket does not work with HTTP/3"), Works, Works, Works],
    ),
    (
        "--resolve behind.test:PORT:127.0.0.1 --receive-rate 1M",
        [Works, RATE, RATE, Refused("--receive-rate does not work with WebSockets"), RATE, RATE],
    ),
    ("--resolve behind.test:PORT:127.0.0.1 --connect-rate 100", [Works; 6]),
    ("--resolve behind.test:PORT:127.0.0.1 --no-keepalive", [Works; 6]),
    (
        "--resolve behind.test:PORT:127.0.0.1 --early-data",
        [EARLY, EARLY, Works, EARLY, EARLY, EARLY],
    ),
    (
        "--resolve behind.test:PORT:127.0.0.1 --h2c-upgrade",
        [VERSIONS, UPGRADE, VERSIONS, UPGRADE, UPGRADE, UPGRADE],
    ),
    (
        "--resolve behind.test:PORT:127.0.0.1 --connections-per-origin 2",
        [
            Works,
            Works,
            Works,
            Works,
            Refused("--connections-per-origin does not work with WebSockets over HTTP/2"),
            Works,
        ],
    ),
    (
        "--resolve behind.test:PORT:127.0.0.1 --streams 4",
        [STREAMS, Works, Works, STREAMS, Works, Works],
    ),
];

/// Rows without TLS. HTTP/3 supports none of them.
const PLAIN: [(&str, [Cell; 6]); 4] = {
    const H3: Cell = Refused("does not work with HTTP/3");
    const PROXY: Cell = Refused("--proxy for URLs of http:// works with HTTP/1.0 and 1.1 only");
    [
        ("--proxy PROXY", [Works, PROXY, H3, Works, Works, PROXY]),
        ("--resolve-all 127.0.0.1:PORT", [Works, Works, H3, Works, Works, Works]),
        ("--unix-socket RELAY", [Works, Works, H3, Works, Works, Works]),
        (
            "--resolve behind.test:PORT:127.0.0.1 --h2c-upgrade",
            [VERSIONS, Works, VERSIONS, Works, Works, Works],
        ),
    ]
};

/// Two servers, the second of which supports gRPC, and files for the options.
struct Servers {
    dir: TempDir,
    labs: [Lab; 2],
    certificate: CertificateFiles,
    tls: &'static str,
}

impl Servers {
    fn start(tls: &'static str) -> Self {
        let dir = TempDir::new().expect("a directory");
        let certificate = Authority::new(dir.path()).certify("client");
        let proto = "syntax = \"proto3\"; package shop; service Shop { rpc Buy(Item) returns (Item); } message Item {}";
        fs::write(dir.path().join("shop.proto"), proto).expect("a file");
        let labs = [lab(tls), lab(&format!("--grpc {}", tls.replace("--http3", "")))];
        for (name, lab) in ["0", "1"].iter().zip(&labs) {
            relay(&dir.path().join(name), lab.port());
        }
        Self { dir, labs, certificate, tls }
    }

    /// Command line of a cell.
    fn line(&self, column: usize, options: &str, proxy: &str) -> String {
        let is_grpc = column == 5;
        let dir = self.dir.path().display();
        let port = self.labs[usize::from(is_grpc)].port();
        let (http, request) = match column {
            0 => ("http", "--http 1.1".to_owned()),
            1 => ("http", "--http 2".to_owned()),
            2 => ("http", "--http 3".to_owned()),
            3 => ("ws", "--data x".to_owned()),
            4 => ("ws", "--data x --http 2".to_owned()),
            _ => ("http", format!("--grpc shop.Shop/Buy --json {{}} --proto {dir}/shop.proto")),
        };
        let secure = if self.tls.is_empty() { "" } else { "s" };
        let options = options
            .replace("PORT", &port.to_string())
            .replace("PROXY", proxy)
            .replace("RELAY", &format!("{dir}/{}", usize::from(is_grpc)))
            .replace("CERT", &self.certificate.cert)
            .replace("KEY", &self.certificate.key);
        format!("{http}{secure}://behind.test:{port}/ {request} -k -c 2 -n 8 {options}")
    }

    fn assert_rows(&self, rows: &[(&str, [Cell; 6])]) {
        let proxy = proxy("200 Connected");
        for (options, cells) in rows {
            for (column, cell) in cells.iter().enumerate() {
                let line = self.line(column, options, &proxy.address.to_string());
                let ran = measure(&line);
                let name = COLUMNS[column];
                match cell {
                    Works => {
                        assert_eq!(ran.count("good"), 8, "{name}: {line}: {}{}", ran.out, ran.err);
                    }
                    Refused(expected) => {
                        let ran = ran.assert_code(2);
                        assert!(ran.err.contains(expected), "{name}: {line}: {}", ran.err);
                    }
                }
            }
        }
    }
}

/// Opens a Unix socket that leads to a port, until the test ends.
fn relay(path: &Path, port: u16) {
    let listener = UnixListener::bind(path).expect("a socket");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", port)).expect("the server");
            let mut from = client.try_clone().expect("a handle");
            let mut to = server.try_clone().expect("a handle");
            thread::spawn(move || {
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            let mut from = server;
            let mut to = client;
            thread::spawn(move || {
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
}

#[test]
fn options_work_with_each_protocol_or_are_refused() {
    Servers::start("--tls --http3").assert_rows(&ROWS);
    Servers::start("").assert_rows(&PLAIN);
}

#[test]
fn keys_are_logged_with_each_protocol() {
    let servers = Servers::start("--tls --http3");
    for (column, name) in COLUMNS.iter().enumerate() {
        let file = servers.dir.path().join(format!("keys{column}"));
        let line = servers.line(column, "--resolve behind.test:PORT:127.0.0.1", "");
        let output =
            command(&format!("run {line}")).env("SSLKEYLOGFILE", &file).output().expect("brunt");
        let keys = fs::read_to_string(&file).unwrap_or_default();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0"), "{name}: {errors}");
    }
}
