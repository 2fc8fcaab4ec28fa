//! Recordings of a browser, or of other programs with a proxy: a form, the messages of the recording, and its plan in
//! the editor.
//!
//! A recording is a process, as from a terminal, and continues if the studio ends. It writes the plan file by itself.

use super::edit::{self, EditedPlan, edit_page};
use super::import::environment_variables;
use crate::fields::Fields;
use crate::layout::{self, Problem, page, post_form, strip};
use crate::process::{Started, StartedProcess};
use crate::shared::{Shared, form, on_thread, query};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Uri, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::{Markup, html};
use std::process::ExitStatus;
use std::sync::Arc;

/// Sources of a recording: value of the form, and the message with its title.
const KINDS: [(&str, &str); 3] = [("browser", "record-browser"), HEADLESS, (PROXY, "record-proxy")];

const HEADLESS: (&str, &str) = ("headless", "record-headless");

/// Value of the form for a recording with a proxy.
const PROXY: &str = "proxy";

/// Shows the form. Fields of the URL are its values.
///
/// # Errors
///
/// Never: the form needs no file.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    on_thread(&shared, move |shared| Ok(form_page(&query(&uri), shared, &viewer))).await
}

fn form_page(fields: &Fields, shared: &Shared, viewer: &Viewer) -> Html<String> {
    let active: Vec<(u32, String)> = shared
        .recordings()
        .active()
        .map(|one| (one.number, one.details.first("file").to_owned()))
        .collect();
    let content = html! {
        h1 { (viewer.text("record-title")) }
        @for (number, file) in &active {
            @let title = message!("record-active", number = number.to_string(), file = file.as_str());
            p { a href=(address(*number)) { (viewer.format(&title)) } }
        }
        (record_form(fields, viewer))
    };
    page(viewer, &viewer.text("record-title"), &strip(viewer, &html! {}), &content)
}

fn record_form(fields: &Fields, viewer: &Viewer) -> Markup {
    let chosen = KINDS.iter().find(|(kind, _)| *kind == fields.first("kind")).unwrap_or(&KINDS[0]);
    let file = fields.first("file");
    let file = if file.is_empty() { "recorded.yaml" } else { file };
    post_form(
        "/record",
        &html! {
            div class="start" {
                label { (viewer.text("record-url")) " " input class="wide" name="url" value=(fields.first("url")) placeholder="https://shop.example/" autofocus; }
                fieldset {
                    legend { (viewer.text("record-source")) }
                    @for (kind, title) in KINDS {
                        label class="choice" { input type="radio" name="kind" value=(kind) checked[kind == chosen.0]; " " (viewer.text(title)) }
                    }
                }
                label class="choice" { input type="checkbox" name="twice" value="yes" checked[fields.has("twice")];
                    " " (viewer.text("record-twice")) }
                label { (viewer.text("record-file")) " " input class="wide" name="file" value=(file) required; }
                label class="choice" { input type="checkbox" name="force" value="yes"; " " (viewer.text("record-overwrite")) }
                label { (viewer.text("record-address")) " " input class="wide" name="address" value=(fields.first("address"))
                    placeholder="127.0.0.1:8080"; }
                p class="hint" { (viewer.text("record-phone")) }
                button { (viewer.text("record-start")) }
            }
        },
    )
}

/// Starts a recording, and leads to its page.
///
/// # Errors
///
/// The form is wrong, or the process cannot be started.
pub async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    on_thread(&shared, move |shared| {
        let arguments = arguments(&fields)?;
        let process = StartedProcess::start_without_store(&shared.program, &arguments)
            .map_err(|error| Problem::internal(&error))?;
        // The fields return in a URL, and browsers keep URLs, with a token, in their history.
        let number = shared.recordings().add(process, fields.without("token"));
        Ok(Redirect::to(&address(number)))
    })
    .await
}

/// The arguments of `brunt record` for a form.
fn arguments(fields: &Fields) -> Result<Vec<String>, Problem> {
    let kind = fields.first("kind");
    let url = fields.first("url").trim();
    let is_proxy = kind == PROXY;
    if url.starts_with('-') || url.is_empty() && !is_proxy {
        return Err(Problem::bad_request(message!("record-no-url")));
    }
    let file = fields.first("file");
    edit::ensure_plan_file(file)?;
    let mut arguments = vec!["record".to_owned()];
    // A plan of JMeter has another format.
    if brunt_jmx::is_jmx(file) {
        return Err(Problem::bad_request(message!("record-no-plan")));
    }
    if !url.is_empty() {
        // Browsers complete such an address in the same way.
        let has_scheme = url.contains("://");
        arguments.push(if has_scheme { url.to_owned() } else { format!("http://{url}") });
    }
    match (kind, fields.first("address").trim()) {
        (PROXY, "") => arguments.push("--proxy".to_owned()),
        (PROXY, address) => arguments.push(format!("--proxy={address}")),
        (kind, _) if kind == HEADLESS.0 => arguments.push("--headless".to_owned()),
        _ => {}
    }
    for option in ["twice", "force"] {
        arguments.extend(fields.has(option).then(|| format!("--{option}")));
    }
    // With `=`, a file name with a dash at its beginning is no option.
    arguments.push(format!("--output={file}"));
    Ok(arguments)
}

/// Shows the messages of a recording, and its plan after its end.
///
/// # Errors
///
/// There is no such recording, or its plan cannot be read.
pub async fn show_started(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<u32>,
    viewer: Viewer,
) -> Result<Response, Problem> {
    on_thread(&shared, move |shared| {
        let recordings = shared.recordings();
        let recording = recordings.get(number).ok_or_else(|| unknown(number))?;
        let messages = recording.process.messages();
        let messages = messages.map_err(|error| Problem::internal(&error))?;
        let Some(status) = recording.process.status() else {
            return Ok(active(recording, &messages, &viewer));
        };
        let fields = recording.details.clone();
        drop(recordings);
        ended(&fields, status, &messages, &viewer)
    })
    .await
}

/// The page of a recording that has not ended. It is loaded again after a second.
fn active(recording: &Started<Fields>, messages: &str, viewer: &Viewer) -> Response {
    let number = recording.number;
    let title = viewer.text("recording-title");
    let process = recording.process.number.to_string();
    let content = html! {
        h1 { (title) }
        p { (viewer.text("recording-active")) }
        @if recording.details.has("twice") {
            p class="hint" { (viewer.text("recording-twice")) }
        }
        (post_form(&format!("{}/stop", address(number)), &html! {
            // The page is loaded again each second, and the focus would be lost.
            button autofocus { (viewer.text("recording-end")) }
        }))
        (layout::messages(viewer, messages))
        p class="hint" { (viewer.format(&message!("recording-process", process))) }
    };
    // Works without a script, and ends with the page of the plan.
    let again = (header::REFRESH, HeaderValue::from_static("1"));
    ([again], page(viewer, &title, &strip(viewer, &html! {}), &content)).into_response()
}

/// The plan in the editor, or the messages of a recording that failed.
fn ended(
    fields: &Fields,
    status: ExitStatus,
    messages: &str,
    viewer: &Viewer,
) -> Result<Response, Problem> {
    if !status.success() {
        let title = viewer.text("recording-title");
        let headless = viewer.text(HEADLESS.1);
        let overwrite = viewer.text("record-overwrite");
        let options = message!("recording-options", headless, overwrite);
        let content = html! {
            h1 { (title) }
            p class="problem" { (viewer.text("recording-failed")) }
            (layout::messages(viewer, messages))
            p class="hint" { (viewer.format(&options)) }
            p { a href=(fields.at("/record")) { (viewer.text("recording-again")) } }
        };
        return Ok(page(viewer, &title, &strip(viewer, &html! {}), &content).into_response());
    }
    let plan = EditedPlan::read(fields.first("file"))?;
    let variables = environment_variables(&plan.text);
    let notice = html! {
        div class="problem" {
            p { (viewer.text("recording-saved")) }
            @if !variables.is_empty() {
                p { (viewer.text("import-secrets")) " "
                    @for (index, name) in variables.iter().enumerate() { @if index > 0 { (viewer.text("list-separator")) } code { (name) } } }
            }
        }
        @if !messages.is_empty() {
            details { summary { (viewer.text("recording-messages")) } (layout::messages(viewer, messages)) }
        }
    };
    Ok(edit_page(&plan, &notice, viewer).into_response())
}

/// Ends a recording, as Ctrl-C does, and leads to its page.
///
/// # Errors
///
/// There is no such recording, or the system does not allow it.
pub async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<u32>,
    body: Body,
) -> Result<Redirect, Problem> {
    form(body).await?;
    on_thread(&shared, move |shared| {
        let recordings = shared.recordings();
        let recording = recordings.get(number).ok_or_else(|| unknown(number))?;
        recording.process.interrupt().map_err(|error| Problem::internal(&error))?;
        Ok(Redirect::to(&address(number)))
    })
    .await
}

fn unknown(number: u32) -> Problem {
    Problem::not_found(message!("recording-unknown", number = number.to_string()))
}

fn address(number: u32) -> String {
    format!("/record/{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(form: &str) -> Result<String, String> {
        let arguments = arguments(&Fields::decode(form.as_bytes()));
        arguments.map(|words| words.join(" ")).map_err(|problem| problem.text.to_string())
    }

    #[test]
    fn a_form_becomes_a_command() {
        for (form, expected) in [
            (
                "url=shop.example%2F&kind=browser&file=a.yaml&address=",
                "record http://shop.example/ --output=a.yaml",
            ),
            (
                "url=https%3A%2F%2Fa%2F&kind=headless&file=a.yaml&twice=yes&force=yes",
                "record https://a/ --headless --twice --force --output=a.yaml",
            ),
            ("url=&kind=proxy&file=-a.yaml&address=", "record --proxy --output=-a.yaml"),
            (
                "url=&kind=proxy&file=a.yaml&address=0.0.0.0%3A81",
                "record --proxy=0.0.0.0:81 --output=a.yaml",
            ),
        ] {
            assert_eq!(words(form).as_deref(), Ok(expected), "{form}");
        }
        for wrong in [
            "url=&kind=browser&file=a.yaml",
            "url=--har%3Dx&kind=browser&file=a.yaml",
            "url=a&kind=browser&file=.bashrc",
            "url=a&kind=browser&file=a.jmx",
        ] {
            assert!(words(wrong).is_err(), "{wrong}");
        }
    }
}
