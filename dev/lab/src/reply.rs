//! Makes the bytes of replies.
//!
//! A reply is a shared slice of head and body, so that a cached reply costs only a reference count.
//! Other modules choose the instant and the connection.

use std::rc::Rc;

use crate::request::{ReplyRoute, ReplyShape, RequestedReply};
use crate::websocket;

/// Size of the chunks of a chunked reply, in bytes.
const CHUNK: usize = 16 * 1024;

/// Maximum number of cached replies.
const MAX_CACHED: usize = 64;

/// Maximum length of a cached `/bytes/N` body, in bytes.
const MAX_CACHED_BODY: usize = 1 << 20;

/// Interim reply for a client that waits for it before it sends its body.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A reply that is ready to send.
#[derive(Debug, Clone)]
pub struct EncodedReply {
    /// Status of the reply.
    pub status: u16,
    /// Head and body, as they are sent.
    pub bytes: Rc<[u8]>,
}

/// Key of a cached reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    status: u16,
    shape: ReplyShape,
    /// Size of a `/bytes/N` body; None is the default body.
    size: Option<usize>,
}

/// Makes replies, and caches the ones that will be needed again.
#[derive(Debug)]
pub struct ReplyCache {
    status: u16,
    headers: String,
    body: Vec<u8>,
    chunked: bool,
    cache: Vec<(Key, Rc<[u8]>)>,
}

impl ReplyCache {
    /// Creates replies with this status, body size and header fields.
    pub fn new(status: u16, headers: &[String], body: usize, chunked: bool) -> Self {
        let headers = headers.iter().fold(String::new(), |all, header| all + header + "\r\n");
        Self { status, headers, body: filler(body), chunked, cache: Vec::new() }
    }

    /// Returns the reply to `request`, with the status `override_status` if it is set.
    pub fn to(&mut self, request: &RequestedReply, override_status: Option<u16>) -> EncodedReply {
        let status = match request.shape.message {
            Some(_) => websocket::STATUS,
            None => override_status.unwrap_or_else(|| status_of(request.route, self.status)),
        };
        let bytes = match (&request.echo, request.route) {
            (Some(echo), _) => self.compose(status, request.shape, "", echo),
            (None, ReplyRoute::Redirect(remaining @ 1..)) => {
                let location = format!("Location: /redirect/{}\r\n", remaining - 1);
                self.compose(status, request.shape, &location, &self.body)
            }
            (None, ReplyRoute::Bytes(size)) => {
                return self.cached_reply(Key { status, shape: request.shape, size: Some(size) });
            }
            _ => return self.cached_reply(Key { status, shape: request.shape, size: None }),
        };
        EncodedReply { status, bytes: bytes.into() }
    }

    /// Returns a reply with this body.
    pub fn with_body(
        &self,
        status: u16,
        shape: ReplyShape,
        content_type: &str,
        body: &[u8],
    ) -> EncodedReply {
        let field = format!("Content-Type: {content_type}\r\n");
        EncodedReply { status, bytes: self.compose(status, shape, &field, body).into() }
    }

    fn cached_reply(&mut self, key: Key) -> EncodedReply {
        if let Some((_, bytes)) = self.cache.iter().find(|(cached, _)| *cached == key) {
            return EncodedReply { status: key.status, bytes: Rc::clone(bytes) };
        }
        let body = key.size.map(filler);
        let bytes: Rc<[u8]> =
            self.compose(key.status, key.shape, "", body.as_ref().unwrap_or(&self.body)).into();
        if self.cache.len() < MAX_CACHED && key.size.is_none_or(|size| size <= MAX_CACHED_BODY) {
            self.cache.push((key, Rc::clone(&bytes)));
        }
        EncodedReply { status: key.status, bytes }
    }

    fn compose(&self, status: u16, shape: ReplyShape, fields: &str, body: &[u8]) -> Vec<u8> {
        if let Some(opcode) = shape.message {
            return websocket::message(opcode, body, if self.chunked { CHUNK } else { usize::MAX });
        }
        // These statuses have neither a body nor a length of one.
        let has_no_body = status == 204 || status == 304;
        // HTTP/1.0 does not know chunks.
        let chunked = self.chunked && !shape.http10;
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\nServer: brunt-lab\r\n{fields}{}",
            phrase(status),
            self.headers
        );
        if chunked && !has_no_body {
            head.push_str("Transfer-Encoding: chunked\r\n");
        } else if !has_no_body {
            head.push_str(&["Content-Length: ", &body.len().to_string(), "\r\n"].concat());
        }
        // Connections stay open by default in HTTP/1.1, but not in HTTP/1.0.
        match (shape.keep_alive, shape.http10) {
            (false, _) => head += "Connection: close\r\n",
            (true, true) => head += "Connection: keep-alive\r\n",
            (true, false) => {}
        }
        let mut bytes = (head + "\r\n").into_bytes();
        if has_no_body || shape.head_only {
            return bytes;
        }
        if chunked {
            append_chunks(&mut bytes, body);
        } else {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

/// Returns the start of the body in a reply.
pub fn head_length(shape: ReplyShape, reply: &[u8]) -> usize {
    if shape.message.is_some() {
        return websocket::head_length(reply);
    }
    reply.windows(4).position(|window| window == b"\r\n\r\n").map_or(reply.len(), |end| end + 4)
}

fn append_chunks(bytes: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(CHUNK) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
}

/// Returns the status of the reply to a path; `default` if the path has no special status.
pub(crate) fn status_of(route: ReplyRoute, default: u16) -> u16 {
    match route {
        ReplyRoute::Status(status) => status,
        ReplyRoute::Redirect(1..) => 302,
        ReplyRoute::Redirect(0) => 200,
        _ => default,
    }
}

/// Returns a body of `size` bytes: lines of letters.
pub(crate) fn filler(size: usize) -> Vec<u8> {
    b"abcdefghijklmnopqrstuvwxyz01234\n".iter().copied().cycle().take(size).collect()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Lab",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: ReplyShape =
        ReplyShape { http10: false, head_only: false, keep_alive: true, message: None };

    fn reply(chunked: bool, route: ReplyRoute, shape: ReplyShape) -> String {
        let mut replies = ReplyCache::new(200, &["X-A: b".to_owned()], 3, chunked);
        let made = replies.to(&RequestedReply { route, shape, ..RequestedReply::default() }, None);
        let again = replies.to(&RequestedReply { route, shape, ..RequestedReply::default() }, None);
        assert_eq!(made.bytes, again.bytes);
        String::from_utf8(made.bytes.to_vec()).unwrap()
    }

    #[test]
    fn replies_are_framed_as_the_client_needs() {
        let plain = "HTTP/1.1 200 OK\r\nServer: brunt-lab\r\nX-A: b\r\n";
        assert_eq!(
            reply(false, ReplyRoute::Plain, KEEP),
            format!("{plain}Content-Length: 3\r\n\r\nabc")
        );
        let chunked = format!("{plain}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        assert_eq!(reply(true, ReplyRoute::Plain, KEEP), chunked);
        let head = ReplyShape { head_only: true, ..KEEP };
        assert_eq!(
            reply(false, ReplyRoute::Plain, head),
            format!("{plain}Content-Length: 3\r\n\r\n")
        );
        let old = ReplyShape { http10: true, ..KEEP };
        let old_reply = format!("{plain}Content-Length: 3\r\nConnection: keep-alive\r\n\r\nabc");
        assert_eq!(reply(true, ReplyRoute::Plain, old), old_reply);
        let closing = ReplyShape { keep_alive: false, ..KEEP };
        assert!(reply(false, ReplyRoute::Plain, closing).contains("\r\nConnection: close\r\n"));
    }

    #[test]
    fn routes_decide_the_reply() {
        assert!(
            reply(false, ReplyRoute::Status(404), KEEP).starts_with("HTTP/1.1 404 Not Found\r\n")
        );
        assert!(
            reply(false, ReplyRoute::Redirect(2), KEEP).contains("\r\nLocation: /redirect/1\r\n")
        );
        assert!(reply(false, ReplyRoute::Redirect(0), KEEP).starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(reply(false, ReplyRoute::Bytes(100), KEEP).contains("\r\nContent-Length: 100\r\n"));
        let empty = reply(false, ReplyRoute::Status(204), KEEP);
        assert!(empty.ends_with("X-A: b\r\n\r\n"), "{empty}");
        let bytes = reply(false, ReplyRoute::Bytes(100), KEEP);
        assert_eq!(bytes.len() - head_length(KEEP, bytes.as_bytes()), 100);
    }
}
