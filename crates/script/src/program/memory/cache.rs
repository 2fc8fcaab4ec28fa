//! Caches what a user knows of pages (RFC 9111): their versions, and how long they are fresh.
//! Bodies are not stored.

use super::{Fields, value};
use chrono::DateTime;
use std::collections::HashMap;

/// Maximum number of pages that a user remembers; further ones are requested again.
const MAX_PAGES: usize = 5_000;

/// Cached pages by URL.
#[derive(Default)]
pub struct Pages(HashMap<String, Page>);

struct Page {
    /// Header fields of a conditional request, which name the cached version.
    version: Vec<(String, String)>,
    /// Milliseconds since 1970.
    fresh_until: u64,
}

impl Pages {
    /// Stores a page that was received at `now`, in milliseconds since 1970.
    pub fn take(&mut self, url: &str, fields: &Fields, now: u64) {
        let page =
            Page { version: version(fields), fresh_until: now.saturating_add(lifetime(fields)) };
        if directives(fields).any(|directive| directive == "no-store") {
            self.0.remove(url);
        } else if self.0.len() < MAX_PAGES || self.0.contains_key(url) {
            // A full cache only updates the pages that it has.
            self.0.insert(url.to_owned(), page);
        }
    }

    /// True if a page need not be requested.
    pub fn is_fresh(&self, url: &str, now: u64) -> bool {
        self.0.get(url).is_some_and(|page| now < page.fresh_until)
    }

    /// Returns the header fields that name the cached version of a page.
    pub fn fields(&self, url: &str) -> &[(String, String)] {
        self.0.get(url).map_or(&[], |page| &page.version)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

fn version(fields: &Fields) -> Vec<(String, String)> {
    let conditions = [("last-modified", "If-Modified-Since"), ("etag", "If-None-Match")];
    let fields = conditions.iter().filter_map(|(validator, condition)| {
        Some(((*condition).to_owned(), value(fields, validator)?.to_owned()))
    });
    fields.collect()
}

/// Returns for how many milliseconds a page is fresh: as the server specifies, or a
/// tenth of its age.
fn lifetime(fields: &Fields) -> u64 {
    let mut all = directives(fields);
    if all.any(|directive| directive == "no-cache") {
        // The page must be validated before each use (RFC 9111, 5.2.2.4).
        return 0;
    }
    let seconds = directives(fields)
        .find_map(|directive| directive.strip_prefix("max-age=")?.trim_matches('"').parse().ok());
    if let Some(seconds) = seconds {
        return u64::saturating_mul(seconds, 1_000);
    }
    let sent = date_millis(fields, "date");
    match (value(fields, "expires"), date_millis(fields, "last-modified"), sent) {
        (Some(_), _, Some(sent)) => {
            date_millis(fields, "expires").map_or(0, |expires| expires.saturating_sub(sent))
        }
        // The heuristic of RFC 9111, 4.2.2.
        (None, Some(modified), Some(sent)) => sent.saturating_sub(modified) / 10,
        _ => 0,
    }
}

/// Returns a date field in milliseconds since 1970.
fn date_millis(fields: &Fields, name: &str) -> Option<u64> {
    let date = DateTime::parse_from_rfc2822(value(fields, name)?).ok()?;
    u64::try_from(date.timestamp_millis()).ok()
}

/// Returns the directives of Cache-Control in lower case.
fn directives(fields: &Fields) -> impl Iterator<Item = String> {
    let text = value(fields, "cache-control").unwrap_or_default().to_ascii_lowercase();
    text.split(',').map(|directive| directive.trim().to_owned()).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: (&str, &str) = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn fields(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_freshness_of_a_page_follows_its_headers() {
        for (told, millis) in [
            (&[("Cache-Control", "public, max-age=60")][..], 60_000),
            (
                &[
                    ("Cache-Control", "MAX-AGE=\"5\""),
                    ("Expires", "Sun, 06 Nov 1994 09:49:37 GMT"),
                    DATE,
                ],
                5_000,
            ),
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
    fn pages_are_cached_by_url() {
        let mut pages = Pages::default();
        pages.take(
            "http://h/a",
            &fields(&[("Cache-Control", "max-age=1"), ("ETag", "\"v1\"")]),
            5_000,
        );
        assert!(pages.is_fresh("http://h/a", 5_999) && !pages.is_fresh("http://h/a", 6_000));
        assert!(!pages.is_fresh("http://h/b", 5_000));
        assert_eq!(pages.fields("http://h/a"), fields(&[("If-None-Match", "\"v1\"")]));
        pages.take("http://h/a", &fields(&[("Cache-Control", "no-store")]), 5_000);
        assert_eq!(pages.fields("http://h/a"), []);
    }
}
