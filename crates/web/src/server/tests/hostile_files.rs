//! Files that never end, are huge or damaged: each route answers, and no thread panics.

use super::world::{Reply, Team, store_run, store_run_with};
use super::{concrete, form_token};
use crate::routes::{ROUTES, Route, RouteBody};
use crate::visitor::Permission;
use axum::body::Body;
use brunt_engine::clock::unix_seconds;
use brunt_model::{Event, Mark, Tick};
use brunt_store::retention::RetentionLimits;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Far more than the 10 s that a read waits for a pipe.
const PATIENCE: Duration = Duration::from_mins(1);

/// Ways in which a file is hostile.
const KINDS: [&str; 4] = ["fifo", "directory", "zero", "sparse"];

/// Puts a hostile file at a path, in place of the one that is there.
fn put(kind: &str, path: &Path) {
    let _ = fs::remove_file(path);
    match kind {
        "fifo" => mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
        "directory" => fs::create_dir(path).unwrap(),
        "zero" => symlink("/dev/zero", path).unwrap(),
        _ => File::create(path).unwrap().set_len(1 << 30).unwrap(),
    }
}

/// Sends a request, and returns the reply. Fails if there is none in time, or if its thread has panicked.
fn reply(team: &Arc<Team>, cookie: &str, method: &str, path: &str, form: &str) -> Reply {
    let (sender, replies) = channel();
    let team = Arc::clone(team);
    let (cookie, name) = (cookie.to_owned(), format!("{method} {path} {form}"));
    let (method, path, form) = (method.to_owned(), path.to_owned(), form.to_owned());
    thread::spawn(move || {
        let headers = [("cookie", cookie.as_str())];
        let _ = sender.send(team.send(&method, &path, &headers, Body::from(form)));
    });
    let reply = replies.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no reply: {name}"));
    assert!(!reply.body.contains("panicked"), "{name}: {}", reply.body);
    reply
}

fn encoded(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Texts of plans that name a file at each place.
fn plans(file: &str) -> Vec<String> {
    let step = |rest: &str| format!("scenario:\n  base: http://127.0.0.1\n  steps:\n  - {rest}\n");
    let request = |rest: &str| format!("script:\n  url: http://127.0.0.1/\n  request: {rest}\n");
    vec![
        step(&format!("{{post: /, file: {file}}}")),
        step(&format!("{{get: '/{{csv:{file}:1}}'}}")),
        step("get: /") + &format!("  data: [{{file: {file}}}]\n"),
        format!("script: {{urls: {file}}}\n"),
        request(&format!("{{data: '@{file}'}}")),
        request(&format!("{{user: '@{file}'}}")),
        request(&format!("{{descriptor_set: {file}, grpc: a/b}}")),
        request(&format!("{{proto: {file}, grpc: a/b}}")),
        request("{}") + &format!("connection: {{cacert: {file}}}\n"),
        request("{}") + &format!("connection: {{cert: {file}, key_password: '@{file}'}}\n"),
    ]
}

fn send_file_to_all(team: &Arc<Team>, cookie: &str, token: &str, file: &str) {
    for route in ROUTES {
        let path = concrete(route.path);
        let fields = [("target", file), ("file", file), ("id", file), ("token", token)];
        let form = encoded(&fields);
        if !route.is_change() {
            reply(team, cookie, "GET", &format!("{path}?{form}"), "");
        } else if is_form(route) {
            let form = form + "&" + &encoded(&[("url", "http://127.0.0.1/"), ("text", "url: x")]);
            reply(team, cookie, "POST", &path, &form);
        }
    }
    // Each waits for the pipe.
    thread::scope(|scope| {
        for text in plans(file) {
            scope.spawn(move || {
                let form = encoded(&[("file", "plan.yaml"), ("text", &text), ("token", token)]);
                reply(team, cookie, "POST", "/edit/check", &form);
            });
        }
    });
}

fn is_form(route: &Route) -> bool {
    matches!(route.body, RouteBody::Form)
}

#[test]
fn each_route_answers_for_each_hostile_file() {
    let team = Arc::new(Team::new());
    let cookie = team.cookie(&team.runner);
    let token = form_token(&team, &cookie);
    thread::scope(|scope| {
        for kind in KINDS {
            let file = team.directory.path().join(format!("{kind}.yaml"));
            put(kind, &file);
            let (team, cookie, token) = (&team, &cookie, &token);
            scope.spawn(move || send_file_to_all(team, cookie, token, file.to_str().unwrap()));
        }
    });
}

#[test]
fn requests_that_wait_for_files_do_not_stop_others() {
    let team = Arc::new(Team::new());
    let cookie = team.cookie(&team.runner);
    let token = form_token(&team, &cookie);
    let file = team.directory.path().join("fifo");
    put("fifo", &file);
    let places = Arc::clone(&team.shared.file_places);
    let taken = places.try_acquire_many(places.available_permits() as u32).unwrap();
    let target = format!("/edit?file={}.yaml", file.display());
    thread::scope(|scope| {
        let busy = scope.spawn(|| reply(&team, &cookie, "GET", &target, ""));
        // Pages of the store need no file that a user names.
        assert!(reply(&team, &cookie, "GET", "/", "").status.is_success());
        let busy = busy.join().unwrap();
        assert_eq!(busy.status.as_u16(), 503);
        assert!(busy.body.contains("Too many requests wait"), "{}", busy.body);
    });
    drop(taken);
    let check = encoded(&[("file", "plan.yaml"), ("text", "url: x"), ("token", &token)]);
    assert!(reply(&team, &cookie, "POST", "/edit/check", &check).status.is_success());
}

/// Requests all pages and documents of a damaged item, and those of it with another one.
fn look_at(team: &Arc<Team>, cookie: &str, ids: &[String; 2]) {
    let [damaged, other] = ids;
    let is_read = |route: &&Route| !route.is_change() && route.permission == Some(Permission::Read);
    for route in ROUTES.iter().filter(is_read) {
        let path = concrete(&route.path.replace("{id}", damaged));
        let items =
            [("id", damaged.as_str()), ("id", other), ("like", damaged), ("older-than", "1s")];
        reply(team, cookie, "GET", &format!("{path}?{}", encoded(&items)), "");
        if route.path.contains("{id}") {
            reply(team, cookie, "GET", &format!("{path}?at=0.5"), "");
        }
    }
}

/// Damages of a file, each as its new content: cut, and with another byte.
fn damages(content: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let places = (0..content.len()).step_by((content.len() / 24).max(1));
    places.flat_map(|place| {
        let mut changed = content.to_vec();
        changed[place] ^= 0x5a;
        [content[..place].to_vec(), changed]
    })
}

/// Puts damaged and hostile files in place of one of a run, and looks at the run each time.
fn damage(team: &Arc<Team>, ids: &[String; 2], file: &Path) {
    let cookie = team.cookie(&team.runner);
    let content = fs::read(file).unwrap();
    for damaged in damages(&content) {
        fs::write(file, damaged).unwrap();
        look_at(team, &cookie, ids);
    }
    for kind in KINDS {
        put(kind, file);
        look_at(team, &cookie, ids);
        if kind == "directory" {
            fs::remove_dir(file).unwrap();
        }
    }
}

fn log_of(team: &Team, id: &str) -> PathBuf {
    team.shared.directory.join("runs").join(format!("{id}.events"))
}

#[test]
fn each_page_of_a_damaged_log_answers() {
    let team = Arc::new(Team::new());
    let ids = [store_run(&team.store(), "/"), store_run(&team.store(), "/")];
    damage(&team, &ids, &log_of(&team, &ids[0]));
}

#[test]
fn each_page_of_a_damaged_digest_answers() {
    let team = Arc::new(Team::new());
    let store = team.store();
    // Only long logs have digests. A run keeps 1000 marks, so its pages stay short.
    let mark = |_| Event::Mark(Mark { at: Tick(1), text: rand::random::<u128>().to_string() });
    let ids = [(), ()].map(|()| store_run_with(&store, "/", (0..60_000).map(mark).collect()));
    let limits =
        RetentionLimits { logs_older_than: Some(Duration::from_secs(1)), ..Default::default() };
    let pruning = store.plan_pruning(&limits, unix_seconds()).unwrap();
    assert_eq!(store.prune(&pruning).unwrap().skipped, []);
    damage(&team, &ids, &log_of(&team, &ids[0]).with_extension("digest"));
}
