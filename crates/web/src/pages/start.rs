//! The start of a run: a form for a URL or a plan file with its variables. The run is a separate process, as from a
//! terminal, and continues if the studio ends.

use crate::fields::Fields;
use crate::layout::{Problem, page, post_form, strip};
use crate::shared::{Shared, form, query, with_store};
use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{Html, Redirect};
use brunt_runner::control_socket::process_of;
use brunt_runner::exit::Exit;
use brunt_spec::plan::{PlanVariable, variables};
use brunt_store::{EntryFilter, ItemKind, ItemState, Store, StoreError};
use maud::{Markup, html};
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Pause between looks for the run that was started.
const PAUSE: Duration = Duration::from_millis(100);

/// Number of looks. Later, the run is found in the list.
const LOOKS: u32 = 100;

/// Prefix of the fields with variables of a plan.
const VARIABLE: &str = "var.";

/// Options with separate fields, for a URL: name, title, example.
const OPTIONS: [(&str, &str, &str); 4] = [
    ("rate", "Arrivals per second", "such as 500, or 0..500/30s,500/2m"),
    ("connections", "Users, without a rate", "10"),
    ("duration", "Time", "10s"),
    ("requests", "Requests, in place of a time", ""),
];

/// Shows the form. The field `target` of the URL decides which fields it has.
///
/// # Errors
///
/// The plan file cannot be read.
pub async fn show(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Html<String>, Problem> {
    let fields = query(&uri);
    let target = fields.first("target");
    let details = if target.is_empty() {
        html! {}
    } else if is_url(target) {
        html! { @for (name, title, example) in OPTIONS { (field(name, title, example)) } }
    } else {
        plan_fields(&read_plan(target)?)
    };
    let content = html! {
        h1 { "Start a run" }
        form class="filter" action="/start" method="get" {
            label { "URL or plan file " input class="wide" name="target" value=(target) required; }
            button { "Next" }
        }
        @if !target.is_empty() {
            (post_form("/start", shared.guard.form_token().text(), &html! {
                div class="start" {
                    input type="hidden" name="target" value=(target);
                    (details)
                    (field("options", "Further options, as in a terminal", "such as -H 'Accept: text/html'"))
                    button { "Start" }
                }
            }))
        }
    };
    Ok(page("Start a run", &strip(&html! {}), &content))
}

fn is_url(target: &str) -> bool {
    target.contains("://")
}

fn read_plan(path: &str) -> Result<Vec<PlanVariable>, Problem> {
    let text = fs::read_to_string(path).map_err(|error| {
        Problem::bad_request(format!(
            "{path}: {error}; write a URL with its scheme, or a plan file"
        ))
    })?;
    Ok(variables(&text))
}

fn plan_fields(variables: &[PlanVariable]) -> Markup {
    html! {
        @if variables.is_empty() { p class="hint" { "This plan has no variables." } }
        @for PlanVariable { name, value } in variables {
            (field(&format!("{VARIABLE}{name}"), name, value.as_deref().unwrap_or("several values")))
        }
    }
}

fn field(name: &str, title: &str, example: &str) -> Markup {
    html! { label { (title) " " input class="wide" name=(name) placeholder=(example); } }
}

/// Starts the run, and leads to its page.
///
/// # Errors
///
/// brunt refuses the options, or ends at once.
pub async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Result<Redirect, Problem> {
    let fields = form(&shared, body).await?;
    with_store(&shared, move |store, shared| {
        let arguments = arguments(&fields)?;
        let mut errors = tempfile::tempfile().map_err(|error| Problem::internal(&error))?;
        let mut child = spawn(&shared.program, &arguments, store.directory(), &errors)
            .map_err(|error| Problem::internal(&error))?;
        let run = look_for(store, &mut child, &mut errors);
        // The system keeps an ended process until its parent has its exit code.
        thread::spawn(move || child.wait());
        Ok(Redirect::to(&run?.map_or("/".to_owned(), |id| format!("/runs/{id}"))))
    })
    .await
}

/// The arguments of `brunt run` for a form.
fn arguments(fields: &Fields) -> Result<Vec<String>, Problem> {
    let target = fields.first("target");
    if target.is_empty() || target.starts_with('-') {
        return Err(Problem::bad_request("Write a URL or the path of a plan file."));
    }
    let mut arguments = vec!["run".to_owned(), target.to_owned()];
    for (name, value) in fields.all_pairs() {
        if let Some(variable) = name.strip_prefix(VARIABLE) {
            arguments.extend(["--set".to_owned(), format!("{variable}={value}")]);
        } else if OPTIONS.iter().any(|(option, _, _)| *option == name) {
            arguments.push(format!("--{name}={value}"));
        }
    }
    let further = shlex::split(fields.first("options"))
        .ok_or_else(|| Problem::bad_request("The options have a quote without an end."))?;
    arguments.extend(further);
    Ok(arguments)
}

fn spawn(program: &Path, arguments: &[String], store: &Path, errors: &File) -> io::Result<Child> {
    Command::new(program)
        .args(arguments)
        .arg("--store")
        .arg(store)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors.try_clone()?)
        // Ctrl-C in the terminal of the studio does not end the run.
        .process_group(0)
        .spawn()
}

/// Returns the id of the run that the process makes; None if it is not known yet.
fn look_for(
    store: &Store,
    child: &mut Child,
    errors: &mut File,
) -> Result<Option<String>, Problem> {
    for _ in 0..LOOKS {
        if let Some(status) = child.try_wait().map_err(|error| Problem::internal(&error))? {
            return after_end(status, errors);
        }
        if let Some(id) = run_of(store, child.id())? {
            return Ok(Some(id));
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// A process that has ended already: a quick run, or a refusal.
fn after_end(status: ExitStatus, errors: &mut File) -> Result<Option<String>, Problem> {
    let failures = [Exit::Failed, Exit::Usage].map(|exit| i32::from(exit.code()));
    // With other codes, a run was stored.
    if status.code().is_some_and(|code| !failures.contains(&code)) {
        return Ok(None);
    }
    let mut text = String::new();
    let read = errors.rewind().and_then(|()| errors.read_to_string(&mut text));
    read.map_err(|error| Problem::internal(&error))?;
    Err(Problem::bad_request(if text.is_empty() { status.to_string() } else { text }))
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
