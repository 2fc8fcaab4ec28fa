//! The report page of a study, with links to its script and style.

use crate::assets::Asset;
use crate::layout::Problem;
use axum::response::Html;
use brunt_report::html::{PageContent, StudyPage, Template};
use maud::{Markup, html};
use std::sync::LazyLock;

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let style = html! { link rel="stylesheet" href=(Asset::StudioStyle.path()); };
    Template::linked(Asset::PageStyle.path(), Asset::PageScript.path(), &style.into_string())
});

/// The page of a study, without the strip above its content.
pub struct StudyHtml(PageContent);

impl StudyHtml {
    /// Makes the page.
    pub fn of(page: &StudyPage) -> Result<Self, Problem> {
        page.content(&TEMPLATE).map(Self).map_err(|error| Problem::internal(&error))
    }

    /// Returns the page with its strip.
    pub fn under(&self, strip: &Markup) -> Result<Html<String>, Problem> {
        let mut html = Vec::new();
        self.0.write(&TEMPLATE, &strip.0, &mut html).map_err(|error| Problem::internal(&error))?;
        String::from_utf8(html).map(Html).map_err(|error| Problem::internal(&error))
    }

    /// Returns the elements of the page that change while its run is active.
    pub fn changing(&self) -> String {
        self.0.changing()
    }
}
