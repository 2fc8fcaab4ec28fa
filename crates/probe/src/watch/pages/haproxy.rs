//! `HAProxy`'s statistics as CSV (its management guide, 9.1): a line for each frontend, backend and server.

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;
use url::Url;

/// Proxies told one by one, at most.
const MOST_PROXIES: usize = 32;

pub(super) fn open(what: &Probed) -> Option<(&str, Parse)> {
    let Probed::Haproxy { url } = what else { return None };
    Some((url, Box::new(parse)))
}

/// `;csv` at the end of the path makes a page of CSV; a file of its own ends so as well.
pub(super) fn complete(url: &mut Url) {
    if !url.path().ends_with("csv") {
        let path = format!("{};csv", url.path());
        url.set_path(&path);
    }
}

/// A line by its columns' names.
type Line = BTreeMap<String, String>;

/// Of the fullest frontend its connections beside their limit; of all backends what waits; of all servers with a limit
/// (`maxconn`) what they have beside it.
pub(super) fn parse(text: &str) -> Option<Values> {
    let lines = lines(text)?;
    let of =
        |kind: &str| -> Vec<&Line> { lines.iter().filter(|l| l.get("svname").is_some_and(|s| s == kind)).collect() };
    let (frontends, backends) = (of("FRONTEND"), of("BACKEND"));
    let servers: Vec<&Line> = lines.iter().filter(|l| l.get("slim").is_some() && is_server(l)).collect();
    let mut values = Values::default();
    let filled = |line: &Line| figure(line, "scur").unwrap_or(0.0) / figure(line, "slim").unwrap_or(f64::INFINITY);
    if let Some(fullest) = frontends.iter().max_by(|a, b| filled(a).total_cmp(&filled(b))) {
        values.push_some(server::CONNECTIONS, figure(fullest, "scur"));
        values.push_some(server::CONNECTIONS_LIMIT, figure(fullest, "slim"));
    }
    values.push_some(server::ACCEPTED, sum(&frontends, "stot"));
    values.push_some(server::REQUESTS, sum(&frontends, "req_tot"));
    values.push_some(server::REQUEST_ERRORS, sum(&frontends, "hrsp_5xx"));
    values.push_some(server::QUEUE, sum(&backends, "qcur"));
    if !servers.is_empty() && servers.iter().all(|line| figure(line, "slim").is_some()) {
        values.push_some(server::WORKERS_BUSY, sum(&servers, "scur"));
        values.push_some(server::WORKERS_LIMIT, sum(&servers, "slim"));
    }
    for backend in backends.iter().take(MOST_PROXIES) {
        let Some(name) = backend.get("pxname") else { continue };
        values.push_some(server::of_connector(name, server::QUEUE), figure(backend, "qcur"));
        values.push_some(server::of_connector(name, server::CONNECTIONS), figure(backend, "scur"));
    }
    Some(values)
}

fn is_server(line: &Line) -> bool {
    line.get("svname").is_some_and(|s| s != "FRONTEND" && s != "BACKEND") && line.get("type").is_none_or(|t| t == "2")
}

/// The first line names the columns, after `# `.
fn lines(text: &str) -> Option<Vec<Line>> {
    let text = text.strip_prefix("# ").filter(|text| text.starts_with("pxname,svname,"))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().ok()?.clone();
    let line = |record: csv::StringRecord| {
        names.iter().zip(record.iter()).map(|(n, v)| (n.to_owned(), v.to_owned())).collect()
    };
    Some(reader.records().filter_map(Result::ok).map(line).collect())
}

/// An empty field is a figure that this line has not.
fn figure(line: &Line, name: &str) -> Option<f64> {
    line.get(name)?.parse().ok()
}

fn sum(lines: &[&Line], name: &str) -> Option<f64> {
    lines.iter().filter_map(|line| figure(line, name)).reduce(|a, b| a + b)
}
