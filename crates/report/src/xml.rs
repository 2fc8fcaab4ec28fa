//! Escapes text for XML.

/// Escapes text. A character that XML cannot represent becomes a question mark.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            // No `&apos;`: all attributes have double quotes.
            '"' => out += "&quot;",
            // Parsers read line breaks and tabs in attributes as spaces (XML 1.0, section 3.3.3).
            '\n' | '\t' => out.push(' '),
            // XML 1.0 does not allow most of these characters, not even escaped.
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
