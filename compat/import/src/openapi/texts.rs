//! Example texts.

use super::demands::Demands;
use super::pattern;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Texts by format, pattern and the property's name, filled up or cut to the limits of the length.
pub(super) fn texts(name: &str, demands: &Demands<'_>, variant: usize) -> Vec<Value> {
    let least = demands.greatest("minLength").unwrap_or(0).min(1000);
    let most = demands.least("maxLength").unwrap_or(usize::MAX);
    let format = demands.first("format").and_then(Value::as_str).unwrap_or_default();
    let mut texts = vec![of_format(format, name, variant)];
    for pattern in demands.schemas.iter().filter_map(|schema| schema["pattern"].as_str()) {
        texts.extend(pattern::candidates(pattern, least, variant));
        // Usual rules for passwords are look-ahead, which `candidates` ignores.
        texts.push(format!("Aa1!Aa1!{variant}"));
        texts.push(format!("Aa1{variant}aaaa"));
    }
    texts.iter().map(|text| Value::String(of_length(text, least, most))).collect()
}

/// A text, filled up or cut to a length.
fn of_length(text: &str, least: usize, most: usize) -> String {
    let missing = least.saturating_sub(text.chars().count());
    text.chars().chain(std::iter::repeat_n('x', missing)).take(most).collect()
}

/// A text of a format; the property's name if it is unknown.
fn of_format(format: &str, name: &str, variant: usize) -> String {
    let number = variant % 100;
    let day = variant % 28 + 1;
    match format {
        "date-time" => format!("2026-01-{day:02}T12:00:00Z"),
        "date" => format!("2026-01-{day:02}"),
        "time" => format!("12:00:{:02}Z", number % 60),
        "duration" => format!("PT{}H", number + 1),
        "email" | "idn-email" if variant == 0 => "ann@example.com".to_owned(),
        "email" | "idn-email" => format!("ann{variant}@example.com"),
        "uuid" => format!("3f2504e0-4f89-41d3-9a0c-0305e82c33{number:02}"),
        "uri" | "url" | "iri" if variant == 0 => "http://127.0.0.1/".to_owned(),
        "uri" | "url" | "iri" => format!("http://127.0.0.1/{variant}"),
        "uri-reference" => format!("/{variant}"),
        "hostname" | "idn-hostname" if variant == 0 => "localhost".to_owned(),
        "hostname" | "idn-hostname" => format!("host{variant}.localhost"),
        "ipv4" => format!("127.0.0.{}", number + 1),
        "ipv6" => format!("::{}", number + 1),
        "byte" => STANDARD.encode(format!("text{variant}")),
        _ => {
            let word = if name.is_empty() { "text" } else { name };
            if variant == 0 { word.to_owned() } else { format!("{word}{variant}") }
        }
    }
}
