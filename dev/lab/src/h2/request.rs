//! Reads requests from the heads that the crate `h2` has checked.

use h2::ext::Protocol;
use http::Method;
use http::request::Parts;

use crate::request::{ReplyRoute, ReplyShape, RequestedReply};

/// Head of a request. A body may follow.
#[derive(Debug)]
pub struct RequestHead {
    /// The request, without its body.
    pub request: RequestedReply,
    /// True if the client waits for status 100 before it sends the body.
    pub expects_continue: bool,
    /// True if the request opens a WebSocket (RFC 8441).
    pub opens_websocket: bool,
}

/// Reads the head of a request. With `echo`, the text of the head is stored, for replies that
/// contain it.
///
/// # Errors
///
/// The fault of the request: a WebSocket whose version is not 13, or an extended CONNECT to another
/// protocol.
pub fn read(head: &Parts, echo: bool) -> Result<RequestHead, &'static str> {
    let protocol = head.extensions.get::<Protocol>().map(Protocol::as_str);
    match protocol {
        Some("websocket")
            if head.headers.get("sec-websocket-version").is_none_or(|version| version != "13") =>
        {
            return Err("a WebSocket of another version than 13");
        }
        Some(other) if other != "websocket" => {
            return Err("an extended CONNECT to another protocol than WebSocket");
        }
        _ => {}
    }
    let route =
        head.uri.path_and_query().map(|path| ReplyRoute::of(path.as_str())).unwrap_or_default();
    let shape = ReplyShape {
        head_only: head.method == Method::HEAD,
        keep_alive: true,
        ..ReplyShape::default()
    };
    let request =
        RequestedReply { route, shape, echo: echo.then(|| head_text(head)), upgrade: None };
    let expects_continue = head
        .headers
        .get("expect")
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    Ok(RequestHead { request, expects_continue, opens_websocket: protocol.is_some() })
}

/// Returns the head in the layout of HTTP/1.1, with the version `HTTP/2`.
fn head_text(head: &Parts) -> Vec<u8> {
    let path = head.uri.path_and_query().map_or("", |path| path.as_str());
    let mut text = format!("{} {path} HTTP/2\r\n", head.method).into_bytes();
    if let Some(authority) = head.uri.authority() {
        text.extend_from_slice(format!("host: {authority}\r\n").as_bytes());
    }
    for (name, value) in &head.headers {
        text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    text.extend_from_slice(b"\r\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(request: http::request::Builder) -> Result<RequestHead, &'static str> {
        read(&request.body(()).unwrap().into_parts().0, true)
    }

    fn connect(protocol: &'static str) -> http::request::Builder {
        http::Request::connect("http://lab/").extension(Protocol::from_static(protocol))
    }

    #[test]
    fn a_request_is_parsed() {
        let post = http::Request::post("http://lab/bytes/5?a=b")
            .header("x-a", "b")
            .header("expect", "100-Continue");
        let read = head(post).unwrap();
        assert_eq!(
            (read.request.route, read.expects_continue, read.opens_websocket),
            (ReplyRoute::Bytes(5), true, false)
        );
        let text = String::from_utf8(read.request.echo.unwrap()).unwrap();
        assert_eq!(
            text,
            "POST /bytes/5?a=b HTTP/2\r\nhost: lab\r\nx-a: b\r\nexpect: 100-Continue\r\n\r\n"
        );
        assert!(head(http::Request::head("http://lab/")).unwrap().request.shape.head_only);
    }

    #[test]
    fn a_websocket_has_version_13() {
        assert!(
            head(connect("websocket").header("sec-websocket-version", "13"))
                .unwrap()
                .opens_websocket
        );
        assert!(head(connect("websocket")).unwrap_err().contains("another version"));
        assert!(head(connect("other")).unwrap_err().contains("another protocol"));
    }
}
