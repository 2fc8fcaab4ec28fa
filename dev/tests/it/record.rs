//! `brunt record --proxy` as a user starts it: its messages, its plan, and the trust stores of the machine.

use crate::world::command;
use crate::world::odd::{page, serve_reply};
use crate::world::server::ServerProcess;
use crate::world::wait_until;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Trust stores of the system, and of the user's browsers.
fn trust_stores() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut folders =
        vec![PathBuf::from("/etc/ssl"), PathBuf::from("/usr/local/share/ca-certificates")];
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        folders.extend([".pki", ".mozilla"].map(|name| home.join(name)));
    }
    let mut files = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.map(|entry| entry.path()) {
            if entry.is_dir() && !entry.is_symlink() {
                folders.push(entry);
            } else if let Ok(bytes) = fs::read(&entry) {
                files.insert(entry, bytes);
            }
        }
    }
    files
}

/// Waits until a text is in a file, and returns the word after it.
fn word_after(file: &Path, text: &str) -> String {
    let mut word = String::new();
    wait_until(text, || {
        let content = fs::read_to_string(file).unwrap_or_default();
        let rest = content.split_once(text).map(|(_, rest)| rest).unwrap_or_default();
        let complete = rest.split_once('\n').map(|(line, _)| line).unwrap_or_default();
        complete.split_whitespace().next().unwrap_or_default().clone_into(&mut word);
        !word.is_empty()
    });
    word
}

#[test]
fn the_proxy_records_a_program_and_changes_no_trust_store() {
    let before = trust_stores();
    let server = serve_reply(page("ok"));
    let dir = TempDir::new().expect("a directory");
    let plan = dir.path().join("plan.yaml");
    let messages = dir.path().join("messages");
    let mut record = command("record --proxy 127.0.0.1:0 --proxy-user phone:secret-9 -o");
    record.arg(&plan).env("XDG_DATA_HOME", dir.path().join("data"));
    record.stderr(File::create(&messages).expect("a file"));
    let mut process = ServerProcess::start(&mut record);
    let proxy = word_after(&messages, "the proxy listens at ");
    let url = server.url_of("/first?a=1");
    // phone:secret-9
    for (fields, status) in
        [("", "407"), ("Proxy-Authorization: Basic cGhvbmU6c2VjcmV0LTk=\r\n", "200")]
    {
        let mut connection = TcpStream::connect(&proxy).expect("a connection");
        write!(connection, "GET {url} HTTP/1.1\r\nHost: x\r\n{fields}Connection: close\r\n\r\n")
            .expect("a request");
        let mut reply = String::new();
        connection.read_to_string(&mut reply).expect("a reply");
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
    }
    process.signal(Signal::INT);
    assert!(process.child.wait().expect("an end").success());
    let messages = fs::read_to_string(&messages).expect("messages");
    assert!(messages.contains("requests of this recording: 1"), "{messages}");
    assert!(!messages.contains("secret-9"), "{messages}");
    let text = fs::read_to_string(&plan).expect("a plan");
    assert!(text.contains("get: /first?a=1") && !text.contains("via"), "{text}");
    assert!(!text.contains("cGhvbmU6c2VjcmV0LTk"), "{text}");
    let checked = command("plan check").arg(&plan).output().expect("brunt");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(trust_stores(), before);
    assert!(dir.path().join("data/brunt-record/brunt-ca.pem").exists());
}

#[test]
fn a_recording_without_requests_names_the_remedy() {
    let dir = TempDir::new().expect("a directory");
    let messages = dir.path().join("messages");
    let mut record = command("record --proxy 127.0.0.1:0 -o");
    record.arg(dir.path().join("plan.yaml")).env("XDG_DATA_HOME", dir.path());
    record.stderr(File::create(&messages).expect("a file"));
    let mut process = ServerProcess::start(&mut record);
    word_after(&messages, "the proxy listens at ");
    process.signal(Signal::INT);
    assert!(!process.child.wait().expect("an end").success());
    let messages = fs::read_to_string(&messages).expect("messages");
    assert!(messages.contains("no request was recorded; check that"), "{messages}");
}
