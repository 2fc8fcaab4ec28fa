//! Converts recorded WebSockets to steps: `open`, then `send` and `await` for its messages.
//!
//! The reply to a message is the next one that the server sent. Of the messages before the first `send`, the first one
//! is awaited. Others are pushes, which a plan does not await.

use super::entry::{Reply, without_fragment};
use super::{Flow, MAX_BODY_BYTES, copied_header};
use crate::body;
use crate::json::JsonNode;
use crate::plan::{ImportedBody, ImportedRequest};
use chrono::DateTime;
use url::Url;

/// Maximum number of steps of a WebSocket.
const MAX_STEPS: usize = 500;

/// Header fields of a handshake that brunt sends by itself.
const HANDSHAKE_FIELDS: [&str; 4] = ["accept", "accept-encoding", "accept-language", "user-agent"];

/// Steps of a WebSocket; None if the entry is another request.
pub(super) fn flows(entry: &JsonNode<'_>) -> Option<Vec<Flow>> {
    let request = entry.get("request")?;
    let url = without_fragment(Url::parse(request.text("url")).ok()?);
    if !["ws", "wss"].contains(&url.scheme()) {
        return None;
    }
    let started = DateTime::parse_from_rfc3339(entry.text("startedDateTime"))
        .map_or(0.0, |time| time.timestamp_millis() as f64);
    let socket = Socket { page: entry.text("pageref").to_owned(), url };
    let mut open = socket.flow("OPEN", started);
    let fields = request.list("headers");
    let fields =
        fields.iter().map(|field| (field.text("name").to_owned(), field.text("value").to_owned()));
    open.request.headers = fields
        .filter_map(|(name, value)| {
            let lower = name.to_ascii_lowercase();
            let is_protocol = lower == "sec-websocket-protocol";
            if HANDSHAKE_FIELDS.contains(&lower.as_str()) {
                None
            } else if is_protocol {
                Some((name, value))
            } else {
                copied_header(name, value)
            }
        })
        .collect();
    let mut all = vec![open];
    let mut pushes = 0;
    for message in entry.list("_webSocketMessages").iter().take(MAX_STEPS) {
        let time = message.get("time").and_then(|time| time.value.as_f64()).unwrap_or(0.0) * 1e3;
        let data = message.text("data");
        let is_text = message.get("opcode").and_then(|code| code.value.as_u64()) == Some(1);
        // A step without a message sends none.
        let is_sendable = is_text && (1..=MAX_BODY_BYTES).contains(&data.len());
        if !is_text || message.text("type") == "send" && !is_sendable {
            let text = "left out: a message that is empty, very long, or not text";
            all[0].comments.push(text.to_owned());
        } else if message.text("type") == "send" {
            let mut send = socket.flow("SEND", time);
            send.request.body = if data.trim_start().starts_with(['{', '[']) {
                body::json(data)
            } else {
                ImportedBody::Text(data.to_owned())
            };
            send.request.awaits_no_message = true;
            all.push(send);
        } else if let Some(send) = all.last_mut().filter(|flow| flow.request.awaits_no_message) {
            send.request.awaits_no_message = false;
            send.ended = time;
            data.clone_into(&mut send.reply.body);
        } else if all.len() == 1 {
            let mut welcome = socket.flow("AWAIT", time);
            data.clone_into(&mut welcome.reply.body);
            all.push(welcome);
        } else {
            pushes += 1;
        }
    }
    if pushes > 0 {
        let text = format!("the server sent {pushes} further messages, which no step awaits");
        all[0].comments.push(text);
    }
    Some(all)
}

/// A recorded WebSocket.
struct Socket {
    page: String,
    url: Url,
}

impl Socket {
    fn flow(&self, method: &str, time: f64) -> Flow {
        let raw_query = self.url.query().map(str::to_owned);
        Flow {
            page: self.page.clone(),
            started: time,
            ended: time,
            is_resource: false,
            request: ImportedRequest {
                method: method.to_owned(),
                server: self.url.origin().ascii_serialization(),
                path: self.url.path().to_owned(),
                query: raw_query.as_deref().map(body::pairs).unwrap_or_default(),
                raw_query,
                is_websocket: true,
                ..ImportedRequest::default()
            },
            reply: Reply { status: 101, ..Reply::default() },
            redirected: None,
            comments: Vec::new(),
            next: None,
        }
    }
}
