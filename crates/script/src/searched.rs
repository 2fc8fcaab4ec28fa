//! A reply as extractors and assertions look at it: its parts as texts, each made once.

use crate::context::UserContext;
use brunt_model::extract::ReplyPart;
use brunt_model::{Body, Sample};
use brunt_wire::{Prepared, Reply};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write;

/// A request and what came of it.
pub struct Searched<'a> {
    /// The request; the last of a chain of redirects.
    pub request: &'a Prepared,
    /// The reply, where a whole one came.
    pub reply: Option<&'a Reply>,
    /// Milliseconds from begun to last byte.
    pub elapsed_millis: u64,
    /// Bytes that came, heads and bodies.
    pub bytes: u64,
    /// Whose it is.
    pub user: &'a UserContext,
    body: OnceCell<Cow<'a, str>>,
    json: OnceCell<Option<Value>>,
}

impl<'a> Searched<'a> {
    /// A reply that nobody has looked at, with the sample of its request.
    pub fn new(request: &'a Prepared, reply: Option<&'a Reply>, sample: &Sample, user: &'a UserContext) -> Self {
        let (body, json) = (OnceCell::new(), OnceCell::new());
        let elapsed_millis = sample.last_byte.nanos_since(sample.begun) / 1_000_000;
        Self { request, reply, elapsed_millis, bytes: sample.bytes_received, user, body, json }
    }

    /// The body as text: what is no UTF-8 is replaced.
    pub fn body(&self) -> &str {
        let kept = self.reply.and_then(|reply| reply.kept.as_ref());
        self.body.get_or_init(|| kept.map_or(Cow::Borrowed(""), |kept| String::from_utf8_lossy(&kept.body)))
    }

    /// The body as JSON, where it is some.
    pub fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_str(self.body()).ok()).as_ref()
    }

    /// The header fields of the reply.
    pub fn fields(&self) -> &[(String, String)] {
        let head = self.reply.and_then(|reply| reply.kept.as_ref()?.head.as_ref());
        head.map_or(&[], |head| &head.1)
    }

    /// The status; empty where no whole reply came.
    pub fn status(&self) -> String {
        self.reply.map_or_else(String::new, |reply| reply.status.to_string())
    }

    /// The phrase behind the status.
    pub fn message(&self) -> Cow<'_, str> {
        let first = self.reply.and_then(|reply| reply.kept.as_ref()).map(|kept| kept.first_bytes.as_slice());
        let line = first.and_then(|bytes| bytes.split(|byte| *byte == b'\n').next()).unwrap_or_default();
        let phrase = line.splitn(3, |byte| *byte == b' ').nth(2).unwrap_or_default();
        String::from_utf8_lossy(phrase.trim_ascii())
    }

    /// The status line and the header fields, a line each.
    pub fn headers(&self) -> String {
        let Some(reply) = self.reply else { return String::new() };
        let mut text = format!("HTTP/1.1 {} {}\n", reply.status, self.message());
        self.fields().iter().for_each(|(name, value)| line(&mut text, name, value));
        text
    }

    /// The header fields of the request, a line each.
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

    /// The body of the request; the query where it has none.
    pub fn request_body(&self) -> Cow<'_, str> {
        let Some(parts) = self.request.parts() else { return Cow::Borrowed("") };
        match &parts.body {
            Body::Text(text) => Cow::Borrowed(text),
            Body::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Body::None => Cow::Borrowed(parts.url.query().unwrap_or_default()),
        }
    }

    /// A part as text.
    pub fn part(&self, part: &ReplyPart) -> Cow<'_, str> {
        match part {
            ReplyPart::Body => Cow::Borrowed(self.body()),
            ReplyPart::UnescapedBody => unescaped(self.body()),
            ReplyPart::Headers => self.headers().into(),
            ReplyPart::Status => self.status().into(),
            ReplyPart::Message => self.message(),
            ReplyPart::Url => Cow::Borrowed(self.request.url()),
            ReplyPart::RequestHeaders => self.request_headers().into(),
            ReplyPart::RequestBody => self.request_body(),
            ReplyPart::Variable(name) => self.user.variables.borrow().get(name).unwrap_or_default().to_owned().into(),
        }
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name}: {value}"); // a String takes anything
}

/// Named and numbered characters of HTML that are written out most often, as what they are.
pub fn unescaped(text: &str) -> Cow<'_, str> {
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
    let named = NAMED.iter().fold(text.to_owned(), |text, (name, character)| text.replace(name, character));
    Cow::Owned(named)
}
