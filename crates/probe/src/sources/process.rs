//! Reads the memory and descriptors of this process. Its CPU time is read in `self_probe`.

use super::{Source, Values, numbers, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::fs;
use std::path::PathBuf;

/// The files of this process in /proc/self.
pub(super) struct Process {
    status: ReopenedFile,
    descriptors: PathBuf,
    limit: Option<f64>,
}

impl Process {
    pub fn open(root: &Root) -> Self {
        let limits = root.text("/proc/self/limits");
        Self {
            status: root.keep("/proc/self/status"),
            descriptors: root.path("/proc/self/fd"),
            limit: limits
                .as_deref()
                .and_then(|text| numbers(text.split("Max open files").nth(1)?).next()),
        }
    }

    /// Returns the number of open descriptors. Since Linux 6.2 it is the size of the folder.
    /// Before, the size is 0, and the value is missing: counting twenty thousand entries each
    /// second would cost more than all other readings together.
    fn open_descriptors(&self) -> Option<f64> {
        let size = fs::metadata(&self.descriptors).ok()?.len();
        (size > 0 && cfg!(target_os = "linux")).then_some(size as f64)
    }
}

impl Source for Process {
    fn read(&mut self, into: &mut Values) {
        into.push_some(name::DESCRIPTORS, self.open_descriptors());
        into.push_some(name::DESCRIPTORS_LIMIT, self.limit);
        let Some(status) = self.status.text() else { return };
        into.push_some(
            name::PEAK_MEMORY,
            value_of(status, "VmHWM").map(|kilobytes| kilobytes * 1024.0),
        );
        into.push_some(
            name::RESIDENT,
            value_of(status, "VmRSS").map(|kilobytes| kilobytes * 1024.0),
        );
    }
}
