//! A request of the browser with its reply, and its form in HAR.

use chrono::DateTime;
use serde_json::{Value, json};

/// A request and its reply. Each redirect is a separate request.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchange {
    pub(super) page: Option<usize>,
    /// Type of resource, in lower case, such as `document`.
    pub(super) kind: String,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) post: Option<String>,
    /// Seconds since 1970.
    pub(super) wall: f64,
    /// Seconds on the browser's monotonic clock.
    pub(super) started: f64,
    pub(super) ended: f64,
    pub(super) reply: Option<ExchangeReply>,
    pub(super) body: Option<ReplyBody>,
    /// Reason of a failure; empty if there is none.
    pub(super) failure: String,
    pub(super) is_cached: bool,
    /// True if the browser sends the header fields of this request in a separate event.
    pub(super) has_extra: bool,
    pub(super) frames: Vec<WebSocketFrame>,
}

/// Head of a reply.
#[derive(Debug, Clone, Default)]
pub(super) struct ExchangeReply {
    pub(super) status: u64,
    pub(super) status_text: String,
    pub(super) protocol: String,
    pub(super) media_type: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Body of a reply: a text, or Base64.
#[derive(Debug, Clone)]
pub(super) struct ReplyBody {
    pub(super) text: String,
    pub(super) is_base64: bool,
}

/// A message of a WebSocket.
#[derive(Debug, Clone)]
pub(super) struct WebSocketFrame {
    pub(super) is_sent: bool,
    /// Seconds on the browser's monotonic clock.
    pub(super) time: f64,
    pub(super) opcode: u64,
    pub(super) data: String,
}

impl ExchangeReply {
    /// Reads the type `Network.Response` of the protocol.
    pub(super) fn read(response: &Value) -> Self {
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
    pub(super) fn has_failed(&self) -> bool {
        self.reply.is_none() && !self.failure.is_empty()
    }

    /// The entry of a HAR.
    pub(super) fn entry(&self) -> Value {
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
pub(super) fn page_id(page: usize) -> String {
    format!("page_{}", page + 1)
}

/// Formats seconds since 1970 as HAR requires.
pub(super) fn date_time(seconds: f64) -> String {
    let time = DateTime::from_timestamp_micros((seconds * 1e6) as i64).unwrap_or_default();
    time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A text of a JSON object; empty if it is missing.
pub(super) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Reads the type `Network.Headers`. Several fields with one name have a line each.
pub(super) fn headers(value: &Value) -> Vec<(String, String)> {
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

fn field(headers: &[(String, String)], name: &str) -> String {
    let field = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    field.map(|(_, value)| value.clone()).unwrap_or_default()
}
