//! Reads a tool's report of a run: the number of requests, the lag, and errors.
//!
//! It detects runs with unusable figures, and provides the lag, which nothing outside the tool can
//! measure. It is never the source of a rate or a cost.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::tools::BenchTool;

/// Lag of requests, in seconds: the delay from their due times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lag {
    pub p50: f64,
    pub p99: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    pub completed: Option<u64>,
    pub lag: Option<Lag>,
    pub peak_rss_bytes: Option<u64>,
    /// Reason why brunt ignored `--precise`, in its own words.
    pub not_precise: Option<String>,
    pub complaint: Option<String>,
}

impl Account {
    /// Reads the output of a tool, or `result`, the file that brunt writes.
    pub fn read(tool: BenchTool, output: &str, result: &Path) -> Self {
        match tool {
            // brunt prints for readers, so its figures come from its JSON file.
            BenchTool::Brunt => {
                fs::read_to_string(result).map_or_else(|_| missing(), |text| from_brunt(&text))
            }
            BenchTool::Floor => from_floor(output),
            BenchTool::Wrk => from_lines(output, "requests in", &["Socket errors", "Non-2xx"]),
            BenchTool::Ab => {
                from_lines(output, "Complete requests:", &["Failed requests:", "Non-2xx"])
            }
            BenchTool::H2load => from_h2load(output),
        }
    }
}

fn missing() -> Account {
    Account { complaint: Some("the tool wrote no result".to_owned()), ..Account::default() }
}

fn from_brunt(text: &str) -> Account {
    let Ok(json) = serde_json::from_str::<Value>(text) else { return missing() };
    let failures = total(&json["failures"]);
    Account {
        completed: json["requests"]["completed"].as_u64(),
        lag: lag_of(&json["lag_seconds"]),
        peak_rss_bytes: json["generator"]["peak_rss_bytes"].as_u64(),
        not_precise: precise_warning(&json["warnings"]),
        complaint: (failures > 0.0)
            .then(|| format!("{failures} failures"))
            .or_else(|| failed_check(&json["checks"])),
    }
}

/// Returns the first of brunt's consistency checks that failed.
fn failed_check(checks: &Value) -> Option<String> {
    let check = checks.as_array()?.iter().find(|check| check["holds"] == false)?;
    Some(format!(
        "a consistency check failed, {}: {}",
        check["name"].as_str()?,
        check["arithmetic"].as_str()?
    ))
}

/// Returns the warning that brunt ignored `--precise`.
fn precise_warning(warnings: &Value) -> Option<String> {
    let mut texts = warnings.as_array()?.iter().filter_map(Value::as_str);
    // brunt begins a warning with the option that it concerns.
    texts.find(|text| text.starts_with("--precise: ")).map(str::to_owned)
}

fn from_floor(output: &str) -> Account {
    let Ok(json) = serde_json::from_str::<Value>(output.trim()) else { return missing() };
    Account {
        completed: json["completed"].as_u64(),
        lag: lag_of(&json["lag_seconds"]),
        ..Account::default()
    }
}

/// Reads the output of tools that print a line with the count, and a line for each kind of error.
fn from_lines(output: &str, count: &str, troubles: &[&str]) -> Account {
    let trouble = troubles.iter().filter_map(|word| line_with(output, word)).find(|line| {
        let values = line.split_once(':').map_or("", |(_, values)| values);
        numbers(values).any(|number| number > 0)
    });
    Account {
        completed: line_with(output, count).and_then(first_number),
        complaint: trouble.map(|line| line.trim().to_owned()),
        ..Account::default()
    }
}

fn line_with<'a>(output: &'a str, word: &str) -> Option<&'a str> {
    output.lines().find(|line| line.contains(word))
}

/// Reads `requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout`.
fn from_h2load(output: &str) -> Account {
    let line = output.lines().find_map(|line| line.strip_prefix("requests: ")).unwrap_or_default();
    // A line that cannot be read counts as trouble.
    let troubled =
        ["failed", "errored", "timeout"].iter().any(|word| number_before(line, word) != Some(0));
    let complaint = troubled.then(|| line.to_owned());
    Account { completed: number_before(line, "done"), complaint, ..Account::default() }
}

/// The number before a word in a comma-separated list, such as 9 in `9 done`.
fn number_before(line: &str, word: &str) -> Option<u64> {
    line.split(", ").find(|part| part.ends_with(word)).and_then(first_number)
}

fn lag_of(lag: &Value) -> Option<Lag> {
    Some(Lag { p50: lag["p50"].as_f64()?, p99: lag["p99"].as_f64()? })
}

/// Sums all numbers in a value: failures by kind, or one number for all.
fn total(value: &Value) -> f64 {
    match value {
        Value::Number(number) => number.as_f64().unwrap_or(0.0),
        Value::Array(items) => items.iter().map(total).sum(),
        Value::Object(members) => members.values().map(total).sum(),
        _ => 0.0,
    }
}

fn first_number(line: &str) -> Option<u64> {
    numbers(line).next()
}

fn numbers(line: &str) -> impl Iterator<Item = u64> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_and_errors_of_wrk_are_read() {
        let well = "  1 threads and 64 connections\n  1081240 requests in 7.00s, 1.2GB read\n";
        let account = from_lines(well, "requests in", &["Socket errors"]);
        assert_eq!((account.completed, account.complaint), (Some(1_081_240), None));
        let ill = format!("{well}  Socket errors: connect 0, read 12, write 0, timeout 0\n");
        assert!(from_lines(&ill, "requests in", &["Socket errors"]).complaint.is_some());
    }

    #[test]
    fn failed_requests_of_ab_are_reported_only_above_zero() {
        let well = "Complete requests:      5000\nFailed requests:        0\n";
        let account = from_lines(well, "Complete requests:", &["Failed requests:"]);
        assert_eq!((account.completed, account.complaint), (Some(5000), None));
        let ill = well.replace("        0", "        7");
        assert!(from_lines(&ill, "Complete requests:", &["Failed requests:"]).complaint.is_some());
    }

    #[test]
    fn the_line_of_h2load_is_parsed() {
        let line =
            "requests: 9 total, 9 started, 8 done, 8 succeeded, 0 failed, 0 errored, 0 timeout\n";
        assert_eq!(from_h2load(line), Account { completed: Some(8), ..Account::default() });
        assert!(from_h2load(&line.replace("0 errored", "1 errored")).complaint.is_some());
    }

    #[test]
    fn failures_of_brunt_are_counted_in_any_format() {
        let text = r#"{"requests":{"completed":5},"lag_seconds":{"p50":1e-5,"p99":5e-5},"failures":{"reset":2,"refused":1},
                       "generator":{"peak_rss_bytes":4000000}}"#;
        let account = from_brunt(text);
        assert_eq!(account.completed, Some(5));
        assert_eq!(account.lag, Some(Lag { p50: 1e-5, p99: 5e-5 }));
        assert_eq!(account.peak_rss_bytes, Some(4_000_000));
        assert_eq!(account.complaint.as_deref(), Some("3 failures"));
        assert_eq!(from_brunt(r#"{"failures":{}}"#).complaint, None);
        assert_eq!(from_brunt("nonsense"), missing());
    }

    #[test]
    fn a_failed_consistency_check_of_brunt_is_reported() {
        let with = |holds: bool| {
            let check = format!(
                r#"{{"name":"planned requests","holds":{holds},"arithmetic":"3 planned, 2 begun"}}"#
            );
            from_brunt(&format!(r#"{{"failures":{{}},"checks":[{check}]}}"#)).complaint
        };
        assert_eq!(with(true), None);
        assert_eq!(
            with(false).as_deref(),
            Some("a consistency check failed, planned requests: 3 planned, 2 begun")
        );
    }

    #[test]
    fn the_warning_on_precise_is_read_from_the_result_of_brunt() {
        let words = "--precise: 1 cores are too few for 1 busy-waiting threads; it was left out";
        let warned = format!(r#"{{"failures":{{}},"warnings":["name not resolved","{words}"]}}"#);
        assert_eq!(from_brunt(&warned).not_precise.as_deref(), Some(words));
        assert_eq!(
            from_brunt(r#"{"failures":{},"warnings":["name not resolved"]}"#).not_precise,
            None
        );
    }
}
