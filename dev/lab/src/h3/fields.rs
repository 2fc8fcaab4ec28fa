//! Builds requests from header lists, and rejects invalid lists (RFC 9114, sections 4.2 and 4.3).

use crate::request::{ReplyRoute, ReplyShape, RequestedReply};

/// Fields of a request, added one by one.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact about the list so far")]
pub struct RequestBuilder {
    method: Option<Method>,
    route: Option<ReplyRoute>,
    has_scheme: bool,
    has_authority: bool,
    /// True after the first field without a colon.
    regular: bool,
    length: Option<u64>,
    wrong: Option<&'static str>,
    echo: Option<Echo>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Head,
    Connect,
    Other,
}

/// Parts of the text that `--echo` returns.
#[derive(Debug, Default)]
struct Echo {
    method: Vec<u8>,
    path: Vec<u8>,
    rest: Vec<u8>,
}

/// A request without its body.
#[derive(Debug)]
pub struct StreamRequest {
    /// The request, with an empty body.
    pub request: RequestedReply,
    /// Value of content-length, if there is one.
    pub length: Option<u64>,
}

impl RequestBuilder {
    /// Creates an empty list. With `echo`, all fields are stored.
    pub fn new(echo: bool) -> Self {
        Self { echo: echo.then(Echo::default), ..Self::default() }
    }

    /// Adds a field, and records the first broken rule.
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        let verdict = if name.first() == Some(&b':') {
            self.take_pseudo(name, value)
        } else {
            self.take_field(name, value)
        };
        self.wrong = self.wrong.or(verdict.err());
        if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
            self.wrong = self.wrong.or(Some("a field value with NUL, CR or LF"));
        }
        if let Some(echo) = &mut self.echo {
            echo.take(name, value);
        }
    }

    fn take_pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if self.regular {
            return Err("a pseudo-header field after a regular one");
        }
        let repeated = match name {
            b":method" => self.method.replace(Method::of(value)).is_some(),
            b":path" => {
                let path =
                    str::from_utf8(value).ok().filter(|path| path.starts_with('/') || *path == "*");
                self.route
                    .replace(ReplyRoute::of(path.ok_or("a :path that begins without a slash")?))
                    .is_some()
            }
            b":scheme" => std::mem::replace(&mut self.has_scheme, true),
            b":authority" => std::mem::replace(&mut self.has_authority, true),
            _ => return Err("an unknown pseudo-header field"),
        };
        if repeated { Err("a repeated pseudo-header field") } else { Ok(()) }
    }

    fn take_field(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        self.regular = true;
        if name.is_empty()
            || name.iter().any(|byte| matches!(byte, 0..=b' ' | b'A'..=b'Z' | b':' | 0x7f..))
        {
            return Err("a field name with a character that is not allowed");
        }
        match name {
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding"
            | b"upgrade" => Err("a connection-specific header field"),
            b"te" if value != b"trailers" => Err("a te field other than trailers"),
            b"content-length" => {
                let text = str::from_utf8(value)
                    .ok()
                    .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                let length =
                    text.and_then(|text| text.parse().ok()).ok_or("a bad content-length")?;
                match self.length.replace(length) {
                    Some(other) if other != length => Err("two different content-lengths"),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Returns the request of all fields.
    ///
    /// # Errors
    ///
    /// The rule that the fields break.
    pub fn finish(self) -> Result<StreamRequest, &'static str> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let method = self.method.ok_or("a request without :method")?;
        // CONNECT has neither a scheme nor a path (RFC 9114, section 4.4).
        let targeted = self.has_scheme && self.route.is_some();
        if !targeted && method != Method::Connect {
            return Err("a request without :scheme or :path");
        }
        let shape = ReplyShape {
            http10: false,
            head_only: method == Method::Head,
            keep_alive: true,
            message: None,
        };
        let echo = self.echo.map(Echo::text);
        let request =
            RequestedReply { route: self.route.unwrap_or_default(), shape, echo, upgrade: None };
        Ok(StreamRequest { request, length: self.length })
    }
}

impl Method {
    fn of(value: &[u8]) -> Self {
        match value {
            b"HEAD" => Self::Head,
            b"CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

impl Echo {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":method" => self.method = value.to_vec(),
            b":path" => self.path = value.to_vec(),
            b":scheme" => {}
            // HTTP/1.1 has the field `Host` in its place.
            b":authority" => self.line(b"host", value),
            _ => self.line(name, value),
        }
    }

    fn line(&mut self, name: &[u8], value: &[u8]) {
        self.rest.extend([name, b": ", value, b"\r\n"].concat());
    }

    /// Returns the request in the form of HTTP/1.1.
    fn text(self) -> Vec<u8> {
        [&self.method[..], b" ", &self.path, b" HTTP/3\r\n", &self.rest, b"\r\n"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> Result<StreamRequest, &'static str> {
        let mut all = RequestBuilder::new(true);
        for (name, value) in fields {
            all.take(name.as_bytes(), value.as_bytes());
        }
        all.finish()
    }

    const GET: [(&str, &str); 4] =
        [(":method", "GET"), (":scheme", "http"), (":path", "/bytes/5"), (":authority", "lab")];

    #[test]
    fn a_request_is_parsed() {
        let read = head(&[&GET[..], &[("x-a", "b"), ("content-length", "3")]].concat()).unwrap();
        assert_eq!((read.request.route, read.length), (ReplyRoute::Bytes(5), Some(3)));
        let text = String::from_utf8(read.request.echo.unwrap()).unwrap();
        assert_eq!(text, "GET /bytes/5 HTTP/3\r\nhost: lab\r\nx-a: b\r\ncontent-length: 3\r\n\r\n");
        assert!(head(&[(":method", "HEAD"), GET[1], GET[2]]).unwrap().request.shape.head_only);
        assert!(head(&[(":method", "CONNECT"), GET[3]]).is_ok());
    }

    #[test]
    fn field_lists_without_a_request_are_refused() {
        for (more, told) in [
            (("X-A", "b"), "not allowed"),
            (("connection", "close"), "connection-specific"),
            (("te", "gzip"), "te field"),
            ((":method", "GET"), "repeated"),
            ((":status", "200"), "unknown pseudo"),
            (("content-length", "-1"), "bad content-length"),
            (("x-a", "a\r\nb"), "NUL, CR or LF"),
        ] {
            assert!(head(&[&GET[..], &[more]].concat()).unwrap_err().contains(told), "{more:?}");
        }
        assert!(head(&[("x-a", "b"), GET[0]]).unwrap_err().contains("after a regular one"));
        assert!(head(&GET[..2]).unwrap_err().contains(":path"));
        assert!(head(&GET[1..]).unwrap_err().contains(":method"));
    }
}
