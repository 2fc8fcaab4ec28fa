//! Rejects plans that no transport can carry out.

use super::h3;
use crate::request::{BadRequest, MIGRATE};
use crate::tls;
use brunt_model::plan::HttpVersion;
use brunt_model::{Plan, Request};

/// Why a plan cannot be carried out over a network.
#[derive(Debug, thiserror::Error)]
pub enum BadWire {
    /// Certificates or keys cannot be used.
    #[error(transparent)]
    Tls(#[from] tls::BadTls),
    /// The pattern for bodies is no regular expression.
    #[error("--expect-body: {0}")]
    Pattern(#[from] regex::Error),
    /// The URL of the proxy is invalid.
    #[error("proxy: {0}")]
    Proxy(#[from] BadRequest),
    /// HTTP/1 with several requests at once on a connection.
    #[error(
        "--streams is `{0}`, but an HTTP/1 connection carries one request at a time; write --http 2 or 3, or leave it out and \
         raise the number of connections (-c)"
    )]
    Streams(u32),
    /// A setting that only HTTP/1.0 and 1.1 support.
    #[error("{0} works with HTTP/1.0 and 1.1 only; leave it out, or write --http 1.1")]
    Http1Only(&'static str),
    /// A setting that only HTTP/3 supports.
    #[error("{0} works with HTTP/3 only; leave it out, or write --http 3")]
    Http3Only(&'static str),
    /// A setting that `WebSocket`s do not support.
    #[error("{0} does not work with WebSockets (ws:// and wss://); leave it out")]
    NotWebSocket(&'static str),
    /// A setting that `WebSocket`s over HTTP/2 do not support.
    #[error("{0} does not work with WebSockets over HTTP/2; leave it out, or write --http 1.1")]
    NotWebSocketOverHttp2(&'static str),
    /// A WebSocket over HTTP/1.0.
    #[error("WebSockets (ws:// and wss://) need HTTP/1.1 or HTTP/2; write --http 1.1")]
    WebSocketOverHttp10,
    /// A setting that HTTP/3 does not support.
    #[error("{0} does not work with HTTP/3; leave it out, or write --http 1.1 or 2")]
    NotHttp3(&'static str),
    /// A migration on a connection that is not QUIC.
    #[error(
        "MIGRATE moves a connection of HTTP/3 to another local port; write --http 3, or another method"
    )]
    Migration,
    /// An upgrade to another version than HTTP/2, or on an encrypted connection.
    #[error("--h2c-upgrade is for HTTP/2 without TLS (URLs of http:// and ws://); leave it out")]
    Upgrade,
    /// HTTP/3 in a build without it.
    #[error(
        "this brunt was built without HTTP/3; released programs have it, and `cargo build --release -p brunt-cli` builds one"
    )]
    NoHttp3,
}

/// Refuses settings that the plan's HTTP version does not support.
///
/// # Errors
///
/// [`BadWire`] with the name of the setting.
pub(super) fn check(plan: &Plan) -> Result<(), BadWire> {
    let settings = &plan.connection;
    if settings.h2c_upgrade
        && (settings.http != HttpVersion::V2
            || plan
                .requests()
                .any(|request| settings.resolve_all.map_or(request.is_encrypted(), |all| all.tls)))
    {
        return Err(BadWire::Upgrade);
    }
    if settings.http != HttpVersion::V3 && plan.requests().any(|request| request.method == MIGRATE)
    {
        return Err(BadWire::Migration);
    }
    if settings.tls.early_data && settings.http != HttpVersion::V3 {
        return Err(BadWire::Http3Only("--early-data"));
    }
    match settings.http {
        HttpVersion::V1_0 | HttpVersion::V1_1 => check_http1(plan),
        _ if settings.receive_rate.is_some() => Err(BadWire::Http1Only("--receive-rate")),
        HttpVersion::V2 => check_http2(plan),
        HttpVersion::V3 => check_http3(plan),
    }
}

fn check_http1(plan: &Plan) -> Result<(), BadWire> {
    let settings = &plan.connection;
    let has_websocket = plan.requests().any(Request::is_websocket);
    match settings.http {
        _ if settings.streams != 1 => Err(BadWire::Streams(settings.streams)),
        HttpVersion::V1_0 if has_websocket => Err(BadWire::WebSocketOverHttp10),
        _ if has_websocket && settings.receive_rate.is_some() => {
            Err(BadWire::NotWebSocket("--receive-rate"))
        }
        _ => Ok(()),
    }
}

fn check_http2(plan: &Plan) -> Result<(), BadWire> {
    let settings = &plan.connection;
    // An open WebSocket belongs to its connection, so its lane must stay on that connection.
    if settings.connections_per_origin > 1 && plan.requests().any(Request::is_websocket) {
        return Err(BadWire::NotWebSocketOverHttp2("--connections-per-origin"));
    }
    if settings.proxy.is_some()
        && plan.requests().any(|request| !request.is_encrypted() && !request.is_websocket())
    {
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
