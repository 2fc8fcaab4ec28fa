//! The frame of a page.

use crate::assets::Asset;
use crate::guard::Refusal;
use crate::texts::Viewer;
use crate::visitor::Visitor;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use brunt_model::Language;
use brunt_model::Text;
use maud::{DOCTYPE, Markup, html};
use serde::Serialize;

/// Returns a page of the studio.
pub fn page(viewer: &Viewer, title: &str, above: &Markup, content: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang=(viewer.language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                link rel="icon" href="data:,";
                title { (title) " – brunt" }
                link rel="stylesheet" href=(Asset::PageStyle.path());
                link rel="stylesheet" href=(Asset::StudioStyle.path());
            }
            body {
                (above)
                main id="main" { (content) }
            }
        }
    };
    Html(page.into_string())
}

/// Returns the strip above the content of a page, with the links that the visitor may use.
pub fn strip(viewer: &Viewer, content: &Markup) -> Markup {
    html! {
        header class="studio" {
            a class="brand" href="/" { "brunt studio" }
            @if Visitor::can_run() {
                a href="/start" { (viewer.text("strip-start")) }
                a href="/record" { (viewer.text("strip-record")) }
                a href="/import" { (viewer.text("strip-import")) }
            }
            a href="/history" { (viewer.text("strip-history")) }
            @if Visitor::can_run() {
                a href="/retention" { (viewer.text("strip-retention")) }
            }
            (content)
            (session(viewer))
            (languages(viewer))
        }
    }
}

/// The choice of another language, for pages with an address.
fn languages(viewer: &Viewer) -> Markup {
    let others = Language::ALL.into_iter().filter(|language| *language != viewer.language);
    html! {
        @if let Some(address) = viewer.address.as_ref().filter(|_| Visitor::current().is_some()) {
            form class="language" action="/language" method="post" {
                (token_field())
                input type="hidden" name="address" value=(address);
                @for language in others {
                    button name="language" value=(language.tag()) lang=(language.tag()) { (language.name()) }
                }
            }
        }
    }
}

/// The name of the visitor's token, and the end of the session.
fn session(viewer: &Viewer) -> Markup {
    let visitor = Visitor::current();
    let name = visitor.as_ref().and_then(|visitor| visitor.name.as_deref());
    html! {
        @if let Some(name) = name {
            form action="/sign-out" method="post" {
                (token_field())
                span class="hint" { (name) }
                button { (viewer.text("strip-sign-out")) }
            }
        }
    }
}

/// Returns the field of a form with the visitor's token. The token shows that the form is from a page of the studio.
pub fn token_field() -> Markup {
    let visitor = Visitor::current();
    let token = visitor.as_ref().and_then(|visitor| visitor.form_token.as_ref());
    html! { @if let Some(token) = token { input type="hidden" name="token" value=(token.text()); } }
}

/// Returns a form for a change, if the visitor may make it.
pub fn post_form(action: &str, content: &Markup) -> Markup {
    if !Visitor::can_run() {
        return html! {};
    }
    html! {
        form action=(action) method="post" {
            (token_field())
            (content)
        }
    }
}

/// Returns a table that keys can scroll, too.
pub fn scrolled_table(name: &str, rows: &Markup) -> Markup {
    scrolled(name, &html! { table { (rows) } })
}

/// Returns a table of runs that keys can scroll, too.
pub fn scrolled_runs(name: &str, rows: &Markup) -> Markup {
    scrolled(name, &html! { table class="runs" { (rows) } })
}

fn scrolled(name: &str, table: &Markup) -> Markup {
    html! { div class="scroll" tabindex="0" role="group" aria-label=(name) { (table) } }
}

/// Returns lines that keys can scroll, too.
pub fn scrolled_lines(name: &str, lines: &str) -> Markup {
    html! { pre tabindex="0" role="group" aria-label=(name) { (lines) } }
}

/// Returns the messages of a process.
pub fn messages(viewer: &Viewer, lines: &str) -> Markup {
    html! { @if !lines.is_empty() { (scrolled_lines(&viewer.text("messages"), lines)) } }
}

/// Returns a value for a script.
pub fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_string(value).map_err(|error| Problem::internal(&error))?;
    let media_type = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}

/// A page that cannot be shown.
#[derive(Debug, Clone)]
pub struct Problem {
    /// Status of the reply.
    pub status: StatusCode,
    /// The problem and its remedy.
    pub text: Text,
}

impl Problem {
    /// A request that is wrong.
    pub fn bad_request(text: impl Into<Text>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.into() }
    }

    /// A request for something that does not exist.
    pub fn not_found(text: impl Into<Text>) -> Self {
        Self { status: StatusCode::NOT_FOUND, text: text.into() }
    }

    /// An error of this machine or of brunt.
    pub fn internal(error: &impl std::error::Error) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, text: error.to_string().into() }
    }

    /// Returns the page with the problem, in the language of the viewer.
    pub fn page(&self, viewer: &Viewer) -> Response {
        let text = viewer.format(&self.text);
        let title = viewer.text("problem-title");
        let content = html! {
            h1 { (title) }
            p class="problem" { (text) }
            p { a href="/" { (viewer.text("problem-runs")) } }
        };
        (self.status, page(viewer, &title, &strip(viewer, &html! {}), &content)).into_response()
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self { status: refusal.status(), text: refusal.text() }
    }
}

/// The reply is complete only after [`Problem::page`]: handlers need not pass on the viewer for problems.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.text.to_string()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}
