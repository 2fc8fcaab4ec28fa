//! Tomcat's manager status as XML: threads of each connector, and what it served.

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeMap;

/// Connectors told, at most.
const MOST_CONNECTORS: usize = 32;
/// Figures, by their attributes there and ours.
const FIGURES: &[(&str, &str)] = &[
    ("currentThreadsBusy", server::WORKERS_BUSY),
    ("currentThreadCount", server::WORKERS),
    ("maxThreads", server::WORKERS_LIMIT),
    ("requestCount", server::REQUESTS),
    ("errorCount", server::REQUEST_ERRORS),
];

pub(super) fn open(what: &Probed) -> Option<(&str, Parse)> {
    let Probed::Tomcat { url } = what else { return None };
    Some((url, Box::new(parse)))
}

/// By name: the connector's figures.
type Connectors = BTreeMap<String, BTreeMap<&'static str, f64>>;

/// Each connector's figures, and those of the one whose threads are busiest as the server's. The request for this page is
/// one of the busy ones.
pub(super) fn parse(text: &str) -> Option<Values> {
    let connectors = connectors(text)?;
    let busy = |figures: &BTreeMap<&str, f64>| {
        let of = |name| figures.get(name).copied().unwrap_or(0.0);
        of(server::WORKERS_BUSY) / of(server::WORKERS_LIMIT).max(1.0)
    };
    let mut values = Values::default();
    let fullest = connectors.values().max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
    for (name, value) in fullest {
        values.push(*name, *value);
    }
    for (connector, figures) in connectors.iter().take(MOST_CONNECTORS) {
        for (name, value) in figures {
            values.push(server::of_connector(connector, name), *value);
        }
    }
    Some(values)
}

fn connectors(text: &str) -> Option<Connectors> {
    let mut reader = Reader::from_str(text);
    let mut connectors = Connectors::new();
    let mut current = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) if tag.name().as_ref() == "connector" => current = name(&tag),
            Event::End(tag) if tag.name().as_ref() == "connector" => current = None,
            Event::Start(tag) | Event::Empty(tag) => {
                if let Some(name) =
                    current.as_ref().filter(|_| matches!(tag.name().as_ref(), "threadInfo" | "requestInfo"))
                {
                    take(&tag, connectors.entry(String::clone(name)).or_default());
                }
            }
            Event::Eof => return Some(connectors),
            _ => {}
        }
    }
}

fn attribute(tag: &BytesStart, name: &str) -> Option<String> {
    let found = tag.attributes().with_checks(false).filter_map(Result::ok).find(|a| a.key.as_ref() == name)?;
    Some(found.value.into_owned())
}

/// A connector's name stands in quotes of its own: `"http-nio-8080"`.
fn name(tag: &BytesStart) -> Option<String> {
    Some(attribute(tag, "name")?.replace("&quot;", "").trim_matches('"').to_owned())
}

fn take(tag: &BytesStart, into: &mut BTreeMap<&'static str, f64>) {
    for (there, ours) in FIGURES {
        if let Some(value) = attribute(tag, there).and_then(|v| v.parse::<f64>().ok()) {
            into.insert(ours, value);
        }
    }
}
