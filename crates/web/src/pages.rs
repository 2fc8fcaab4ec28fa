//! The pages: a function from the store and the URL to HTML for each.

pub mod compare;
pub mod edit;
pub mod item;
pub mod list;
pub mod start;
pub mod starting;
pub mod tries;

use crate::assets::Asset;
use crate::layout::Problem;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use brunt_model::{Analysis, Study};
use brunt_report::html::{StudyPage, Template, write_study};
use maud::{Markup, html};

/// Place of the strip in a page that is made.
const STRIP: &str = "<!--STRIP-->";

/// The page of a study, without the strip above its content.
pub struct StudyHtml {
    before: String,
    after: String,
}

impl StudyHtml {
    /// Makes the page.
    fn of(page: &StudyPage) -> Result<Self, Problem> {
        let style = html! { link rel="stylesheet" href=(Asset::StudioStyle.path()); };
        let template = Template::linked(
            Asset::PageStyle.path(),
            Asset::PageScript.path(),
            &style.into_string(),
            STRIP,
        );
        let mut html = Vec::new();
        page.write(&template, &mut html).map_err(|error| Problem::internal(&error))?;
        let html = String::from_utf8(html).map_err(|error| Problem::internal(&error))?;
        let (before, after) = html.split_once(STRIP).unwrap_or(("", &html));
        Ok(Self { before: before.to_owned(), after: after.to_owned() })
    }

    /// Returns the page with its strip.
    fn under(&self, strip: &Markup) -> Html<String> {
        Html(format!("{}{}{}", self.before, strip.0, self.after))
    }
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
