//! The requests of all clients so far, with their replies, and messages for the user.

use super::pages;
use super::text::{decoded, is_opaque};
use crate::exchange::{Exchange, ExchangeReply, MAX_BODY_BYTES, MAX_TOTAL_BYTES};
use crate::exchange::{WebSocketFrame, field, har};
use crate::recording::Recording;
use brunt_engine::clock::unix_seconds;
use brunt_model::sync::IgnorePoison;
use hyper::header::HeaderMap;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum number of different messages for the user.
const MAX_NOTICES: usize = 200;

/// Reason why a body is missing.
const LARGE_BODIES: &str = "bodies beyond 8 MB, or 256 MB in total";

/// Media type of forms with files.
const MULTIPART: &str = "multipart/";

/// All requests of a recording.
#[derive(Default)]
pub(super) struct Traffic {
    state: Mutex<TrafficState>,
    /// Messages for the user that were not shown.
    notices: Mutex<Notices>,
}

#[derive(Default)]
struct TrafficState {
    exchanges: Vec<SharedExchange>,
    limits: Arc<Mutex<Limits>>,
}

#[derive(Default)]
struct Notices {
    pending: Vec<String>,
    all: HashSet<String>,
}

/// Size of all bodies of a recording, and parts that were cut.
#[derive(Default)]
struct Limits {
    bytes: u64,
    /// Size of all bodies without their compression.
    decoded_bytes: u64,
    cuts: BTreeMap<&'static str, usize>,
}

impl Limits {
    /// Adds bytes of a part. Returns false if there are too many, and counts the part as cut.
    fn add(&mut self, bytes: u64, reason: &'static str) -> bool {
        if self.bytes + bytes > MAX_TOTAL_BYTES {
            self.cut(reason);
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// Adds bytes of a decoded body. Returns false if there are too many.
    fn add_decoded(&mut self, bytes: usize) -> bool {
        self.decoded_bytes += bytes as u64;
        self.decoded_bytes <= MAX_TOTAL_BYTES
    }

    fn cut(&mut self, reason: &'static str) {
        *self.cuts.entry(reason).or_default() += 1;
    }
}

/// A request in progress, which its connection and the recording share.
#[derive(Clone)]
pub(super) struct SharedExchange {
    exchange: Arc<Mutex<ProxiedExchange>>,
    limits: Arc<Mutex<Limits>>,
}

/// The two bodies of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyPart {
    Request,
    Reply,
}

/// A request and its reply, with bodies as they were sent.
#[derive(Default)]
struct ProxiedExchange {
    exchange: Exchange,
    request_body: Vec<u8>,
    reply_body: Vec<u8>,
    /// True if a part of the request's body is missing.
    is_request_cut: bool,
    /// True if the reply's body is not recorded, or no longer.
    is_reply_cut: bool,
}

impl Traffic {
    /// Adds a request.
    pub(super) fn begin(
        &self,
        method: &str,
        url: String,
        headers: Vec<(String, String)>,
        protocol: &str,
    ) -> SharedExchange {
        let now = unix_seconds();
        let exchange = Exchange {
            kind: pages::kind(&headers).to_owned(),
            method: method.to_owned(),
            url,
            headers,
            wall: now,
            started: now,
            ended: now,
            failure: "no reply before the end of the recording, or of the client".to_owned(),
            reply: None,
            ..Exchange::default()
        };
        let size = exchange.url.len() + exchange.headers.iter().map(size_of_field).sum::<usize>();
        let mut state = lock(&self.state);
        let limits = Arc::clone(&state.limits);
        // Any number of requests would fill the memory.
        let is_recorded = lock(&limits).add(size as u64, "requests beyond 256 MB in total");
        let exchange = ProxiedExchange { exchange, ..ProxiedExchange::default() };
        let shared = SharedExchange { exchange: Arc::new(Mutex::new(exchange)), limits };
        let is_first = state.exchanges.is_empty();
        if is_recorded {
            state.exchanges.push(shared.clone());
        }
        drop(state);
        if is_first {
            self.notify(format!("the first request has arrived ({protocol})"));
        }
        shared
    }

    /// Number of requests.
    pub(super) fn count(&self) -> usize {
        lock(&self.state).exchanges.len()
    }

    /// Adds a message for the user, unless it was shown already.
    pub(super) fn notify(&self, text: String) {
        let mut notices = lock(&self.notices);
        if notices.all.len() < MAX_NOTICES && notices.all.insert(text.clone()) {
            notices.pending.push(text);
        }
    }

    /// Returns the messages since the last call.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.notices).pending)
    }

    /// Returns the recording so far, and begins another one.
    pub(super) fn take_recording(&self, name: &str) -> Recording {
        let TrafficState { exchanges, limits } = std::mem::take(&mut *lock(&self.state));
        let mut exchanges: Vec<Exchange> = exchanges.iter().map(SharedExchange::finished).collect();
        let failed = exchanges.iter().filter(|exchange| exchange.has_failed()).count();
        exchanges.retain(|exchange| !exchange.has_failed());
        let pages = pages::assign(&mut exchanges);
        let mut limits = lock(&limits);
        if failed > 0 {
            limits.cuts.insert("requests without a reply", failed);
        }
        let cuts = limits.cuts.iter().map(|(reason, count)| format!("{reason} ({count})"));
        Recording::new(name.to_owned(), har(&pages, exchanges.iter()), cuts.collect())
    }
}

impl SharedExchange {
    /// Records the head of the reply.
    pub(super) fn set_reply(&self, status: u16, protocol: &str, headers: &HeaderMap) {
        let mut exchange = lock(&self.exchange);
        let headers = field_texts(headers);
        let media_type = field(&headers, "content-type").to_owned();
        exchange.is_reply_cut = is_opaque(&media_type);
        let exchange = &mut exchange.exchange;
        if media_type.starts_with("text/event-stream") {
            "eventsource".clone_into(&mut exchange.kind);
        }
        exchange.ended = unix_seconds();
        exchange.failure = String::new();
        exchange.reply = Some(ExchangeReply {
            status: status.into(),
            status_text: String::new(),
            protocol: protocol.to_owned(),
            media_type,
            headers,
        });
    }

    /// Records that there is no reply.
    pub(super) fn fail(&self, reason: &str) {
        reason.clone_into(&mut lock(&self.exchange).exchange.failure);
    }

    /// Records that the request opens a WebSocket.
    pub(super) fn set_socket(&self) {
        let exchange = &mut lock(&self.exchange).exchange;
        "websocket".clone_into(&mut exchange.kind);
        exchange.url = exchange.url.replacen("http", "ws", 1);
    }

    /// Records a part of a body.
    pub(super) fn push_data(&self, part: BodyPart, data: &[u8]) {
        let mut exchange = lock(&self.exchange);
        // A stream of events has no end, and must not hide the pause before the next page.
        if exchange.exchange.kind != "eventsource" {
            exchange.exchange.ended = unix_seconds();
        }
        let ProxiedExchange { request_body, reply_body, is_request_cut, is_reply_cut, .. } =
            &mut *exchange;
        let body = if part == BodyPart::Request { request_body } else { reply_body };
        let is_cut = if part == BodyPart::Request { is_request_cut } else { is_reply_cut };
        if *is_cut {
            return;
        }
        let length = data.len() as u64;
        let mut limits = lock(&self.limits);
        let is_large = body.len() as u64 + length > MAX_BODY_BYTES;
        if is_large {
            limits.cut(LARGE_BODIES);
        }
        if is_large || !limits.add(length, LARGE_BODIES) {
            *is_cut = true;
            limits.bytes -= body.len() as u64;
            *body = Vec::new();
            return;
        }
        body.extend_from_slice(data);
    }

    /// Records a message of a WebSocket.
    pub(super) fn push_message(&self, message: WebSocketFrame) {
        let reason = "messages of WebSockets beyond 256 MB in total";
        let is_recorded = lock(&self.limits).add(message.data.len() as u64, reason);
        if is_recorded {
            lock(&self.exchange).exchange.frames.push(message);
        }
    }

    /// Counts a part that is not recorded.
    pub(super) fn cut(&self, reason: &'static str) {
        lock(&self.limits).cut(reason);
    }

    /// Returns the exchange with the texts of its bodies.
    fn finished(&self) -> Exchange {
        // The recording is detached: later parts of the exchange are not recorded.
        let ProxiedExchange { mut exchange, request_body, reply_body, .. } =
            std::mem::take(&mut *lock(&self.exchange));
        let media_type = field(&exchange.headers, "content-type").to_ascii_lowercase();
        let text = String::from_utf8(request_body);
        exchange.post = match text {
            Ok(text) if text.is_empty() => None,
            Ok(text) => Some(text),
            // Its parts are texts or files. An import replaces files.
            Err(error) if media_type.starts_with(MULTIPART) => {
                Some(String::from_utf8_lossy(error.as_bytes()).into_owned())
            }
            Err(_) => {
                self.cut("bodies of requests that are not text");
                None
            }
        };
        if let Some(reply) = exchange.reply.as_ref().filter(|_| !reply_body.is_empty()) {
            // A small body may become a large one.
            match decoded(&reply_body, &reply.headers) {
                Some(body) if lock(&self.limits).add_decoded(body.text.len()) => {
                    exchange.body = Some(body);
                }
                _ => self.cut(LARGE_BODIES),
            }
        }
        exchange
    }
}

fn size_of_field(field: &(String, String)) -> usize {
    field.0.len() + field.1.len()
}

/// Header fields with their values as text.
pub(super) fn field_texts(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

/// The state stays consistent after a panic, because each change is one statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}
