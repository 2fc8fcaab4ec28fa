//! The routes of the studio, its connections, and the headers of all replies.

use crate::assets::Asset;
use crate::guard::{Guard, LINK_PATH, Refusal};
use crate::layout::{Problem, page, strip};
use crate::pages;
use crate::shared::{MAX_READING, Shared};
use crate::texts::{Viewer, message};
use crate::watched::WatchedRuns;
use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use brunt_engine::clock::unix_seconds;
use brunt_runner::history::HistoryCache;
use brunt_spec::System;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use maud::html;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

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

/// A studio at an address of this machine.
pub struct Studio {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// The program of a studio, and its machine.
pub struct StudioProgram {
    /// The command line, as the source of comparisons.
    pub command: String,
    /// Path of brunt, for runs that the studio starts.
    pub program: PathBuf,
    /// The system, for checks of plan files.
    pub system: System,
}

/// Reason why a studio cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// Other machines could reach the address.
    #[error("--listen {address}: other machines can reach it; write an address of this machine, such as 127.0.0.1:{}", address.port())]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
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

impl Studio {
    /// Listens at a loopback address. Port 0 is any free one.
    ///
    /// # Errors
    ///
    /// The address is no loopback address, or cannot be used.
    pub fn bind(
        directory: PathBuf,
        address: SocketAddr,
        program: StudioProgram,
    ) -> Result<Self, StudioError> {
        if !address.ip().is_loopback() {
            return Err(StudioError::NotLoopback { address });
        }
        let bound = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) =
            bound.map_err(|source| StudioError::Listen { address, source })?;
        let guard = Guard::new(address)?;
        let StudioProgram { command, program, system } = program;
        let shared = Shared {
            directory,
            idle_stores: Mutex::default(),
            guard,
            watched: WatchedRuns::default(),
            command,
            program,
            system,
            started: Mutex::default(),
            edited_texts: Mutex::default(),
            tries: Mutex::default(),
            recordings: Mutex::default(),
            histories: HistoryCache::default(),
            latest_request: AtomicU64::default(),
        };
        shared.note_request();
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }

    /// Returns a link that admits one browser to the list of runs.
    ///
    /// # Errors
    ///
    /// The system provides no random numbers.
    pub fn new_link(&self) -> Result<String, StudioError> {
        Ok(format!("http://{}{}", self.address, self.shared.guard.new_link()?))
    }

    /// Returns a link that admits one browser to the run of a process.
    ///
    /// # Errors
    ///
    /// The system provides no random numbers.
    pub fn new_link_to(&self, process: u32) -> Result<String, StudioError> {
        Ok(format!("{}{}", self.new_link()?, pages::starting::address(process)))
    }

    /// Time since the latest request.
    pub fn idle_time(&self) -> Duration {
        let latest = self.shared.latest_request.load(Ordering::Relaxed);
        Duration::from_secs((unix_seconds() as u64).saturating_sub(latest))
    }

    /// Answers requests until the process ends, or until there was none for some time.
    ///
    /// # Errors
    ///
    /// The system does not allow it.
    pub fn serve(&self, end_idle: Option<Duration>) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = self.listener.try_clone()?;
        let routes = routes(Arc::clone(&self.shared));
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
            loop {
                if end_idle.is_some_and(|limit| self.idle_time() >= limit) {
                    return Ok(());
                }
                let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
                match timeout(IDLE_PAUSE, listener.accept()).await {
                    Ok(Ok((connection, _))) => {
                        tokio::spawn(answer(connection, routes.clone(), place));
                    }
                    Ok(Err(_)) => sleep(AFTER_ACCEPT_ERROR).await,
                    Err(_elapsed) => {}
                }
            }
        })
    }
}

/// Answers the requests of one connection.
async fn answer(connection: TcpStream, routes: Router, _place: OwnedSemaphorePermit) {
    // Browsers notice connections that break.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MAX_READING)
        .serve_connection(TokioIo::new(connection), TowerToHyperService::new(routes))
        .await;
}

fn routes(shared: Arc<Shared>) -> Router {
    let mut routes = Router::new()
        .route("/", get(pages::list::show))
        .route("/runs/{id}", get(pages::item::show))
        .route("/runs/{id}/share", get(pages::item::share))
        .route("/runs/{id}/change", post(pages::item::change))
        .route("/runs/{id}/order", post(pages::item::give_order))
        .route("/language", post(pages::language::choose))
        .route("/start", get(pages::start::show).post(pages::start::start))
        .route("/starting/{process}", get(pages::starting::show))
        .route("/edit", get(pages::edit::show))
        .route("/edit/check", post(pages::edit::check::check))
        .route("/edit/fields", post(pages::edit::structure::fields))
        .route("/edit/change", post(pages::edit::structure::change))
        .route("/edit/save", post(pages::edit::save))
        .route("/edit/schema.json", get(pages::edit::plan_schema))
        .route("/import", get(pages::import::show).post(pages::import::make))
        .route("/record", get(pages::record::show).post(pages::record::start))
        .route("/record/{number}", get(pages::record::show_started))
        .route("/record/{number}/stop", post(pages::record::stop))
        .route("/retention", get(pages::retention::show).post(pages::retention::prune))
        .route("/tries", post(pages::tries::start))
        .route("/tries/{number}", get(pages::tries::show))
        .route("/tries/{number}/stop", post(pages::tries::stop))
        .route("/tries/{number}/extract", post(pages::tries::extract::add))
        .route(pages::history::PATH, get(pages::history::show))
        .route("/compare", get(pages::compare::show))
        .route("/compare/share", get(pages::compare::share))
        .route(&format!("{LINK_PATH}{{key}}"), get(open))
        .route(&format!("{LINK_PATH}{{key}}/starting/{{process}}"), get(open_process));
    for asset in Asset::ALL {
        let reply = move |headers: HeaderMap| async move { asset.reply(&headers) };
        routes = routes.route(asset.path(), get(reply));
    }
    routes
        .fallback(async || Problem::not_found(message!("problem-no-page")))
        // Also for paths and methods that do not exist.
        .layer(from_fn_with_state(Arc::clone(&shared), admit))
        .with_state(shared)
}

/// Answers a request only if its host and its token are those of the studio.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let viewer = Viewer::of_request(&parts, shared.guard.form_token().text());
    let is_link = parts.uri.path().starts_with(LINK_PATH);
    let admitted = shared
        .guard
        .check_host(&parts)
        .and_then(|()| if is_link { Ok(()) } else { shared.guard.check_token(&parts.headers) });
    let mut response = match admitted {
        Ok(()) => {
            shared.note_request();
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refusal) => refusal.into_response(),
    };
    // Only here the language of the viewer is known for all of them.
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = problem.page(&viewer);
    } else if let Some(refusal) = response.extensions_mut().remove::<Refusal>() {
        response = (refusal.status(), viewer.format(&refusal.text())).into_response();
    }
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), self.text().to_string()).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Sets the cookie, and leads to the list.
async fn open(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path(key): Path<String>,
) -> Result<Response, Refusal> {
    lead_to(&shared, viewer, &key, "/")
}

/// Sets the cookie, and leads to the run of a process.
async fn open_process(
    State(shared): State<Arc<Shared>>,
    viewer: Viewer,
    Path((key, process)): Path<(String, u32)>,
) -> Result<Response, Refusal> {
    lead_to(&shared, viewer, &key, &pages::starting::address(process))
}

fn lead_to(shared: &Shared, viewer: Viewer, key: &str, address: &str) -> Result<Response, Refusal> {
    let cookie = shared.guard.use_link(key)?;
    let cookie = HeaderValue::from_str(&cookie).map_err(|_| Refusal::Link)?;
    // No redirect: browsers send a cookie with SameSite=Strict only after a page of the same site.
    let leads_on = HeaderValue::from_str(&format!("0;url={address}")).map_err(|_| Refusal::Link)?;
    // The link works once, so no choice of a language may lead back to it.
    let viewer = Viewer { address: None, ..viewer };
    let content = html! { p { a href=(address) { (viewer.text("link-continue")) } } };
    let page = page(&viewer, &viewer.text("link-title"), &strip(&viewer, &html! {}), &content);
    Ok(([(header::SET_COOKIE, cookie), (header::REFRESH, leads_on)], page).into_response())
}
