//! Reads a log while it is written.

use super::PackedReader;
use brunt_files::open_regular;
use brunt_model::Event;
use brunt_model::codec::LogError;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

/// A packed log that another process may still write.
pub struct LogTail {
    reader: PackedReader<File>,
}

impl LogTail {
    /// Opens a log at its beginning.
    ///
    /// # Errors
    ///
    /// [`LogError`] if it cannot be read, is no packed log, or has an unknown version.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        Ok(Self { reader: PackedReader::new(open_regular(path)?)? })
    }

    /// Returns the next event; None if its writer has not completed it yet. A later call may return it then.
    pub fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        let place = self.reader.input().stream_position()?;
        match self.reader.next_event() {
            // The writer may be in the middle of it.
            Err(LogError::Torn(_)) => {
                self.reader.input().seek(SeekFrom::Start(place))?;
                Ok(None)
            }
            result => result,
        }
    }
}
