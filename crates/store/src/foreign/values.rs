//! Parses the values that several of the formats share: lines, numbers, durations, JSON.

use brunt_model::analysis::ObservedQuantile;
use serde_json::Value;

/// Units of a duration, in seconds. Both micro signs of Unicode are in use.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("μs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Returns the first line that is not blank.
pub fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_start_matches('\u{feff}')
}

/// Lines that are not blank, with their numbers from 1.
pub fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty())
}

/// Returns the rest of the first line that begins with a label, such as `Requests/sec:`.
pub fn after_label<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// Parses the first word of the line that begins with a label.
pub fn labeled_number(text: &str, label: &str) -> Option<f64> {
    number(after_label(text, label)?.split_whitespace().next()?)
}

/// Parses the first word of the line that begins with a label, or returns an error with the label.
pub fn required_number(text: &str, label: &str) -> Result<f64, String> {
    labeled_number(text, label)
        .ok_or_else(|| format!("its line `{label}` with a number is missing"))
}

/// Parses a figure: a finite number that is not negative.
pub fn number(word: &str) -> Option<f64> {
    word.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

/// Parses a duration as Go and wrk write it, into seconds: `635.91us`, `1m30.5s`.
pub fn duration(word: &str) -> Option<f64> {
    let mut rest = word.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let value = number(&rest[..digits])?;
        let after = &rest[digits..];
        let length = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let unit = UNITS.iter().find(|unit| unit.0 == &after[..length])?;
        seconds += value * unit.1;
        rest = &after[length..];
    }
    (!word.trim().is_empty()).then_some(seconds)
}

/// Parses the JSON object in a text. Tools may print other lines before and after it.
pub fn json_in(text: &str) -> Option<Value> {
    serde_json::from_str(text.get(text.find('{')?..=text.rfind('}')?)?).ok()
}

/// A figure of a JSON object: a number that is not negative.
pub fn figure(value: &Value, key: &str) -> Option<f64> {
    value[key].as_f64().filter(|figure| *figure >= 0.0)
}

/// A figure of a JSON object, or an error with its key.
pub fn required_figure(value: &Value, key: &str) -> Result<f64, String> {
    figure(value, key).ok_or_else(|| format!("its key {key} is missing, or no number from 0 on"))
}

/// Sum of the counts of a JSON object, such as that of all status codes.
pub fn sum(counts: &Value) -> f64 {
    counts.as_object().into_iter().flatten().filter_map(|count| count.1.as_f64()).sum()
}

/// A part of a whole; None if there is no whole.
pub fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// A quantile of a percentage such as 99.9; None for 0 and 100.
pub fn percentile(percent: f64, seconds: f64) -> Option<ObservedQuantile> {
    (percent > 0.0 && percent < 100.0).then_some(ObservedQuantile {
        // 99.9 / 100 is not 0.999.
        quantile: (percent * 1e4).round() / 1e6,
        seconds,
        at_least: false,
    })
}
