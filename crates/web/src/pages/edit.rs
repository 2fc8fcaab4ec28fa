//! The editor of plan files and plans of JMeter: a form with the text, which works without a script.
//!
//! * [`check`]: problems, tree and load of a text. [`structure`]: forms of elements, and edits.

pub mod check;
pub mod structure;

use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, json, page, strip, token_field};
use crate::pages::tries;
use crate::shared::{Shared, form_up_to, on_thread, query};
use crate::texts::{Viewer, message};
use aws_lc_rs::digest::{SHA256, digest};
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use brunt_editor::PlanFormat;
use brunt_files::read_regular;
use brunt_jmx::document::declared_encoding;
use brunt_jmx::is_jmx;
use brunt_model::Text;
use brunt_model::numbers::hexadecimal;
use brunt_spec::plan::{replace_file, schema};
use maud::{Markup, html};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// Maximum size of a form with a plan file. Its text is encoded, which triples some signs.
pub const MAX_FORM_BYTES: usize = 32 << 20;

/// Maximum size of a plan file in the editor.
pub const MAX_PLAN_BYTES: u64 = 10 << 20;

/// Endings of the names of plan files. Other files are neither shown nor written.
const ENDINGS: [&str; 3] = ["yaml", "yml", brunt_jmx::editor::FORMAT.ending];

/// Formats of plans other than plan files.
pub const PLAN_FORMATS: [PlanFormat; 1] = [brunt_jmx::editor::FORMAT];

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
        let bytes = match read_regular(Path::new(file), MAX_PLAN_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let file = file.to_owned();
                return Ok(Self { file, text: String::new(), digest: String::new() });
            }
            bytes => bytes.map_err(|error| unreadable(file, &error))?,
        };
        let digest = digest_of(&bytes);
        let text = String::from_utf8(bytes).ok().filter(|text| is_declared_utf8(file, text));
        let text = text.ok_or_else(|| Problem::bad_request(message!("edit-encoding", file)))?;
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
    pub fn save(&self) -> Result<(), Text> {
        let Self { file, text, digest } = self;
        let before = match read_regular(Path::new(file), MAX_PLAN_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            before => before.map_err(|error| {
                message!("edit-unreadable", file = file.as_str(), error = error.to_string())
            })?,
        };
        if digest_of(&before) != *digest {
            return Err(message!("edit-changed", file = file.as_str()));
        }
        // A change of all line breaks would be a change of all lines in git.
        let has_crlf = before.windows(2).any(|pair| pair == b"\r\n");
        let text = if has_crlf { &text.replace('\n', "\r\n") } else { text };
        replace_file(Path::new(file), text).map_err(|error| {
            message!("edit-unwritable", file = file.as_str(), error = error.to_string())
        })
    }
}

/// Problem of a plan file that cannot be read.
fn unreadable(file: &str, error: &io::Error) -> Problem {
    Problem::bad_request(if error.kind() == ErrorKind::FileTooLarge {
        message!("edit-large", file)
    } else {
        message!("edit-unreadable", file, error = error.to_string())
    })
}

/// False if a file of XML declares another encoding than UTF-8, in which a changed text would be garbled.
fn is_declared_utf8(file: &str, text: &str) -> bool {
    let encoding = declared_encoding(text.as_bytes()).filter(|_| is_jmx(file));
    encoding.is_none_or(|encoding| {
        ["utf-8", "us-ascii"].iter().any(|name| encoding.eq_ignore_ascii_case(name))
    })
}

/// Digest of a file; empty for a file that is empty or does not exist.
fn digest_of(bytes: &[u8]) -> String {
    if bytes.is_empty() { String::new() } else { hexadecimal(digest(&SHA256, bytes).as_ref()) }
}

/// Checks the name of a plan file.
///
/// # Errors
///
/// It has another ending.
pub fn ensure_plan_file(file: &str) -> Result<(), Problem> {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
        return Ok(());
    }
    Err(Problem::bad_request(message!("edit-no-plan", file)))
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
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    uri: Uri,
) -> Result<Html<String>, Problem> {
    let file = query(&uri).first("file").to_owned();
    on_thread(&shared, move |_| Ok(edit_page(&EditedPlan::read(&file)?, &html! {}, &viewer))).await
}

/// Shows a text in the editor, below a notice.
pub fn edit_page(plan: &EditedPlan, notice: &Markup, viewer: &Viewer) -> Html<String> {
    let EditedPlan { file, text, digest } = plan;
    let language = if is_jmx(file) { "xml" } else { "yaml" };
    let content = html! {
        h1 { (file) }
        (notice)
        div {
            div id="structure" {}
            form id="edit" class="edit" action="/edit/save" method="post" data-check="/edit/check"
                data-schema="/edit/schema.json" data-fields="/edit/fields" data-change="/edit/change" data-language=(language) {
                (token_field())
                input type="hidden" name="digest" value=(digest);
                // The first line break of a text area does not count.
                textarea name="text" rows="30" spellcheck="false" aria-label=(viewer.text("edit-text")) { "\n" (text) }
                ul id="problems" aria-label=(viewer.text("edit-problems")) {}
                div class="filter" {
                    label { (viewer.text("file")) " " input class="wide" name="file" value=(file) required; }
                    button { (viewer.text("edit-save")) }
                    button name="try" value="yes" { (viewer.text("edit-save-and-try")) }
                    @if is_jmx(file) { button formaction="/import" { (viewer.text("edit-convert")) } }
                    a href=(Fields::default().with("target", file).at("/start")) { (viewer.text("strip-start")) }
                }
            }
        }
        script type="module" blocking="render" src=(Asset::EditorScript.path()) {}
    };
    page(viewer, file, &strip(viewer, &html! {}), &content)
}

/// The JSON Schema of plan files, for completion and descriptions of keys.
///
/// # Errors
///
/// Never: the schema can be written.
pub async fn plan_schema() -> Result<Response, Problem> {
    json(&schema())
}

/// Saves the text, and shows it again or tries it.
///
/// # Errors
///
/// The form is wrong, or the try cannot be started.
pub async fn save(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Response, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, body).await?;
    on_thread(&shared, move |shared| {
        let plan = EditedPlan::of_form(&fields);
        ensure_plan_file(&plan.file)?;
        if let Err(reason) = plan.save() {
            // The text of the user is not lost.
            let notice = html! { p class="problem" { (viewer.format(&reason)) } };
            let page = edit_page(&plan, &notice, &viewer);
            return Ok((StatusCode::CONFLICT, page).into_response());
        }
        let address =
            if fields.has("try") { tries::begin(shared, &plan.file)? } else { address(&plan.file) };
        Ok(Redirect::to(&address).into_response())
    })
    .await
}
