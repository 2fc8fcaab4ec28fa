//! The editor of plan files: a form with the text, which works without a script. Problems and descriptions of keys
//! come from the crate `spec`.

use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, json, page, strip};
use crate::pages::tries;
use crate::shared::{Shared, form_up_to, query, with_store};
use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use brunt_model::numbers::hexadecimal;
use brunt_spec::plan::{replace_file, schema};
use brunt_spec::system::NEEDS_SERVER;
use brunt_spec::{SpecError, System, plan_file};
use maud::{Markup, html};
use serde::Serialize;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// Maximum size of a form with a plan file. Its text is encoded, which triples some signs.
pub const MAX_FORM_BYTES: usize = 32 << 20;

/// Maximum size of a plan file in the editor.
const MAX_PLAN_BYTES: u64 = 10 << 20;

/// Endings of the names of plan files. Other files are neither shown nor written.
const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// A plan file in the editor.
pub struct EditedPlan {
    /// Path of the file, as the user wrote it.
    pub file: String,
    /// Its text, with LF at the ends of lines.
    pub text: String,
    /// Digest of the file when it was read; empty if it did not exist.
    pub digest: String,
}

impl EditedPlan {
    /// Reads a plan file. A file that does not exist is empty.
    ///
    /// # Errors
    ///
    /// The name is not that of a plan file, or it cannot be read.
    pub fn read(file: &str) -> Result<Self, Problem> {
        ensure_plan_file(file)?;
        let bytes = match fs::metadata(file) {
            Ok(metadata) if metadata.len() > MAX_PLAN_BYTES => {
                return Err(Problem::bad_request(format!(
                    "{file}: the editor opens at most 10 MiB"
                )));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let file = file.to_owned();
                return Ok(Self { file, text: String::new(), digest: String::new() });
            }
            _ => {
                fs::read(file).map_err(|error| Problem::bad_request(format!("{file}: {error}")))?
            }
        };
        let digest = digest_of(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::bad_request(format!("{file}: this is not UTF-8")))?;
        Ok(Self { file: file.to_owned(), text: text.replace("\r\n", "\n"), digest })
    }

    /// Takes the file, its text and its digest from a form.
    fn of_form(fields: &Fields) -> Self {
        Self {
            file: fields.first("file").to_owned(),
            // Browsers send CRLF.
            text: fields.first("text").replace("\r\n", "\n"),
            digest: fields.first("digest").to_owned(),
        }
    }

    /// Writes the text to the file, unless it has changed since it was read.
    ///
    /// # Errors
    ///
    /// A sentence with the reason.
    pub fn save(&self) -> Result<(), String> {
        let Self { file, text, digest } = self;
        let before = match fs::read(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            before => before.map_err(|error| format!("{file} cannot be read: {error}"))?,
        };
        if digest_of(&before) != *digest {
            return Err(format!(
                "{file} has changed on the disk since it was opened here, so it was not written. Save this text under \
                 another name, or open the file again."
            ));
        }
        // A change of all line breaks would be a change of all lines in git.
        let has_crlf = before.windows(2).any(|pair| pair == b"\r\n");
        let text = if has_crlf { &text.replace('\n', "\r\n") } else { text };
        replace_file(Path::new(file), text)
            .map_err(|error| format!("{file} cannot be written: {error}"))
    }
}

/// Digest of a file; empty for a file that is empty or does not exist.
fn digest_of(bytes: &[u8]) -> String {
    if bytes.is_empty() { String::new() } else { hexadecimal(digest(&SHA256, bytes).as_ref()) }
}

fn ensure_plan_file(file: &str) -> Result<(), Problem> {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
        return Ok(());
    }
    Err(Problem::bad_request(format!("`{file}`: write the path of a plan file, such as shop.yaml")))
}

/// Address of a file in the editor.
pub fn address(file: &str) -> String {
    Fields::default().with("file", file).at("/edit")
}

/// Shows the file of the URL.
///
/// # Errors
///
/// It is no plan file, or cannot be read.
pub async fn show(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Html<String>, Problem> {
    let file = query(&uri).first("file").to_owned();
    with_store(&shared, move |_, shared| {
        Ok(edit_page(&EditedPlan::read(&file)?, &html! {}, shared))
    })
    .await
}

/// Shows a text in the editor, below a notice.
pub fn edit_page(plan: &EditedPlan, notice: &Markup, shared: &Shared) -> Html<String> {
    let EditedPlan { file, text, digest } = plan;
    let content = html! {
        h1 { (file) }
        (notice)
        form id="edit" class="edit" action="/edit/save" method="post" data-check="/edit/check" data-schema="/edit/schema.json" {
            input type="hidden" name="token" value=(shared.guard.form_token().text());
            input type="hidden" name="digest" value=(digest);
            // The first line break of a text area does not count.
            textarea name="text" rows="30" spellcheck="false" aria-label="text of the plan" { "\n" (text) }
            ul id="problems" aria-label="problems" {}
            div class="filter" {
                label { "File " input class="wide" name="file" value=(file) required; }
                button { "Save" }
                button name="try" value="yes" { "Save, and try once" }
                a href=(Fields::default().with("target", file).at("/start")) { "Start a run" }
            }
        }
        script type="module" blocking="render" src=(Asset::EditorScript.path()) {}
    };
    page(file, &strip(&html! {}), &content)
}

/// The JSON Schema of plan files, for completion and descriptions of keys.
///
/// # Errors
///
/// Never: the schema can be written.
pub async fn plan_schema() -> Result<Response, Problem> {
    json(&schema())
}

/// The problems of a text.
#[derive(Debug, Serialize)]
struct TextProblems {
    problems: Vec<TextProblem>,
}

/// A problem of a text.
#[derive(Debug, Serialize)]
struct TextProblem {
    /// Line, from 1; 0 for the whole file.
    line: u32,
    column: u32,
    severity: &'static str,
    message: String,
}

/// Checks a text, without saving it.
///
/// # Errors
///
/// The form is wrong.
pub async fn check(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, &shared, body).await?;
    with_store(&shared, move |_, shared| {
        let problems = problems(&EditedPlan::of_form(&fields), &shared.system);
        json(&TextProblems { problems })
    })
    .await
}

fn problems(plan: &EditedPlan, system: &System) -> Vec<TextProblem> {
    // Each pause in typing would send requests to the server of the plan.
    let bare = System::bare(system.descriptors, system.cores, system.ports, system.seed);
    let system = System { environment: system.environment, program: system.program, ..bare };
    // Relative names in the plan are relative to its file.
    let path = Path::new(&plan.file);
    let opened = plan_file::open_text(path, &plan.text, &[], plan_file::NO_FOLDER, &system);
    match opened.and_then(|opened| opened.resolve(&system)) {
        Ok(resolved) => resolved.notes.into_iter().map(TextProblem::note).collect(),
        Err(error) => std::iter::once(&error).chain(&error.others).map(TextProblem::from).collect(),
    }
}

impl TextProblem {
    fn note(message: String) -> Self {
        Self { line: 0, column: 0, severity: "warning", message }
    }
}

impl From<&SpecError> for TextProblem {
    fn from(error: &SpecError) -> Self {
        let place = error.position.as_ref().map(brunt_spec::plan::SourcePosition::line_and_column);
        let (line, column) = place.unwrap_or_default();
        let message = match error.path.as_str() {
            "" => error.wrong.clone(),
            path => format!("{path}: {}", error.wrong),
        };
        let is_checked = !NEEDS_SERVER.iter().any(|needs| error.wrong.contains(needs));
        let severity = if is_checked { "error" } else { "warning" };
        Self { line, column, severity, message }
    }
}

/// Saves the text, and shows it again or tries it.
///
/// # Errors
///
/// The form is wrong, or the try cannot be started.
pub async fn save(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, &shared, body).await?;
    with_store(&shared, move |store, shared| {
        let plan = EditedPlan::of_form(&fields);
        ensure_plan_file(&plan.file)?;
        if let Err(reason) = plan.save() {
            // The text of the user is not lost.
            let notice = html! { p class="problem" { (reason) } };
            let page = edit_page(&plan, &notice, shared);
            return Ok((StatusCode::CONFLICT, page).into_response());
        }
        let address = if fields.has("try") {
            tries::begin(shared, store.directory(), &plan.file)?
        } else {
            address(&plan.file)
        };
        Ok(Redirect::to(&address).into_response())
    })
    .await
}
