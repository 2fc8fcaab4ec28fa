//! The words of `-o` that send figures to another system while the load runs: `influx=URL`, `graphite=HOST:PORT`.
//!
//! [`LIVE_OUTPUTS`] has a row for each system. Out of scope: reports, whose formats are `report`'s.

use super::WordError;
use super::values::Environment;
use super::values::secrets::filled;
use brunt_model::live_output::{GraphiteSink, InfluxSink, LabelFilter, LiveOutput, LiveSink, Token, without_query};
use std::time::Duration;
use url::{Host, Url};

/// A system that figures can be sent to.
pub struct LiveOutputRow {
    /// Its name before the `=`.
    pub name: &'static str,
    /// What stands behind it, for the help.
    pub value: &'static str,
    /// The time that each set of figures is of.
    interval: Duration,
    /// Reads what stands behind it.
    read: fn(&str, Environment) -> Result<LiveSink, WordError>,
}

/// The systems. The intervals are those of JMeter.
pub static LIVE_OUTPUTS: [LiveOutputRow; 2] = [
    LiveOutputRow { name: "influx", value: "URL", interval: Duration::from_secs(5), read: influx },
    LiveOutputRow { name: "graphite", value: "HOST:PORT", interval: Duration::from_secs(1), read: graphite },
];

/// The variable of the environment that holds a token for InfluxDB, as InfluxDB's own command reads it.
const TOKEN: &str = "INFLUX_TOKEN";
/// The name that requests are sent under where nobody says one.
const APPLICATION: &str = "brunt";
/// The begin of paths in Graphite.
const PREFIX: &str = "jmeter.";
/// Graphite's port for plain text.
const GRAPHITE_PORT: u16 = 2003;
/// The percentiles of JMeter's element.
const PERCENTILES: [f32; 3] = [90.0, 95.0, 99.0];

const INFLUX_EXAMPLE: &str = "'influx=http://HOST:8086/write?db=NAME' (InfluxDB 1), or \
                              'influx=http://HOST:8086/api/v2/write?org=ORG&bucket=BUCKET' (InfluxDB 2, with the token in INFLUX_TOKEN)";
const GRAPHITE_EXAMPLE: &str = "graphite=HOST:2003, or graphite=HOST:2003/PREFIX";

/// The row of a word, where it names a system that figures are sent to.
pub fn row(word: &str) -> Option<&'static LiveOutputRow> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    LIVE_OUTPUTS.iter().find(|row| row.name == name)
}

impl LiveOutputRow {
    /// Reads a word of this row.
    ///
    /// # Errors
    ///
    /// [`WordError`] if what stands behind the `=` is not of its form.
    pub fn parse(&self, word: &str, environment: Environment) -> Result<LiveOutput, WordError> {
        let value = word.split_once('=').map_or("", |(_, value)| value).trim();
        let sink = (self.read)(&filled(value, environment)?, environment)?;
        Ok(LiveOutput { sink, interval: self.interval, percentiles: PERCENTILES.to_vec(), labels: LabelFilter::All })
    }
}

/// A URL, and behind `#` the name of the application. No error repeats its query, which may hold a password.
fn influx(value: &str, environment: Environment) -> Result<LiveSink, WordError> {
    let shown = format!("influx={}", without_query(value));
    let wrong = |what: &str| WordError::new(&shown, what, INFLUX_EXAMPLE);
    let (url, application) = value.split_once('#').unwrap_or((value, APPLICATION));
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let parsed = parsed.ok_or_else(|| wrong("not an http or https URL"))?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(WordError::new(
            &shown,
            "a user and a password before the host are not sent",
            "them into the query, the password from the environment: `&u=USER&p=${env:PASSWORD}`",
        ));
    }
    let has = |name: &str| parsed.query_pairs().any(|(key, value)| key == name && !value.is_empty());
    match parsed.path() {
        "/" => return Err(wrong("the path is missing")),
        path if path.ends_with("/api/v2/write") && !has("bucket") => return Err(wrong("the bucket is missing")),
        _ => {}
    }
    Ok(LiveSink::Influx(InfluxSink {
        url: parsed.into(),
        token: environment(TOKEN).filter(|token| !token.trim().is_empty()).map(|token| Token(token.trim().to_owned())),
        measurement: "jmeter".into(),
        application: application.to_owned(),
        title: "Test".into(),
        event_tags: String::new(),
        tags: Vec::new(),
    }))
}

/// Host and port, and behind `/` what paths begin with.
fn graphite(value: &str, _: Environment) -> Result<LiveSink, WordError> {
    let word = format!("graphite={value}");
    let wrong = |what: &str| WordError::new(&word, what, GRAPHITE_EXAMPLE);
    if value.contains("://") {
        return Err(wrong("Graphite takes plain text over TCP, which has no URL"));
    }
    let (address, prefix) = value.split_once('/').map_or((value, None), |(address, prefix)| (address, Some(prefix)));
    let is_bare = address.ends_with(']') || !address.contains(':');
    let (host, port) =
        if is_bare { None } else { address.rsplit_once(':') }.map_or((address, None), |(h, p)| (h, Some(p)));
    let host = match Host::parse(host).map_err(|_| wrong("the host is missing or not valid"))? {
        Host::Ipv6(address) => address.to_string(),
        host => host.to_string(),
    };
    let port = port.map_or(Ok(GRAPHITE_PORT), str::parse).ok().filter(|port| *port > 0);
    let port = port.ok_or_else(|| wrong("the port is not a number from 1 to 65535"))?;
    let prefix = prefix.map(|prefix| prefix.trim_matches(['/', '.'])).filter(|prefix| !prefix.is_empty());
    if prefix.is_some_and(|prefix| prefix.contains(|c: char| c.is_whitespace() || c.is_control())) {
        return Err(wrong("the prefix holds white space"));
    }
    let prefix = prefix.map_or_else(|| PREFIX.to_owned(), |prefix| format!("{}.", prefix.replace('/', ".")));
    Ok(LiveSink::Graphite(GraphiteSink { host, port, prefix }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        [("INFLUX_TOKEN", "abc=="), ("PW", "secret9")].into_iter().find(|row| row.0 == name).map(|row| row.1.into())
    }

    fn read(word: &str) -> Result<LiveSink, String> {
        let row = row(word).ok_or("no row")?;
        row.parse(word, environment).map(|output| output.sink).map_err(|error| error.to_string())
    }

    #[test]
    fn the_url_of_influx_is_read_with_its_token_and_application() {
        let LiveSink::Influx(two) = read("influx=https://h/api/v2/write?org=o&bucket=b#shop").unwrap() else {
            panic!()
        };
        assert_eq!((two.url.as_str(), two.application.as_str()), ("https://h/api/v2/write?org=o&bucket=b", "shop"));
        assert_eq!(two.token, Some(Token("abc==".into())));
        let LiveSink::Influx(one) = read("influx=http://h:8086/write?db=x&u=me&p=${env:PW}").unwrap() else { panic!() };
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
    fn what_is_wrong_is_told_without_secrets() {
        for (word, told) in [
            ("influx", "`influx=`: not an http or https URL; write 'influx=http://HOST:8086/write?db=NAME'"),
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
            assert!(wrong.contains(told) && !wrong.contains("secret9"), "{word}: {wrong}");
        }
        assert!(row("json=influx").is_none() && row("text").is_none());
    }
}
