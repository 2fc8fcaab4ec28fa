//! The page on which a member of a team signs in with a token.

use super::starting;
use crate::fields::Fields;
use crate::guard::Refusal;
use crate::layout::{Problem, page, strip};
use crate::shared::{Shared, form, on_thread, unchecked_form};
use crate::texts::{ELEMENT, Viewer, message};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use std::sync::Arc;

/// Path of the page.
pub const PATH: &str = "/sign-in";

/// Shows the form.
pub async fn show(viewer: Viewer) -> Html<String> {
    sign_in_page("", &viewer)
}

/// Returns the form, with the reason why an earlier token was refused.
pub fn sign_in_page(problem: &str, viewer: &Viewer) -> Html<String> {
    let command = html! { code { "brunt studio token NAME read" } };
    let content = html! {
        h1 { (viewer.text("sign-in-title")) }
        @if !problem.is_empty() { p class="problem" { (problem) } }
        form class="filter" action=(PATH) method="post" {
            label { (viewer.text("sign-in-token")) " " input class="wide" type="password" name="secret" autocomplete="current-password" required autofocus; }
            button { (viewer.text("sign-in-title")) }
        }
        p class="hint" { (viewer.with_element(&message!("sign-in-hint", command = ELEMENT), &command)) }
    };
    page(viewer, &viewer.text("sign-in-title"), &strip(viewer, &html! {}), &content)
}

/// Admits a browser by a token.
///
/// # Errors
///
/// The form is too long or too slow.
pub async fn admit(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Response, Problem> {
    // The token of a form belongs to a session, and this visitor has none yet.
    let fields: Fields = unchecked_form(body).await?;
    on_thread(&shared, move |shared| match shared.guard.sign_in(fields.first("secret").trim()) {
        Ok(cookie) => admitted(&cookie, "/", &viewer),
        Err(Refusal::Token) => {
            let page = sign_in_page(&viewer.text("sign-in-no-token"), &viewer);
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
        Err(refusal) => Err(Problem::from(refusal)),
    })
    .await
}

/// Ends the session of a browser.
///
/// # Errors
///
/// The form is not from a page of this studio.
pub async fn sign_out(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    body: Body,
) -> Result<Response, Problem> {
    form(body).await?;
    admitted(&shared.guard.sign_out(), PATH, &viewer)
}

/// Sets the cookie, and leads to a page.
///
/// # Errors
///
/// The cookie cannot be a header.
pub fn admitted(cookie: &str, address: &str, viewer: &Viewer) -> Result<Response, Problem> {
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::internal(&error))?;
    // No redirect: browsers send a cookie with SameSite=Strict only after a page of the same site.
    let leads_on = HeaderValue::from_str(&format!("0;url={address}"))
        .map_err(|error| Problem::internal(&error))?;
    // A link works once, so no choice of a language may lead back to it.
    let viewer = Viewer { language: viewer.language, address: None };
    let title = viewer.text("link-title");
    let content =
        html! { h1 { (title) } p { a href=(address) { (viewer.text("link-continue")) } } };
    let page = page(&viewer, &title, &strip(&viewer, &html! {}), &content);
    Ok(([(header::SET_COOKIE, cookie), (header::REFRESH, leads_on)], page).into_response())
}

/// Sets the cookie, and leads to the list.
///
/// # Errors
///
/// The link was used, or never existed.
pub async fn open(
    State(shared): State<Arc<Shared>>,
    method: Method,
    viewer: Viewer,
    Path(key): Path<String>,
) -> Result<Response, Refusal> {
    lead_to(&shared, &method, &viewer, &key, "/")
}

/// Sets the cookie, and leads to the run of a process.
///
/// # Errors
///
/// The link was used, or never existed.
pub async fn open_process(
    State(shared): State<Arc<Shared>>,
    method: Method,
    viewer: Viewer,
    Path((key, process)): Path<(String, u32)>,
) -> Result<Response, Refusal> {
    lead_to(&shared, &method, &viewer, &key, &starting::address(process))
}

fn lead_to(
    shared: &Shared,
    method: &Method,
    viewer: &Viewer,
    key: &str,
    address: &str,
) -> Result<Response, Refusal> {
    // Programs that preview links, such as chats, look at the head first.
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let cookie = shared.guard.use_link(key)?;
    admitted(&cookie, address, viewer).map_err(|_| Refusal::Link)
}
