//! Finds the elements of a page: images, style sheets, scripts, a
//! background, and automatic redirects.
//!
//! This is a search for tags, not an HTML parser: it skips comments, and runs no scripts.

/// A tag, the attribute with the URL of the element, and the required value of another attribute.
type Tag = (&'static str, &'static str, Option<(&'static str, &'static str)>);

const TAGS: &[Tag] = &[
    ("img", "src", None),
    ("script", "src", None),
    ("link", "href", Some(("rel", "stylesheet"))),
    ("body", "background", None),
    ("meta", "content", Some(("http-equiv", "refresh"))),
];

/// Returns the URLs of the elements as written, in order.
pub fn elements(html: &str) -> Vec<String> {
    let mut urls = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, remainder)| remainder);
            continue;
        }
        let (tag, remainder) = tag(rest);
        // The text of a script may contain `<`.
        rest = if is_script(tag) {
            remainder.split_once("</").map_or("", |(_, text)| text)
        } else {
            remainder
        };
        urls.extend(element(tag));
    }
    urls
}

/// True if the text after a tag is no HTML.
fn is_script(tag: &str) -> bool {
    tag.get(..6).is_some_and(|name| name.eq_ignore_ascii_case("script")) && !tag.ends_with('/')
}

/// Splits a text after a tag. Returns the tag without its brackets, and the text after it. A
/// bracket in quotes does not end the tag.
fn tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '>') => return (&text[..at], &text[at + 1..]),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    // The quotes are unbalanced: the next bracket ends the tag.
    text.split_once('>').unwrap_or((text, ""))
}

fn element(tag: &str) -> Option<String> {
    let name = tag.split(|c: char| c.is_whitespace() || c == '/').next()?;
    let (_, url_attribute, condition) = TAGS.iter().find(|row| row.0.eq_ignore_ascii_case(name))?;
    let attributes = attributes(&tag[name.len()..]);
    if let Some((key, word)) = condition
        && !value_of(&attributes, key)?
            .to_ascii_lowercase()
            .split_whitespace()
            .any(|other| other == *word)
    {
        return None;
    }
    let value = value_of(&attributes, url_attribute)?;
    let value = if name.eq_ignore_ascii_case("meta") { refresh(value)? } else { value };
    // A `data:` URL contains the element itself.
    Some(value.trim().replace("&amp;", "&"))
        .filter(|url| !url.is_empty() && !url.starts_with("data:"))
}

fn value_of<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns the target of `5; url=/there`.
fn refresh(content: &str) -> Option<&str> {
    let (_, target) = content.split_once(';')?;
    let (key, url) = target.split_once('=')?;
    key.trim().eq_ignore_ascii_case("url").then(|| url.trim().trim_matches(['"', '\'']))
}

/// Returns the attributes of a tag: names in lower case, and values.
fn attributes(text: &str) -> Vec<(String, String)> {
    let mut attributes = Vec::new();
    let mut rest = text;
    while let Some((name, remainder)) = rest.split_once('=') {
        // Attributes without a value may come before the name.
        let name = name.split_whitespace().next_back().unwrap_or_default().to_ascii_lowercase();
        let remainder = remainder.trim_start();
        let quote = remainder.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => remainder[1..].split_once(quote).unwrap_or((&remainder[1..], "")),
            None => remainder
                .split_once(char::is_whitespace)
                .unwrap_or((remainder.trim_end_matches('/'), "")),
        };
        attributes.push((name, value.to_owned()));
        rest = after;
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_resources_are_found_in_order() {
        let html = r#"<!DOCTYPE html><HTML><head><meta http-equiv="refresh" content="5; url=/next">
            <LINK rel="shortcut icon" href="/i.ico"><link href='/s.css' rel="alternate StyleSheet">
            <script>if (a < b) x("<img src=c.png>")</script><script src=x.js></script></head>
            <!-- <img src="no.png"> --><body class=a background="bg.png"><a href="/away">away</a>
            <img alt="a > b" src="/i.png?a=1&amp;b=2"/><img src=j.png/><img src=""><img src="data:x"></body>"#;
        assert_eq!(
            elements(html),
            ["/next", "/s.css", "x.js", "bg.png", "/i.png?a=1&b=2", "j.png"].map(str::to_owned)
        );
    }

    #[test]
    fn a_truncated_page_is_parsed_to_its_end() {
        assert_eq!(elements("<img src=\"a.png><img src=b.png>"), ["a.png", "b.png"]);
        assert_eq!(elements("<img src=a.png"), ["a.png"]);
        assert!(elements("<<>< img").is_empty());
    }
}
