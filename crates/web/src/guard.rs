//! Decides which requests are answered, by their host first, then by their token.
//!
//! A page of another site can send requests to the studio, and after DNS rebinding its own name leads
//! here. So each request must name the studio as its host, exactly as brunt prints it, and carry a token.
//! The token is in a cookie, which no script and no other site can use; a link that works once sets it.
//! Requests that change something also carry a second token, from a form of the studio.

use crate::texts::{PageText, message};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use brunt_model::numbers::hexadecimal;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// Port that URLs with `http:` need not name.
const HTTP_PORT: u16 = 80;

/// Name of `brunt record --proxy` in the header field `Via`. Its clients may be programs of other machines.
const RECORDING_PROXY: &str = "brunt-record";

/// Path of the link that sets the cookie, before its key.
pub const LINK_PATH: &str = "/open/";

/// A secret, as text.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Draws a token.
    ///
    /// # Errors
    ///
    /// The system provides no random numbers.
    pub fn random() -> Result<Self, Unspecified> {
        let mut bytes = [0; TOKEN_BYTES];
        rand::fill(&mut bytes)?;
        Ok(Self(hexadecimal(&bytes)))
    }

    /// Text of the token.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn is(&self, other: &str) -> bool {
        // Takes the same time for every text.
        verify_slices_are_equal(self.0.as_bytes(), other.as_bytes()).is_ok()
    }
}

/// Reason to refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It names another host.
    Host,
    /// It was sent through the proxy of a recording.
    Proxy,
    /// It comes from a page of another site.
    Site,
    /// It has no token, or a wrong one.
    Token,
    /// Its link was used before, or never existed.
    Link,
}

impl Refusal {
    /// Status of the reply.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Proxy | Self::Site => StatusCode::FORBIDDEN,
            Self::Token | Self::Link => StatusCode::UNAUTHORIZED,
        }
    }

    /// The reason, and what to do.
    pub fn text(self) -> PageText {
        match self {
            Self::Host => message!("refused-host"),
            Self::Proxy => message!("refused-proxy"),
            Self::Site => message!("refused-site"),
            Self::Token => message!("refused-token"),
            Self::Link => message!("refused-link"),
        }
    }
}

/// The hosts and tokens of a studio.
pub struct Guard {
    /// Hosts with the port, as browsers send them.
    hosts: Vec<String>,
    /// Name of the cookie. Browsers send the cookies of a host to all of its ports.
    cookie: String,
    token: Token,
    form_token: Token,
    /// Key of the latest link; None after its use.
    link: Mutex<Option<Token>>,
}

impl Guard {
    /// Creates the guard of a studio at a loopback address.
    ///
    /// # Errors
    ///
    /// The system provides no random numbers.
    pub fn new(address: SocketAddr) -> Result<Self, Unspecified> {
        let port = address.port();
        let mut hosts = vec![address.to_string(), format!("localhost:{port}")];
        if port == HTTP_PORT {
            // Browsers leave out the port of the scheme.
            let ip = address.to_string();
            hosts.extend([ip.trim_end_matches(":80").to_owned(), "localhost".to_owned()]);
        }
        Ok(Self {
            hosts,
            cookie: format!("brunt-studio-{port}"),
            token: Token::random()?,
            form_token: Token::random()?,
            link: Mutex::default(),
        })
    }

    /// Returns the path of a link that sets the cookie, and works once. Earlier links end.
    ///
    /// # Errors
    ///
    /// The system provides no random numbers.
    pub fn new_link(&self) -> Result<String, Unspecified> {
        let key = Token::random()?;
        let path = format!("{LINK_PATH}{}", key.text());
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(key);
        Ok(path)
    }

    /// Token of forms.
    pub fn form_token(&self) -> &Token {
        &self.form_token
    }

    /// Checks the host of a request, its way, and the site that it comes from.
    ///
    /// # Errors
    ///
    /// It names another host, came through the proxy of a recording, or comes from another site.
    pub fn check_host(&self, request: &Parts) -> Result<(), Refusal> {
        if has_passed_proxy(&request.headers) {
            return Err(Refusal::Proxy);
        }
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::Host) };
        let host = host.to_str().map_err(|_| Refusal::Host)?;
        let named = [Some(host), authority(&request.uri)];
        if !named.into_iter().flatten().all(|host| self.is_own(host)) {
            return Err(Refusal::Host);
        }
        self.check_site(request)
    }

    /// Checks the token of a request.
    ///
    /// # Errors
    ///
    /// It has none, or a wrong one.
    pub fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut pairs =
            cookies.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
        if pairs.any(|pair| self.is_own_cookie(pair)) { Ok(()) } else { Err(Refusal::Token) }
    }

    /// True for the cookie with the token.
    fn is_own_cookie(&self, pair: &str) -> bool {
        // Other programs of this host may have cookies, too: browsers do not separate ports.
        let (name, value) = pair.trim().split_once('=').unwrap_or_default();
        name == self.cookie && self.token.is(value)
    }

    /// Checks the token of a form.
    ///
    /// # Errors
    ///
    /// It is wrong.
    pub fn check_form(&self, token: &str) -> Result<(), Refusal> {
        if self.form_token.is(token) { Ok(()) } else { Err(Refusal::Site) }
    }

    /// Uses the link. Returns the cookie.
    ///
    /// # Errors
    ///
    /// The key is wrong, or the link was used.
    pub fn use_link(&self, key: &str) -> Result<String, Refusal> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.take_if(|link| link.is(key)).ok_or(Refusal::Link)?;
        Ok(format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie, self.token.text()))
    }

    /// True for a host of the studio. Other spellings of its address are refused: no link of the studio has them.
    fn is_own(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn check_site(&self, request: &Parts) -> Result<(), Refusal> {
        let header = |name: &str| request.headers.get(name).map(HeaderValue::as_bytes);
        let is_read = matches!(request.method, Method::GET | Method::HEAD);
        // A link in a terminal or in a mail has no page of another site, and neither has an old browser.
        let is_other_site = matches!(header("sec-fetch-site"), Some(b"cross-site" | b"same-site"));
        let is_page = header("sec-fetch-mode") == Some(b"navigate");
        if is_other_site && !(is_read && is_page) {
            return Err(Refusal::Site);
        }
        let origin = request.headers.get(header::ORIGIN).map(|origin| origin.to_str());
        match origin {
            None => Ok(()),
            Some(Ok(origin)) => {
                let host = origin.strip_prefix("http://").unwrap_or_default();
                if self.is_own(host) { Ok(()) } else { Err(Refusal::Site) }
            }
            Some(Err(_)) => Err(Refusal::Site),
        }
    }
}

/// True if the proxy of a recording has forwarded a request.
fn has_passed_proxy(headers: &HeaderMap) -> bool {
    headers.get_all(header::VIA).iter().any(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        value.contains(RECORDING_PROXY)
    })
}

/// Host and port of an absolute target.
fn authority(uri: &Uri) -> Option<&str> {
    uri.authority().map(Authority::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn guard() -> Guard {
        Guard::new(SocketAddr::from(([127, 0, 0, 1], 8123))).unwrap()
    }

    fn request(target: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_the_studios_own_host_is_answered() {
        let guard = guard();
        for host in ["127.0.0.1:8123", "localhost:8123", "LOCALHOST:8123"] {
            assert_eq!(guard.check_host(&request("/", &[("host", host)])), Ok(()), "{host}");
        }
        for host in [
            "evil.example:8123",
            "127.0.0.1",
            "127.0.0.1:8124",
            "localhost.:8123",
            "127.1:8123",
            "2130706433:8123",
            "0177.0.0.1:8123",
            "[::1]:8123",
            "[::ffff:127.0.0.1]:8123",
            "user@127.0.0.1:8123",
            "127.0.0.1:8123.evil.example",
            "",
        ] {
            let refused = Err(Refusal::Host);
            assert_eq!(guard.check_host(&request("/", &[("host", host)])), refused, "{host}");
        }
        assert_eq!(guard.check_host(&request("/", &[])), Err(Refusal::Host));
        let twice = [("host", "127.0.0.1:8123"), ("host", "127.0.0.1:8123")];
        assert_eq!(guard.check_host(&request("/", &twice)), Err(Refusal::Host));
        let own = [("host", "127.0.0.1:8123")];
        let absolute = request("http://evil.example/", &own);
        assert_eq!(guard.check_host(&absolute), Err(Refusal::Host), "as a proxy");
    }

    #[test]
    fn requests_of_other_sites_are_refused() {
        let guard = guard();
        let with = |name, value| request("/runs", &[("host", "127.0.0.1:8123"), (name, value)]);
        for (name, value, expected) in [
            ("origin", "http://127.0.0.1:8123", Ok(())),
            ("origin", "http://evil.example", Err(Refusal::Site)),
            ("origin", "https://127.0.0.1:8123", Err(Refusal::Site)),
            ("origin", "null", Err(Refusal::Site)),
            ("sec-fetch-site", "same-origin", Ok(())),
            ("sec-fetch-site", "none", Ok(())),
            ("sec-fetch-site", "cross-site", Err(Refusal::Site)),
            // Another port of this machine is the same site.
            ("sec-fetch-site", "same-site", Err(Refusal::Site)),
        ] {
            assert_eq!(guard.check_host(&with(name, value)), expected, "{name}: {value}");
        }
    }

    #[test]
    fn requests_through_the_proxy_of_a_recording_are_refused() {
        let guard = guard();
        let with =
            |via| request("/", &[("host", "127.0.0.1:8123"), ("via", "1.0 a"), ("via", via)]);
        for via in ["1.1 brunt-record", "1.1 other, 2 BRUNT-Record (comment)"] {
            assert_eq!(guard.check_host(&with(via)), Err(Refusal::Proxy), "{via}");
        }
        assert_eq!(guard.check_host(&with("1.1 other")), Ok(()));
    }

    #[test]
    fn a_link_works_once_and_sets_the_cookie_that_is_the_token() {
        let guard = guard();
        let cookie = |value: &str| request("/", &[("cookie", value)]).headers;
        assert_eq!(guard.check_token(&cookie("")), Err(Refusal::Token));
        assert_eq!(guard.use_link(""), Err(Refusal::Link));
        let earlier = guard.new_link().unwrap();
        let path = guard.new_link().unwrap();
        let key = path.strip_prefix(LINK_PATH).unwrap();
        assert_eq!(guard.use_link(earlier.strip_prefix(LINK_PATH).unwrap()), Err(Refusal::Link));
        let set = guard.use_link(key).unwrap();
        assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{set}");
        let (pair, _) = set.split_once(';').unwrap();
        assert_eq!(guard.check_token(&cookie(&format!("other=1; {pair}"))), Ok(()));
        assert_eq!(guard.check_token(&cookie(&pair[..pair.len() - 1])), Err(Refusal::Token));
        assert_eq!(guard.use_link(key), Err(Refusal::Link));
    }
}
