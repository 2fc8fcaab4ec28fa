//! Recordings that the studio starts, and requests to the studio through their proxy.

use super::{Reply, Studio};
use crate::world::odd::{page, serve_reply};
use crate::world::wait_until;
use regex::Regex;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use tempfile::TempDir;

/// Sends bytes to a proxy, and reads the reply to its end.
fn send(proxy: &str, bytes: &str) -> Reply {
    let mut connection = TcpStream::connect(proxy).expect("a connection");
    connection.write_all(bytes.as_bytes()).expect("a request");
    Reply::read(connection)
}

#[test]
fn a_recording_with_a_proxy_opens_its_plan_and_does_not_reach_the_studio() {
    let server = serve_reply(page("<title>Shop</title>"));
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let form = studio.get_with("/record", &cookie);
    assert!(form.body.contains("Start the recording"), "{}", form.body);
    let token = form.form_token();
    let file = studio.dir.path().join("shop.yaml");
    let fields = format!(
        "token={token}&url=&kind=proxy&address=127.0.0.1:0&file={}",
        file.display().to_string().replace('/', "%2F")
    );
    let started = studio.post("/record", &cookie, &fields);
    assert_eq!(started.location(), "/record/1", "{}", started.body);
    let address = Regex::new("the proxy listens at ([0-9.:]+)").expect("valid");
    let mut proxy = String::new();
    wait_until("the address of the proxy", || {
        let shown = studio.get_with("/record/1", &cookie).body;
        let found = address.captures(&shown).map(|found| found[1].to_owned());
        found.unwrap_or_default().clone_into(&mut proxy);
        !proxy.is_empty()
    });
    let url = server.url_of("/shop");
    let reply =
        send(&proxy, &format!("GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    assert_eq!(reply.status, 200, "{}", reply.head);

    // Even with the cookie, and within a tunnel.
    let own = studio.own();
    let head = format!("HTTP/1.1\r\nHost: {own}\r\n{cookie}Connection: close\r\n\r\n");
    let tunnel = format!("CONNECT {own} HTTP/1.1\r\nHost: {own}\r\n\r\n");
    for request in [
        format!("GET http://{own}/ {head}"),
        format!("GET http://localhost:{}/ {head}", studio.port),
        format!("{tunnel}GET / {head}"),
        format!(
            "GET http://{own}/ HTTP/1.1\r\nHost: {own}\r\nConnection: via, close\r\n{cookie}\r\n"
        ),
    ] {
        let reply = send(&proxy, &request);
        let text = format!("{}\n{}", reply.head, reply.body).to_lowercase();
        let is_refused = text.contains("403 forbidden") || text.contains("421 misdirected");
        assert!(is_refused && !text.contains("start a run"), "{request}: {text}");
    }

    let stopped = studio.post("/record/1/stop", &cookie, &format!("token={token}"));
    assert_eq!(stopped.status, 303, "{}", stopped.body);
    let mut shown = studio.get_with("/record/1", &cookie);
    wait_until("the plan in the editor", || {
        shown = studio.get_with("/record/1", &cookie);
        shown.body.contains("id=\"edit\"") || shown.body.contains("failed")
    });
    assert!(shown.body.contains("/shop"), "{}", shown.body);
    assert!(fs::read_to_string(&file).expect("a plan").contains("/shop\n"));
}

#[test]
fn a_recording_that_fails_shows_the_reason_and_its_remedy() {
    let studio = Studio::start(TempDir::new().expect("a directory"));
    let cookie = studio.admit();
    let token = studio.get_with("/record", &cookie).form_token();
    let file = studio.dir.path().join("shop.yaml");
    fs::write(&file, "load: {requests: 1}\n").expect("a file");
    let fields = format!("token={token}&url=&kind=proxy&file={}", file.display());
    let started = studio.post("/record", &cookie, &fields);
    let mut shown = started.body.clone();
    wait_until("the reason", || {
        shown = studio.get_with(&started.location(), &cookie).body;
        shown.contains("The recording failed.")
    });
    assert!(shown.contains("already exists") && shown.contains("--force"), "{shown}");
    let foreign = studio.post("/record", &cookie, "token=0&url=&kind=proxy&file=a.yaml");
    assert_eq!(foreign.status, 403);
    let absent = studio.get_with("/record/7", &cookie);
    assert_eq!(absent.status, 404);
}
