//! Texts of the pages, in the language of the viewer: messages of `texts/en` and `texts/zh`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use brunt_model::text::Catalog;
use brunt_model::{Language, Text};
use maud::{Markup, html};

/// The texts of the studio's pages.
pub static STUDIO: Catalog =
    Catalog::new(include_str!("../texts/en/studio.ftl"), include_str!("../texts/zh/studio.ftl"));

/// Name of the cookie with the language that a viewer has chosen.
pub const LANGUAGE_COOKIE: &str = "brunt-language";

/// Argument in place of an element, such as a link: see [`Viewer::with_element`].
pub const ELEMENT: &str = "\u{fffc}";

/// Creates a [`Text`](brunt_model::Text) of a message of the studio, as `brunt_model::text!` does of findings:
/// `message!("try-of-file", number, file = name)`.
macro_rules! message {
    ($($message:tt)*) => {
        ::brunt_model::text::of_catalog!(in $crate::texts::STUDIO, $($message)*)
    };
}
pub(crate) use message;

/// The viewer of a page.
#[derive(Debug, Clone, Default)]
pub struct Viewer {
    /// Language of the viewer.
    pub language: Language,
    /// Address of the page; None for the result of a form, which has no address.
    pub address: Option<String>,
}

impl Viewer {
    /// Returns the viewer who sent a request.
    pub fn of_request(request: &Parts) -> Self {
        let address = request.uri.path_and_query().map(ToString::to_string);
        Self {
            language: language_of(&request.headers),
            // The choice of a language leads back with GET, and a form's result has no such page.
            address: address.filter(|_| request.method == Method::GET),
        }
    }

    /// Returns a message without arguments.
    pub fn text(&self, id: &'static str) -> String {
        let text = STUDIO.format(self.language, id, &[]);
        debug_assert!(text.is_some(), "unknown message {id}");
        text.unwrap_or_else(|| id.to_owned())
    }

    /// Returns a text in the language of the viewer.
    pub fn format(&self, text: &Text) -> String {
        text.in_language(self.language).into_owned()
    }

    /// Returns a text with an element at the place of its argument [`ELEMENT`].
    pub fn with_element(&self, text: &Text, element: &Markup) -> Markup {
        let text = self.format(text);
        let (before, after) = text.split_once(ELEMENT).unwrap_or((&text, ""));
        html! { (before) (element) (after) }
    }
}

/// Language of a request: the one that the viewer has chosen, else the first known one that the browser accepts.
pub fn language_of(headers: &HeaderMap) -> Language {
    chosen_language(headers).or_else(|| accepted_language(headers)).unwrap_or_default()
}

/// Language of the cookie.
fn chosen_language(headers: &HeaderMap) -> Option<Language> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == LANGUAGE_COOKIE).and_then(|(_, tag)| Language::from_tag(tag))
}

/// The known language of the highest quality; of several, the first one.
fn accepted_language(headers: &HeaderMap) -> Option<Language> {
    let lines = headers.get_all(header::ACCEPT_LANGUAGE).iter();
    let ranges = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    let mut best: Option<(f64, Language)> = None;
    for range in ranges {
        let (tag, parameters) = range.split_once(';').unwrap_or((range, ""));
        let Some(language) = Language::from_tag(tag.trim()) else { continue };
        let quality = quality(parameters);
        // A quality of 0 means that the language is not acceptable (RFC 9110, 12.4.2).
        if quality > best.map_or(0.0, |(quality, _)| quality) {
            best = Some((quality, language));
        }
    }
    best.map(|(_, language)| language)
}

/// Quality of a range of languages, such as `q=0.8`; 0 if it is malformed.
fn quality(parameters: &str) -> f64 {
    match parameters.trim().split_once('=') {
        None if parameters.trim().is_empty() => 1.0,
        Some((name, value)) if name.trim().eq_ignore_ascii_case("q") => {
            let quality = value.trim().parse().unwrap_or(0.0);
            // Rust also parses `NaN` and `inf`, which are no qualities.
            if (0.0..=1.0).contains(&quality) { quality } else { 0.0 }
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn language(cookie: &[u8], accepted: &[u8]) -> &'static str {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_bytes(cookie).unwrap());
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_bytes(accepted).unwrap());
        language_of(&headers).tag()
    }

    #[test]
    fn the_first_accepted_language_of_the_highest_quality_is_used() {
        for (accepted, expected) in [
            ("", "en"),
            ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
            ("en-US,en;q=0.9,zh;q=0.8", "en"),
            ("en;q=0.3, zh;q=0.7", "zh"),
            ("de-DE, fr;q=0.9, ZH-hans;q=0.1", "zh"),
            ("zh;q=0.5,en;q=0.5", "zh"),
            ("zh;q=0", "en"),
            ("zh;q=0,en;q=0.1", "en"),
            ("de, *;q=0.5", "en"),
            ("zh ; Q = 0.9 , en;q=0.2", "zh"),
        ] {
            assert_eq!(language(b"", accepted.as_bytes()), expected, "{accepted}");
        }
    }

    #[test]
    fn a_chosen_language_counts_more_than_accepted_ones() {
        for (cookie, expected) in [
            ("brunt-language=zh", "zh"),
            ("other=1; brunt-language=zh; more=2", "zh"),
            ("brunt-language=en", "en"),
            ("xbrunt-language=zh", "en"),
        ] {
            assert_eq!(language(cookie.as_bytes(), b"en"), expected, "{cookie}");
        }
        assert_eq!(language(b"brunt-language=en", b"zh"), "en");
        assert_eq!(language(b"brunt-language=tlh", b"zh"), "zh", "an unknown choice");
    }

    #[test]
    fn garbage_is_english() {
        for garbage in
            ["zh;q=1.5", "zh;q=NaN", "zh;q=-1", "zh;q=x", "zh;x", ";;;,,,=", "zhx", "-zh", "z h"]
        {
            assert_eq!(language(b"brunt-language", garbage.as_bytes()), "en", "{garbage}");
        }
        assert_eq!(language(b"brunt-language=\xff", b"\xff\xfe, zh"), "en");
        assert_eq!(language(&b"brunt-language=".repeat(999), &b"zh;q=0,".repeat(999)), "en");
    }

    #[test]
    fn an_element_is_where_the_language_has_it() {
        let code = html! { code { "brunt URL" } };
        let text = message!("runs-none", command = ELEMENT);
        for language in Language::ALL {
            let viewer = Viewer { language, ..Viewer::default() };
            let text = viewer.with_element(&text, &code).into_string();
            assert!(text.contains("<code>brunt URL</code>") && !text.contains(ELEMENT), "{text}");
        }
    }
}
