//! Tries of a plan file: one user performs the scenario once, and each sample is shown with its request, reply,
//! variables, extractors and checks.
//!
//! A try is a process, `brunt run FILE --trace`. Its files are in a temporary folder of the studio.

mod body;
mod differences;
pub mod extract;
mod sample;

use super::edit;
use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, messages, page, post_form, strip, token_field};
use crate::process::{MOST_KEPT, StartedProcess};
use crate::shared::{Shared, form, on_thread, query};
use crate::texts::{ELEMENT, Viewer, message};
use crate::tries::TriedPlan;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use body::BodyView;
use brunt_model::Text;
use brunt_model::numbers::time;
use brunt_runner::trace::{SAMPLES_FILE, TracedSample};
use maud::{Markup, html};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Maximum number of samples that a page lists.
const MOST_SAMPLES: usize = 1000;

/// Maximum number of bytes of the file of samples that are read.
const MAX_SAMPLES_BYTES: u64 = 256 << 20;

/// Field of the URL with the number of a try to compare with.
const WITH: &str = "with";

/// The content of a try, so far.
pub struct TryContent {
    number: u32,
    file: String,
    folder: PathBuf,
    /// Messages of the process.
    messages: String,
    is_active: bool,
    samples: Vec<TracedSample>,
    /// Numbers of the other tries of the same file.
    others: Vec<u32>,
}

/// Starts a try, and leads to its page.
///
/// # Errors
///
/// The form is wrong, or the try cannot be started.
pub async fn start(State(shared): State<Arc<Shared>>, body: Body) -> Result<Redirect, Problem> {
    let fields = form(body).await?;
    on_thread(&shared, move |shared| Ok(Redirect::to(&begin(shared, fields.first("file"))?))).await
}

/// Starts a try of a plan file. Returns the address of its page.
pub fn begin(shared: &Shared, file: &str) -> Result<String, Problem> {
    if file.is_empty() || file.starts_with('-') {
        return Err(Problem::bad_request(message!("try-no-plan")));
    }
    let folder = TempDir::new().map_err(|error| Problem::internal(&error))?;
    let words = ["run", file, "--trace", "--trace-files", &folder.path().display().to_string()];
    let process =
        StartedProcess::start(&shared.program, &words.map(str::to_owned), &shared.directory, None)
            .map_err(|error| Problem::internal(&error))?;
    let plan = TriedPlan { file: file.to_owned(), folder };
    Ok(address(shared.tries().add(process, plan)))
}

/// Ends a try, and leads to its page.
///
/// # Errors
///
/// There is no such try, or the system does not allow it.
pub async fn stop(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<u32>,
    body: Body,
) -> Result<Redirect, Problem> {
    form(body).await?;
    on_thread(&shared, move |shared| {
        let tries = shared.tries();
        let one = tries.get(number).ok_or_else(|| no_try(number))?;
        one.process.interrupt().map_err(|error| Problem::internal(&error))?;
        Ok(Redirect::to(&address(number)))
    })
    .await
}

fn no_try(number: u32) -> Problem {
    Problem::not_found(message!("try-forgotten", number = u64::from(number), count = MOST_KEPT))
}

fn address(number: u32) -> String {
    format!("/tries/{number}")
}

/// Shows a try: the list of its samples, and one of them.
///
/// # Errors
///
/// There is no such try, or its files cannot be read.
pub async fn show(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path(number): Path<u32>,
    uri: Uri,
) -> Result<Response, Problem> {
    on_thread(&shared, move |shared| {
        let fields = query(&uri);
        let content = TryContent::read(shared, number)?;
        let title = viewer.format(&content.title(&content.file));
        let html = content.html(&fields, shared, &viewer)?;
        let page = page(&viewer, &title, &strip(&viewer, &html! {}), &html);
        if content.is_active {
            return Ok(([(header::REFRESH, HeaderValue::from_static("1"))], page).into_response());
        }
        Ok(page.into_response())
    })
    .await
}

impl TryContent {
    fn read(shared: &Shared, number: u32) -> Result<Self, Problem> {
        let tries = shared.tries();
        let one = tries.get(number).ok_or_else(|| no_try(number))?;
        let messages = one.process.messages().map_err(|error| Problem::internal(&error))?;
        let mut content = Self {
            number,
            file: one.details.file.clone(),
            folder: one.details.folder.path().to_owned(),
            messages,
            is_active: one.process.status().is_none(),
            samples: Vec::new(),
            others: tries.others(one),
        };
        // Other requests need the list, and the file may be large.
        drop(tries);
        content.samples = samples(&content.folder)?;
        Ok(content)
    }

    fn sample(&self, number: u64) -> Option<&TracedSample> {
        self.samples.iter().find(|sample| sample.number == number)
    }

    /// Title of the page; the file may be an element.
    fn title(&self, file: &str) -> Text {
        message!("try-of-file", number = u64::from(self.number), file)
    }

    fn html(&self, fields: &Fields, shared: &Shared, viewer: &Viewer) -> Result<Markup, Problem> {
        let chosen = fields.first("sample").parse().ok().and_then(|number| self.sample(number));
        let failed = self.samples.iter().find(|sample| !sample.record.success);
        let chosen = chosen.or(failed).or(self.samples.first());
        let content = match (fields.first(WITH).parse(), chosen) {
            (Ok(other), _) => differences::html(self, &Self::read(shared, other)?, viewer),
            (Err(_), Some(sample)) => self.details(sample, fields, viewer)?,
            (Err(_), None) => html! {},
        };
        Ok(html! {
            h1 { (viewer.with_element(&self.title(ELEMENT), &html! { a href=(edit::address(&self.file)) { (self.file) } })) }
            form class="filter" action="/tries" method="post" {
                (token_field())
                input type="hidden" name="file" value=(self.file);
                button { (viewer.text("try-again")) }
                @for other in &self.others {
                    a href=(format!("{}?{WITH}={other}", address(self.number))) { (viewer.format(&message!("try-compare", number = u64::from(*other)))) }
                }
            }
            @if self.is_active {
                (post_form(&format!("{}/stop", address(self.number)), &html! {
                    (viewer.text("try-running")) " "
                    // The page is loaded again each second, and the focus would be lost.
                    button autofocus { (viewer.text("try-stop")) }
                }))
            }
            (messages(viewer, &self.messages))
            div class="try" {
                (self.list(chosen, viewer))
                div class="sample" { (content) }
            }
            script type="module" src=(Asset::StudioScript.path()) {}
        })
    }

    /// Links to the samples.
    fn list(&self, chosen: Option<&TracedSample>, viewer: &Viewer) -> Markup {
        let more = self.samples.len().saturating_sub(MOST_SAMPLES);
        html! {
            nav aria-label=(viewer.text("try-samples")) {
                ol class="samples" {
                    @for sample in self.samples.iter().take(MOST_SAMPLES) {
                        @let record = &sample.record;
                        li class=(if record.success { "good" } else { "bad" })
                            aria-current=[chosen.filter(|chosen| chosen.number == sample.number).map(|_| "true")] {
                            a href=(format!("{}?sample={}", address(self.number), sample.number)) {
                                @if sample.number > 0 { (sample.number) ". " (record.label) } @else { (viewer.text("try-end-of-iteration")) }
                            }
                            @if !record.success { " " span class="sr" { (viewer.text("sample-failed")) } }
                            @if let Some(trace) = record.trace.as_ref().filter(|_| sample.number > 0) {
                                span { (record.code) " · " (time(trace.micros * 1000)) }
                            }
                        }
                    }
                }
                @if more > 0 { p class="hint" { (viewer.format(&message!("try-more", count = more))) } }
            }
        }
    }

    fn details(
        &self,
        sample: &TracedSample,
        fields: &Fields,
        viewer: &Viewer,
    ) -> Result<Markup, Problem> {
        let address = Fields::default().with("sample", &sample.number.to_string());
        let mut bodies = Vec::new();
        for (index, name) in sample.bodies.iter().enumerate() {
            let part = index.to_string();
            // The fields of the URL belong to one of the bodies.
            let is_chosen = fields.first("part") == part || (index == 0 && !fields.has("part"));
            let fields = if is_chosen { fields.clone() } else { Fields::default() };
            let address = address.clone().with("part", &part);
            let view = BodyView {
                file: self.folder.join(name),
                path: self::address(self.number),
                address,
                fields,
                viewer,
            };
            bodies.push(view.html()?);
        }
        let proposals = extract::proposals(self, sample, fields, viewer)?;
        Ok(html! {
            (sample::html(sample, viewer))
            @for body in bodies { (body) }
            (proposals)
        })
    }
}

/// Reads the samples of a try.
fn samples(folder: &FilePath) -> Result<Vec<TracedSample>, Problem> {
    let file = match File::open(folder.join(SAMPLES_FILE)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        file => file.map_err(|error| Problem::internal(&error))?,
    };
    // The process may be in the middle of a line.
    let lines = BufReader::new(file.take(MAX_SAMPLES_BYTES)).lines();
    let samples = lines.map_while(|line| serde_json::from_str(&line.ok()?).ok());
    Ok(samples.collect())
}

/// Reads the text of a body, up to a limit.
fn text_of(file: &FilePath, most: u64) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| Problem::internal(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
