//! The start of a process: its messages until its run begins, such as the table of agents. Then it leads to the page
//! of the run.

use crate::layout::{self, Problem, page, strip};
use crate::shared::{Shared, with_store};
use crate::texts::Viewer;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use brunt_runner::control_socket::process_of;
use brunt_runner::exit::Exit;
use brunt_store::{EntryFilter, ItemKind, ItemState, Store, StoreError};
use maud::html;
use std::path::Path as FilePath;
use std::process::ExitStatus;
use std::sync::Arc;

/// Address of the page of a process.
pub fn address(process: u32) -> String {
    format!("/starting/{process}")
}

/// Shows the messages of a process, and leads to its run as soon as there is one.
///
/// # Errors
///
/// The process has ended without a run.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path(process): Path<u32>,
) -> Result<Response, Problem> {
    with_store(&shared, move |store, shared| {
        let run = run_of(store, process)?;
        let mut started = shared.started();
        let one = started.iter().find(|one| one.process.number == process);
        if let Some(id) = run {
            if let Some(number) = one.map(|one| one.number) {
                started.remove(number);
            }
            return Ok(Redirect::to(&format!("/runs/{id}")).into_response());
        }
        let Some(one) = one else { return Ok(foreign(process, &viewer)) };
        let messages = one.process.messages().map_err(|error| Problem::internal(&error))?;
        let Some(status) = one.process.status() else { return Ok(waiting(&messages, &viewer)) };
        let number = one.number;
        started.remove(number);
        after_end(status, &messages)
    })
    .await
}

/// The page of a process that was started elsewhere.
fn foreign(process: u32, viewer: &Viewer) -> Response {
    if FilePath::new("/proc").join(process.to_string()).exists() {
        waiting("", viewer)
    } else {
        // It was quicker than the browser.
        Redirect::to("/runs/last").into_response()
    }
}

/// A page that is loaded again after a second.
fn waiting(messages: &str, viewer: &Viewer) -> Response {
    let title = viewer.text("starting-title");
    let content = html! {
        h1 { (title) }
        p class="hint" { (viewer.text("starting-about")) }
        (layout::messages(viewer, messages))
    };
    // Works without a script, and ends with the redirect to the run.
    let again = (header::REFRESH, HeaderValue::from_static("1"));
    ([again], page(viewer, &title, &strip(viewer, &html! {}), &content)).into_response()
}

/// True if a process that has ended has stored a run.
pub fn has_stored(status: ExitStatus) -> bool {
    let failures = [Exit::Failed, Exit::Usage].map(|exit| i32::from(exit.code()));
    status.code().is_some_and(|code| !failures.contains(&code))
}

/// A process that has ended already: a quick run, or a refusal.
fn after_end(status: ExitStatus, messages: &str) -> Result<Response, Problem> {
    if has_stored(status) {
        return Ok(Redirect::to("/runs/last").into_response());
    }
    Err(Problem::bad_request(if messages.is_empty() {
        status.to_string()
    } else {
        messages.to_owned()
    }))
}

/// The run that this process makes now.
pub fn run_of(store: &Store, process: u32) -> Result<Option<String>, StoreError> {
    let entries = store.list(&EntryFilter::Unfinished)?;
    let mut runs = entries
        .into_iter()
        .filter(|entry| entry.kind == ItemKind::Run && entry.progress == ItemState::Running);
    let run = runs.find(|entry| process_of(&store.control_socket(&entry.id)) == Some(process));
    Ok(run.map(|entry| entry.id))
}
