//! Cookies of one user (RFC 6265). There is no clock here: one that is to end is gone at once, all others last as long as
//! the user.

use super::Fields;
use url::{Host, Url};

/// Cookies.
#[derive(Debug, Default)]
pub struct Jar(Vec<Cookie>);

#[derive(Debug, PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    /// Of this host, and of those below it where `below`.
    domain: String,
    below: bool,
    path: String,
    secure: bool,
}

impl Jar {
    /// Takes the cookies of a reply from this URL.
    pub fn take(&mut self, url: &Url, fields: &Fields) {
        for (_, text) in fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let Some((cookie, is_over)) = Cookie::parse(url, text) else { continue };
            let old = self.0.iter().position(|old| old.is_same(&cookie));
            match (old, is_over) {
                (Some(at), true) => _ = self.0.remove(at),
                (Some(at), false) => self.0[at] = cookie,
                (None, false) => self.0.push(cookie),
                (None, true) => {}
            }
        }
    }

    /// The header field for a request to this URL.
    pub fn field(&self, url: &Url) -> Option<(String, String)> {
        let all = self.0.iter().filter(|cookie| cookie.goes_to(url));
        let pairs: Vec<_> = all.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| ("Cookie".to_owned(), pairs.join(";")))
    }
}

impl Cookie {
    /// The cookie of a Set-Cookie field, and whether it is to go.
    fn parse(url: &Url, text: &str) -> Option<(Self, bool)> {
        let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
        let (name, value) = pair.split_once('=')?;
        let host = url.host_str()?.to_ascii_lowercase();
        let path = default_path(url.path());
        let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
        let mut cookie = Self { name, value, domain: host.clone(), below: false, path, secure: false };
        let mut is_over = false;
        for attribute in attributes.split(';') {
            let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "domain" => {
                    let domain = value.trim_start_matches('.').to_ascii_lowercase();
                    if !is_below(&host, &domain) {
                        return None;
                    }
                    (cookie.domain, cookie.below) = (domain, true);
                }
                "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
                "secure" => cookie.secure = true,
                "max-age" => is_over = value.parse::<i64>().is_ok_and(|seconds| seconds <= 0),
                // How servers say that a cookie is to go.
                "expires" if value.contains("1970") => is_over = true,
                _ => {}
            }
        }
        (!cookie.name.is_empty()).then_some((cookie, is_over))
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.domain, &self.path) == (&other.name, &other.domain, &other.path)
    }

    fn goes_to(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let right_host = if self.below { is_below(&host, &self.domain) } else { host == self.domain };
        let rest = url.path().strip_prefix(self.path.as_str());
        let right_path = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/'));
        right_host && right_path && (!self.secure || url.scheme() == "https")
    }
}

/// Whether a host is this domain, or a name below it.
fn is_below(host: &str, domain: &str) -> bool {
    let is_name = matches!(Host::parse(host), Ok(Host::Domain(_)));
    host == domain
        || (is_name && !domain.is_empty() && host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')))
}

/// RFC 6265 section 5.1.4.
fn default_path(path: &str) -> String {
    match path.rfind('/') {
        None | Some(0) => "/".into(),
        Some(at) => path[..at].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent to the second URL, when replies from the first set these cookies.
    fn sent(from: &str, set: &[&str], to: &str) -> String {
        let mut jar = Jar::default();
        let fields: Vec<_> = set.iter().map(|text| ("Set-Cookie".to_owned(), (*text).to_owned())).collect();
        jar.take(&Url::parse(from).unwrap(), &fields);
        jar.field(&Url::parse(to).unwrap()).map(|field| field.1).unwrap_or_default()
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let home = "http://a.example.org/dir/page";
        for (set, to, expected) in [
            (&["a=1; path=/", "b=2"][..], "http://a.example.org/dir/", "a=1;b=2"),
            (&["a=1"], "http://a.example.org/other", ""),
            (&["a=1; Path=/d"], "http://a.example.org/dir/x", ""),
            (&["a=1; path=/"], "http://b.example.org/", ""),
            (&["a=1; path=/; domain=.example.org"], "http://b.example.org/", "a=1"),
            (&["a=1; path=/; domain=elsewhere.org"], "http://elsewhere.org/", ""),
            (&["a=1; path=/; Secure"], "http://a.example.org/", ""),
            (&["a=1; path=/; Secure"], "https://a.example.org/", "a=1"),
            (&["a=1; path=/", "a=2; path=/; HttpOnly"], "http://a.example.org/", "a=2"),
            (&["a=1; path=/", "a=; path=/; Max-Age=0"], "http://a.example.org/", ""),
            (&["a=1; path=/", "a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT"], "http://a.example.org/", ""),
            (&["nonsense", "=x; path=/"], "http://a.example.org/", ""),
        ] {
            assert_eq!(sent(home, set, to), expected, "{set:?} to {to}");
        }
    }
}
