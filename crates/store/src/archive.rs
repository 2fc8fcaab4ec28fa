//! Exports a run, or an experiment with its runs, to one file that another store can import.
//!
//! The file is the eight bytes [`MAGIC`], then frames as in an event log. The first frame is the
//! list of files ([`Contents`], as JSON); the others hold the store's files, in order, in chunks. A
//! file that is truncated, changed or of another kind is refused before anything of it is stored.
//! Out of scope: a backup of a store; tags are not exported.

mod import;
mod receive;

use crate::entry::ItemKind;
use crate::{Store, StoreError, StoredItem};
use brunt_model::codec::frame;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

pub use receive::{ArchiveLimits, ReceivedItem};

/// First bytes of an archive; the last two are the version.
pub const MAGIC: &[u8; 8] = b"BRUNTA01";

/// Maximum bytes of a file in one frame.
const PIECE: u64 = 1 << 20;

/// List of the files of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The files, in order. The first is the exported item; the others are its runs.
    pub files: Vec<ArchiveFile>,
    /// Note of the exported item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFile {
    /// Id of the file in the exporting store.
    pub id: String,
    /// True for an experiment, false for a run.
    pub experiment: bool,
    /// True for the digest of a run without a log.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub digest: bool,
    /// Size of the file, in bytes.
    pub bytes: u64,
}

impl Store {
    /// Writes a run, or an experiment with its runs, to one file.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if one of its logs is damaged or still being written, or
    /// `path` cannot be written.
    pub fn export(&self, item: &StoredItem, path: &Path) -> Result<(), StoreError> {
        let contents = self.contents(item)?;
        let file = File::create(path).map_err(StoreError::io(path))?;
        let mut out = BufWriter::new(file);
        let mut written = out.write_all(MAGIC).and_then(|()| {
            let first = serde_json::to_vec(&contents)?;
            out.write_all(&frame(&first)?)
        });
        for content in &contents.files {
            written = written.and_then(|()| copy(&self.path_of(content), content.bytes, &mut out));
        }
        written.and_then(|()| out.flush()).map_err(StoreError::io(path))
    }

    /// Returns the list of the files of a run, or of an experiment and its runs.
    fn contents(&self, item: &StoredItem) -> Result<Contents, StoreError> {
        let mut ids = vec![(item.id().to_owned(), matches!(item, StoredItem::Experiment(_)))];
        if let StoredItem::Experiment(id) = item {
            ids.extend(self.run_ids(id)?.into_iter().map(|id| (id, false)));
        }
        let mut files = Vec::new();
        for (id, experiment) in ids {
            if self.is_busy(&id)? {
                return Err(StoreError::Busy(id));
            }
            // A digest can be made from a log, so only one without a log is exported.
            let digest = !experiment && self.log_bytes(&id)?.is_none();
            let content = ArchiveFile { id, experiment, digest, bytes: 0 };
            let path = self.path_of(&content);
            let bytes = path.metadata().map_err(StoreError::io(&path))?.len();
            files.push(ArchiveFile { bytes, ..content });
        }
        Ok(Contents { files, note: self.note(item.id()) })
    }

    fn path_of(&self, content: &ArchiveFile) -> PathBuf {
        if content.experiment {
            self.directory.experiment(&content.id)
        } else if content.digest {
            self.directory.digest(&content.id)
        } else {
            self.directory.run(&content.id)
        }
    }
}

impl ArchiveFile {
    fn kind(&self) -> ItemKind {
        if self.experiment { ItemKind::Experiment } else { ItemKind::Run }
    }
}

fn copy(from: &Path, bytes: u64, out: &mut impl Write) -> io::Result<()> {
    let mut from = brunt_files::open_regular(from)?.take(bytes);
    loop {
        let mut piece = Vec::new();
        if from.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
            return Ok(());
        }
        out.write_all(&frame(&piece)?)?;
    }
}
