//! Makes heads and bodies of the replies of HTTP/2 and HTTP/3.
//!
//! Replies are cached, as in [`crate::reply`].

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response};

use crate::args::LabOptions;
use crate::reply::{filler, status_of};
use crate::request::{ReplyRoute, RequestedReply};

/// Maximum number of cached replies.
// Clients choose the sizes in `/bytes/N`, and could fill the memory.
const MAX_CACHED: usize = 64;

/// Maximum length of a cached `/bytes/N` body, in bytes.
const MAX_CACHED_BODY: usize = 1 << 20;

/// Header fields that HTTP/2 forbids (RFC 9113, section 8.2.2).
const FORBIDDEN: [&str; 5] =
    ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"];

/// A reply that is ready to send.
#[derive(Debug, Clone)]
pub struct Http2Reply<H> {
    /// Status of the reply.
    pub status: u16,
    /// Header fields of the reply.
    pub head: H,
    /// Body of the reply; may be empty.
    pub body: Bytes,
    /// Trailers, if there are any.
    pub trailers: Option<H>,
}

/// Key of a cached reply: status, no body, size of a `/bytes/N` body.
type Key = (u16, bool, Option<usize>);

/// Converts header fields to the form of a protocol.
pub type MakeHead<H> = fn(&[(&str, &str)]) -> H;

/// Makes replies, and caches the ones that will be needed again.
#[derive(Debug)]
pub struct Http2Replies<H> {
    status: u16,
    headers: Vec<(String, String)>,
    body: Bytes,
    /// True if the length of the body is not announced.
    omits_length: bool,
    /// True if replies are gRPC messages.
    grpc: bool,
    cache: Vec<(Key, Http2Reply<H>)>,
    make_head: MakeHead<H>,
}

impl<H: Clone> Http2Replies<H> {
    /// Creates replies with this status, body size and header fields. A chunked
    /// reply has no content-length.
    pub fn new(
        status: u16,
        headers: &[String],
        body: usize,
        chunked: bool,
        make_head: MakeHead<H>,
    ) -> Self {
        let fields = headers.iter().filter_map(|header| header.split_once(':'));
        // RFC 9113, section 8.2.1: names are in lower case.
        let fields =
            fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let headers = fields.filter(|(name, _)| !FORBIDDEN.contains(&name.as_str())).collect();
        let body = filler(body).into();
        Self {
            status,
            headers,
            body,
            omits_length: chunked,
            grpc: false,
            cache: Vec::new(),
            make_head,
        }
    }

    /// Creates the replies that these options define.
    pub fn of(options: &LabOptions, make_head: MakeHead<H>) -> Self {
        let mut replies =
            Self::new(options.status, &options.headers, options.body, options.chunked, make_head);
        if options.http2.grpc {
            replies.headers.push(("content-type".to_owned(), "application/grpc".to_owned()));
            replies.body = message(&replies.body).into();
            replies.grpc = true;
            replies.omits_length = true;
        }
        replies
    }

    /// Returns the reply to `request`, with the status `override_status` if it is set.
    pub fn to(&mut self, request: &RequestedReply, override_status: Option<u16>) -> Http2Reply<H> {
        let status = override_status.unwrap_or_else(|| status_of(request.route, self.status));
        let head_only = request.shape.head_only;
        match (&request.echo, request.route) {
            (Some(echo), _) => self.compose(status, head_only, None, Bytes::copy_from_slice(echo)),
            (None, ReplyRoute::Redirect(remaining @ 1..)) => {
                let location = format!("/redirect/{}", remaining - 1);
                self.compose(status, head_only, Some(("location", &location)), self.body.clone())
            }
            (None, ReplyRoute::Bytes(size)) => self.cached_reply((status, head_only, Some(size))),
            _ => self.cached_reply((status, head_only, None)),
        }
    }

    /// Returns a reply with this body.
    pub fn with_body(
        &self,
        status: u16,
        head_only: bool,
        content_type: &str,
        body: Vec<u8>,
    ) -> Http2Reply<H> {
        self.compose(status, head_only, Some(("content-type", content_type)), body.into())
    }

    fn cached_reply(&mut self, key: Key) -> Http2Reply<H> {
        if let Some((_, reply)) = self.cache.iter().find(|(cached, _)| *cached == key) {
            return reply.clone();
        }
        let (status, head_only, size) = key;
        let reply = self.compose(
            status,
            head_only,
            None,
            size.map_or_else(|| self.body.clone(), |size| filler(size).into()),
        );
        if self.cache.len() < MAX_CACHED && size.is_none_or(|size| size <= MAX_CACHED_BODY) {
            self.cache.push((key, reply.clone()));
        }
        reply
    }

    fn compose(
        &self,
        status: u16,
        head_only: bool,
        field: Option<(&str, &str)>,
        body: Bytes,
    ) -> Http2Reply<H> {
        let has_no_body = status == 204 || status == 304;
        // A gRPC call fails by its trailers; the HTTP status stays 200.
        let shown = if self.grpc { 200 } else { status }.to_string();
        let length = body.len().to_string();
        let mut fields = vec![(":status", shown.as_str()), ("server", "brunt-lab")];
        fields.extend(field);
        fields.extend(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if !has_no_body && !self.omits_length {
            fields.push(("content-length", &length));
        }
        // gRPC codes: OK, UNAVAILABLE and UNKNOWN.
        let code = match status {
            200 => "0",
            503 => "14",
            _ => "2",
        };
        let has_no_body = has_no_body || head_only || (self.grpc && code != "0");
        let body = if has_no_body { Bytes::new() } else { body };
        let trailers = self.grpc.then(|| (self.make_head)(&[("grpc-status", code)]));
        Http2Reply { status, head: (self.make_head)(&fields), body, trailers }
    }
}

/// Returns the head of a reply, or trailers, for the crate `h2`. Fields that no HTTP library
/// can send are omitted.
pub fn response(fields: &[(&str, &str)]) -> Response<()> {
    let mut response = Response::new(());
    for (name, value) in fields {
        if *name == ":status" {
            *response.status_mut() = value.parse().unwrap_or_default();
        } else if let (Ok(name), Ok(value)) =
            (HeaderName::try_from(*name), HeaderValue::from_str(value))
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}

/// Returns a framed gRPC message: field number 1 with these bytes, or an empty message.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    if !bytes.is_empty() {
        message.push(0x0a);
        let mut rest = bytes.len();
        while rest >= 0x80 {
            message.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        message.push(rest as u8);
        message.extend_from_slice(bytes);
    }
    // gRPC puts a flag, 0 for uncompressed, and the length in 4 bytes before a message.
    [&[0], &(message.len() as u32).to_be_bytes()[..], &message].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::ReplyShape;

    fn reply(chunked: bool, route: ReplyRoute, head_only: bool) -> (String, usize) {
        let headers = ["X-A: b".to_owned(), "Connection: close".to_owned()];
        let mut replies = Http2Replies::new(200, &headers, 3, chunked, response);
        let request = RequestedReply {
            route,
            shape: ReplyShape { head_only, ..ReplyShape::default() },
            ..RequestedReply::default()
        };
        let first = replies.to(&request, None);
        let second = replies.to(&request, None);
        assert_eq!(first.head.headers(), second.head.headers());
        let fields = first.head.headers().iter();
        let fields = fields.map(|(name, value)| format!("{name}={};", value.to_str().unwrap()));
        (
            format!(":status={};{}", first.head.status().as_str(), fields.collect::<String>()),
            first.body.len(),
        )
    }

    #[test]
    fn replies_are_as_in_http_1() {
        let plain = ":status=200;server=brunt-lab;x-a=b;";
        assert_eq!(
            reply(false, ReplyRoute::Plain, false),
            (format!("{plain}content-length=3;"), 3)
        );
        assert_eq!(reply(true, ReplyRoute::Plain, false), (plain.to_owned(), 3));
        assert_eq!(reply(false, ReplyRoute::Plain, true), (format!("{plain}content-length=3;"), 0));
        assert_eq!(reply(false, ReplyRoute::Bytes(100), false).1, 100);
        assert_eq!(
            reply(false, ReplyRoute::Status(204), false),
            (":status=204;server=brunt-lab;x-a=b;".to_owned(), 0)
        );
        assert!(reply(false, ReplyRoute::Redirect(2), false).0.contains("location=/redirect/1;"));
    }
}
