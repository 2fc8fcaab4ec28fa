//! Groups the requests of a proxy by page.
//!
//! A page begins with a navigation, which browsers mark, or after a pause. Other programs have no navigations, so their
//! requests are grouped by pauses only.

use super::traffic::field;
use crate::exchange::{Exchange, RecordedPage};
use brunt_script::unescaped;
use regex::Regex;
use std::sync::LazyLock;
use url::Url;

/// Time without requests after which another page begins, in seconds.
const PAUSE_SECONDS: f64 = 2.0;

/// Maximum time from a redirect to the request that it leads to, in seconds.
const REDIRECT_SECONDS: f64 = 10.0;

static TITLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<title[^>]*>(.{1,300}?)</title>").ok());

/// Type of resource of a request, as browsers record it; `other` if the client does not send it.
pub(super) fn kind(headers: &[(String, String)]) -> &'static str {
    match field(headers, "sec-fetch-dest") {
        "document" | "iframe" | "frame" | "object" | "embed" => "document",
        "script" | "worker" | "sharedworker" | "serviceworker" | "audioworklet"
        | "paintworklet" => "script",
        "style" | "xslt" => "stylesheet",
        "image" => "image",
        "font" => "font",
        "audio" | "video" => "media",
        "track" => "texttrack",
        "manifest" => "manifest",
        "report" => "csp-violation-report",
        "empty" if field(headers, "accept").contains("text/event-stream") => "eventsource",
        "empty" => "fetch",
        _ => "other",
    }
}

/// Assigns each request to a page, in order of time. Returns the pages.
pub(super) fn assign(exchanges: &mut [Exchange]) -> Vec<RecordedPage> {
    let mut pages: Vec<RecordedPage> = Vec::new();
    let mut ended = 0.0_f64;
    let mut redirect = None;
    for exchange in exchanges {
        let is_follower = redirect.as_ref().is_some_and(|redirect: &Redirect| {
            redirect.target == exchange.url && exchange.started < redirect.time + REDIRECT_SECONDS
        });
        let is_navigation = is_navigation(exchange);
        let is_late = exchange.started > ended + PAUSE_SECONDS;
        if pages.is_empty() || !is_follower && (is_navigation || is_late) {
            let url = exchange.url.clone();
            pages.push(RecordedPage { url, title: String::new(), wall: exchange.wall });
        }
        if is_follower || is_navigation {
            redirect = Redirect::of(exchange);
        }
        ended = ended.max(exchange.ended);
        exchange.page = Some(pages.len() - 1);
        if let Some(page) = pages.last_mut().filter(|page| page.title.is_empty()) {
            page.title = title(exchange).unwrap_or_default();
        }
    }
    pages
}

/// A redirect of a navigation.
struct Redirect {
    target: String,
    time: f64,
}

impl Redirect {
    fn of(exchange: &Exchange) -> Option<Self> {
        let reply = exchange.reply.as_ref().filter(|reply| (300..400).contains(&reply.status))?;
        let target =
            Url::parse(&exchange.url).ok()?.join(field(&reply.headers, "location")).ok()?;
        Some(Self { target: without_fragment(target), time: exchange.ended })
    }
}

fn without_fragment(mut url: Url) -> String {
    url.set_fragment(None);
    url.into()
}

/// True if a user has opened a page with this request.
fn is_navigation(exchange: &Exchange) -> bool {
    let headers = &exchange.headers;
    let mode = field(headers, "sec-fetch-mode");
    if !field(headers, "sec-purpose").is_empty() {
        return false;
    }
    if !mode.is_empty() {
        return mode == "navigate" && field(headers, "sec-fetch-dest") == "document";
    }
    // Browsers before 2023, and those that speak HTTP without TLS: they send no `Sec-Fetch` fields.
    let Some(reply) = &exchange.reply else { return false };
    let is_page = reply.media_type.starts_with("text/html") || (300..400).contains(&reply.status);
    is_page
        && ["GET", "POST"].contains(&exchange.method.as_str())
        && field(headers, "accept").contains("text/html")
        && field(headers, "x-requested-with").is_empty()
}

/// Title of an HTML page.
fn title(exchange: &Exchange) -> Option<String> {
    let reply = exchange.reply.as_ref()?;
    let is_page = reply.media_type.starts_with("text/html")
        && matches!(exchange.kind.as_str(), "document" | "other");
    let body = exchange.body.as_ref().filter(|body| is_page && !body.is_base64)?;
    let title = TITLE.as_ref()?.captures(&body.text)?;
    let text = unescaped(&title[1]);
    let words: Vec<&str> = text.split_whitespace().collect();
    Some(words.join(" ")).filter(|title| !title.is_empty())
}
