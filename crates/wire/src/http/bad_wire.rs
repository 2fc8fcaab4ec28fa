//! What no transport can be made of.

use crate::request::BadRequest;
use crate::{h3, tls};
use brunt_model::plan::HttpVersion;
use brunt_model::{Plan, Request};

/// Why no transport can be made of a plan.
#[derive(Debug, thiserror::Error)]
pub enum BadWire {
    /// Certificates or keys.
    #[error(transparent)]
    Tls(#[from] tls::BadTls),
    /// The pattern for bodies.
    #[error("--expect-body: {0}")]
    Pattern(#[from] regex::Error),
    /// The proxy's URL.
    #[error("proxy: {0}")]
    Proxy(#[from] BadRequest),
    /// Several requests at once on a connection.
    #[error(
        "--streams is `{0}`, but an HTTP/1 connection carries one request at a time; write --http 2 or 3, or leave it out and \
         raise the number of connections (-c)"
    )]
    Streams(u32),
    /// What this version of HTTP cannot do.
    #[error("{0} works with HTTP/1.0 and 1.1 only; leave it out, or write --http 1.1")]
    Http1Only(&'static str),
    /// What WebSockets over HTTP/2 cannot do.
    #[error("{0} does not work with WebSockets over HTTP/2; leave it out, or write --http 1.1")]
    NotWebSocket(&'static str),
    /// What HTTP/3 cannot do.
    #[error("{0} does not work with HTTP/3; leave it out, or write --http 1.1 or 2")]
    NotHttp3(&'static str),
    /// An upgrade of what is no HTTP/2, or encrypted.
    #[error("--h2c-upgrade is for URLs of http:// and --http 2; leave it out")]
    Upgrade,
    /// A program without HTTP/3.
    #[error(
        "this brunt was built without HTTP/3; released programs have it, and `cargo build --release -p brunt-cli` builds one"
    )]
    NoHttp3,
}

/// Refuses what the version of HTTP that a plan wants cannot do.
///
/// # Errors
///
/// [`BadWire`], with the setting.
pub(super) fn check(plan: &Plan) -> Result<(), BadWire> {
    let settings = &plan.connection;
    let is_http1 = !settings.http.has_streams();
    if settings.h2c_upgrade && (settings.http != HttpVersion::V2 || plan.requests().any(Request::is_encrypted)) {
        return Err(BadWire::Upgrade);
    }
    if is_http1 && settings.streams != 1 {
        return Err(BadWire::Streams(settings.streams));
    }
    let has_websocket = plan.requests().any(Request::is_websocket);
    if !is_http1 && has_websocket && settings.connections_per_origin > 1 {
        return Err(BadWire::NotWebSocket("--connections-per-origin"));
    }
    if !is_http1 && settings.receive_rate.is_some() {
        return Err(BadWire::Http1Only("--receive-rate"));
    }
    if settings.http == HttpVersion::V3 {
        return check_http3(plan);
    }
    let asks_proxy = |request: &Request| !request.is_encrypted() && !request.is_websocket();
    if !is_http1 && settings.proxy.is_some() && plan.requests().any(asks_proxy) {
        return Err(BadWire::Http1Only("--proxy for URLs of http://"));
    }
    Ok(())
}

fn check_http3(plan: &Plan) -> Result<(), BadWire> {
    let settings = &plan.connection;
    let refused = [
        (settings.proxy.is_some(), "--proxy"),
        (settings.unix_socket.is_some(), "--unix-socket"),
        (settings.resolve_all.is_some_and(|all| !all.tls), "--resolve-all without `,tls`"),
        (plan.requests().any(|r| r.url.starts_with("http:")), "a URL of http://"),
        (plan.requests().any(Request::is_websocket), "WebSocket (ws:// and wss://)"),
    ];
    match refused.iter().find(|(is_set, _)| *is_set) {
        Some((_, name)) => Err(BadWire::NotHttp3(name)),
        None if !h3::IS_BUILT => Err(BadWire::NoHttp3),
        None => Ok(()),
    }
}
