//! Writes `statistics.json`.

use super::label::StatisticsRow;
use serde_json::Value;

/// The file: a map from label to figures, in JMeter's layout (two spaces, ` : `).
pub(super) fn write(rows: &[StatisticsRow]) -> String {
    let objects: Vec<String> =
        rows.iter().map(|row| format!("  {} : {}", Value::from(&*row.label), object(row))).collect();
    format!("{{\n{}\n}}", objects.join(",\n"))
}

fn object(row: &StatisticsRow) -> String {
    let [first, second, third] = row.percentiles;
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| lines.push(format!("    \"{name}\" : {value}"));
    let text = |number: f64| Value::from(number).to_string();
    add("transaction", Value::from(&*row.label).to_string());
    add("sampleCount", row.samples.to_string());
    add("errorCount", row.failed.to_string());
    // JMeter keeps this one in single precision.
    add("errorPct", single(row.failed_percent as f32));
    add("meanResTime", text(row.mean));
    add("medianResTime", text(row.median));
    add("minResTime", text(row.min));
    add("maxResTime", text(row.max));
    add("pct1ResTime", text(first));
    add("pct2ResTime", text(second));
    add("pct3ResTime", text(third));
    add("throughput", text(row.throughput));
    add("receivedKBytesPerSec", text(row.received_kb));
    add("sentKBytesPerSec", text(row.sent_kb));
    format!("{{\n{}\n  }}", lines.join(",\n"))
}

/// Single precision has digits of its own, not those of the double that it would become: `33.333332`.
fn single(number: f32) -> String {
    serde_json::to_string(&number).unwrap_or_default()
}
