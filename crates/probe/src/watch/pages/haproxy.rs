//! Parses `HAProxy`'s statistics as CSV (its management guide, 9.1): a line for each
//! frontend, backend and server.

use super::Parse;
use crate::sources::Values;
use brunt_model::Probed;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;
use url::Url;

/// Maximum number of backends that are reported individually.
const MAX_BACKENDS: usize = 32;

pub(super) fn open(probed: &Probed) -> Option<(&str, Parse)> {
    let Probed::Haproxy { url } = probed else { return None };
    Some((url, Box::new(parse)))
}

/// Completes the path. A path that ends with `;csv` returns CSV; a path may also end with a file
/// name such as `stats.csv`.
pub(super) fn complete(url: &mut Url) {
    if !url.path().ends_with("csv") {
        let path = format!("{};csv", url.path());
        url.set_path(&path);
    }
}

/// The values of a line, by column name.
type Line = BTreeMap<String, String>;

/// Parses the page. It reports the connections and limit of the fullest frontend, the queues of all
/// backends, and the connections and limits (`maxconn`) of all servers that have a limit.
pub(super) fn parse(text: &str) -> Option<Values> {
    let lines = lines(text)?;
    let frontends = lines_of_kind(&lines, "FRONTEND");
    let backends = lines_of_kind(&lines, "BACKEND");
    let servers: Vec<&Line> =
        lines.iter().filter(|l| l.get("slim").is_some() && is_server(l)).collect();
    let mut values = Values::default();
    if let Some(fullest) = frontends.iter().max_by(|a, b| fill_ratio(a).total_cmp(&fill_ratio(b))) {
        values.push_some(server::CONNECTIONS, figure(fullest, "scur"));
        values.push_some(server::CONNECTIONS_LIMIT, figure(fullest, "slim"));
    }
    values.push_some(server::ACCEPTED, sum(&frontends, "stot"));
    values.push_some(server::REQUESTS, sum(&frontends, "req_tot"));
    values.push_some(server::REQUEST_ERRORS, sum(&frontends, "hrsp_5xx"));
    values.push_some(server::QUEUE, sum(&backends, "qcur"));
    // A sum in which one limit is missing would be too low.
    if !servers.is_empty() && servers.iter().all(|line| figure(line, "slim").is_some()) {
        values.push_some(server::WORKERS_BUSY, sum(&servers, "scur"));
        values.push_some(server::WORKERS_LIMIT, sum(&servers, "slim"));
    }
    for backend in backends.iter().take(MAX_BACKENDS) {
        let Some(name) = backend.get("pxname") else { continue };
        values.push_some(server::of_connector(name, server::QUEUE), figure(backend, "qcur"));
        values.push_some(server::of_connector(name, server::CONNECTIONS), figure(backend, "scur"));
    }
    Some(values)
}

fn lines_of_kind<'l>(lines: &'l [Line], kind: &str) -> Vec<&'l Line> {
    lines.iter().filter(|line| line.get("svname").is_some_and(|name| name == kind)).collect()
}

fn fill_ratio(line: &Line) -> f64 {
    // Without a limit, nothing fills up.
    figure(line, "scur").unwrap_or(0.0) / figure(line, "slim").unwrap_or(f64::INFINITY)
}

fn is_server(line: &Line) -> bool {
    line.get("svname").is_some_and(|s| s != "FRONTEND" && s != "BACKEND")
        && line.get("type").is_none_or(|t| t == "2")
}

/// Parses the lines. The first one names the columns, after `# `.
fn lines(text: &str) -> Option<Vec<Line>> {
    let text = text.strip_prefix("# ").filter(|text| text.starts_with("pxname,svname,"))?;
    // A line may have more or fewer columns than the first one.
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let names = reader.headers().ok()?.clone();
    let records = reader.records().filter_map(Result::ok);
    let lines = records.map(|record| {
        names
            .iter()
            .zip(record.iter())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    });
    Some(lines.collect())
}

/// Returns a value of a line. None if the field is empty, because the line does not have the value.
fn figure(line: &Line, name: &str) -> Option<f64> {
    line.get(name)?.parse().ok()
}

fn sum(lines: &[&Line], name: &str) -> Option<f64> {
    lines.iter().filter_map(|line| figure(line, name)).reduce(|a, b| a + b)
}
