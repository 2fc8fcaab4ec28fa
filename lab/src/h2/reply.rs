//! The header blocks and bodies of HTTP/2 replies.
//!
//! What was composed before is kept, as in [`crate::reply`], so that a usual reply costs two reference counts. Header
//! blocks use the static table only, so they are the same on every connection.

use std::rc::Rc;

use super::hpack::put_field;
use crate::args::Options;
use crate::reply::{filler, status_of};
use crate::request::{Request, Route};

/// The most replies that are kept for another use.
const MOST_KEPT: usize = 64;

/// The longest body of `/bytes/N` that is kept for another use, in bytes.
const LONGEST_KEPT: usize = 1 << 20;

/// Header fields that HTTP/2 forbids (RFC 9113, section 8.2.2).
const FORBIDDEN: [&str; 5] = ["connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"];

/// A reply ready to send.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// The header block.
    pub block: Rc<[u8]>,
    /// The body.
    pub body: Rc<[u8]>,
    /// The header block behind it, where there is one.
    pub trailers: Option<Rc<[u8]>>,
}

/// What makes two replies the same: status, no body, size of a `/bytes/N` body.
type Key = (u16, bool, Option<usize>);

/// Makes replies, and keeps those that will be wanted again.
#[derive(Debug)]
pub struct Replies {
    status: u16,
    headers: Vec<(String, String)>,
    body: Rc<[u8]>,
    /// Whether the length of the body is not announced.
    unsized_: bool,
    /// Replies are messages of gRPC.
    grpc: bool,
    kept: Vec<(Key, Reply)>,
    /// What a header block begins with, and what appends a field.
    prefix: &'static [u8],
    put: PutField,
}

/// Appends a field to a header block.
pub type PutField = fn(&mut Vec<u8>, &str, &str);

impl Replies {
    /// Replies of this status and body size, with these header fields; a chunked reply has no content-length.
    pub fn new(status: u16, headers: &[String], body: usize, chunked: bool) -> Self {
        let fields = headers.iter().filter_map(|header| header.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let headers = fields.filter(|(name, _)| !FORBIDDEN.contains(&name.as_str())).collect();
        Self {
            status,
            headers,
            body: filler(body).into(),
            unsized_: chunked,
            grpc: false,
            kept: Vec::new(),
            prefix: &[],
            put: put_field,
        }
    }

    /// Those that these options ask for.
    pub fn of(options: &Options) -> Self {
        Self::with(options, &[], put_field)
    }

    /// The same, with header blocks that begin so, and of fields that are written so.
    pub fn with(options: &Options, prefix: &'static [u8], put: PutField) -> Self {
        let replies = Self::new(options.status, &options.headers, options.body, options.chunked);
        let mut replies = Self { prefix, put, ..replies };
        if options.http2.grpc {
            replies.headers.push(("content-type".to_owned(), "application/grpc".to_owned()));
            replies.body = message(&replies.body).into();
            (replies.grpc, replies.unsized_) = (true, true);
        }
        replies
    }

    /// The reply to `request`, with the status `instead` if there is one.
    pub fn to(&mut self, request: &Request, instead: Option<u16>) -> Reply {
        let status = instead.unwrap_or_else(|| status_of(request.route, self.status));
        let head_only = request.shape.head_only;
        match (&request.echo, request.route) {
            (Some(echo), _) => self.compose(status, head_only, None, echo.as_slice().into()),
            (None, Route::Redirect(left @ 1..)) => {
                let location = format!("/redirect/{}", left - 1);
                self.compose(status, head_only, Some(("location", &location)), Rc::clone(&self.body))
            }
            (None, Route::Bytes(size)) => self.usual((status, head_only, Some(size))),
            _ => self.usual((status, head_only, None)),
        }
    }

    /// A reply with a body of its own.
    pub fn with_body(&self, status: u16, head_only: bool, content_type: &str, body: Vec<u8>) -> Reply {
        self.compose(status, head_only, Some(("content-type", content_type)), body.into())
    }

    fn usual(&mut self, key: Key) -> Reply {
        if let Some((_, reply)) = self.kept.iter().find(|(kept, _)| *kept == key) {
            return reply.clone();
        }
        let (status, head_only, size) = key;
        let reply = self.compose(
            status,
            head_only,
            None,
            size.map_or_else(|| Rc::clone(&self.body), |size| filler(size).into()),
        );
        if self.kept.len() < MOST_KEPT && size.is_none_or(|size| size <= LONGEST_KEPT) {
            self.kept.push((key, reply.clone()));
        }
        reply
    }

    fn compose(&self, status: u16, head_only: bool, field: Option<(&str, &str)>, body: Rc<[u8]>) -> Reply {
        let bodiless = status == 204 || status == 304;
        let mut block = self.prefix.to_vec();
        (self.put)(&mut block, ":status", &if self.grpc { 200 } else { status }.to_string());
        (self.put)(&mut block, "server", "brunt-lab");
        if let Some((name, value)) = field {
            (self.put)(&mut block, name, value);
        }
        for (name, value) in &self.headers {
            (self.put)(&mut block, name, value);
        }
        if !bodiless && !self.unsized_ {
            (self.put)(&mut block, "content-length", &body.len().to_string());
        }
        let code = match status {
            200 => 0,
            503 => 14,
            _ => 2,
        };
        let bodiless = bodiless || head_only || (self.grpc && code != 0);
        let body = if bodiless { Rc::default() } else { body };
        let trailers = self.grpc.then(|| {
            let mut block = self.prefix.to_vec();
            (self.put)(&mut block, "grpc-status", &code.to_string());
            block.into()
        });
        Reply { status, block: block.into(), body, trailers }
    }
}

/// A message of gRPC, framed: a field of number 1 with these bytes, or an empty one.
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
    [&[0], &(message.len() as u32).to_be_bytes()[..], &message].concat()
}

#[cfg(test)]
mod tests {
    use super::super::hpack::Decoder;
    use super::*;
    use crate::request::Shape;

    fn reply(chunked: bool, route: Route, head_only: bool) -> (String, usize) {
        let headers = ["X-A: b".to_owned(), "Connection: close".to_owned()];
        let mut replies = Replies::new(200, &headers, 3, chunked);
        let request = Request { route, shape: Shape { head_only, ..Shape::default() }, ..Request::default() };
        let (made, again) = (replies.to(&request, None), replies.to(&request, None));
        assert_eq!(made.block, again.block);
        let mut text = Vec::new();
        Decoder::new(4096).decode(&made.block, |name, value| text.extend([name, b"=", value, b";"].concat())).unwrap();
        (String::from_utf8(text).unwrap(), made.body.len())
    }

    #[test]
    fn replies_are_as_in_http_1() {
        let plain = ":status=200;server=brunt-lab;x-a=b;";
        assert_eq!(reply(false, Route::Plain, false), (format!("{plain}content-length=3;"), 3));
        assert_eq!(reply(true, Route::Plain, false), (plain.to_owned(), 3));
        assert_eq!(reply(false, Route::Plain, true), (format!("{plain}content-length=3;"), 0));
        assert_eq!(reply(false, Route::Bytes(100), false).1, 100);
        assert_eq!(reply(false, Route::Status(204), false), (":status=204;server=brunt-lab;x-a=b;".to_owned(), 0));
        assert!(reply(false, Route::Redirect(2), false).0.contains("location=/redirect/1;"));
    }
}
