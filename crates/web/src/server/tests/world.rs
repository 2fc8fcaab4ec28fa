//! A studio with tokens, and runs for it.

use super::super::routes;
use crate::guard::{Guard, GuardSettings};
use crate::openapi;
use crate::program::StudioProgram;
use crate::shared::Shared;
use crate::tokens::{NewToken, TokenFile};
use crate::visitor::Permission;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use brunt_model::{Environment, Event, Finish, Plan, Run, Tick};
use brunt_script::Languages;
use brunt_spec::System;
use brunt_store::{Store, StoredItem};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tower::ServiceExt;

pub const HOST: &str = "127.0.0.1:8123";

/// A studio with a token for each permission.
pub struct Team {
    pub directory: TempDir,
    pub shared: Arc<Shared>,
    pub reader: String,
    pub runner: String,
}

/// A reply of the studio.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Team {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let reader = NewToken::draw("ann", Permission::Read).unwrap();
        let runner = NewToken::draw("ci", Permission::Run).unwrap();
        let tokens = directory.path().join("tokens");
        brunt_store::write_private(
            &tokens,
            format!("{}\n{}\n", reader.line, runner.line).as_bytes(),
        )
        .unwrap();
        let store = directory.path().join("store");
        Store::open(&store).unwrap();
        let guard = Guard::new(GuardSettings {
            address: HOST.parse().unwrap(),
            hosts: Vec::new(),
            uses_tls: false,
            tokens: Some(TokenFile::open(tokens, |_| ()).unwrap()),
        });
        let program = StudioProgram {
            command: "brunt studio".into(),
            program: "/bin/false".into(),
            system: system(),
            warn: |_| (),
        };
        let shared = Arc::new(Shared::new(store, guard.unwrap(), program, openapi::document()));
        Self { directory, shared, reader: reader.secret, runner: runner.secret }
    }

    pub fn store(&self) -> Store {
        Store::open(&self.shared.directory).unwrap()
    }

    /// Sends a request with these headers.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Body) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", HOST);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let routes = routes(Arc::clone(&self.shared));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let reply = routes.oneshot(request.body(body).unwrap()).await.unwrap();
            let (parts, body) = reply.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap();
            let body = String::from_utf8_lossy(&body).into_owned();
            Reply { status: parts.status, headers: parts.headers, body }
        })
    }

    /// Sends a request with a token, and with JSON.
    pub fn with_token(&self, token: &str, method: &str, path: &str, body: &str) -> Reply {
        let authorization = format!("Bearer {token}");
        self.send(method, path, &[("authorization", &authorization)], Body::from(body.to_owned()))
    }

    /// Signs in. Returns the cookie.
    pub fn cookie(&self, token: &str) -> String {
        let form = Body::from(format!("secret={token}"));
        let reply = self.send("POST", "/sign-in", &[], form);
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        let cookie = reply.headers["set-cookie"].to_str().unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }
}

pub fn system() -> System {
    System {
        descriptors: 1024,
        cores: 1,
        ports: Some(1000),
        languages: Languages::CORE,
        seed: 1,
        environment: |_| None,
        stdin: || Ok(Vec::new()),
        program: || Ok(PathBuf::from("/bin/false")),
        reflect_descriptors: |_, _| Err(String::new()),
        best_http_version: |_| Err(String::new()),
        on_options: |_| (),
        plan_text: |_| (),
        plan_tree: |_| (),
    }
}

pub fn local_store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(&directory.path().join("store")).unwrap();
    (directory, store)
}

/// Stores a run of one request with this label.
pub fn store_run(store: &Store, label: &str) -> String {
    store_run_with(store, label, Vec::new())
}

/// Stores a run of one request with further events.
pub fn store_run_with(store: &Store, label: &str, further: Vec<Event>) -> String {
    let text = include_str!("plan.json").replace("LABEL", label);
    let plan: Plan = serde_json::from_str(&text).unwrap();
    let mut events = vec![
        Event::Started {
            plan: Box::new(plan),
            environment: Box::new(Environment::default()),
            unix_seconds: 1000.0,
        },
        Event::Label { id: 0, name: label.into(), hop_of: None },
    ];
    events.extend(further);
    let end = Finish { at: Tick(1_000_000_000), interrupted: false, error: None };
    events.push(Event::Finished(end));
    let mut log = store.begin_run(None).unwrap();
    for event in &events {
        log.append(event).unwrap();
    }
    let id = log.id().to_owned();
    let run = Run::of(&events);
    log.finish(&run, &brunt_judge::judge(&run)).unwrap();
    id
}

pub fn export(store: &Store, id: &str, directory: &Path) -> Vec<u8> {
    let file = directory.join("run.brunt");
    export_to(store, id, &file);
    fs::read(&file).unwrap()
}

pub fn export_to(store: &Store, id: &str, file: &Path) {
    store.export(&StoredItem::Run(id.to_owned()), file).unwrap();
}
