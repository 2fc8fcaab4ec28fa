//! The pages: a function from the store and the URL to HTML for each.

pub mod compare;
pub mod edit;
pub mod history;
pub mod import;
pub mod item;
pub mod language;
pub mod list;
pub mod record;
pub mod retention;
pub mod sign_in;
pub mod start;
pub mod starting;
pub mod tries;

use crate::layout::Problem;
use crate::texts::Viewer;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use brunt_model::{Analysis, Study};
use brunt_report::html::{StudyPage, Template};

/// Translates the findings and verdicts of a study for its page.
fn translate(study: &mut Study, analysis: &mut Analysis, viewer: &Viewer) {
    study.trials.iter_mut().for_each(|trial| trial.judgement.translate(viewer.language));
    analysis.translate(viewer.language);
}

/// Returns a translated study as one file to save.
fn study_file(
    study: &Study,
    analysis: &Analysis,
    name: &str,
    viewer: &Viewer,
) -> Result<Response, Problem> {
    let mut page = Vec::new();
    let study_page = StudyPage { language: viewer.language, ..StudyPage::of(study, analysis) };
    study_page
        .write(&Template::one_file(), &mut page)
        .map_err(|error| Problem::internal(&error))?;
    // Ids have letters and digits only, so the name needs no quotes inside.
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"brunt-{name}.html\""))
        .map_err(|error| Problem::internal(&error))?;
    let media_type = HeaderValue::from_static("text/html; charset=utf-8");
    let headers = [(header::CONTENT_DISPOSITION, disposition), (header::CONTENT_TYPE, media_type)];
    Ok((headers, page).into_response())
}
