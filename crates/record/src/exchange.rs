//! A request with its reply, and its form in HAR.

use chrono::DateTime;
use serde_json::{Value, json};

/// Maximum size of a body, in bytes.
pub(crate) const MAX_BODY_BYTES: u64 = 8 << 20;

/// Maximum size of all bodies, in bytes.
pub(crate) const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// A page, which becomes a transaction.
#[derive(Debug)]
pub(crate) struct RecordedPage {
    pub(crate) url: String,
    pub(crate) title: String,
    /// Seconds since 1970.
    pub(crate) wall: f64,
}

/// A request and its reply. Each redirect is a separate request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    pub(crate) page: Option<usize>,
    /// Type of resource, in lower case, such as `document`.
    pub(crate) kind: String,
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) post: Option<String>,
    /// Seconds since 1970.
    pub(crate) wall: f64,
    /// Seconds on the clock of the recorder.
    pub(crate) started: f64,
    pub(crate) ended: f64,
    pub(crate) reply: Option<ExchangeReply>,
    pub(crate) body: Option<ReplyBody>,
    /// Reason of a failure; empty if there is none.
    pub(crate) failure: String,
    pub(crate) is_cached: bool,
    /// True if the browser sends the header fields of this request in a separate event.
    pub(crate) has_extra: bool,
    pub(crate) frames: Vec<WebSocketFrame>,
}

/// Head of a reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExchangeReply {
    pub(crate) status: u64,
    pub(crate) status_text: String,
    pub(crate) protocol: String,
    pub(crate) media_type: String,
    pub(crate) headers: Vec<(String, String)>,
}

/// Body of a reply: a text, or Base64.
#[derive(Debug, Clone)]
pub(crate) struct ReplyBody {
    pub(crate) text: String,
    pub(crate) is_base64: bool,
}

/// A message of a WebSocket.
#[derive(Debug, Clone)]
pub(crate) struct WebSocketFrame {
    pub(crate) is_sent: bool,
    /// Seconds on the clock of the recorder.
    pub(crate) time: f64,
    pub(crate) opcode: u64,
    pub(crate) data: String,
}

impl ExchangeReply {
    /// Reads the type `Network.Response` of the protocol.
    pub(crate) fn read(response: &Value) -> Self {
        Self {
            status: response["status"].as_f64().unwrap_or_default() as u64,
            status_text: text(response, "statusText"),
            protocol: text(response, "protocol"),
            media_type: text(response, "mimeType"),
            headers: headers(&response["headers"]),
        }
    }
}

impl Exchange {
    /// True if no reply arrived, such as from a closed port.
    pub(crate) fn has_failed(&self) -> bool {
        self.reply.is_none() && !self.failure.is_empty()
    }

    /// The entry of a HAR.
    pub(crate) fn entry(&self) -> Value {
        let reply = self.reply.clone().unwrap_or_default();
        let mut request = json!({
            "method": self.method,
            "url": self.url,
            "httpVersion": reply.protocol,
            "headers": pairs(&self.headers),
            "queryString": [],
            "cookies": [],
            "headersSize": -1,
            "bodySize": self.post.as_ref().map_or(0, String::len),
        });
        if let Some(post) = &self.post {
            let media_type = field(&self.headers, "content-type");
            request["postData"] = json!({"mimeType": media_type, "text": post});
        }
        let mut content = json!({"size": 0, "mimeType": reply.media_type});
        if let Some(body) = &self.body {
            content["size"] = body.text.len().into();
            content["text"] = body.text.clone().into();
            if body.is_base64 {
                content["encoding"] = "base64".into();
            }
        }
        let time = ((self.ended - self.started) * 1e3).max(0.0);
        let mut entry = json!({
            "startedDateTime": date_time(self.wall),
            "time": time,
            "request": request,
            "response": {
                "status": reply.status,
                "statusText": reply.status_text,
                "httpVersion": reply.protocol,
                "headers": pairs(&reply.headers),
                "cookies": [],
                "content": content,
                "redirectURL": field(&reply.headers, "location"),
                "headersSize": -1,
                "bodySize": -1,
            },
            "cache": {},
            "timings": {"send": 0, "wait": time, "receive": 0},
        });
        // Without a type, readers decide by media type and name.
        if self.kind != "other" {
            entry["_resourceType"] = self.kind.clone().into();
        }
        if let Some(page) = self.page {
            entry["pageref"] = page_id(page).into();
        }
        if !self.failure.is_empty() {
            entry["response"]["_error"] = self.failure.clone().into();
        }
        if !self.frames.is_empty() {
            let offset = self.wall - self.started;
            let frames = self.frames.iter().map(|frame| {
                json!({
                    "type": if frame.is_sent { "send" } else { "receive" },
                    "time": frame.time + offset,
                    "opcode": frame.opcode,
                    "data": frame.data,
                })
            });
            entry["_webSocketMessages"] = frames.collect();
        }
        entry
    }
}

/// Identifier of a page in a HAR.
fn page_id(page: usize) -> String {
    format!("page_{}", page + 1)
}

/// Writes a recording as HAR 1.2.
pub(crate) fn har<'a>(
    pages: &[RecordedPage],
    exchanges: impl Iterator<Item = &'a Exchange>,
) -> String {
    let entries: Vec<Value> = exchanges.map(Exchange::entry).collect();
    let pages: Vec<Value> = pages
        .iter()
        .enumerate()
        .map(|(index, page)| {
            let title = if page.title.is_empty() { &page.url } else { &page.title };
            json!({
                "id": page_id(index),
                "startedDateTime": date_time(page.wall),
                "title": title,
                "pageTimings": {},
            })
        })
        .collect();
    let har = json!({"log": {
        "version": "1.2",
        "creator": {"name": "brunt", "version": env!("CARGO_PKG_VERSION")},
        "pages": pages,
        "entries": entries,
    }});
    // As for any other input of an import.
    brunt_har::text::clean(&har.to_string()).into_owned()
}

/// Formats seconds since 1970 as HAR requires.
fn date_time(seconds: f64) -> String {
    let time = DateTime::from_timestamp_micros((seconds * 1e6) as i64).unwrap_or_default();
    time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A text of a JSON object; empty if it is missing.
pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Reads the type `Network.Headers`. Several fields with one name have a line each.
pub(crate) fn headers(value: &Value) -> Vec<(String, String)> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .flat_map(|(name, value)| {
            // The protocol joins fields such as Set-Cookie with line breaks.
            let lines = value.as_str().unwrap_or_default().split('\n');
            lines.map(|line| (name.clone(), line.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

fn pairs(headers: &[(String, String)]) -> Value {
    headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

/// Value of the first header field with this name; empty if there is none.
pub fn field<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    let field = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    field.map_or("", |(_, value)| value)
}
