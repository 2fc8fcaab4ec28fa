//! Starts nginx with its own configuration and directory.

use super::log;
use super::port;
use super::server::ServerProcess;
use super::skip::{program, skip};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Fields of the access log.
const LOG: &str = "log_format it escape=none '$connection\t$connection_requests\t$remote_addr\t$server_addr\t$request\t$host\t$status\t\
                   $ssl_server_name\t$ssl_session_reused\t$ssl_client_s_dn';";

/// A listening nginx.
pub struct Nginx {
    pub server: ServerProcess,
    pub port: u16,
    pub dir: TempDir,
    /// Number of requests by [`Nginx::requests`].
    status_requests: AtomicU64,
}

/// Starts an nginx with these directives and `listen 127.0.0.1`. Skips the test and returns None if
/// nginx is not installed. `PORT` and `DIR` stand for its port and directory.
pub fn nginx(test: &str, directives: &str) -> Option<Nginx> {
    nginx_at(test, "listen 127.0.0.1:PORT;", directives)
}

/// Starts an nginx with another `listen`.
pub fn nginx_at(test: &str, listen: &str, directives: &str) -> Option<Nginx> {
    let Some(nginx) = program("nginx") else {
        skip(test, "no nginx here");
        return None;
    };
    // Another process may take the port before nginx does, so other ports are tried.
    let started = (0..5).find_map(|_| try_start(&nginx, listen, directives));
    Some(started.expect("an nginx that starts"))
}

fn try_start(nginx: &str, listen: &str, directives: &str) -> Option<Nginx> {
    let dir = TempDir::new().expect("a directory");
    let port = port::free();
    fill(dir.path(), &config(dir.path(), port, listen, directives));
    let mut command = Command::new(nginx);
    command.arg("-c").arg(dir.path().join("conf")).arg("-e").arg(dir.path().join("error"));
    let mut server = ServerProcess::start(command.stdin(Stdio::null()).stderr(Stdio::null()));
    for _ in 0..1000 {
        if port::has_listener(port) {
            return Some(Nginx { server, port, dir, status_requests: AtomicU64::new(0) });
        }
        if server.exit_status().is_some() {
            break;
        }
        super::wait_a_moment();
    }
    eprintln!("nginx: {}", fs::read_to_string(dir.path().join("error")).unwrap_or_default());
    None
}

fn fill(dir: &Path, config: &str) {
    fs::create_dir(dir.join("www")).expect("a directory");
    write_file(dir, "www/index.html", b"0123456789");
    write_file(dir, "www/page.txt", "a text that is worth packing\n".repeat(200).as_bytes());
    write_file(dir, "www/long", &vec![b'x'; 200_000]);
    write_file(dir, "conf", config.as_bytes());
}

fn write_file(dir: &Path, name: &str, bytes: &[u8]) {
    fs::write(dir.join(name), bytes).expect("a file");
}

fn config(dir: &Path, port: u16, listen: &str, directives: &str) -> String {
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path DIR/tmp;"));
    format!(
        "daemon off; user root; worker_processes 1; pid DIR/pid; error_log DIR/error notice;
         worker_rlimit_nofile 4096; events {{ worker_connections 2000; }}
         http {{ {LOG} access_log DIR/access it; keepalive_requests 1000000; {}
           server {{ {listen} root DIR/www; location = /stub {{ stub_status; }} {directives} }} }}",
        temporary.concat()
    )
    .replace("DIR", &dir.display().to_string())
    .replace("PORT", &port.to_string())
}

impl Nginx {
    /// URL of a path that begins with `/`.
    pub fn url_of(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// URL of a path with `https:`, for an nginx that listens with TLS.
    pub fn secure(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Number of requests that it has counted, without those by this function.
    pub fn requests(&self) -> u64 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("nginx");
        stream.write_all(b"GET /stub HTTP/1.0\r\n\r\n").expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a reply");
        let numbers = text.lines().skip_while(|l| !l.starts_with("server accepts")).nth(1);
        let requests =
            numbers.and_then(|l| l.split_whitespace().nth(2)).and_then(|n| n.parse::<u64>().ok());
        let own = self.status_requests.fetch_add(1, Ordering::Relaxed) + 1;
        requests.unwrap_or_else(|| panic!("no status: {text}")) - own
    }

    /// Its log of the requests of brunt.
    pub fn log(&self) -> Vec<log::LogLine> {
        log::read(&self.dir.path().join("access"))
    }
}
