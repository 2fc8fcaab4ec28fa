//! Reads the machine's pressure stall information: the time for which some task waited for a
//! resource (kernel docs, accounting/psi).

use super::{Source, Values};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// The files in /proc/pressure.
pub(super) struct Pressure(Vec<(&'static str, ReopenedFile)>);

impl Pressure {
    pub fn open(root: &Root) -> Self {
        let files = [
            (name::PRESSURE_CPU, "/proc/pressure/cpu"),
            (name::PRESSURE_MEMORY, "/proc/pressure/memory"),
            (name::PRESSURE_IO, "/proc/pressure/io"),
        ];
        Self(files.into_iter().map(|(name, path)| (name, root.keep(path))).collect())
    }
}

impl Source for Pressure {
    fn read(&mut self, into: &mut Values) {
        for (name, file) in &mut self.0 {
            into.push_some(*name, file.text().and_then(some_seconds));
        }
    }
}

/// Returns the total at the end of the line `some`, which is in microseconds, in seconds.
pub(super) fn some_seconds(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("some"))?;
    let micros: f64 = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some(micros / 1e6)
}
