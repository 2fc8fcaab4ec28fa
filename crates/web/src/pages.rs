//! The pages: a function from the store and the URL to HTML for each.

pub mod compare;
pub mod item;
pub mod list;
pub mod start;

use crate::assets::Asset;
use crate::layout::Problem;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use brunt_model::{Analysis, Study};
use brunt_report::html::{Template, write_study, write_study_as};
use maud::{Markup, html};

/// Returns the page of a study, with HTML above its content.
fn study_page(study: &Study, analysis: &Analysis, above: &Markup) -> Result<Html<String>, Problem> {
    let style = html! { link rel="stylesheet" href=(Asset::StudioStyle.path()); };
    let template = Template::linked(
        Asset::PageStyle.path(),
        Asset::PageScript.path(),
        &style.into_string(),
        &above.0,
    );
    let mut page = Vec::new();
    write_study_as(&template, study, analysis, &mut page)
        .map_err(|error| Problem::internal(&error))?;
    String::from_utf8(page).map(Html).map_err(|error| Problem::internal(&error))
}

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
