//! The page on which a member of a team signs in with a token.

use super::starting;
use crate::fields::Fields;
use crate::guard::Refusal;
use crate::layout::{Problem, page, strip};
use crate::shared::{Shared, form, unchecked_form};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::html;
use std::sync::Arc;

/// Path of the page.
pub const PATH: &str = "/sign-in";

/// Shows the form.
pub async fn show() -> Html<String> {
    sign_in_page("")
}

/// Returns the form, with the reason why an earlier token was refused.
pub fn sign_in_page(problem: &str) -> Html<String> {
    let content = html! {
        h1 { "Sign in" }
        @if !problem.is_empty() { p class="problem" { (problem) } }
        form class="filter" action=(PATH) method="post" {
            label { "Token " input class="wide" type="password" name="secret" autocomplete="current-password" required autofocus; }
            button { "Sign in" }
        }
        p class="hint" { "The operator of this studio makes tokens with " code { "brunt studio token NAME read" } "." }
    };
    page("Sign in", &strip(&html! {}), &content)
}

/// Admits a browser by a token.
///
/// # Errors
///
/// The form is too long or too slow.
pub async fn admit(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    let fields: Fields = unchecked_form(body).await?;
    match shared.guard.sign_in(fields.first("secret").trim()) {
        Ok(cookie) => admitted(&cookie, "/"),
        Err(Refusal::Token) => {
            let page = sign_in_page("There is no such token.");
            Ok((StatusCode::UNAUTHORIZED, page).into_response())
        }
        Err(refusal) => Err(Problem { status: refusal.status(), text: refusal.text().to_owned() }),
    }
}

/// Ends the session of a browser.
///
/// # Errors
///
/// The form is not from a page of this studio.
pub async fn sign_out(State(shared): State<Arc<Shared>>, body: Body) -> Result<Response, Problem> {
    form(&shared, body).await?;
    admitted(&shared.guard.sign_out(), PATH)
}

/// Sets the cookie, and leads to a page.
///
/// # Errors
///
/// The cookie cannot be a header.
pub fn admitted(cookie: &str, address: &str) -> Result<Response, Problem> {
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::internal(&error))?;
    // No redirect: browsers send a cookie with SameSite=Strict only after a page of the same site.
    let leads_on = HeaderValue::from_str(&format!("0;url={address}"))
        .map_err(|error| Problem::internal(&error))?;
    let content = html! { p { a href=(address) { "Continue" } } };
    let page = page("Studio", &strip(&html! {}), &content);
    Ok(([(header::SET_COOKIE, cookie), (header::REFRESH, leads_on)], page).into_response())
}

/// Sets the cookie, and leads to the list.
///
/// # Errors
///
/// The link was used, or never existed.
pub async fn open(
    State(shared): State<Arc<Shared>>,
    Path(key): Path<String>,
) -> Result<Response, Refusal> {
    lead_to(&shared, &key, "/")
}

/// Sets the cookie, and leads to the run of a process.
///
/// # Errors
///
/// The link was used, or never existed.
pub async fn open_process(
    State(shared): State<Arc<Shared>>,
    Path((key, process)): Path<(String, u32)>,
) -> Result<Response, Refusal> {
    lead_to(&shared, &key, &starting::address(process))
}

fn lead_to(shared: &Shared, key: &str, address: &str) -> Result<Response, Refusal> {
    let cookie = shared.guard.use_link(key)?;
    admitted(&cookie, address).map_err(|_| Refusal::Link)
}
