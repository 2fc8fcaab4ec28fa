//! A team's studio: tokens, TLS, transfer of runs, leases. Programs of brunt talk to each other, and attacks are bytes on
//! a socket.

use super::{Reply, ids};
use crate::world::certs::Authority;
use crate::world::lab::lab;
use crate::world::server::ServerProcess;
use crate::world::{command, wait_until};
use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// A studio with tokens, over TLS or not.
struct TeamStudio {
    dir: TempDir,
    port: u16,
    authority: Option<String>,
    reader: String,
    runner: String,
    _server: ServerProcess,
}

/// Prints a new token. Returns its secret and its line.
fn token(name: &str, permission: &str) -> (String, String) {
    let output = command(&format!("studio token {name} {permission}")).output().expect("brunt");
    let text = String::from_utf8(output.stdout).expect("a text");
    let (secret, line) = text.trim_end().split_once('\n').expect("two lines");
    (secret.to_owned(), line.to_owned())
}

fn write_tokens(dir: &Path, lines: &[&str]) {
    let new = dir.join("tokens.new");
    fs::write(&new, lines.join("\n")).expect("a file");
    fs::set_permissions(&new, Permissions::from_mode(0o600)).expect("permissions");
    fs::rename(new, dir.join("tokens")).expect("a file");
}

impl TeamStudio {
    fn start(has_tls: bool) -> Self {
        let dir = TempDir::new().expect("a directory");
        let (reader, reader_line) = token("ann", "read");
        let (runner, runner_line) = token("ci", "run");
        write_tokens(dir.path(), &[&reader_line, &runner_line]);
        let out = dir.path().join("studio.out");
        let mut studio = command("studio --listen 127.0.0.1:0 --no-open --host localhost --store");
        studio.arg(dir.path().join("store")).arg("--tokens").arg(dir.path().join("tokens"));
        let mut authority = None;
        if has_tls {
            let own = Authority::new(dir.path());
            let files = own.certify("localhost");
            studio.args(["--cert", &files.cert, "--key", &files.key]);
            authority = Some(own.pem);
        }
        studio.stdout(File::create(&out).expect("a file"));
        studio.stderr(File::create(dir.path().join("studio.err")).expect("a file"));
        let server = ServerProcess::start(&mut studio);
        let mut port = 0;
        wait_until("the studio's link", || {
            let text = fs::read_to_string(&out).unwrap_or_default();
            let link = text.lines().find(|line| line.contains("/open/")).unwrap_or_default();
            let address = link.split('/').nth(2).unwrap_or_default();
            port = address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0);
            port != 0
        });
        Self { dir, port, authority, reader, runner, _server: server }
    }

    fn address(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}", self.port)
    }

    /// Runs brunt on a store, with a token.
    fn brunt(&self, store: &Path, token: &str, line: &str) -> Output {
        let mut brunt = command(line);
        brunt.env("BRUNT_STORE", store).env("BRUNT_STUDIO_TOKEN", token);
        if let Some(authority) = &self.authority {
            let option = if line.starts_with("runs") { "--cacert" } else { "--studio-cacert" };
            brunt.args([option, authority]);
        }
        brunt.output().expect("brunt")
    }

    /// Sends a request without TLS.
    fn send(&self, method: &str, path: &str, token: &str, body: &str) -> Reply {
        let length = body.len();
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        connection.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {length}\r\n\r\n",
            self.port
        );
        connection.write_all(format!("{head}{body}").as_bytes()).expect("a request");
        Reply::read(connection)
    }
}

fn text_of(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    format!("{out}{err}")
}

#[test]
fn a_run_reaches_the_team_over_tls_and_another_store() {
    let team = TeamStudio::start(true);
    let lab = lab("");
    let mine = TempDir::new().expect("a directory");
    let line = format!("{} -n 30 -c 1 -q --studio={}", lab.url_of("/"), team.address());
    let ran = team.brunt(mine.path(), &team.runner, &line);
    assert!(ran.status.success(), "{}", text_of(&ran));
    let at_team = ids(team.dir.path());
    assert_eq!(at_team.len(), 1, "pushed");
    let again =
        team.brunt(mine.path(), &team.runner, &format!("runs push last --to {}", team.address()));
    assert!(text_of(&again).starts_with("already there: "), "{}", text_of(&again));
    let refused =
        team.brunt(mine.path(), &team.reader, &format!("runs push last --to {}", team.address()));
    assert!(text_of(&refused).contains("`run` is needed here"), "{}", text_of(&refused));
    let other = TempDir::new().expect("a directory");
    let pull = format!("runs pull {} --from {}", at_team[0], team.address());
    let pulled = team.brunt(other.path(), &team.reader, &pull);
    assert_eq!(text_of(&pulled), format!("pulled: {}\n", at_team[0]));
    let pulled = team.brunt(other.path(), &team.reader, &pull);
    assert_eq!(text_of(&pulled), format!("already here: {}\n", at_team[0]));
    for (token, authority, expected) in [
        ("", team.authority.clone(), "needs a token"),
        ("brunt_0", team.authority.clone(), "no valid token"),
        (&*team.reader, None, "certificate"),
    ] {
        let mut brunt = command(&pull);
        brunt.env("BRUNT_STORE", other.path()).env("BRUNT_STUDIO_TOKEN", token);
        brunt.args(authority.iter().flat_map(|file| ["--cacert", file]));
        let output = brunt.output().expect("brunt");
        let text = text_of(&output);
        assert!(!output.status.success() && text.contains(expected), "{expected}: {text}");
        assert!(token.is_empty() || !text.contains(token), "{text}");
    }
}

#[test]
fn a_port_with_tls_answers_only_tls() {
    let team = TeamStudio::start(true);
    for bytes in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        &[0x16, 3, 1, 255, 255][..],
        &b"\0\0\0\0"[..],
    ] {
        let mut connection = TcpStream::connect(("127.0.0.1", team.port)).expect("a connection");
        connection.write_all(bytes).expect("bytes");
        connection.shutdown(std::net::Shutdown::Write).expect("an end");
        let mut reply = Vec::new();
        let _ = connection.read_to_end(&mut reply);
        assert!(!reply.starts_with(b"HTTP"), "{reply:?}");
    }
    let empty = TempDir::new().expect("a directory");
    let pull = team.brunt(
        empty.path(),
        &team.reader,
        &format!("runs pull last --from {}", team.address()),
    );
    assert!(text_of(&pull).contains("no stored run"), "{}", text_of(&pull));
}

#[test]
fn uploads_that_are_slow_or_large_or_forbidden_are_refused() {
    let team = TeamStudio::start(false);
    for (token, length, status) in [
        (&team.runner, 1000, 408),
        (&team.runner, 999_999_999_999_u64, 413),
        // The token is checked before the content is read.
        (&team.reader, 1000, 403),
        (&team.reader, 999_999_999_999, 403),
    ] {
        let mut connection = TcpStream::connect(("127.0.0.1", team.port)).expect("a connection");
        connection.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        let head = format!(
            "POST /api/runs HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {length}\r\n\r\nBRUNTA01",
            team.port
        );
        connection.write_all(head.as_bytes()).expect("a request");
        let reply = Reply::read(connection);
        assert_eq!(reply.status, status, "{length}: {} {}", reply.head, reply.body);
    }
    let incoming = fs::read_dir(team.dir.path().join("store/incoming")).expect("a folder");
    assert_eq!(incoming.count(), 0);
}

#[test]
fn a_push_that_fails_leaves_the_run_here() {
    let team = TeamStudio::start(false);
    let lab = lab("");
    let mine = TempDir::new().expect("a directory");
    let store = mine.path().join("store");
    // The lease works, and then the token ends.
    let (_, line) = token("ci", "read");
    let run = format!("{} -n 30 -c 1 -q --studio={}", lab.url_of("/"), team.address());
    write_tokens(team.dir.path(), &[&line]);
    let refused = team.brunt(&store, &team.runner, &run);
    assert!(
        !refused.status.success() && text_of(&refused).contains("no valid token"),
        "{}",
        text_of(&refused)
    );
    assert!(ids(mine.path()).is_empty(), "no load without a lease");
    let local = format!("{} -n 30 -c 1 -q", lab.url_of("/"));
    assert!(team.brunt(&store, &team.runner, &local).status.success());
    let id = ids(mine.path()).pop().expect("a run");
    let push = team.brunt(&store, &team.runner, &format!("runs push {id} --to {}", team.address()));
    assert!(!push.status.success());
    assert_eq!(ids(mine.path()), [id]);
}

#[test]
fn two_runs_do_not_measure_one_server_at_once() {
    let team = TeamStudio::start(false);
    let lab = lab("");
    let mine = TempDir::new().expect("a directory");
    let store = mine.path().join("store");
    let url = lab.url_of("/");
    let lease = format!("{{\"targets\":[\"{url}\"],\"purpose\":\"nightly\",\"seconds\":3600}}");
    assert_eq!(team.send("POST", "/api/leases", &team.reader, &lease).status, 403);
    let taken = team.send("POST", "/api/leases", &team.runner, &lease);
    assert_eq!(taken.status, 201, "{}", taken.body);
    let run = format!("{url} -n 30 -c 1 -q --studio={}", team.address());
    let refused = team.brunt(&store, &team.runner, &run);
    let text = text_of(&refused);
    assert!(!refused.status.success(), "{text}");
    assert!(
        text.contains("is leased by ci (nightly); ") && text.contains("--wait-lease"),
        "{text}"
    );
    assert!(ids(mine.path()).is_empty(), "no load was sent");
    let key: serde_json::Value = serde_json::from_str(&taken.body).expect("JSON");
    let path = format!("/api/leases/{}", key["key"].as_str().expect("a key"));
    // Its time of change is the instant of the release.
    let release = team.dir.path().join("release");
    let waiting = format!("{run} --wait-lease 5m");
    let ran = thread::scope(|scope| {
        let run = scope.spawn(|| team.brunt(&store, &team.runner, &waiting));
        thread::sleep(Duration::from_millis(500));
        fs::write(&release, "").expect("a file");
        assert_eq!(team.send("DELETE", &path, &team.runner, "").status, 204);
        run.join().expect("a run")
    });
    assert!(ran.status.success(), "{}", text_of(&ran));
    let listed = team.send("GET", "/api/runs", &team.reader, "").body;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let started = listed["items"][0]["started_unix_seconds"].as_f64().expect("a time");
    let released = fs::metadata(&release).and_then(|file| file.modified()).expect("a time");
    let released = released.duration_since(UNIX_EPOCH).expect("later than 1970").as_secs_f64();
    assert!(started >= released, "the wait for the lease is no part of the run");
    assert_eq!(team.send("GET", "/api/leases", &team.reader, "").body, "[]", "released at the end");
    assert_eq!(ids(team.dir.path()), ids(mine.path()));
}

#[test]
fn a_run_of_the_studio_takes_a_lease_for_its_visitor() {
    let team = TeamStudio::start(false);
    let lab = lab("");
    let url = lab.url_of("/delay/5ms");
    let start =
        format!("{{\"url\":\"{url}\",\"options\":[\"--duration=5m\",\"--connections=1\"]}}");
    assert_eq!(team.send("POST", "/api/start", &team.reader, &start).status, 403);
    let started = team.send("POST", "/api/start", &team.runner, &start);
    assert_eq!(started.status, 202, "{}", started.body);
    let mut leases = String::new();
    wait_until("the lease of the run", || {
        leases = team.send("GET", "/api/leases", &team.reader, "").body;
        leases != "[]"
    });
    assert!(leases.contains("\"holder\":\"ci\""), "{leases}");
    let process: serde_json::Value = serde_json::from_str(&started.body).expect("JSON");
    let path = format!("/api/starting/{}", process["process"]);
    let mut id = String::new();
    wait_until("the begin of the run", || {
        let state = team.send("GET", &path, &team.runner, "").body;
        let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
        state["id"].as_str().unwrap_or_default().clone_into(&mut id);
        !id.is_empty()
    });
    let second = team.send("POST", "/api/start", &team.runner, &start);
    let process: serde_json::Value = serde_json::from_str(&second.body).expect("JSON");
    let path = format!("/api/starting/{}", process["process"]);
    let mut state = String::new();
    wait_until("the refusal of the second run", || {
        state = team.send("GET", &path, &team.runner, "").body;
        state.contains("\"refused\"")
    });
    assert!(state.contains("is leased by ci"), "{state}");
    assert_eq!(team.send("POST", &format!("/api/runs/{id}/stop"), &team.reader, "").status, 403);
    assert_eq!(team.send("POST", &format!("/api/runs/{id}/stop"), &team.runner, "").status, 204);
    wait_until("the release of the lease", || {
        team.send("GET", "/api/leases", &team.reader, "").body == "[]"
    });
}
