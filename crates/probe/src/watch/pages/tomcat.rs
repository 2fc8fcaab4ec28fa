//! Parses Tomcat's manager status as XML: the threads of each connector, and the
//! requests that it served.

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeMap;

/// Maximum number of connectors that are reported individually.
const MAX_CONNECTORS: usize = 32;
/// Values by their attributes on the page and as readings.
const FIGURES: &[(&str, &str)] = &[
    ("currentThreadsBusy", server::WORKERS_BUSY),
    ("currentThreadCount", server::WORKERS),
    ("maxThreads", server::WORKERS_LIMIT),
    ("requestCount", server::REQUESTS),
    ("errorCount", server::REQUEST_ERRORS),
];

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::Tomcat { url } = probed else { return None };
    Some((url, Box::new(parse)))
}

/// The values of each connector, by its name.
type Connectors = BTreeMap<String, BTreeMap<&'static str, f64>>;

/// Parses the page. It reports the values of each connector, and those of the connector with the
/// busiest threads as the server's. The request for the page itself is one of the busy ones.
pub(super) fn parse(text: &str) -> Option<Values> {
    let connectors = connectors(text)?;
    let mut values = Values::default();
    let fullest = connectors.values().max_by(|a, b| busy_ratio(a).total_cmp(&busy_ratio(b)))?;
    for (name, value) in fullest {
        values.push(*name, *value);
    }
    for (connector, figures) in connectors.iter().take(MAX_CONNECTORS) {
        for (name, value) in figures {
            values.push(server::of_connector(connector, name), *value);
        }
    }
    Some(values)
}

fn busy_ratio(figures: &BTreeMap<&'static str, f64>) -> f64 {
    let busy = figures.get(server::WORKERS_BUSY).copied().unwrap_or(0.0);
    let limit = figures.get(server::WORKERS_LIMIT).copied().unwrap_or(0.0);
    busy / limit.max(1.0)
}

fn connectors(text: &str) -> Option<Connectors> {
    let mut reader = Reader::from_str(text);
    let mut connectors = Connectors::new();
    let mut current = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) if tag.name().as_ref() == "connector" => {
                current = connector_name(&tag);
            }
            Event::End(tag) if tag.name().as_ref() == "connector" => current = None,
            Event::Start(tag) | Event::Empty(tag) => {
                if let Some(name) = current
                    .as_ref()
                    .filter(|_| matches!(tag.name().as_ref(), "threadInfo" | "requestInfo"))
                {
                    add_figures(&tag, connectors.entry(String::clone(name)).or_default());
                }
            }
            Event::Eof => return Some(connectors),
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // The check for duplicates compares each attribute with all before it, and a
    // duplicate does no harm.
    let mut readable = attributes.with_checks(false).filter_map(Result::ok);
    Some(readable.find(|attribute| attribute.key.as_ref() == name)?.value.into_owned())
}

/// Returns a connector's name without the quotes around it: `"http-nio-8080"`.
fn connector_name(tag: &BytesStart) -> Option<String> {
    Some(attribute(tag, "name")?.replace("&quot;", "").trim_matches('"').to_owned())
}

fn add_figures(tag: &BytesStart, figures: &mut BTreeMap<&'static str, f64>) {
    for (key, reading) in FIGURES {
        if let Some(value) = attribute(tag, key).and_then(|v| v.parse::<f64>().ok()) {
            figures.insert(reading, value);
        }
    }
}
