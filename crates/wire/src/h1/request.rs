//! Encodes requests in HTTP/1 (RFC 9112 section 3).

use crate::origin::{Origin, OriginId};
use crate::request::{
    BadRequest, Prepared, RequestDraft, RequestKind, RequestParts, Tags, check_header,
    check_length, closes,
};
use std::io::Write;
use std::rc::Rc;
use url::Url;

/// Properties of the encoding that are the same for all requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// HTTP/1.0 instead of HTTP/1.1.
    pub http10: bool,
    /// Adds `Connection: close`, because each connection carries one request.
    pub close: bool,
    /// Writes absolute URLs for plain HTTP, because it goes to a proxy.
    pub absolute: bool,
}

/// Encodes a request.
///
/// # Errors
///
/// If a header field contains a character that is not allowed.
pub fn prepare(
    parts: Rc<RequestParts>,
    origin: &Origin,
    id: OriginId,
    tags: Tags,
    style: Style,
) -> Result<Prepared, BadRequest> {
    let (h1, h1_after_body) = encode(&parts.draft(), &parts.url, origin, style)?;
    let kind = RequestKind::from_method(&parts.method);
    let closes = closes(&parts.headers);
    let parts = Some(parts);
    Ok(Prepared { origin: id, tags, kind, closes, h1, h1_after_body, parts, ..Prepared::default() })
}

/// Longer bodies are sent from where they are stored, in bytes. A shorter one is copied to the
/// head, so that one call sends both.
const MAX_JOINED_BODY: usize = 64 * 1024;

/// Writes the head and body of an HTTP/1 request (RFC 9112 section 3). Of a request with a long
/// body, returns the bytes before and after the body.
///
/// # Errors
///
/// [`BadRequest`] if a field is not allowed in a request.
fn encode(
    draft: &RequestDraft<'_>,
    url: &Url,
    origin: &Origin,
    style: Style,
) -> Result<(Vec<u8>, Option<&'static [u8]>), BadRequest> {
    if let Some(bytes) = draft.verbatim {
        return Ok((bytes.to_vec(), None));
    }
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(draft.method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(target(url, style.absolute && !origin.https).as_bytes());
    out.extend_from_slice(if style.http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
    if !has_header(draft.headers, "host") {
        field(&mut out, "Host", host(url));
    }
    if let Some(value) = connection(style).filter(|_| !has_header(draft.headers, "connection")) {
        field(&mut out, "Connection", value);
    }
    for header in draft.headers {
        check_header(header)?;
        field(&mut out, &header.0, &header.1);
    }
    let body = draft.body.bytes();
    let is_separate = body.is_some_and(|body| body.len() > MAX_JOINED_BODY);
    let mut after_body: &'static [u8] = b"";
    if is_chunked(draft.headers, style)? {
        out.extend_from_slice(b"\r\n");
        // One chunk, and the last, empty one (RFC 9112 section 7.1).
        if let Some(body) = body.filter(|body| !body.is_empty()) {
            let _ = write!(out, "{:x}\r\n", body.len()); // writing to a Vec cannot fail
            after_body = b"\r\n0\r\n\r\n";
        } else {
            after_body = b"0\r\n\r\n";
        }
        return Ok(finish(out, body.unwrap_or_default(), after_body, is_separate));
    }
    check_length(draft.headers, body.unwrap_or_default())?;
    if let Some(body) = body.filter(|_| !has_header(draft.headers, "content-length")) {
        let _ = write!(out, "Content-Length: {}\r\n", body.len()); // writing to a Vec cannot fail
    }
    out.extend_from_slice(b"\r\n");
    Ok(finish(out, body.unwrap_or_default(), after_body, is_separate))
}

/// Appends a body and the bytes after it, unless the body is separate.
fn finish(
    mut out: Vec<u8>,
    body: &[u8],
    after_body: &'static [u8],
    is_separate: bool,
) -> (Vec<u8>, Option<&'static [u8]>) {
    if is_separate {
        return (out, Some(after_body));
    }
    out.extend_from_slice(body);
    out.extend_from_slice(after_body);
    (out, None)
}

/// True if the header fields require a chunked body. If the body were framed differently from its
/// head, a server would read its rest as a further request.
fn is_chunked(headers: &[(String, String)], style: Style) -> Result<bool, BadRequest> {
    let mut codings =
        headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let Some((_, coding)) = codings.next() else { return Ok(false) };
    let why = if codings.next().is_some() || !coding.trim().eq_ignore_ascii_case("chunked") {
        "brunt frames bodies in chunks only"
    } else if style.http10 {
        "HTTP/1.0 has no chunks"
    } else if has_header(headers, "content-length") {
        "the request has a Content-Length, too"
    } else {
        return Ok(true);
    };
    Err(BadRequest::TransferEncoding(coding.clone(), why))
}

fn connection(style: Style) -> Option<&'static str> {
    match (style.close, style.http10) {
        // Each version needs the header only for the opposite of its default
        // (RFC 9112 section 9.3).
        (true, false) => Some("close"),
        (false, true) => Some("keep-alive"),
        _ => None,
    }
}

fn target(url: &Url, absolute: bool) -> &str {
    if absolute {
        before_fragment(url.as_str())
    } else {
        before_fragment(&url[url::Position::BeforePath..])
    }
}

fn before_fragment(s: &str) -> &str {
    // A fragment is never sent (RFC 9110 section 7.1).
    s.split('#').next().unwrap_or(s)
}

fn host(url: &Url) -> &str {
    &url[url::Position::BeforeHost..url::Position::AfterPort]
}

fn has_header(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|h| h.0.eq_ignore_ascii_case(name))
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::fields::RequestFields;
    use crate::request::origin_of;
    use brunt_model::Body;

    fn text(url: &str, headers: &[(&str, &str)], body: &Body, style: Style) -> String {
        let headers: Vec<_> =
            headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let (parsed, origin) = origin_of(url).unwrap();
        let draft = RequestDraft {
            method: "POST",
            url,
            headers: &headers,
            body,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        String::from_utf8(encode(&draft, &parsed, &origin, style).unwrap().0).unwrap()
    }

    #[test]
    fn a_plain_request() {
        assert_eq!(
            text("http://h:81/a?b=c#d", &[("A", "b")], &Body::None, Style::default()),
            "POST /a?b=c HTTP/1.1\r\nHost: h:81\r\nA: b\r\n\r\n"
        );
    }

    #[test]
    fn given_header_fields_replace_default_ones() {
        assert_eq!(
            text(
                "http://h",
                &[("host", "x"), ("Content-Length", "2")],
                &Body::Text("hi".into()),
                Style::default()
            ),
            "POST / HTTP/1.1\r\nhost: x\r\nContent-Length: 2\r\n\r\nhi"
        );
    }

    #[test]
    fn a_wrong_length_of_the_body_is_refused() {
        for (given, body, is_right) in [
            ("2", Body::Text("hi".into()), true),
            ("5", Body::Text("hi".into()), false),
            ("0", Body::None, true),
            ("5", Body::None, false),
            ("two", Body::Text("hi".into()), false),
        ] {
            let headers = [("content-length".to_owned(), given.to_owned())];
            let draft = RequestDraft {
                method: "POST",
                url: "https://h/",
                headers: &headers,
                body: &body,
                label: 0,
                reply_policy: 0,
                verbatim: None,
            };
            let (url, origin) = origin_of(draft.url).unwrap();
            let wrong =
                BadRequest::ContentLength(given.into(), body.bytes().unwrap_or_default().len());
            let expected = if is_right { None } else { Some(wrong) };
            assert_eq!(encode(&draft, &url, &origin, Style::default()).err(), expected);
            let parts = RequestParts::from_draft(&draft).unwrap();
            assert_eq!(RequestFields::from_request(&parts).err(), expected);
        }
    }

    #[test]
    fn a_body_in_chunks_is_framed_and_other_codings_are_refused() {
        let chunked = [("Transfer-Encoding", "chunked")];
        assert_eq!(
            text("http://h/", &chunked, &Body::Text("hello".into()), Style::default()),
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        );
        assert!(
            text("http://h/", &chunked, &Body::None, Style::default())
                .ends_with("\r\n\r\n0\r\n\r\n")
        );
        let old = Style { http10: true, ..Style::default() };
        for (headers, style) in [
            (vec![("Transfer-Encoding", "gzip, chunked")], Style::default()),
            (vec![chunked[0], ("Content-Length", "5")], Style::default()),
            (vec![chunked[0], chunked[0]], Style::default()),
            (chunked.to_vec(), old),
        ] {
            let headers: Vec<_> =
                headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            assert!(
                matches!(is_chunked(&headers, style), Err(BadRequest::TransferEncoding(..))),
                "{headers:?}"
            );
        }
    }

    #[test]
    fn old_version_proxy_and_close() {
        let style = Style { http10: true, close: false, absolute: true };
        assert_eq!(
            text("http://[::1]:80/a", &[], &Body::from_bytes(vec![b'x']), style),
            "POST http://[::1]/a HTTP/1.0\r\nHost: [::1]\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"
        );
        let style = Style { close: true, ..Style::default() };
        assert!(text("https://h/", &[], &Body::None, style).contains("\r\nConnection: close\r\n"));
    }

    #[test]
    fn given_request_bytes_are_sent_unchanged() {
        let (url, origin) = origin_of("http://h/a").unwrap();
        let bytes: &[u8] = b"GET /a b HTTP/1.0\r\nx:y\r\n\r\n";
        let draft = RequestDraft {
            method: "GET",
            url: "http://h/a",
            headers: &[],
            body: &Body::None,
            label: 0,
            reply_policy: 0,
            verbatim: Some(bytes),
        };
        assert_eq!(encode(&draft, &url, &origin, Style::default()).unwrap().0, bytes);
    }

    #[test]
    fn long_bodies_are_sent_from_where_they_are_stored() {
        for length in [MAX_JOINED_BODY - 1, MAX_JOINED_BODY, MAX_JOINED_BODY + 1, 1 << 20] {
            for (is_chunked, is_binary) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let text = "x".repeat(length);
                let body = if is_binary {
                    Body::from_bytes(text.clone().into())
                } else {
                    Body::from_text(text.clone())
                };
                let headers: &[_] = &[("Transfer-Encoding".to_owned(), "chunked".to_owned())];
                let draft = RequestDraft {
                    method: "POST",
                    url: "http://h/",
                    headers: if is_chunked { headers } else { &[] },
                    body: &body,
                    label: 0,
                    reply_policy: 0,
                    verbatim: None,
                };
                let parts = RequestParts::from_draft(&draft).unwrap();
                let origin = parts.origin();
                let style = Style::default();
                let (id, tags) = (OriginId(0), draft.tags());
                let prepared = prepare(Rc::new(parts), &origin, id, tags, style).unwrap();
                assert_eq!(prepared.h1.len() < 200, length > MAX_JOINED_BODY, "{length}");
                let prepared = prepared.with_line("A: b");
                let framed = if is_chunked {
                    format!(
                        "Transfer-Encoding: chunked\r\nA: b\r\n\r\n{length:x}\r\n{text}\r\n0\r\n\r\n"
                    )
                } else {
                    format!("Content-Length: {length}\r\nA: b\r\n\r\n{text}")
                };
                let expected = format!("POST / HTTP/1.1\r\nHost: h\r\n{framed}");
                assert!(prepared.bytes() == expected.as_bytes(), "{length} {is_chunked}");
                assert_eq!(prepared.least_bytes(), expected.len() as u64);
                let pieces = prepared.h1_bytes();
                let mut sent = Vec::new();
                while sent.len() < pieces.len() {
                    let rest = pieces.rest(sent.len());
                    sent.extend_from_slice(&rest[..rest.len().min(50_000)]);
                }
                assert!(sent == expected.as_bytes() && pieces.rest(sent.len()).is_empty());
            }
        }
    }

    #[test]
    fn lines_are_added_without_a_copy_of_the_parts() {
        let headers = vec![("A".to_owned(), "b".to_owned())];
        let body = Body::Text("hi".into());
        let draft = RequestDraft {
            method: "PUT",
            url: "http://h/x",
            headers: &headers,
            body: &body,
            label: 3,
            reply_policy: 1,
            verbatim: None,
        };
        let parts = RequestParts::from_draft(&draft).unwrap();
        let origin = parts.origin();
        let first =
            prepare(Rc::new(parts), &origin, OriginId(7), draft.tags(), Style::default()).unwrap();
        let second = first.with_line("Cookie: c=d").with_line("E: f");
        let head = "PUT /x HTTP/1.1\r\nHost: h\r\nA: b\r\nContent-Length: 2\r\n";
        assert_eq!(String::from_utf8_lossy(&first.bytes()), format!("{head}\r\nhi"));
        assert_eq!(
            String::from_utf8_lossy(&second.bytes()),
            format!("{head}Cookie: c=d\r\nE: f\r\n\r\nhi")
        );
        assert_eq!(
            (second.added.join("|"), second.origin, second.tags),
            ("Cookie: c=d|E: f".into(), OriginId(7), draft.tags())
        );
        assert!(std::ptr::eq(first.parts().unwrap(), second.parts().unwrap()));
        assert_eq!((second.url(), &second.parts().unwrap().headers), ("http://h/x", &headers));
    }

    #[test]
    fn requests_that_cannot_be_sent_are_refused() {
        assert!(matches!(origin_of("ftp://h/"), Err(BadRequest::Scheme(_))));
        assert!(matches!(origin_of("nonsense"), Err(BadRequest::Url(..))));
        let (url, origin) = origin_of("http://h/").unwrap();
        let headers = vec![("A".to_owned(), "b\r\nC: d".to_owned())];
        let draft = RequestDraft {
            method: "GET",
            url: "http://h/",
            headers: &headers,
            body: &Body::None,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        assert_eq!(
            encode(&draft, &url, &origin, Style::default()),
            Err(BadRequest::Header("A".into()))
        );
        let handshake =
            RequestParts::from_draft(&RequestDraft { url: "ws://h/", ..draft }).unwrap();
        let message =
            crate::websocket::prepare(Rc::new(handshake), OriginId::default(), Tags::default(), 0);
        assert_eq!(message.map(|_| ()), Err(BadRequest::Header("A".into())));
    }
}
