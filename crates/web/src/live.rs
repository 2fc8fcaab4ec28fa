//! Active runs. Each is folded once, as its log grows, for all of its viewers.

use crate::layout::Problem;
use brunt_engine::clock::unix_seconds;
use brunt_model::Run;
use brunt_store::Store;
use brunt_store::log::LogTail;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The runs that are being watched, by id.
#[derive(Default)]
pub struct LiveRuns(Mutex<HashMap<String, LiveRun>>);

/// The fold of a log so far.
struct LiveRun {
    tail: LogTail,
    run: Run,
}

impl LiveRuns {
    /// Returns a run with all events that its log has by now.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn so_far(&self, store: &Store, id: &str) -> Result<Run, Problem> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut live = match runs.remove(id) {
            Some(live) => live,
            None => LiveRun { tail: store.tail(id)?, run: Run::default() },
        };
        while let Some(event) = live.tail.next_event().map_err(|error| Problem::internal(&error))? {
            live.run.fold(&event);
        }
        // Judging takes longer than copying, and other viewers need the lock.
        let run = live.run.clone();
        if run.finish.is_none() {
            runs.insert(id.to_owned(), live);
        }
        Ok(run)
    }

    /// Forgets a run that is over.
    pub fn forget(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// Age of the newest figures of a run, in seconds.
pub fn age(run: &Run) -> f64 {
    (unix_seconds() - run.unix_seconds - run.last_interval_end.seconds()).max(0.0)
}
