//! Computes the request that follows a redirect (RFC 9110 section 15.4).
//!
//! It does not decide whether a redirect is followed, and keeps no cookies.

use crate::request::{Prepared, RequestDraft, Tags, origin_of, resolve};
use crate::{Reply, Transport};
use brunt_model::Body;
use brunt_model::reply_policy::RedirectRules;
use brunt_model::secret::is_secret_header;
use std::rc::Rc;

/// Header fields that describe a body. They are removed with the body.
const BODY_FIELDS: [&str; 7] = [
    "content-type",
    "content-length",
    "content-encoding",
    "content-language",
    "content-location",
    "transfer-encoding",
    "expect",
];

/// The request that follows a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirected {
    /// HTTP method, such as GET.
    pub method: String,
    /// An absolute http or https URL.
    pub url: String,
    /// Names and values of header fields.
    pub headers: Vec<(String, String)>,
    /// The body, which follows the head.
    pub body: Body,
}

/// Returns the request that follows `reply` to `from`, with the label of `from`. None if the reply
/// is no redirect. `amend` may change the request.
pub fn follow<T: Transport>(
    transport: &T,
    from: &Prepared,
    reply: &Reply,
    rules: RedirectRules,
    amend: impl FnOnce(&mut Redirected),
) -> Option<Rc<Prepared>> {
    follow_with(from, reply, rules, amend, |draft| transport.prepare(draft).ok())
}

/// The same, with any way to encode the request. None if it cannot be encoded, too.
pub fn follow_with(
    from: &Prepared,
    reply: &Reply,
    rules: RedirectRules,
    amend: impl FnOnce(&mut Redirected),
    encode: impl FnOnce(&RequestDraft<'_>) -> Option<Prepared>,
) -> Option<Rc<Prepared>> {
    let location = reply.details.as_ref()?.location.as_ref()?;
    let mut redirected = redirected(from, reply.status, location, rules)?;
    amend(&mut redirected);
    let Redirected { method, url, headers, body } = &redirected;
    let Tags { label, reply_policy } = from.tags;
    let draft = RequestDraft { method, url, headers, body, label, reply_policy, verbatim: None };
    encode(&draft).map(Rc::new)
}

/// Returns the request that follows a reply to `from` with `status` and `location`. None if it is
/// no redirect to http or https.
///
/// 307 and 308 keep method, headers and body. 301 and 302 turn POST into GET. 303 turns all but
/// HEAD into GET. JMeter turns all but HEAD into GET for every status; its HTTP client (automatic
/// redirects) does so for 301, 302 and 303.
pub fn redirected(
    from: &Prepared,
    status: u16,
    location: &str,
    rules: RedirectRules,
) -> Option<Redirected> {
    let parts = from.parts()?;
    let url = resolve(parts.url.as_str(), location)?;
    let (method, mut headers, body) = match &parts.verbatim {
        Some(bytes) => parse(bytes),
        None => (parts.method.clone(), parts.headers.clone(), parts.body.clone()),
    };
    let becomes_get = match (status, rules) {
        (301..=303 | 307 | 308, RedirectRules::Jmeter)
        | (301 | 302, RedirectRules::JmeterAuto)
        | (303, _) => method != "HEAD",
        (301 | 302, _) => method == "POST",
        (307 | 308, _) => false,
        _ => return None,
    };
    // JMeter leaves automatic redirects to Apache HttpClient, which repeats a
    // DELETE without its body.
    let loses_body = becomes_get || (method == "DELETE" && rules == RedirectRules::JmeterAuto);
    // Otherwise a redirect could send credentials to a foreign server (RFC 9110 section 15.4).
    let drops_credentials = parts.origin() != origin_of(&url).ok()?.1;
    headers.retain(|(name, _)| {
        let stays_with_body = !loses_body || !contains_name(&BODY_FIELDS, name);
        let may_be_sent = !drops_credentials || !is_secret_header(name);
        // Both are written again for the new request.
        stays_with_body && may_be_sent && !contains_name(&["host", "content-length"], name)
    });
    let method = if becomes_get { "GET".to_owned() } else { method };
    let body = if loses_body { Body::None } else { body };
    Some(Redirected { method, url, headers, body })
}

fn contains_name(names: &[&str], name: &str) -> bool {
    names.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Parses method, header fields and body of a request that was encoded elsewhere. Returns a GET
/// without fields if its head is malformed.
fn parse(request: &[u8]) -> (String, Vec<(String, String)>, Body) {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else {
        return empty_get();
    };
    let Ok(head) = std::str::from_utf8(&request[..end]) else { return empty_get() };
    let mut lines = head.split("\r\n");
    let method = lines.next().and_then(|line| line.split(' ').next()).unwrap_or("GET").to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: Vec<_> =
        headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let body = &request[end + 4..];
    let body = if body.is_empty() { Body::None } else { Body::from_bytes(body.to_vec()) };
    (method, headers, body)
}

fn empty_get() -> (String, Vec<(String, String)>, Body) {
    ("GET".to_owned(), Vec::new(), Body::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h1::{Style, prepare};
    use crate::origin::OriginId;
    use crate::request::RequestParts;

    fn prepared(method: &str, headers: &[(&str, &str)], body: &Body) -> Prepared {
        let url = "http://one/a/b";
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let draft = RequestDraft {
            method,
            url,
            headers: &headers,
            body,
            label: 0,
            reply_policy: 0,
            verbatim: None,
        };
        of(RequestParts::from_draft(&draft).unwrap())
    }

    fn of(parts: RequestParts) -> Prepared {
        let origin = parts.origin();
        prepare(Rc::new(parts), &origin, OriginId(0), Tags::default(), Style::default()).unwrap()
    }

    #[test]
    fn methods_follow_the_table_of_rfc_9110() {
        let body = Body::Text("a=1".into());
        for (method, status, expected) in [
            ("GET", 301, "GET"),
            ("HEAD", 301, "HEAD"),
            ("POST", 301, "GET"),
            ("POST", 302, "GET"),
            ("PUT", 302, "PUT"),
            ("POST", 303, "GET"),
            ("DELETE", 303, "GET"),
            ("HEAD", 303, "HEAD"),
            ("POST", 307, "POST"),
            ("PUT", 308, "PUT"),
        ] {
            let to = redirected(&prepared(method, &[], &body), status, "c", RedirectRules::Rfc9110)
                .unwrap();
            assert_eq!(
                (to.method.as_str(), to.url.as_str()),
                (expected, "http://one/a/c"),
                "{method} {status}"
            );
            assert_eq!(to.body != Body::None, expected == method, "{method} {status}");
        }
    }

    #[test]
    fn a_redirect_sends_header_fields_except_those_of_a_dropped_body() {
        let post = prepared(
            "POST",
            &[("X-A", "1"), ("Content-Type", "text/plain")],
            &Body::Text("hi".into()),
        );
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let kept = redirected(&post, 307, "/c", RedirectRules::Rfc9110).unwrap();
        assert_eq!(kept.headers, [field("X-A", "1"), field("Content-Type", "text/plain")]);
        assert_eq!(kept.body, Body::Text("hi".into()));
        let get = redirected(&post, 303, "/c", RedirectRules::Rfc9110).unwrap();
        assert_eq!((get.headers, get.body), (vec![field("X-A", "1")], Body::None));
    }

    #[test]
    fn credentials_are_not_sent_to_another_origin() {
        let secrets = [
            ("Authorization", "Bearer x"),
            ("cookie", "a=b"),
            ("X-A", "1"),
            ("X-Api-Key", "k"),
            ("x-auth-token", "t"),
        ];
        let get = prepared("GET", &secrets, &Body::None);
        assert_eq!(redirected(&get, 302, "/c", RedirectRules::Rfc9110).unwrap().headers.len(), 5);
        for elsewhere in ["http://two/c", "https://one/c", "http://one:8080/c"] {
            let to = redirected(&get, 302, elsewhere, RedirectRules::Rfc9110).unwrap();
            assert_eq!(to.headers, [("X-A".to_owned(), "1".to_owned())], "{elsewhere}");
        }
    }

    #[test]
    fn other_statuses_and_schemes_are_not_redirects() {
        let get = prepared("GET", &[], &Body::None);
        assert_eq!(redirected(&get, 304, "/c", RedirectRules::Rfc9110), None);
        assert_eq!(redirected(&get, 302, "ftp://one/c", RedirectRules::Rfc9110), None);
        let odd = of(RequestParts {
            verbatim: Some(b"\xff odd".to_vec()),
            ..get.parts().unwrap().clone()
        });
        assert_eq!(redirected(&odd, 307, "/c", RedirectRules::Rfc9110).unwrap().method, "GET");
    }
}
