//! Runs up to an instant: active ones up to now, and replays of others. All viewers of a run share its folds, and
//! the pages that were made from them.

use crate::layout::Problem;
use crate::study_html::StudyHtml;
use brunt_engine::clock::unix_seconds;
use brunt_model::sync::IgnorePoison;
use brunt_model::{Language, Run, Tick};
use brunt_report::breakdown::LabelChoice;
use brunt_report::subset::RunSubset;
use brunt_store::Store;
use brunt_store::log::LogTail;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// Maximum number of folds of a run. Each has a viewer who looks at another instant.
const MOST_FOLDS: usize = 4;
/// Maximum number of pages of a run that are kept.
const MOST_PAGES: usize = 8;
/// Maximum number of watched runs.
const MOST_RUNS: usize = 16;

/// Maximum age of the page of an active run at the first look of a viewer, and while another viewer makes the next one.
pub const FIRST_LOOK_AGE: Duration = Duration::from_millis(1900);

/// Maximum age of the page of an active run at a later look of a viewer. Shorter than the interval between two looks.
pub const NEXT_LOOK_AGE: Duration = Duration::from_millis(900);

/// The runs that are being watched, by id.
#[derive(Default)]
pub struct WatchedRuns(Mutex<HashMap<String, Arc<WatchedRun>>>);

/// A watched run.
#[derive(Default)]
pub struct WatchedRun {
    /// Viewers wait for each other, so that each figure is computed once.
    folds: Mutex<Folds>,
    /// The last made pages, the newest one at the end. They can be read while another viewer makes the next one.
    pages: Mutex<Vec<WatchedPage>>,
}

/// The folds of a run up to different instants.
#[derive(Default)]
struct Folds {
    /// The last used one is at the end.
    folds: Vec<Fold>,
    /// End of the whole run, for replays.
    end: Option<Tick>,
}

/// The fold of a log so far.
struct Fold {
    tail: LogTail,
    run: Run,
}

/// The page of a watched run.
#[derive(Clone)]
pub struct WatchedPage {
    /// Its content.
    pub key: PageKey,
    /// Time of its instant, in seconds since 1970-01-01 UTC.
    pub unix_seconds: f64,
    /// The page.
    pub html: Arc<StudyHtml>,
}

/// Content of the page of a watched run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey {
    /// Instant up to which it shows the run.
    pub instant: Tick,
    /// The rest that a viewer has chosen.
    pub view: PageView,
}

/// Choices of a viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageView {
    /// Subset of the run that its charts show.
    pub only: Option<RunSubset>,
    /// Labels in its table.
    pub labels: LabelChoice,
    /// Language of its texts.
    pub language: Language,
}

impl WatchedRuns {
    /// Returns a run that is being watched from now on.
    pub fn run(&self, id: &str) -> Arc<WatchedRun> {
        let mut runs = lock(&self.0);
        if runs.len() >= MOST_RUNS && !runs.contains_key(id) {
            // A viewer who returns begins again.
            runs.clear();
        }
        Arc::clone(runs.entry(id.to_owned()).or_default())
    }

    /// Forgets the folds of an active run that is over.
    pub fn forget(&self, id: &str) {
        lock(&self.0).remove(id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}

impl WatchedRun {
    /// Returns the page of an active run up to now, or one that is at most this old.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or the page cannot be made.
    pub fn latest_page(
        &self,
        store: &Store,
        id: &str,
        view: &PageView,
        max_age: Duration,
        make: impl FnOnce(&Run) -> Result<StudyHtml, Problem>,
    ) -> Result<WatchedPage, Problem> {
        let latest = |age: Duration| {
            let pages = lock(&self.pages);
            let mut pages = pages.iter().rev();
            pages
                .find(|page| page.key.view == *view)
                .filter(|page| unix_seconds() - page.unix_seconds <= age.as_secs_f64())
                .cloned()
        };
        if let Some(page) = latest(max_age) {
            return Ok(page);
        }
        let mut folds = match self.folds.try_lock() {
            Ok(folds) => folds,
            Err(TryLockError::WouldBlock) => {
                if let Some(page) = latest(FIRST_LOOK_AGE) {
                    return Ok(page);
                }
                lock(&self.folds)
            }
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        // The viewer who had the lock has made it.
        if let Some(page) = latest(max_age) {
            return Ok(page);
        }
        let run = folds.up_to(store, id, None)?;
        let key = PageKey { instant: run.last_interval_end, view: view.clone() };
        match self.known_page(&key) {
            // Nothing has happened since.
            Some(page) => Ok(page),
            None => self.page_of(key, run, make),
        }
    }

    /// Returns the page of a run that is over, as it was at an instant, and the end of the run.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or the page cannot be made.
    pub fn page_at(
        &self,
        store: &Store,
        id: &str,
        key: PageKey,
        make: impl FnOnce(&Run) -> Result<StudyHtml, Problem>,
    ) -> Result<(WatchedPage, Tick), Problem> {
        let mut folds = lock(&self.folds);
        let end = folds.end(store, id)?;
        // A later instant would be another key of the same page.
        let key = PageKey { instant: key.instant.min(end), ..key };
        if let Some(page) = self.known_page(&key) {
            return Ok((page, end));
        }
        let run = folds.up_to(store, id, Some(key.instant))?;
        Ok((self.page_of(key, run, make)?, end))
    }

    fn known_page(&self, key: &PageKey) -> Option<WatchedPage> {
        lock(&self.pages).iter().find(|page| page.key == *key).cloned()
    }

    /// Makes a page, and keeps it.
    fn page_of(
        &self,
        key: PageKey,
        run: &Run,
        make: impl FnOnce(&Run) -> Result<StudyHtml, Problem>,
    ) -> Result<WatchedPage, Problem> {
        let unix_seconds = run.unix_seconds + key.instant.seconds();
        let page = WatchedPage { key, unix_seconds, html: Arc::new(make(run)?) };
        let mut pages = lock(&self.pages);
        if pages.len() == MOST_PAGES {
            pages.remove(0);
        }
        pages.push(page.clone());
        Ok(page)
    }
}

impl Folds {
    /// Returns the run with all events that its log has by now; with an instant, only those up to the end of the
    /// first interval that ends then or later.
    fn up_to(&mut self, store: &Store, id: &str, instant: Option<Tick>) -> Result<&Run, Problem> {
        let is_before = |fold: &Fold| instant.is_none_or(|to| fold.run.last_interval_end <= to);
        let usable = self.folds.iter().enumerate().filter(|(_, fold)| is_before(fold));
        let nearest = usable.max_by_key(|(_, fold)| fold.run.last_interval_end);
        let nearest = nearest.map(|(place, _)| place);
        let mut fold = match nearest {
            Some(place) => self.folds.remove(place),
            None => Fold { tail: store.tail(id)?, run: Run::default() },
        };
        while instant.is_none_or(|to| fold.run.plan.is_none() || fold.run.last_interval_end < to) {
            let event = fold.tail.next_event().map_err(|error| Problem::internal(&error))?;
            let Some(event) = event else { break };
            fold.run.fold(&event);
        }
        // Each fold has all figures of the run. A viewer of a dropped one begins again.
        if self.folds.len() == MOST_FOLDS {
            self.folds.remove(0);
        }
        let last = self.folds.len();
        self.folds.push(fold);
        Ok(&self.folds[last].run)
    }

    /// Returns the end of the whole run.
    fn end(&mut self, store: &Store, id: &str) -> Result<Tick, Problem> {
        let end = match self.end {
            Some(end) => end,
            None => store.run(id)?.last_interval_end,
        };
        self.end = Some(end);
        Ok(end)
    }
}
