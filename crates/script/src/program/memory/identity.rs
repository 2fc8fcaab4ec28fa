//! Authenticates a user to a server or a proxy: Basic (RFC 7617) and Digest with MD5 (RFC 7616).
//!
//! Credentials are sent only after a challenge, and then with every request.

use super::{Fields, value};
use crate::texts::hexadecimal::hexadecimal;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brunt_model::reply_policy::Credentials;
use brunt_wire::request::RequestParts;
use md5::{Digest as _, Md5};
use std::cell::Cell;
use std::fmt::Write;
use url::Position;

/// Answers of a user to challenges.
#[derive(Debug)]
pub struct Identity {
    /// For a server (401).
    server: Option<Proof>,
    /// For a proxy (407).
    proxy: Option<Proof>,
    /// Client nonce, different for each user.
    cnonce: String,
}

#[derive(Debug)]
enum Proof {
    Basic(String),
    Digest(Box<Digest>),
}

/// A Digest challenge, and the credentials that answer it.
#[derive(Debug, Default)]
struct Digest {
    user: String,
    password: String,
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    /// True if the server offers quality of protection `auth`.
    auth: bool,
    /// Number of uses of the nonce.
    count: Cell<u32>,
}

impl Identity {
    /// Creates the identity of a user without a challenge.
    pub fn new(number: u64) -> Self {
        let cnonce = md5_hex(format!("brunt {number}").as_bytes())[..16].to_owned();
        Self { server: None, proxy: None, cnonce }
    }

    /// Removes the answers to all challenges.
    pub fn clear(&mut self) {
        self.server = None;
        self.proxy = None;
    }

    /// True if the credentials give another answer to a reply of this status than the request did.
    pub fn can_answer(
        status: u16,
        fields: &Fields,
        credentials: &[Credentials],
        request: &Fields,
    ) -> bool {
        let names = if status == 407 {
            ["proxy-authenticate", "proxy-authorization"]
        } else {
            ["www-authenticate", "authorization"]
        };
        let sent = value(request, names[1]);
        let challenges = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(names[0]));
        let mut proofs = challenges.rev().filter_map(|(_, text)| proof(text, credentials));
        proofs.next().is_some_and(|proof| match proof {
            Proof::Basic(text) => sent != Some(&format!("Basic {text}")),
            Proof::Digest(_) => true,
        })
    }

    /// Stores the answer to the challenge of a reply. False if no credentials match.
    pub fn accept_challenge(
        &mut self,
        status: u16,
        fields: &Fields,
        credentials: &[Credentials],
    ) -> bool {
        let name = if status == 407 { "proxy-authenticate" } else { "www-authenticate" };
        let challenges = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let Some(proof) = challenges.rev().find_map(|(_, text)| proof(text, credentials)) else {
            return false;
        };
        *(if status == 407 { &mut self.proxy } else { &mut self.server }) = Some(proof);
        true
    }

    /// Returns the header fields with the answers for a request.
    pub fn fields(&self, request: &RequestParts) -> Vec<(String, String)> {
        let proofs = [("Authorization", &self.server), ("Proxy-Authorization", &self.proxy)];
        let fields = proofs.into_iter().filter_map(|(name, proof)| Some((name, proof.as_ref()?)));
        fields
            .map(|(name, proof)| match proof {
                Proof::Basic(text) => (name.to_owned(), format!("Basic {text}")),
                Proof::Digest(digest) => (name.to_owned(), digest.answer(request, &self.cnonce)),
            })
            .collect()
    }
}

/// Answers a challenge, if there are credentials for its realm.
fn proof(challenge: &str, credentials: &[Credentials]) -> Option<Proof> {
    let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
    let parameters = parameters(rest);
    let realm = parameter(&parameters, "realm").unwrap_or_default();
    // Credentials for this realm come before those for any realm.
    let of_realm = credentials.iter().find(|one| one.realm.as_deref() == Some(&realm));
    let account = of_realm.or_else(|| credentials.iter().find(|one| one.realm.is_none()))?;
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Proof::Basic(
            STANDARD.encode(format!("{}:{}", account.user, account.password)),
        ));
    }
    let algorithm = parameter(&parameters, "algorithm");
    let is_supported = algorithm
        .as_deref()
        .is_none_or(|name| ["md5", "md5-sess"].contains(&&*name.to_ascii_lowercase()));
    (scheme.eq_ignore_ascii_case("digest") && is_supported).then(|| {
        Proof::Digest(Box::new(Digest {
            user: account.user.clone(),
            password: account.password.clone(),
            realm,
            nonce: parameter(&parameters, "nonce").unwrap_or_default(),
            opaque: parameter(&parameters, "opaque"),
            algorithm,
            auth: parameter(&parameters, "qop")
                .is_some_and(|qop| qop.split(',').any(|one| one.trim() == "auth")),
            count: Cell::new(0),
        }))
    })
}

fn parameter(parameters: &[(String, String)], name: &str) -> Option<String> {
    parameters.iter().find(|parameter| parameter.0 == name).map(|parameter| parameter.1.clone())
}

impl Digest {
    fn answer(&self, request: &RequestParts, cnonce: &str) -> String {
        let Self { user, realm, nonce, .. } = self;
        let uri = &request.url[Position::BeforePath..];
        self.count.set(self.count.get() + 1);
        let count = format!("{:08x}", self.count.get());
        let response = self.response(&request.method, uri, &count, cnonce);
        let mut text = format!(
            "Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{uri}\""
        );
        // MD5 is the default (RFC 7616, 3.3); Apache HttpClient names it, too.
        let _ = write!(text, ", algorithm={}", self.algorithm.as_deref().unwrap_or("MD5"));
        let _ = write!(text, ", response=\"{response}\"");
        if let Some(opaque) = &self.opaque {
            let _ = write!(text, ", opaque=\"{opaque}\"");
        }
        if self.auth {
            let _ = write!(text, ", qop=auth, nc={count}, cnonce=\"{cnonce}\"");
        }
        text
    }

    fn response(&self, method: &str, uri: &str, count: &str, cnonce: &str) -> String {
        let Self { user, password, realm, nonce, .. } = self;
        let mut secret = md5_hex(format!("{user}:{realm}:{password}").as_bytes());
        // The session key of RFC 7616, 3.4.2.
        if self.algorithm.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("md5-sess")) {
            secret = md5_hex(format!("{secret}:{nonce}:{cnonce}").as_bytes());
        }
        // A2 of RFC 7616, 3.4.3.
        let request = md5_hex(format!("{method}:{uri}").as_bytes());
        let middle =
            if self.auth { format!("{nonce}:{count}:{cnonce}:auth") } else { nonce.clone() };
        md5_hex(format!("{secret}:{middle}:{request}").as_bytes())
    }
}

/// Parses `name=value, name="value"`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut parameters = Vec::new();
    let mut rest = text.trim();
    while let Some((name, remainder)) = rest.split_once('=') {
        let remainder = remainder.trim_start();
        let (value, after) = match remainder.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => remainder.split_once(',').unwrap_or((remainder, "")),
        };
        parameters.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        rest = after.trim_start_matches([',', ' ']);
    }
    parameters
}

fn md5_hex(bytes: &[u8]) -> String {
    hexadecimal(&Md5::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::Body;
    use brunt_wire::request::parse_url;
    use std::rc::Rc;

    /// The example of RFC 2617 section 3.5.
    #[test]
    fn a_digest_equals_that_of_the_rfc() {
        let digest = Digest {
            user: "Mufasa".into(),
            password: "Circle Of Life".into(),
            realm: "testrealm@host.com".into(),
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093".into(),
            auth: true,
            ..Digest::default()
        };
        let response = digest.response("GET", "/dir/index.html", "00000001", "0a4f113b");
        assert_eq!(response, "6629fae49393a05397450978507c4ef1");
    }

    #[test]
    fn challenges_are_parsed_and_realms_distinguished() {
        let one = |realm: Option<&str>, user: &str| Credentials {
            realm: realm.map(str::to_owned),
            user: user.into(),
            password: "p".into(),
        };
        let credentials = [one(None, "any"), one(Some("zone, a"), "zoe")];
        let mut identity = Identity::new(0);
        let url = Rc::new(parse_url("http://h/x").unwrap());
        let (method, headers) = ("GET".to_owned(), Vec::new());
        let request =
            RequestParts { method, url, headers, body: Body::None, verbatim: None, awaited: None };
        let mut answer = |status: u16, name: &str, text: &str| {
            let is_accepted = identity.accept_challenge(
                status,
                &[(name.to_owned(), text.to_owned())],
                &credentials,
            );
            let fields = identity.fields(&request);
            fields
                .last()
                .filter(|_| is_accepted)
                .map(|(name, value)| format!("{name}: {value}"))
                .unwrap_or_default()
        };
        assert_eq!(
            answer(401, "WWW-Authenticate", "Basic realm=\"else\""),
            "Authorization: Basic YW55OnA="
        );
        assert_eq!(
            answer(401, "WWW-Authenticate", "basic realm=\"zone, a\""),
            "Authorization: Basic em9lOnA="
        );
        assert_eq!(answer(401, "WWW-Authenticate", "NTLM"), "");
        assert_eq!(
            answer(407, "Proxy-Authenticate", "Basic realm=x"),
            "Proxy-Authorization: Basic YW55OnA="
        );
        let digest = answer(
            401,
            "WWW-Authenticate",
            "Digest realm=r, nonce=\"n\", qop=\"auth-int,auth\", opaque=o",
        );
        assert!(digest.starts_with("Proxy-Authorization"), "{digest}");
        let digest = identity.fields(&request)[0].1.clone();
        assert!(
            digest.starts_with(
                "Digest username=\"any\", realm=\"r\", nonce=\"n\", uri=\"/x\", algorithm=MD5, response=\""
            ),
            "{digest}"
        );
        assert!(digest.contains(", opaque=\"o\", qop=auth, nc=00000002, cnonce=\""), "{digest}");
    }
}
