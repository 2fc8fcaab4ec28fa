//! Decides which requests are answered, by their host first, then by their token.
//!
//! A page of another site can send requests to the studio, and after DNS rebinding its own name leads
//! here. So each request must name the studio as its host, exactly as brunt prints it, and carry a token.
//! The token is in a cookie, which no script and no other site can use. A link that works once sets it, or the
//! page on which a member of a team signs in. Programs send the token in a header.
//! Requests that change something also carry a second token, from a form of the studio.

use crate::texts::message;
use crate::token::Token;
use crate::tokens::TokenFile;
use crate::visitor::{Permission, Visitor};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::{hmac, rand};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use brunt_model::Text;
use brunt_model::sync::IgnorePoison;
use std::net::SocketAddr;
use std::sync::Mutex;

/// Beginning of the header with the token of a program.
const BEARER: &str = "Bearer ";

/// Name of `brunt record --proxy` in the header field `Via`. Its clients may be programs of other machines.
const RECORDING_PROXY: &str = "brunt-record";

/// Path of the link that sets the cookie, before its key.
pub const LINK_PATH: &str = "/open/";

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
    /// Its token only reads.
    Permission,
    /// A browser's cookie is no token for changes through the API.
    Cookie,
    /// The file of tokens cannot be used.
    Tokens,
}

impl Refusal {
    /// Status of the reply.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Proxy | Self::Site | Self::Permission | Self::Cookie => StatusCode::FORBIDDEN,
            Self::Tokens => StatusCode::SERVICE_UNAVAILABLE,
            Self::Token | Self::Link => StatusCode::UNAUTHORIZED,
        }
    }

    /// The reason, and what to do.
    pub fn text(self) -> Text {
        match self {
            Self::Host => message!("refused-host"),
            Self::Proxy => message!("refused-proxy"),
            Self::Site => message!("refused-site"),
            Self::Token => message!("refused-token"),
            Self::Permission => message!("refused-permission"),
            Self::Cookie => message!("refused-cookie"),
            Self::Tokens => message!("refused-tokens"),
            Self::Link => message!("refused-link"),
        }
    }
}

/// Address, hosts and tokens of a studio.
pub struct GuardSettings {
    /// Address at which it listens.
    pub address: SocketAddr,
    /// Further names of the studio, with or without a port.
    pub hosts: Vec<String>,
    /// True if connections are encrypted.
    pub uses_tls: bool,
    /// Tokens of a team.
    pub tokens: Option<TokenFile>,
}

/// The hosts and tokens of a studio.
pub struct Guard {
    /// Hosts with the port, as browsers send them. Links have the first one.
    hosts: Vec<String>,
    uses_tls: bool,
    /// Name of the cookie. Browsers send the cookies of a host to all of its ports.
    cookie: String,
    /// Token of browsers that a link has admitted.
    token: Token,
    tokens: Option<TokenFile>,
    /// Key of the tokens of forms.
    form_key: hmac::Key,
    /// Key of the latest link; None after its use.
    link: Mutex<Option<Token>>,
}

impl Guard {
    /// Creates the guard of a studio.
    pub fn new(settings: GuardSettings) -> Result<Self, Unspecified> {
        let GuardSettings { address, hosts: names, uses_tls, tokens } = settings;
        let port = address.port();
        // Links have the first host, which must be the name in the certificate.
        let mut hosts: Vec<String> = names.into_iter().map(|name| with_port(name, port)).collect();
        // Browsers do not send the address that means every interface.
        if !address.ip().is_unspecified() {
            hosts.push(address.to_string());
        }
        if address.ip().is_loopback() {
            hosts.push(format!("localhost:{port}"));
        }
        // Browsers leave out the port of the scheme.
        let default_port = if uses_tls { ":443" } else { ":80" };
        let without_port: Vec<String> = hosts
            .iter()
            .filter_map(|host| host.strip_suffix(default_port))
            .map(str::to_owned)
            .collect();
        hosts.extend(without_port);
        // With this prefix, no page of a subdomain can set the cookie.
        let prefix = if uses_tls { "__Host-" } else { "" };
        Ok(Self {
            hosts,
            uses_tls,
            cookie: format!("{prefix}brunt-studio-{port}"),
            token: Token::random()?,
            tokens,
            form_key: hmac::Key::generate(hmac::HMAC_SHA256, &rand::SystemRandom::new())?,
            link: Mutex::default(),
        })
    }

    /// Address of the studio in links.
    pub fn origin(&self) -> String {
        let host = self.hosts.first().map_or("", String::as_str);
        format!("{}{host}", self.scheme())
    }

    fn scheme(&self) -> &'static str {
        if self.uses_tls { "https://" } else { "http://" }
    }

    /// True if the studio has tokens of a team.
    pub fn has_tokens(&self) -> bool {
        self.tokens.is_some()
    }

    /// Returns the path of a link that sets the cookie, and works once. Earlier links end.
    pub fn new_link(&self) -> Result<String, Unspecified> {
        let key = Token::random()?;
        let path = format!("{LINK_PATH}{}", key.text());
        *self.link.lock().ignore_poison() = Some(key);
        Ok(path)
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
        // Several `Host` fields are invalid (RFC 9112, 3.2), and programs choose different ones.
        let mut hosts = request.headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::Host) };
        let host = host.to_str().map_err(|_| Refusal::Host)?;
        // A target in absolute form overrides `Host` (RFC 9112, 3.2.2).
        let named = [Some(host), authority(&request.uri)];
        if !named.into_iter().flatten().all(|host| self.is_own(host)) {
            return Err(Refusal::Host);
        }
        self.check_site(request)
    }

    /// Returns the visitor of a request, by its token.
    ///
    /// # Errors
    ///
    /// It has no token, or a wrong one.
    pub fn identify(&self, headers: &HeaderMap) -> Result<Visitor, Refusal> {
        let mut authorizations = headers.get_all(header::AUTHORIZATION).iter();
        if let Some(authorization) = authorizations.next() {
            let secret = authorization.to_str().ok().and_then(|text| text.strip_prefix(BEARER));
            // A program that sends a wrong token is not admitted by a cookie.
            let (Some(secret), None) = (secret, authorizations.next()) else {
                return Err(Refusal::Token);
            };
            return self.find_token(secret.trim())?.ok_or(Refusal::Token);
        }
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        // Other programs of this host may have cookies, too: browsers do not separate ports.
        let pairs =
            lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        for (_, value) in pairs.filter(|(name, _)| *name == self.cookie) {
            // A cookie of an earlier studio at this port may come before the valid one.
            let visitor = if self.token.is(value) {
                Some(Visitor { name: None, permission: Permission::Run, form_token: None })
            } else {
                self.find_token(value)?
            };
            if let Some(visitor) = visitor {
                return Ok(Visitor { form_token: Some(self.form_token_of(value)), ..visitor });
            }
        }
        Err(Refusal::Token)
    }

    fn find_token(&self, secret: &str) -> Result<Option<Visitor>, Refusal> {
        let Some(tokens) = &self.tokens else { return Ok(None) };
        let row = tokens.find(secret).map_err(|_| Refusal::Tokens)?;
        Ok(row.map(|row| Visitor {
            name: Some(row.name),
            permission: row.permission,
            form_token: None,
        }))
    }

    /// Each session has its own token of forms, so that a visitor does not know that of another.
    fn form_token_of(&self, session: &str) -> Token {
        Token::from_bytes(hmac::sign(&self.form_key, session.as_bytes()).as_ref())
    }

    /// Admits a browser by the token of a person. Returns the cookie.
    ///
    /// # Errors
    ///
    /// There is no such token.
    pub fn sign_in(&self, secret: &str) -> Result<String, Refusal> {
        self.find_token(secret)?.ok_or(Refusal::Token)?;
        Ok(self.cookie_of(secret))
    }

    /// Returns a cookie without a token, which ends right away.
    pub fn sign_out(&self) -> String {
        format!("{}; Max-Age=0", self.cookie_of(""))
    }

    fn cookie_of(&self, value: &str) -> String {
        // Without TLS, some browsers refuse a `Secure` cookie, also from localhost.
        let secure = if self.uses_tls { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie)
    }

    /// Uses the link. Returns the cookie.
    ///
    /// # Errors
    ///
    /// The key is wrong, or the link was used.
    pub fn use_link(&self, key: &str) -> Result<String, Refusal> {
        let mut link = self.link.lock().ignore_poison();
        // A wrong key does not end the link: any other site can lead a browser to one.
        link.take_if(|link| link.is(key)).ok_or(Refusal::Link)?;
        Ok(self.cookie_of(self.token.text()))
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
                let host = origin.strip_prefix(self.scheme()).unwrap_or_default();
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

/// Adds the port to the name of a host, unless it has one.
fn with_port(name: String, port: u16) -> String {
    // An IPv6 address has colons, too, and is in brackets (RFC 3986, 3.2.2).
    let rest = name.rsplit_once(']').map_or(name.as_str(), |(_, rest)| rest);
    if rest.contains(':') { name } else { format!("{name}:{port}") }
}

/// Host and port of an absolute target.
fn authority(uri: &Uri) -> Option<&str> {
    uri.authority().map(Authority::as_str)
}

#[cfg(test)]
mod tests;
