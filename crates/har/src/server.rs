//! Parses URLs of an input, which may contain variables anywhere.

use crate::text;
use brunt_model::secret::is_secret_parameter;
use url::Url;

/// The parts of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Scheme, host and port; empty for a relative URL.
    pub server: String,
    /// Name and password, `name:password`.
    pub basic: Option<String>,
    /// Path. Begins with `/`, or is empty after a variable at the end of the server.
    pub path: String,
    /// Query without `?`; empty if the URL ends with `?`.
    pub query: Option<String>,
}

/// Parses a URL; the default scheme is http. The error names the defect.
pub fn parse(url: &str) -> Result<Address, String> {
    let url = url.trim();
    // A fragment is never sent.
    let url = url.split('#').next().unwrap_or_default();
    if url.is_empty() {
        return Err("the URL is empty".to_owned());
    }

    let (server, basic, rest) =
        match url.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?'])) {
            None if url.starts_with(['/', '?']) => (String::new(), None, url),
            None if text::has_variable(&url[..authority_length(url)]) => {
                let (server, rest) = url.split_at(authority_length(url));
                let is_whole = matches!(text::pieces(server)[..], [text::TextPiece::Variable(_)]);
                (if is_whole { server.to_owned() } else { format!("http://{server}") }, None, rest)
            }
            None => {
                let (authority, rest) = url.split_at(authority_length(url));
                let (basic, server) = authority_of("http", authority)?;
                (server, basic, rest)
            }
            Some((scheme, rest)) => {
                let is_known =
                    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
                if !is_known && !text::has_variable(scheme) {
                    return Err(format!("`{scheme}` is not http or https"));
                }
                let (authority, rest) = rest.split_at(authority_length(rest));
                let (basic, server) = authority_of(scheme, authority)?;
                (server, basic, rest)
            }
        };
    let (path, query) =
        rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query.to_owned())));
    // The value of the variable may end with a path, to which a slash must not be added.
    let may_hold_path = matches!(text::pieces(&server).last(), Some(text::TextPiece::Variable(_)));
    let path = if path.is_empty() && !may_hold_path { "/".to_owned() } else { path.to_owned() };
    Ok(Address { server, basic, path, query })
}

/// Length of the text up to the path or query.
fn authority_length(text: &str) -> usize {
    text.find(['/', '?']).unwrap_or(text.len())
}

/// Returns the request targets of curl and of brunt for a URL, if they differ.
///
/// curl removes `.` and `..` unless `is_path_kept`, and encodes nothing. brunt encodes the
/// characters that RFC 3986 does not allow.
pub fn changed_target(address: &Address, is_path_kept: bool) -> Option<(String, String)> {
    let query = address.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    // `$NAME` is not changed by encoding.
    let [path, query] = [text::for_display(&address.path), text::for_display(&query)];
    let path = if path.is_empty() { "/".to_owned() } else { path };
    let target =
        format!("{}{query}", if is_path_kept { path.clone() } else { without_dot_segments(&path) });
    let url =
        Url::parse(&format!("http://h{}", text::encode_url(&format!("{path}{query}")))).ok()?;
    let sent = &url[url::Position::BeforePath..];
    (sent != target).then(|| (without_secrets(&target), without_secrets(sent)))
}

/// Replaces secret values in a request target by an ellipsis.
fn without_secrets(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let query = text::with_fields(query, |name, value| {
        (is_secret_parameter(name) && !value.is_empty()).then(|| "…".to_owned())
    });
    format!("{path}?{query}")
}

/// Removes dot segments (RFC 3986 section 5.2.4).
pub fn without_dot_segments(text: &str) -> String {
    let mut path: Vec<&str> = Vec::new();
    let segments: Vec<&str> = text.split('/').skip(1).collect();
    for (number, segment) in segments.iter().enumerate() {
        let is_last = number + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    path.pop();
                }
                if is_last {
                    path.push("");
                }
            }
            segment => path.push(segment),
        }
    }
    format!("/{}", path.join("/"))
}

fn authority_of(scheme: &str, authority: &str) -> Result<(Option<String>, String), String> {
    // A password may contain an at sign.
    let (basic, authority) = match authority.rsplit_once('@') {
        Some((user, authority)) => {
            let user = percent_encoding::percent_decode_str(&text::clean_encoded(user))
                .decode_utf8_lossy()
                .into_owned();
            (Some(if user.contains(':') { user } else { format!("{user}:") }), authority)
        }
        None => (None, authority),
    };
    let server = format!("{scheme}://{authority}");
    if text::has_variable(&server) {
        return Ok((basic, server));
    }
    let parsed =
        Url::parse(&format!("{server}/")).map_err(|error| format!("`{server}`: {error}"))?;
    if parsed.host_str().unwrap_or_default().is_empty() {
        return Err(format!("`{server}` has no host"));
    }
    // Without default ports and capitals, so that equal servers share a variable.
    Ok((basic, parsed.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::variable;

    #[test]
    fn changed_targets_are_found() {
        let changed = |url: &str, is_path_kept| changed_target(&parse(url).unwrap(), is_path_kept);
        for url in
            ["h/a/./b/../c", "h//x/?", "h/%7Ea?b=c+d%20;e", "h/a/..", "h/a/.", "h/../a//../b"]
        {
            assert_eq!(changed(url, false), None, "{url}");
        }
        assert_eq!(changed("h/a?'", false), Some(("/a?'".into(), "/a?%27".into())));
        assert_eq!(changed("h/a/../b", true), Some(("/a/../b".into(), "/b".into())));
        assert_eq!(changed("h/%2e%2e/b", false), Some(("/%2e%2e/b".into(), "/b".into())));
        assert_eq!(changed("h/é", false), Some(("/é".into(), "/%C3%A9".into())));
        let hidden = changed("h/|?token=geheim&a=b", false);
        assert_eq!(hidden, Some(("/|?token=…&a=b".into(), "/%7C?token=…&a=b".into())));
        let v = variable("V");
        for url in [format!("{v}/a/{v}?x={v}"), format!("{v}?x"), format!("h/a/../{v}"), v.clone()]
        {
            assert_eq!(changed(&url, false), None, "{url}");
        }
        assert_eq!(
            changed(&format!("{v}/<a>/{v}"), false),
            Some(("/<a>/$V".into(), "/%3Ca%3E/$V".into()))
        );
    }

    #[test]
    fn urls_are_split_into_parts() {
        let shown = |url: &str| {
            let Address { server, basic, path, query } = parse(url).unwrap();
            [server, basic.unwrap_or_default(), path, query.unwrap_or_default()].join(" ")
        };
        assert_eq!(shown("HTTPS://H.example:443/a?b=c#d"), "https://h.example  /a b=c");
        assert_eq!(shown("u:p%40@h:81"), "http://h:81 u:p@ / ");
        assert_eq!(shown("/a"), "  /a ");
        assert_eq!(shown("h//x/"), "http://h  //x/ ");
        assert_eq!(parse("http://h?").unwrap().query.as_deref(), Some(""));
        let v = variable("v");
        assert_eq!(shown(&format!("{v}/a/{v}?x={v}")), format!("{v}  /a/{v} x={v}"));
        assert_eq!(shown(&v), format!("{v}   "));
        assert_eq!(shown(&format!("{v}?b")), format!("{v}   b"));
        assert_eq!(shown(&format!("http://{v}:80")), format!("http://{v}:80  / "));
        assert_eq!(shown(&format!("{v}:80/a")), format!("http://{v}:80  /a "));
        assert_eq!(shown(&format!("https://{v}/a")), format!("https://{v}  /a "));
        for wrong in ["", "ftp://h/", "http:///x", "http://h:99999/"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
