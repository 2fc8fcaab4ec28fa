//! Writes the file `statistics.json`.

use super::label::StatisticsRow;
use serde_json::Value;

/// Writes a map from label to figures, in JMeter's layout (two spaces, ` : `).
pub(super) fn write(rows: &[StatisticsRow]) -> String {
    let objects: Vec<String> = rows
        .iter()
        .map(|row| format!("  {} : {}", Value::from(&*row.label), object(row)))
        .collect();
    format!("{{\n{}\n}}", objects.join(",\n"))
}

fn object(row: &StatisticsRow) -> String {
    let [first, second, third] = row.percentiles;
    let entries = [
        ("transaction", Value::from(&*row.label).to_string()),
        ("sampleCount", row.samples.to_string()),
        ("errorCount", row.failed.to_string()),
        // JMeter has this number in single precision.
        ("errorPct", single_precision(row.failed_percent as f32)),
        ("meanResTime", double_precision(row.mean)),
        ("medianResTime", double_precision(row.median)),
        ("minResTime", double_precision(row.min)),
        ("maxResTime", double_precision(row.max)),
        ("pct1ResTime", double_precision(first)),
        ("pct2ResTime", double_precision(second)),
        ("pct3ResTime", double_precision(third)),
        ("throughput", double_precision(row.throughput)),
        ("receivedKBytesPerSec", double_precision(row.received_kb)),
        ("sentKBytesPerSec", double_precision(row.sent_kb)),
    ];
    let lines = entries.map(|(name, value)| format!("    \"{name}\" : {value}"));
    format!("{{\n{}\n  }}", lines.join(",\n"))
}

fn double_precision(number: f64) -> String {
    Value::from(number).to_string()
}

/// Shortest digits of the single-precision value, such as `33.333332`. The same value as a double
/// would have more digits.
fn single_precision(number: f32) -> String {
    serde_json::to_string(&number).unwrap_or_default()
}
