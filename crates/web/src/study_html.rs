//! The report page of a study, with links to its script and style.

use crate::assets::Asset;
use crate::layout::Problem;
use axum::response::Html;
use brunt_report::html::{StudyPage, Template};
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
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn of(page: &StudyPage) -> Result<Self, Problem> {
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
    pub fn under(&self, strip: &Markup) -> Html<String> {
        Html(format!("{}{}{}", self.before, strip.0, self.after))
    }
}
