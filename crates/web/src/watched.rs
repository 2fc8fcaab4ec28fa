//! Runs up to an instant: active ones up to now, and replays of others. All viewers of a run share its folds, and
//! the pages that were made from them.

use crate::layout::Problem;
use crate::study_html::StudyHtml;
use brunt_model::{Language, Run, Tick};
use brunt_report::subset::RunSubset;
use brunt_store::Store;
use brunt_store::log::LogTail;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of folds of a run. Each has a viewer who looks at another instant.
const MOST_FOLDS: usize = 4;
/// Maximum number of pages of a run that are kept.
const MOST_PAGES: usize = 8;
/// Maximum number of watched runs.
const MOST_RUNS: usize = 16;

/// The runs that are being watched, by id.
#[derive(Default)]
pub struct WatchedRuns(Mutex<HashMap<String, Arc<Mutex<WatchedRun>>>>);

/// A watched run.
#[derive(Default)]
pub struct WatchedRun {
    /// Folds up to different instants, the last used one at the end.
    folds: Vec<Fold>,
    /// End of the whole run, for replays.
    end: Option<Tick>,
    /// Pages with their content as key, the last made one at the end.
    pages: Vec<(PageKey, Arc<StudyHtml>)>,
}

/// The fold of a log so far.
struct Fold {
    tail: LogTail,
    run: Run,
}

/// Content of the page of a watched run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageKey {
    /// Instant up to which it shows the run.
    pub instant: Tick,
    /// Subset of the run that its charts show.
    pub only: Option<RunSubset>,
    /// Language of its texts.
    pub language: Language,
}

impl WatchedRuns {
    /// Locks a run. Its viewers wait for each other, so that each figure is computed once.
    pub fn with<T>(
        &self,
        id: &str,
        work: impl FnOnce(&mut WatchedRun) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let run = {
            let mut runs = lock(&self.0);
            if runs.len() >= MOST_RUNS && !runs.contains_key(id) {
                // A viewer who returns begins again.
                runs.clear();
            }
            Arc::clone(runs.entry(id.to_owned()).or_default())
        };
        work(&mut lock(&run))
    }

    /// Forgets the folds of an active run that is over.
    pub fn forget(&self, id: &str) {
        lock(&self.0).remove(id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WatchedRun {
    /// Returns the run with all events that its log has by now; with an instant, only those up to the end of the
    /// first interval that ends then or later.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn up_to(
        &mut self,
        store: &Store,
        id: &str,
        instant: Option<Tick>,
    ) -> Result<&Run, Problem> {
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
    ///
    /// # Errors
    ///
    /// The run cannot be read.
    pub fn end(&mut self, store: &Store, id: &str) -> Result<Tick, Problem> {
        let end = match self.end {
            Some(end) => end,
            None => store.run(id)?.last_interval_end,
        };
        self.end = Some(end);
        Ok(end)
    }

    /// Returns the instant of the latest page with this subset and language, if that is later than `after`.
    pub fn latest_page(
        &self,
        only: Option<&RunSubset>,
        language: Language,
        after: Tick,
    ) -> Option<Tick> {
        let pages = self.pages.iter().map(|(key, _)| key);
        pages
            .filter(|key| key.only.as_ref() == only && key.language == language)
            .filter(|key| key.instant > after)
            .map(|key| key.instant)
            .max()
    }

    /// Returns the page with this content, which is made only once.
    ///
    /// # Errors
    ///
    /// The log cannot be read, or the page cannot be made.
    pub fn page(
        &mut self,
        store: &Store,
        id: &str,
        key: PageKey,
        make: impl FnOnce(&Run) -> Result<StudyHtml, Problem>,
    ) -> Result<Arc<StudyHtml>, Problem> {
        if let Some((_, page)) = self.pages.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(page));
        }
        let page = Arc::new(make(self.up_to(store, id, Some(key.instant))?)?);
        if self.pages.len() == MOST_PAGES {
            self.pages.remove(0);
        }
        self.pages.push((key, Arc::clone(&page)));
        Ok(page)
    }
}
