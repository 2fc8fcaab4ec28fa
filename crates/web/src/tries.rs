//! The latest tries of plan files, with their processes and temporary folders.

use crate::process::StartedProcess;
use tempfile::TempDir;

/// Number of tries that are kept. An older one is removed with its files.
pub const MOST_TRIES: usize = 20;

/// The latest tries, the oldest first.
#[derive(Default)]
pub struct Tries {
    tries: Vec<Try>,
    /// Number of the latest try.
    latest: u32,
}

/// A try of a plan file.
pub struct Try {
    /// Number of the try, from 1.
    pub number: u32,
    /// The plan file.
    pub file: String,
    /// The process that performs it.
    pub process: StartedProcess,
    /// Folder with its samples and bodies.
    pub folder: TempDir,
}

impl Tries {
    /// Adds a try, and returns its number.
    pub fn add(&mut self, file: &str, process: StartedProcess, folder: TempDir) -> u32 {
        // Bodies of a try may fill the disk.
        if self.tries.len() == MOST_TRIES {
            self.tries.remove(0);
        }
        self.latest += 1;
        let number = self.latest;
        self.tries.push(Try { number, file: file.to_owned(), process, folder });
        number
    }

    /// Returns a try by its number.
    pub fn get(&self, number: u32) -> Option<&Try> {
        self.tries.iter().find(|one| one.number == number)
    }

    /// Returns the numbers of the other tries of the same file.
    pub fn others(&self, one: &Try) -> Vec<u32> {
        let others = self.tries.iter();
        let others = others.filter(|other| other.number != one.number && other.file == one.file);
        others.map(|other| other.number).collect()
    }
}
