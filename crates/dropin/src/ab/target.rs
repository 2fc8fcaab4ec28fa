//! ab's URL: nothing is decoded, encoded or made lower-case; the path is sent as it was typed.

/// What is asked, as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// https rather than http.
    pub https: bool,
    /// The host, without brackets.
    pub host: String,
    /// The port, 80 or 443 where none was typed.
    pub port: u16,
    /// What stands in the Host header.
    pub host_field: String,
    /// From the first slash on.
    pub path: String,
    /// All of it as it was typed: what a proxy is asked.
    pub typed: String,
}

impl Target {
    /// Reads `[http[s]://]host[:port]/path`; None: it is none. The slash must be there.
    pub fn parse(typed: &str) -> Option<Self> {
        let (https, rest) = match (typed.strip_prefix("http://"), typed.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => (false, typed),
        };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = host_and_port(authority)?;
        let usual = if https { 443 } else { 80 };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port = port.unwrap_or(usual);
        let host_field = if port == usual { host.to_owned() } else { format!("{host}:{port}") };
        let (host, path, typed) = (bare.to_owned(), path.to_owned(), typed.to_owned());
        Some(Self { https, host, port, host_field, path, typed })
    }

    /// The URL as our reports name it.
    pub fn url(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        format!("{scheme}://{}{}", self.host_field, self.path)
    }

    /// Where the engine goes: the origin, and the path where it is plain in every URL.
    pub fn reached(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~?=&%+,:;@!$*()".contains(c);
        let path = if self.path.chars().all(plain) { &*self.path } else { "/" };
        let (scheme, host) = (if self.https { "https" } else { "http" }, &self.host);
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{scheme}://{host}:{}{path}", self.port)
    }
}

/// Digits behind the last colon are the port.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, digits)) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            (host, Some(digits.parse().ok().filter(|port| *port > 0)?))
        }
        _ => (authority, None),
    };
    (!host.is_empty() && !host.bytes().all(|b| b.is_ascii_digit())).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Option<String> {
        Target::parse(typed).map(|t| format!("{} {} {} {} {}", t.https, t.host, t.port, t.host_field, t.path))
    }

    #[test]
    fn urls_as_ab_reads_them() {
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
