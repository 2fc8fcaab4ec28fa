//! Caches the URL of an entry's last request, which the next one often shares.

use crate::texts::dialect::Dialect;
use brunt_wire::request::parse_url;
use std::cell::RefCell;
use std::rc::Rc;
use url::Url;

/// The text of the last URL, and the parsed URL: an unchanged text is parsed only once.
#[derive(Debug, Default)]
pub struct LastUrl(RefCell<Option<(String, Rc<Url>)>>);

impl LastUrl {
    /// Parses a URL, or returns the last one.
    ///
    /// # Errors
    ///
    /// Describes a URL that is malformed, has an unsupported protocol, or is
    /// refused by the dialect.
    pub fn parse(&self, text: &str, dialect: Dialect) -> Result<Rc<Url>, String> {
        let mut last = self.0.borrow_mut();
        if let Some((_, url)) = last.as_ref().filter(|(known, _)| known == text) {
            return Ok(Rc::clone(url));
        }
        if let Some(refusal) = dialect.url_refusal(text) {
            return Err(refusal);
        }
        let url = Rc::new(parse_url(text).map_err(|error| error.to_string())?);
        *last = Some((text.to_owned(), Rc::clone(&url)));
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_is_another_url() {
        let last = LastUrl::default();
        let parse = |text| last.parse(text, Dialect::Expressions).map(|url| url.to_string());
        for (text, url) in [
            ("http://h:1/a", "http://h:1/a"),
            ("http://h:1/a", "http://h:1/a"),
            ("http://h", "http://h/"),
        ] {
            assert_eq!(parse(text), Ok(url.to_owned()));
        }
        assert!(parse("ftp://h").unwrap_err().contains("brunt speaks"));
        assert_eq!(parse("http://h"), Ok("http://h/".into()));
    }
}
