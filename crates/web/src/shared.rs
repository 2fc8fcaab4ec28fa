//! The state that all pages share, and functions for all of them: fields of requests, and work with the store.

use crate::edited_texts::EditedTexts;
use crate::fields::Fields;
use crate::guard::Guard;
use crate::layout::Problem;
use crate::process::StartedProcess;
use crate::recordings::StartedRecordings;
use crate::texts::{Viewer, message};
use crate::tries::Tries;
use crate::watched::WatchedRuns;
use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use brunt_engine::clock::unix_seconds;
use brunt_runner::history::HistoryCache;
use brunt_spec::System;
use brunt_store::{Store, StoreError};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Maximum size of a short form.
const MAX_FORM_BYTES: usize = 64 << 10;

/// Maximum time for the head of a request, and for its form.
pub const MAX_READING: Duration = Duration::from_secs(10);

/// The state that all pages share.
///
/// The first lookup in a store compares its index with all files, so stores stay open between requests.
pub struct Shared {
    /// Directory of the store.
    pub directory: PathBuf,
    /// Open stores that no request uses.
    pub idle_stores: Mutex<Vec<Store>>,
    /// Hosts and tokens.
    pub guard: Guard,
    /// Runs with viewers, up to an instant.
    pub watched: WatchedRuns,
    /// The command, as the source of comparisons.
    pub command: String,
    /// The program of brunt, for runs that the studio starts.
    pub program: PathBuf,
    /// Processes that the studio has started, until they have a run.
    pub started: Mutex<Vec<StartedProcess>>,
    /// Tries, the oldest first.
    pub tries: Mutex<Tries>,
    /// Recordings that the studio has started, the oldest first.
    pub recordings: Mutex<StartedRecordings>,
    /// Figures of runs for histories.
    pub histories: HistoryCache,
    /// The latest texts in editors.
    pub edited_texts: Mutex<EditedTexts>,
    /// The system, for checks of plan files.
    pub system: System,
    /// Time of the latest request, in seconds since 1970-01-01 UTC.
    pub latest_request: AtomicU64,
}

impl Shared {
    /// Locks the processes that the studio has started.
    pub fn started(&self) -> MutexGuard<'_, Vec<StartedProcess>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the tries.
    pub fn tries(&self) -> MutexGuard<'_, Tries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the recordings.
    pub fn recordings(&self) -> MutexGuard<'_, StartedRecordings> {
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the latest texts in editors.
    pub fn edited_texts(&self) -> MutexGuard<'_, EditedTexts> {
        self.edited_texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request.
    pub fn note_request(&self) {
        self.latest_request.store(unix_seconds() as u64, Ordering::Relaxed);
    }

    /// Returns an open store for one request at a time.
    fn take_store(&self) -> Result<Store, StoreError> {
        let idle = self.idle().pop();
        idle.map_or_else(|| Store::open(&self.directory), Ok)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Store>> {
        self.idle_stores.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromRequestParts<Arc<Shared>> for Viewer {
    type Rejection = Infallible;

    async fn from_request_parts(
        request: &mut Parts,
        shared: &Arc<Shared>,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self::of_request(request, shared.guard.form_token().text()))
    }
}

/// Returns the fields of a URL.
pub fn query(uri: &Uri) -> Fields {
    Fields::decode(uri.query().unwrap_or_default().as_bytes())
}

/// Reads a short form, and checks its token.
///
/// # Errors
///
/// It is too long, too slow, or not from a page of this studio.
pub async fn form(shared: &Shared, body: Body) -> Result<Fields, Problem> {
    form_up_to(MAX_FORM_BYTES, shared, body).await
}

/// Reads a form of at most this size, and checks its token.
///
/// # Errors
///
/// It is too long, too slow, or not from a page of this studio.
pub async fn form_up_to(max_bytes: usize, shared: &Shared, body: Body) -> Result<Fields, Problem> {
    let read = timeout(MAX_READING, axum::body::to_bytes(body, max_bytes)).await;
    let bytes = read.map_err(|_| Problem {
        status: StatusCode::REQUEST_TIMEOUT,
        text: message!("form-slow"),
    })?;
    let bytes = bytes.map_err(|_| Problem {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        text: message!("form-long", bytes = max_bytes),
    })?;
    let fields = Fields::decode(&bytes);
    shared
        .guard
        .check_form(fields.first("token"))
        .map_err(|refusal| Problem { status: refusal.status(), text: refusal.text() })?;
    Ok(fields)
}

/// Does work on another thread, so that other requests need not wait.
///
/// # Errors
///
/// Those of the work.
pub async fn on_thread<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let shared = Arc::clone(shared);
    let done = spawn_blocking(move || work(&shared)).await;
    done.map_err(|error| Problem::internal(&error))?
}

/// Does work with the store on another thread, so that other requests need not wait.
///
/// # Errors
///
/// Those of the work, or the store cannot be opened.
pub async fn with_store<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Store, &Shared) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    on_thread(shared, move |shared| {
        let store = shared.take_store()?;
        let result = work(&store, shared)?;
        // After an error, the next request opens the store again.
        shared.idle().push(store);
        Ok(result)
    })
    .await
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown(_) => Self::not_found(error.to_string()),
            error if error.is_usage_error() => Self::bad_request(error.to_string()),
            error => Self::internal(&error),
        }
    }
}
