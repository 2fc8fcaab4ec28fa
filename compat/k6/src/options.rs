//! Options of a script: from its `options`, a file, the environment and the command line.

use crate::duration;
use crate::thresholds::{MetricThresholds, Selector, Threshold};
use serde_json::{Map, Value};
use std::time::Duration;

/// Options by name, as k6 writes them in JSON. Later sources replace earlier ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options(pub Map<String, Value>);

/// Options that select the load. If a source sets one of them, it replaces those of all earlier sources.
const LOAD: [&str; 5] = ["scenarios", "stages", "iterations", "duration", "vus"];

/// Options that have no effect, and why.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("cloud", "brunt runs no tests in k6's cloud"),
    ("ext", "brunt runs no tests in k6's cloud"),
    ("systemTags", "thresholds may use all tags"),
    ("dns", "brunt resolves a name once per run"),
    ("httpDebug", "brunt's --trace shows requests: brunt run --trace"),
    ("batchPerHost", "batch limits the requests of a batch"),
    ("noVUConnectionReuse", "connections stay open over the iterations of a user"),
    ("noUsageReport", "brunt reports no usage"),
];

/// Options that would change the measurement, each with an alternative.
const REFUSED: &[(&str, &str)] = &[
    ("rps", "limit the load by a scenario with constant-arrival-rate"),
    ("hosts", "write the address into the URL"),
    ("tlsAuth", "brunt sends no client certificates for scripts"),
    ("tlsVersion", "brunt chooses the version of TLS"),
    ("tlsCipherSuites", "brunt chooses the cipher suites"),
    ("blockHostnames", "write --brunt-allow-target HOST"),
    ("blacklistIPs", "write --brunt-allow-target HOST"),
    ("executionSegment", "write --brunt-processes N"),
    ("executionSegmentSequence", "write --brunt-processes N"),
    ("localIPs", "brunt uses the system's addresses for scripts"),
];

/// Options that are used.
const USED: &[&str] = &[
    "vus",
    "duration",
    "iterations",
    "stages",
    "scenarios",
    "thresholds",
    "maxRedirects",
    "batch",
    "discardResponseBodies",
    "noConnectionReuse",
    "noCookiesReset",
    "minIterationDuration",
    "userAgent",
    "insecureSkipTLSVerify",
    "tags",
    "summaryTrendStats",
    "summaryTimeUnit",
    "throw",
    "noSetup",
    "noTeardown",
    "setupTimeout",
    "teardownTimeout",
    "noThresholds",
];

/// Default of `summaryTrendStats`.
const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

impl Options {
    /// Reads the options of a source.
    ///
    /// # Errors
    ///
    /// The text is no JSON object.
    pub fn parse(json: &str, source: &str) -> Result<Self, String> {
        match serde_json::from_str(json) {
            Ok(Value::Object(map)) => Ok(Self(map)),
            Ok(_) => Err(format!(
                "{source}: the options are no object; write {{vus: 10, duration: '30s'}}"
            )),
            Err(error) => Err(format!("{source}: {error}")),
        }
    }

    /// Adds the options of a later source.
    pub fn replace(&mut self, later: Self) {
        // Otherwise the load of the script would run beside that of the command line.
        if LOAD.iter().any(|name| later.0.contains_key(*name)) {
            let keeps_users = !later.0.contains_key("scenarios") && !later.0.contains_key("stages");
            for name in LOAD {
                // In k6, `-d 10s` keeps the number of users of the script, and the other way round.
                let is_kept = keeps_users
                    && ["vus", "duration", "iterations"].contains(&name)
                    && !self.0.contains_key("scenarios");
                if !is_kept {
                    self.0.remove(name);
                }
            }
        }
        // A null in a script removes nothing, as in k6.
        self.0.extend(later.0.into_iter().filter(|(_, value)| !value.is_null()));
    }

    /// Returns a note for each option without effect.
    ///
    /// # Errors
    ///
    /// An option is not supported, or unknown.
    pub fn check(&self) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for name in self.0.keys() {
            if USED.contains(&name.as_str()) {
                continue;
            }
            if let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(own, _)| own == name) {
                notes.push(format!("the option {name} has no effect: {why}"));
            } else if let Some((_, instead)) = REFUSED.iter().find(|(own, _)| own == name) {
                return Err(format!("the option {name} is not supported: {instead}"));
            } else {
                // k6 ignores it silently, but it may be a typing error.
                notes.push(format!("the option {name} is unknown, and has no effect"));
            }
        }
        Ok(notes)
    }

    /// Returns an option that is a whole number; a text with digits is one, too.
    ///
    /// # Errors
    ///
    /// It is no such number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, String> {
        number(&self.0, name, "")
    }

    /// Returns an option that is a duration.
    ///
    /// # Errors
    ///
    /// The value is not a duration.
    pub fn time(&self, name: &str) -> Result<Option<Duration>, String> {
        time(&self.0, name, "")
    }

    /// True if an option is set.
    pub fn is_true(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| *value == Value::Bool(true) || *value == "true")
    }

    /// Returns an option that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// Returns the names and values of an object such as `tags`.
    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        pairs(&self.0, name)
    }

    /// Names of the figures that a summary shows of a trend.
    pub fn trend_stats(&self) -> Vec<String> {
        match self.0.get("summaryTrendStats").and_then(Value::as_array) {
            Some(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => TREND_STATS.map(str::to_owned).to_vec(),
        }
    }

    /// Reads the thresholds, in their order.
    ///
    /// # Errors
    ///
    /// A threshold cannot be read.
    pub fn thresholds(&self) -> Result<Vec<MetricThresholds>, String> {
        let Some(Value::Object(map)) = self.0.get("thresholds") else { return Ok(Vec::new()) };
        if self.is_true("noThresholds") {
            return Ok(Vec::new());
        }
        map.iter().map(|(metric, list)| metric_thresholds(metric, list)).collect()
    }
}

fn metric_thresholds(metric: &str, list: &Value) -> Result<MetricThresholds, String> {
    // One condition in place of a list is common in scripts.
    let list = match list {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    let thresholds = list.iter().map(|value| threshold(metric, value));
    Ok(MetricThresholds {
        selector: Selector::parse(metric)?,
        thresholds: thresholds.collect::<Result<_, String>>()?,
    })
}

fn threshold(metric: &str, value: &Value) -> Result<Threshold, String> {
    match value {
        Value::String(text) => condition(metric, text),
        Value::Object(map) => {
            let text = map.get("threshold").and_then(Value::as_str).ok_or_else(|| {
                format!("thresholds of {metric}: an object needs the key `threshold`, such as {{threshold: 'p(95)<500', abortOnFail: true}}")
            })?;
            let mut threshold = condition(metric, text)?;
            threshold.aborts = map.get("abortOnFail") == Some(&Value::Bool(true));
            threshold.delay = time(map, "delayAbortEval", metric)?.unwrap_or_default();
            Ok(threshold)
        }
        _ => Err(format!(
            "thresholds of {metric}: `{value}` is no threshold; write a text such as 'p(95)<500'"
        )),
    }
}

fn condition(metric: &str, text: &str) -> Result<Threshold, String> {
    Threshold::parse(text).map_err(|why| format!("thresholds of {metric}: {why}"))
}

/// Returns a whole number of an object.
///
/// # Errors
///
/// It is no such number.
pub fn number(map: &Map<String, Value>, name: &str, place: &str) -> Result<Option<u64>, String> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => whole_number(value).map(Some).ok_or_else(|| {
            format!("{}: `{value}` is no whole number from 0 on; write {name}: 10", at(place, name))
        }),
    }
}

/// Scripts take numbers from the environment, which has only texts.
fn whole_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            number.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Returns a duration of an object: a text, or a number of milliseconds.
///
/// # Errors
///
/// The value is not a duration.
pub fn time(map: &Map<String, Value>, name: &str, place: &str) -> Result<Option<Duration>, String> {
    let text = match map.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    duration::parse(&text).map(Some).map_err(|why| format!("{}: {why}", at(place, name)))
}

/// Returns the names and values of an object in an object.
pub fn pairs(map: &Map<String, Value>, name: &str) -> Vec<(String, String)> {
    let Some(Value::Object(map)) = map.get(name) else { return Vec::new() };
    map.iter().map(|(name, value)| (name.clone(), text_of(value))).collect()
}

/// A text without its quotes, or another value as JSON.
pub fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Names a key of a scenario or of the options.
fn at(place: &str, name: &str) -> String {
    if place.is_empty() { format!("the option {name}") } else { format!("{place}: {name}") }
}
