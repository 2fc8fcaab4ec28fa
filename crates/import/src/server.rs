//! URLs as an input has them, with variables anywhere in them.

use crate::text;
use url::Url;

/// The parts of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// Scheme, host and port; empty: the URL is relative.
    pub(crate) server: String,
    /// Name and password, `name:password`.
    pub(crate) basic: Option<String>,
    /// The path, with `/` before it.
    pub(crate) path: String,
    /// The query, without `?`.
    pub(crate) query: Option<String>,
}

/// Reads a URL; http is assumed where no scheme is told. What is wrong with it, otherwise.
pub(crate) fn parse(url: &str) -> Result<Address, String> {
    let url = url.trim();
    let url = url.split('#').next().unwrap_or_default();
    if url.is_empty() {
        return Err("the URL is empty".to_owned());
    }
    let split_at = |text: &str| text.find(['/', '?']).unwrap_or(text.len());
    let (server, basic, rest) = match url.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?'])) {
        None if url.starts_with(['/', '?']) => (String::new(), None, url),
        None if text::has_variable(&url[..split_at(url)]) => {
            let (server, rest) = url.split_at(split_at(url));
            let is_whole = matches!(text::pieces(server)[..], [text::Piece::Variable(_)]);
            (if is_whole { server.to_owned() } else { format!("http://{server}") }, None, rest)
        }
        None => {
            let (authority, rest) = url.split_at(split_at(url));
            let (basic, server) = authority_of("http", authority)?;
            (server, basic, rest)
        }
        Some((scheme, rest)) => {
            let is_known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
            if !is_known && !text::has_variable(scheme) {
                return Err(format!("`{scheme}` is not http or https"));
            }
            let (authority, rest) = rest.split_at(split_at(rest));
            let (basic, server) = authority_of(scheme, authority)?;
            (server, basic, rest)
        }
    };
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query.to_owned())));
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok(Address { server, basic, path, query: query.filter(|query| !query.is_empty()) })
}

fn authority_of(scheme: &str, authority: &str) -> Result<(Option<String>, String), String> {
    let (basic, authority) = match authority.rsplit_once('@') {
        Some((user, authority)) => {
            let user =
                percent_encoding::percent_decode_str(&text::clean_encoded(user)).decode_utf8_lossy().into_owned();
            (Some(if user.contains(':') { user } else { format!("{user}:") }), authority)
        }
        None => (None, authority),
    };
    let server = format!("{scheme}://{authority}");
    if text::has_variable(&server) {
        return Ok((basic, server));
    }
    let parsed = Url::parse(&format!("{server}/")).map_err(|error| format!("`{server}`: {error}"))?;
    if parsed.host_str().unwrap_or_default().is_empty() {
        return Err(format!("`{server}` has no host"));
    }
    Ok((basic, parsed.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::variable;

    #[test]
    fn urls_are_taken_apart() {
        let shown = |url: &str| {
            let Address { server, basic, path, query } = parse(url).unwrap();
            [server, basic.unwrap_or_default(), path, query.unwrap_or_default()].join(" ")
        };
        assert_eq!(shown("HTTPS://H.example:443/a?b=c#d"), "https://h.example  /a b=c");
        assert_eq!(shown("u:p%40@h:81"), "http://h:81 u:p@ / ");
        assert_eq!(shown("/a"), "  /a ");
        let v = variable("v");
        assert_eq!(shown(&format!("{v}/a/{v}?x={v}")), format!("{v}  /a/{v} x={v}"));
        assert_eq!(shown(&format!("{v}:80/a")), format!("http://{v}:80  /a "));
        assert_eq!(shown(&format!("https://{v}/a")), format!("https://{v}  /a "));
        for wrong in ["", "ftp://h/", "http:///x", "http://h:99999/"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
