//! Values of `-o` for systems that receive figures while the
//! load runs: `influx=URL`, `graphite=HOST:PORT`.
//!
//! [`LIVE_OUTPUTS`] has a row for each system. Out of scope: reports, which are
//! in the crate `report`.

use super::WordError;
use super::values::EnvironmentVariable;
use super::values::secrets::filled;
use brunt_model::live_output::{
    AccessToken, GraphiteSink, InfluxSink, LabelFilter, LiveOutput, LiveSink, without_query,
};
use std::time::Duration;
use url::{Host, Url};

/// A system that can receive figures.
pub struct LiveOutputRow {
    /// Name of the system, before the `=`.
    pub name: &'static str,
    /// Placeholder for the value after the `=`, in the help.
    pub value: &'static str,
    /// Name of the system for people.
    pub title: &'static str,
    /// Time that each set of figures covers.
    interval: Duration,
    /// Parses the value after the `=`.
    read: fn(&str, EnvironmentVariable) -> Result<LiveSink, WordError>,
}

/// The systems that can receive figures. The intervals are those of JMeter.
pub static LIVE_OUTPUTS: [LiveOutputRow; 2] = [
    LiveOutputRow {
        name: "influx",
        value: "URL",
        title: "InfluxDB",
        interval: Duration::from_secs(5),
        read: influx,
    },
    LiveOutputRow {
        name: "graphite",
        value: "HOST:PORT",
        title: "Graphite",
        interval: Duration::from_secs(1),
        read: graphite,
    },
];

/// Environment variable with a token for InfluxDB, the same as for InfluxDB's own command.
const TOKEN: &str = "INFLUX_TOKEN";
/// Default of the name under which requests are sent.
const APPLICATION: &str = "brunt";
/// Default prefix of paths in Graphite.
const PREFIX: &str = "jmeter.";
/// Graphite's port for plain text.
const GRAPHITE_PORT: u16 = 2003;
/// The percentiles of JMeter's element.
const PERCENTILES: [f32; 3] = [90.0, 95.0, 99.0];

const INFLUX_EXAMPLE: &str = "'influx=http://HOST:8086/write?db=NAME' (InfluxDB 1), or \
                              'influx=http://HOST:8086/api/v2/write?org=ORG&bucket=BUCKET' (InfluxDB 2, with the token in INFLUX_TOKEN)";
const GRAPHITE_EXAMPLE: &str = "graphite=HOST:2003, or graphite=HOST:2003/PREFIX";

/// The row of a value of `-o`; None if it names no such system.
pub fn row(word: &str) -> Option<&'static LiveOutputRow> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    LIVE_OUTPUTS.iter().find(|row| row.name == name)
}

impl LiveOutputRow {
    /// Parses a value of this row.
    ///
    /// # Errors
    ///
    /// [`WordError`] if the value after the `=` is invalid.
    pub fn parse(
        &self,
        word: &str,
        environment: EnvironmentVariable,
    ) -> Result<LiveOutput, WordError> {
        let value = word.split_once('=').map_or("", |(_, value)| value).trim();
        let sink = (self.read)(&filled(value, environment)?, environment)?;
        Ok(LiveOutput {
            sink,
            interval: self.interval,
            percentiles: PERCENTILES.to_vec(),
            labels: LabelFilter::All,
        })
    }
}

/// Parses a URL, and the name of the application after `#`. Errors do not repeat the query, which
/// may contain a password.
fn influx(value: &str, environment: EnvironmentVariable) -> Result<LiveSink, WordError> {
    // Errors show this text, and the query of InfluxDB 1 may contain a password.
    let shown = format!("influx={}", without_query(value));
    let (url, application) = value.split_once('#').unwrap_or((value, APPLICATION));
    let parsed = Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let parsed = parsed.ok_or_else(|| influx_error(&shown, "not an http or https URL"))?;
    // InfluxDB 1 also takes the credentials in the query.
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(WordError::new(
            &shown,
            "a user and a password before the host are not sent",
            "them into the query, the password from the environment: `&u=USER&p=${env:PASSWORD}`",
        ));
    }
    match parsed.path() {
        "/" => return Err(influx_error(&shown, "the path is missing")),
        path if path.ends_with("/api/v2/write") && !has_bucket(&parsed) => {
            return Err(influx_error(&shown, "the bucket is missing"));
        }
        _ => {}
    }
    Ok(LiveSink::Influx(InfluxSink {
        url: parsed.into(),
        token: environment(TOKEN)
            .filter(|token| !token.trim().is_empty())
            .map(|token| AccessToken(token.trim().to_owned())),
        // JMeter's default, so that dashboards made for JMeter show brunt's figures.
        measurement: "jmeter".into(),
        application: application.to_owned(),
        title: "Test".into(),
        event_tags: String::new(),
        tags: Vec::new(),
    }))
}

fn influx_error(shown: &str, wrong: &str) -> WordError {
    WordError::new(shown, wrong, INFLUX_EXAMPLE)
}

fn has_bucket(url: &Url) -> bool {
    url.query_pairs().any(|(key, value)| key == "bucket" && !value.is_empty())
}

/// Parses host and port, and the prefix of paths after `/`.
fn graphite(value: &str, _: EnvironmentVariable) -> Result<LiveSink, WordError> {
    let word = format!("graphite={value}");
    if value.contains("://") {
        return Err(graphite_error(&word, "Graphite takes plain text over TCP, which has no URL"));
    }
    let (address, prefix) =
        value.split_once('/').map_or((value, None), |(address, prefix)| (address, Some(prefix)));
    // An IPv6 address in brackets contains colons but may have no port.
    let is_bare = address.ends_with(']') || !address.contains(':');
    let (host, port) = if is_bare { None } else { address.rsplit_once(':') }
        .map_or((address, None), |(h, p)| (h, Some(p)));
    let host = match Host::parse(host)
        .map_err(|_| graphite_error(&word, "the host is missing or not valid"))?
    {
        Host::Ipv6(address) => address.to_string(),
        host => host.to_string(),
    };
    let port = port.map_or(Ok(GRAPHITE_PORT), str::parse).ok().filter(|port| *port > 0);
    let port =
        port.ok_or_else(|| graphite_error(&word, "the port is not a number from 1 to 65535"))?;
    let prefix =
        prefix.map(|prefix| prefix.trim_matches(['/', '.'])).filter(|prefix| !prefix.is_empty());
    if prefix.is_some_and(|prefix| prefix.contains(|c: char| c.is_whitespace() || c.is_control())) {
        return Err(graphite_error(&word, "the prefix holds white space"));
    }
    // Graphite separates the levels of a path by dots.
    let prefix =
        prefix.map_or_else(|| PREFIX.to_owned(), |prefix| format!("{}.", prefix.replace('/', ".")));
    Ok(LiveSink::Graphite(GraphiteSink { host, port, prefix }))
}

fn graphite_error(word: &str, wrong: &str) -> WordError {
    WordError::new(word, wrong, GRAPHITE_EXAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        [("INFLUX_TOKEN", "abc=="), ("PW", "secret9")]
            .into_iter()
            .find(|row| row.0 == name)
            .map(|row| row.1.into())
    }

    fn read(word: &str) -> Result<LiveSink, String> {
        let row = row(word).ok_or("no row")?;
        row.parse(word, environment).map(|output| output.sink).map_err(|error| error.to_string())
    }

    #[test]
    fn the_url_of_influx_is_read_with_its_token_and_application() {
        let LiveSink::Influx(two) =
            read("influx=https://h/api/v2/write?org=o&bucket=b#shop").unwrap()
        else {
            panic!()
        };
        assert_eq!(
            (two.url.as_str(), two.application.as_str()),
            ("https://h/api/v2/write?org=o&bucket=b", "shop")
        );
        assert_eq!(two.token, Some(AccessToken("abc==".into())));
        let LiveSink::Influx(one) =
            read("influx=http://h:8086/write?db=x&u=me&p=${env:PW}").unwrap()
        else {
            panic!()
        };
        assert_eq!(one.url, "http://h:8086/write?db=x&u=me&p=secret9");
        assert_eq!((one.measurement.as_str(), one.application.as_str()), ("jmeter", "brunt"));
    }

    #[test]
    fn the_address_of_graphite_is_read_with_its_prefix() {
        for (word, host, port, prefix) in [
            ("graphite=h", "h", 2003, "jmeter."),
            ("graphite=10.0.0.1:2013", "10.0.0.1", 2013, "jmeter."),
            ("graphite=[::1]:2004/a.b", "::1", 2004, "a.b."),
            ("graphite=[::1]", "::1", 2003, "jmeter."),
            ("graphite=h:2003/team/shop/", "h", 2003, "team.shop."),
        ] {
            let sink = GraphiteSink { host: host.into(), port, prefix: prefix.into() };
            assert_eq!(read(word).unwrap(), LiveSink::Graphite(sink), "{word}");
        }
    }

    #[test]
    fn errors_contain_no_secrets() {
        for (word, message) in [
            (
                "influx",
                "`influx=`: not an http or https URL; write 'influx=http://HOST:8086/write?db=NAME'",
            ),
            ("influx=foo", "not an http or https URL"),
            ("influx=http://h:8086", "the path is missing"),
            ("influx=http://h:8086/api/v2/write?org=o", "the bucket is missing"),
            ("influx=http://me:secret9@h/write?db=x", "before the host are not sent"),
            ("influx=ftp://h/write?p=secret9", "`influx=ftp://h/write`: not an http"),
            ("influx=http://h/?p=${env:PW}", "the path is missing"),
            ("influx=http://h/write?p=${env:NONE}", "NONE is not set"),
            ("graphite", "the host is missing"),
            ("graphite=h:x", "not a number from 1 to 65535"),
            ("graphite=h:0", "not a number"),
            ("graphite=http://h:2003", "which has no URL"),
            ("graphite=h:1/a b", "white space"),
        ] {
            let wrong = read(word).unwrap_err();
            assert!(wrong.contains(message) && !wrong.contains("secret9"), "{word}: {wrong}");
        }
        assert!(row("json=influx").is_none() && row("text").is_none());
    }
}
