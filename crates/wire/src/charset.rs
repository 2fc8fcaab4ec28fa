//! Determines the character encoding of a body, and decodes its text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// Bytes at the start of a document that may declare its encoding (HTML standard, section
/// 13.2.3.2).
const PRESCAN: usize = 1024;

/// Charset and kind of a text, from its Content-Type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextType {
    charset: Option<&'static Encoding>,
    markup: Markup,
    is_text: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Markup {
    #[default]
    None,
    Html,
    Xml,
}

impl TextType {
    /// Parses a Content-Type (RFC 9110 section 8.3.1). An unknown charset counts as none.
    pub fn from_content_type(content_type: &str) -> Self {
        let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
        let essence = essence.trim().to_ascii_lowercase();
        let is_xml =
            matches!(essence.as_str(), "text/xml" | "application/xml") || essence.ends_with("+xml");
        let is_json = essence == "application/json" || essence.ends_with("+json");
        let markup = match essence.as_str() {
            "text/html" => Markup::Html,
            _ if is_xml => Markup::Xml,
            _ => Markup::None,
        };
        let charset = parameters.split(';').find_map(|parameter| {
            let (name, label) = parameter.split_once('=')?;
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset
                .then(|| Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes()))
        });
        let is_text = charset.is_some() || is_xml || is_json || essence.starts_with("text/");
        Self { charset: charset.flatten(), markup, is_text }
    }

    /// The declared encoding, if it is not UTF-8.
    pub fn foreign_charset(self) -> Option<&'static Encoding> {
        self.charset.filter(|charset| *charset != UTF_8)
    }

    /// Decodes a body. Its encoding is given by its byte order mark, the charset of its head,
    /// or its own declaration, in this order; the default is UTF-8. Bytes that are invalid in
    /// the encoding become U+FFFD.
    pub fn decode(self, body: &[u8]) -> DecodedText<'_> {
        let (encoding, mark) = Encoding::for_bom(body).unwrap_or_else(|| (self.encoding(body), 0));
        let (text, has_errors) = encoding.decode_without_bom_handling(&body[mark..]);
        DecodedText { text, encoding: encoding.name(), is_damaged: has_errors && self.is_text }
    }

    fn encoding(self, body: &[u8]) -> &'static Encoding {
        let declared = match self.markup {
            _ if self.charset.is_some() => self.charset,
            Markup::None => None,
            Markup::Html => html_charset(&prescan_text(body)),
            Markup::Xml => xml_charset(&prescan_text(body)),
        };
        declared.unwrap_or(UTF_8)
    }
}

/// A decoded body.
#[derive(Debug)]
pub struct DecodedText<'b> {
    /// The decoded text.
    pub text: Cow<'b, str>,
    /// Name of the encoding.
    pub encoding: &'static str,
    /// True if the body is text and contains bytes that are invalid in the encoding.
    pub is_damaged: bool,
}

fn prescan_text(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(PRESCAN)]).to_ascii_lowercase()
}

/// Returns the encoding that a `meta` element declares, outside of comments.
fn html_charset(prescan: &str) -> Option<&'static Encoding> {
    let mut rest = prescan;
    while let Some(index) = rest.find('<') {
        rest = &rest[index..];
        if rest.starts_with("<!--") {
            rest = rest.split_once("-->")?.1;
            continue;
        }
        let (tag, after) = rest.split_once('>')?;
        let label = tag.strip_prefix("<meta").and_then(|meta| label_after(meta, "charset"));
        if let Some(encoding) = label.and_then(|label| Encoding::for_label(label.as_bytes())) {
            return Some(declared_in_ascii(encoding));
        }
        rest = after;
    }
    None
}

/// Returns the encoding of an XML declaration (XML 1.0 section 4.3.3).
fn xml_charset(prescan: &str) -> Option<&'static Encoding> {
    let (declaration, _) = prescan.strip_prefix("<?xml")?.split_once("?>")?;
    Encoding::for_label(label_after(declaration, "encoding")?.as_bytes()).map(declared_in_ascii)
}

/// Replaces UTF-16 by UTF-8: a declaration that was readable byte by byte is not in UTF-16.
fn declared_in_ascii(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding }
}

/// Returns the value of `key = value` or `key="value"`.
fn label_after<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let value = text.split_once(key)?.1.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    value.split(|end: char| matches!(end, '"' | '\'' | ';' | '/') || end.is_whitespace()).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(content_type: &str, body: &[u8]) -> String {
        TextType::from_content_type(content_type).decode(body).text.into_owned()
    }

    #[test]
    fn the_mark_the_head_and_the_document_declare_an_encoding() {
        for (content_type, body, expected) in [
            ("text/plain; charset=iso-8859-1", &b"M\xfcller"[..], "Müller"),
            ("text/plain;Charset = \"ISO-8859-15\"", b"\xa4", "€"),
            ("application/json; charset=windows-1252", b"\"\x80\"", "\"€\""),
            ("text/plain; charset=shift_jis", b"\x83e\x83X\x83g", "テスト"),
            ("text/plain; charset=utf-16", b"a\0\xfc\0", "aü"),
            ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbf\xc3\xbc", "ü"),
            ("text/plain", b"\xff\xfea\0", "a"),
            ("", b"\xef\xbb\xbf{}", "{}"),
            ("text/html", b"<html><meta charset=latin1>\xfc", "<html><meta charset=latin1>ü"),
            (
                "text/html",
                b"<META http-equiv=x content='a; charset=\"latin1\"'>\xfc",
                "<META http-equiv=x content='a; charset=\"latin1\"'>ü",
            ),
            (
                "text/html",
                b"<!-- <meta charset=latin1> -->\xc3\xbc",
                "<!-- <meta charset=latin1> -->ü",
            ),
            (
                "text/html; charset=utf-8",
                b"<meta charset=latin1>\xc3\xbc",
                "<meta charset=latin1>ü",
            ),
            ("text/html", b"<meta charset=utf-16>\xc3\xbc", "<meta charset=utf-16>ü"),
            (
                "application/soap+xml",
                b"<?xml version='1.0' encoding='iso-8859-1'?>\xfc",
                "<?xml version='1.0' encoding='iso-8859-1'?>ü",
            ),
            (
                "text/plain",
                b"<?xml encoding='iso-8859-1'?>\xc3\xbc",
                "<?xml encoding='iso-8859-1'?>ü",
            ),
            ("text/plain; charset=no-such", b"\xc3\xbc", "ü"),
        ] {
            assert_eq!(text(content_type, body), expected, "{content_type}");
        }
    }

    #[test]
    fn invalid_bytes_of_an_encoding_are_reported_for_texts() {
        for (content_type, is_damaged) in
            [("text/plain", true), ("application/json", true), ("image/png", false), ("", false)]
        {
            let decoded = TextType::from_content_type(content_type).decode(b"M\xfcller");
            assert_eq!(
                (&*decoded.text, decoded.is_damaged),
                ("M\u{fffd}ller", is_damaged),
                "{content_type}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_round_trips_in_any_encoding(written: String, label in "(utf-8|windows-1252|koi8-r|gb18030|euc-jp)") {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let (bytes, _, is_unmappable) = encoding.encode(&written);
            // Some encoders write two characters as the same bytes: `¥` and `\\` of EUC-JP.
            let is_reversible = encoding.decode_without_bom_handling(&bytes).0 == written;
            prop_assume!(!is_unmappable && is_reversible && Encoding::for_bom(&bytes).is_none());
            let decoded = TextType::from_content_type(&format!("text/plain; charset={label}")).decode(&bytes);
            prop_assert_eq!((&*decoded.text, decoded.is_damaged), (written.as_str(), false));
        }

        #[test]
        fn nothing_panics(content_type: String, body: Vec<u8>) {
            let _ = TextType::from_content_type(&content_type).decode(&body);
            let _ = TextType::from_content_type("text/html").decode(&body);
            let _ = TextType::from_content_type("text/xml").decode(&body);
        }
    }
}
