//! Live output: figures that are sent to another system during a run.
//!
//! Live output is not part of a [`Plan`](crate::Plan): it does not change the measurement, and its
//! settings may contain secrets.

use std::fmt;
use std::time::Duration;

/// A live output: a system, and the figures that it receives.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveOutput {
    /// The receiving system, with its settings.
    pub sink: LiveSink,
    /// Interval between two sets of figures.
    pub interval: Duration,
    /// Percentiles of response times, from 0 to 100.
    pub percentiles: Vec<f32>,
    /// Labels and transactions with separate figures.
    pub labels: LabelFilter,
}

/// System that receives figures.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveSink {
    /// InfluxDB, by its line protocol over HTTP.
    Influx(InfluxSink),
    /// Graphite, by its plaintext protocol over TCP.
    Graphite(GraphiteSink),
}

/// InfluxDB, or a system that accepts its line protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct InfluxSink {
    /// URL to which lines are posted. Its query contains the database, or
    /// the organization and bucket.
    pub url: String,
    /// Access token, if one is needed.
    pub token: Option<AccessToken>,
    /// Measurement name of all lines.
    pub measurement: String,
    /// Value of the tag `application`; empty: no such tag.
    pub application: String,
    /// Text of the events at the beginning and the end.
    pub title: String,
    /// Value of the tag `tags` of these events; empty: no such tag.
    pub event_tags: String,
    /// Additional tags of all lines.
    pub tags: Vec<(String, String)>,
}

/// Graphite, or a system that accepts its plaintext protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphiteSink {
    /// Host name or address.
    pub host: String,
    /// TCP port of the plaintext protocol.
    pub port: u16,
    /// Prefix of all paths, such as `jmeter.`.
    pub prefix: String,
}

/// Labels and transactions with separate figures, in addition to the figures of all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFilter {
    /// No separate figures.
    None,
    /// All labels and transactions.
    All,
    /// Labels and transactions with these names.
    Named(Vec<String>),
    /// Names in which this regular expression matches somewhere.
    Containing(String),
    /// Names that this regular expression matches completely.
    Matching(String),
}

/// A secret that gives access. Its debug output is hidden.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(pub String);

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl LiveOutput {
    /// Returns the secrets: the token, and the password in the query of the URL.
    pub fn secrets(&self) -> Vec<&str> {
        let LiveSink::Influx(influx) = &self.sink else { return Vec::new() };
        let token = influx.token.iter().map(|token| token.0.as_str());
        let query = influx.url.split_once('?').map_or("", |(_, query)| query);
        // InfluxDB 1 accepts the password as the parameter `p`.
        let password = query.split('&').filter_map(|field| field.strip_prefix("p="));
        token.chain(password).filter(|secret| !secret.is_empty()).collect()
    }
}

impl fmt::Display for LiveSink {
    /// Formats the system and its address, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Influx(influx) => write!(f, "InfluxDB at {}", without_query(&influx.url)),
            // An IPv6 address needs brackets.
            Self::Graphite(graphite) if graphite.host.contains(':') => {
                write!(f, "Graphite at [{}]:{}", graphite.host, graphite.port)
            }
            Self::Graphite(graphite) => {
                write!(f, "Graphite at {}:{}", graphite.host, graphite.port)
            }
        }
    }
}

/// Removes the parts of a URL that may be secret: user, query and fragment.
pub fn without_query(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) =
        shown.split_once("://").map_or(("", shown), |(scheme, rest)| (scheme, rest));
    let (authority, path) =
        rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    // A password may contain `@`, so the host begins after the last one.
    let host = authority.rsplit('@').next().unwrap_or_default();
    let slash = if rest.contains('/') { "/" } else { "" };
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{host}{slash}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let url = "http://me:hunter2@h:8086/write?db=x&u=me&p=hunter3";
        let sink = LiveSink::Influx(InfluxSink {
            url: url.into(),
            token: Some(AccessToken("hunter4".into())),
            measurement: "jmeter".into(),
            application: String::new(),
            title: String::new(),
            event_tags: String::new(),
            tags: Vec::new(),
        });
        assert_eq!(sink.to_string(), "InfluxDB at http://h:8086/write");
        assert!(!format!("{:?}", AccessToken("hunter4".into())).contains("hunter"));
        let output = LiveOutput {
            sink,
            interval: Duration::ZERO,
            percentiles: Vec::new(),
            labels: LabelFilter::All,
        };
        assert_eq!(output.secrets(), ["hunter4", "hunter3"]);
        for (url, shown) in
            [("h/x?p=1", "h/x"), ("http://h", "http://h"), ("http://u@h/a/b#c", "http://h/a/b")]
        {
            assert_eq!(without_query(url), shown);
        }
    }
}
