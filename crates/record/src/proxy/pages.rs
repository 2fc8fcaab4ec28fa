//! Groups the requests of a proxy by page.
//!
//! A page begins with a navigation, which browsers mark, or after a pause. Other programs have no navigations, so their
//! requests are grouped by pauses only.

use crate::exchange::field;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{ExchangeReply, ReplyBody};

    const NAVIGATION: [(&str, &str); 2] =
        [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];

    fn exchange(path: &str, started: f64, headers: &[(&str, &str)]) -> Exchange {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let media_type = if path.contains("json") { "application/json" } else { "text/html" };
        let text = format!("<title>Page of {path}</title>");
        Exchange {
            kind: kind(&headers).to_owned(),
            method: "GET".to_owned(),
            url: format!("http://shop.example{path}"),
            headers,
            started,
            ended: started + 0.1,
            reply: Some(ExchangeReply {
                status: 200,
                media_type: media_type.to_owned(),
                ..ExchangeReply::default()
            }),
            body: Some(ReplyBody { text, is_base64: false }),
            ..Exchange::default()
        }
    }

    fn redirect(mut exchange: Exchange, location: &str) -> Exchange {
        let reply = exchange.reply.as_mut().unwrap();
        reply.status = 302;
        reply.headers.push(("location".to_owned(), location.to_owned()));
        exchange.body = None;
        exchange
    }

    /// Page of each exchange, and titles of pages.
    fn assigned(mut exchanges: Vec<Exchange>) -> (Vec<usize>, Vec<String>) {
        let pages = assign(&mut exchanges);
        let numbers = exchanges.iter().map(|exchange| exchange.page.unwrap()).collect();
        (numbers, pages.into_iter().map(|page| page.title).collect())
    }

    #[test]
    fn a_navigation_begins_a_page_and_its_redirects_stay_in_it() {
        let (numbers, titles) = assigned(vec![
            redirect(exchange("/login", 0.0, &NAVIGATION), "/cart#top"),
            exchange("/cart", 0.2, &NAVIGATION),
            exchange(
                "/items.json",
                0.4,
                &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")],
            ),
            exchange(
                "/frame",
                0.5,
                &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
            ),
            exchange("/orders", 0.9, &NAVIGATION),
            // The same address again is another page.
            exchange("/orders", 1.2, &NAVIGATION),
        ]);
        assert_eq!(numbers, [0, 0, 0, 0, 1, 2]);
        assert_eq!(titles, ["Page of /cart", "Page of /orders", "Page of /orders"]);
    }

    #[test]
    fn requests_of_other_programs_are_grouped_by_pauses() {
        let (numbers, titles) = assigned(vec![
            exchange("/a.json", 0.0, &[]),
            exchange("/b.json", 1.9, &[]),
            exchange("/c.json", 4.2, &[]),
            // A browser that sends no `Sec-Fetch` fields, and one of its scripts.
            exchange("/shop", 4.4, &[("accept", "text/html,*/*")]),
            exchange("/part", 4.5, &[("accept", "text/html"), ("x-requested-with", "fetch")]),
        ]);
        assert_eq!(numbers, [0, 0, 1, 2, 2]);
        assert_eq!(titles, ["", "", "Page of /shop"]);
    }
}
