//! The store: begins, finds, lists and removes runs and experiments.

mod baselines;
mod experiments;
mod mend;
mod open;
mod tags;

use open::OpenIndex;

use crate::directory::Directory;
use crate::entry::{Entry, Kind, Progress};
use crate::experiment::ExperimentHead;
use crate::index::{Index, IndexCheck};
use crate::log::{EventReader, Head, TrialOf};
use crate::redact::{Redactor, key};
use crate::{RunLog, StoreError, id};
use brunt_model::codec::LogError;
use brunt_model::{Run, TrialIndex};
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

/// A directory of runs and experiments. Several processes may use one at once.
pub struct Store {
    pub(crate) directory: Directory,
    index: RefCell<OpenIndex>,
    /// The files of experiments that this process carries out, locked: that is how others know.
    carried_out: RefCell<BTreeMap<String, File>>,
    redactor: Arc<Redactor>,
}

/// Something kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredItem {
    /// A run, by its id.
    Run(String),
    /// An experiment, by its id.
    Experiment(String),
}

impl StoredItem {
    /// Its id.
    pub fn id(&self) -> &str {
        match self {
            Self::Run(id) | Self::Experiment(id) => id,
        }
    }
}

/// Which entries to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryFilter {
    /// Experiments, and runs that belong to none.
    Alone,
    /// Everything.
    All,
    /// The runs of the experiment with this id.
    RunsOf(String),
    /// Whatever goes on, or whose writer went away unseen.
    Unended,
    /// What has this id.
    One(String),
}

impl Store {
    /// Opens the store in a directory, which is made where there is none. An index that is missing or damaged is made
    /// again from the files; whether it says what the files say is checked when something is first looked up, because a new run
    /// must not take longer the more is stored.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the directory cannot be made or read, or a later version made its index.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let directory = Directory::make(directory)?;
        let index = RefCell::new(open::index(&directory, IndexCheck::Schema)?);
        let redactor = Arc::new(key::redactor(&directory)?);
        Ok(Self { directory, index, carried_out: RefCell::default(), redactor })
    }

    /// What replaces secrets here: equal ones by the same hash, in whatever is kept.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Begins a run; of which experiment it is, and which trial, where it is of one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the log or its row cannot be made.
    pub fn begin_run(&self, belongs: Option<(&str, TrialIndex)>) -> Result<RunLog, StoreError> {
        let belongs = belongs.map(|(experiment, place)| self.belongs(experiment, place)).transpose()?;
        let id = self.claim(Kind::Run)?;
        if let Some(belongs) = &belongs {
            self.index().belongs(&id, belongs)?;
        }
        RunLog::begin(&self.directory, id, &Head { belongs }, Arc::clone(&self.redactor))
    }

    fn belongs(&self, experiment: &str, place: TrialIndex) -> Result<TrialOf, StoreError> {
        let entry = self.indexed(experiment)?;
        let contender = entry.contenders.get(place.contender).cloned().unwrap_or_default();
        Ok(TrialOf { experiment: experiment.to_owned(), place, contender })
    }

    /// A run, folded from its log as far as that is whole.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such run, or its log is damaged or cannot be read.
    pub fn run(&self, id: &str) -> Result<Run, StoreError> {
        let (mut run, mut events) = (Run::default(), self.events(id)?);
        for event in &mut events {
            match event {
                Ok(event) => run.fold(&event),
                Err(LogError::Torn(_)) => break,
                Err(error) => return Err(StoreError::log(&self.directory.run(id))(error)),
            }
        }
        run.warnings.extend(events.warning());
        Ok(run)
    }

    /// The events of a run, one after the other.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such run, or its log cannot be read.
    pub fn events(&self, id: &str) -> Result<EventReader<BufReader<File>>, StoreError> {
        let path = self.directory.run(id);
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        EventReader::new(BufReader::new(file)).map_err(StoreError::log(&path))
    }

    /// What goes by this word: an id, the beginning of one, a tag, the name of an experiment (the latest of it), or
    /// `last`: of the experiments, and runs of none, that have ended, the one that was begun last.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if nothing goes by this word, or several things do, or the index cannot be read.
    pub fn find(&self, word: &str) -> Result<StoredItem, StoreError> {
        self.reconcile()?;
        if word == "last" {
            let listed = self.list(&EntryFilter::Alone)?;
            let ended = listed.iter().rfind(|entry| entry.progress != Progress::Running);
            let last = ended.or(listed.last()).ok_or_else(|| StoreError::Unknown(word.into()))?;
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
        let mut ids = if id::is_part_of_id(word) { self.index().ids_from(word)? } else { Vec::new() };
        match (ids.pop(), ids.is_empty()) {
            (None, _) => Err(StoreError::Unknown(word.into())),
            (Some(id), true) => self.named(id),
            (Some(id), false) => Err(StoreError::Ambiguous { word: word.into(), ids: [ids, vec![id]].concat() }),
        }
    }

    /// The experiment that goes by this word; its id.
    ///
    /// # Errors
    ///
    /// The same as of [`find`](Self::find), and if it is a run.
    pub fn find_experiment(&self, word: &str) -> Result<String, StoreError> {
        match self.find(word)? {
            StoredItem::Experiment(id) => Ok(id),
            StoredItem::Run(id) => Err(StoreError::NoExperiment(id)),
        }
    }

    /// What is kept, the oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the index cannot be read.
    pub fn list(&self, which: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        self.reconcile()?;
        let open = self.mend()?;
        let mut entries = self.index().entries(which)?;
        for entry in &mut entries {
            entry.progress = open.get(&entry.id).copied().unwrap_or(entry.progress);
        }
        let mut tags: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (tag, id) in self.all_tags()? {
            tags.entry(id).or_default().push(tag);
        }
        for entry in &mut entries {
            entry.tags = tags.remove(&entry.id).unwrap_or_default();
        }
        Ok(entries)
    }

    /// What the index says of one of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if there is no such id, or the index cannot be read.
    pub fn entry(&self, id: &str) -> Result<Entry, StoreError> {
        self.list(&EntryFilter::One(id.into()))?.pop().ok_or_else(|| StoreError::Unknown(id.into()))
    }

    /// Removes a run, or an experiment with its runs: files, tags and rows; how many runs it was. What is still being
    /// written stays, and so does a baseline.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if it is still being written or a baseline, or files cannot be removed.
    pub fn remove(&self, what: &StoredItem) -> Result<usize, StoreError> {
        let runs = match what {
            StoredItem::Run(id) => vec![id.clone()],
            StoredItem::Experiment(id) => self.run_ids(id)?,
        };
        let mut files: Vec<_> = runs.iter().map(|id| (id.clone(), self.directory.run(id))).collect();
        if let StoredItem::Experiment(id) = what {
            files.push((id.clone(), self.directory.experiment(id)));
        }
        self.ensure_no_baseline(&files.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>())?;
        if let Some((busy, _)) = files.iter().find(|(_, path)| mend::is_locked(path)) {
            return Err(StoreError::Busy(busy.clone()));
        }
        for (id, path) in &files {
            fs::remove_file(path).or_else(not_there).map_err(StoreError::io(path))?;
            self.untag_all(id)?;
        }
        let ids: Vec<String> = files.into_iter().map(|(id, _)| id).collect();
        self.index().forget(&ids)?;
        Ok(runs.len())
    }

    pub(crate) fn run_ids(&self, experiment: &str) -> Result<Vec<String>, StoreError> {
        let runs = self.index().entries(&EntryFilter::RunsOf(experiment.into()))?;
        Ok(runs.into_iter().map(|entry| entry.id).collect())
    }

    /// The index.
    pub(crate) fn index(&self) -> Ref<'_, Index> {
        Ref::map(self.index.borrow(), |open| &open.index)
    }

    /// Checks the index against the files, once: other processes keep it true from then on.
    pub(crate) fn reconcile(&self) -> Result<(), StoreError> {
        if self.index.borrow().is_reconciled { Ok(()) } else { self.open_again() }
    }

    /// Opens the index again with all checks.
    fn open_again(&self) -> Result<(), StoreError> {
        // The old one is closed first: SQLite removes the log of an index that was put aside by its name.
        *self.index.borrow_mut() = OpenIndex { index: Index::in_memory()?, is_reconciled: false };
        *self.index.borrow_mut() = open::index(&self.directory, IndexCheck::Whole)?;
        Ok(())
    }

    pub(crate) fn claim(&self, kind: Kind) -> Result<String, StoreError> {
        match self.claim_once(kind) {
            Err(error) if error.is_of_the_index() => {
                self.open_again()?;
                self.claim_once(kind)
            }
            claimed => claimed,
        }
    }

    fn claim_once(&self, kind: Kind) -> Result<String, StoreError> {
        self.index().claim(kind, |id| self.directory.tag(id).exists())
    }

    pub(crate) fn describe(&self, id: &str, asked: &ExperimentHead) -> Result<(), StoreError> {
        open::describe(&self.index(), id, asked)
    }

    /// Whether a process writes to it.
    pub(crate) fn is_busy(&self, id: &str) -> Result<bool, StoreError> {
        let experiment = self.index().kind(id)? == Some(Kind::Experiment);
        let path = if experiment { self.directory.experiment(id) } else { self.directory.run(id) };
        Ok(mend::is_locked(&path))
    }

    fn indexed(&self, id: &str) -> Result<Entry, StoreError> {
        self.index().entries(&EntryFilter::One(id.into()))?.pop().ok_or_else(|| StoreError::Unknown(id.into()))
    }

    fn named(&self, id: String) -> Result<StoredItem, StoreError> {
        match self.index().kind(&id)? {
            Some(Kind::Run) => Ok(StoredItem::Run(id)),
            Some(Kind::Experiment) => Ok(StoredItem::Experiment(id)),
            None => Err(StoreError::Unknown(id)),
        }
    }
}

fn not_there(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
