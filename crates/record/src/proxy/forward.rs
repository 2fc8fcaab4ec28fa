//! Forwards requests to servers, and records them.

use super::body::RecordedBody;
use super::fields::{
    VIA_VALUE, has_passed, is_socket, join_cookies, prepare, remove_connection_fields,
};
use super::socket;
use super::traffic::{BodyPart, SharedExchange, Traffic, field_texts};
use super::welcome::typed;
use super::{ProxyOptions, ReplyBody};
use crate::error::RecordError;
use brunt_model::plan::{HttpVersion, TlsSettings};
use brunt_wire::tls::TlsClients;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{HOST, PROXY_AUTHORIZATION, VIA};
use hyper::http::uri::{Authority, Parts, PathAndQuery, Scheme};
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum time to connect to a server.
const CONNECT_TIME: Duration = Duration::from_secs(30);

type ServerClient = Client<HttpsConnector<HttpConnector>, RecordedBody>;

/// Connections to servers, by protocol: each request is sent as its client sent it, if the server permits.
pub(super) struct Servers {
    http1: ServerClient,
    /// HTTP/2 or HTTP/1.1 over TLS.
    negotiated: ServerClient,
    /// HTTP/2 without TLS.
    cleartext_http2: ServerClient,
}

/// Server of a request.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) scheme: Scheme,
    pub(super) authority: Authority,
}

impl Target {
    /// True if this host and port name the same server.
    pub(super) fn is_same(&self, other: &str) -> bool {
        let Ok(other) = other.parse::<Authority>() else { return false };
        self.authority.host().eq_ignore_ascii_case(other.host())
            && self.port() == other.port_u16().unwrap_or(self.default_port())
    }

    /// Port of the server.
    pub(super) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(self.default_port())
    }

    fn default_port(&self) -> u16 {
        if self.scheme == Scheme::HTTPS { 443 } else { 80 }
    }

    /// The URL of a request, without the default port.
    fn uri(&self, path: PathAndQuery) -> Option<Uri> {
        let port = format!(":{}", self.default_port());
        let authority = self.authority.as_str();
        let authority = authority.strip_suffix(&port).unwrap_or(authority).parse().ok()?;
        let mut parts = Parts::default();
        parts.scheme = Some(self.scheme.clone());
        parts.authority = Some(authority);
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }
}

impl Servers {
    /// Reads the certificates that servers are verified with.
    pub(super) fn new(options: &ProxyOptions) -> Result<Self, RecordError> {
        let settings = TlsSettings {
            cacert: options.cacert.clone(),
            insecure: options.accepts_any_certificate,
            ..TlsSettings::default()
        };
        let clients = TlsClients::new(&settings, HttpVersion::V1_1)
            .map_err(|error| RecordError::Tls(reasons(&error)))?;
        let mut config = (**clients.config(0)).clone();
        // The connector sets these by its protocols.
        config.alpn_protocols = Vec::new();
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIME));
        let mut client = Client::builder(TokioExecutor::new());
        client.pool_timer(TokioTimer::new()).timer(TokioTimer::new());
        client.http1_preserve_header_case(true);
        let http1 = HttpsConnectorBuilder::new()
            .with_tls_config(config.clone())
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector.clone());
        let negotiated = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        let http1 = client.build(http1);
        let cleartext_http2 = client.clone().http2_only(true).build(negotiated.clone());
        Ok(Self { http1, negotiated: client.build(negotiated), cleartext_http2 })
    }

    fn client(&self, version: Version, scheme: &Scheme) -> &ServerClient {
        match (version, scheme == &Scheme::HTTPS) {
            (Version::HTTP_2, true) => &self.negotiated,
            (Version::HTTP_2, false) => &self.cleartext_http2,
            _ => &self.http1,
        }
    }

    /// Forwards a request, and records it with its reply. A WebSocket keeps the place of its client.
    pub(super) async fn forward(
        &self,
        request: Request<Incoming>,
        target: &Target,
        traffic: &Traffic,
        place: &Arc<OwnedSemaphorePermit>,
    ) -> Response<ReplyBody> {
        let version = request.version();
        if has_passed(request.headers()) {
            return refusal(
                StatusCode::LOOP_DETECTED,
                "The request has passed this proxy already.",
            );
        }
        let path = request.uri().path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let Some(uri) = target.uri(path) else {
            return refusal(StatusCode::BAD_REQUEST, "The target of the request is malformed.");
        };
        let (mut head, body) = request.into_parts();
        join_cookies(&mut head.headers);
        let is_socket = is_socket(&head.method, &head.headers);
        let mut recorded_fields = head.headers.clone();
        recorded_fields.remove(PROXY_AUTHORIZATION);
        let protocol = protocol(version);
        let exchange = traffic.begin(
            head.method.as_str(),
            uri.to_string(),
            field_texts(&recorded_fields),
            protocol,
        );
        prepare(&mut head.headers, is_socket);
        // The field must name the same server as the URL.
        if head.uri.authority().is_some() {
            head.headers.remove(HOST);
        }
        head.uri = uri;
        // The client library chooses the version of the connection.
        head.version = Version::HTTP_11;
        let client_upgrade = head.extensions.remove::<OnUpgrade>();
        let body = RecordedBody::new(body, exchange.clone(), BodyPart::Request);
        let sent = self.client(version, &target.scheme).request(Request::from_parts(head, body));
        match sent.await {
            Ok(reply) => {
                let upgrade = client_upgrade.filter(|_| is_socket);
                let upgrade = upgrade.map(|client| (client, Arc::clone(place)));
                answer(reply, exchange, upgrade, protocol)
            }
            Err(error) => {
                let mut reason = reasons(&error);
                if has_wrong_certificate(&error) {
                    reason.push_str("; add --cacert FILE, or -k to accept any certificate");
                }
                exchange.fail(&reason);
                let host = target.authority.host();
                traffic.notify(format!("no reply from {host}: {reason}"));
                refusal(StatusCode::BAD_GATEWAY, &format!("No reply from {host}: {reason}"))
            }
        }
    }
}

/// Records the reply, and returns it for the client, which may have asked for a WebSocket.
fn answer(
    mut reply: Response<Incoming>,
    exchange: SharedExchange,
    upgrade: Option<(OnUpgrade, Arc<OwnedSemaphorePermit>)>,
    protocol: &str,
) -> Response<ReplyBody> {
    exchange.set_reply(reply.status().as_u16(), protocol, reply.headers());
    let switches = reply.status() == StatusCode::SWITCHING_PROTOCOLS;
    if let (true, Some((client, place))) = (switches, upgrade) {
        exchange.set_socket();
        let server = hyper::upgrade::on(&mut reply);
        tokio::spawn(async move {
            if let (Ok(client), Ok(server)) = tokio::join!(client, server) {
                socket::relay(client, server, exchange).await;
            }
            drop(place);
        });
        reply.headers_mut().append(VIA, VIA_VALUE);
        return reply.map(BodyExt::boxed_unsync);
    }
    if switches {
        exchange.fail("the server switched to another protocol without a request");
        return refusal(StatusCode::BAD_GATEWAY, "The server switched to another protocol.");
    }
    remove_connection_fields(reply.headers_mut());
    reply.headers_mut().append(VIA, VIA_VALUE);
    *reply.version_mut() = Version::HTTP_11;
    reply.map(|body| RecordedBody::new(body, exchange, BodyPart::Reply).boxed_unsync())
}

/// Name of a version in HAR.
fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "h2",
        Version::HTTP_10 => "http/1.0",
        _ => "http/1.1",
    }
}

/// A reply of the proxy itself.
pub(super) fn refusal(status: StatusCode, text: &str) -> Response<ReplyBody> {
    own(typed(status, "text/plain; charset=utf-8", &format!("brunt record: {text}\n")))
}

/// A reply with a text, as a reply of a server.
pub(super) fn own(reply: Response<Full<Bytes>>) -> Response<ReplyBody> {
    reply.map(|body| body.map_err(|never| match never {}).boxed_unsync())
}

/// An error with its causes.
fn reasons(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}

/// True if a server's certificate is the cause of an error.
fn has_wrong_certificate(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let tls = error.downcast_ref::<rustls::Error>().or(inner);
        if matches!(tls, Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_compared_with_its_default_port() {
        let https =
            Target { scheme: Scheme::HTTPS, authority: Authority::from_static("shop.example:443") };
        assert!(https.is_same("shop.example") && https.is_same("SHOP.example:443"));
        assert!(!https.is_same("shop.example:80") && !https.is_same("evil.example"));
        let uri = https.uri(PathAndQuery::from_static("/a?b=1")).unwrap();
        assert_eq!(uri.to_string(), "https://shop.example/a?b=1");
    }
}
