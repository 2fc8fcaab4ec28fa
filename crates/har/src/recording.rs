//! Reads recordings of browsers: HAR 1.2, as exported by Chrome and Firefox.

mod correlate;
mod entry;
mod socket;

use crate::error::ImportError;
use crate::json::{JsonNode, parse};
use crate::plan::{ImportedBody, ImportedPlan, ImportedRequest, ImportedRequests};
use crate::secrets::Names;
use crate::{body, request};
use brunt_model::load::ThinkTime;
use brunt_model::scenario::{ConcurrencyMode, Pauses, ScenarioStep};
pub use entry::Reply;
use entry::{Entry, without_fragment};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;
use url::Url;

/// Header fields that are not copied: those of one connection, of the browser's cache
/// and cookies, and computed ones.
const SKIPPED_FIELDS: [&str; 22] = [
    "host",
    "connection",
    "content-length",
    "cookie",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "if-none-match",
    "if-modified-since",
    "cache-control",
    "pragma",
    "upgrade-insecure-requests",
    "dnt",
    "priority",
    "expect",
    "alt-used",
    "x-client-data",
];

/// Range of pauses, in milliseconds. Shorter ones are left out, longer ones are capped.
const MIN_PAUSE: f64 = 100.0;
const MAX_PAUSE: f64 = 600_000.0;

/// Number of concurrent requests of a browser over HTTP/1.1 to one server.
const CONNECTIONS_OF_BROWSERS: u32 = 6;

/// Maximum length of a body, in bytes.
// A plan file has at most 1 MB.
const MAX_BODY_BYTES: usize = 200_000;

/// Options of reading a recording.
#[derive(Debug, Clone, Default)]
pub struct HarOptions {
    /// Name of the input, for errors and the plan's first comment.
    pub file: String,
    /// Server that replaces the one in the input.
    pub base: Option<String>,
    /// Write recorded pauses between pages.
    pub think: bool,
    /// Include images, scripts, style sheets and fonts.
    pub resources: bool,
    /// Host whose requests are included; None for that of the first page.
    pub site: Option<String>,
    /// Further hosts to include.
    pub hosts: Vec<String>,
}

/// A request of the plan, with the reply after all redirects.
#[derive(Debug)]
pub struct Flow {
    page: String,
    started: f64,
    ended: f64,
    /// True for an image, script, style sheet or font, which is requested in parallel.
    pub is_resource: bool,
    /// The request, with literal texts.
    pub request: ImportedRequest,
    /// The last reply.
    pub reply: Reply,
    /// URL of the last reply, if redirects led to it.
    pub redirected: Option<Url>,
    /// Comments above the request in the plan.
    pub comments: Vec<String>,
    /// Redirect target of the last reply in the chain.
    next: Option<Url>,
}

/// Reads the recording of a browser.
///
/// # Errors
///
/// [`ImportError`] with its line or JSON path if it is not a HAR.
pub fn read(text: &str, options: &HarOptions) -> Result<ImportedPlan, ImportError> {
    read_with(text, options, |flows, names| correlate::correlate(flows, names))
}

/// Reads the requests of a recording that [`read`] writes to the plan.
///
/// # Errors
///
/// [`ImportError`] with its line or JSON path if it is not a HAR.
pub fn flows(text: &str, options: &HarOptions) -> Result<Vec<Flow>, ImportError> {
    let mut flows = Vec::new();
    read_with(text, options, |all, _| flows = std::mem::take(all))?;
    Ok(flows)
}

/// Reads the recording of a browser. `correlate` adds extractors to its requests, and replaces
/// values by variables, with new names.
///
/// # Errors
///
/// [`ImportError`] with its line or JSON path if it is not a HAR.
pub fn read_with(
    text: &str,
    options: &HarOptions,
    correlate: impl FnOnce(&mut Vec<Flow>, &mut Names),
) -> Result<ImportedPlan, ImportError> {
    let document = parse(text, &options.file)?;
    let root = JsonNode::root(&options.file, &document);
    let log = root.need("log", "a recording (HAR 1.2)")?;
    let list = log.need("entries", "a list of requests")?;
    let mut plan = ImportedPlan {
        about: format!("Imported from the recording {}.", options.file),
        ..ImportedPlan::default()
    };
    let mut left_out = LeftOut::default();
    let mut entries = Vec::new();
    let mut sockets = Vec::new();
    for item in list.items() {
        if let Some(socket) = socket::flows(&item) {
            sockets.push(socket);
            continue;
        }
        match Entry::read(&item) {
            Ok(entry) => entries.push(entry),
            Err(reason) => left_out.add(reason),
        }
    }
    // HAR 1.2 recommends this order, but readers must not rely on it.
    entries.sort_by(|a, b| a.started.total_cmp(&b.started));
    // Some tools record no replies at all. Then a request without a reply has not failed.
    let has_replies = entries.iter().any(|entry| entry.reply.status != 0);
    let mut flows = selected(entries, options, &mut left_out, has_replies);
    add_sockets(&mut flows, sockets, &mut left_out);
    plan.left_out = left_out.reasons();
    let mut names = Names::default();
    correlate(&mut flows, &mut names);
    let pages: BTreeMap<&str, &str> = log.value["pages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|page| Some((page["id"].as_str()?, page["title"].as_str()?)))
        .collect();
    plan.steps = group_by_page(flows, &pages, options, &mut plan.requests);
    request::finish(&mut plan, &mut names, options.base.as_deref());
    Ok(plan)
}

/// Adds the steps of WebSockets to hosts of other requests, in order of time.
fn add_sockets(flows: &mut Vec<Flow>, sockets: Vec<Vec<Flow>>, left_out: &mut LeftOut) {
    let hosts: HashSet<String> = flows.iter().map(|flow| host_of(&flow.request.server)).collect();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    for socket in sockets {
        let name = host_of(&socket[0].request.server);
        if is_included(&name, &hosts) {
            flows.extend(socket);
        } else {
            *left_out.hosts.entry(name).or_default() += 1;
        }
    }
    flows.sort_by(|a, b| a.started.total_cmp(&b.started));
}

/// Host of a server such as `http://127.0.0.1:8080`.
fn host_of(server: &str) -> String {
    let url = Url::parse(server).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// Numbers of requests that are left out, by reason.
#[derive(Default)]
struct LeftOut {
    reasons: BTreeMap<&'static str, usize>,
    hosts: BTreeMap<String, usize>,
}

impl LeftOut {
    fn add(&mut self, reason: &'static str) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    fn reasons(&self) -> Vec<String> {
        let mut parts: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        let mut hosts: Vec<(&String, &usize)> = self.hosts.iter().collect();
        hosts.sort_by_key(|(host, count)| (std::cmp::Reverse(**count), *host));
        if !hosts.is_empty() {
            let shown: Vec<String> =
                hosts.iter().take(12).map(|(host, count)| format!("{host} ({count})")).collect();
            let more = hosts.len().saturating_sub(12);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!(
                "requests to other hosts, which --host NAME adds: {}{more}",
                shown.join(", ")
            ));
        }
        parts
    }
}

/// Reason to leave out images and the like.
const RESOURCES: &str = "images, scripts, style sheets and fonts, which --resources keeps";

/// Selects the requests of the plan, in order.
fn selected(
    entries: Vec<Entry>,
    options: &HarOptions,
    left_out: &mut LeftOut,
    has_replies: bool,
) -> Vec<Flow> {
    let first = entries.iter().find(|entry| entry.is_document()).or(entries.first());
    let first_host = first.and_then(|entry| entry.url.host_str());
    let first_host = options.site.as_deref().or(first_host).unwrap_or_default();
    // Then other hosts of the site, such as static.example.org, are included.
    let first_host = first_host.strip_prefix("www.").unwrap_or(first_host).to_owned();
    let hosts: Vec<&str> = std::iter::once(first_host.as_str())
        .chain(options.hosts.iter().map(String::as_str))
        .collect();

    let mut flows: Vec<Flow> = Vec::new();
    // Targets of the redirects of requests that are left out.
    let mut redirected: Vec<Url> = Vec::new();
    for entry in entries {
        let host = entry.url.host_str().unwrap_or_default().to_owned();
        let url = without_fragment(entry.url.clone());
        // Only the latest requests are searched, since a redirect follows soon.
        if let Some(flow) =
            flows.iter_mut().rev().take(20).find(|flow| flow.next.as_ref() == Some(&url))
        {
            flow.next = entry.redirect();
            flow.comments.push(format!("redirected to {}, which is followed", short_path(&url)));
            flow.reply = entry.reply;
            flow.redirected = Some(url);
            flow.ended = flow.ended.max(entry.ended);
        } else if !is_included(&host, &hosts) {
            *left_out.hosts.entry(host).or_default() += 1;
        } else if entry.is_preflight() {
            left_out.add("CORS preflight requests, which the browser sent by itself");
        } else if entry.reply.status == 0 && has_replies {
            left_out.add("requests without a reply");
        } else if entry.reply.status == 101 {
            left_out.add("WebSocket connections");
        } else if let Some(place) = redirected.iter().position(|target| *target == url) {
            redirected.remove(place);
            redirected.extend(entry.redirect());
            left_out.add(RESOURCES);
        } else if entry.is_resource() && !options.resources {
            redirected.extend(entry.redirect());
            left_out.add(RESOURCES);
        } else if entry.method == "CONNECT" {
            left_out.add("requests for a tunnel (CONNECT)");
        } else {
            flows.push(flow(entry));
        }
    }
    flows
}

/// True if a host is one of these, or a subdomain of one.
fn is_included(host: &str, hosts: &[&str]) -> bool {
    hosts.iter().any(|known| {
        host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

fn short_path(url: &Url) -> String {
    url.path().chars().take(60).collect()
}

fn flow(entry: Entry) -> Flow {
    let is_resource = entry.is_resource();
    let next = entry.redirect();
    let raw_query = entry.url.query().map(str::to_owned);
    let mut comments = entry.comments;
    let mut body = entry.body;
    if let ImportedBody::Text(text) = &body
        && text.len() > MAX_BODY_BYTES
    {
        comments.push(format!(
            "left out: the body of {} bytes; put it into a file and write `file: NAME`",
            text.len()
        ));
        body = ImportedBody::None;
    }
    let request = ImportedRequest {
        method: entry.method,
        server: entry.url.origin().ascii_serialization(),
        path: entry.url.path().to_owned(),
        query: raw_query.as_deref().map(body::pairs).unwrap_or_default(),
        raw_query,
        headers: entry
            .headers
            .into_iter()
            .filter_map(|(name, value)| copied_header(name, value))
            .collect(),
        basic: None,
        body,
        ..ImportedRequest::default()
    };
    Flow {
        page: entry.page,
        started: entry.started,
        ended: entry.ended,
        is_resource,
        request,
        reply: entry.reply,
        redirected: None,
        comments,
        next,
    }
}

/// Returns a header field if it is copied to the plan.
fn copied_header(name: String, value: String) -> Option<(String, String)> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with(':')
        || lower.starts_with("sec-")
        || SKIPPED_FIELDS.contains(&lower.as_str())
    {
        return None;
    }
    // brunt decodes only these two encodings.
    let value = if lower == "accept-encoding" && value.contains("gzip") {
        "gzip, deflate".to_owned()
    } else {
        value
    };
    Some((name, value))
}

/// Converts the requests to steps: a transaction for each page, and pauses between pages.
fn group_by_page(
    flows: Vec<Flow>,
    pages: &BTreeMap<&str, &str>,
    options: &HarOptions,
    requests: &mut ImportedRequests,
) -> Vec<ScenarioStep> {
    let mut groups: Vec<Vec<Flow>> = Vec::new();
    for flow in flows {
        match groups.last_mut().filter(|group| group[0].page == flow.page && !flow.page.is_empty())
        {
            Some(group) => group.push(flow),
            None => groups.push(vec![flow]),
        }
    }
    let mut steps = Vec::new();
    let mut ended = 0.0_f64;
    for group in groups {
        let pause = (group[0].started - ended).min(MAX_PAUSE);
        if options.think && ended > 0.0 && pause >= MIN_PAUSE {
            let pause = Duration::from_millis((pause / 10.0).round() as u64 * 10);
            steps.push(ScenarioStep::Think(ThinkTime { least: pause, most: pause }));
        }
        // Requests of a page overlap, so the last one to start may end first.
        ended = group.iter().map(|flow| flow.ended).fold(ended, f64::max);
        let title = pages.get(group[0].page.as_str()).copied().unwrap_or_default();
        let name = page_name(title, &group[0].request);
        // A transaction of one request would repeat its figures.
        let is_page = !group[0].page.is_empty() && group.len() > 1;
        let inner = page_steps(group, requests);
        if is_page {
            let pauses = Pauses::Excluded;
            steps.push(ScenarioStep::Transaction { name, pauses, parent: false, steps: inner });
        } else {
            steps.extend(inner);
        }
    }
    steps
}

/// Name of a page: its title, or its path if the title is a URL.
fn page_name(title: &str, first: &ImportedRequest) -> String {
    let is_url = title.is_empty() || title.contains("://");
    if is_url { first.path.clone() } else { title.to_owned() }
}

/// Converts the requests of a page. Consecutive resources become a parallel step.
fn page_steps(group: Vec<Flow>, requests: &mut ImportedRequests) -> Vec<ScenarioStep> {
    let mut steps = Vec::new();
    let mut parallel = Vec::new();
    for flow in group {
        let is_resource = flow.is_resource;
        if !is_resource {
            flush_parallel(&mut parallel, &mut steps);
        }
        let mut request = flow.request;
        // The recorded error is expected again. By default it would count as a failure.
        if flow.reply.status >= 400 {
            request.status = Some(flow.reply.status.to_string());
        }
        let step = requests.add(flow.comments, request);
        if is_resource { parallel.push(step) } else { steps.push(step) }
    }
    flush_parallel(&mut parallel, &mut steps);
    steps
}

fn flush_parallel(parallel: &mut Vec<ScenarioStep>, steps: &mut Vec<ScenarioStep>) {
    if parallel.len() < 2 {
        steps.append(parallel);
    } else {
        steps.push(ScenarioStep::Together {
            manner: ConcurrencyMode::Parallel(CONNECTIONS_OF_BROWSERS),
            steps: std::mem::take(parallel),
        });
    }
}
