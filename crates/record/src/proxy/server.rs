//! Connections of clients: plain requests, and tunnels with TLS or HTTP.
//!
//! Bytes of a tunnel are never forwarded as they are: they must be HTTP, so that each request is recorded and has the
//! header field `Via`.

use super::authority::CertificateAuthority;
use super::forward::{Servers, Target, own, refusal};
use super::traffic::Traffic;
use super::welcome::{self, WELCOME_HOST};
use super::{ProxyCredentials, ReplyBody};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHENTICATE};
use hyper::http::uri::{Authority, Scheme};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, crypto};
use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Maximum number of connections of clients.
const MAX_CONNECTIONS: usize = 1024;

/// Delay after an accept that failed, such as without descriptors.
const AFTER_ACCEPT_ERROR: Duration = Duration::from_millis(100);

/// Maximum time for the head of a request, and for the first bytes of a tunnel.
const HEAD_TIME: Duration = Duration::from_mins(1);

/// First byte of a TLS handshake (RFC 8446, 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

/// Beginning of a connection with HTTP/2 (RFC 9113, 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0";

/// The parts of a proxy that all connections share.
pub(super) struct ProxyServer {
    pub(super) address: SocketAddr,
    pub(super) authority: Arc<CertificateAuthority>,
    pub(super) credentials: Option<ProxyCredentials>,
    pub(super) servers: Servers,
    pub(super) traffic: Traffic,
}

/// A connection of a client, with its tunnel and its WebSocket.
#[derive(Clone)]
struct Client {
    proxy: Arc<ProxyServer>,
    /// Its place among all connections.
    place: Arc<OwnedSemaphorePermit>,
}

/// Accepts connections until the runtime ends.
pub(super) async fn serve(listener: TcpListener, proxy: Arc<ProxyServer>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((connection, _)) => {
                let client = Client { proxy: Arc::clone(&proxy), place: Arc::new(place) };
                tokio::spawn(serve_client(connection, client));
            }
            Err(_) => sleep(AFTER_ACCEPT_ERROR).await,
        }
    }
}

async fn serve_client(connection: TcpStream, client: Client) {
    // Small replies would otherwise wait for acknowledgements.
    let _ = connection.set_nodelay(true);
    let service = service_fn(move |request| {
        let client = client.clone();
        async move { Ok::<_, Infallible>(answer(request, client).await) }
    });
    serve_http1(connection, service).await;
}

async fn serve_http1<S>(
    connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: S,
) where
    S: hyper::service::HttpService<Incoming, ResBody = ReplyBody, Error = Infallible>,
    S: Send,
    S::Future: Send,
{
    // Malformed requests have a reply with status 400, and an aborted connection needs none.
    let _ = http1::Builder::new()
        .preserve_header_case(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(connection), service)
        .with_upgrades()
        .await;
}

/// Answers a request of a client to the proxy.
async fn answer(request: Request<Incoming>, client: Client) -> Response<ReplyBody> {
    let is_tunnel = request.method() == Method::CONNECT;
    let Some(authority) = request.uri().authority().cloned() else {
        // A visit of the proxy's address, as of any server. The certificate is public.
        return own(welcome::reply(
            request.method(),
            request.uri().path(),
            &client.proxy.authority,
        ));
    };
    if !client
        .proxy
        .credentials
        .as_ref()
        .is_none_or(|credentials| credentials.admit(request.headers()))
    {
        let mut reply = refusal(
            StatusCode::PROXY_AUTHENTICATION_REQUIRED,
            "The user name or password of the proxy is missing or wrong.",
        );
        let scheme = HeaderValue::from_static("Basic realm=\"brunt record\", charset=\"UTF-8\"");
        reply.headers_mut().insert(PROXY_AUTHENTICATE, scheme);
        return reply;
    }
    if is_tunnel {
        return open_tunnel(request, authority, client);
    }
    let scheme = request.uri().scheme().cloned().unwrap_or(Scheme::HTTP);
    answer_for(request, &Target { scheme, authority }, &client).await
}

/// Answers a request for a server.
async fn answer_for(
    request: Request<Incoming>,
    target: &Target,
    client: &Client,
) -> Response<ReplyBody> {
    let host = target.authority.host();
    if host.eq_ignore_ascii_case(WELCOME_HOST) {
        return own(welcome::reply(
            request.method(),
            request.uri().path(),
            &client.proxy.authority,
        ));
    }
    if target.scheme != Scheme::HTTP && target.scheme != Scheme::HTTPS {
        return refusal(StatusCode::BAD_REQUEST, "The URL must begin with http:// or https://.");
    }
    if client.proxy.is_own(target) {
        return refusal(StatusCode::LOOP_DETECTED, "The target is the proxy itself.");
    }
    client.proxy.servers.forward(request, target, &client.proxy.traffic, &client.place).await
}

/// Answers CONNECT. The tunnel ends at the proxy.
fn open_tunnel(
    mut request: Request<Incoming>,
    authority: Authority,
    client: Client,
) -> Response<ReplyBody> {
    if authority.port_u16().is_none() || authority.as_str().contains('@') {
        return refusal(StatusCode::BAD_REQUEST, "CONNECT must name a host and a port.");
    }
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            serve_tunnel(TokioIo::new(upgraded), authority, client).await;
        }
    });
    own(Response::default())
}

/// Serves a tunnel by its first bytes.
async fn serve_tunnel(
    tunnel: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    authority: Authority,
    client: Client,
) {
    let mut tunnel = BufReader::new(tunnel);
    let Ok(Ok(first)) = timeout(HEAD_TIME, tunnel.fill_buf()).await else { return };
    let Some(byte) = first.first().copied() else { return };
    if byte == TLS_HANDSHAKE {
        return serve_tls(tunnel, authority, client).await;
    }
    let is_http2 = first.starts_with(HTTP2_PREFACE);
    // Methods are upper-case letters. Other bytes of a head are refused by its parser.
    if !byte.is_ascii_uppercase() {
        client.proxy.traffic.notify(format!(
            "a client sent another protocol than HTTP to {authority}; its connection was closed"
        ));
        return;
    }
    serve_inner(tunnel, Target { scheme: Scheme::HTTP, authority }, is_http2, client).await;
}

async fn serve_tls(
    tunnel: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    authority: Authority,
    client: Client,
) {
    let host = authority.host().to_owned();
    let resolver =
        HostCertificates { authority: Arc::clone(&client.proxy.authority), host: host.clone() };
    let provider = Arc::new(crypto::aws_lc_rs::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let Ok(builder) = builder else { return };
    let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(resolver));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let accepted = timeout(HEAD_TIME, TlsAcceptor::from(Arc::new(config)).accept(tunnel)).await;
    let stream = match accepted {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            client.proxy.traffic.notify(format!(
                "no TLS connection of a client for {host}: {error}. Does the client trust {}?",
                client.proxy.authority.file().display()
            ));
            return;
        }
        Err(_) => return,
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    serve_inner(stream, Target { scheme: Scheme::HTTPS, authority }, is_http2, client).await;
}

/// Serves the requests within a tunnel.
async fn serve_inner(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: Target,
    is_http2: bool,
    client: Client,
) {
    let target = Arc::new(target);
    let service = service_fn(move |request| {
        let client = client.clone();
        let target = Arc::clone(&target);
        async move { Ok::<_, Infallible>(answer_inner(request, &target, &client).await) }
    });
    if !is_http2 {
        return serve_http1(stream, service).await;
    }
    let _ = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Answers a request within a tunnel.
async fn answer_inner(
    request: Request<Incoming>,
    target: &Target,
    client: &Client,
) -> Response<ReplyBody> {
    if request.method() == Method::CONNECT {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "A tunnel cannot contain another one.");
    }
    let named = match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers().get(HOST).and_then(|host| host.to_str().ok()),
    };
    // With HTTP/1, the server decides on another name. With HTTP/2, the URL has the only name.
    let is_strict = request.version() == Version::HTTP_2 || request.uri().authority().is_some();
    if is_strict && !named.is_some_and(|named| target.is_same(named)) {
        return refusal(
            StatusCode::MISDIRECTED_REQUEST,
            "The request names another server than its tunnel.",
        );
    }
    answer_for(request, target, client).await
}

impl ProxyServer {
    /// True if a server is this proxy, as far as its name shows. `Via` shows it for all others.
    fn is_own(&self, target: &Target) -> bool {
        let host = target.authority.host().trim_matches(['[', ']']).trim_end_matches('.');
        let is_local = match host.parse::<IpAddr>() {
            Ok(ip) => {
                let ip = ip.to_canonical();
                ip.is_loopback() || ip.is_unspecified() || ip == self.address.ip()
            }
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        is_local && target.port() == self.address.port()
    }
}

/// Certificates by the name that a client sends (SNI), or by the host of its tunnel.
struct HostCertificates {
    authority: Arc<CertificateAuthority>,
    host: String,
}

impl fmt::Debug for HostCertificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostCertificates").field("host", &self.host).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for HostCertificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.authority.certificate_for(hello.server_name().unwrap_or(&self.host))
    }
}
