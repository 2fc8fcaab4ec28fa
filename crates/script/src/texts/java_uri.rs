//! What Java's `java.net.URI` refuses of a URL, and JMeter with it.

/// Why Java refuses a URL; None: it does not.
pub fn refusal(url: &str) -> Option<String> {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    let query = url.find('?').unwrap_or(url.len());
    let bytes = url.as_bytes();
    for (at, character) in url.char_indices() {
        let is_hexadecimal = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
        if character == '%' && at >= path {
            if !is_hexadecimal(at + 1) || !is_hexadecimal(at + 2) {
                return Some(format!("Malformed escape pair at index {at}: {url}"));
            }
            continue;
        }
        let within_path = at >= path && at < query;
        let is_illegal = character.is_control()
            || matches!(character, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
            || within_path && matches!(character, '[' | ']');
        if is_illegal {
            // Of a host, Java names the place where it begins.
            let (component, at) = match at {
                at if at >= query => ("query", at),
                at if at >= path => ("path", at),
                _ => ("authority", authority),
            };
            return Some(format!("Illegal character in {component} at index {at}: {url}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_java_refuses_is_refused() {
        for (url, expected) in [
            ("http://h/a/b?c=d%20&e=é#f", None),
            ("http://h/?a[0]=1", None),
            ("http://h/a b", Some("Illegal character in path at index 10: http://h/a b")),
            ("http://h/?x=${y}", Some("Illegal character in query at index 13: http://h/?x=${y}")),
            ("http://${h}/", Some("Illegal character in authority at index 7: http://${h}/")),
            ("http:// h :80/", Some("Illegal character in authority at index 7: http:// h :80/")),
            ("http://h/a[0]", Some("Illegal character in path at index 10: http://h/a[0]")),
            ("http://h/100%", Some("Malformed escape pair at index 12: http://h/100%")),
        ] {
            assert_eq!(refusal(url).as_deref(), expected, "{url}");
        }
    }
}
