//! Stores the cookies of one user (RFC 6265) in a `cookie_store`. They expire by
//! the system's wall clock.
//!
//! Cookies for a public suffix such as `co.uk` are refused, as in browsers. So are cookies with the
//! prefix `__Host-` or `__Secure-` without the attributes of the prefix (RFC 6265bis, 4.1.3).

use brunt_model::reply_policy::Cookies;
use cookie_store::{CookieDomain, CookieStore, RawCookie};
use std::borrow::Cow;
use std::cmp::Reverse;
use url::Url;

/// Cookies. Allocates nothing until the first one is set.
#[derive(Debug, Default, Clone)]
pub struct Jar(Option<Box<CookieStore>>);

impl Jar {
    /// Stores the cookies of a reply from this URL.
    pub fn take(&mut self, url: &Url, fields: &[(String, String)]) {
        for (_, text) in fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            // RFC 6265 section 5.3: a cookie that is malformed or names another domain is ignored.
            let url = http_url(url);
            if let Some(cookie) = acceptable(text, &url) {
                let _ = self.0.get_or_insert_default().insert_raw(&cookie, &url);
            }
        }
    }

    /// Returns the header field for a request to this URL.
    pub fn field(&self, url: &Url, policy: Cookies) -> Option<(String, String)> {
        self.field_with(url, policy, None)
    }

    /// Returns the header field with `explicit`, the cookies of the request itself (`a=1; b=2`),
    /// before the stored ones. A stored cookie replaces an explicit one of the same name.
    pub fn field_with(
        &self,
        url: &Url,
        policy: Cookies,
        explicit: Option<&str>,
    ) -> Option<(String, String)> {
        let url = http_url(url);
        let mut stored: Vec<_> = self.0.iter().flat_map(|store| store.matches(&url)).collect();
        // Cookies with longer paths come first (RFC 6265 section 5.4).
        stored.sort_by_key(|cookie| Reverse(cookie.path.as_ref().len()));
        let stored: Vec<_> = stored.iter().map(|cookie| cookie.name_value()).collect();
        let explicit = explicit.into_iter().flat_map(|cookies| cookies.split("; "));
        let pairs = explicit
            .filter(|pair| !stored.iter().any(|(name, _)| pair.split('=').next() == Some(*name)));
        let pairs = pairs.map(str::to_owned);
        let pairs: Vec<_> =
            pairs.chain(stored.iter().map(|(name, value)| format!("{name}={value}"))).collect();
        (!pairs.is_empty()).then(|| ("Cookie".to_owned(), pairs.join(policy.separator())))
    }
}

/// Returns the URL of the handshake of a WebSocket, which is a request of HTTP (RFC 6455, 4.1); any other URL itself.
/// For other schemes, the store holds back `HttpOnly` and `Secure` cookies.
fn http_url(url: &Url) -> Cow<'_, Url> {
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Cow::Borrowed(url),
    };
    let mut url = url.clone();
    // It never fails between these schemes.
    let _ = url.set_scheme(scheme);
    Cow::Owned(url)
}

/// Parses a field `Set-Cookie`. None if the prefix of its name or the suffix of
/// its domain forbids it.
fn acceptable<'a>(text: &'a str, url: &Url) -> Option<RawCookie<'a>> {
    let mut cookie = RawCookie::parse(text).ok()?;
    let is_secure = cookie.secure() == Some(true) && url.scheme() == "https";
    let is_of_host = cookie.domain().is_none() && cookie.path() == Some("/");
    if (has_prefix(&cookie, "__Secure-") && !is_secure)
        || (has_prefix(&cookie, "__Host-") && !(is_secure && is_of_host))
    {
        return None;
    }
    let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
    if domain.as_deref().is_some_and(brunt_suffix::is_public_suffix) {
        // RFC 6265 section 5.3, step 5: the host itself may be such a suffix; the cookie then
        // belongs only to it.
        if domain.as_deref() != url.host_str() {
            return None;
        }
        cookie.unset_domain();
    }
    Some(cookie)
}

fn has_prefix(cookie: &RawCookie<'_>, prefix: &str) -> bool {
    cookie.name().get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
}

/// A cookie as scripts see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserCookie {
    /// Name of the cookie.
    pub name: String,
    /// Value of the cookie.
    pub value: String,
    /// Domain without a leading dot.
    pub domain: String,
    /// Path of the URLs to which the cookie is sent.
    pub path: String,
    /// True if the cookie is sent over TLS only.
    pub is_secure: bool,
}

/// The interface of cookies for scripts.
impl Jar {
    /// Returns all cookies, in the order in which they were set.
    pub fn all(&self) -> Vec<UserCookie> {
        let unexpired = self.0.iter().flat_map(|store| store.iter_unexpired());
        let cookies = unexpired.map(|cookie| UserCookie {
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            domain: match &cookie.domain {
                CookieDomain::HostOnly(domain) | CookieDomain::Suffix(domain) => domain.clone(),
                _ => String::new(),
            },
            path: String::from(&cookie.path),
            is_secure: cookie.secure().unwrap_or(false),
        });
        cookies.collect()
    }

    /// Sets a cookie of a domain and its subdomains. A malformed cookie, or one without
    /// a domain, is ignored.
    pub fn add(&mut self, cookie: &UserCookie) {
        let UserCookie { name, value, domain, path, is_secure } = cookie;
        let domain = domain.trim_start_matches('.');
        let scheme = if *is_secure { "https" } else { "http" };
        let path = if path.starts_with('/') { path } else { "/" };
        let Ok(url) = Url::parse(&format!("{scheme}://{domain}{path}")) else { return };
        let secure = if *is_secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Domain={domain}; Path={path}{secure}");
        let _ = self.0.get_or_insert_default().parse(&text, &url);
    }

    /// Removes the cookie of this name, domain and path.
    pub fn remove(&mut self, cookie: &UserCookie) {
        if let Some(store) = &mut self.0 {
            store.remove(&cookie.domain, &cookie.path, &cookie.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cookies that are sent to the second URL, if replies from the first set these.
    fn sent(from: &str, set: &[&str], to: &str) -> String {
        let mut jar = Jar::default();
        let fields: Vec<_> =
            set.iter().map(|text| ("Set-Cookie".to_owned(), (*text).to_owned())).collect();
        jar.take(&Url::parse(from).unwrap(), &fields);
        jar.field(&Url::parse(to).unwrap(), Cookies::Kept).map(|field| field.1).unwrap_or_default()
    }

    #[test]
    fn handshakes_of_websockets_have_the_cookies_of_http() {
        let set = ["session=1; HttpOnly", "token=2; Secure; HttpOnly"];
        assert_eq!(sent("https://h/", &set, "wss://h/socket"), "session=1; token=2");
        assert_eq!(sent("https://h/", &set, "ws://h/socket"), "session=1");
        assert_eq!(sent("wss://h/socket", &set, "https://h/"), "session=1; token=2");
        assert_eq!(sent("ws://h/socket", &set, "wss://h/"), "session=1; token=2");
    }

    #[test]
    fn cookies_are_sent_to_matching_urls() {
        let home = "http://a.example.org/dir/page";
        for (set, to, expected) in [
            (&["a=1; path=/", "b=2"][..], "http://a.example.org/dir/", "b=2; a=1"),
            // RFC 6265 section 5.4: longer paths first, then the order of setting.
            (
                &["a=1; path=/", "b=2; path=/dir", "c=3; path=/dir/page", "d=4; path=/"],
                "http://a.example.org/dir/page/x",
                "c=3; b=2; a=1; d=4",
            ),
            (
                &["same=outer; path=/", "same=inner; path=/dir"],
                "http://a.example.org/dir/",
                "same=inner; same=outer",
            ),
            (&["a=1"], "http://a.example.org/other", ""),
            (&["a=1; Path=/d"], "http://a.example.org/dir/x", ""),
            (&["a=1; path=/"], "http://b.example.org/", ""),
            (&["a=1; path=/; domain=.example.org"], "http://b.example.org/", "a=1"),
            (&["a=1; path=/; domain=elsewhere.org"], "http://elsewhere.org/", ""),
            (&["a=1; path=/; Secure"], "http://a.example.org/", ""),
            (&["a=1; path=/; Secure"], "https://a.example.org/", "a=1"),
            (&["a=1; path=/", "a=2; path=/; HttpOnly"], "http://a.example.org/", "a=2"),
            (&["a=1; path=/", "a=; path=/; Max-Age=0"], "http://a.example.org/", ""),
            (
                &["a=1; path=/", "a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT"],
                "http://a.example.org/",
                "",
            ),
            (&["a=1; path=/; expires=Thu, 02 Jan 2020 00:00:00 GMT"], "http://a.example.org/", ""),
            (
                &["a=1; path=/; expires=Thu, 02 Jan 2020 00:00:00 GMT; Max-Age=600"],
                "http://a.example.org/",
                "a=1",
            ),
            (&["nonsense", "=x; path=/"], "http://a.example.org/", ""),
        ] {
            assert_eq!(sent(home, set, to), expected, "{set:?} to {to}");
        }
    }

    #[test]
    fn public_suffixes_and_name_prefixes_are_enforced() {
        let home = "https://shop.example.co.uk/dir/page";
        for (set, to, expected) in [
            ("a=1; Path=/; Domain=co.uk", "https://other.co.uk/", ""),
            ("a=1; Path=/; Domain=.uk", home, ""),
            ("a=1; Path=/; Domain=example.co.uk", "https://www.example.co.uk/", "a=1"),
            ("__Secure-a=1; Path=/; Secure", home, "__Secure-a=1"),
            ("__Secure-a=1; Path=/", home, ""),
            ("__Host-a=1; Path=/; Secure", home, "__Host-a=1"),
            ("__host-a=1; Path=/; Secure; Domain=example.co.uk", home, ""),
            ("__Host-a=1; Path=/dir; Secure", home, ""),
            ("__Host-a=1; Secure", home, ""),
            ("__Host-a=1; Path=/", home, ""),
            ("__Hostess=1; Path=/", home, "__Hostess=1"),
        ] {
            assert_eq!(sent(home, &[set], to), expected, "{set} to {to}");
        }
        assert_eq!(
            sent(
                "http://shop.example.org/",
                &["__Secure-a=1; Path=/; Secure"],
                "https://shop.example.org/"
            ),
            ""
        );
        let hosted = "https://ann.github.io/";
        assert_eq!(sent(hosted, &["a=1; Path=/; Domain=github.io"], "https://bob.github.io/"), "");
        assert_eq!(
            sent(
                "https://github.io/",
                &["a=1; Path=/; Domain=github.io"],
                "https://bob.github.io/"
            ),
            ""
        );
        assert_eq!(
            sent("https://github.io/", &["a=1; Path=/; Domain=github.io"], "https://github.io/"),
            "a=1"
        );
        assert_eq!(
            sent("http://localhost/", &["a=1; Path=/; Domain=localhost"], "http://localhost/"),
            "a=1"
        );
        assert_eq!(
            sent("http://127.0.0.1/", &["a=1; Path=/; Domain=127.0.0.1"], "http://127.0.0.1/"),
            "a=1"
        );
    }

    #[test]
    fn scripts_set_read_and_remove_cookies() {
        let mut jar = Jar::default();
        let cookie = |name: &str, domain: &str, path: &str, is_secure| UserCookie {
            name: name.to_owned(),
            value: "v".to_owned(),
            domain: domain.to_owned(),
            path: path.to_owned(),
            is_secure,
        };
        for one in [
            cookie("a", "example.org", "/", false),
            cookie("b", ".example.org", "", true),
            cookie("c", "localhost", "/deep", false),
            cookie("d", "127.0.0.1", "/", false),
            cookie("e", "", "/", false),
        ] {
            jar.add(&one);
        }
        let names: Vec<_> = jar.all().into_iter().map(|cookie| cookie.name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        let sent = |jar: &Jar, url: &str| {
            jar.field(&Url::parse(url).unwrap(), Cookies::Kept)
                .map(|field| field.1)
                .unwrap_or_default()
        };
        assert_eq!(sent(&jar, "http://www.example.org/x"), "a=v");
        assert_eq!(sent(&jar, "https://example.org/"), "a=v; b=v");
        assert_eq!(sent(&jar, "http://localhost/deep/x"), "c=v");
        assert_eq!(sent(&jar, "http://127.0.0.1:8080/"), "d=v");
        jar.remove(&jar.all()[0]);
        assert_eq!(sent(&jar, "http://example.org/"), "");
    }

    #[test]
    fn a_user_without_cookies_holds_no_store() {
        let url = Url::parse("http://h/").unwrap();
        let mut jar = Jar::default();
        jar.take(&url, &[("Content-Type".to_owned(), "text/html".to_owned())]);
        assert!(jar.0.is_none() && jar.field(&url, Cookies::Kept).is_none());
    }
}
