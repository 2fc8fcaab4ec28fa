//! Parts of a reply as texts, for extractors and assertions; each text is created once.

pub mod failures;

use crate::texts::context::UserContext;
use crate::texts::grpc;
use crate::texts::json::{self, PathStep};
use crate::texts::pending::RequestTexts;
use brunt_model::extract::{ReplyPart, SampleScope};
use brunt_model::outcome::{CLOSE_STATUS, DEADLINE_STATUS, GRPC_STATUS};
use brunt_model::plan::HttpVersion;
use brunt_model::record::message_text;
use brunt_model::request::BodyPieces;
use brunt_model::{Body, Failure, Sample, SampleRecord};
use brunt_wire::{Prepared, Reply};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::fmt::Write;

/// A request and its reply.
pub struct ReplyView<'a> {
    /// The request; the last one of a redirect chain.
    pub request: &'a Prepared,
    /// The reply, if it is complete.
    pub reply: Option<&'a Reply>,
    /// Clocks of the whole chain.
    pub sample: &'a Sample,
    /// Milliseconds from begun to last byte.
    pub elapsed_millis: u64,
    /// Number of received bytes, heads and bodies.
    pub bytes: u64,
    /// The user that sent the request.
    pub user: &'a UserContext,
    /// Addresses of the server, if it could not be reached.
    pub addresses: Vec<String>,
    /// Each request of a redirect chain, if scripts read them.
    pub hops: Vec<SampleRecord>,
    /// Changes by scripts.
    pub changes: SampleChanges,
    body: OnceCell<Cow<'a, str>>,
    json: OnceCell<Option<Value>>,
    /// Number of paths that were followed through the text of the body.
    streamed_paths: Cell<u32>,
}

/// Maximum number of paths that are followed through the text. For more values, a tree of
/// the body costs less.
const MAX_STREAMED_PATHS: u32 = 4;

/// Changes of a sample by scripts. None: unchanged.
#[derive(Debug, Clone, Default)]
pub struct SampleChanges {
    /// Label of the sample.
    pub label: Option<String>,
    /// Response code.
    pub code: Option<String>,
    /// Response message.
    pub message: Option<String>,
    /// Body of the reply.
    pub body: Option<Vec<u8>>,
    /// Response headers.
    pub headers: Option<String>,
    /// Request data.
    pub request: Option<String>,
    /// Start and end, in milliseconds since 1970.
    pub times: Option<(i64, i64)>,
    /// True if the sample is a success.
    pub success: Option<bool>,
    /// True if the sample is in no result.
    pub is_ignored: bool,
}

impl SampleChanges {
    /// Adds later changes, which take precedence.
    fn merge(&mut self, later: Self) {
        let Self { label, code, message, body, headers, request, times, success, is_ignored } =
            later;
        self.label = label.or(self.label.take());
        self.code = code.or(self.code.take());
        self.message = message.or(self.message.take());
        self.body = body.or(self.body.take());
        self.headers = headers.or(self.headers.take());
        self.request = request.or(self.request.take());
        self.times = times.or(self.times);
        self.success = success.or(self.success);
        self.is_ignored |= is_ignored;
    }
}

impl<'a> ReplyView<'a> {
    /// Creates the view of a reply, with the sample of its request.
    pub fn new(
        request: &'a Prepared,
        reply: Option<&'a Reply>,
        sample: &'a Sample,
        user: &'a UserContext,
    ) -> Self {
        let elapsed_millis = sample.last_byte.nanos_since(sample.begun) / 1_000_000;
        Self {
            request,
            reply,
            sample,
            elapsed_millis,
            bytes: sample.bytes_received,
            user,
            addresses: Vec::new(),
            hops: Vec::new(),
            changes: SampleChanges::default(),
            body: OnceCell::new(),
            json: OnceCell::new(),
            streamed_paths: Cell::new(0),
        }
    }

    /// True if the reply is whole. The reply to a call that its deadline ended is not.
    pub fn is_completed(&self) -> bool {
        self.reply.is_some() && self.sample.outcome.failure != Some(Failure::DeadlineExceeded)
    }

    /// Applies changes by a script.
    pub fn change(&mut self, changes: SampleChanges) {
        // Text and JSON of the previous body are not valid any more.
        if changes.body.is_some() {
            self.body = OnceCell::new();
            self.json = OnceCell::new();
        }
        self.changes.merge(changes);
    }

    /// Returns the bytes of the body.
    pub fn body_bytes(&self) -> &[u8] {
        let received = self.reply.and_then(|reply| reply.details.as_ref());
        self.changes.body.as_deref().or_else(|| Some(&received?.body)).unwrap_or_default()
    }

    /// Returns the bytes of the body; empty for gRPC messages, which are shown as text.
    pub fn raw_body(&self) -> &[u8] {
        let bytes = self.body_bytes();
        if self.message_json(bytes).is_some() { &[] } else { bytes }
    }

    /// Returns the body as text, decoded from its charset. Invalid bytes are replaced and counted.
    /// gRPC messages become JSON.
    pub fn body(&self) -> &str {
        self.body.get_or_init(|| {
            if let Some(changed) = &self.changes.body {
                return Cow::Owned(lossy(changed).into_owned());
            }
            let Some(kept) = self.reply.and_then(|reply| reply.details.as_ref()) else {
                return Cow::Borrowed("");
            };
            if let Some(json) = self.message_json(&kept.body) {
                return Cow::Owned(json);
            }
            let decoded = kept.text.decode(&kept.body);
            let damage = decoded
                .is_damaged
                .then(|| format!("it holds bytes that are not {}", decoded.encoding));
            if let Some(why) = kept.undecoded.as_ref().or(damage.as_ref()) {
                self.user.worker.shared_state.note_undecoded(&self.user.label.borrow(), why);
            }
            decoded.text
        })
    }

    /// Returns the request as HTTP/1 text. gRPC messages become JSON.
    pub fn request_text(&self) -> String {
        let json = self.user.worker.services.as_ref().zip(self.request.parts()).and_then(
            |(services, parts)| {
                let json =
                    services.request(grpc::method_of(parts.url.path()), parts.body.bytes()?)?;
                Some((json, parts.body.bytes()?.len()))
            },
        );
        let bytes = self.request.bytes();
        match json {
            Some((json, length)) => {
                String::from_utf8_lossy(&bytes[..bytes.len() - length]).into_owned() + &json
            }
            None if self.is_websocket() => message_text(&bytes).into_owned(),
            None => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// True if the request is a message of a WebSocket.
    fn is_websocket(&self) -> bool {
        self.request.parts().is_some_and(|parts| matches!(parts.url.scheme(), "ws" | "wss"))
    }

    /// Returns the messages of a gRPC reply as JSON. None for other replies.
    fn message_json(&self, body: &[u8]) -> Option<String> {
        let services = self.user.worker.services.as_ref()?;
        let is_call = (GRPC_STATUS..CLOSE_STATUS).contains(&self.reply?.status);
        let url = &self.request.parts()?.url;
        is_call.then(|| services.reply(grpc::method_of(url.path()), body)).flatten()
    }

    /// Returns the label of the sample.
    pub fn label(&self) -> String {
        self.changes.label.clone().unwrap_or_else(|| self.user.label.borrow().clone())
    }

    /// Returns the body as JSON, if it is valid.
    pub fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_str(self.body()).ok()).as_ref()
    }

    /// Returns the value of the body at these steps, if it is JSON and has one.
    pub fn json_at(&self, steps: &[PathStep]) -> Option<Cow<'_, Value>> {
        if self.json.get().is_none() && self.streamed_paths.get() < MAX_STREAMED_PATHS {
            self.streamed_paths.set(self.streamed_paths.get() + 1);
            return json::follow(self.body(), steps).map(Cow::Owned);
        }
        self.json().and_then(|root| json::value_at(root, steps)).map(Cow::Borrowed)
    }

    /// Returns the header fields of the reply.
    pub fn fields(&self) -> &[(String, String)] {
        let head = self.reply.and_then(|reply| reply.details.as_ref()?.head.as_ref());
        head.map_or(&[], |head| &head.1)
    }

    /// Returns the value of a header field of the reply.
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields().iter().find(|field| field.0.eq_ignore_ascii_case(name));
        field.map(|field| field.1.as_str())
    }

    /// Returns the status. Without a complete reply: JMeter's code of the failure.
    pub fn status(&self) -> String {
        match (&self.changes.code, self.reply) {
            (Some(code), _) => code.clone(),
            (None, Some(reply)) => reply.status.to_string(),
            (None, None) => failures::code(self.sample),
        }
    }

    /// Returns the reason phrase. Without a complete reply: JMeter's message of the failure.
    pub fn message(&self) -> Cow<'_, str> {
        if let Some(message) = &self.changes.message {
            return Cow::Borrowed(message);
        }
        let Some(reply) = self.reply else { return failures::message(self).into() };
        if (GRPC_STATUS..CLOSE_STATUS).contains(&reply.status) {
            // gRPC percent-encodes its messages.
            let message = self.field("grpc-message").unwrap_or_default();
            return percent_decode_str(message).decode_utf8_lossy();
        }
        let first = reply.details.as_ref().map(|kept| &kept.first_bytes);
        // HTTP/2 and HTTP/3 have no reason phrase.
        let Some(first) = first.filter(|bytes| bytes.starts_with(b"HTTP/1")) else {
            let status = http::StatusCode::from_u16(reply.status).ok();
            return status.and_then(|status| status.canonical_reason()).unwrap_or_default().into();
        };
        // The status lines of interim replies precede that of the reply.
        let number = reply.status.to_string();
        let mut lines = first.split(|byte| *byte == b'\n');
        let line = lines.find(|line| {
            line.starts_with(b"HTTP/1")
                && line.split(|byte| *byte == b' ').nth(1).map(<[u8]>::trim_ascii)
                    == Some(number.as_bytes())
        });
        let line = line.unwrap_or_default();
        let phrase = line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default();
        String::from_utf8_lossy(phrase.trim_ascii())
    }

    /// Returns the status line and the header fields, one per line.
    pub fn headers(&self) -> String {
        if let Some(headers) = &self.changes.headers {
            return headers.clone();
        }
        let Some(reply) = self.reply else { return String::new() };
        // Our clock may end a call before its head.
        if reply.status == DEADLINE_STATUS && reply.details.is_none() {
            return String::new();
        }
        let head = reply.details.as_ref().and_then(|kept| kept.head.as_ref());
        let version = head.map_or(HttpVersion::V1_1, |(head, _)| head.version);
        let status = head.map_or(reply.status, |(head, _)| head.status);
        let mut text = format!("{version} {status} {}\n", self.message());
        self.fields().iter().for_each(|(name, value)| line(&mut text, name, value));
        text
    }

    /// Returns the header fields of the request, one per line.
    pub fn request_headers(&self) -> String {
        let mut text = String::new();
        let head = self.request.bytes();
        let end = head.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(head.len());
        for field in String::from_utf8_lossy(&head[..end]).split("\r\n").skip(1) {
            text.push_str(field);
            text.push('\n');
        }
        text
    }

    /// Returns the body of the request; without one, the query.
    pub fn request_body(&self) -> Cow<'_, str> {
        if let Some(request) = &self.changes.request {
            return Cow::Borrowed(request);
        }
        let Some(parts) = self.request.parts() else { return Cow::Borrowed("") };
        match &parts.body {
            Body::Text(text) => Cow::Borrowed(text),
            Body::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Body::Pieces(BodyPieces { bytes, .. }) => String::from_utf8_lossy(bytes),
            Body::Message(message) => Cow::Borrowed(&message.json),
            // Never sent: texts are filled in first, and a stored plan is not sent again.
            Body::Mixed(_) | Body::Omitted(_) => Cow::Borrowed(""),
            Body::None => Cow::Borrowed(parts.url.query().unwrap_or_default()),
        }
    }

    /// Returns JMeter's query: the sent body, and nothing for a GET.
    pub fn query(&self) -> Cow<'_, str> {
        let mut parts = self.request.parts().filter(|_| self.changes.request.is_none()).into_iter();
        let is_empty =
            parts.any(|parts| matches!(parts.body, Body::None) && parts.method != "DELETE");
        if is_empty { Cow::Borrowed("") } else { self.request_body() }
    }

    /// Returns the request in JMeter's format.
    pub fn sampler_data(&self) -> String {
        let Some(parts) = self.request.parts() else { return String::new() };
        let headers = self.request_headers();
        let cookies = headers.lines().find_map(|line| line.strip_prefix("Cookie: "));
        sampler_data(&parts.method, parts.url.as_str(), &self.query(), cookies.unwrap_or_default())
    }

    /// Returns a part of each sample that an extractor searches.
    pub fn parts(&self, part: &ReplyPart, samples: SampleScope) -> Vec<Cow<'_, str>> {
        let main = (samples != SampleScope::Children).then(|| self.part(part));
        // A variable has the same value for all samples, so it is searched once.
        let differs_by_hop = !matches!(part, ReplyPart::Variable(_));
        let hops = self.hops.iter().filter(|_| differs_by_hop && !samples.is_main());
        main.into_iter().chain(hops.map(|hop| hop_part(hop, part))).collect()
    }

    /// Returns a part as text.
    pub fn part(&self, part: &ReplyPart) -> Cow<'_, str> {
        match part {
            ReplyPart::Body => Cow::Borrowed(self.body()),
            ReplyPart::UnescapedBody => unescaped(self.body()),
            ReplyPart::Headers => self.headers().into(),
            ReplyPart::Status => self.status().into(),
            ReplyPart::Message => self.message(),
            ReplyPart::Url => Cow::Borrowed(self.request.url()),
            ReplyPart::RequestHeaders => self.request_headers().into(),
            ReplyPart::SamplerData => self.sampler_data().into(),
            ReplyPart::RequestBody => self.request_body(),
            ReplyPart::Variable(name) => {
                self.user.variables.borrow().get(name).unwrap_or_default().to_owned().into()
            }
        }
    }
}

/// Converts bytes to text; invalid UTF-8 is replaced. Most texts are valid, and `from_utf8` checks
/// many bytes at a time.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Returns a part of a sample in a redirect chain.
fn hop_part<'h>(hop: &'h SampleRecord, part: &ReplyPart) -> Cow<'h, str> {
    let text = match part {
        ReplyPart::Body => hop.details.body.as_ref(),
        ReplyPart::UnescapedBody => {
            return unescaped(hop.details.body.as_deref().unwrap_or_default());
        }
        ReplyPart::Headers => hop.details.response_headers.as_ref(),
        ReplyPart::Status => Some(&hop.code),
        ReplyPart::Message => Some(&hop.message),
        ReplyPart::Url => hop.url.as_ref(),
        ReplyPart::RequestHeaders => hop.details.request_headers.as_ref(),
        ReplyPart::SamplerData | ReplyPart::RequestBody | ReplyPart::Variable(_) => None,
    };
    Cow::Borrowed(text.map_or("", String::as_str))
}

/// Formats a request as JMeter does: method and URL, data, and cookies.
pub fn sampler_data(method: &str, url: &str, query: &str, cookies: &str) -> String {
    let mut text = format!("{method} {url}\n");
    if !matches!(method, "HEAD" | "OPTIONS" | "TRACE") {
        let _ = write!(text, "\n{method} data:\n{query}\n"); // a String takes anything
    }
    let cookies = if cookies.is_empty() {
        "\n[no cookies]\n".to_owned()
    } else {
        format!("\nCookie Data:\n{cookies}\n")
    };
    text + &cookies
}

fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name}: {value}"); // a String takes anything
}

/// Replaces the most common HTML entities and character references by their characters.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    // `&amp;` is last: otherwise `&amp;lt;` would become `<` instead of `&lt;`.
    const NAMED: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", "\u{a0}"),
        ("&amp;", "&"),
    ];
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let named =
        NAMED.iter().fold(text.to_owned(), |text, (name, character)| text.replace(name, character));
    Cow::Owned(named)
}

/// The texts of a request that was sent. A sample without a request has only a label.
impl RequestTexts for ReplyView<'_> {
    fn label(&self) -> String {
        Self::label(self)
    }

    fn method(&self) -> String {
        self.request.parts().map(|parts| parts.method.clone()).unwrap_or_default()
    }

    fn url(&self) -> String {
        self.request.url().to_owned()
    }

    fn headers(&self) -> Vec<(String, String)> {
        self.request.parts().map(|parts| parts.headers.clone()).unwrap_or_default()
    }

    fn body(&self) -> Body {
        self.request.parts().map(|parts| parts.body.clone()).unwrap_or_default()
    }

    fn has_body(&self) -> bool {
        self.request.parts().is_some_and(|parts| parts.body != Body::None)
    }

    fn content_type(&self) -> String {
        let headers =
            self.request.parts().map(|parts| parts.headers.as_slice()).unwrap_or_default();
        let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        kind.map(|(_, value)| value.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::user;
    use brunt_wire::ReplyDetails;

    #[test]
    fn the_message_is_that_of_the_reply() {
        let (user, request, sample) = (user(), Prepared::default(), brunt_model::Sample::default());
        for (head, message) in [
            ("HTTP/1.1 201 Made It\r\n\r\n", "Made It"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nA: b\r\n\r\n", "Made"),
            ("HTTP/1.1 103 Early Hints\r\nA: HTTP/1.1 201 no\r\n\r\nHTTP/1.1 201 \r\n\r\n", ""),
            ("HTTP/1.1 201\r\n\r\n", ""),
        ] {
            let details = Some(Box::new(ReplyDetails {
                first_bytes: head.into(),
                ..ReplyDetails::default()
            }));
            let reply = Reply { status: 201, details, ..Reply::default() };
            assert_eq!(
                ReplyView::new(&request, Some(&reply), &sample, &user).message(),
                message,
                "{head}"
            );
        }
    }
}
