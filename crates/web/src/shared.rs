//! The state that all pages share, and functions for all of them: fields of requests, and work with the store.

use crate::edited_texts::EditedTexts;
use crate::fields::Fields;
use crate::guard::{Guard, Refusal};
use crate::layout::Problem;
use crate::leases::Leases;
use crate::process::{StartedList, StartedProcess};
use crate::program::StudioProgram;
use crate::texts::{Viewer, message};
use crate::tries::TriedPlan;
use crate::visitor::Visitor;
use crate::watched::WatchedRuns;
use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use brunt_engine::clock::{RunEpoch, unix_seconds};
use brunt_model::sync::IgnorePoison;
use brunt_model::{Clock, Tick};
use brunt_runner::history::HistoryCache;
use brunt_spec::System;
use brunt_store::{Store, StoreError};
use serde_json::Value;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Maximum size of a short form.
const MAX_FORM_BYTES: usize = 64 << 10;

/// Maximum time for the head of a request, and for its form.
pub const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of archives that are transferred at once. Each needs its size on the disk twice.
const MOST_TRANSFERS: usize = 4;

/// Maximum number of requests whose work of a kind is done at once. The runtime has 512 threads for all kinds.
const MOST_WORK: usize = 64;

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
    /// Processes that the studio has started, until they have a run, with the folders of their plans.
    pub started: Mutex<StartedList<Option<TempDir>>>,
    /// Tries.
    pub tries: Mutex<StartedList<TriedPlan>>,
    /// Recordings, with the fields of their forms.
    pub recordings: Mutex<StartedList<Fields>>,
    /// Figures of runs for histories.
    pub histories: HistoryCache,
    /// The latest texts in editors.
    pub edited_texts: Mutex<EditedTexts>,
    /// The system, for checks of plan files.
    pub system: System,
    /// Start of the studio.
    epoch: RunEpoch,
    /// Time of the latest request, in seconds since 1970-01-01 UTC.
    pub latest_request: AtomicU64,
    /// Leases on servers.
    pub leases: Mutex<Leases>,
    /// Places for work with files that a user names, and with the store. One kind must not stop the other.
    pub file_places: Arc<Semaphore>,
    pub store_places: Arc<Semaphore>,
    /// Places for archives that are transferred.
    pub transfers: Arc<Semaphore>,
    /// The `OpenAPI` document.
    pub openapi: Value,
}

impl Shared {
    /// Returns the state of a studio that has answered nothing yet.
    pub fn new(directory: PathBuf, guard: Guard, program: StudioProgram, openapi: Value) -> Self {
        let StudioProgram { command, program, system, warn: _ } = program;
        Self {
            directory,
            idle_stores: Mutex::default(),
            guard,
            watched: WatchedRuns::default(),
            command,
            program,
            started: Mutex::default(),
            tries: Mutex::default(),
            edited_texts: Mutex::default(),
            system,
            epoch: RunEpoch::now(),
            latest_request: AtomicU64::default(),
            leases: Mutex::default(),
            recordings: Mutex::default(),
            histories: HistoryCache::default(),
            file_places: Arc::new(Semaphore::new(MOST_WORK)),
            store_places: Arc::new(Semaphore::new(MOST_WORK)),
            transfers: Arc::new(Semaphore::new(MOST_TRANSFERS)),
            openapi,
        }
    }

    /// Locks the processes that the studio has started.
    pub fn started(&self) -> MutexGuard<'_, StartedList<Option<TempDir>>> {
        self.started.lock().ignore_poison()
    }

    /// Locks the tries.
    pub fn tries(&self) -> MutexGuard<'_, StartedList<TriedPlan>> {
        self.tries.lock().ignore_poison()
    }

    /// Locks the recordings.
    pub fn recordings(&self) -> MutexGuard<'_, StartedList<Fields>> {
        self.recordings.lock().ignore_poison()
    }

    /// Locks the latest texts in editors.
    pub fn edited_texts(&self) -> MutexGuard<'_, EditedTexts> {
        self.edited_texts.lock().ignore_poison()
    }

    /// Locks the leases.
    pub fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().ignore_poison()
    }

    /// Starts brunt for the current visitor, with the store of the studio, and returns the number of the process. The
    /// folder of its plan is removed after the start.
    pub fn start(&self, arguments: &[String], folder: Option<TempDir>) -> Result<u32, Problem> {
        let visitor = Visitor::current();
        // Members of a team must not measure one server at once; one person may want to.
        let holder = visitor.as_ref().filter(|_| self.guard.has_tokens()).map(Visitor::holder);
        let process = StartedProcess::start(&self.program, arguments, &self.directory, holder);
        let process = process.map_err(|error| Problem::internal(&error))?;
        let number = process.number;
        self.started().add(process, folder);
        Ok(number)
    }

    /// Time since the start of the studio, which no change of the wall clock affects.
    pub fn now(&self) -> Tick {
        self.epoch.now()
    }

    /// Notes a request.
    pub fn note_request(&self) {
        self.latest_request.store(unix_seconds() as u64, Ordering::Relaxed);
    }

    /// Returns an open store for one request at a time.
    fn take_store(&self) -> Result<Store, StoreError> {
        // A store that was removed and made again has another index.
        let idle = std::iter::from_fn(|| self.idle().pop()).find(|store| !store.is_replaced());
        idle.map_or_else(|| Store::open(&self.directory), Ok)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Store>> {
        self.idle_stores.lock().ignore_poison()
    }
}

impl<S: Sync> FromRequestParts<S> for Viewer {
    type Rejection = Infallible;

    async fn from_request_parts(request: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of_request(request))
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
pub async fn form(body: Body) -> Result<Fields, Problem> {
    form_up_to(MAX_FORM_BYTES, body).await
}

/// Reads a form of at most this size, and checks its token.
///
/// # Errors
///
/// It is too long, too slow, or not from a page of this studio.
pub async fn form_up_to(max_bytes: usize, body: Body) -> Result<Fields, Problem> {
    let fields = Fields::decode(&read_body(max_bytes, READ_TIMEOUT, body).await?);
    if Visitor::has_form_token(fields.first("token")) {
        Ok(fields)
    } else {
        Err(Problem::from(Refusal::Site))
    }
}

/// Reads a short form without a token: that of a visitor before the admission.
///
/// # Errors
///
/// It is too long or too slow.
pub async fn unchecked_form(body: Body) -> Result<Fields, Problem> {
    Ok(Fields::decode(&read_body(MAX_FORM_BYTES, READ_TIMEOUT, body).await?))
}

/// Reads the content of a request.
///
/// # Errors
///
/// It is too long or too slow.
pub async fn read_body(max_bytes: usize, max_time: Duration, body: Body) -> Result<Bytes, Problem> {
    let read = timeout(max_time, axum::body::to_bytes(body, max_bytes)).await;
    let bytes = read.map_err(|_| Problem {
        status: StatusCode::REQUEST_TIMEOUT,
        text: message!("form-slow"),
    })?;
    bytes.map_err(|_| Problem {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        text: message!("form-long", bytes = max_bytes),
    })
}

/// Does work on another thread, so that other requests need not wait.
///
/// # Errors
///
/// Those of the work, or too much other work waits for files.
pub async fn on_thread<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    work_on_thread(shared, &shared.file_places, work).await
}

async fn work_on_thread<T: Send + 'static>(
    shared: &Arc<Shared>,
    places: &Arc<Semaphore>,
    work: impl FnOnce(&Shared) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    // A file on a share that does not answer keeps its thread: the request ends, its read does not.
    let place = timeout(READ_TIMEOUT, Arc::clone(places).acquire_owned()).await;
    let place = place.ok().and_then(Result::ok).ok_or_else(|| Problem {
        status: StatusCode::SERVICE_UNAVAILABLE,
        text: message!("problem-busy"),
    })?;
    let shared = Arc::clone(shared);
    let visitor = Visitor::current();
    // A value of a tokio task is not visible on another thread.
    let done = spawn_blocking(move || {
        let _place = place;
        Visitor::sync_scope(visitor, || work(&shared))
    })
    .await;
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
    work_on_thread(shared, &shared.store_places, move |shared| {
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
            StoreError::OtherContent(_) => {
                Self { status: StatusCode::CONFLICT, text: error.to_string().into() }
            }
            error if error.is_usage_error() => Self::bad_request(error.to_string()),
            error => Self::internal(&error),
        }
    }
}
