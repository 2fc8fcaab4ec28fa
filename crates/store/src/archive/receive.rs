//! Receives an archive from another machine: its size is bounded, all of it is read before anything is
//! stored, and ids stay as they are.

use super::import::{Unpacked, has_same_bytes, is_equal};
use super::{ArchiveFile, Contents, MAGIC};
use crate::digest::DigestReader;
use crate::experiment::{self, ExperimentContents};
use crate::log::{PackedReader, TrialOf};
use crate::store::notes::check_note;
use crate::{Store, StoreError, StoredItem};
use brunt_model::codec::{Frame, LogError, read_frame};
use brunt_model::{Experiment, Run};
use flate2::read::DeflateDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Maximum unpacked size of a received experiment without its runs, and maximum size of a digest, in bytes.
const MAX_EXPERIMENT_BYTES: u64 = 64 << 20;
const MAX_DIGEST_BYTES: u64 = 16 << 20;

/// Maximum number of repetitions of a received trial. Searches make more than the experiment names.
const MAX_REPETITIONS: u32 = 1_000_000;

/// Maximum size of an archive from another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Maximum number of bytes of the archive.
    pub bytes: u64,
    /// Maximum number of bytes that its logs unpack to.
    pub unpacked_bytes: u64,
    /// Maximum number of files: an experiment and its runs.
    pub files: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        // The log of a run of an hour has about 20 MB, and unpacks to ten times as much.
        Self { bytes: 256 << 20, unpacked_bytes: 4 << 30, files: 20_000 }
    }
}

/// An item that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedItem {
    /// The item.
    pub item: StoredItem,
    /// False if this store had the same item before.
    pub is_new: bool,
}

impl Store {
    /// Imports an archive of another machine. The item keeps its id.
    ///
    /// Each event log is read to its end before anything is stored. If this store has the same item, nothing
    /// changes.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the archive is damaged or exceeds a limit, if another item has the id, or if the store
    /// cannot be written to.
    pub fn receive(&self, path: &Path, limits: &ArchiveLimits) -> Result<ReceivedItem, StoreError> {
        self.reconcile()?;
        check_contents(path, limits)?;
        // The files are read after their sizes were checked.
        let archive = self.unpack_archive(path, |_, _| true).map_err(without_path)?;
        check_files(&archive, limits)?;
        let item = item_of(&archive)?;
        archive.note.as_deref().map_or(Ok(()), check_note)?;
        // A push that is repeated after a broken connection must succeed.
        if self.has_all(&archive) {
            return Ok(ReceivedItem { item, is_new: false });
        }
        for (content, _) in &archive.files {
            // An id that is equal to a tag would hide the item with this tag.
            let is_taken = self.index().kind(&content.id)?.is_some()
                || self.directory.tag(&content.id).exists();
            if is_taken {
                return Err(StoreError::OtherContent(content.id.clone()));
            }
        }
        let mut ids = BTreeMap::new();
        if let Err(error) = self.move_files(&archive, &mut ids) {
            let new: Vec<String> = ids.into_values().collect();
            self.index().forget(&new)?;
            return Err(error);
        }
        self.adopt_note(&archive, item.id())?;
        Ok(ReceivedItem { item, is_new: true })
    }

    /// True if this store has all items of the archive under the same ids.
    fn has_all(&self, archive: &Unpacked) -> bool {
        archive.files.iter().all(|(content, place)| {
            let here = self.path_of(content);
            let is_same = if here.exists() {
                has_same_content(content, &here, place)
            } else {
                self.has_other_form(content, place)
            };
            is_same.unwrap_or(false)
        })
    }

    /// True if this store has the digest of a received log, or the log of a received digest: a retention has removed
    /// one of them.
    fn has_other_form(&self, content: &ArchiveFile, place: &Path) -> io::Result<bool> {
        if content.experiment {
            return Ok(false);
        }
        let digest = self.directory.digest(&content.id);
        let log = self.directory.run(&content.id);
        let (digest, log) = if content.digest { (place, &*log) } else { (&*digest, place) };
        if !digest.exists() || !log.exists() {
            return Ok(false);
        }
        let log_bytes = log.metadata()?.len();
        Ok(DigestReader::open(digest)?.is_some_and(|digest| digest.head().log_bytes == log_bytes))
    }
}

/// Checks the size of an archive, and the list of its files.
fn check_contents(path: &Path, limits: &ArchiveLimits) -> Result<(), StoreError> {
    let bytes = path.metadata().map_err(StoreError::io(path))?.len();
    if bytes > limits.bytes {
        return Err(refusal(format!("has {bytes} bytes (maximum: {})", limits.bytes)));
    }
    let mut from = BufReader::new(brunt_files::open_regular(path).map_err(StoreError::io(path))?);
    let mut magic = [0; 8];
    let first = match from.read_exact(&mut magic) {
        Ok(()) if &magic == MAGIC => read_frame(&mut from).map_err(StoreError::io(path))?,
        _ => return Err(refusal("is no archive of brunt, or one of an unknown version")),
    };
    let Frame::Whole(first) = first else { return Err(refusal("is truncated or damaged")) };
    let contents: Contents =
        serde_json::from_slice(&first).map_err(|_| refusal("has no list of its files"))?;
    if contents.files.len() > limits.files {
        let files = contents.files.len();
        return Err(refusal(format!("has {files} files (maximum: {})", limits.files)));
    }
    let ids: BTreeSet<&str> = contents.files.iter().map(|file| file.id.as_str()).collect();
    if ids.len() < contents.files.len() {
        return Err(refusal("has two files of one id"));
    }
    let is_experiment = contents.files.first().is_some_and(|file| file.experiment);
    let has_large_digest =
        contents.files.iter().any(|file| file.digest && file.bytes > MAX_DIGEST_BYTES);
    if has_large_digest {
        return Err(refusal(format!("has a digest of more than {MAX_DIGEST_BYTES} bytes")));
    }
    let has_others = contents.files.iter().skip(1).any(|file| file.experiment || !is_experiment);
    if has_others {
        return Err(refusal("has more than one run or experiment"));
    }
    Ok(())
}

/// Reads all files to their end.
fn check_files(archive: &Unpacked, limits: &ArchiveLimits) -> Result<(), StoreError> {
    let mut experiment = None;
    let mut unpacked = 0;
    for (content, place) in &archive.files {
        if content.experiment {
            let contents = read_experiment(place, &content.id)?;
            experiment = Some((content.id.as_str(), contents.head.experiment));
            continue;
        }
        let trial = if content.digest {
            check_digest(place, limits.unpacked_bytes, &mut unpacked)
        } else {
            check_log(place, limits.unpacked_bytes, &mut unpacked)
        };
        let trial = trial
            .map_err(|problem| refusal(format!("has the run {}, which {problem}", content.id)))?;
        if let Some((id, experiment)) = &experiment
            && !trial.is_some_and(|trial| is_trial_of(&trial, id, experiment))
        {
            return Err(refusal(format!("has a run of another experiment: {}", content.id)));
        }
    }
    Ok(())
}

/// Reads the file of an experiment to its end.
fn read_experiment(path: &Path, id: &str) -> Result<ExperimentContents, StoreError> {
    let damaged = || refusal(format!("has an experiment that is damaged: {id}"));
    let bytes = unpacked_size(path).map_err(StoreError::io(path))?.ok_or_else(damaged)?;
    if bytes > MAX_EXPERIMENT_BYTES {
        let text = format!("has an experiment of more than {MAX_EXPERIMENT_BYTES} bytes: {id}");
        return Err(refusal(text));
    }
    let contents = experiment::read(path).map_err(|_| damaged())?;
    let length = path.metadata().map_err(StoreError::io(path))?.len();
    // The reader of the store ends quietly at a damaged record.
    if contents.whole_bytes == length { Ok(contents) } else { Err(damaged()) }
}

/// Returns the unpacked size of an experiment, or a size above the maximum; None if it is damaged.
fn unpacked_size(path: &Path) -> io::Result<Option<u64>> {
    let mut from = BufReader::new(brunt_files::open_regular(path)?);
    from.read_exact(&mut [0; 8])?;
    let mut total = 0;
    loop {
        let packed = match read_frame(&mut from)? {
            Frame::End => return Ok(Some(total)),
            Frame::Torn => return Ok(None),
            Frame::Whole(packed) => packed,
        };
        let mut plain = DeflateDecoder::new(&packed[..]).take(MAX_EXPERIMENT_BYTES + 1);
        let Ok(bytes) = io::copy(&mut plain, &mut io::sink()) else { return Ok(None) };
        total += bytes;
        if total > MAX_EXPERIMENT_BYTES {
            return Ok(Some(total));
        }
    }
}

/// Folds a log. Returns the trial that the run belongs to.
fn check_log(
    path: &Path,
    unpacked_limit: u64,
    unpacked: &mut u64,
) -> Result<Option<TrialOf>, String> {
    let file = brunt_files::open_regular(path).map_err(|error| error.to_string())?;
    let mut log = PackedReader::new(BufReader::new(file)).map_err(|error| describe(&error))?;
    let mut run = Run::default();
    let remaining = unpacked_limit.saturating_sub(*unpacked);
    while let Some(event) = log.next_event().map_err(|error| describe(&error))? {
        run.fold(&event);
        if log.unpacked_bytes() > remaining {
            return Err(format!("unpacks to more than {unpacked_limit} bytes"));
        }
    }
    *unpacked += log.unpacked_bytes();
    if run.plan.is_none() {
        return Err("has no plan".to_owned());
    }
    // A run that cannot be judged would make each list of the store fail.
    let _ = brunt_judge::judge(&run);
    Ok(log.head().belongs.clone())
}

/// Reads the digest of a run. Returns the trial that the run belongs to.
fn check_digest(
    path: &Path,
    unpacked_limit: u64,
    unpacked: &mut u64,
) -> Result<Option<TrialOf>, String> {
    let damaged = || "has a damaged digest".to_owned();
    let reader = DigestReader::open(path).ok().flatten().ok_or_else(damaged)?;
    let trial = reader.head().belongs.clone();
    let (run, bytes) = reader.run_and_size().ok().flatten().ok_or_else(damaged)?;
    *unpacked += bytes;
    if *unpacked > unpacked_limit {
        return Err(format!("unpacks to more than {unpacked_limit} bytes"));
    }
    if run.plan.is_none() {
        return Err("has no plan".to_owned());
    }
    let _ = brunt_judge::judge(&run);
    Ok(trial)
}

fn describe(error: &LogError) -> String {
    format!("has a damaged log: {error}")
}

fn is_trial_of(trial: &TrialOf, id: &str, experiment: &Experiment) -> bool {
    trial.experiment == id
        && trial.place.repetition < MAX_REPETITIONS
        && experiment.contenders.get(trial.place.contender).is_some_and(|contender| {
            contender.name == trial.contender && trial.place.step < contender.steps.len()
        })
}

fn item_of(archive: &Unpacked) -> Result<StoredItem, StoreError> {
    let (first, _) = archive.files.first().ok_or_else(|| refusal("has no files"))?;
    let id = first.id.clone();
    Ok(if first.experiment { StoredItem::Experiment(id) } else { StoredItem::Run(id) })
}

/// Compares a file of the store with a received one. The head of a run's log differs if one of them was
/// exported without its experiment.
fn has_same_content(content: &ArchiveFile, here: &Path, place: &Path) -> io::Result<bool> {
    if content.experiment {
        return has_same_bytes(here, place);
    }
    if content.digest {
        let readers = [DigestReader::open(here)?, DigestReader::open(place)?];
        let [Some(here), Some(place)] = readers else { return Ok(false) };
        return is_equal(here.rest(), place.rest());
    }
    let here = PackedReader::new(BufReader::new(brunt_files::open_regular(here)?))
        .map_err(io::Error::other)?;
    let place = PackedReader::new(BufReader::new(brunt_files::open_regular(place)?))
        .map_err(io::Error::other)?;
    is_equal(here.rest(), place.rest())
}

fn refusal(what: impl Into<String>) -> StoreError {
    StoreError::Received(what.into())
}

/// Replaces the path of a temporary file, which means nothing to the sender.
fn without_path(error: StoreError) -> StoreError {
    match error {
        StoreError::Archive { .. } => refusal("is truncated or damaged"),
        error => error,
    }
}
