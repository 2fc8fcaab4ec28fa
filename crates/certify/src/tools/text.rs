//! Parses the output of tools: numbers after labels, times with units.

use serde_json::Value;

/// Returns the first number after a label.
pub fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = &text[text.find(label)? + label.len()..];
    first_number(rest)
}

/// Returns the first number of a text.
pub fn first_number(text: &str) -> Option<f64> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[begin..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

/// Parses a time such as `5.05ms`, `16us`, `1.20s`, `1.50m`, in seconds.
pub fn time(word: &str) -> Option<f64> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let scale = match &word[end..] {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(word[..end].parse::<f64>().ok()? * scale)
}

/// Returns the words of the first line with this start, ignoring its indentation.
pub fn line_words<'a>(text: &'a str, start: &str) -> Option<Vec<&'a str>> {
    let line = text.lines().find(|line| line.trim_start().starts_with(start))?;
    Some(line.split_whitespace().collect())
}

/// Parses the JSON object that begins at the first brace. Text before it is ignored.
pub fn json(text: &str) -> Result<Value, String> {
    let begin = text.find('{').ok_or("there is no JSON in its output")?;
    let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
    let first = values.next().ok_or("there is no JSON in its output")?;
    first.map_err(|error| format!("its JSON cannot be read: {error}"))
}

/// Returns a number of a JSON value at a pointer.
pub fn number_at(json: &Value, pointer: &str) -> Option<f64> {
    json.pointer(pointer)?.as_f64()
}

/// Returns the sum of the numbers in an object, over the keys that count.
pub fn sum(json: &Value, counts: impl Fn(&str) -> bool) -> f64 {
    let matching = json.as_object().into_iter().flatten().filter(|(key, _)| counts(key));
    matching.filter_map(|(_, count)| count.as_f64()).fold(0.0, |all, count| all + count)
}

/// True for a status of 400 or more.
pub fn is_refusal(status: &str) -> bool {
    status.parse::<u16>().is_ok_and(|status| status >= 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times() {
        assert_eq!(number_after("Requests/sec:    787.90\n", "Requests/sec:"), Some(787.9));
        assert_eq!(first_number("in 2.00s, 105"), Some(2.0));
        assert_eq!(first_number("none"), None);
        for (word, seconds) in
            [("5.05ms", 0.00505), ("16us", 16e-6), ("1.20s", 1.2), ("1.50m", 90.0)]
        {
            assert!((time(word).unwrap() - seconds).abs() < 1e-12, "{word}");
        }
        assert_eq!(time("5"), None);
    }

    #[test]
    fn json_after_other_output_is_found() {
        assert_eq!(json("New configuration\n{\"a\": 1}\nbye").unwrap()["a"], 1);
        assert!(json("nothing").unwrap_err().contains("no JSON"));
        assert!(json("{\"a\": ").unwrap_err().contains("cannot be read"));
    }
}
