//! Imports an archive completely, or not at all.

use super::{ArchiveFile, Contents, MAGIC};
use crate::digest::{self, DigestHead, DigestReader};
use crate::log::{self, LogHead, PackedReader, TrialOf};
use crate::{Store, StoreError, StoredItem, directory, experiment, id};
use brunt_model::codec::{Frame, frame, read_frame};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const FOREIGN: &str =
    "not an archive of brunt, or one of an unknown version; `brunt runs export ID` writes one";
const TORN: &str = "the archive is truncated or damaged, and nothing was imported; copy it again";

impl Store {
    /// Imports an archive that [`export`](Self::export) wrote, and returns the id of the
    /// item in this store.
    ///
    /// The id is the exported one, or a new one if that is already in use. An item that this store
    /// already has is not imported again.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if `path` cannot be read or is no archive, or the store cannot be written to.
    pub fn import(&self, path: &Path) -> Result<String, StoreError> {
        self.reconcile()?;
        let archive = self.unpack_archive(path, is_readable)?;
        if let Some(id) = self.find_imported(&archive) {
            return Ok(id);
        }
        let mut ids = BTreeMap::new();
        let imported = self.move_files(&archive, &mut ids);
        if let Ok(id) = &imported {
            self.adopt_note(&archive, id)?;
        } else {
            let new: Vec<String> = ids.into_values().collect();
            self.index().forget(&new)?;
        }
        imported
    }

    /// Writes the note of the archive to the item that was imported.
    pub(super) fn adopt_note(&self, archive: &Unpacked, id: &str) -> Result<(), StoreError> {
        let Some(note) = &archive.note else { return Ok(()) };
        match archive.files.first() {
            Some((content, _)) if content.experiment => {
                self.set_note(&StoredItem::Experiment(id.to_owned()), note)
            }
            _ => self.set_note(&StoredItem::Run(id.to_owned()), note),
        }
    }

    /// Unpacks the files of an archive, each of which must be valid.
    pub(super) fn unpack_archive(
        &self,
        path: &Path,
        is_valid: fn(&ArchiveFile, &Path) -> bool,
    ) -> Result<Unpacked, StoreError> {
        let mut from =
            BufReader::new(brunt_files::open_regular(path).map_err(StoreError::io(path))?);
        let mut magic = [0; 8];
        let has_magic = from.read_exact(&mut magic).is_ok() && &magic == MAGIC;
        if !has_magic {
            return Err(refusal(path, FOREIGN));
        }
        let first = match read_frame(&mut from).map_err(StoreError::io(path))? {
            Frame::Whole(first) => first,
            Frame::Torn | Frame::End => return Err(refusal(path, TORN)),
        };
        let contents: Contents =
            serde_json::from_slice(&first).map_err(|_| refusal(path, FOREIGN))?;
        if contents.files.is_empty() || !contents.files.iter().all(|content| id::is_id(&content.id))
        {
            return Err(refusal(path, FOREIGN));
        }
        // `Unpacked` removes its files when it is dropped, so each path is added before its file is
        // written.
        let mut unpacked = Unpacked { files: Vec::new(), note: contents.note };
        for content in contents.files {
            let place = self.directory.incoming().join(format!("{}-{}", id::draw(), content.id));
            unpacked.files.push((content.clone(), place.clone()));
            let whole = unpack(&mut from, content.bytes, &place).map_err(StoreError::io(&place))?;
            if !whole || !is_valid(&content, &place) {
                return Err(refusal(path, TORN));
            }
        }
        let is_at_end = read_frame(&mut from).map_err(StoreError::io(path))? == Frame::End;
        if is_at_end { Ok(unpacked) } else { Err(refusal(path, TORN)) }
    }

    /// Returns the id of the exported item if this store has the same item under the same id.
    fn find_imported(&self, archive: &Unpacked) -> Option<String> {
        let (content, place) = archive.files.first()?;
        let here = self.path_of(content);
        let all = archive.files.iter().all(|(content, _)| self.path_of(content).exists());
        (all && has_same_bytes(&here, place).unwrap_or(false)).then(|| content.id.clone())
    }

    pub(super) fn move_files(
        &self,
        archive: &Unpacked,
        ids: &mut BTreeMap<String, String>,
    ) -> Result<String, StoreError> {
        // All ids first: the head of a run's log contains the id of its experiment.
        for (content, _) in &archive.files {
            let is_id_free = self.index().claim_as(&content.id, content.kind())?;
            let id = if is_id_free { content.id.clone() } else { self.claim(content.kind())? };
            ids.insert(content.id.clone(), id);
        }
        for (content, from) in &archive.files {
            let here = ArchiveFile { id: ids[&content.id].clone(), ..content.clone() };
            let to = self.path_of(&here);
            if content.experiment {
                fs::rename(from, &to).map_err(StoreError::io(&to))?;
                self.describe(&here.id, &experiment::read(&to)?.head)?;
            } else {
                let moved = if content.digest { move_digest } else { move_run_log };
                if let Some(trial) = moved(from, &to, ids)? {
                    self.index().set_trial(&here.id, &trial)?;
                }
            }
        }
        let first = &archive.files[0].0;
        Ok(ids[&first.id].clone())
    }
}

/// The unpacked files of an archive, in the directory for incomplete files. Drop removes the
/// ones that are left.
pub(super) struct Unpacked {
    pub files: Vec<(ArchiveFile, PathBuf)>,
    pub note: Option<String>,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        for (_, place) in &self.files {
            let _ = fs::remove_file(place);
        }
    }
}

/// Writes the next `bytes` bytes of the archive to a file. Returns false if they are not
/// there in whole frames.
fn unpack(from: &mut impl Read, bytes: u64, path: &Path) -> io::Result<bool> {
    let mut out = BufWriter::new(directory::create_new(path)?);
    let mut received = 0;
    while received < bytes {
        let Frame::Whole(piece) = read_frame(from)? else { return Ok(false) };
        // An empty piece would make no progress, and a damaged archive may have any number of them.
        if piece.is_empty() {
            return Ok(false);
        }
        out.write_all(&piece)?;
        received += piece.len() as u64;
    }
    out.into_inner()?.sync_all()?;
    Ok(received == bytes)
}

fn refusal(path: &Path, what: &'static str) -> StoreError {
    StoreError::Archive { path: path.to_owned(), what }
}

fn is_readable(content: &ArchiveFile, path: &Path) -> bool {
    if content.experiment {
        return experiment::read(path).is_ok();
    }
    if content.digest {
        // Nothing else is left of the run, so all of it is read.
        let reader = DigestReader::open(path);
        return matches!(reader.map(|reader| reader.map(DigestReader::run)), Ok(Some(Ok(Some(_)))));
    }
    brunt_files::open_regular(path)
        .is_ok_and(|file| PackedReader::new(BufReader::new(file)).is_ok())
}

/// Moves a run's log into the store. If its experiment has another id here, the
/// log's head is rewritten.
fn move_run_log(
    from: &Path,
    to: &Path,
    ids: &BTreeMap<String, String>,
) -> Result<Option<TrialOf>, StoreError> {
    let file = brunt_files::open_regular(from).map_err(StoreError::io(from))?;
    let reader = PackedReader::new(BufReader::new(file)).map_err(StoreError::log(from))?;
    let head = LogHead { belongs: trial_here(reader.head().belongs.as_ref(), ids) };
    if &head == reader.head() {
        fs::rename(from, to).map_err(StoreError::io(to))?;
    } else {
        rewrite(&head, reader.rest(), to).map_err(StoreError::io(to))?;
    }
    Ok(head.belongs)
}

/// Moves the digest of a run into the store, in the same way as a log.
fn move_digest(
    from: &Path,
    to: &Path,
    ids: &BTreeMap<String, String>,
) -> Result<Option<TrialOf>, StoreError> {
    let reader = DigestReader::open(from).map_err(StoreError::io(from))?;
    let reader = reader.ok_or_else(|| StoreError::DigestDamaged(from.to_owned()))?;
    let belongs = trial_here(reader.head().belongs.as_ref(), ids);
    let head = DigestHead { belongs, ..reader.head().clone() };
    if &head == reader.head() {
        fs::rename(from, to).map_err(StoreError::io(to))?;
    } else {
        digest::rewrite(to, &head, reader.rest()).map_err(StoreError::io(to))?;
    }
    Ok(head.belongs)
}

/// Returns the trial of a run in this store. A run that was exported without its experiment belongs
/// to none here.
fn trial_here(belongs: Option<&TrialOf>, ids: &BTreeMap<String, String>) -> Option<TrialOf> {
    let belongs = belongs?;
    let experiment = ids.get(&belongs.experiment)?.clone();
    Some(TrialOf { experiment, ..belongs.clone() })
}

fn rewrite(head: &LogHead, mut rest: impl Read, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(directory::create_new(path)?);
    out.write_all(log::MAGIC)?;
    out.write_all(&frame(&serde_json::to_vec(head)?)?)?;
    io::copy(&mut rest, &mut out)?;
    out.into_inner()?.sync_all()
}

pub(super) fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let one = brunt_files::open_regular(one)?;
    let other = brunt_files::open_regular(other)?;
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    is_equal(one, other)
}

/// True if both have the same bytes up to their end.
pub(super) fn is_equal(one: impl Read, other: impl Read) -> io::Result<bool> {
    let mut one = BufReader::new(one).bytes();
    let mut other = BufReader::new(other).bytes();
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(true),
            (a, b) if a == b => {}
            _ => return Ok(false),
        }
    }
}
