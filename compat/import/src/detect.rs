//! Recognizes the format of an input by its content.

use crate::ImportFormat;
use serde_json::{Map, Value};

/// Number of bytes of XML that are searched for the root element.
const HEAD_BYTES: usize = 4096;

/// Format of an input, which may also be a plan of JMeter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectedFormat {
    /// One of the formats of [`import`](crate::import).
    Other(ImportFormat),
    /// A plan of JMeter, for [`jmx::read`](crate::jmx::read).
    Jmx,
}

/// Returns the format of an input; None if it is unknown.
pub fn detect(text: &str) -> Option<DetectedFormat> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let format = match text.chars().next()? {
        '<' => {
            let end = (0..=HEAD_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
            let is_plan = text[..end.unwrap_or(0)].contains("<jmeterTestPlan");
            return is_plan.then_some(DetectedFormat::Jmx);
        }
        '{' => of_json(&serde_json::from_str(text).ok()?)?,
        _ => of_lines(text)?,
    };
    Some(DetectedFormat::Other(format))
}

fn of_json(document: &Map<String, Value>) -> Option<ImportFormat> {
    let has = |key: &str| document.contains_key(key);
    if document.get("log").is_some_and(|log| log.get("entries").is_some()) {
        Some(ImportFormat::Har)
    } else if has("openapi") || has("swagger") {
        Some(ImportFormat::Openapi)
    } else if has("info") && has("item") {
        Some(ImportFormat::Postman)
    } else {
        None
    }
}

fn of_lines(text: &str) -> Option<ImportFormat> {
    // Lists of URLs may begin with variables, as those of siege.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if lines.clone().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:")) {
        return Some(ImportFormat::Openapi);
    }
    let first = lines.find(|line| !is_assignment(line))?;
    let mut words = first.split_whitespace();
    // A weight, such as `[3]`, precedes the URL.
    let word = words.find(|word| !word.starts_with('['))?;
    if word == "curl" || word.ends_with("/curl") {
        Some(ImportFormat::Curl)
    } else {
        (word.contains("://") || word.starts_with("$(")).then_some(ImportFormat::Urls)
    }
}

/// True for a line such as `HOST = a.example`.
fn is_assignment(line: &str) -> bool {
    let name = line.split_once('=').map(|(name, _)| name.trim());
    name.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognized() {
        for (text, format) in [
            ("{\"log\": {\"entries\": []}}", ImportFormat::Har),
            ("\u{feff}{\"openapi\": \"3.1.0\"}", ImportFormat::Openapi),
            ("# an interface\nswagger: '2.0'\ninfo: {}", ImportFormat::Openapi),
            ("{\"info\": {}, \"item\": []}", ImportFormat::Postman),
            ("\n  curl 'http://a.example/'", ImportFormat::Curl),
            ("# urls\nHOST=a.example\nhttp://$HOST/", ImportFormat::Urls),
            ("HOST = http://a.example\n[3] $(HOST)/", ImportFormat::Urls),
            ("TOKEN=x\ncurl http://a.example/?a=b", ImportFormat::Curl),
        ] {
            assert_eq!(detect(text), Some(DetectedFormat::Other(format)), "{text}");
        }
        let jmx = "<?xml version=\"1.0\"?>\n<jmeterTestPlan version=\"1.2\">";
        assert_eq!(detect(jmx), Some(DetectedFormat::Jmx));
        for text in ["", "{}", "{\"a\"", "<html>", "load: {users: 1}", "\u{1f600}"] {
            assert_eq!(detect(text), None, "{text}");
        }
    }
}
