//! Figures that are sent to another system while a run goes on: where to, how often, and of which labels.
//!
//! Out of scope: a place in a [`Plan`](crate::Plan). Where figures go does not change what is measured, and it may hold secrets.

use std::fmt;
use std::time::Duration;

/// A system that receives the figures of a run while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveOutput {
    /// The system, and what its lines are named.
    pub sink: LiveSink,
    /// The time that each set of figures is of.
    pub interval: Duration,
    /// Percentiles of response times, from 0 to 100.
    pub percentiles: Vec<f32>,
    /// The labels and transactions that have figures of their own.
    pub labels: LabelFilter,
}

/// A system that receives figures.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveSink {
    /// InfluxDB, by its line protocol over HTTP.
    Influx(InfluxSink),
    /// Graphite, by its plaintext protocol over TCP.
    Graphite(GraphiteSink),
}

/// InfluxDB, or a system that takes its line protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluxSink {
    /// The URL that lines are posted to, with the database, or the organization and bucket, in its query.
    pub url: String,
    /// The token, if one is needed.
    pub token: Option<Token>,
    /// The measurement of all lines.
    pub measurement: String,
    /// The tag `application`; empty: there is none.
    pub application: String,
    /// The text of the events at the beginning and the end.
    pub title: String,
    /// The tag `tags` of these events; empty: there is none.
    pub event_tags: String,
    /// Further tags of all lines.
    pub tags: Vec<(String, String)>,
}

/// Graphite, or a system that takes its plaintext protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphiteSink {
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The begin of all paths, such as `jmeter.`.
    pub prefix: String,
}

/// The labels and transactions that have figures of their own, beside those of all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFilter {
    /// None of them.
    None,
    /// All of them.
    All,
    /// Those of these names.
    Named(Vec<String>),
    /// Those in which this regular expression is found.
    Containing(String),
    /// Those that this regular expression matches as a whole.
    Matching(String),
}

/// A secret that gives access. Its debug output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl LiveOutput {
    /// Its secrets: the token, and the password in the query of its URL.
    pub fn secrets(&self) -> Vec<&str> {
        let LiveSink::Influx(influx) = &self.sink else { return Vec::new() };
        let token = influx.token.iter().map(|token| token.0.as_str());
        let query = influx.url.split_once('?').map_or("", |(_, query)| query);
        let password = query.split('&').filter_map(|field| field.strip_prefix("p="));
        token.chain(password).filter(|secret| !secret.is_empty()).collect()
    }
}

impl fmt::Display for LiveSink {
    /// The system and its address, without what may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Influx(influx) => write!(f, "InfluxDB at {}", without_query(&influx.url)),
            Self::Graphite(graphite) if graphite.host.contains(':') => {
                write!(f, "Graphite at [{}]:{}", graphite.host, graphite.port)
            }
            Self::Graphite(graphite) => write!(f, "Graphite at {}:{}", graphite.host, graphite.port),
        }
    }
}

/// A URL without its user, its query and its fragment: what can be shown.
pub fn without_query(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = shown.split_once("://").map_or(("", shown), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let slash = if rest.contains('/') { "/" } else { "" };
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{slash}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown() {
        let url = "http://me:hunter2@h:8086/write?db=x&u=me&p=hunter3";
        let sink = LiveSink::Influx(InfluxSink {
            url: url.into(),
            token: Some(Token("hunter4".into())),
            measurement: "jmeter".into(),
            application: String::new(),
            title: String::new(),
            event_tags: String::new(),
            tags: Vec::new(),
        });
        assert_eq!(sink.to_string(), "InfluxDB at http://h:8086/write");
        assert!(!format!("{:?}", Token("hunter4".into())).contains("hunter"));
        let output = LiveOutput { sink, interval: Duration::ZERO, percentiles: Vec::new(), labels: LabelFilter::All };
        assert_eq!(output.secrets(), ["hunter4", "hunter3"]);
        for (url, shown) in [("h/x?p=1", "h/x"), ("http://h", "http://h"), ("http://u@h/a/b#c", "http://h/a/b")] {
            assert_eq!(without_query(url), shown);
        }
    }
}
