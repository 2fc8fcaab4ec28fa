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

/// Returns the anonymous memory of processes, also swapped out, in bytes. `statuses` are their files
/// /proc/PID/status. None if no process shows it.
pub(crate) fn anonymous_bytes(statuses: &[String]) -> Option<f64> {
    // Mapped files are left out: the kernel drops their pages first.
    let resident = sum_of(statuses, "RssAnon")?;
    Some(resident + sum_of(statuses, "VmSwap").unwrap_or(0.0))
}

/// Returns the memory that is available to programs, in bytes.
pub(crate) fn available_bytes(root: &Root) -> Option<f64> {
    bytes_of(&root.text("/proc/meminfo")?, "MemAvailable")
}

/// Returns the sum of a value that each text gives in KiB, in bytes. None if no text has it.
pub(crate) fn sum_of(texts: &[String], key: &str) -> Option<f64> {
    texts.iter().filter_map(|text| bytes_of(text, key)).reduce(|a, b| a + b)
}

/// Returns a value that the file gives in KiB.
fn bytes_of(text: &str, key: &str) -> Option<f64> {
    Some(value_of(text, key)? * 1024.0)
}
