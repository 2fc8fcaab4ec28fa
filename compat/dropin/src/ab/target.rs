//! Parses ab's URL. Nothing is decoded, encoded or lowercased; the path is sent as typed.

/// The URL of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AbTarget {
    /// True for https, false for http.
    pub https: bool,
    pub host: String,
    /// Port; default 80 or 443.
    pub port: u16,
    /// Value of the Host header.
    pub host_field: String,
    /// Path and query, from the first slash on.
    pub path: String,
    /// The URL as typed, which is sent to a proxy.
    pub typed: String,
}

impl AbTarget {
    /// Parses `[http[s]://]host[:port]/path`; None if invalid. The slash is required.
    pub fn parse(typed: &str) -> Option<Self> {
        let (https, rest) = match (typed.strip_prefix("http://"), typed.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => (false, typed),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = host_and_port(authority)?;
        let default_port = if https { 443 } else { 80 };
        let unbracketed =
            host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.unwrap_or(default_port);
        let host_field =
            if port == default_port { host.to_owned() } else { format!("{host}:{port}") };
        Some(Self {
            https,
            host: unbracketed.to_owned(),
            port,
            host_field,
            path: path.to_owned(),
            typed: typed.to_owned(),
        })
    }

    /// The URL in brunt's reports.
    pub fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.host_field, self.path)
    }

    /// The URL for the engine: the origin, and the path if every URL parser accepts it unchanged.
    pub fn engine_url(&self) -> String {
        // The path is sent verbatim anyway. A parser could reject or change other characters.
        let path = if self
            .path
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/-._~?=&%+,:;@!$*()".contains(c))
        {
            &*self.path
        } else {
            "/"
        };
        let scheme = if self.https { "https" } else { "http" };
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{scheme}://{host}:{}{path}", self.port)
    }
}

/// Splits off the port: digits after the last colon.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, digits))
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            (host, Some(digits.parse().ok().filter(|port| *port > 0)?))
        }
        _ => (authority, None),
    };
    // Like in ab, digits alone are a port without a host.
    (!host.is_empty() && !host.bytes().all(|b| b.is_ascii_digit())).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Option<String> {
        AbTarget::parse(typed)
            .map(|t| format!("{} {} {} {} {}", t.https, t.host, t.port, t.host_field, t.path))
    }

    #[test]
    fn urls_are_parsed_like_ab() {
        for (typed, read_as) in [
            ("http://h/", "false h 80 h /"),
            ("h:81/a b?x#y", "false h 81 h:81 /a b?x#y"),
            ("https://h:443/", "true h 443 h /"),
            ("https://H:80/", "true H 80 H:80 /"),
            ("http://[::1]:8080/x", "false ::1 8080 [::1]:8080 /x"),
            ("ftp://h:9/", "false ftp: 80 ftp: //h:9/"),
            ("http://u:p@h:9/", "false u:p@h 9 u:p@h:9 /"),
        ] {
            assert_eq!(read(typed).as_deref(), Some(read_as), "{typed}");
        }
        for typed in ["", "h", "http://h:99", "http://h:99999/", "http://:80/", "/x"] {
            assert_eq!(read(typed), None, "{typed}");
        }
    }
}
