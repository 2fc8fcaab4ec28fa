//! Client of a team's studio: sends and fetches runs, and holds leases.

use crate::api::types::{ErrorReply, PushReply};
use crate::leases::{HeldLease, LeaseProblem, LeaseRequest};
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use url::{Host, Url};

/// Maximum time until a connection is there, of a short request, and of an archive.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(30);
const TRANSFER_TIMEOUT: Duration = Duration::from_mins(15);

/// Maximum size of a short reply.
const MAX_REPLY_BYTES: u64 = 1 << 20;

/// A team's studio, as a program sees it.
pub struct TeamServer {
    url: Url,
    authorization: String,
    agent: Agent,
}

/// Reason why a request to a team's studio has failed.
#[derive(Debug, thiserror::Error)]
pub enum TeamError {
    /// The address is malformed, or not protected.
    #[error(
        "`{url}`: {problem}; write the address of a studio, such as https://studio.example:7878"
    )]
    Address {
        /// The address.
        url: String,
        /// Description of the problem.
        problem: &'static str,
    },
    /// The token has other characters.
    #[error(
        "the token of the studio is malformed; set it to the line that `brunt studio token NAME run` prints first"
    )]
    Token,
    /// The certificates of the authority cannot be read.
    #[error("{path}: {problem}; write a PEM file with the certificate of an authority")]
    Certificates {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// The studio cannot be reached.
    #[error("{url}: {problem}")]
    Unreachable {
        /// Address of the studio.
        url: String,
        /// Description of the problem.
        problem: String,
    },
    /// The studio refuses the request.
    #[error("{url}: {text}")]
    Refused {
        /// Address of the studio.
        url: String,
        /// Status of the reply.
        status: u16,
        /// Reason, as the studio has written it.
        text: String,
    },
    /// A file of this machine cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl TeamError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |source| Self::File { path, source }
    }

    /// True if another lease has one of the servers, or another item the id.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { status: 409, .. })
    }

    /// True if the studio does not know the object of the request.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }
}

impl From<TeamError> for LeaseProblem {
    fn from(error: TeamError) -> Self {
        Self {
            is_held: error.is_conflict(),
            is_unknown: error.is_unknown(),
            text: error.to_string(),
        }
    }
}

impl TeamServer {
    /// Prepares requests to a studio. Without certificates of an authority, those of the system are trusted.
    ///
    /// # Errors
    ///
    /// The address or the token is malformed, or the certificates cannot be read.
    pub fn new(url: &str, token: &str, authority: Option<&Path>) -> Result<Self, TeamError> {
        let address = address(url)?;
        // A line break would end the header field (RFC 9112, 5).
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_token {
            return Err(TeamError::Token);
        }
        let uses_tls = address.scheme() == "https";
        let tls = uses_tls.then(|| tls_config(authority)).transpose()?;
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            // ureq drops the content of an error otherwise, and it has the reason of the studio.
            .http_status_as_error(false)
            // A redirect would send the token elsewhere.
            .max_redirects(0)
            .user_agent(concat!("brunt/", env!("CARGO_PKG_VERSION")));
        // A proxy would see the token of a connection without TLS.
        let config = if uses_tls { config } else { config.proxy(None) };
        let agent = config.tls_config(tls.unwrap_or_default()).build().into();
        Ok(Self { url: address, authorization: format!("Bearer {token}"), agent })
    }

    /// Address of the studio, without a path.
    pub fn address(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Sends the archive of a run or an experiment.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the studio refuses it.
    pub fn push(&self, archive: &Path) -> Result<PushReply, TeamError> {
        let file = File::open(archive).map_err(TeamError::file(archive))?;
        let request = self.agent.post(self.url_of(&["api", "runs"]).as_str());
        let request = request
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/octet-stream")
            // A refusal comes before the archive is sent, and is not lost in a broken connection.
            .header("Expect", "100-continue");
        let request = request.config().timeout_global(Some(TRANSFER_TIMEOUT)).build();
        self.json(request.send(&file))
    }

    /// Fetches the archive of a run or an experiment, and writes it to a file of at most this size.
    ///
    /// # Errors
    ///
    /// There is no such item, the archive is larger, or the file cannot be written.
    pub fn pull(&self, id: &str, to: &Path, max_bytes: u64) -> Result<(), TeamError> {
        let url = self.url_of(&["api", "runs", id, "archive"]);
        let request = self.agent.get(url.as_str()).header("Authorization", &self.authorization);
        let request = request.config().timeout_global(Some(TRANSFER_TIMEOUT)).build();
        let mut reply = self.checked(request.call())?;
        let mut file = File::create(to).map_err(TeamError::file(to))?;
        let body = reply.body_mut().with_config().limit(max_bytes);
        io::copy(&mut body.reader(), &mut file).map_err(|error| self.unreachable(&error))?;
        Ok(())
    }

    /// Takes a lease.
    ///
    /// # Errors
    ///
    /// Another lease has one of the servers, or the studio cannot be reached.
    pub fn take_lease(&self, request: &LeaseRequest) -> Result<HeldLease, TeamError> {
        self.post(&["api", "leases"], request)
    }

    /// Renews a lease.
    ///
    /// # Errors
    ///
    /// The lease has ended, or the studio cannot be reached.
    pub fn renew_lease(&self, key: &str) -> Result<HeldLease, TeamError> {
        self.post(&["api", "leases", key], &())
    }

    /// Releases a lease.
    ///
    /// # Errors
    ///
    /// The lease has ended, or the studio cannot be reached.
    pub fn release_lease(&self, key: &str) -> Result<(), TeamError> {
        let url = self.url_of(&["api", "leases", key]);
        let request = self.agent.delete(url.as_str()).header("Authorization", &self.authorization);
        let request = request.config().timeout_global(Some(TIMEOUT)).build();
        self.checked(request.call()).map(drop)
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        content: &impl Serialize,
    ) -> Result<T, TeamError> {
        let text = serde_json::to_string(content).unwrap_or_default();
        let request = self.agent.post(self.url_of(path).as_str());
        let request = request
            .header("Authorization", &self.authorization)
            .header("Content-Type", "application/json");
        let request = request.config().timeout_global(Some(TIMEOUT)).build();
        self.json(request.send(text))
    }

    /// Returns the JSON of a reply.
    fn json<T: DeserializeOwned>(
        &self,
        reply: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<T, TeamError> {
        let mut reply = self.checked(reply)?;
        let text = read_text(&mut reply).map_err(|error| self.unreachable(&error))?;
        let problem = "the reply is not that of a studio of this version";
        serde_json::from_str(&text).map_err(|_| self.unreachable(&problem))
    }

    /// Returns a reply without an error.
    fn checked(
        &self,
        reply: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<Response<ureq::Body>, TeamError> {
        let mut reply = reply.map_err(|error| self.unreachable(&error))?;
        if reply.status().is_success() {
            return Ok(reply);
        }
        let status = reply.status().as_u16();
        let text = read_text(&mut reply).unwrap_or_default();
        let error = serde_json::from_str(&text).map(|ErrorReply { error }| error);
        let text = error.unwrap_or_else(|_| {
            format!("status {status}; check that a studio with tokens has this address")
        });
        // The text is from the network, and goes to a terminal.
        // A long text of a proxy would hide the address.
        let text: String = text.chars().filter(|letter| !letter.is_control()).take(1000).collect();
        let text = text.trim_end_matches('.').to_owned();
        Err(TeamError::Refused { url: self.address().to_owned(), status, text })
    }

    fn unreachable(&self, error: &dyn std::fmt::Display) -> TeamError {
        TeamError::Unreachable { url: self.address().to_owned(), problem: error.to_string() }
    }

    fn url_of(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        // Each part is encoded, so that an id cannot become another path.
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.clear().extend(path);
        }
        url
    }
}

fn read_text(reply: &mut Response<ureq::Body>) -> Result<String, ureq::Error> {
    reply.body_mut().with_config().limit(MAX_REPLY_BYTES).read_to_string()
}

/// Checks the address of a studio. Without TLS, only this machine may get the token.
fn address(text: &str) -> Result<Url, TeamError> {
    let wrong = |problem| TeamError::Address { url: without_user(text), problem };
    let url = Url::parse(text).map_err(|_| wrong("this is no URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("a token is not written into the URL"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("the address of a studio has no path"));
    }
    let is_this_machine = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // RFC 6761, 6.3: resolvers map this name to the loopback address.
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_this_machine => Ok(url),
        "http" => Err(wrong("without TLS, others could read the token")),
        _ => Err(wrong("the scheme is not https")),
    }
}

/// Removes everything before an `@`, which may contain a password.
fn without_user(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned()
}

/// Returns a configuration that trusts an authority, or those of the system.
fn tls_config(authority: Option<&Path>) -> Result<TlsConfig, TeamError> {
    let roots = match authority {
        None => rustls_native_certs::load_native_certs().certs,
        // Only these: a public authority must not vouch for the studio of a team.
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
            let certificates: Vec<_> = certificates.map_err(|error| TeamError::Certificates {
                path: path.to_owned(),
                problem: error.to_string(),
            })?;
            certificates
        }
    };
    if let Some(path) = authority.filter(|_| roots.is_empty()) {
        let problem = "it has no certificate".to_owned();
        return Err(TeamError::Certificates { path: path.to_owned(), problem });
    }
    let roots: Vec<Certificate<'static>> =
        roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        // ureq has no cryptography in this build (feature `rustls-no-provider`).
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_over_tls_or_to_this_machine_only() {
        for url in [
            "https://studio.example:7878",
            "http://127.0.0.1:7878/",
            "http://localhost:1",
            "http://[::1]:1",
        ] {
            assert!(TeamServer::new(url, "brunt_a", None).is_ok(), "{url}");
        }
        for (url, problem) in [
            ("http://studio.example:7878", "without TLS"),
            ("http://127.0.0.1.evil.example/", "without TLS"),
            ("https://ann:secret@studio.example/", "a token is not written"),
            ("https://studio.example/runs", "no path"),
            ("ftp://studio.example/", "the scheme"),
            ("studio", "no URL"),
        ] {
            let error = TeamServer::new(url, "brunt_a", None).err().unwrap().to_string();
            assert!(error.contains(problem) && !error.contains("secret"), "{error}");
        }
        assert!(matches!(TeamServer::new("https://a", "x\r\ny", None), Err(TeamError::Token)));
    }

    #[test]
    fn an_id_stays_a_part_of_the_path() {
        let server = TeamServer::new("https://studio.example", "brunt_a", None).ok().unwrap();
        let url = server.url_of(&["api", "runs", "../../x?y", "archive"]);
        assert_eq!(url.as_str(), "https://studio.example/api/runs/..%2F..%2Fx%3Fy/archive");
    }
}
