//! What a user keeps of pages that it got (RFC 9111): their versions, and until when they are fresh. Bodies are not kept.

use super::{Fields, value};
use chrono::DateTime;
use std::collections::HashMap;

/// Of each user so many pages are remembered, at most; further ones are asked for anew.
const MOST_PAGES: usize = 5_000;

/// By URL, what is known of pages.
#[derive(Default)]
pub struct Pages(HashMap<String, Page>);

struct Page {
    /// What tells the server which version is there.
    version: Vec<(String, String)>,
    /// Milliseconds since 1970.
    fresh_until: u64,
}

impl Pages {
    /// A page came, at this time in milliseconds since 1970.
    pub fn take(&mut self, url: &str, fields: &Fields, now: u64) {
        let page = Page { version: version(fields), fresh_until: now.saturating_add(lifetime(fields)) };
        let says = |word: &str| directives(fields).any(|directive| directive == word);
        if says("no-store") {
            self.0.remove(url);
        } else if self.0.len() < MOST_PAGES || self.0.contains_key(url) {
            self.0.insert(url.to_owned(), page);
        }
    }

    /// Whether a page need not be asked for.
    pub fn is_fresh(&self, url: &str, now: u64) -> bool {
        self.0.get(url).is_some_and(|page| now < page.fresh_until)
    }

    /// The header fields that tell the server which version is there.
    pub fn fields(&self, url: &str) -> &[(String, String)] {
        self.0.get(url).map_or(&[], |page| &page.version)
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

fn version(fields: &Fields) -> Vec<(String, String)> {
    let asks = [("last-modified", "If-Modified-Since"), ("etag", "If-None-Match")];
    let fields = asks.iter().filter_map(|(told, asked)| Some(((*asked).to_owned(), value(fields, told)?.to_owned())));
    fields.collect()
}

/// Milliseconds for which a page is fresh: what the server says, or a tenth of its age.
fn lifetime(fields: &Fields) -> u64 {
    let mut all = directives(fields);
    if all.any(|directive| directive == "no-cache") {
        return 0;
    }
    let seconds =
        directives(fields).find_map(|directive| directive.strip_prefix("max-age=")?.trim_matches('"').parse().ok());
    if let Some(seconds) = seconds {
        return u64::saturating_mul(seconds, 1_000);
    }
    let date = |name: &str| {
        let date = DateTime::parse_from_rfc2822(value(fields, name)?).ok()?;
        u64::try_from(date.timestamp_millis()).ok()
    };
    let sent = date("date");
    match (value(fields, "expires"), date("last-modified"), sent) {
        (Some(_), _, Some(sent)) => date("expires").map_or(0, |expires| expires.saturating_sub(sent)),
        (None, Some(modified), Some(sent)) => sent.saturating_sub(modified) / 10,
        _ => 0,
    }
}

/// What Cache-Control says, in lower case.
fn directives(fields: &Fields) -> impl Iterator<Item = String> {
    let told = value(fields, "cache-control").unwrap_or_default().to_ascii_lowercase();
    told.split(',').map(|directive| directive.trim().to_owned()).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: (&str, &str) = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_page_is_fresh_as_long_as_the_server_says() {
        for (told, millis) in [
            (&[("Cache-Control", "public, max-age=60")][..], 60_000),
            (&[("Cache-Control", "MAX-AGE=\"5\""), ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT"), DATE], 5_000),
            (&[("Cache-Control", "no-cache, max-age=60")], 0),
            (&[("Cache-Control", "max-age=never")], 0),
            (&[("Expires", "Sun, 06 Nov 1994 08:49:47 GMT"), DATE], 10_000),
            (&[("Expires", "0"), ("Last-Modified", "Sun, 06 Nov 1994 08:48:37 GMT"), DATE], 0),
            (&[("Last-Modified", "Sun, 06 Nov 1994 08:48:37 GMT"), DATE], 6_000),
            (&[("Last-Modified", "Sun, 06 Nov 1994 08:48:37 GMT")], 0),
            (&[("Last-Modified", "Sun, 06 Nov 1994 08:50:37 GMT"), DATE], 0),
            (&[], 0),
        ] {
            assert_eq!(lifetime(&fields(told)), millis, "{told:?}");
        }
    }

    #[test]
    fn pages_are_remembered_by_url() {
        let mut pages = Pages::default();
        pages.take("http://h/a", &fields(&[("Cache-Control", "max-age=1"), ("ETag", "\"v1\"")]), 5_000);
        assert!(pages.is_fresh("http://h/a", 5_999) && !pages.is_fresh("http://h/a", 6_000));
        assert!(!pages.is_fresh("http://h/b", 5_000));
        assert_eq!(pages.fields("http://h/a"), fields(&[("If-None-Match", "\"v1\"")]));
        pages.take("http://h/a", &fields(&[("Cache-Control", "no-store")]), 5_000);
        assert_eq!(pages.fields("http://h/a"), []);
    }
}
