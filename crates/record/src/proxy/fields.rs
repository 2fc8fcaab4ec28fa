//! Header fields that differ between the request of a client and that to its server.

use hyper::Method;
use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, COOKIE, EXPECT, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    SEC_WEBSOCKET_EXTENSIONS, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};

/// Name of the proxy in the header field `Via`. The studio refuses requests that have it.
pub const VIA_NAME: &str = "brunt-record";

/// Value of the header field `Via` of each message that is forwarded.
pub(super) const VIA_VALUE: HeaderValue = HeaderValue::from_static("1.1 brunt-record");

/// Header fields of one connection (RFC 9110, 7.6.1), and those for a proxy.
const CONNECTION_FIELDS: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Encodings that are recorded as text.
const ENCODINGS: [&str; 4] = ["gzip", "x-gzip", "deflate", "identity"];

/// Changes the header fields of a request for its server.
pub(super) fn prepare(headers: &mut HeaderMap, is_socket: bool) {
    let trailers = headers.get(TE).is_some_and(|te| te.as_bytes() == b"trailers");
    let is_chunked = headers.contains_key(TRANSFER_ENCODING);
    remove_connection_fields(headers);
    if is_chunked {
        // Without it, the client library would send a GET without its body.
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    headers.remove(TE);
    if trailers {
        // Servers of gRPC require it.
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
    // The proxy has answered it, since it reads the body at once.
    headers.remove(EXPECT);
    // A reply 304 has no body, in which later requests may find their values.
    headers.remove(IF_NONE_MATCH);
    headers.remove(IF_MODIFIED_SINCE);
    restrict_encodings(headers);
    if is_socket {
        // Compressed messages could not be recorded.
        headers.remove(SEC_WEBSOCKET_EXTENSIONS);
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    }
    headers.append(VIA, VIA_VALUE);
}

/// Leaves encodings that the proxy can decode.
fn restrict_encodings(headers: &mut HeaderMap) {
    let values: Vec<String> = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter(|item| {
            let name = item.split(';').next().unwrap_or_default().trim();
            ENCODINGS.iter().any(|known| known.eq_ignore_ascii_case(name))
        })
        .map(|item| item.trim().to_owned())
        .collect();
    if headers.contains_key(ACCEPT_ENCODING) {
        let value = if values.is_empty() { "identity".to_owned() } else { values.join(", ") };
        headers.remove(ACCEPT_ENCODING);
        headers.extend(HeaderValue::from_str(&value).map(|value| (ACCEPT_ENCODING, value)));
    }
}

pub(super) fn remove_connection_fields(headers: &mut HeaderMap) {
    let names: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in names.iter().chain(&CONNECTION_FIELDS) {
        headers.remove(name);
    }
}

/// Joins the cookies of HTTP/2, which may be in several fields (RFC 9113, 8.2.3).
pub(super) fn join_cookies(headers: &mut HeaderMap) {
    let cookies: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if cookies.len() > 1
        && let Ok(value) = HeaderValue::from_bytes(&cookies.join(&b"; "[..]))
    {
        headers.insert(COOKIE, value);
    }
}

/// True if a request opens a WebSocket.
pub(super) fn is_socket(method: &Method, headers: &HeaderMap) -> bool {
    let upgrade = headers.get(UPGRADE).map(HeaderValue::as_bytes).unwrap_or_default();
    *method == Method::GET && upgrade.eq_ignore_ascii_case(b"websocket")
}

/// True if a request was forwarded by this proxy, or another one of brunt.
pub(super) fn has_passed(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(VIA).iter();
    values.any(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        value.contains(VIA_NAME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn fields_of_a_connection_are_not_forwarded() {
        let mut request = headers(&[
            ("connection", "close, x-one"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("te", "trailers"),
            ("proxy-authorization", "Basic eDp5"),
            ("accept-encoding", "br, gzip;q=0.5, zstd"),
            ("if-none-match", "\"a\""),
            // A client cannot have the proxy remove its own field.
            ("connection", "via"),
        ]);
        prepare(&mut request, false);
        let expected =
            headers(&[("x-two", "2"), ("te", "trailers"), ("accept-encoding", "gzip;q=0.5")]);
        assert_eq!(request.get_all(VIA).iter().collect::<Vec<_>>(), [VIA_VALUE]);
        request.remove(VIA);
        assert_eq!(request, expected);
        assert!(has_passed(&headers(&[("via", "1.0 other, 1.1 Brunt-Record (x)")])));
        assert!(!has_passed(&headers(&[("via", "1.1 varnish")])));
    }
}
