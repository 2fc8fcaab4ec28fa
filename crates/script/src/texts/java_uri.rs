//! Checks URLs by the rules of Java's `java.net.URI`, which JMeter uses.

/// Returns the reason why Java refuses a URL, in its words. None: Java accepts it.
pub fn refusal(url: &str) -> Option<String> {
    let authority = url.find("://").map_or(0, |scheme| scheme + 3);
    let path = url[authority..].find('/').map_or(url.len(), |slash| authority + slash);
    let query = url.find('?').unwrap_or(url.len());
    let bytes = url.as_bytes();
    for (index, character) in url.char_indices() {
        // Java accepts any `%` before the path.
        if character == '%' && index >= path {
            if !is_hexadecimal(bytes, index + 1) || !is_hexadecimal(bytes, index + 2) {
                return Some(format!("Malformed escape pair at index {index}: {url}"));
            }
            continue;
        }
        let is_in_path = index >= path && index < query;
        let is_illegal = character.is_control()
            || matches!(character, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
            || is_in_path && matches!(character, '[' | ']');
        if is_illegal {
            // For a host, Java reports the index of its begin.
            let (component, index) = match index {
                index if index >= query => ("query", index),
                index if index >= path => ("path", index),
                _ => ("authority", authority),
            };
            return Some(format!("Illegal character in {component} at index {index}: {url}"));
        }
    }
    None
}

fn is_hexadecimal(bytes: &[u8], index: usize) -> bool {
    bytes.get(index).is_some_and(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_that_java_refuses_are_refused() {
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
