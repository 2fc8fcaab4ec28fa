//! Begins, finds, lists and removes runs and experiments.

mod baselines;
mod digests;
mod experiments;
mod mend;
pub(crate) mod notes;
mod open;
pub mod retention;
mod tags;

use open::OpenIndex;
pub use open::{IndexProgress, IndexWork};

use crate::directory::Directory;
use crate::entry::{IndexEntry, ItemKind, ItemState};
use crate::experiment::ExperimentHead;
use crate::index::{Index, IndexCheck};
use crate::log::{EventReader, LogHead, LogTail, TrialOf};
use crate::redact::{Redactor, key};
use crate::{RunLog, StoreError, id};
use brunt_model::{Tick, TrialIndex};
use std::cell::{Ref, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory of runs and experiments. Several processes may use it at once.
pub struct Store {
    pub(crate) directory: Directory,
    index: RefCell<OpenIndex>,
    /// Locked files of the experiments that this process runs. The lock shows other processes
    /// that they are active.
    active_experiments: RefCell<BTreeMap<String, File>>,
    redactor: Arc<Redactor>,
    progress: IndexProgress,
}

/// A stored run or experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredItem {
    /// Id of a run.
    Run(String),
    /// Id of an experiment.
    Experiment(String),
}

impl StoredItem {
    /// Returns the id.
    pub fn id(&self) -> &str {
        match self {
            Self::Run(id) | Self::Experiment(id) => id,
        }
    }
}

/// Selects entries of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryFilter {
    /// Experiments, and runs without one.
    TopLevel,
    /// All entries.
    All,
    /// The runs of the experiment with this id.
    RunsOf(String),
    /// Entries without an end: active ones, and those with a writer that stopped without notice.
    Unfinished,
    /// The entry with this id.
    One(String),
}

impl Store {
    /// Opens the store in a directory, which is created if it does not exist.
    ///
    /// An index that is missing or damaged is rebuilt from the files. It is compared with the files
    /// at the first lookup, not here: the start of a run must not depend on the size of the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the directory cannot be created or read, or a later
    /// version created its index.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        Self::open_showing(directory, |_, _, _| ())
    }

    /// The same, with the progress of long work on the index.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn open_showing(directory: &Path, progress: IndexProgress) -> Result<Self, StoreError> {
        let directory = Directory::make(directory)?;
        let index = RefCell::new(open::index(&directory, IndexCheck::Schema, progress)?);
        let redactor = Arc::new(key::redactor(&directory)?);
        let active_experiments = RefCell::default();
        Ok(Self { directory, index, active_experiments, redactor, progress })
    }

    /// Returns the redactor. Equal secrets have equal hashes in everything that this store holds.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// Returns the path of the store.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Begins a run. `trial` is the id of its experiment and its position there, if it has one.
    pub fn begin_run(&self, trial: Option<(&str, TrialIndex)>) -> Result<RunLog, StoreError> {
        let belongs =
            trial.map(|(experiment, place)| self.trial_of(experiment, place)).transpose()?;
        let id = self.claim(ItemKind::Run)?;
        if let Some(trial) = &belongs {
            self.index().set_trial(&id, trial)?;
        }
        RunLog::begin(&self.directory, id, &LogHead { belongs }, Arc::clone(&self.redactor))
    }

    /// Writes the log of a run once more, because another process goes on with it. The log that exists is
    /// replaced when the new one has reached the instant `published_to`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the log that exists cannot be read, or the new one cannot be created.
    pub fn rewrite_run(&self, id: &str, published_to: Tick) -> Result<RunLog, StoreError> {
        let head = match self.events(id)? {
            EventReader::Packed(reader) => reader.head().clone(),
            EventReader::Plain(_) => LogHead { belongs: None },
        };
        let redactor = Arc::clone(&self.redactor);
        RunLog::begin_again(&self.directory, id.to_owned(), &head, redactor, published_to)
    }

    /// Folder of fleets in progress, with a folder for each.
    pub fn fleets(&self) -> PathBuf {
        self.directory.fleets()
    }

    fn trial_of(&self, experiment: &str, place: TrialIndex) -> Result<TrialOf, StoreError> {
        let entry = self.indexed(experiment)?;
        let contender = entry.contenders.get(place.contender).cloned().unwrap_or_default();
        Ok(TrialOf { experiment: experiment.to_owned(), place, contender })
    }

    /// Opens the log of a run that may still be written.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such run, or its log cannot be read.
    pub fn tail(&self, id: &str) -> Result<LogTail, StoreError> {
        let path = self.directory.run(id);
        LogTail::open(&path).map_err(StoreError::log(&path))
    }

    /// Path of the socket through which other processes control a run.
    pub fn control_socket(&self, id: &str) -> PathBuf {
        self.directory.control().join(id)
    }

    /// Path of the socket of a studio that shows this store.
    pub fn studio_socket(&self) -> PathBuf {
        // No id of a run is this word.
        self.directory.control().join("studio")
    }

    /// Finds an item by its id, the beginning of an id, a tag, the name of
    /// an experiment, or `last`.
    ///
    /// For a name with several experiments it returns the latest. `last` is the item that started
    /// last, among the ended experiments and the ended runs without an experiment.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if no item matches `word`, if several do, or if the index cannot be read.
    pub fn find(&self, word: &str) -> Result<StoredItem, StoreError> {
        // An id or a tag needs no comparison of the whole index with the files.
        if let Some(item) = self.at_hand(word) {
            return Ok(item);
        }
        self.reconcile()?;
        if word == "last" {
            let entries = self.list(&EntryFilter::TopLevel)?;
            // An active run is `last` only if there is no other: its result is not complete.
            let ended = entries.iter().rfind(|entry| entry.progress != ItemState::Running);
            let last = ended.or(entries.last()).ok_or_else(|| StoreError::Unknown(word.into()))?;
            return self.named(last.id.clone());
        }
        if self.index().kind(word)?.is_some() {
            return self.named(word.into());
        }
        if let Some(id) = self.tagged(word)? {
            return self.named(id);
        }
        if let Some(id) = self.index().experiment_called(word)? {
            return self.named(id);
        }
        let mut ids =
            if id::is_part_of_id(word) { self.index().ids_from(word)? } else { Vec::new() };
        match (ids.pop(), ids.is_empty()) {
            (None, _) => Err(StoreError::Unknown(word.into())),
            (Some(id), true) => self.named(id),
            (Some(id), false) => {
                Err(StoreError::Ambiguous { word: word.into(), ids: [ids, vec![id]].concat() })
            }
        }
    }

    /// Returns the item with this id or tag, if it has a row and a file.
    fn at_hand(&self, word: &str) -> Option<StoredItem> {
        let is_id = self.index().kind(word).ok()?.is_some();
        let id = if is_id { Some(word.to_owned()) } else { self.tagged(word).ok()? };
        let item = self.named(id?).ok()?;
        let paths = match &item {
            StoredItem::Run(id) => vec![self.directory.run(id), self.directory.digest(id)],
            StoredItem::Experiment(id) => vec![self.directory.experiment(id)],
        };
        paths.iter().any(|path| path.exists()).then_some(item)
    }

    /// Finds an experiment in the same way as [`find`](Self::find), and returns its id.
    ///
    /// # Errors
    ///
    /// The errors of [`find`](Self::find), and [`StoreError::NoExperiment`] if the item is a run.
    pub fn find_experiment(&self, word: &str) -> Result<String, StoreError> {
        match self.find(word)? {
            StoredItem::Experiment(id) => Ok(id),
            StoredItem::Run(id) => Err(StoreError::NoExperiment(id)),
        }
    }

    /// Lists the selected entries, oldest first.
    pub fn list(&self, filter: &EntryFilter) -> Result<Vec<IndexEntry>, StoreError> {
        match self.list_once(filter) {
            // Rows of a large index are checked only when they are read.
            Err(error) if error.is_of_the_index() => {
                self.open_again(IndexCheck::Whole)?;
                self.list_once(filter)
            }
            listed => listed,
        }
    }

    fn list_once(&self, filter: &EntryFilter) -> Result<Vec<IndexEntry>, StoreError> {
        self.reconcile()?;
        // The index shows the state of the last complete read. Entries without an end are read
        // again.
        let open = self.mend()?;
        let mut entries = self.index().entries(filter)?;
        for entry in &mut entries {
            entry.progress = open.get(&entry.id).copied().unwrap_or(entry.progress);
        }
        let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (tag, id) in self.all_tags()? {
            tags.entry(id).or_default().push(tag);
        }
        let noted = self.noted()?;
        let pinned = self.pinned()?;
        for entry in &mut entries {
            entry.tags = tags.remove(&entry.id).unwrap_or_default();
            if noted.contains(&entry.id) {
                entry.note = self.note(&entry.id);
            }
            entry.pinned = pinned.contains(&entry.id);
        }
        Ok(entries)
    }

    /// Lists all items, oldest first: experiments with their runs, and other runs.
    pub fn list_items(&self) -> Result<Vec<(IndexEntry, Vec<IndexEntry>)>, StoreError> {
        let entries = self.list(&EntryFilter::All)?;
        let ids: BTreeSet<String> = entries.iter().map(|entry| entry.id.clone()).collect();
        let mut runs: BTreeMap<String, Vec<IndexEntry>> = BTreeMap::new();
        let mut items = Vec::new();
        for entry in entries {
            match entry.experiment.clone() {
                Some(experiment) if ids.contains(&experiment) => {
                    runs.entry(experiment).or_default().push(entry);
                }
                // An experiment that was removed by hand leaves its runs without one.
                _ => items.push(entry),
            }
        }
        let with_runs = items.into_iter().map(|entry| {
            let runs = runs.remove(&entry.id).unwrap_or_default();
            (entry, runs)
        });
        Ok(with_runs.collect())
    }

    /// Returns the index entry of an id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such id, or the index cannot be read.
    pub fn entry(&self, id: &str) -> Result<IndexEntry, StoreError> {
        self.list(&EntryFilter::One(id.into()))?.pop().ok_or_else(|| StoreError::Unknown(id.into()))
    }

    /// Removes a run, or an experiment with its runs: files, tags, notes and rows. Returns the
    /// number of removed runs.
    ///
    /// Items that are still being written, pinned ones, and baselines are not removed.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it is still being written, pinned or a baseline, or files cannot be removed.
    pub fn remove(&self, item: &StoredItem) -> Result<usize, StoreError> {
        let runs = match item {
            StoredItem::Run(id) => vec![id.clone()],
            StoredItem::Experiment(id) => self.run_ids(id)?,
        };
        // The digest first: a digest without a log is still a run.
        let mut files: Vec<_> = runs
            .iter()
            .flat_map(|id| {
                [self.directory.digest(id), self.directory.run(id)].map(|path| (id.clone(), path))
            })
            .collect();
        if let StoredItem::Experiment(id) = item {
            files.push((id.clone(), self.directory.experiment(id)));
        }
        let ids: BTreeSet<String> = files.iter().map(|(id, _)| id.clone()).collect();
        let ids = Vec::from_iter(ids);
        self.ensure_not_exempt(&ids)?;
        if let Some((busy, _)) = files.iter().find(|(_, path)| mend::is_locked(path)) {
            return Err(StoreError::Busy(busy.clone()));
        }
        // Files first: a row without a file is removed at the next comparison, but a file
        // without a row would get its row again.
        for (id, path) in &files {
            fs::remove_file(path).or_else(ignore_missing).map_err(StoreError::io(path))?;
            self.untag_all(id)?;
            self.remove_note(id)?;
            let _ = fs::remove_file(self.control_socket(id));
        }
        self.index().forget(&ids)?;
        Ok(runs.len())
    }

    pub(crate) fn run_ids(&self, experiment: &str) -> Result<Vec<String>, StoreError> {
        let runs = self.index().entries(&EntryFilter::RunsOf(experiment.into()))?;
        Ok(runs.into_iter().map(|entry| entry.id).collect())
    }

    /// Returns the index.
    pub(crate) fn index(&self) -> Ref<'_, Index> {
        Ref::map(self.index.borrow(), |open| &open.index)
    }

    /// True if the store was removed, and perhaps made again, after this one was opened.
    pub fn is_replaced(&self) -> bool {
        let file = self.index.borrow().file;
        file.is_some() && file != open::FileId::of(&self.directory.index())
    }

    /// Compares the index with the files, once. Later changes of other
    /// processes keep both consistent.
    pub(crate) fn reconcile(&self) -> Result<(), StoreError> {
        if self.index.borrow().is_reconciled {
            Ok(())
        } else {
            self.open_again(IndexCheck::WholeIfSmall)
        }
    }

    /// Opens the index again with a check, and compares it with the files.
    fn open_again(&self, check: IndexCheck) -> Result<(), StoreError> {
        // The old index is closed first: on close, SQLite removes the WAL file by its name, and the
        // name would be that of the new index.
        *self.index.borrow_mut() =
            OpenIndex { index: Index::in_memory()?, is_reconciled: false, file: None };
        *self.index.borrow_mut() = open::index(&self.directory, check, self.progress)?;
        Ok(())
    }

    pub(crate) fn claim(&self, kind: ItemKind) -> Result<String, StoreError> {
        match self.claim_once(kind) {
            Err(error) if error.is_of_the_index() => {
                self.open_again(IndexCheck::Whole)?;
                self.claim_once(kind)
            }
            claimed => claimed,
        }
    }

    fn claim_once(&self, kind: ItemKind) -> Result<String, StoreError> {
        // An id that is equal to a tag would hide the tag in `find`.
        self.index().claim(kind, |id| self.directory.tag(id).exists())
    }

    pub(crate) fn describe(&self, id: &str, head: &ExperimentHead) -> Result<(), StoreError> {
        open::describe(&self.index(), id, head)
    }

    /// True if a process writes to the item.
    pub(crate) fn is_busy(&self, id: &str) -> Result<bool, StoreError> {
        let experiment = self.index().kind(id)? == Some(ItemKind::Experiment);
        let path = if experiment { self.directory.experiment(id) } else { self.directory.run(id) };
        Ok(mend::is_locked(&path))
    }

    fn indexed(&self, id: &str) -> Result<IndexEntry, StoreError> {
        self.index()
            .entries(&EntryFilter::One(id.into()))?
            .pop()
            .ok_or_else(|| StoreError::Unknown(id.into()))
    }

    fn named(&self, id: String) -> Result<StoredItem, StoreError> {
        match self.index().kind(&id)? {
            Some(ItemKind::Run) => Ok(StoredItem::Run(id)),
            Some(ItemKind::Experiment) => Ok(StoredItem::Experiment(id)),
            None => Err(StoreError::Unknown(id)),
        }
    }
}

fn ignore_missing(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
