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
        let contents = self.contents(what)?;
        let file = File::create(to).map_err(StoreError::io(to))?;
        let mut out = BufWriter::new(file);
        let mut written = out.write_all(MAGIC).and_then(|()| {
            let first = serde_json::to_vec(&contents)?;
            out.write_all(&frame(&first)?)
        });
        for content in &contents.files {
            written = written.and_then(|()| copy(&self.path_of(content), content.bytes, &mut out));
        }
        written.and_then(|()| out.flush()).map_err(StoreError::io(to))
    }

    /// Returns the list of the files of a run, or of an experiment and its runs.
    fn contents(&self, what: &StoredItem) -> Result<Contents, StoreError> {
        let mut ids = vec![(what.id().to_owned(), matches!(what, StoredItem::Experiment(_)))];
        if let StoredItem::Experiment(id) = what {
            ids.extend(self.run_ids(id)?.into_iter().map(|id| (id, false)));
        }
        let mut files = Vec::new();
        for (id, experiment) in ids {
            if self.is_busy(&id)? {
                return Err(StoreError::Busy(id));
            }
            let content = Content { id, experiment, bytes: 0 };
            let path = self.path_of(&content);
            let bytes = path.metadata().map_err(StoreError::io(&path))?.len();
            files.push(Content { bytes, ..content });
        }
        Ok(Contents { files })
    }

    fn path_of(&self, content: &Content) -> PathBuf {
        if content.experiment { self.directory.experiment(&content.id) } else { self.directory.run(&content.id) }
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
