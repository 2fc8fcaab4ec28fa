//! A run, or an experiment with its runs, as one file that another store takes in.
//!
//! It is the eight bytes [`MAGIC`], then frames as those of an event log: the first says what follows ([`Contents`], as
//! JSON), the others are the files of the store, one after the other, in pieces. A file that is cut off, changed or of
//! another kind is refused before anything of it is kept. Out of scope: a backup of a store; tags stay behind.

mod import;

use crate::entry::Kind;
use crate::{Store, StoreError, StoredItem};
use brunt_model::codec::frame;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The first bytes; the last two are the version.
pub const MAGIC: &[u8; 8] = b"BRUNTA01";

/// Files go over in pieces of this many bytes.
const PIECE: u64 = 1 << 20;

/// What an archive holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The files, in order. The first is what was exported; the others are its runs.
    pub files: Vec<Content>,
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The id under which it was kept.
    pub id: String,
    /// Whether it is an experiment.
    pub experiment: bool,
    /// How many bytes it has.
    pub bytes: u64,
}

impl Store {
    /// Writes a run, or an experiment with its runs, to one file.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if a log of it is damaged or still being written, or `to` cannot be written.
    pub fn export(&self, what: &StoredItem, to: &Path) -> Result<(), StoreError> {
        let (contents, copies) = self.contents(what)?;
        let file = File::create(to).map_err(StoreError::io(to))?;
        let mut out = BufWriter::new(file);
        let mut written = out.write_all(MAGIC).and_then(|()| {
            let first = serde_json::to_vec(&contents)?;
            out.write_all(&frame(&first)?)
        });
        for content in &contents.files {
            let path = copies.of(content).unwrap_or_else(|| self.path_of(content));
            written = written.and_then(|()| copy(&path, content.bytes, &mut out));
        }
        written.and_then(|()| out.flush()).map_err(StoreError::io(to))
    }

    /// What is exported, and redacted copies of what an earlier brunt kept in clear.
    fn contents(&self, what: &StoredItem) -> Result<(Contents, Copies), StoreError> {
        let mut ids = vec![(what.id().to_owned(), matches!(what, StoredItem::Experiment(_)))];
        if let StoredItem::Experiment(id) = what {
            ids.extend(self.run_ids(id)?.into_iter().map(|id| (id, false)));
        }
        let (mut files, mut copies) = (Vec::new(), Copies::default());
        for (id, experiment) in ids {
            if self.is_busy(&id)? {
                return Err(StoreError::Busy(id));
            }
            let content = Content { id, experiment, bytes: 0 };
            let kept = self.path_of(&content);
            let copy = self.scrubbed_copy(&kept, content.kind())?;
            copies.0.extend(copy.clone().map(|copy| (content.id.clone(), copy)));
            let path = copy.unwrap_or(kept);
            let bytes = path.metadata().map_err(StoreError::io(&path))?.len();
            files.push(Content { bytes, ..content });
        }
        Ok((Contents { files }, copies))
    }

    fn path_of(&self, content: &Content) -> PathBuf {
        if content.experiment { self.directory.experiment(&content.id) } else { self.directory.run(&content.id) }
    }
}

/// Redacted copies of files, by their ids; they go when this does.
#[derive(Default)]
struct Copies(Vec<(String, PathBuf)>);

impl Copies {
    fn of(&self, content: &Content) -> Option<PathBuf> {
        self.0.iter().find(|(id, _)| *id == content.id).map(|(_, copy)| copy.clone())
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        for (_, copy) in &self.0 {
            let _ = std::fs::remove_file(copy);
        }
    }
}

impl Content {
    fn kind(&self) -> Kind {
        if self.experiment { Kind::Experiment } else { Kind::Run }
    }
}

fn copy(from: &Path, bytes: u64, out: &mut impl Write) -> io::Result<()> {
    let mut from = File::open(from)?.take(bytes);
    loop {
        let mut piece = Vec::new();
        if from.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
            return Ok(());
        }
        out.write_all(&frame(&piece)?)?;
    }
}
