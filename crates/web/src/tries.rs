//! The latest tries of plan files.

use crate::process::{Started, StartedList};
use tempfile::TempDir;

/// A plan file that is tried.
pub struct TriedPlan {
    /// The plan file.
    pub file: String,
    /// Folder with samples and bodies of the try.
    pub folder: TempDir,
}

impl StartedList<TriedPlan> {
    /// Returns the numbers of the other tries of the same file.
    pub fn others(&self, one: &Started<TriedPlan>) -> Vec<u32> {
        let others = self.iter().filter(|other| other.details.file == one.details.file);
        others.map(|other| other.number).filter(|number| *number != one.number).collect()
    }
}
