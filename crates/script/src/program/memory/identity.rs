//! Who a user is, where a server or a proxy wants to know: Basic (RFC 7617) and Digest with MD5 (RFC 7616).
//!
//! Nothing is sent before it is asked for; from then on it goes with every request.

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

/// Who a user is.
#[derive(Debug)]
pub struct Identity {
    /// For a server (401) and for a proxy (407).
    server: Option<Proof>,
    proxy: Option<Proof>,
    /// Random enough, and different for each user.
    cnonce: String,
}

#[derive(Debug)]
enum Proof {
    Basic(String),
    Digest(Box<Digest>),
}

/// A challenge that is to be answered.
#[derive(Debug, Default)]
struct Digest {
    user: String,
    password: String,
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Option<String>,
    /// The server wants quality of protection `auth`.
    auth: bool,
    /// How often the nonce was used.
    count: Cell<u32>,
}

impl Identity {
    /// The user of this number, which was not asked yet.
    pub fn new(number: u64) -> Self {
        let cnonce = md5_hex(format!("brunt {number}").as_bytes())[..16].to_owned();
        Self { server: None, proxy: None, cnonce }
    }

    /// No challenge is known any more.
    pub fn forget(&mut self) {
        self.server = None;
        self.proxy = None;
    }

    /// Whether credentials answer a reply of this status otherwise than the request did.
    pub fn can_answer(status: u16, fields: &Fields, credentials: &[Credentials], request: &Fields) -> bool {
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

    /// A reply of this status wants to know who we are: whether one of the credentials says so.
    pub fn challenged(&mut self, status: u16, fields: &Fields, credentials: &[Credentials]) -> bool {
        let name = if status == 407 { "proxy-authenticate" } else { "www-authenticate" };
        let challenges = fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        let Some(proof) = challenges.rev().find_map(|(_, text)| proof(text, credentials)) else { return false };
        *(if status == 407 { &mut self.proxy } else { &mut self.server }) = Some(proof);
        true
    }

    /// The header fields of a request.
    pub fn fields(&self, request: &RequestParts) -> Vec<(String, String)> {
        let known = [("Authorization", &self.server), ("Proxy-Authorization", &self.proxy)];
        let fields = known.into_iter().filter_map(|(name, proof)| Some((name, proof.as_ref()?)));
        fields
            .map(|(name, proof)| match proof {
                Proof::Basic(text) => (name.to_owned(), format!("Basic {text}")),
                Proof::Digest(digest) => (name.to_owned(), digest.answer(request, &self.cnonce)),
            })
            .collect()
    }
}

/// The answer to a challenge, where there are credentials for its realm.
fn proof(challenge: &str, credentials: &[Credentials]) -> Option<Proof> {
    let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
    let parameters = parameters(rest);
    let parameter = |name: &str| parameters.iter().find(|p| p.0 == name).map(|p| p.1.clone());
    let realm = parameter("realm").unwrap_or_default();
    let of_realm = |c: &&Credentials| c.realm.as_deref() == Some(&realm);
    let mut known = credentials.iter();
    let who = known.clone().find(of_realm).or_else(|| known.find(|c| c.realm.is_none()))?;
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Proof::Basic(STANDARD.encode(format!("{}:{}", who.user, who.password))));
    }
    let algorithm = parameter("algorithm");
    let known = algorithm.as_deref().is_none_or(|name| ["md5", "md5-sess"].contains(&&*name.to_ascii_lowercase()));
    (scheme.eq_ignore_ascii_case("digest") && known).then(|| {
        Proof::Digest(Box::new(Digest {
            user: who.user.clone(),
            password: who.password.clone(),
            realm,
            nonce: parameter("nonce").unwrap_or_default(),
            opaque: parameter("opaque"),
            algorithm,
            auth: parameter("qop").is_some_and(|qop| qop.split(',').any(|one| one.trim() == "auth")),
            count: Cell::new(0),
        }))
    })
}

impl Digest {
    fn answer(&self, request: &RequestParts, cnonce: &str) -> String {
        let Self { user, realm, nonce, .. } = self;
        let uri = &request.url[Position::BeforePath..];
        self.count.set(self.count.get() + 1);
        let count = format!("{:08x}", self.count.get());
        let response = self.response((&request.method, uri), &count, cnonce);
        let mut text = format!("Digest username=\"{user}\", realm=\"{realm}\", nonce=\"{nonce}\", uri=\"{uri}\"");
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

    fn response(&self, (method, uri): (&str, &str), count: &str, cnonce: &str) -> String {
        let Self { user, password, realm, nonce, .. } = self;
        let mut secret = md5_hex(format!("{user}:{realm}:{password}").as_bytes());
        if self.algorithm.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("md5-sess")) {
            secret = md5_hex(format!("{secret}:{nonce}:{cnonce}").as_bytes());
        }
        let what = md5_hex(format!("{method}:{uri}").as_bytes());
        let middle = if self.auth { format!("{nonce}:{count}:{cnonce}:auth") } else { nonce.clone() };
        md5_hex(format!("{secret}:{middle}:{what}").as_bytes())
    }
}

/// `name=value, name="value"`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while let Some((name, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => behind.split_once(',').unwrap_or((behind, "")),
        };
        found.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        rest = after.trim_start_matches([',', ' ']);
    }
    found
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
    fn a_digest_is_that_of_the_rfc() {
        let digest = Digest {
            user: "Mufasa".into(),
            password: "Circle Of Life".into(),
            realm: "testrealm@host.com".into(),
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093".into(),
            auth: true,
            ..Digest::default()
        };
        let response = digest.response(("GET", "/dir/index.html"), "00000001", "0a4f113b");
        assert_eq!(response, "6629fae49393a05397450978507c4ef1");
    }

    #[test]
    fn challenges_are_read_and_realms_told_apart() {
        let one = |realm: Option<&str>, user: &str| Credentials {
            realm: realm.map(str::to_owned),
            user: user.into(),
            password: "p".into(),
        };
        let credentials = [one(None, "any"), one(Some("zone, a"), "zoe")];
        let mut identity = Identity::new(0);
        let url = Rc::new(parse_url("http://h/x").unwrap());
        let (method, headers) = ("GET".to_owned(), Vec::new());
        let request = RequestParts { method, url, headers, body: Body::None, verbatim: None, awaited: None };
        let mut answer = |status: u16, name: &str, text: &str| {
            let known = identity.challenged(status, &[(name.to_owned(), text.to_owned())], &credentials);
            let fields = identity.fields(&request);
            fields.last().filter(|_| known).map(|(name, value)| format!("{name}: {value}")).unwrap_or_default()
        };
        assert_eq!(answer(401, "WWW-Authenticate", "Basic realm=\"else\""), "Authorization: Basic YW55OnA=");
        assert_eq!(answer(401, "WWW-Authenticate", "basic realm=\"zone, a\""), "Authorization: Basic em9lOnA=");
        assert_eq!(answer(401, "WWW-Authenticate", "NTLM"), "");
        assert_eq!(answer(407, "Proxy-Authenticate", "Basic realm=x"), "Proxy-Authorization: Basic YW55OnA=");
        let digest = answer(401, "WWW-Authenticate", "Digest realm=r, nonce=\"n\", qop=\"auth-int,auth\", opaque=o");
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
