//! The recordings that the studio has started.

use crate::fields::Fields;
use crate::process::StartedProcess;

/// Number of recordings that are kept. The oldest one that has ended is removed.
const MOST_RECORDINGS: usize = 20;

/// The latest recordings, the oldest first.
#[derive(Default)]
pub struct StartedRecordings {
    recordings: Vec<StartedRecording>,
    /// Number of the latest recording.
    latest: u32,
}

/// A process of `brunt record`.
pub struct StartedRecording {
    /// Number of the recording, from 1.
    pub number: u32,
    /// Fields of its form.
    pub fields: Fields,
    /// The process.
    pub process: StartedProcess,
}

impl StartedRecording {
    /// Plan file that it creates.
    pub fn file(&self) -> &str {
        self.fields.first("file")
    }
}

impl StartedRecordings {
    /// Adds a recording, and returns its number.
    pub fn add(&mut self, fields: Fields, process: StartedProcess) -> u32 {
        let ended = self.recordings.iter().position(|one| one.process.status().is_some());
        if let Some(ended) = ended.filter(|_| self.recordings.len() >= MOST_RECORDINGS) {
            self.recordings.remove(ended);
        }
        self.latest += 1;
        let number = self.latest;
        self.recordings.push(StartedRecording { number, fields, process });
        number
    }

    /// Returns a recording by its number.
    pub fn get(&self, number: u32) -> Option<&StartedRecording> {
        self.recordings.iter().find(|one| one.number == number)
    }

    /// Returns the recordings that have not ended.
    pub fn active(&self) -> impl Iterator<Item = &StartedRecording> {
        self.recordings.iter().filter(|one| one.process.status().is_none())
    }
}
