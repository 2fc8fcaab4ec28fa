//! Reads entries of a HAR: a request and its reply.

use crate::body;
use crate::json::JsonNode;
use crate::plan::{ImportedBody, MultipartPart};
use crate::server;
use crate::text::clean_encoded;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::DateTime;
use url::Url;

/// A recorded request and its reply.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) page: String,
    /// Start and end, in milliseconds since 1970; 0 if unknown.
    pub(super) started: f64,
    pub(super) ended: f64,
    pub(super) method: String,
    pub(super) url: Url,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: ImportedBody,
    /// Notes on the URL and the body.
    pub(super) comments: Vec<String>,
    /// Type of resource such as `document` or `script`; empty if unknown.
    pub(super) resource: String,
    pub(super) reply: Reply,
}

/// A recorded reply.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Status; 0 if there was no reply.
    pub status: u64,
    /// Header fields, in order.
    pub headers: Vec<(String, String)>,
    pub(super) media_type: String,
    /// Body after decoding; empty if it was not recorded or is not text.
    pub body: String,
}

impl Reply {
    /// Value of a header field; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or("", |(_, value)| value)
    }
}

impl Entry {
    /// Reads an entry. The error is the reason why it is left out.
    pub(super) fn read(at: &JsonNode<'_>) -> Result<Self, &'static str> {
        let request = at.get("request").ok_or("entries without a request")?;
        let text =
            request.get("url").and_then(|url| url.value.as_str()).filter(|url| !url.is_empty());
        let text = text.ok_or("requests without a URL")?;
        let url = Url::parse(text).map_err(|_| "requests whose URL is malformed")?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err("requests that are not http");
        }
        let started = DateTime::parse_from_rfc3339(at.text("startedDateTime"))
            .map_or(0.0, |time| time.timestamp_millis() as f64);
        let time = at
            .get("time")
            .and_then(|time| time.value.as_f64())
            .filter(|time| *time > 0.0)
            .unwrap_or(0.0);
        let mut comments = Vec::new();
        comments.extend(changed_url(text));
        let (url, missing) = with_query(url, &request);
        comments.extend(missing);
        let body =
            request.get("postData").map(|post| read_body(&post, &mut comments)).unwrap_or_default();
        let method = request.text("method").to_ascii_uppercase();
        Ok(Self {
            page: at.text("pageref").to_owned(),
            started,
            ended: started + time,
            method: if method.is_empty() { "GET".to_owned() } else { method },
            url,
            headers: headers(&request),
            body,
            comments,
            resource: at.text("_resourceType").to_owned(),
            reply: at.get("response").map(|response| reply(&response)).unwrap_or_default(),
        })
    }

    /// True for an image, script, style sheet, font or similar.
    pub(super) fn is_resource(&self) -> bool {
        const KINDS: [&str; 9] = [
            "script",
            "stylesheet",
            "image",
            "font",
            "media",
            "manifest",
            "texttrack",
            "ping",
            "csp-violation-report",
        ];
        const ENDINGS: [&str; 18] = [
            "js", "mjs", "css", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "woff",
            "woff2", "ttf", "otf", "mp4", "webm", "map",
        ];
        let media = self.reply.media_type.split(';').next().unwrap_or_default().trim();
        let ending =
            self.url.path().rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        // Browsers request it by themselves, as a resource of another kind.
        if self.url.path() == "/favicon.ico" {
            return true;
        }
        // Only some browsers record the type of a resource; otherwise media type and extension
        // decide.
        if !self.resource.is_empty() {
            return KINDS.contains(&self.resource.as_str());
        }
        self.method == "GET"
            && (["image/", "font/", "video/", "audio/", "text/css"]
                .iter()
                .any(|kind| media.starts_with(kind))
                || media.ends_with("javascript")
                || media == "application/wasm"
                || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())))
    }

    /// True for an HTML page.
    pub(super) fn is_document(&self) -> bool {
        self.resource == "document"
            || self.resource.is_empty() && self.reply.media_type.starts_with("text/html")
    }

    /// True for a CORS preflight request.
    pub(super) fn is_preflight(&self) -> bool {
        let mut names = self.headers.iter().map(|(name, _)| name);
        self.method == "OPTIONS"
            && names.any(|name| name.eq_ignore_ascii_case("access-control-request-method"))
    }

    /// Redirect target of the reply.
    pub(super) fn redirect(&self) -> Option<Url> {
        if !(300..400).contains(&self.reply.status) {
            return None;
        }
        let location = self.reply.header("location");
        (!location.is_empty()).then(|| self.url.join(location).ok()).flatten().map(without_fragment)
    }
}

/// Comment on a URL that the plan sends in a different form.
fn changed_url(text: &str) -> Option<String> {
    let (target, sent) = server::changed_target(&server::parse(text).ok()?, false)?;
    Some(format!("the recording asks for {target}, and this plan for {sent}"))
}

/// Adds the parameters of `queryString` to a URL without a query. Otherwise, returns a comment on
/// parameters that the URL lacks.
fn with_query(mut url: Url, request: &JsonNode<'_>) -> (Url, Option<String>) {
    let fields: Vec<(String, String)> = request
        .list("queryString")
        .iter()
        .map(|field| (decoded(field.text("name")), decoded(&field.scalar("value"))))
        .filter(|(name, _)| !name.is_empty())
        .collect();
    if fields.is_empty() {
        return (url, None);
    }
    if url.query().is_none() {
        url.set_query(Some(&body::encoded(&fields)));
        return (url, None);
    }
    let names = fields.iter().map(|(name, _)| name.as_str());
    let missing: Vec<&str> =
        names.filter(|name| !url.query_pairs().any(|(known, _)| known == *name)).collect();
    let comment = format!(
        "left out: parameters of queryString that the URL does not have: {}",
        missing.join(", ")
    );
    let comment = (!missing.is_empty()).then_some(comment);
    (url, comment)
}

/// Removes the fragment, which is never sent.
pub(super) fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

fn headers(message: &JsonNode<'_>) -> Vec<(String, String)> {
    let fields = message.list("headers");
    let fields =
        fields.iter().map(|header| (header.text("name").to_owned(), header.scalar("value")));
    fields.filter(|(name, _)| !name.is_empty()).collect()
}

fn read_body(post: &JsonNode<'_>, comments: &mut Vec<String>) -> ImportedBody {
    let media_type = post.text("mimeType");
    let text = match text_of(post) {
        Ok(text) => text,
        Err(bytes) => {
            comments.push(format!(
                "left out: the body of {} bytes, which is no text; put it into a file and write `file: NAME`",
                bytes.len()
            ));
            return ImportedBody::None;
        }
    };
    let params = post.list("params");
    let mut body = match &*text {
        "" if !params.is_empty() && media_type.starts_with(body::MULTIPART) => multipart(&params),
        "" if !params.is_empty() => {
            let fields = params
                .iter()
                .map(|param| (decoded(param.text("name")), decoded(&param.scalar("value"))));
            ImportedBody::Form(fields.collect(), None)
        }
        text => body::of(media_type, text),
    };
    // Few recordings contain the uploaded files. A text replaces them.
    if let ImportedBody::Multipart(parts) = &mut body {
        for (name, part) in parts {
            if let MultipartPart::File { file, kind, .. } = part {
                let written = kind.as_ref().map(|kind| format!(", type: {kind}"));
                let written = written.unwrap_or_default();
                comments.push(format!(
                    "`{name}` was the file {file}, whose content is a placeholder; write {{file: …{written}}} to send one"
                ));
                *part = MultipartPart::SentFile {
                    text: format!("content of {file}"),
                    filename: std::mem::take(file),
                    kind: kind.take(),
                };
            }
        }
    }
    body
}

/// The text of a body, after decoding.
///
/// # Errors
///
/// The bytes, if they are no text.
fn text_of(body: &JsonNode<'_>) -> Result<String, Vec<u8>> {
    let text = body.scalar("text");
    if body.text("encoding") != "base64" {
        return Ok(text);
    }
    let bytes = STANDARD.decode(&text).unwrap_or_default();
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

fn multipart(params: &[JsonNode<'_>]) -> ImportedBody {
    let mut parts = Vec::new();
    for param in params {
        let part = match param.text("fileName") {
            "" => MultipartPart::Text(param.scalar("value")),
            file => {
                let kind = Some(param.text("contentType"))
                    .filter(|kind| !kind.is_empty())
                    .map(str::to_owned);
                MultipartPart::File { file: file.to_owned(), kind, filename: None }
            }
        };
        parts.push((param.text("name").to_owned(), part));
    }
    ImportedBody::Multipart(parts)
}

/// Decodes a name or value of a form. Some browsers record them encoded.
fn decoded(text: &str) -> String {
    let spaced = clean_encoded(text).replace('+', " ");
    percent_encoding::percent_decode_str(&spaced)
        .decode_utf8()
        .map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned)
}

fn reply(response: &JsonNode<'_>) -> Reply {
    let mut reply = Reply {
        status: response.get("status").and_then(|status| status.value.as_u64()).unwrap_or(0),
        headers: headers(response),
        ..Reply::default()
    };
    let redirect = response.text("redirectURL");
    // Some recordings have the target only here.
    if reply.header("location").is_empty() && !redirect.is_empty() {
        reply.headers.push(("Location".to_owned(), redirect.to_owned()));
    }
    if let Some(content) = response.get("content") {
        content.text("mimeType").clone_into(&mut reply.media_type);
        // A binary body has no values for later requests.
        reply.body = text_of(&content).unwrap_or_default();
    }
    reply
}
