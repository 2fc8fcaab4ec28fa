//! The studio: which requests it answers, and what its pages show. Attacks are bytes on a socket, as no browser would
//! send them.

mod browser;
mod languages;
mod plans;
mod recordings;
mod team;

use crate::world::lab::lab;
use crate::world::odd::{page, serve_reply};
use crate::world::server::ServerProcess;
use crate::world::{command, wait_until};
use regex::Regex;
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A text that would be a script if it became markup.
const HOSTILE: &str = "<script>alert(1)</script>";

/// A studio with a store of its own.
struct Studio {
    dir: TempDir,
    link: String,
    port: u16,
    server: ServerProcess,
}

/// A reply of the studio.
struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Studio {
    /// Starts a studio on the store in this directory.
    fn start(dir: TempDir) -> Self {
        let out = dir.path().join("studio.out");
        let mut studio = command("studio --listen 127.0.0.1:0 --no-open --store");
        studio.arg(dir.path().join("store")).stdout(File::create(&out).expect("a file"));
        // Recordings have their certificate there.
        studio.env("XDG_DATA_HOME", dir.path().join("data"));
        studio.stderr(File::create(dir.path().join("studio.err")).expect("a file"));
        let server = ServerProcess::start(&mut studio);
        let mut link = String::new();
        wait_until("the studio's link", || {
            let text = fs::read_to_string(&out).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("http://"));
            line.unwrap_or_default().clone_into(&mut link);
            link.contains("/open/") && text.ends_with('\n')
        });
        let address = link.trim_start_matches("http://").split('/').next().unwrap_or_default();
        let port = address.rsplit(':').next().unwrap_or_default().parse().expect("a port");
        Self { dir, link, port, server }
    }

    /// Kills the studio. Returns its directory.
    fn killed(self) -> TempDir {
        self.server.signal(Signal::KILL);
        self.dir
    }

    fn own(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends bytes, and reads the reply to its end.
    fn send(&self, bytes: &str) -> Reply {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        connection.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        connection.write_all(bytes.as_bytes()).expect("a request");
        Reply::read(connection)
    }

    /// Requests a page with the studio's host, and further lines of the head.
    fn get_with(&self, target: &str, lines: &str) -> Reply {
        let host = self.own();
        self.send(&format!(
            "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}\r\n"
        ))
    }

    /// Uses the link. Returns the line with the cookie.
    fn admit(&self) -> String {
        let path =
            self.link.trim_start_matches("http://").trim_start_matches(&self.own()).to_owned();
        let reply = self.get_with(&path, "");
        assert_eq!(reply.status, 200, "{}", reply.head);
        let cookie = Regex::new("(?i)set-cookie: ([^;]*); Path=/; HttpOnly; SameSite=Strict")
            .expect("valid");
        format!("Cookie: {}\r\n", &cookie.captures(&reply.head).expect("a cookie")[1])
    }

    fn post(&self, target: &str, cookie: &str, body: &str) -> Reply {
        let (host, length) = (self.own(), body.len());
        self.send(&format!(
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{cookie}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Follows the start of a process, until its page has this status.
    fn followed(&self, started: &Reply, cookie: &str, status: u16) -> Reply {
        assert_eq!(started.status, 303, "{}", started.body);
        let address = started.location();
        assert!(address.starts_with("/starting/"), "{address}");
        let mut reply = self.get_with(&address, cookie);
        wait_until("the end of the start", || {
            if reply.status == 200 {
                assert!(reply.head.contains("refresh: 1"), "{}", reply.head);
                reply = self.get_with(&address, cookie);
            }
            reply.status != 200
        });
        assert_eq!(reply.status, status, "{}", reply.body);
        reply
    }

    /// Runs a command of brunt on the store.
    fn command(&self, line: &str) -> String {
        run(self.dir.path(), line)
    }
}

impl Reply {
    fn read(mut connection: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A connection that is cut has what came before.
        let _ = connection.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn location(&self) -> String {
        let location = self.head.lines().find_map(|line| line.strip_prefix("location: "));
        location.unwrap_or_else(|| panic!("no location: {}", self.head)).to_owned()
    }

    fn form_token(&self) -> String {
        let token = Regex::new("name=\"token\" value=\"([0-9a-f]{64})\"").expect("valid");
        token.captures(&self.body).expect("a token")[1].to_owned()
    }
}

/// Runs a command of brunt on the store of a directory.
fn run(dir: &Path, line: &str) -> String {
    let output = command(line).env("BRUNT_STORE", dir.join("store")).output().expect("brunt");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text + &String::from_utf8_lossy(&output.stderr)
}

/// Ids of the stored items, the oldest first.
fn ids(dir: &Path) -> Vec<String> {
    let list: serde_json::Value = serde_json::from_str(&run(dir, "runs --json")).expect("JSON");
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item["id"].as_str().expect("an id").to_owned()).collect()
}

/// A directory with two runs: 30 requests of a quick page, and 30 of a slow one.
fn two_runs() -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let lab = lab("");
    run(dir.path(), &format!("{} -n 30 -c 1 -q", lab.url_of("/delay/1ms")));
    run(dir.path(), &format!("{} -n 30 -c 2 -q", lab.url_of("/delay/9ms")));
    assert_eq!(ids(dir.path()).len(), 2);
    dir
}

#[test]
fn only_the_studios_host_is_answered_on_each_route_and_method() {
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let port = studio.port;
    let hosts = [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.1:{}", port ^ 1),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1.:{port}"),
        format!("localhost.:{port}"),
        format!("127.1:{port}"),
        format!("2130706433:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("[::1]:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ];
    for host in &hosts {
        for target in ["/", "/runs/last", "/compare", "/open/0", "/page.js", "/absent"] {
            for method in ["GET", "POST", "DELETE"] {
                let reply = studio.send(&format!(
                    "{method} {target} HTTP/1.1\r\nHost: {host}\r\n{cookie}Content-Length: 0\r\nConnection: close\r\n\r\n"
                ));
                assert_eq!(reply.status, 421, "{method} {target} of `{host}`: {}", reply.head);
            }
        }
    }
    let own = studio.own();
    for head in [
        format!("GET / HTTP/1.1\r\n{cookie}Connection: close\r\n\r\n"),
        format!("GET / HTTP/1.0\r\n{cookie}\r\n"),
        format!(
            "GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n{cookie}Connection: close\r\n\r\n"
        ),
        // As a proxy would be asked.
        format!(
            "GET http://evil.example/ HTTP/1.1\r\nHost: {own}\r\n{cookie}Connection: close\r\n\r\n"
        ),
    ] {
        let reply = studio.send(&head);
        assert!([400, 421].contains(&reply.status), "{head}: {}", reply.head);
    }
    let own = studio.get_with("/", &cookie);
    assert_eq!(own.status, 200, "{}", own.head);
    let local = studio.send(&format!(
        "GET / HTTP/1.1\r\nHost: localhost:{port}\r\n{cookie}Connection: close\r\n\r\n"
    ));
    assert_eq!(local.status, 200, "{}", local.head);
}

#[test]
fn a_request_needs_the_token_and_no_page_of_another_site_may_send_it() {
    let studio = Studio::start(TempDir::new().expect("a directory"));
    for target in ["/", "/runs/last", "/page.js", "/absent"] {
        assert_eq!(studio.get_with(target, "").status, 401, "{target}");
    }
    let cookie = studio.admit();
    let again = studio.get_with(&studio.link.replace(&format!("http://{}", studio.own()), ""), "");
    assert_eq!(again.status, 401, "a link works once");
    let token = cookie.trim().split('=').nth(1).expect("a token").to_owned();
    for lines in [
        format!("Cookie: brunt-studio-{}={}\r\n", studio.port, "0".repeat(64)),
        format!("Referer: http://{}/?token={token}\r\n", studio.own()),
        format!("Authorization: Bearer {token}\r\n"),
    ] {
        assert_eq!(studio.get_with("/", &lines).status, 401, "{lines}");
    }
    for lines in
        ["Origin: http://evil.example\r\n", "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\n"]
    {
        assert_eq!(studio.get_with("/", &format!("{cookie}{lines}")).status, 403, "{lines}");
    }
    let reply = studio.get_with("/", &cookie);
    for line in [
        "referrer-policy: same-origin",
        "x-frame-options: deny",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
    ] {
        assert!(reply.head.contains(line), "{line}: {}", reply.head);
    }
    assert!(
        !reply.head.contains("unsafe-inline") && !reply.head.contains("access-control"),
        "{}",
        reply.head
    );
}

#[test]
fn no_path_leads_to_a_file() {
    let studio = Studio::start(two_runs());
    let cookie = studio.admit();
    let secret = fs::read(studio.dir.path().join("store/key")).expect("the key");
    for target in [
        "/key",
        "/runs/",
        "/runs/..%2f..%2fkey",
        "/runs/%2e%2e/key",
        "/runs/../key",
        "/../../../../etc/passwd",
        "/runs/..%2f..%2f..%2f..%2fetc%2fpasswd/share",
        "/runs/last%00/share",
        "//etc/passwd",
    ] {
        let reply = studio.get_with(target, &cookie);
        assert!([400, 404].contains(&reply.status), "{target}: {}", reply.head);
        assert!(!reply.body.contains("root:"), "{target}");
        assert!(
            !reply.body.as_bytes().windows(16).any(|bytes| secret.starts_with(bytes)),
            "{target}"
        );
    }
}

#[test]
fn long_and_slow_forms_are_refused() {
    let studio = Studio::start(two_runs());
    let cookie = studio.admit();
    let id = ids(studio.dir.path()).remove(0);
    let target = format!("/runs/{id}/change");
    let token = studio.get_with(&format!("/runs/{id}"), &cookie).form_token();
    let long = format!("token={token}&note={}", "x".repeat(100_000));
    assert_eq!(studio.post(&target, &cookie, &long).status, 413);
    let note = format!("token={token}&note={}", "x".repeat(5000));
    let reply = studio.post(&target, &cookie, &note);
    assert_eq!(reply.status, 400);
    assert!(
        reply.body.contains("a note has at most 4096 bytes, and this one has 5000"),
        "{}",
        reply.body
    );
    let host = studio.own();
    // A head without an end, and a form that does not come.
    for (bytes, status) in [
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n"), 0),
        (
            format!(
                "POST {target} HTTP/1.1\r\nHost: {host}\r\n{cookie}Content-Length: 10\r\nConnection: close\r\n\r\n"
            ),
            408,
        ),
    ] {
        assert_eq!(studio.send(&bytes).status, status, "{bytes}");
    }
}

#[test]
fn the_list_is_filtered_by_its_url() {
    let dir = two_runs();
    let [quick, slow] = <[String; 2]>::try_from(ids(dir.path())).expect("two");
    run(dir.path(), &format!("runs tag {quick} before"));
    run(dir.path(), &format!("runs pin {slow}"));
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    let shown = |target: &str| {
        let reply = studio.get_with(target, &cookie);
        assert_eq!(reply.status, 200, "{target}: {}", reply.body);
        [&quick, &slow].map(|id| reply.body.contains(&format!("href=\"/runs/{id}\"")))
    };
    let host = {
        let entry: serde_json::Value =
            serde_json::from_str(&studio.command("runs --json")).expect("JSON");
        entry[0]["hosts"][0].as_str().expect("a host").to_owned()
    };
    for (target, expected) in [
        ("/".to_owned(), [true, true]),
        ("/?q=delay".to_owned(), [true, true]),
        ("/?q=DELAY/9ms".to_owned(), [false, true]),
        ("/?q=delay+absent".to_owned(), [false, false]),
        ("/?tag=before".to_owned(), [true, false]),
        ("/?pinned=yes".to_owned(), [false, true]),
        (format!("/?host={host}"), [true, true]),
        ("/?host=elsewhere".to_owned(), [false, false]),
        ("/?verdict=invalid".to_owned(), [false, false]),
        ("/?page=2".to_owned(), [false, false]),
    ] {
        assert_eq!(shown(&target), expected, "{target}");
    }
}

#[test]
fn a_store_that_is_made_again_is_shown() {
    let dir = two_runs();
    let old = ids(dir.path());
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    assert!(studio.get_with("/", &cookie).body.contains(&old[0]));
    fs::remove_dir_all(studio.dir.path().join("store")).expect("the store");
    let lab = lab("");
    studio.command(&format!("{} -n 10 -q", lab.url_of("/")));
    let new = ids(studio.dir.path());
    let list = studio.get_with("/", &cookie);
    assert_eq!(list.status, 200, "{}", list.head);
    assert!(list.body.contains(&new[0]) && !list.body.contains(&old[0]), "{}", list.body);
}

#[test]
fn tags_notes_and_pins_are_kept_by_forms_with_their_token() {
    let studio = Studio::start(two_runs());
    let cookie = studio.admit();
    let id = ids(studio.dir.path()).remove(0);
    let (page, target) = (format!("/runs/{id}"), format!("/runs/{id}/change"));
    let token = studio.get_with(&page, &cookie).form_token();
    assert_eq!(studio.post(&target, &cookie, "pin=yes").status, 403, "without a token");
    assert_eq!(studio.post(&target, "", &format!("token={token}&pin=yes")).status, 401);
    for change in ["pin=yes", "tag=main", "note=after+%3Cb%3Ethe%3C%2Fb%3E+upgrade"] {
        let reply = studio.post(&target, &cookie, &format!("token={token}&{change}"));
        assert_eq!(reply.status, 303, "{change}: {}", reply.body);
        assert!(reply.head.contains(&format!("location: {page}")), "{}", reply.head);
    }
    assert_eq!(studio.post(&target, &cookie, &format!("token={token}")).status, 400);
    let list = studio.command("runs list");
    assert!(list.contains("main; pinned; after"), "{list}");
    let refused = studio.command(&format!("runs rm {id}"));
    assert!(
        refused.contains(&format!("{id} is pinned; unpin it first: `brunt runs unpin {id}`")),
        "{refused}"
    );
    let body = studio.get_with("/", &cookie).body;
    assert!(
        body.contains("after &lt;b&gt;the&lt;/b&gt; upgrade") && body.contains("pinned"),
        "{body}"
    );
    for change in ["unpin=yes", "untag=main", "note="] {
        assert_eq!(studio.post(&target, &cookie, &format!("token={token}&{change}")).status, 303);
    }
    assert!(studio.command(&format!("runs rm {id}")).starts_with("removed"));
    assert_eq!(studio.get_with(&page, &cookie).status, 404);
}

#[test]
fn names_from_servers_plans_and_users_are_text() {
    let dir = TempDir::new().expect("a directory");
    let server = serve_reply(page("ok").replacen("\r\n", &format!("\r\nServer: {HOSTILE}\r\n"), 1));
    let plan = dir.path().join("plan.yaml");
    fs::write(
        &plan,
        format!(
            "name: \"{HOSTILE}\"\nload: {{users: 1, requests: 5}}\nscenario:\n  steps:\n  - get: {}\n    name: \"{HOSTILE}\"\n",
            server.url_of("/")
        ),
    )
    .expect("a plan");
    let said = run(dir.path(), &format!("run {} -q", plan.display()));
    let ids = ids(dir.path());
    assert_eq!(ids.len(), 1, "{said}");
    run(dir.path(), &format!("runs note {} {HOSTILE}", ids[0]));
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    for target in [
        "/".to_owned(),
        format!("/?q={HOSTILE}&tag={HOSTILE}"),
        format!("/runs/{}", ids[0]),
        format!("/runs/{HOSTILE}"),
    ] {
        let reply = studio.get_with(&target.replace('<', "%3C").replace('>', "%3E"), &cookie);
        assert!(!reply.body.contains("<script>alert"), "{target}: {}", reply.body);
        assert!(reply.body.contains("alert(1)") || reply.status == 404, "{target} names it");
    }
}

#[test]
fn a_comparison_shows_first_what_differs() {
    let studio = Studio::start(two_runs());
    let cookie = studio.admit();
    let [quick, slow] = <[String; 2]>::try_from(ids(studio.dir.path())).expect("two");
    let target = format!("/compare?id={slow}&id={quick}");
    let reply = studio.get_with(&target, &cookie);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let (differences, figures) = reply.body.split_once("<main id=\"still\">").expect("the figures");
    assert!(differences.contains("Why do these differ?"), "{differences}");
    let head = format!("<th>{quick}</th><th>{slow}</th>");
    assert!(differences.contains(&head), "the older one is the reference: {differences}");
    assert!(
        differences.contains("/delay/1ms") && differences.contains("/delay/9ms"),
        "{differences}"
    );
    assert!(figures.contains("id=\"study\""), "{figures}");
    let file = studio.get_with(&format!("/compare/share?id={slow}&id={quick}"), &cookie);
    assert!(
        file.head.contains(&format!("filename=\"brunt-{quick}-{slow}.html\"")),
        "{}",
        file.head
    );
    for (target, status, text) in [
        (format!("/compare?id={quick}"), 400, "Select at least two"),
        (format!("/compare?id={quick}&id={quick}"), 400, "Select at least two"),
        (format!("/compare?id={quick}&id=absent"), 404, "no stored run or experiment matches"),
    ] {
        let reply = studio.get_with(&target, &cookie);
        assert_eq!(reply.status, status, "{target}");
        assert!(reply.body.contains(text), "{target}: {}", reply.body);
    }
}

#[test]
fn a_page_links_its_script_and_a_shared_file_contains_it() {
    let studio = Studio::start(two_runs());
    let cookie = studio.admit();
    let id = ids(studio.dir.path()).remove(0);
    let page = studio.get_with(&format!("/runs/{id}"), &cookie);
    assert!(page.body.contains("<script type=\"module\" src=\"/page.js\">"), "{}", page.head);
    for absent in ["<style", "<script type=\"module\">", " style=\"", "unsafe-inline"] {
        assert!(!page.body.contains(absent), "{absent}");
    }
    let script = studio.get_with("/page.js", &cookie);
    assert!(
        script.status == 200
            && script.body.len() > 50_000
            && script.head.contains("text/javascript")
    );
    let packed = studio.get_with("/page.js", &format!("{cookie}Accept-Encoding: gzip, br\r\n"));
    assert!(packed.head.contains("content-encoding: gzip"), "{}", packed.head);
    let redirected = studio.get_with("/runs/last", &cookie);
    assert_eq!(redirected.status, 303, "{}", redirected.head);
    let file = studio.get_with(&format!("/runs/{id}/share"), &cookie);
    assert!(
        file.head.contains(&format!("attachment; filename=\"brunt-{id}.html\"")),
        "{}",
        file.head
    );
    assert!(file.body.contains("<style") && file.body.contains("id=\"study\""));
}

#[test]
fn a_run_from_the_studio_goes_on_without_it_and_takes_orders() {
    let lab = lab("");
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let token = studio.get_with("/start", &cookie).body;
    assert!(token.contains("URL or plan file"), "{token}");
    let url = lab.url_of("/delay/5ms");
    let token = studio.get_with(&format!("/start?target={url}"), &cookie).form_token();
    let start = |line: &str| studio.post("/start", &cookie, &format!("token={token}&{line}"));
    for (line, text) in [
        ("target=", "Write a URL or the path of a plan file"),
        ("target=--version", "Write a URL or the path of a plan file"),
        ("target=http://127.0.0.1:9/&options='", "a quote without an end"),
    ] {
        let reply = start(line);
        assert_eq!(reply.status, 400, "{line}: {}", reply.head);
        assert!(reply.body.contains(text), "{line}: {}", reply.body);
    }
    for (line, text) in [
        ("target=absent.yaml", "absent.yaml"),
        ("target=http://127.0.0.1:9/&options=--absent", "--absent"),
    ] {
        let ended = studio.followed(&start(line), &cookie, 400);
        assert!(ended.body.contains(text), "{line}: {}", ended.body);
    }
    let reply = start(&format!("target={url}&connections=1&duration=60s&options=-q"));
    let page = studio.followed(&reply, &cookie, 303).location();
    assert!(Regex::new("^/runs/[a-z0-9]{7}$").expect("valid").is_match(&page), "{page}");
    wait_until("the first figures", || {
        studio.get_with(&page, &cookie).body.contains("id=\"overview\"")
    });
    let body = studio.get_with(&page, &cookie).body;
    assert!(body.contains("id=\"live-state\"") && body.contains("src=\"/studio.js\""), "{body}");
    for wrong in ["incomplete", "has no end", "\"interrupted\":true"] {
        assert!(!body.contains(wrong), "an active run is not cut short: {wrong}");
    }
    let order = |studio: &Studio, cookie: &str, token: &str, line: &str| {
        studio.post(&format!("{page}/order"), cookie, &format!("token={token}&{line}"))
    };
    assert_eq!(order(&studio, &cookie, "", "stop=yes").status, 403);
    assert_eq!(order(&studio, &cookie, &token, "").status, 400);
    assert_eq!(order(&studio, &cookie, &token, "mark=deployed+%3C1.2%3E").status, 303);
    wait_until("the mark", || studio.get_with(&page, &cookie).body.contains("deployed"));
    let changes = studio.get_with(&format!("{page}/live"), &cookie);
    assert!(changes.head.contains("brunt-age: "), "{}", changes.head);
    for part in ["id=\"overview\"", "id=\"live-state\"", "id=\"study\"", "id=\"trial-0\""] {
        assert!(changes.body.contains(part), "{part}: {}", changes.body);
    }
    let replay = studio.get_with(&format!("{page}/live?at=0"), &cookie);
    assert_eq!(replay.status, 400, "{}", replay.body);

    // The studio is killed, and another one takes its place.
    let dir = studio.killed();
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    let body = studio.get_with(&page, &cookie);
    assert!(body.body.contains("id=\"live\""), "{}", body.head);
    assert_eq!(order(&studio, &cookie, &body.form_token(), "stop=yes").status, 303);
    wait_until("the end of the run", || {
        !studio.get_with(&page, &cookie).body.contains("id=\"live\"")
    });
    let id = page.trim_start_matches("/runs/");
    // The page shows the figures at its end, and looks no more.
    let changes = studio.get_with(&format!("{page}/live"), &cookie).body;
    assert!(changes.contains("id=\"study\"") && !changes.contains("id=\"live\""), "{changes}");
    let report = studio.command(&format!("report {id}"));
    assert!(
        report.contains("interrupted after") && report.contains("deployed <1.2> at"),
        "{report}"
    );
    let token = studio.get_with(&page, &cookie).form_token();
    let late = order(&studio, &cookie, &token, "mark=late");
    assert_eq!(late.status, 400);
    assert!(late.body.contains("this run is over"), "{}", late.body);
}

#[test]
fn an_active_experiment_has_its_active_trial_and_is_stopped() {
    let lab = lab("");
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let mut sweep = command(&format!("sweep {} -r [20,40] --repeat 1 -d 60s -q", lab.url_of("/")));
    sweep.env("BRUNT_STORE", studio.dir.path().join("store")).stdout(std::process::Stdio::null());
    let sweep = ServerProcess::start(&mut sweep);
    let link = Regex::new(r#"<a href="(/runs/[a-z0-9]{7})">The active trial</a>"#).expect("valid");
    let mut page = String::new();
    wait_until("the active trial", || {
        let Some(id) = ids(studio.dir.path()).pop() else { return false };
        page = format!("/runs/{id}");
        let body = studio.get_with(&page, &cookie).body;
        body.contains("0 of 2 trials have ended.") && link.is_match(&body)
    });
    let body = studio.get_with(&page, &cookie).body;
    assert!(!body.contains("\"interrupted\":true"), "an active experiment is not cut short");
    let trial = &link.captures(&body).expect("the trial")[1];
    assert!(studio.get_with(trial, &cookie).body.contains("Stop the run"));
    let changes = studio.get_with(&format!("{page}/live"), &cookie).body;
    let is_strip = changes.contains("0 of 2 trials have ended.") && link.is_match(&changes);
    assert!(is_strip && !changes.contains("id=\"study\""), "{changes}");
    let token = studio.get_with(&page, &cookie).form_token();
    let stopped =
        studio.post(&format!("{page}/order"), &cookie, &format!("token={token}&stop=yes"));
    assert_eq!(stopped.status, 303, "{}", stopped.head);
    wait_until("the end of the experiment", || {
        !studio.get_with(&page, &cookie).body.contains("id=\"live\"")
    });
    drop(sweep);
}

#[test]
fn the_page_of_an_active_plan_is_that_of_its_run_and_expected_statuses_are_no_errors() {
    let lab = lab("");
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let plan = studio.dir.path().join("plan.yaml");
    // Each user has a request in flight for nearly all of the time.
    let steps =
        "[{get: /status/401, check: {status: 401}}, {post: /status/201}, {get: /delay/400}]";
    let text = format!(
        "load: {{users: 3, duration: 60s}}\nscenario: {{base: \"{}\", steps: {steps}}}\n",
        lab.url_of("")
    );
    fs::write(&plan, text).expect("a plan");
    let mut active = command(&format!("run {} -q", plan.display()));
    active.env("BRUNT_STORE", studio.dir.path().join("store")).stdout(std::process::Stdio::null());
    let active = ServerProcess::start(&mut active);
    let mut run = String::new();
    wait_until("the active run", || {
        let Some(id) = ids(studio.dir.path()).pop() else { return false };
        let reply = studio.get_with(&format!("/runs/{id}"), &cookie);
        run = if reply.status == 303 { reply.location() } else { String::new() };
        !run.is_empty()
    });
    let errors = Regex::new("<dt>Errors</dt><dd>([^<]*)</dd><dd class=\"about\">0 of ([0-9]+)<")
        .expect("valid");
    wait_until("requests", || {
        let changes = studio.get_with(&format!("{run}/live"), &cookie).body;
        let found = errors.captures(&changes);
        found.is_some_and(|found| {
            &found[1] == "0 %" && found[2].parse::<u64>().is_ok_and(|all| all > 9)
        })
    });
    let page = studio.get_with(&run, &cookie).body;
    assert!(!page.contains("can show neither"), "{page}");
    let changes = studio.get_with(&format!("{run}/live"), &cookie).body;
    let trial = &data(&changes, "study")["document"]["trials"][0];
    let requests = &trial["requests"];
    assert!(requests["begun"].as_u64() > requests["completed"].as_u64(), "{requests}");
    assert_eq!((&requests["errors"], &trial["error_share"]), (&0.into(), &0.0.into()));
    drop(active);
}

#[test]
fn a_plan_is_started_with_other_values_of_its_variables() {
    let lab = lab("");
    let dir = TempDir::new().expect("a directory");
    let plan = dir.path().join("plan.yaml");
    fs::write(
        &plan,
        format!("vars: {{count: 3, delay: 1ms}}\nscript: {{request: \"{}\"}}\nload: {{users: 1, requests: \"${{count}}\"}}\n", lab.url_of("/delay/${delay}")),
    )
    .expect("a plan");
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    let form = studio.get_with(&format!("/start?target={}", plan.display()), &cookie);
    assert!(form.body.contains("name=\"var.count\" placeholder=\"3\""), "{}", form.body);
    let token = form.form_token();
    let line = format!("token={token}&target={}&var.count=7&var.delay=", plan.display());
    studio.followed(&studio.post("/start", &cookie, &line), &cookie, 303);
    wait_until("the end of the run", || studio.command("runs --json").contains("\"whole\""));
    let report = studio.command("report last -o json");
    let json: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(json["trials"][0]["requests"]["completed"], 7, "{report}");
}

/// A directory with a run of three seconds: two labels, of which the second begins late, and a transaction.
fn run_with_labels() -> TempDir {
    let dir = TempDir::new().expect("a directory");
    let lab = lab("");
    let plan = dir.path().join("plan.yaml");
    let url = |path: &str| lab.url_of(path);
    fs::write(
        &plan,
        format!(
            "load: {{users: 2, duration: 3s}}\nscenario:\n  steps:\n  - get: {}\n    name: home\n  - transaction: buy\n    \
             steps:\n    - get: {}\n      name: \"cart: a&b\"\n",
            url("/delay/2ms"),
            url("/delay/9ms")
        ),
    )
    .expect("a plan");
    let said = run(dir.path(), &format!("run {} -q", plan.display()));
    assert_eq!(ids(dir.path()).len(), 1, "{said}");
    dir
}

/// The value of a script element with JSON.
fn data(page: &str, id: &str) -> serde_json::Value {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).expect("the element");
    serde_json::from_str(rest.split_once("</script").expect("its end").0).expect("JSON")
}

/// Sum of a column of the seconds of the only trial.
fn sum(page: &str, column: &str) -> u64 {
    let counts = data(page, "trial-0")["zoom"][column].clone();
    counts.as_array().expect("a list").iter().filter_map(serde_json::Value::as_u64).sum()
}

#[test]
fn a_label_and_a_transaction_have_charts_over_time() {
    let studio = Studio::start(run_with_labels());
    let cookie = studio.admit();
    let id = ids(studio.dir.path()).remove(0);
    let whole = studio.get_with(&format!("/runs/{id}"), &cookie).body;
    let link = format!("<a href=\"/runs/{id}?only=label%3Acart%3A+a%26b\">cart: a&amp;b</a>");
    assert!(whole.contains(&link), "{whole}");
    let of = |only: &str| studio.get_with(&format!("/runs/{id}?only={only}"), &cookie);
    let all = sum(&whole, "completed");
    let [home, cart] =
        ["label%3Ahome", "label%3Acart%3A+a%26b"].map(|only| sum(&of(only).body, "completed"));
    assert_eq!(home + cart, all);
    assert!(cart > 100 && home >= cart, "{home} {cart}");
    let charts = data(&of("label%3Ahome").body, "trial-0")["figures"].clone();
    for id in ["time-response", "time-statuses", "histogram"] {
        assert!(
            charts.as_array().is_some_and(|all| all.iter().any(|chart| chart["id"] == id)),
            "{id}"
        );
    }
    let transaction = of("transaction%3Abuy").body;
    assert!(sum(&transaction, "completed") >= cart - 2, "{cart}");
    assert!(transaction.contains("charts of transaction <b>buy</b>"), "{transaction}");
    for (only, status, text) in [
        ("label%3Aabsent", 404, "has no figures over time for `label:absent`"),
        ("agent%3Ax", 404, "has no figures over time for `agent:x`"),
        ("home", 400, "write population:NAME"),
        ("label%3A%3Cscript%3Ealert%281%29%3C%2Fscript%3E", 404, "&lt;script&gt;"),
    ] {
        let reply = of(only);
        assert_eq!(reply.status, status, "{only}");
        assert!(reply.body.contains(text) && !reply.body.contains(HOSTILE), "{}", reply.body);
    }
}

#[test]
fn a_replay_shows_a_run_as_it_was() {
    let studio = Studio::start(run_with_labels());
    let cookie = studio.admit();
    let id = ids(studio.dir.path()).remove(0);
    let experiment = studio.get_with(&format!("/runs/{id}"), &cookie).body;
    let whole = sum(&experiment, "completed");
    assert_eq!(studio.get_with(&format!("/runs/{id}?at=1"), &cookie).status, 400);
    let replay = Regex::new("<a href=\"/runs/([a-z0-9]{7})\\?at=0\">Replay</a>").expect("valid");
    let id = replay.captures(&experiment).expect("the replay of its run")[1].to_owned();
    let at = |seconds: &str| studio.get_with(&format!("/runs/{id}?at={seconds}"), &cookie);
    let mut before = 0;
    // Also backward, and the same instant once more.
    for seconds in ["0", "1", "2", "2", "1", "2.5", "1000"] {
        let page = at(seconds).body;
        assert!(page.contains("id=\"replay\"") && page.contains("src=\"/studio.js\""), "{page}");
        let completed = sum(&page, "completed");
        match seconds {
            "0" => assert_eq!(completed, 0),
            "1" => assert!(completed > 0 && completed < whole, "{completed} of {whole}"),
            "2" => assert!(completed > before, "{completed} after {before}"),
            "1000" => assert_eq!(completed, whole),
            _ => {}
        }
        before = if seconds == "1" { completed } else { 0 };
        assert!(!page.contains("\"interrupted\":true"), "{seconds}");
    }
    let only = studio.get_with(&format!("/runs/{id}?at=2&only=label%3Ahome"), &cookie).body;
    assert!(sum(&only, "completed") < sum(&at("2").body, "completed"));
    for wrong in ["x", "-1", "NaN", "1e300"] {
        assert_eq!(at(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_run_opens_its_page_in_a_studio() {
    let lab = lab("");
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let err = studio.dir.path().join("run.err");
    let mut load = command(&format!("{} -c 1 -d 60s --studio -o json", lab.url_of("/delay/5ms")));
    load.env("BRUNT_STORE", studio.dir.path().join("store"));
    load.stdout(File::create(studio.dir.path().join("run.json")).expect("a file"));
    let load = ServerProcess::start(load.stderr(File::create(&err).expect("a file")));
    let link = Regex::new(r"studio: (http://127\.0\.0\.1:\d+)(/open/[0-9a-f]+/starting/\d+)")
        .expect("valid");
    let mut path = String::new();
    wait_until("the link", || {
        let text = fs::read_to_string(&err).unwrap_or_default();
        if let Some(found) = link.captures(&text) {
            assert_eq!(found[1], format!("http://{}", studio.own()), "the studio that runs");
            found[2].clone_into(&mut path);
        }
        !path.is_empty()
    });
    let opened = studio.get_with(&path, "");
    assert_eq!(opened.status, 200, "{}", opened.head);
    let (_, starting) = path.split_once("/starting").expect("a process");
    assert!(
        opened.head.contains(&format!("refresh: 0;url=/starting{starting}")),
        "{}",
        opened.head
    );
    let cookie = Regex::new("(?i)set-cookie: ([^;]*);").expect("valid");
    let cookie = format!("Cookie: {}\r\n", &cookie.captures(&opened.head).expect("a cookie")[1]);
    let address = format!("/starting{starting}");
    let mut reply = studio.get_with(&address, &cookie);
    wait_until("the run", || {
        if reply.status == 200 {
            reply = studio.get_with(&address, &cookie);
        }
        reply.status == 303
    });
    let page = reply.location();
    let token = studio.get_with(&page, &cookie).form_token();
    assert_eq!(
        studio.post(&format!("{page}/order"), &cookie, &format!("token={token}&stop=yes")).status,
        303
    );
    wait_until("the end of the run", || {
        !studio.get_with(&page, &cookie).body.contains("id=\"live\"")
    });
    drop(load);
    // Later, the link of the process leads to the run.
    assert_eq!(studio.get_with(&address, &cookie).location(), "/runs/last");
    let refused = studio.command("http://127.0.0.1:9/ --studio --no-store");
    assert!(refused.contains("cannot be used with"), "{refused}");
}

#[test]
fn a_studio_that_a_run_has_started_ends_when_nobody_uses_it() {
    let dir = TempDir::new().expect("a directory");
    let mut studio = command("studio --listen 127.0.0.1:0 --no-open --end-idle 1s --store");
    let studio = studio.arg(dir.path().join("store")).stdout(std::process::Stdio::null()).status();
    assert!(studio.expect("brunt").success());
    assert!(!dir.path().join("store/control/studio").exists());
}

#[test]
fn the_retention_tells_its_steps_before_it_acts() {
    let dir = two_runs();
    let [quick, slow] = <[String; 2]>::try_from(ids(dir.path())).expect("two");
    run(dir.path(), &format!("runs pin {quick}"));
    let studio = Studio::start(dir);
    let cookie = studio.admit();
    let at = |query: &str| studio.get_with(&format!("/retention{query}"), &cookie);
    assert!(at("").body.contains("placeholder=\"30d\""));
    for (query, text) in [("?older-than=soon", "older-than"), ("?max-size=0", "max-size")] {
        let reply = at(query);
        assert!(reply.status == 400 && reply.body.contains(text), "{}", reply.body);
    }
    assert!(at("?older-than=9d").body.contains("Nothing to remove"));
    let told = at("?older-than=1ms");
    for shown in ["remove run", &slow, "keep", &quick, "pinned", "They cannot be undone"] {
        assert!(told.body.contains(shown), "{shown}: {}", told.body);
    }
    let token = told.form_token();
    let post = |line: &str| studio.post("/retention", &cookie, &format!("token={token}&{line}"));
    assert_eq!(studio.post("/retention", &cookie, "older-than=1ms").status, 403);
    assert_eq!(post("steps=").status, 400);
    let other = post("older-than=1ms&steps=RemoveItem+absent");
    assert!(other.body.contains("Nothing was removed"), "{}", other.body);
    assert_eq!(ids(studio.dir.path()).len(), 2);
    let done = post(&format!("older-than=1ms&steps=RemoveItem+{slow}"));
    assert!(done.body.contains("Freed"), "{}", done.body);
    assert_eq!(ids(studio.dir.path()), [quick]);
}

#[test]
fn a_studio_that_other_machines_could_reach_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7878"] {
        let output = command("studio --no-open --listen").arg(address).output().expect("brunt");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("neither TLS nor tokens") && text.contains("an address of this machine"),
            "{text}"
        );
    }
}
