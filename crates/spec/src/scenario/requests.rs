//! Requests of steps, and their bodies.

use super::{Reader, expected, header_fields, texts, written};
use crate::error::{Result, SpecError};
use crate::plan::{Entry, Node};
use crate::words::target::{self, Target};
use crate::words::values;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::{Body, Request};
use brunt_script::{WordError, template};

impl Reader<'_> {
    /// Reads a request; its number in the list.
    pub(super) fn request(&mut self, kind: &Entry, node: &Node, step: &written::Step) -> Result<u32> {
        let written = kind.node.text().ok_or_else(|| expected(&kind.node.at, &kind.key, "a URL", "one"))?;
        let mut headers =
            own_over(&self.headers, node.child("headers").map(|node| header_fields(node, "headers")).transpose()?);
        let (mut url, basic) = self.url(written, kind)?;
        if let Some(query) = node.child("query") {
            let query = pairs(&texts(query, "query")?);
            url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
        }
        let (body, mut media_type) = self.body(node, step)?;
        if ["open", "send", "await", "ping", "close"].contains(&kind.key.as_str()) {
            for_websocket(kind, &url, &body)?;
            media_type = None;
        }
        if step.until.is_some() && !["send", "await"].contains(&kind.key.as_str()) {
            let wrong = format!("`{}` awaits no message; write `until` with send or await", kind.key);
            return Err(SpecError::new(&kind.node.at, "until", wrong));
        }
        if kind.key == "migrate" && (body != Body::None || url.starts_with("ws")) {
            let wrong = "`migrate` has a connection of HTTP/3 go on from another local port; write a URL of https:// and no body";
            return Err(SpecError::new(&kind.node.at, "migrate", wrong));
        }
        if let Some(media_type) = media_type {
            add(&mut headers, "Content-Type", media_type);
        }
        let basic = match &step.basic {
            Some(basic) => {
                Some(checked_basic(&basic.0).map_err(|error| SpecError::from(error).within("basic", &node.at))?)
            }
            None => basic,
        };
        if let Some(basic) = basic {
            let value = if basic.contains("${") { format!("${{base64({basic})}}") } else { STANDARD.encode(basic) };
            add(&mut headers, "Authorization", format!("Basic {value}"));
        }
        if let Some(token) = &step.bearer {
            let token = values::text(&token.0).map_err(|error| SpecError::from(error).within("bearer", &node.at))?;
            add(&mut headers, "Authorization", format!("Bearer {token}"));
        }
        add(&mut headers, "User-Agent", crate::defaults::USER_AGENT.to_owned());
        let method = method(kind, node, step)?;
        let label = match (&step.name, method.as_str()) {
            (Some(name), _) => name.0.clone(),
            (None, "GET") => template::plain(written),
            (None, method) => format!("{method} {}", template::plain(written)),
        };
        let reply_policy = self.policy(node, step)?;
        let request = Request { label, method, url, headers, body, weight: 1, verbatim: None, reply_policy };
        Ok(self.add(request, &kind.at))
    }

    /// The URL, and name and password that stand in it.
    fn url(&self, written: &str, kind: &Entry) -> Result<(String, Option<String>)> {
        let url = match &self.base {
            _ if is_absolute(written) => written.to_owned(),
            Some(base) => joined(base, written),
            None => {
                let wrong =
                    format!("`{written}` is no URL; write http://… before it, or the server below scenario.base");
                return Err(SpecError::new(&kind.node.at, kind.key.as_str(), wrong));
            }
        };
        let place = |error| SpecError::from(error).within(&kind.key, &kind.node.at);
        if url.contains("${") {
            // Only a run evaluates the expression, but the scheme before it may be wrong already.
            if url.split_once("://").is_some_and(|(scheme, _)| !scheme.contains("${")) {
                target::scheme(&url).map_err(place)?;
            }
            return Ok((url, None));
        }
        let Target { url, basic } = target::parse(&url).map_err(place)?;
        Ok((url, basic.map(|(name, password)| format!("{name}:{password}"))))
    }
}

/// The method of a request.
fn method(kind: &Entry, node: &Node, step: &written::Step) -> Result<String> {
    match (kind.key.as_str(), node.child("method"), &step.method) {
        ("request", Some(at), Some(method)) => {
            values::method_name(&method.0).map_err(|error| SpecError::from(error).within("method", &at.at))?;
            Ok(method.0.clone())
        }
        ("request", ..) => Err(SpecError::new(
            &kind.at,
            "request",
            "the method is missing; write it below as `method: PURGE`, or a step such as get",
        )),
        (other, Some(at), _) => {
            let wrong = format!("`{other}` names the method already; write `request: URL` in its place");
            Err(SpecError::new(&at.at, "method", wrong))
        }
        (other, ..) => Ok(other.to_ascii_uppercase()),
    }
}

/// Whether a URL needs no base: it begins with an expression or a scheme, or is HOST:PORT. The first segment of a relative
/// path has no colon (RFC 3986 section 4.2).
fn is_absolute(url: &str) -> bool {
    let first_segment = url.split(['/', '?', '#']).next().unwrap_or_default();
    url.starts_with("${") || first_segment.contains(':')
}

/// Appends a path or query to `base`. Slashes at the end of `base` are removed; the path stays as it is.
fn joined(base: &str, relative: &str) -> String {
    let folder = base.trim_end_matches('/');
    match relative.chars().next() {
        None | Some('?' | '#') => format!("{base}{relative}"),
        Some('/') => format!("{folder}{relative}"),
        Some(_) => format!("{folder}/{relative}"),
    }
}

/// A name and password with a colon between them, as for the command line, as far as it is known before the run.
fn checked_basic(text: &str) -> Result<String, WordError> {
    if !text.contains("${") {
        values::basic(text)?;
    }
    Ok(text.to_owned())
}

/// Refuses a step of a WebSocket that goes elsewhere, or has a body that nobody would send.
fn for_websocket(kind: &Entry, url: &str, body: &Body) -> Result<()> {
    let key = kind.key.as_str();
    let wrong = if ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
        format!(
            "`{key}` is for a WebSocket, and this is `{url}`; write a URL of ws:// or wss://, or another step such as get"
        )
    } else if key != "send" && *body != Body::None {
        format!("`{key}` sends no message; leave the body out, or write send")
    } else {
        return Ok(());
    };
    Err(SpecError::new(&kind.node.at, key, wrong))
}

/// Those of a request, and of all others those that it does not have.
pub(super) fn own_over(all: &[(String, String)], own: Option<Vec<(String, String)>>) -> Vec<(String, String)> {
    let mut headers = own.unwrap_or_default();
    let others: Vec<_> = all
        .iter()
        .filter(|(name, _)| !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)))
        .cloned()
        .collect();
    headers.extend(others);
    headers
}

/// Adds a header field where there is none of its name.
pub(super) fn add(headers: &mut Vec<(String, String)>, name: &str, value: String) {
    if !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), value));
    }
}

pub(super) fn pairs(fields: &[(String, String)]) -> String {
    let encode = template::encode_form_expressions;
    let one = |(name, value): &(String, String)| format!("{}={}", encode(name), encode(value));
    fields.iter().map(one).collect::<Vec<_>>().join("&")
}
