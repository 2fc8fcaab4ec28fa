//! Recordings, descriptions of requests and plans of JMeter become plan files: the text is shown in the editor, with
//! a list of losses and of the secrets that were not copied.

use super::edit::{EditedPlan, MAX_FORM_BYTES, edit_page};
use crate::assets::Asset;
use crate::fields::Fields;
use crate::layout::{Problem, page, strip, token_field};
use crate::shared::{Shared, form_up_to, on_thread};
use crate::texts::{Viewer, message};
use axum::body::Body;
use axum::extract::State;
use axum::response::Html;
use brunt_import::detect::{DetectedFormat, detect};
use brunt_import::jmx::{JmxOptions, read};
use brunt_import::{ImportError, ImportOptions, import};
use brunt_jmx::is_jmx;
use maud::{Markup, html};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Name of the input, in comments of the plan.
const INPUT: &str = "input";

/// Shows the form for the input.
pub async fn show(viewer: Viewer) -> Html<String> {
    let content = html! {
        h1 { (viewer.text("import-title")) }
        p { (viewer.text("import-formats")) }
        form id="import" class="edit" action="/import" method="post" {
            (token_field())
            label { (viewer.text("file")) " " input type="file" id="import-file"; }
            textarea name="text" rows="20" spellcheck="false" aria-label=(viewer.text("import-input")) placeholder=(viewer.text("import-drop")) required {}
            div class="filter" {
                label { (viewer.text("import-plan-file")) " " input class="wide" name="file" value="plan.yaml" required; }
                button { (viewer.text("import-title")) }
            }
        }
        script type="module" src=(Asset::StudioScript.path()) {}
    };
    page(&viewer, &viewer.text("import-title"), &strip(&viewer, &html! {}), &content)
}

/// Shows the plan of an input in the editor. It is not saved yet.
///
/// # Errors
///
/// The format is unknown, or the input is malformed.
pub async fn make(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Html<String>, Problem> {
    let fields = form_up_to(MAX_FORM_BYTES, body).await?;
    on_thread(&shared, move |_| {
        let (text, losses) = plan_of(&fields)?;
        let mut file = PathBuf::from(fields.first("file"));
        // A plan of JMeter keeps its own file.
        if is_jmx(fields.first("file")) {
            file.set_extension("yaml");
        }
        let plan = EditedPlan { digest: String::new(), text, file: file.display().to_string() };
        Ok(edit_page(&plan, &notice(&plan.text, &losses, &viewer), &viewer))
    })
    .await
}

/// Returns the text of the plan, and its losses.
fn plan_of(fields: &Fields) -> Result<(String, Vec<String>), Problem> {
    let text = fields.first("text");
    match detect(text) {
        Some(DetectedFormat::Other(format)) => {
            let options = ImportOptions { file: INPUT.to_owned(), ..ImportOptions::default() };
            let plan = import(format, text, &options)?;
            // The comments of the plan name all losses.
            Ok((plan, Vec::new()))
        }
        Some(DetectedFormat::Jmx) => {
            let imported = read(text.as_bytes(), &jmx_options(INPUT, fields.first("file")))?;
            Ok((imported.plan, imported.notices))
        }
        None => Err(Problem::bad_request(message!("import-unknown"))),
    }
}

/// Options for a plan of `JMeter`. The plan file is saved beside `file`, so relative names stay valid.
pub fn jmx_options(name: &str, file: &str) -> JmxOptions {
    let directory = Path::new(file).parent().filter(|parent| !parent.as_os_str().is_empty());
    JmxOptions {
        file: name.to_owned(),
        directory: directory.unwrap_or(Path::new(".")).to_owned(),
        ..JmxOptions::default()
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        Self::bad_request(error.to_string())
    }
}

fn notice(plan: &str, losses: &[String], viewer: &Viewer) -> Markup {
    let variables = environment_variables(plan);
    html! {
        div class="problem" {
            p { (viewer.text("import-unsaved")) }
            @if !variables.is_empty() {
                p { (viewer.text("import-secrets")) " "
                    @for (index, name) in variables.iter().enumerate() { @if index > 0 { (viewer.text("list-separator")) } code { (name) } } }
            }
            @if !losses.is_empty() {
                p { (viewer.text("import-losses")) }
                ul { @for loss in losses { li { (loss) } } }
            }
        }
    }
}

/// Names of the environment variables that a plan reads.
pub fn environment_variables(plan: &str) -> BTreeSet<&str> {
    let uses = plan.split("${env.").skip(1);
    uses.filter_map(|rest| rest.split(['}', ':']).next()).filter(|name| !name.is_empty()).collect()
}
