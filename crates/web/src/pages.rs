//! The pages: a function from the store and the URL to HTML for each.

pub mod compare;
pub mod edit;
pub mod import;
pub mod item;
pub mod list;
pub mod retention;
pub mod sign_in;
pub mod start;
pub mod starting;
pub mod tries;

use crate::layout::Problem;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use brunt_model::{Analysis, Study};
use brunt_report::html::write_study;

/// Returns a study as one file to save.
fn study_file(study: &Study, analysis: &Analysis, name: &str) -> Result<Response, Problem> {
    let mut page = Vec::new();
    write_study(study, analysis, &mut page).map_err(|error| Problem::internal(&error))?;
    // Ids have letters and digits only, so the name needs no quotes inside.
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"brunt-{name}.html\""))
        .map_err(|error| Problem::internal(&error))?;
    let media_type = HeaderValue::from_static("text/html; charset=utf-8");
    let headers = [(header::CONTENT_DISPOSITION, disposition), (header::CONTENT_TYPE, media_type)];
    Ok((headers, page).into_response())
}
