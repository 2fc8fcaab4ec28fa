//! Taking an archive in: all of it, or nothing.

use super::{Content, Contents, MAGIC};
use crate::log::{self, Head, PackedReader, TrialOf};
use crate::{Store, StoreError, directory, experiment, id};
use brunt_model::codec::{Frame, frame, read_frame};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

const FOREIGN: &str = "not an archive of brunt, or one of an unknown version; `brunt runs export ID` writes one";
const TORN: &str = "the archive is truncated or damaged, and nothing was imported; copy it again";

impl Store {
    /// Takes in what [`export`](Self::export) wrote; the id that it has here: its own, or another where that is taken
    /// by something else. What is here already is not taken in twice.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if `from` cannot be read or is no archive, or the store cannot be written to.
    pub fn import(&self, from: &Path) -> Result<String, StoreError> {
        self.reconcile()?;
        let archive = self.unpacked(from)?;
        if let Some(id) = self.known(&archive) {
            return Ok(id);
        }
        let mut ids = BTreeMap::new();
        let taken = self.take_in(&archive, &mut ids);
        if taken.is_err() {
            let new: Vec<String> = ids.into_values().collect();
            self.index().forget(&new)?;
        }
        taken
    }

    fn unpacked(&self, path: &Path) -> Result<Unpacked, StoreError> {
        let refused = |what| StoreError::Archive { path: path.to_owned(), what };
        let mut from = BufReader::new(File::open(path).map_err(StoreError::io(path))?);
        let mut magic = [0; 8];
        let begins = from.read_exact(&mut magic).is_ok() && &magic == MAGIC;
        if !begins {
            return Err(refused(FOREIGN));
        }
        let first = match read_frame(&mut from).map_err(StoreError::io(path))? {
            Frame::Whole(first) => first,
            Frame::Torn | Frame::End => return Err(refused(TORN)),
        };
        let contents: Contents = serde_json::from_slice(&first).map_err(|_| refused(FOREIGN))?;
        if contents.files.is_empty() || !contents.files.iter().all(|content| id::is_id(&content.id)) {
            return Err(refused(FOREIGN));
        }
        let mut unpacked = Unpacked::default();
        for content in contents.files {
            let place = self.directory.incoming().join(format!("{}-{}", id::draw(), content.id));
            unpacked.files.push((content.clone(), place.clone()));
            let whole = unpack(&mut from, content.bytes, &place).map_err(StoreError::io(&place))?;
            if !whole || !is_what_it_says(&content, &place) {
                return Err(refused(TORN));
            }
        }
        let ends = read_frame(&mut from).map_err(StoreError::io(path))? == Frame::End;
        if ends { Ok(unpacked) } else { Err(refused(TORN)) }
    }

    /// The id of what was exported, where the same is here under it.
    fn known(&self, archive: &Unpacked) -> Option<String> {
        let (content, place) = archive.files.first()?;
        let here = self.path_of(content);
        let all = archive.files.iter().all(|(content, _)| self.path_of(content).exists());
        (all && is_same(&here, place).unwrap_or(false)).then(|| content.id.clone())
    }

    fn take_in(&self, archive: &Unpacked, ids: &mut BTreeMap<String, String>) -> Result<String, StoreError> {
        for (content, _) in &archive.files {
            let own = self.index().claim_as(&content.id, content.kind())?;
            let id = if own { content.id.clone() } else { self.claim(content.kind())? };
            ids.insert(content.id.clone(), id);
        }
        for (content, from) in &archive.files {
            let here = Content { id: ids[&content.id].clone(), ..content.clone() };
            let to = self.path_of(&here);
            if content.experiment {
                fs::rename(from, &to).map_err(StoreError::io(&to))?;
                self.describe(&here.id, &experiment::read(&to)?.asked)?;
            } else if let Some(belongs) = renamed(from, &to, ids)? {
                self.index().belongs(&here.id, &belongs)?;
            }
        }
        let first = &archive.files[0].0;
        Ok(ids[&first.id].clone())
    }
}

/// The files of an archive where nobody looks for them; what is left of them goes when this does.
#[derive(Default)]
struct Unpacked {
    files: Vec<(Content, PathBuf)>,
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        for (_, place) in &self.files {
            let _ = fs::remove_file(place);
        }
    }
}

/// Whether so many bytes came, in whole frames.
fn unpack(from: &mut impl Read, bytes: u64, to: &Path) -> io::Result<bool> {
    let mut out = BufWriter::new(directory::create_new(to)?);
    let mut came = 0;
    while came < bytes {
        let Frame::Whole(piece) = read_frame(from)? else { return Ok(false) };
        if piece.is_empty() {
            return Ok(false);
        }
        out.write_all(&piece)?;
        came += piece.len() as u64;
    }
    out.into_inner()?.sync_all()?;
    Ok(came == bytes)
}

fn is_what_it_says(content: &Content, place: &Path) -> bool {
    if content.experiment {
        return experiment::read(place).is_ok();
    }
    File::open(place).is_ok_and(|file| PackedReader::new(BufReader::new(file)).is_ok())
}

/// Moves a run's log to its place; its head names its experiment by the id that it has here.
fn renamed(from: &Path, to: &Path, ids: &BTreeMap<String, String>) -> Result<Option<TrialOf>, StoreError> {
    let file = File::open(from).map_err(StoreError::io(from))?;
    let reader = PackedReader::new(BufReader::new(file)).map_err(StoreError::log(from))?;
    // A run that was exported without its experiment stands alone.
    let belongs = reader.head().belongs.clone().and_then(|belongs| {
        let experiment = ids.get(&belongs.experiment)?.clone();
        Some(TrialOf { experiment, ..belongs })
    });
    let head = Head { belongs };
    if &head == reader.head() {
        fs::rename(from, to).map_err(StoreError::io(to))?;
    } else {
        rewrite(&head, reader.rest(), to).map_err(StoreError::io(to))?;
    }
    Ok(head.belongs)
}

fn rewrite(head: &Head, mut rest: impl Read, to: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(directory::create_new(to)?);
    out.write_all(log::MAGIC)?;
    out.write_all(&frame(&serde_json::to_vec(head)?)?)?;
    io::copy(&mut rest, &mut out)?;
    out.into_inner()?.sync_all()
}

fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(one).bytes(), BufReader::new(other).bytes());
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(true),
            (a, b) if a == b => {}
            _ => return Ok(false),
        }
    }
}
