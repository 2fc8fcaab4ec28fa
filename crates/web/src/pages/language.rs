//! The choice of a language, which a cookie keeps.

use crate::layout::Problem;
use crate::shared::form;
use crate::texts::{LANGUAGE_COOKIE, message};
use axum::body::Body;
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use brunt_model::Language;

/// Time for which browsers keep a choice, in seconds: a year.
const MAX_AGE: u32 = 31_536_000;

/// Keeps the language of a form in a cookie, and leads back to the page.
///
/// # Errors
///
/// The form has no known language.
pub async fn choose(body: Body) -> Result<Response, Problem> {
    let fields = form(body).await?;
    let tag = fields.first("language");
    let language = Language::from_tag(tag)
        .ok_or_else(|| Problem::bad_request(message!("language-unknown", tag)))?;
    let tag = language.tag();
    let cookie =
        format!("{LANGUAGE_COOKIE}={tag}; Path=/; HttpOnly; SameSite=Strict; Max-Age={MAX_AGE}");
    let cookie = HeaderValue::from_str(&cookie).map_err(|error| Problem::internal(&error))?;
    let address = own_address(fields.first("address"));
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(&address)).into_response())
}

/// Path and query of an address of the studio; that of the list for any other one.
fn own_address(address: &str) -> String {
    let uri: Option<Uri> = address.parse().ok();
    let uri = uri.filter(|uri| uri.authority().is_none() && uri.scheme().is_none());
    let path = uri.as_ref().and_then(Uri::path_and_query).map(ToString::to_string);
    // Browsers read `//` and `/\\` as the beginning of a host.
    let path = path.filter(|path| path.starts_with('/') && !path[1..].starts_with(['/', '\\']));
    path.unwrap_or_else(|| "/".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_leads_to_no_other_site() {
        for own in ["/", "/?q=a&tag=b%20c", "/runs/last?only=label:x"] {
            assert_eq!(own_address(own), own);
        }
        for foreign in [
            "",
            "runs",
            "//evil.example/",
            "/\\evil.example/",
            "http://evil.example/",
            "javascript:alert(1)",
            "/\r\nLocation: x",
            "*",
        ] {
            assert_eq!(own_address(foreign), "/", "{foreign}");
        }
    }
}
