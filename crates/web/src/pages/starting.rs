//! The start of a process: what it says until its run begins, such as the table of agents. Then it leads to the page
//! of the run.

use crate::layout::{Problem, page, strip};
use crate::shared::{Shared, with_store};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use brunt_runner::control_socket::process_of;
use brunt_runner::exit::Exit;
use brunt_store::{EntryFilter, ItemKind, ItemState, Store, StoreError};
use maud::html;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path as FilePath;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Maximum number of bytes that are shown of what a process says: its end.
const SAID_BYTES: u64 = 16 << 10;

/// A process that this studio has started.
pub struct StartedProcess {
    /// Number of the process.
    pub number: u32,
    /// What it says.
    errors: File,
    /// Status, when it has ended.
    status: Arc<OnceLock<ExitStatus>>,
}

impl StartedProcess {
    /// Starts brunt with these arguments, and with this store.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
    pub fn start(program: &FilePath, arguments: &[String], store: &FilePath) -> io::Result<Self> {
        let errors = tempfile::tempfile()?;
        let mut child = Command::new(program)
            .args(arguments)
            .arg("--store")
            .arg(store)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?)
            // Ctrl-C in the terminal of the studio does not end the run.
            .process_group(0)
            .spawn()?;
        let number = child.id();
        let status = Arc::new(OnceLock::new());
        let of_thread = Arc::clone(&status);
        // The system keeps an ended process until its parent has its exit code.
        thread::spawn(move || child.wait().map(|status| of_thread.set(status)));
        Ok(Self { number, errors, status })
    }

    /// Its status; None while it is active.
    pub fn status(&self) -> Option<ExitStatus> {
        self.status.get().copied()
    }

    /// The end of what it has said.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn said(&self) -> io::Result<String> {
        let length = self.errors.metadata()?.len();
        let start = length.saturating_sub(SAID_BYTES);
        let mut bytes = vec![0; (length - start) as usize];
        self.errors.read_exact_at(&mut bytes, start)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Address of the page of a process.
pub fn address(process: u32) -> String {
    format!("/starting/{process}")
}

/// Shows what a process says, and leads to its run as soon as there is one.
///
/// # Errors
///
/// The process has ended without a run.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    Path(process): Path<u32>,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let run = run_of(store, process)?;
        let mut started = shared.started();
        let place = started.iter().position(|started| started.number == process);
        if let Some(id) = run {
            place.map(|place| started.remove(place));
            return Ok(Redirect::to(&format!("/runs/{id}")).into_response());
        }
        let Some(place) = place else { return Ok(foreign(process)) };
        let said = started[place].said().map_err(|error| Problem::internal(&error))?;
        let Some(status) = started[place].status() else { return Ok(waiting(&said)) };
        started.remove(place);
        after_end(status, &said)
    })
    .await
}

/// The page of a process that was started elsewhere.
fn foreign(process: u32) -> Response {
    if FilePath::new("/proc").join(process.to_string()).exists() {
        waiting("")
    } else {
        // It was quicker than the browser.
        Redirect::to("/runs/last").into_response()
    }
}

/// A page that is loaded again after a second.
fn waiting(said: &str) -> Response {
    let content = html! {
        h1 { "Starting" }
        p class="hint" { "The page of the run follows as soon as it begins." }
        @if !said.is_empty() { pre class="said" { (said) } }
    };
    let again = (header::REFRESH, HeaderValue::from_static("1"));
    ([again], page("Starting", &strip(&html! {}), &content)).into_response()
}

/// A process that has ended already: a quick run, or a refusal.
fn after_end(status: ExitStatus, said: &str) -> Result<Response, Problem> {
    let failures = [Exit::Failed, Exit::Usage].map(|exit| i32::from(exit.code()));
    // With other codes, a run was stored.
    if status.code().is_some_and(|code| !failures.contains(&code)) {
        return Ok(Redirect::to("/runs/last").into_response());
    }
    Err(Problem::bad_request(if said.is_empty() { status.to_string() } else { said.to_owned() }))
}

/// The run that this process makes now.
fn run_of(store: &Store, process: u32) -> Result<Option<String>, StoreError> {
    let entries = store.list(&EntryFilter::Unfinished)?;
    let mut runs = entries
        .into_iter()
        .filter(|entry| entry.kind == ItemKind::Run && entry.progress == ItemState::Running);
    let run = runs.find(|entry| process_of(&store.control_socket(&entry.id)) == Some(process));
    Ok(run.map(|entry| entry.id))
}
