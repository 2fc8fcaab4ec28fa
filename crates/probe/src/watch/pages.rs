//! Status pages of servers over HTTP: asked for again and again, each time on a connection of its own.
//!
//! A connection that were kept open would hold a worker of Apache's or php-fpm's between two readings. A reply is waited
//! for: where all workers are busy, the page's own request waits among the others, and comes late with what matters.
//!
//! Out of scope: a client for loads. [`KINDS`] has a row for each kind of page: what it adds to the address, and how
//! its text becomes values.

mod apache;
mod haproxy;
mod nginx;
mod php_fpm;
mod prometheus;
#[cfg(test)]
mod tests;
mod tomcat;

use super::Trouble;
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

/// For how long a page is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest page that is read.
const LONGEST: u64 = 16 << 20;

/// How a text becomes values; None where it is something else.
type Parse = Box<dyn FnMut(&str) -> Option<Values> + Send>;

/// A kind of page.
struct Kind {
    /// Its address and its parser, where this is what is probed.
    open: fn(&Probed) -> Option<(&str, Parse)>,
    /// What is added to the address where it is missing.
    complete: fn(&mut Url),
    /// What the page should be, and how the server is made to show it.
    expected: &'static str,
}

/// Every kind.
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
    Kind { open: prometheus::open, complete: |_| (), expected: "a page in Prometheus' text format" },
];

/// A page that is asked for.
pub(super) struct Page {
    kind: &'static Kind,
    /// Without user and password: this is told.
    url: Result<Url, Trouble>,
    authorization: Option<String>,
    parse: Parse,
    agent: Agent,
}

impl Page {
    /// None where something else is probed.
    pub fn of(what: &Probed) -> Option<Self> {
        let (kind, (url, parse)) = KINDS.iter().find_map(|kind| Some((kind, (kind.open)(what)?)))?;
        let (url, authorization) = address(url, kind);
        let tls = url.as_ref().is_ok_and(|url| url.scheme() == "https");
        Some(Self { kind, url, authorization, parse, agent: agent(tls.then(tls_config)) })
    }

    /// Asks for it.
    pub fn read(&mut self) -> Result<Values, Trouble> {
        let url = self.url.clone()?;
        let text = self.text(&url)?;
        let values = (self.parse)(&text).filter(|values| !values.0.is_empty());
        values.ok_or(Trouble::Unknown { url: url.into(), expected: self.kind.expected })
    }

    fn text(&self, url: &Url) -> Result<String, Trouble> {
        let unreachable = |e: ureq::Error| Trouble::Unreachable { url: url.to_string(), why: e.to_string() };
        let mut request = self.agent.get(url.as_str()).header("Connection", "close");
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut reply = request.call().map_err(unreachable)?;
        let status = reply.status().as_u16();
        if status != 200 {
            return Err(Trouble::Status { url: url.to_string(), status, hint: hint(status) });
        }
        let body = reply.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(unreachable)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// What to look at where a page answers with another status than 200.
fn hint(status: u16) -> &'static str {
    match status {
        401 => "user and password are required: write http://USER:PASSWORD@HOST/PATH",
        403 => "the server does not let this machine see it",
        404 => "no such page",
        502..=504 => "the upstream of that server does not answer",
        _ => "a status page answers 200",
    }
}

/// The address without user and password, and these as a header.
fn address(url: &str, kind: &Kind) -> (Result<Url, Trouble>, Option<String>) {
    let wrong = || Trouble::Url { url: without_user(url) };
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let Some(mut url) = parsed else { return (Err(wrong()), None) };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (user, password) = (decoded(url.username()), url.password().map(decoded));
    let known = !user.is_empty() || password.is_some();
    let both = BASE64_STANDARD.encode(format!("{user}:{}", password.unwrap_or_default()));
    // These fail only where a URL has no host.
    let _ = (url.set_username(""), url.set_password(None));
    (kind.complete)(&mut url);
    (Ok(url), known.then(|| format!("Basic {both}")))
}

/// What is before an `@` is nobody's business.
fn without_user(url: &str) -> String {
    url.rsplit_once('@').map_or(url, |(_, rest)| rest).to_owned()
}

/// Adds a word to the query where it has none of this name.
fn with_query(url: &mut Url, word: &str) {
    let name = word.split('=').next().unwrap_or(word);
    if url.query_pairs().any(|(key, _)| key == name) {
        return;
    }
    let query = url.query().filter(|q| !q.is_empty()).map_or(word.to_owned(), |query| format!("{query}&{word}"));
    url.set_query(Some(&query));
}

fn agent(tls: Option<TlsConfig>) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_idle_connections(0)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("brunt/", env!("CARGO_PKG_VERSION")));
    config.tls_config(tls.unwrap_or_default()).build().into()
}

/// The system's own roots, and the same cryptography as for a load.
fn tls_config() -> TlsConfig {
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<Certificate<'static>> = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build()
}
