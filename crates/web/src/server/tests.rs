//! Sends requests to the router of a studio with tokens.

mod hostile_files;
mod tls;
mod world;

use super::{Studio, StudioAddress, check_address};
use crate::api::types::{PushReply, StartRequest};
use crate::program::StudioProgram;
use crate::routes::{ROUTES, RouteMethod};
use crate::tokens::NewToken;
use crate::transfer::receive;
use crate::visitor::Permission;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use brunt_store::{EntryFilter, StoredItem};
use std::fs;
use std::path::PathBuf;
use world::{Team, export, local_store, store_run, system};

/// The path of a route with values in place of its parameters.
fn concrete(path: &str) -> String {
    let value = |name: &str| if ["process", "number"].contains(&name) { "1" } else { "k7m2xqp" };
    path.split('/')
        .map(|part| part.strip_prefix('{').map_or(part, |name| value(name.trim_end_matches('}'))))
        .collect::<Vec<_>>()
        .join("/")
}

/// The token of the forms of a session.
fn form_token(team: &Team, cookie: &str) -> String {
    let page = team.send("GET", "/import", &[("cookie", cookie)], Body::empty());
    page.body.split("name=\"token\" value=\"").nth(1).unwrap()[..64].to_owned()
}

#[test]
fn each_route_checks_host_token_and_permission() {
    let team = Team::new();
    let reader = format!("Bearer {}", team.reader);
    for route in ROUTES {
        let path = concrete(route.path);
        let method = route.method.word().to_uppercase();
        let name = format!("{method} {path}");
        let none = team.send(&method, &path, &[], Body::empty());
        match route.permission {
            None => assert!(none.status != StatusCode::FORBIDDEN, "{name}"),
            Some(_) => assert_eq!(none.status, StatusCode::UNAUTHORIZED, "{name}"),
        }
        let other_host = team.send(&method, &path, &[("host", "evil.example")], Body::empty());
        assert_eq!(other_host.status, StatusCode::MISDIRECTED_REQUEST, "{name}: two hosts");
        let other_site = [("authorization", &*reader), ("origin", "http://evil.example")];
        let other_site = team.send(&method, &path, &other_site, Body::empty());
        assert_eq!(other_site.status, StatusCode::FORBIDDEN, "{name}");
        let read = team.send(&method, &path, &[("authorization", &reader)], Body::empty());
        if route.permission == Some(Permission::Run) {
            assert_eq!(read.status, StatusCode::FORBIDDEN, "{name}");
            assert!(read.body.contains("`run` is needed here"), "{name}: {}", read.body);
        } else if route.method == RouteMethod::Get && !route.path.contains('{') {
            // `/compare` without ids is refused for its content.
            assert!(read.status.is_success() || path.starts_with("/compare"), "{name}: {read:?}");
        }
        let headers = [&none, &other_host, &read].map(|reply| &reply.headers);
        assert!(headers.iter().all(|headers| headers.contains_key("content-security-policy")));
    }
}

#[test]
fn unknown_paths_and_methods_need_a_token() {
    let team = Team::new();
    for (method, path) in
        [("GET", "/absent"), ("PUT", "/"), ("DELETE", "/api/runs"), ("OPTIONS", "/start")]
    {
        let reply = team.send(method, path, &[], Body::empty());
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{method} {path}");
        assert!(!reply.headers.keys().any(|name| name.as_str().starts_with("access-control")));
    }
    assert_eq!(team.with_token(&team.reader, "GET", "/absent", "").status, StatusCode::NOT_FOUND);
    let api = team.with_token(&team.reader, "GET", "/api/absent", "");
    assert!(api.status == StatusCode::NOT_FOUND && api.body.starts_with("{\"error\":"), "{api:?}");
    let wrong_method = team.with_token(&team.runner, "PUT", "/api/runs", "");
    assert_eq!(wrong_method.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[test]
fn a_reader_gets_no_forms_and_cannot_use_those_of_others() {
    let team = Team::new();
    let id = store_run(&team.store(), "/<script>alert(1)</script>");
    let path = format!("/runs/{id}");
    let reader = team.cookie(&team.reader);
    let page = team.send("GET", &path, &[("cookie", &reader)], Body::empty());
    assert_eq!(page.status, StatusCode::OK, "{}", page.body);
    for part in ["/start", "/import", "/retention", "name=\"note\"", "Unpin", "<script>alert"] {
        assert!(!page.body.contains(part), "{part}");
    }
    assert!(page.body.contains("Sign out") && page.body.contains("ann"));
    let runner = team.cookie(&team.runner);
    let page = team.send("GET", &path, &[("cookie", &runner)], Body::empty());
    let token = page.body.split("name=\"token\" value=\"").nth(1).unwrap()[..64].to_owned();
    assert!(page.body.contains("name=\"note\""));
    let change = format!("token={token}&note=changed");
    let target = format!("{path}/change");
    let send = |headers: &[(&str, &str)], form: &str| {
        team.send("POST", &target, headers, Body::from(form.to_owned())).status
    };
    assert_eq!(send(&[("cookie", &reader)], &change), StatusCode::FORBIDDEN, "permission");
    assert_eq!(send(&[("cookie", &runner)], "note=changed"), StatusCode::FORBIDDEN, "no token");
    assert_eq!(send(&[("cookie", &runner)], "token=&note=x"), StatusCode::FORBIDDEN);
    let bearer = format!("Bearer {}", team.runner);
    assert_eq!(send(&[("authorization", &bearer)], "token=&note=x"), StatusCode::FORBIDDEN);
    assert_eq!(send(&[("cookie", &runner)], &change), StatusCode::SEE_OTHER);
    assert_eq!(team.store().entry(&id).unwrap().note.as_deref(), Some("changed"));
}

#[test]
fn the_token_of_a_form_belongs_to_one_session() {
    let team = Team::new();
    let line = NewToken::draw("ben", Permission::Run).unwrap();
    let tokens = team.directory.path().join("tokens");
    let text = fs::read_to_string(&tokens).unwrap();
    brunt_store::write_private(&tokens, format!("{text}{}\n", line.line).as_bytes()).unwrap();
    let token_of = |secret: &str| form_token(&team, &team.cookie(secret));
    assert_eq!(token_of(&team.runner), token_of(&team.runner));
    assert_ne!(token_of(&team.runner), token_of(&line.secret));
}

#[test]
fn a_cookie_changes_nothing_through_the_api() {
    let team = Team::new();
    let cookie = team.cookie(&team.runner);
    let lease = "{\"targets\":[\"shop:80\"]}";
    let reply = team.send("POST", "/api/leases", &[("cookie", &cookie)], Body::from(lease));
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    assert!(reply.body.contains("Authorization: Bearer"), "{}", reply.body);
    assert_eq!(team.send("GET", "/api/leases", &[("cookie", &cookie)], Body::empty()).body, "[]");
    // A wrong token is not replaced by a cookie.
    let both = [("cookie", &*cookie), ("authorization", "Bearer brunt_0")];
    let reply = team.send("GET", "/api/leases", &both, Body::empty());
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
}

#[test]
fn a_revoked_token_is_refused_at_once() {
    let team = Team::new();
    let cookie = team.cookie(&team.runner);
    let status = |team: &Team| team.with_token(&team.runner, "GET", "/api/session", "").status;
    assert_eq!(status(&team), StatusCode::OK);
    let tokens = team.directory.path().join("tokens");
    let text = fs::read_to_string(&tokens).unwrap();
    let rest = text.lines().next().unwrap();
    brunt_store::write_private(&tokens, rest.as_bytes()).unwrap();
    assert_eq!(status(&team), StatusCode::UNAUTHORIZED);
    let page = team.send("GET", "/", &[("cookie", &cookie)], Body::empty());
    assert!(page.status == StatusCode::UNAUTHORIZED && page.body.contains("action=\"/sign-in\""));
    fs::remove_file(&tokens).unwrap();
    let reply = team.with_token(&team.reader, "GET", "/api/session", "");
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{}", reply.body);
}

#[test]
fn a_look_at_the_head_does_not_use_the_link() {
    let team = Team::new();
    let path = team.shared.guard.new_link().unwrap();
    for _ in 0..2 {
        let head = team.send("HEAD", &path, &[], Body::empty());
        assert!(head.status.is_success() && !head.headers.contains_key("set-cookie"), "{head:?}");
    }
    let process = team.send("HEAD", &format!("{path}/starting/1"), &[], Body::empty());
    assert!(process.status.is_success());
    let opened = team.send("GET", &path, &[], Body::empty());
    assert!(opened.headers.contains_key("set-cookie"), "{opened:?}");
    assert_eq!(team.send("GET", &path, &[], Body::empty()).status, StatusCode::UNAUTHORIZED);
}

#[test]
fn pages_and_documents_are_compressed_for_those_who_read_it() {
    let team = Team::new();
    let id = store_run(&team.store(), "/");
    let cookie = team.cookie(&team.reader);
    for path in
        [format!("/runs/{id}"), format!("/runs/{id}/live"), format!("/api/runs/{id}/result")]
    {
        let size = |headers: &[(&str, &str)]| {
            let reply = team.send("GET", &path, headers, Body::empty());
            assert_eq!(reply.status, StatusCode::OK, "{path}");
            let is_packed = reply.headers.get("content-encoding").is_some_and(|way| way == "gzip");
            (is_packed, reply.body.len())
        };
        let (is_packed, plain) = size(&[("cookie", &cookie)]);
        assert!(!is_packed, "{path}");
        let (is_packed, packed) = size(&[("cookie", &cookie), ("accept-encoding", "gzip, br")]);
        // Each byte that is no text has three in the lossy text of the test.
        assert!(is_packed && packed < plain, "{path}: {packed} of {plain}");
    }
    let head = team.send(
        "HEAD",
        &format!("/runs/{id}"),
        &[("cookie", &cookie), ("accept-encoding", "gzip")],
        Body::empty(),
    );
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
}

#[test]
fn a_lease_belongs_to_the_token_that_took_it() {
    let team = Team::new();
    let lease = "{\"targets\":[\"http://shop/\"],\"purpose\":\"<b>nightly</b>\"}";
    let taken = team.with_token(&team.runner, "POST", "/api/leases", lease);
    assert_eq!(taken.status, StatusCode::CREATED, "{}", taken.body);
    let again = team.with_token(&team.runner, "POST", "/api/leases", lease);
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("shop:80 is leased by ci"), "{}", again.body);
    let list = team.with_token(&team.reader, "GET", "/api/leases", "");
    let key = serde_json::from_str::<serde_json::Value>(&taken.body).unwrap()["key"].clone();
    let key = key.as_str().unwrap();
    assert!(list.body.contains("shop:80") && !list.body.contains(key), "{}", list.body);
    let page = team.send("GET", "/start", &[("cookie", &team.cookie(&team.runner))], Body::empty());
    assert!(page.body.contains("&lt;b&gt;nightly&lt;/b&gt;"), "{}", page.body);
    let path = format!("/api/leases/{key}");
    assert_eq!(team.with_token(&team.reader, "DELETE", &path, "").status, StatusCode::FORBIDDEN);
    assert_eq!(team.with_token(&team.runner, "POST", &path, "").status, StatusCode::OK);
    assert_eq!(team.with_token(&team.runner, "DELETE", &path, "").status, StatusCode::NO_CONTENT);
    assert_eq!(team.with_token(&team.runner, "POST", &path, "").status, StatusCode::NOT_FOUND);
    for wrong in
        ["", "{", "{\"targets\":\"shop\"}", "{\"targets\":[\"shop:80\"],\"holder\":\"ben\"}"]
    {
        let reply = team.with_token(&team.runner, "POST", "/api/leases", wrong);
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{wrong}: {}", reply.body);
    }
}

#[test]
fn a_pushed_run_is_stored_once_and_can_be_pulled() {
    let team = Team::new();
    let (elsewhere, from) = local_store();
    let id = store_run(&from, "/");
    from.set_note(&StoredItem::Run(id.clone()), "new kernel").unwrap();
    let archive = export(&from, &id, elsewhere.path());
    let push = |bytes: Vec<u8>| {
        let bearer = format!("Bearer {}", team.runner);
        team.send("POST", "/api/runs", &[("authorization", &bearer)], Body::from(bytes))
    };
    let reply = push(archive.clone());
    assert_eq!(reply.status, StatusCode::CREATED, "{}", reply.body);
    let reply = push(archive.clone());
    assert_eq!(reply.status, StatusCode::OK);
    let parsed: PushReply = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(parsed, PushReply { id: id.clone(), is_new: false });
    assert_eq!(team.store().entry(&id).unwrap().note.as_deref(), Some("new kernel"));
    let list = team.with_token(&team.reader, "GET", "/api/runs?host=127.0.0.1:8080", "");
    let list: serde_json::Value = serde_json::from_str(&list.body).unwrap();
    assert_eq!((&list["items"][0]["id"], &list["selected"]), (&id.as_str().into(), &1.into()));
    let result = team.with_token(&team.reader, "GET", &format!("/api/runs/{id}/result"), "");
    assert!(result.body.contains("\"throughput"), "{}", result.body);
    let pulled = team.with_token(&team.reader, "GET", &format!("/api/runs/{id}/archive"), "");
    assert_eq!(pulled.status, StatusCode::OK);
    assert_eq!(pulled.headers["content-length"].to_str().unwrap(), archive.len().to_string());
    // The same id with another content.
    let (other, store) = local_store();
    let other_id = store_run(&store, "/other");
    let renamed = String::from_utf8_lossy(&export(&store, &other_id, other.path())).len();
    assert!(renamed > 0);
    team.store().tag(&StoredItem::Run(id.clone()), &other_id).unwrap();
    let conflict = push(export(&store, &other_id, other.path()));
    assert_eq!(conflict.status, StatusCode::CONFLICT, "an id that would hide a tag");
    let note = team.with_token(
        &team.runner,
        "POST",
        &format!("/api/runs/{id}/change"),
        "{\"note\":\"\",\"pinned\":true}",
    );
    assert!(
        note.body.contains("\"pinned\":true") && note.body.contains("\"note\":null"),
        "{note:?}"
    );
}

#[test]
fn damaged_uploads_are_refused_without_leftovers() {
    let team = Team::new();
    let (elsewhere, from) = local_store();
    let archive = export(&from, &store_run(&from, "/"), elsewhere.path());
    let bearer = format!("Bearer {}", team.runner);
    let mut uploads = vec![Vec::new(), b"garbage".repeat(1000), b"PK\x03\x04".to_vec()];
    uploads.extend((0..archive.len()).step_by(97).map(|cut| archive[..cut].to_vec()));
    uploads.push([&archive[..], b"more"].concat());
    for bytes in uploads {
        let length = bytes.len();
        let reply =
            team.send("POST", "/api/runs", &[("authorization", &bearer)], Body::from(bytes));
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{length}: {}", reply.body);
        assert!(!reply.body.contains("incoming"), "no path of the studio: {}", reply.body);
    }
    let large = [("authorization", &*bearer), ("content-length", "999999999999")];
    let reply = team.send("POST", "/api/runs", &large, Body::empty());
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(team.store().list(&EntryFilter::All).unwrap().is_empty());
    let incoming = fs::read_dir(team.shared.directory.join("incoming")).unwrap();
    assert_eq!(incoming.count(), 0);
}

#[test]
fn the_size_of_an_upload_without_a_length_is_limited() {
    let team = Team::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let chunks = (0..1000).map(|_| Ok::<_, std::io::Error>(vec![0; 1000]));
    let body = Body::from_stream(futures_util::stream::iter(chunks));
    let headers = HeaderMap::new();
    let received = receive(&team.shared, &headers, body, 500_000);
    let problem = runtime.block_on(received).err().unwrap();
    assert_eq!(problem.status, StatusCode::PAYLOAD_TOO_LARGE);
    let chunks = [Ok(vec![0; 1000]), Err(std::io::Error::other("reset"))];
    let body = Body::from_stream(futures_util::stream::iter(chunks));
    let problem = runtime.block_on(receive(&team.shared, &headers, body, 500_000));
    assert_eq!(problem.err().unwrap().status, StatusCode::BAD_REQUEST);
    let incoming = fs::read_dir(team.shared.directory.join("incoming")).unwrap();
    assert_eq!(incoming.count(), 0);
}

#[test]
fn ids_in_paths_are_no_paths_of_files() {
    let team = Team::new();
    for id in ["..%2f..%2ftokens", "%2e%2e", "..%00", "<script>", "'%20OR%201=1"] {
        for rest in ["", "/result", "/archive"] {
            let path = format!("/api/runs/{id}{rest}").replace('<', "%3C").replace('>', "%3E");
            let reply = team.with_token(&team.reader, "GET", &path, "");
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}: {}", reply.body);
            assert_eq!(reply.headers["content-type"], "application/json");
        }
    }
}

#[test]
fn addresses_that_others_reach_need_protection() {
    let directory = tempfile::tempdir().unwrap();
    let bind = |listen: &str, hosts: &[&str]| {
        let address = StudioAddress {
            listen: listen.parse().unwrap(),
            hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            tls: None,
            tokens: None,
        };
        let program = StudioProgram {
            command: String::new(),
            program: PathBuf::new(),
            system: system(),
            warn: |_| (),
        };
        Studio::bind(directory.path().to_owned(), address, program).err().map(|e| e.to_string())
    };
    let refused = bind("0.0.0.0:0", &[]).unwrap();
    assert!(refused.contains("neither TLS nor tokens; add --cert FILE"), "{refused}");
    assert!(check_address("0.0.0.0:1".parse().unwrap(), &[], true, true).is_err(), "no host");
    let no_tls = check_address("10.0.0.1:1".parse().unwrap(), &[], false, true).unwrap_err();
    assert!(no_tls.to_string().contains("no TLS"), "{no_tls}");
    assert!(check_address("10.0.0.1:1".parse().unwrap(), &[], true, true).is_ok());
    for host in ["a b", "a/b", "user@a", "a?b", ""] {
        assert!(
            matches!(bind("127.0.0.1:0", &[host]), Some(text) if text.starts_with("--host")),
            "{host}"
        );
    }
    assert_eq!(bind("127.0.0.1:0", &["studio.example", "studio.example:443"]), None);
}

#[test]
fn the_start_of_a_run_needs_a_valid_request() {
    let team = Team::new();
    let request = |request: &StartRequest| {
        let text = serde_json::to_string(request).unwrap();
        team.with_token(&team.runner, "POST", "/api/start", &text)
    };
    assert_eq!(request(&StartRequest::default()).status, StatusCode::BAD_REQUEST);
    let url = StartRequest { url: Some("http://shop/".into()), ..StartRequest::default() };
    let started = request(&url);
    assert_eq!(started.status, StatusCode::ACCEPTED, "{}", started.body);
    let unknown = team.with_token(&team.runner, "GET", "/api/starting/4294967295", "");
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
}
