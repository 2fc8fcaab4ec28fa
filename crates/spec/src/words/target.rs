//! URLs, possibly shortened: `localhost:8080/path`, `https://user:pass@example.org`.

use brunt_script::WordError;
use brunt_script::template::{encode_url, has_placeholders};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// The URL of a request, in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// Absolute URL of http, https, ws or wss, percent-encoded, without credentials and fragment.
    /// Placeholders stay in it.
    pub url: String,
    /// Name and password of the URL.
    pub basic: Option<(String, String)>,
}

const EXAMPLE: &str = "one such as http://127.0.0.1:8080/path";

/// Parses a URL. The default scheme is http. Path and query may contain placeholders.
pub fn parse(word: &str) -> Result<TargetUrl, WordError> {
    let word = word.trim();
    if word.is_empty() {
        return Err(WordError::new(word, "a URL is missing", EXAMPLE));
    }
    let (scheme, rest) = scheme(word)?;
    // The WHATWG parser, which `Url` implements, treats a backslash like a slash.
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    if has_placeholders(authority) || has_placeholders(scheme) {
        return Err(WordError::new(
            word,
            "placeholders are allowed in the path and query only",
            "the host as it is",
        ));
    }
    // A password may contain `@`, so the host begins after the last one.
    let (basic, authority) = match authority.rsplit_once('@') {
        Some((user, authority)) => (Some(credentials(word, user)?), authority),
        None => (None, authority),
    };
    // Only the origin is parsed as a URL, because path and query may have placeholders.
    let origin = Url::parse(&format!("{scheme}://{authority}/"))
        .map_err(|e| WordError::new(word, e.to_string(), EXAMPLE))?;
    let url = format!("{}{}", origin.as_str().trim_end_matches('/'), path_and_query(path)?);
    Ok(TargetUrl { url, basic })
}

/// An error for text that looks like a placeholder, but is not one, such as `{id}`. A server
/// would receive it unchanged.
pub fn unknown_placeholder(url: &str) -> Option<WordError> {
    let inner = url.match_indices('{').find_map(|(at, _)| {
        let (inner, _) = url[at + 1..].split_once('}')?;
        let name = inner.split(':').next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        // `\{` is an escaped brace, and `${…}` is an expression.
        let is_plain = url[..at].ends_with(['\\', '$']);
        (is_name && !is_plain && !has_placeholders(&format!("{{{inner}}}"))).then_some(inner)
    })?;
    let instead = format!(
        "{{n}}, {{uuid}}, {{random:1..9}} or {{csv:FILE:column}}, or for these characters themselves %7B{inner}%7D"
    );
    Some(WordError::new(&format!("{{{inner}}}"), "unknown placeholder", instead))
}

/// True if the URL names this machine.
pub fn is_local(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        // RFC 6761 section 6.3 reserves `localhost` and all names below it for this machine.
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        // A connection to 0.0.0.0 or :: reaches the same machine on Linux.
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_unspecified(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unspecified(),
        None => false,
    }
}

/// True if the host is a loopback address of IPv4.
pub fn is_loopback_v4(url: &str) -> bool {
    matches!(Url::parse(url).ok().as_ref().and_then(Url::host), Some(Host::Ipv4(address)) if address.is_loopback())
}

/// Parses a URL, or a path (`/…`) or query (`?…`) of the server of `base`.
pub fn relative(word: &str, base: Option<&str>) -> Result<TargetUrl, WordError> {
    parse(&join(word, base)?)
}

/// URL of a path (`/…`) or query (`?…`) of the server of `base`; a whole URL stays unchanged.
pub fn join(word: &str, base: Option<&str>) -> Result<String, WordError> {
    let word = word.trim();
    if !word.starts_with(['/', '?']) {
        return Ok(word.to_owned());
    }
    let Some(base) = base else {
        let instead = format!("http://HOST{word}, or give the server on the command line");
        return Err(WordError::new(word, "the server is not specified", instead));
    };
    let (scheme, rest) = scheme(base)?;
    let ends: &[char] = if word.starts_with('?') { &['?', '#'] } else { &['/', '?', '#'] };
    let prefix = &rest[..rest.find(ends).unwrap_or(rest.len())];
    Ok(match word.strip_prefix("//") {
        // `//HOST` takes only the scheme of the base (RFC 3986 section 4.2).
        Some(host) => format!("{scheme}://{host}"),
        None => format!("{scheme}://{prefix}{word}"),
    })
}

pub(crate) fn scheme(word: &str) -> Result<(&str, &str), WordError> {
    // A query may contain a URL with `://`, as in `/login?next=http://h/`.
    let Some((scheme, rest)) = word.split_once("://").filter(|(s, _)| !s.contains(['/', '?', '#']))
    else {
        // curl and browsers also assume http.
        return Ok(("http", word));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Ok(("http", rest)),
        "https" => Ok(("https", rest)),
        "ws" => Ok(("ws", rest)),
        "wss" => Ok(("wss", rest)),
        _ => {
            let speaks = format!("brunt speaks http, https, ws and wss, not {scheme}");
            Err(WordError::new(word, speaks, format!("http://{rest}")))
        }
    }
}

fn credentials(word: &str, user: &str) -> Result<(String, String), WordError> {
    // The user part of a URL may have no password (RFC 3986 section 3.2.1).
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    Ok((decoded(word, name)?, decoded(word, password)?))
}

fn decoded(word: &str, part: &str) -> Result<String, WordError> {
    let decoded = percent_decode_str(part).decode_utf8().map(std::borrow::Cow::into_owned);
    decoded.map_err(|_| {
        WordError::new(word, "the name and password are not UTF-8", "them with --basic")
    })
}

/// Path and query, without the fragment, which is never sent.
fn path_and_query(path: &str) -> Result<String, WordError> {
    // Fragments are reserved for the client (RFC 9110 section 7.1).
    let path = &path[..path.find('#').unwrap_or(path.len())];
    // An absolute URL with an empty path is requested as `/` (RFC 9112 section 3.2.1).
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok(format!("{slash}{}", encode_url(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(word: &str) -> String {
        parse(word).unwrap().url
    }

    #[test]
    fn valid_urls_are_parsed() {
        for (word, becomes) in [
            ("localhost:8080", "http://localhost:8080/"),
            ("example.org/a", "http://example.org/a"),
            ("http://example.org", "http://example.org/"),
            ("HTTPS://Example.ORG:443/A", "https://example.org/A"),
            ("http://h:80?q=1", "http://h/?q=1"),
            ("http://h/a b/ß?x=\"y\"", "http://h/a%20b/%C3%9F?x=%22y%22"),
            ("http://h/%20?a=%7B", "http://h/%20?a=%7B"),
            ("http://h/a#part", "http://h/a"),
            ("http://h/?to=http://i/", "http://h/?to=http://i/"),
            ("h/?to=ftp://i/", "http://h/?to=ftp://i/"),
            ("[::1]:8080/x", "http://[::1]:8080/x"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://h/{n}?u={uuid}&r={random:1..9}", "http://h/{n}?u={uuid}&r={random:1..9}"),
            ("http://h/{a}", "http://h/%7Ba%7D"),
            (" http://h/../a ", "http://h/../a"),
            (r"h\a", "http://h/%5Ca"),
        ] {
            assert_eq!(url(word), becomes, "{word}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_recognized() {
        for word in [
            "localhost:1",
            "a.localhost",
            "127.0.0.1",
            "127.9.9.9/x",
            "[::1]:8",
            "0.0.0.0:1",
            "https://[::]/{n}",
        ] {
            assert!(is_local(&url(word)), "{word}");
        }
        for word in ["example.org", "localhost.org", "10.0.0.1", "[fe80::1]"] {
            assert!(!is_local(&url(word)), "{word}");
        }
    }

    #[test]
    fn credentials_are_removed_from_urls() {
        let basic =
            |word| parse(word).unwrap().basic.map(|(name, password)| format!("{name} {password}"));
        assert_eq!(url("http://anna:secret@h/x"), "http://h/x");
        assert_eq!(basic("http://anna:secret@h/x").as_deref(), Some("anna secret"));
        assert_eq!(basic("anna:a%3Ab@c@h:81").as_deref(), Some("anna a:b@c"));
        assert_eq!(basic("anna@h").as_deref(), Some("anna "));
        assert_eq!(basic("http://h/a@b"), None);
    }

    #[test]
    fn relative_urls() {
        let url = |word| relative(word, Some("http://u:p@h:81/dir/file?q#f")).unwrap().url;
        assert_eq!(url("/x?y"), "http://h:81/x?y");
        assert_eq!(url("?y"), "http://h:81/dir/file?y");
        assert_eq!(url("//i/x"), "http://i/x");
        assert_eq!(url("i/x"), "http://i/x");
        assert_eq!(url("https://i/x"), "https://i/x");
        let message = relative("/x", None).unwrap_err().to_string();
        assert!(message.contains("write http://HOST/x, or give the server"), "{message}");
    }

    #[test]
    fn errors_of_malformed_urls_show_valid_ones() {
        for (word, remedy) in [
            ("", "write one such as http://127.0.0.1:8080/path"),
            ("ftp://h/x", "not ftp; write http://h/x"),
            ("http://", "write one such as http://127.0.0.1:8080/path"),
            ("http:///x", "write one such as"),
            ("http://h:99999/", "invalid port number; write one such as"),
            ("http://a b/", "write one such as"),
            ("http://{csv:hosts.csv:h}/", "placeholders are allowed in the path and query only"),
            ("http://h/{random:2..", "its `}` is missing"),
            ("http://%ff@h/", "--basic"),
        ] {
            let message = parse(word).unwrap_err().to_string();
            assert!(message.contains(remedy), "{word}: {message}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(word: String) {
            let _ = (parse(&word), relative(&word, Some("http://h/a")), relative("/x", Some(&word)));
        }

        #[test]
        fn parsed_targets_are_urls(word in r"(http://)?[a-z]{1,9}(:[0-9]{1,4})?[/?# -~ß]{0,20}") {
            if let Ok(target) = parse(&word) && !has_placeholders(&target.url) {
                let read = Url::parse(&target.url).unwrap();
                prop_assert!(["http", "https"].contains(&read.scheme()));
                prop_assert_eq!(parse(&target.url).unwrap().url, target.url);
            }
        }
    }
}
