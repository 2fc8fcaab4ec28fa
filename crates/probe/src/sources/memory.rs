//! Reads the machine's memory from /proc/meminfo.

use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// The file /proc/meminfo.
pub(super) struct Memory(ReopenedFile);

impl Memory {
    pub fn open(root: &Root) -> Self {
        Self(root.keep("/proc/meminfo"))
    }
}

impl Source for Memory {
    fn read(&mut self, into: &mut Values) {
        let Some(text) = self.0.text() else { return };
        into.push_some(name::MEMORY_TOTAL, bytes_of(text, "MemTotal"));
        into.push_some(name::MEMORY_AVAILABLE, bytes_of(text, "MemAvailable"));
        let swap = bytes_of(text, "SwapTotal").zip(bytes_of(text, "SwapFree"));
        into.push_some(name::SWAP_USED, swap.map(|(total, free)| total - free));
    }
}

/// Returns a value that the file gives in KiB.
fn bytes_of(text: &str, key: &str) -> Option<f64> {
    Some(value_of(text, key)? * 1024.0)
}
