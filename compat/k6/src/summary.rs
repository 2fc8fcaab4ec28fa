//! The summary at the end of a test: its data, and its text.

use crate::kinds::{Declaration, MetricKind, Unit};
use crate::numbers;
use crate::thresholds::MetricThresholds;
use brunt_model::metric::{Metric, Metrics, Trend};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What a summary is made of.
pub struct SummaryInput<'a> {
    /// All figures of the test.
    pub metrics: &'a Metrics,
    /// The metrics of the script.
    pub declarations: &'a [Declaration],
    /// The thresholds of the script.
    pub thresholds: &'a [MetricThresholds],
    /// Names of the figures of a trend.
    pub trend_stats: &'a [String],
    /// Unit of times: s, ms, us; empty: the one that fits.
    pub time_unit: &'a str,
    /// Length of the test.
    pub elapsed: Duration,
    /// What `setup` has returned, as JSON.
    pub setup_data: Option<&'a str>,
    /// True if stdout and stderr are terminals.
    pub terminals: (bool, bool),
}

impl SummaryInput<'_> {
    /// The argument of `handleSummary`.
    pub fn data(&self) -> Value {
        self.data_with(false)
    }

    /// The summary of a script without `handleSummary`.
    pub fn text(&self) -> String {
        text(&self.data_with(true), "", false)
    }

    /// The data; with the compared figure of each threshold if `has_figures` is true, which k6 does not pass on.
    fn data_with(&self, has_figures: bool) -> Value {
        let mut metrics = Map::new();
        for declaration in self.declarations {
            let parts = self.thresholds.iter().map(|one| &one.selector);
            let parts =
                parts.filter(|part| part.metric == declaration.name && !part.tags.is_empty());
            let mut names = vec![declaration.name.clone()];
            names.extend(parts.map(ToString::to_string));
            // k6 shows it without being asked for.
            names.extend(
                Some(EXPECTED.to_owned()).filter(|_| declaration.name == "http_req_duration"),
            );
            for name in names {
                self.add(&mut metrics, declaration, &name, has_figures);
            }
        }
        let setup_data = self.setup_data.and_then(|text| serde_json::from_str(text).ok());
        json!({
            "root_group": groups(self.metrics),
            "options": {"summaryTrendStats": self.trend_stats, "summaryTimeUnit": self.time_unit, "noColor": true},
            "state": {
                "isStdOutTTY": self.terminals.0,
                "isStdErrTTY": self.terminals.1,
                "testRunDurationMs": self.elapsed.as_secs_f64() * 1e3,
            },
            "metrics": metrics,
            "setup_data": setup_data.unwrap_or(Value::Null),
        })
    }

    fn add(
        &self,
        metrics: &mut Map<String, Value>,
        declaration: &Declaration,
        name: &str,
        has_figures: bool,
    ) {
        let Declaration { kind, unit, .. } = declaration;
        let metric = self.metrics.figures.get(name);
        let own = self.thresholds.iter().filter(|one| one.selector.to_string() == name);
        let mut thresholds = Map::new();
        let mut is_asked_for = false;
        for one in own {
            is_asked_for = true;
            let results = one.results(*kind, self.metrics, self.elapsed);
            for (threshold, ok) in one.thresholds.iter().zip(results) {
                let figure = metric.and_then(|metric| threshold.figure(metric, self.elapsed));
                let mut result = json!({ "ok": ok });
                if let Some(figure) = figure.filter(|_| has_figures) {
                    result["figure"] = figure.into();
                }
                thresholds.insert(threshold.text.clone(), result);
            }
        }
        // k6 leaves out metrics without values, except those of thresholds.
        if metric.is_none() && !is_asked_for {
            return;
        }
        let metric = metric.cloned().unwrap_or_else(|| match kind {
            MetricKind::Counter => Metric::Counter { sum: 0.0, count: 0 },
            MetricKind::Gauge => Metric::Gauge { last: 0.0, least: 0.0, most: 0.0 },
            MetricKind::Rate => Metric::Rate { passed: 0, total: 0 },
            MetricKind::Trend => Metric::Trend(Trend::default()),
        });
        let mut entry = json!({
            "type": kind.word(),
            "contains": unit_word(*unit),
            "values": self.values(&metric),
        });
        if !thresholds.is_empty() {
            entry["thresholds"] = thresholds.into();
        }
        metrics.insert(name.to_owned(), entry);
    }

    fn values(&self, metric: &Metric) -> Value {
        match metric {
            Metric::Counter { sum, .. } => {
                json!({"count": sum, "rate": sum / self.elapsed.as_secs_f64().max(1e-9)})
            }
            Metric::Gauge { last, least, most } => {
                json!({"value": last, "min": least, "max": most})
            }
            Metric::Rate { passed, total } => {
                let rate = if *total == 0 { 0.0 } else { *passed as f64 / *total as f64 };
                json!({"rate": rate, "passes": passed, "fails": total - passed})
            }
            Metric::Trend(trend) => {
                let values = self.trend_stats.iter();
                let values =
                    values.filter_map(|name| Some((name.clone(), stat(trend, name)?.into())));
                Value::Object(values.collect())
            }
        }
    }

    /// The summary in the form of `--summary-export`: thresholds among the values.
    pub fn export(&self) -> Value {
        let mut data = self.data();
        let mut metrics = data["metrics"].take();
        if let Value::Object(map) = &mut metrics {
            for entry in map.values_mut() {
                let mut flat = entry["values"].take();
                if let Value::Object(thresholds) = entry["thresholds"].take() {
                    // Unlike in the data, true is bad here.
                    let crossed = thresholds.iter().map(|(text, result)| {
                        (text.clone(), Value::Bool(result["ok"] == Value::Bool(false)))
                    });
                    flat["thresholds"] = Value::Object(crossed.collect());
                }
                *entry = flat;
            }
        }
        json!({"root_group": data["root_group"].take(), "metrics": metrics})
    }
}

/// Part of `http_req_duration` that is always shown.
pub const EXPECTED: &str = "http_req_duration{expected_response:true}";

fn unit_word(unit: Unit) -> &'static str {
    unit.word()
}

/// Returns a figure of a trend by its name.
fn stat(trend: &Trend, name: &str) -> Option<f64> {
    Some(match name {
        "avg" => trend.mean(),
        "min" => trend.min(),
        "max" => trend.max(),
        "med" => trend.quantile(0.5),
        "count" => trend.count() as f64,
        other => {
            let percent =
                other.strip_prefix("p(")?.strip_suffix(')')?.trim().parse::<f64>().ok()?;
            trend.quantile(percent / 100.0)
        }
    })
}

/// Checks in their groups.
fn groups(metrics: &Metrics) -> Value {
    let mut root = group("", "");
    for (path, metric) in &metrics.figures {
        let (true, Metric::Rate { passed, total }) = (path.starts_with("::"), metric) else {
            continue;
        };
        let mut names: Vec<&str> = path[2..].split("::").collect();
        let Some(check) = names.pop() else { continue };
        let check = json!({
            "name": check,
            "path": path,
            "id": identity(path),
            "passes": passed,
            "fails": total - passed,
        });
        add_check(&mut root, "", &names, check);
    }
    root
}

/// Adds a check to the group with these names below another.
fn add_check(to: &mut Value, path: &str, names: &[&str], check: Value) {
    let Some((name, rest)) = names.split_first() else {
        if let Some(checks) = to["checks"].as_array_mut() {
            checks.push(check);
        }
        return;
    };
    let path = format!("{path}::{name}");
    let Some(list) = to["groups"].as_array_mut() else { return };
    let place = list.iter().position(|one| one["name"] == *name).unwrap_or_else(|| {
        list.push(group(name, &path));
        list.len() - 1
    });
    add_check(&mut list[place], &path, rest, check);
}

fn group(name: &str, path: &str) -> Value {
    json!({"name": name, "path": path, "id": identity(path), "groups": [], "checks": []})
}

/// The identity of a group or check: the MD5 of its path.
fn identity(path: &str) -> String {
    // Tools identify checks by this value.
    use md5::{Digest, Md5};
    brunt_model::numbers::hexadecimal(&Md5::digest(path.as_bytes()))
}

/// Formats the data of a summary in JSON.
///
/// # Errors
///
/// The data cannot be read.
pub fn text_of_json(data: &str, indent: &str, colors: bool) -> Result<String, String> {
    let data: Value =
        serde_json::from_str(data).map_err(|error| format!("textSummary(): {error}"))?;
    Ok(text(&data, indent, colors))
}

/// Metrics of each section of the text.
const SECTIONS: &[(&str, &[&str])] = &[
    ("HTTP", &["http_req_duration", "http_req_failed", "http_reqs"]),
    ("EXECUTION", &["dropped_iterations", "iteration_duration", "iterations", "vus", "vus_max"]),
    ("NETWORK", &["data_received", "data_sent"]),
];

/// Metrics that the compact text leaves out.
const LEFT_OUT: &[&str] = &[
    "checks",
    "group_duration",
    "http_req_blocked",
    "http_req_connecting",
    "http_req_tls_handshaking",
    "http_req_sending",
    "http_req_waiting",
    "http_req_receiving",
];

/// Formats the data of a summary.
pub fn text(data: &Value, indent: &str, colors: bool) -> String {
    let empty = Map::new();
    let metrics = data["metrics"].as_object().unwrap_or(&empty);
    let stats: Vec<&str> = data["options"]["summaryTrendStats"]
        .as_array()
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let unit = data["options"]["summaryTimeUnit"].as_str().unwrap_or_default();
    let writer = TextWriter { metrics, stats, unit, colors };
    let mut lines = writer.thresholds();
    lines.push(format!("  █ {}", writer.bold("TOTAL RESULTS")));
    lines.push(String::new());
    lines.extend(writer.checks(&data["root_group"]));
    let custom = metrics.keys().filter(|name| !is_built_in(base_name(name))).collect();
    lines.extend(writer.section("CUSTOM", custom));
    for (title, names) in SECTIONS {
        let names =
            names.iter().flat_map(|one| metrics.keys().filter(move |name| base_name(name) == *one));
        lines.extend(writer.section(title, names.collect()));
    }
    let mut text = String::new();
    for line in lines {
        if !line.is_empty() {
            text.push_str(indent);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn is_built_in(name: &str) -> bool {
    LEFT_OUT.contains(&name) || SECTIONS.iter().any(|(_, names)| names.contains(&name))
}

/// Name of the metric of a part.
fn base_name(name: &str) -> &str {
    name.split_once('{').map_or(name, |(base, _)| base)
}

/// The start of a line: the metric, or the tags of a part below it.
fn label(name: &str) -> String {
    match name.split_once('{') {
        Some((_, tags)) => format!("  {{ {} }}", tags.trim_end_matches('}')),
        None => name.to_owned(),
    }
}

struct TextWriter<'a> {
    metrics: &'a Map<String, Value>,
    stats: Vec<&'a str>,
    unit: &'a str,
    colors: bool,
}

impl TextWriter<'_> {
    fn bold(&self, text: &str) -> String {
        self.painted("1", text)
    }

    fn painted(&self, code: &str, text: &str) -> String {
        if self.colors { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn sign(&self, ok: bool) -> String {
        if ok { self.painted("32", "✓") } else { self.painted("31", "✗") }
    }

    fn thresholds(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, metric) in self.metrics {
            let Some(thresholds) = metric["thresholds"].as_object() else { continue };
            lines.push(format!("    {name}"));
            for (text, result) in thresholds {
                let sign = self.sign(result["ok"] == Value::Bool(true));
                let figure = text.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
                let value = result["figure"].as_f64().or_else(|| metric["values"][figure].as_f64());
                let figure =
                    value.map(|value| format!(" {figure}={}", self.value(metric, value, figure)));
                lines.push(format!("    {sign} '{text}'{}", figure.unwrap_or_default()));
            }
            lines.push(String::new());
        }
        if lines.is_empty() {
            return lines;
        }
        let head = [String::new(), format!("  █ {}", self.bold("THRESHOLDS")), String::new()];
        head.into_iter().chain(lines).chain([String::new()]).collect()
    }

    fn value(&self, metric: &Value, value: f64, figure: &str) -> String {
        let kind = metric["type"].as_str().unwrap_or_default();
        if kind == "counter" && figure == "rate" {
            return format!("{}/s", numbers::plain(value));
        }
        if kind == "trend" && figure == "count" {
            return numbers::plain(value);
        }
        let contains = metric["contains"].as_str().unwrap_or_default();
        numbers::metric_value(value, kind, contains, self.unit)
    }

    /// A figure of a metric, by its name.
    fn shown(&self, metric: &Value, name: &str) -> String {
        self.value(metric, number(&metric["values"], name), name)
    }

    fn checks(&self, root: &Value) -> Vec<String> {
        let Some(checks) = self.metrics.get("checks") else { return Vec::new() };
        let passed = checks["values"]["passes"].as_u64().unwrap_or(0);
        let failed = checks["values"]["fails"].as_u64().unwrap_or(0);
        let total = passed + failed;
        let [passed_share, failed_share] =
            [passed, failed].map(|n| numbers::percent(n as f64 / (total as f64).max(1.0)));
        let mut lines = vec![
            format!("    checks_total.......: {total}"),
            format!("    checks_succeeded...: {passed_share} {passed} out of {total}"),
            format!("    checks_failed......: {failed_share} {failed} out of {total}"),
            String::new(),
        ];
        self.group(root, 4, &mut lines);
        lines.push(String::new());
        lines
    }

    fn group(&self, group: &Value, depth: usize, lines: &mut Vec<String>) {
        let space = " ".repeat(depth);
        for check in group["checks"].as_array().into_iter().flatten() {
            let name = check["name"].as_str().unwrap_or_default();
            let passes = check["passes"].as_u64().unwrap_or(0);
            let fails = check["fails"].as_u64().unwrap_or(0);
            lines.push(format!("{space}{} {name}", self.sign(fails == 0)));
            if fails > 0 {
                let share = (passes as f64 / (passes + fails) as f64 * 100.0).floor();
                lines.push(format!("{space} ↳  {share}% — ✓ {passes} / ✗ {fails}"));
            }
        }
        for inner in group["groups"].as_array().into_iter().flatten() {
            lines.push(format!("{space}{}", self.bold(inner["name"].as_str().unwrap_or_default())));
            self.group(inner, depth + 2, lines);
        }
    }

    fn section(&self, title: &str, names: Vec<&String>) -> Vec<String> {
        if names.is_empty() {
            return Vec::new();
        }
        let width = names.iter().map(|name| label(name).chars().count()).max().unwrap_or(0) + 3;
        let width = width.max(33);
        let mut lines = vec![format!("    {}", self.bold(title))];
        for name in names {
            let metric = &self.metrics[name.as_str()];
            let label = label(name);
            let dots = ".".repeat(width - label.chars().count());
            lines.push(format!("    {label}{dots}: {}", self.values(metric)));
        }
        lines.push(String::new());
        lines
    }

    fn values(&self, metric: &Value) -> String {
        let values = &metric["values"];
        match metric["type"].as_str().unwrap_or_default() {
            "counter" => {
                let rate = number(values, "rate");
                let rate = match metric["contains"].as_str() {
                    Some("data") => numbers::bytes(rate),
                    _ => numbers::plain(rate),
                };
                format!("{:<8} {rate}/s", self.shown(metric, "count"))
            }
            "gauge" => {
                let [value, min, max] =
                    ["value", "min", "max"].map(|name| self.shown(metric, name));
                format!("{value:<8} min={min} max={max}")
            }
            "rate" => {
                let (passed, failed) = (number(values, "passes"), number(values, "fails"));
                format!(
                    "{} {passed} out of {}",
                    numbers::percent(number(values, "rate")),
                    passed + failed
                )
            }
            _ => {
                let stats = self.stats.iter().filter(|name| !values[**name].is_null());
                stats
                    .map(|name| format!("{name}={}", self.shown(metric, name)))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
        }
    }
}

fn number(values: &Value, name: &str) -> f64 {
    values[name].as_f64().unwrap_or(0.0)
}
