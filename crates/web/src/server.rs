//! The studio: its address, the admission of requests, and the headers of all replies.

use crate::api;
use crate::assets::{accepts_gzip, compress};
use crate::connections::Connections;
use crate::guard::{Guard, GuardSettings, Refusal};
use crate::layout::Problem;
use crate::local;
use crate::openapi;
use crate::pages;
use crate::program::StudioProgram;
use crate::routes::{self, API_PATH, Route};
use crate::shared::Shared;
use crate::texts::{Viewer, message};
use crate::tls::{TlsError, TlsFiles};
use crate::tokens::{TokenError, TokenFile};
use crate::visitor::{Permission, Visitor};
use axum::Router;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use brunt_engine::clock::unix_seconds;
use flate2::Compression;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use url::Url;

/// Delay after an accept that failed, such as without descriptors.
const AFTER_ACCEPT_ERROR: Duration = Duration::from_millis(100);

/// Pause between looks whether the studio is still in use.
const IDLE_PAUSE: Duration = Duration::from_secs(5);

/// Headers of every reply. Pages load nothing from elsewhere, and no other page may contain or read them.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With `no-referrer`, browsers send forms with the origin `null`.
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Content policy: scripts, styles and forms of the studio only, and none within a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Minimum size of a reply that is compressed, in bytes.
const MIN_COMPRESSED_BYTES: u64 = 1 << 10;

/// Text for a program without a valid token.
const NO_TOKEN: &str = "The request has no valid token. The operator of the studio makes one: brunt studio token NAME run";

/// A studio at an address.
pub struct Studio {
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared>,
}

/// Address of a studio, and protection of its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudioAddress {
    /// Address at which it listens.
    pub listen: SocketAddr,
    /// Names of the host for browsers and programs, with or without a port.
    pub hosts: Vec<String>,
    /// Certificate and key.
    pub tls: Option<TlsFiles>,
    /// File of the team's tokens.
    pub tokens: Option<PathBuf>,
}

/// Reason why a studio cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// Other machines could reach the address, without protection.
    #[error(
        "--listen {address}: other machines can reach it, and {missing}; add --cert FILE --key FILE --tokens FILE, or write an address of this machine, such as 127.0.0.1:{}", address.port()
    )]
    NotProtected {
        /// The address.
        address: SocketAddr,
        /// The missing protection.
        missing: &'static str,
    },
    /// The studio does not know its own name.
    #[error(
        "--listen {0}: this is no address that a browser can send; add the name of this machine, such as --host studio.example"
    )]
    NoHost(SocketAddr),
    /// A name of the host is malformed.
    #[error(
        "--host {0}: this is no name of a host; write one such as studio.example or studio.example:8443"
    )]
    Host(String),
    /// Certificate and key cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The tokens cannot be used.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// The address cannot be used.
    #[error("--listen {address}: {source}; write another port, or 0 for any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The system provides no random numbers.
    #[error("the system provides no random numbers for the studio's link")]
    NoRandomNumbers(#[from] aws_lc_rs::error::Unspecified),
}

/// Refuses an address that other machines can reach without protection.
fn check_address(
    listen: SocketAddr,
    hosts: &[String],
    has_tls: bool,
    has_tokens: bool,
) -> Result<(), StudioError> {
    if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
        return Err(StudioError::Host(host.clone()));
    }
    // Other machines reach it only through a program of this one, such as ssh.
    if listen.ip().is_loopback() {
        return Ok(());
    }
    let missing = match (has_tls, has_tokens) {
        (true, true) => None,
        (false, true) => Some("the connections have no TLS"),
        (true, false) => Some("the studio has no tokens"),
        (false, false) => Some("the studio has neither TLS nor tokens"),
    };
    if let Some(missing) = missing {
        return Err(StudioError::NotProtected { address: listen, missing });
    }
    if listen.ip().is_unspecified() && hosts.is_empty() {
        return Err(StudioError::NoHost(listen));
    }
    Ok(())
}

/// True for the name of a host, or its address, with or without a port.
fn is_host(text: &str) -> bool {
    Url::parse(&format!("http://{text}/")).is_ok_and(|url| {
        let has_name_only =
            url.username().is_empty() && url.password().is_none() && url.path() == "/";
        has_name_only && url.query().is_none() && !text.contains(['/', '?', '#', '@'])
    })
}

impl Studio {
    /// Listens at an address. Port 0 is any free one.
    ///
    /// # Errors
    ///
    /// Other machines can reach the address, and TLS, tokens or names of the host are missing; or one of them
    /// or the address cannot be used.
    pub fn bind(
        directory: PathBuf,
        address: StudioAddress,
        program: StudioProgram,
    ) -> Result<Self, StudioError> {
        let StudioAddress { listen, hosts, tls, tokens } = address;
        check_address(listen, &hosts, tls.is_some(), tokens.is_some())?;
        let acceptor = tls.map(|files| files.acceptor()).transpose()?;
        let tokens = tokens.map(|path| TokenFile::open(path, program.warn)).transpose()?;
        let bound = TcpListener::bind(listen).and_then(|listener| {
            // tokio does not set it, and a blocking accept would stop the runtime.
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) =
            bound.map_err(|source| StudioError::Listen { address: listen, source })?;
        let uses_tls = acceptor.is_some();
        let guard = Guard::new(GuardSettings { address, hosts, uses_tls, tokens })?;
        let shared = Shared::new(directory, guard, program, openapi::document());
        shared.note_request();
        Ok(Self { listener, acceptor, shared: Arc::new(shared) })
    }

    /// Answers an order about leases from a process of this machine, in JSON.
    pub fn local_lease(&self, order: &str) -> String {
        local::answer(&self.shared, order)
    }

    /// Returns a link that admits one browser to the list of runs.
    pub fn new_link(&self) -> Result<String, StudioError> {
        let guard = &self.shared.guard;
        Ok(format!("{}{}", guard.origin(), guard.new_link()?))
    }

    /// Returns a link that admits one browser to the run of a process.
    pub fn new_link_to(&self, process: u32) -> Result<String, StudioError> {
        Ok(format!("{}{}", self.new_link()?, pages::starting::address(process)))
    }

    /// Time since the latest request.
    pub fn idle_time(&self) -> Duration {
        let latest = self.shared.latest_request.load(Ordering::Relaxed);
        Duration::from_secs((unix_seconds() as u64).saturating_sub(latest))
    }

    /// Answers requests until the process ends, or until there was none for some time.
    pub fn serve(&self, end_idle: Option<Duration>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = self.listener.try_clone()?;
        let connections = Connections::new(routes(Arc::clone(&self.shared)), self.acceptor.clone());
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            loop {
                if end_idle.is_some_and(|limit| self.idle_time() >= limit) {
                    return Ok(());
                }
                // Before the accept, so that further connections wait in the kernel (listen(2)).
                let place = connections.place().await.map_err(io::Error::other)?;
                match timeout(IDLE_PAUSE, listener.accept()).await {
                    Ok(Ok((connection, peer))) => connections.spawn(connection, peer, place),
                    Ok(Err(_)) => sleep(AFTER_ACCEPT_ERROR).await,
                    Err(_elapsed) => {}
                }
            }
        })
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    routes::router()
        .fallback(async || Problem::not_found(message!("problem-no-page")))
        // Also for paths and methods that do not exist.
        .layer(from_fn_with_state(Arc::clone(&shared), admit))
        .with_state(shared)
}

/// Answers a request only if its host and its token are those of the studio, and the token permits the route.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let viewer = Viewer::of_request(&parts);
    let is_api = parts.uri.path().starts_with(API_PATH);
    let accepts_gzip = accepts_gzip(&parts.headers) && parts.method != Method::HEAD;
    let matched = parts.extensions.get::<MatchedPath>();
    let route = matched.and_then(|path| routes::find(&parts.method, path.as_str()));
    let admitted = match shared.guard.check_host(&parts) {
        Ok(()) => admit_visitor(&shared, &parts.headers, route).await,
        Err(refusal) => Err(refusal),
    };
    let mut response = match admitted {
        Ok(visitor) => {
            shared.note_request();
            let response = next.run(Request::from_parts(parts, body));
            let response = match visitor.clone() {
                Some(visitor) => visitor.scope(response).await,
                None => response.await,
            };
            // The strip of the page depends on the visitor.
            Visitor::sync_scope(visitor, || with_problem(response, is_api, &viewer))
        }
        Err(refusal) => refuse(&shared.guard, refusal, &parts, &viewer),
    };
    // Only here the language of the viewer is known for all of them.
    if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = (refusal.status(), viewer.format(&refusal.text())).into_response();
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if accepts_gzip { compressed(response).await } else { response }
}

/// Compresses a page or a document: a live page is requested each second, and has about 100 kB.
async fn compressed(response: Response) -> Response {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    let is_text = media_type.is_some_and(|media_type| {
        [&b"text/"[..], b"application/json"]
            .iter()
            .any(|kind| media_type.as_bytes().starts_with(kind))
    });
    let is_compressed = response.headers().contains_key(header::CONTENT_ENCODING);
    // The sizes of bodies from memory are known; others are passed on as they are.
    let size = response.body().size_hint().exact();
    if !is_text || is_compressed || size.is_none_or(|size| size < MIN_COMPRESSED_BYTES) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let packed = match to_bytes(body, usize::MAX).await {
        Ok(content) => spawn_blocking(move || compress(&content, Compression::fast())).await.ok(),
        Err(_) => None,
    };
    let Some(packed) = packed else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(parts, Body::from(packed))
}

/// Returns the problem of a reply as a page, or as JSON for a program; the reply if it has none.
fn with_problem(mut response: Response, is_api: bool, viewer: &Viewer) -> Response {
    match response.extensions_mut().remove::<Problem>() {
        Some(problem) if is_api => api::error_reply(problem.status, problem.text.into()),
        Some(problem) => problem.page(viewer),
        None => response,
    }
}

/// Returns the visitor of a request; None for a route that needs none. Paths that do not exist need a token.
async fn admit_visitor(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    route: Option<&Route>,
) -> Result<Option<Visitor>, Refusal> {
    // A route that is missing in the table must not be open.
    let permission = route.map_or(Some(Permission::Read), |route| route.permission);
    let Some(permission) = permission else { return Ok(None) };
    let visitor = if shared.guard.has_tokens() {
        let shared = Arc::clone(shared);
        let headers = headers.clone();
        // The file of tokens may be on a slow disk.
        let identified = spawn_blocking(move || shared.guard.identify(&headers)).await;
        identified.map_err(|_| Refusal::Tokens)??
    } else {
        shared.guard.identify(headers)?
    };
    if visitor.permission < permission {
        return Err(Refusal::Permission);
    }
    let is_api_change = route.is_some_and(|route| route.is_api() && route.is_change());
    // Only a browser has a token for forms. Its cookie is sent without its user's intention.
    if is_api_change && visitor.form_token.is_some() {
        return Err(Refusal::Cookie);
    }
    Ok(Some(visitor))
}

/// Returns the reply to a request that is refused.
fn refuse(guard: &Guard, refusal: Refusal, request: &Parts, viewer: &Viewer) -> Response {
    if request.uri.path().starts_with(API_PATH) {
        // A program has no link to open.
        let text = if refusal == Refusal::Token {
            NO_TOKEN.to_owned()
        } else {
            refusal.text().to_string()
        };
        return api::error_reply(refusal.status(), text);
    }
    // Only a member of a team has something to write into the form.
    if refusal == Refusal::Token && guard.has_tokens() && request.method == Method::GET {
        return (refusal.status(), pages::sign_in::sign_in_page("", viewer)).into_response();
    }
    refusal.into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), self.text().to_string()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests;
