//! Requests of steps, and their bodies.

use super::{Reader, expected, texts, written};
use crate::error::{Result, SpecError};
use crate::plan::{Entry, Node, json, read};
use crate::words::target::{self, Target};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::{Body, Request};
use brunt_script::body::{FilePart, Multipart};
use brunt_script::{body, template};
use std::path::Path;

/// The media type of a body that is JSON.
const JSON: &str = "application/json";

impl Reader<'_> {
    /// Reads a request; its number in the list.
    pub(super) fn request(&mut self, kind: &Entry, node: &Node, step: &written::Step) -> Result<u32> {
        let written = kind.node.text().ok_or_else(|| expected(&kind.node.at, &kind.key, "a URL", "one"))?;
        let mut headers =
            own_over(&self.headers, node.child("headers").map(|node| texts(node, "headers")).transpose()?);
        let (mut url, basic) = self.url(written, kind)?;
        if let Some(query) = node.child("query") {
            let query = pairs(&texts(query, "query")?);
            url = format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' });
        }
        let (body, mut media_type) = self.body(node, step)?;
        if ["open", "send", "ping", "close"].contains(&kind.key.as_str()) {
            for_websocket(kind, &url, &body)?;
            media_type = None;
        }
        if kind.key == "migrate" && (body != Body::None || url.starts_with("ws")) {
            let wrong = "`migrate` has a connection of HTTP/3 go on from another local port; write a URL of https:// and no body";
            return Err(SpecError::new(&kind.node.at, "migrate", wrong));
        }
        if let Some(media_type) = media_type {
            add(&mut headers, "Content-Type", media_type);
        }
        let basic = step.basic.as_ref().map(|basic| basic.0.clone()).or(basic);
        if let Some(basic) = basic {
            let value = if basic.contains("${") { format!("${{base64({basic})}}") } else { STANDARD.encode(basic) };
            add(&mut headers, "Authorization", format!("Basic {value}"));
        }
        if let Some(token) = &step.bearer {
            add(&mut headers, "Authorization", format!("Bearer {}", token.0));
        }
        add(&mut headers, "User-Agent", crate::defaults::USER_AGENT.to_owned());
        let method = kind.key.to_ascii_uppercase();
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
        let is_whole = ["http://", "https://", "ws://", "wss://", "${"].iter().any(|begin| written.starts_with(begin));
        let url = match (&self.base, is_whole) {
            (_, true) => written.to_owned(),
            (Some(base), false) => format!("{}/{}", base.trim_end_matches('/'), written.trim_start_matches('/')),
            (None, false) => {
                let wrong =
                    format!("`{written}` is no URL; write http://… before it, or the server below scenario.base");
                return Err(SpecError::new(&kind.node.at, kind.key.as_str(), wrong));
            }
        };
        if url.contains("${") {
            return Ok((url, None));
        }
        let place = |error| SpecError::from(error).within(&kind.key, &kind.node.at);
        let Target { url, basic } = target::parse(&url).map_err(place)?;
        Ok((url, basic.map(|(name, password)| format!("{name}:{password}"))))
    }

    /// The body, and its media type.
    fn body(&self, node: &Node, step: &written::Step) -> Result<(Body, Option<String>)> {
        let ways = ["data", "file", "json", "form", "multipart"];
        let mut ways = node.entries().iter().filter(|entry| ways.contains(&entry.key.as_str()));
        let Some(way) = ways.next() else { return Ok((Body::None, None)) };
        if let Some(other) = ways.next() {
            let wrong = format!("`{}` is the body already; write one of them", way.key);
            return Err(SpecError::new(&other.at, other.key.as_str(), wrong));
        }
        Ok(match way.key.as_str() {
            "data" => (Body::Text(step.data.as_ref().map(|data| data.0.clone()).unwrap_or_default()), None),
            "file" => {
                let file = step.file.as_ref().map(|file| file.0.as_str()).unwrap_or_default();
                (plain_body(self.read(file, way)?), Some(body::content_type(Path::new(file)).to_owned()))
            }
            "json" => (Body::Text(json(&way.node).to_string()), Some(JSON.to_owned())),
            "form" => (Body::Text(pairs(&texts(&way.node, "form")?)), Some(body::FORM.to_owned())),
            _ => self.multipart(way)?,
        })
    }

    pub(super) fn read(&self, file: &str, way: &Entry) -> Result<Vec<u8>> {
        let path = self.file(file);
        std::fs::read(&path).map_err(|error| {
            SpecError::new(
                &way.node.at,
                way.key.as_str(),
                format!("cannot read {path}: {error}; write a file that is there"),
            )
        })
    }

    fn multipart(&self, way: &Entry) -> Result<(Body, Option<String>)> {
        let mut parts = Multipart::default();
        for entry in way.node.entries() {
            if let Some(text) = entry.node.text() {
                parts.text(&entry.key, text);
                continue;
            }
            let part: written::FilePart =
                read(&entry.node).map_err(|error| error.within(&entry.key, &entry.node.at))?;
            let name = Path::new(&part.file.0).file_name().map(|name| name.to_string_lossy().into_owned());
            let file = FilePart {
                name: name.unwrap_or_default(),
                bytes: self.read(&part.file.0, way)?,
                media_type: part.kind.map(|kind| kind.0).unwrap_or_default(),
            };
            parts.file(&entry.key, &file);
        }
        let media_type = parts.media_type();
        let body = parts.finish().map_err(|wrong| SpecError::new(&way.node.at, "multipart", wrong))?;
        Ok((body, Some(media_type)))
    }
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
    for (name, value) in all {
        add(&mut headers, name, value.clone());
    }
    headers
}

/// Adds a header field where there is none of its name.
pub(super) fn add(headers: &mut Vec<(String, String)>, name: &str, value: String) {
    if !headers.iter().any(|header| header.0.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), value));
    }
}

fn pairs(fields: &[(String, String)]) -> String {
    let encode = template::encode_form_expressions;
    let one = |(name, value): &(String, String)| format!("{}={}", encode(name), encode(value));
    fields.iter().map(one).collect::<Vec<_>>().join("&")
}

/// The content of a file: what looks like an expression there is none.
fn plain_body(bytes: Vec<u8>) -> Body {
    match body::from_bytes(bytes) {
        Body::Text(text) => Body::Text(template::plain(&text)),
        binary => binary,
    }
}
