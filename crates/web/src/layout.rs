//! The frame of a page.

use crate::assets::Asset;
use crate::visitor::Visitor;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use serde::Serialize;

/// Returns a page of the studio.
pub fn page(title: &str, above: &Markup, content: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
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
pub fn strip(content: &Markup) -> Markup {
    html! {
        header class="studio" {
            a class="brand" href="/" { "brunt studio" }
            @if Visitor::can_run() {
                a href="/start" { "Start a run" }
                a href="/import" { "Import a plan" }
                a href="/retention" { "Retention" }
            }
            (content)
            (session())
        }
    }
}

/// The name of the visitor's token, and the end of the session.
fn session() -> Markup {
    let visitor = Visitor::current();
    let name = visitor.as_ref().and_then(|visitor| visitor.name.as_deref());
    let token = visitor.as_ref().and_then(|visitor| visitor.form_token.as_ref());
    html! {
        @if let (Some(name), Some(token)) = (name, token) {
            form action="/sign-out" method="post" {
                input type="hidden" name="token" value=(token.text());
                span class="hint" { (name) }
                button { "Sign out" }
            }
        }
    }
}

/// Returns a form for a change, if the visitor may make it. Its token shows that it is from a page of the studio.
pub fn post_form(action: &str, token: &str, content: &Markup) -> Markup {
    if !Visitor::can_run() {
        return html! {};
    }
    html! {
        form action=(action) method="post" {
            input type="hidden" name="token" value=(token);
            (content)
        }
    }
}

/// Returns a value for a script.
///
/// # Errors
///
/// It cannot be written as JSON.
pub fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let text = serde_json::to_string(value).map_err(|error| Problem::internal(&error))?;
    let media_type = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}

/// A page that cannot be shown.
#[derive(Debug)]
pub struct Problem {
    /// Status of the reply.
    pub status: StatusCode,
    /// The problem and its remedy.
    pub text: String,
}

impl Problem {
    /// A request that is wrong.
    pub fn bad_request(text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, text: text.into() }
    }

    /// A request for something that does not exist.
    pub fn not_found(text: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, text: text.into() }
    }

    /// An error of this machine or of brunt.
    pub fn internal(error: &impl std::error::Error) -> Self {
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, text: error.to_string() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let content = html! { p class="problem" { (self.text) } p { a href="/" { "All runs" } } };
        (self.status, page("Not shown", &strip(&html! {}), &content)).into_response()
    }
}
