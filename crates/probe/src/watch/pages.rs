//! Reads status pages of servers over HTTP repeatedly, each time on a new connection.
//!
//! An idle connection would occupy a worker of Apache or php-fpm between two readings. The reader
//! waits for the reply: if all workers are busy, the request for the page waits among the others,
//! and the reply arrives late with the relevant values.
//!
//! This is no client for loads. [`KINDS`] has a row for each kind of page: the addition to its
//! address, and its parser.

mod apache;
mod haproxy;
mod nginx;
mod php_fpm;
mod prometheus;
#[cfg(test)]
mod tests;
mod tomcat;

use super::ProbeError;
use crate::sources::Values;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use brunt_model::Probed;
use percent_encoding::percent_decode_str;
use rustls::crypto::aws_lc_rs;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use url::Url;

/// Timeout of a request for a page.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a page, in bytes.
const MAX_LENGTH: u64 = 16 << 20;

/// Parses a page into values. None if it has another content.
type Parse = Box<dyn FnMut(&str) -> Option<Values> + Send>;

/// A kind of page.
struct Kind {
    /// Returns the address and the parser, if the probe is of this kind.
    open: fn(&Probed) -> Option<(&str, Parse)>,
    /// Completes the address.
    complete: fn(&mut Url),
    /// The expected content, and how to configure the server for it.
    expected: &'static str,
}

/// All kinds of pages.
const KINDS: &[Kind] = &[
    Kind {
        open: nginx::open,
        complete: |_| (),
        expected: "nginx's status page (`location = /status { stub_status; }`)",
    },
    Kind {
        open: apache::open,
        complete: |url| with_query(url, "auto"),
        expected: "Apache's status page (`SetHandler server-status`, and an address that ends in `?auto`)",
    },
    Kind {
        open: php_fpm::open,
        complete: |url| with_query(url, "json"),
        expected: "a php-fpm status page as JSON (`pm.status_path` in the pool, and an address that ends in `?json`)",
    },
    Kind {
        open: tomcat::open,
        complete: |url| with_query(url, "XML=true"),
        expected: "Tomcat's status as XML (`/manager/status?XML=true`, a user with the role manager-status)",
    },
    Kind {
        open: haproxy::open,
        complete: haproxy::complete,
        expected: "HAProxy's statistics as CSV (`stats enable`, and an address that ends in `;csv`)",
    },
    Kind {
        open: prometheus::open,
        complete: |_| (),
        expected: "a page in Prometheus' text format",
    },
];

/// A status page of a server.
pub(super) struct Page {
    kind: &'static Kind,
    /// Without user and password, because error messages contain it.
    url: Result<Url, ProbeError>,
    authorization: Option<String>,
    parse: Parse,
    agent: Agent,
}

impl Page {
    /// Prepares the page of a probe. None if the probe reads something else.
    pub fn open(probed: &Probed) -> Option<Self> {
        let (kind, (url, parse)) =
            KINDS.iter().find_map(|kind| Some((kind, (kind.open)(probed)?)))?;
        let (url, authorization) = address(url, kind);
        let uses_tls = url.as_ref().is_ok_and(|url| url.scheme() == "https");
        // Reading the system's certificates takes long, and only https needs them.
        Some(Self { kind, url, authorization, parse, agent: agent(uses_tls.then(tls_config)) })
    }

    /// Requests the page and parses it.
    pub fn read(&mut self) -> Result<Values, ProbeError> {
        let url = self.url.clone()?;
        let text = self.text(&url)?;
        let values = (self.parse)(&text).filter(|values| !values.0.is_empty());
        values.ok_or(ProbeError::Unknown { url: url.into(), expected: self.kind.expected })
    }

    fn text(&self, url: &Url) -> Result<String, ProbeError> {
        let mut request = self.agent.get(url.as_str()).header("Connection", "close");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut reply = request.call().map_err(|error| unreachable_page(url, &error))?;
        let status = reply.status().as_u16();
        if status != 200 {
            return Err(ProbeError::Status { url: url.to_string(), status, hint: hint(status) });
        }
        // A wrong address may lead to a download of any length.
        let body = reply.body_mut().with_config().limit(MAX_LENGTH).read_to_vec();
        let body = body.map_err(|error| unreachable_page(url, &error))?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

fn unreachable_page(url: &Url, error: &ureq::Error) -> ProbeError {
    ProbeError::Unreachable { url: url.to_string(), why: error.to_string() }
}

/// Returns what to check if a page has another status than 200.
fn hint(status: u16) -> &'static str {
    match status {
        401 => "user and password are required: write http://USER:PASSWORD@HOST/PATH",
        403 => "the server does not let this machine see it",
        404 => "no such page",
        502..=504 => "the upstream of that server does not answer",
        _ => "a status page answers 200",
    }
}

/// Returns the address without user and password, and the header field that contains them.
fn address(url: &str, kind: &Kind) -> (Result<Url, ProbeError>, Option<String>) {
    let parsed = Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut parsed) = parsed else {
        return (Err(ProbeError::Url { url: without_user(url) }), None);
    };
    let user = percent_decoded(parsed.username());
    let password = parsed.password().map(percent_decoded);
    let has_credentials = !user.is_empty() || password.is_some();
    let credentials = BASE64_STANDARD.encode(format!("{user}:{}", password.unwrap_or_default()));
    // These fail only if a URL has no host.
    let _ = (parsed.set_username(""), parsed.set_password(None));
    (kind.complete)(&mut parsed);
    (Ok(parsed), has_credentials.then(|| format!("Basic {credentials}")))
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Removes everything before an `@`, which may contain a password.
fn without_user(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned()
}

/// Adds a word to the query, unless the query has this name.
fn with_query(url: &mut Url, word: &str) {
    let name = word.split('=').next().unwrap_or(word);
    if url.query_pairs().any(|(key, _)| key == name) {
        return;
    }
    let query = url
        .query()
        .filter(|q| !q.is_empty())
        .map_or(word.to_owned(), |query| format!("{query}&{word}"));
    url.set_query(Some(&query));
}

fn agent(tls: Option<TlsConfig>) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        // The status gets a message of its own, with a hint.
        .http_status_as_error(false)
        .max_idle_connections(0)
        // A redirect shows that the address is wrong.
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("brunt/", env!("CARGO_PKG_VERSION")));
    config.tls_config(tls.unwrap_or_default()).build().into()
}

/// Returns a configuration with the system's root certificates, and the same cryptography
/// as for a load.
fn tls_config() -> TlsConfig {
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> =
        roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build()
}
