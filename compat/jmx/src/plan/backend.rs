//! Converts Backend Listeners to live outputs.
//!
//! Supports JMeter's clients for InfluxDB over HTTP and Graphite over TCP, with the senders that
//! write text. Listeners of other classes are omitted with a notice.

use super::PlanReader;
use crate::element::TestElement;
use crate::property::Property;
use crate::support::kinds::Variables;
use brunt_model::live_output::{
    AccessToken, GraphiteSink, InfluxSink, LabelFilter, LiveOutput, LiveSink,
};
use brunt_script::pattern::Pattern;
use std::collections::BTreeMap;
use std::time::Duration;

const INFLUX: &str = "InfluxdbBackendListenerClient";
const INFLUX_SENDER: &str = "HttpMetricsSender";
const GRAPHITE: &str = "GraphiteBackendListenerClient";
const GRAPHITE_SENDER: &str = "TextGraphiteMetricsSender";
/// Placeholder of JMeter's user interface for the host.
const EXAMPLE_HOST: &str = "host_to_change";
/// JMeter property for the seconds between two reports, and its default.
const INFLUX_INTERVAL: &str = "backend_influxdb.send_interval";
const INFLUX_INTERVAL_SECONDS: u64 = 5;
const GRAPHITE_INTERVAL: &str = "backend_graphite.send_interval";
const GRAPHITE_INTERVAL_SECONDS: u64 = 1;

struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Value of an argument; empty if absent.
    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.trim())
    }

    fn or<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        Some(self.text(name)).filter(|value| !value.is_empty()).unwrap_or(default)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        match self.text(name) {
            "" => default,
            text => text.eq_ignore_ascii_case("true"),
        }
    }

    /// Percentiles separated by `;`. Like JMeter, ignores entries that are not numbers.
    fn percentiles(&self) -> Vec<f32> {
        let each = self.text("percentiles").split(';').filter_map(|word| word.trim().parse().ok());
        let mut all: Vec<f32> =
            each.filter(|percentile| (0.0..=100.0).contains(percentile)).collect();
        all.dedup();
        all
    }
}

impl PlanReader<'_> {
    /// Converts a Backend Listener, or adds a notice if it is omitted.
    pub(super) fn backend(&mut self, element: TestElement<'_>) {
        match self.live_output(element) {
            Ok(output) => self.live_outputs.push(output),
            Err(reason) => self.notice(format!("{}: left out, {reason}", element.place())),
        }
    }

    fn live_output(&self, element: TestElement<'_>) -> Result<LiveOutput, String> {
        let class = self.value(element, "classname");
        let name = class.trim().rsplit('.').next().unwrap_or_default().to_owned();
        let list = element.property("arguments/Arguments.arguments");
        let values = Variables::pairs(list.iter().flat_map(Property::items))
            .map(|(name, value)| (name, self.before.text(&value)));
        let arguments = Arguments(values.collect());
        if self.context.resolve_all.is_some() && [INFLUX, GRAPHITE].contains(&&*name) {
            return Err(
                "the plan runs against one address in place of its hosts, and its figures are not for real systems \
                        then; `-o influx=URL` or `-o graphite=HOST:PORT` of `brunt run` sends them"
                    .into(),
            );
        }
        match &*name {
            INFLUX => self.influx(&arguments),
            GRAPHITE => self.graphite(&arguments),
            _ => Err(format!(
                "no figures are sent by its class `{}`; brunt has those of {INFLUX} and {GRAPHITE}, and `-o json=FILE` \
                 writes them at the end",
                class.trim()
            )),
        }
    }

    /// Time between two reports; the default if the property is absent or not positive.
    fn interval(&self, property: &str, default_seconds: u64) -> Duration {
        let seconds =
            self.context.properties.get(property).and_then(|text| text.trim().parse().ok());
        Duration::from_secs(seconds.filter(|seconds| *seconds > 0).unwrap_or(default_seconds))
    }

    fn influx(&self, arguments: &Arguments) -> Result<LiveOutput, String> {
        check_sender(arguments.or("influxdbMetricsSender", INFLUX_SENDER), INFLUX_SENDER)?;
        let url = arguments.text("influxdbUrl");
        if url.contains(EXAMPLE_HOST) {
            return Err("its URL is still JMeter's example; write the host of InfluxDB".into());
        }
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(
                "its influxdbUrl is not an http or https URL; write http://HOST:8086/write?db=NAME"
                    .into(),
            );
        }
        let regex = arguments.text("samplersRegex");
        let labels = match (arguments.flag("summaryOnly", false), regex) {
            (true, _) => LabelFilter::None,
            (false, "" | ".*") => LabelFilter::All,
            (false, regex) => LabelFilter::Containing(checked_pattern(regex, "samplersRegex")?),
        };
        let tags = arguments
            .0
            .iter()
            .filter_map(|(name, value)| Some((name.strip_prefix("TAG_")?, value.trim())));
        let token = Some(arguments.text("influxdbToken")).filter(|token| !token.is_empty());
        let sink = LiveSink::Influx(InfluxSink {
            url: url.to_owned(),
            token: token.map(|token| AccessToken(token.to_owned())),
            measurement: arguments.or("measurement", "jmeter").to_owned(),
            application: arguments.text("application").to_owned(),
            title: arguments.or("testTitle", "Test").to_owned(),
            event_tags: arguments.text("eventTags").to_owned(),
            tags: tags.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        });
        let interval = self.interval(INFLUX_INTERVAL, INFLUX_INTERVAL_SECONDS);
        Ok(LiveOutput { sink, interval, percentiles: arguments.percentiles(), labels })
    }

    fn graphite(&self, arguments: &Arguments) -> Result<LiveOutput, String> {
        check_sender(arguments.or("graphiteMetricsSender", GRAPHITE_SENDER), GRAPHITE_SENDER)?;
        let host = arguments.text("graphiteHost");
        if host.is_empty() {
            return Err("its graphiteHost is empty; write the host of Graphite".into());
        }
        let port = arguments.or("graphitePort", "2003").parse().ok().filter(|port: &u16| *port > 0);
        let port = port.ok_or_else(|| {
            "its graphitePort is not a number from 1 to 65535; write 2003".to_owned()
        })?;
        let list = arguments.text("samplersList");
        // Unlike its client for InfluxDB, JMeter's client for Graphite sends only the summary by
        // default.
        let labels = match (
            arguments.flag("summaryOnly", true),
            arguments.flag("useRegexpForSamplersList", false),
        ) {
            (true, _) => LabelFilter::None,
            (false, true) => LabelFilter::Matching(checked_pattern(list, "samplersList")?),
            (false, false) => LabelFilter::Named(list.split(';').map(str::to_owned).collect()),
        };
        let prefix = arguments.or("rootMetricsPrefix", "jmeter.").to_owned();
        // An IPv6 address may be in brackets.
        let sink = LiveSink::Graphite(GraphiteSink {
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
            prefix,
        });
        let percentiles = arguments.percentiles();
        let interval = self.interval(GRAPHITE_INTERVAL, GRAPHITE_INTERVAL_SECONDS);
        Ok(LiveOutput { sink, interval, percentiles, labels })
    }
}

/// Fails unless the sender class is the one that brunt replaces.
fn check_sender(class: &str, supported: &str) -> Result<(), String> {
    if class.rsplit('.').next() == Some(supported) {
        return Ok(());
    }
    Err(format!("no figures are sent by the class `{class}`; choose {supported} in its place"))
}

fn checked_pattern(regex: &str, name: &str) -> Result<String, String> {
    Pattern::new(regex)
        .map_err(|reason| format!("its {name} is no regular expression: {reason}"))?;
    Ok(regex.to_owned())
}

#[cfg(test)]
mod tests;
