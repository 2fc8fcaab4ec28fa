//! The machine's memory, from /proc/meminfo.

use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// /proc/meminfo.
pub(super) struct Memory(ReopenedFile);

impl Memory {
    pub fn open(root: &Root) -> Self {
        Self(root.keep("/proc/meminfo"))
    }
}

impl Source for Memory {
    fn read(&mut self, into: &mut Values) {
        let Some(text) = self.0.text() else { return };
        let bytes = |key| Some(value_of(text, key)? * 1024.0);
        into.push_some(name::MEMORY_TOTAL, bytes("MemTotal"));
        into.push_some(name::MEMORY_AVAILABLE, bytes("MemAvailable"));
        let used = bytes("SwapTotal").zip(bytes("SwapFree")).map(|(total, free)| total - free);
        into.push_some(name::SWAP_USED, used);
    }
}
