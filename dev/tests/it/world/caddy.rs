//! Starts caddy, which supports HTTP/3, with its own configuration and directory.

use super::certs::CertificateFiles;
use super::port;
use super::server::ServerProcess;
use super::skip::{program, skip};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A caddy that listens on TCP and UDP.
pub struct Caddy {
    #[expect(dead_code, reason = "it ends with us")]
    server: ServerProcess,
    pub port: u16,
    pub dir: TempDir,
}

/// Starts a caddy for `localhost` with this certificate, its key and these directives of the site.
/// Skips the test and returns None if caddy is not installed.
pub fn caddy(test: &str, certificate: &CertificateFiles, directives: &str) -> Option<Caddy> {
    let Some(caddy) = program("caddy") else {
        skip(test, "no caddy here");
        return None;
    };
    let CertificateFiles { cert, key } = certificate;
    // Another process may take the port before caddy does, so other ports are tried.
    let started =
        (0..5).find_map(|_| try_start(&caddy, &format!("tls {cert} {key}\n{directives}")));
    Some(started.expect("a caddy that starts"))
}

fn try_start(caddy: &str, directives: &str) -> Option<Caddy> {
    let dir = TempDir::new().expect("a directory");
    let port = port::free();
    fs::create_dir(dir.path().join("www")).expect("a directory");
    write_file(dir.path(), "www/index.html", b"0123456789");
    write_file(dir.path(), "www/long", &vec![b'x'; 200_000]);
    write_file(dir.path(), "Caddyfile", config(dir.path(), port, directives).as_bytes());
    let mut command = Command::new(caddy);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(dir.path().join("Caddyfile"));
    command.envs(["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"].map(|name| (name, dir.path())));
    let errors = fs::File::create(dir.path().join("error")).expect("a file");
    let mut server =
        ServerProcess::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors));
    for _ in 0..1000 {
        // caddy listens on UDP before TCP.
        if port::has_listener(port) {
            return Some(Caddy { server, port, dir });
        }
        if server.exit_status().is_some() {
            break;
        }
        super::wait_a_moment();
    }
    eprintln!("caddy: {}", fs::read_to_string(dir.path().join("error")).unwrap_or_default());
    None
}

fn write_file(dir: &Path, name: &str, bytes: &[u8]) {
    fs::write(dir.join(name), bytes).expect("a file");
}

fn config(dir: &Path, port: u16, directives: &str) -> String {
    let dir = dir.display();
    format!(
        "{{\nadmin off\nauto_https off\nskip_install_trust\n}}\nhttps://localhost:{port} {{\nbind 127.0.0.1\n{directives}\n\
         root * {dir}/www\nfile_server\nlog {{\noutput file {dir}/access\nformat json\n}}\n}}\n"
    )
}

impl Caddy {
    /// URL of a path that begins with `/`.
    pub fn url_of(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }

    /// Its log of requests, as soon as it has this number of lines. caddy writes a line after the
    /// reply.
    pub fn log(&self, lines: usize) -> Vec<Value> {
        let mut log = Vec::new();
        for _ in 0..200 {
            let text = fs::read_to_string(self.dir.path().join("access")).unwrap_or_default();
            log = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            if log.len() >= lines {
                break;
            }
            super::wait_a_moment();
        }
        log
    }
}
