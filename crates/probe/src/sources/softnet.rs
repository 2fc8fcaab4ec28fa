//! Reads the kernel's receive queues from `/proc/net/softnet_stat`: one line per core, in
//! hexadecimal (`softnet_seq_show` in net/core/net-procfs.c).

use super::{Source, Values};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// Names of the first columns.
const COLUMNS: [&str; 3] = [name::SOFTNET_PROCESSED, name::SOFTNET_DROPPED, name::SOFTNET_SQUEEZED];

/// The receive queues of all cores.
pub(super) struct Softnet(ReopenedFile);

impl Softnet {
    pub fn open(root: &Root) -> Self {
        Self(root.keep("/proc/net/softnet_stat"))
    }
}

impl Source for Softnet {
    fn read(&mut self, into: &mut Values) {
        let Some(text) = self.0.text() else { return };
        for (index, name) in COLUMNS.into_iter().enumerate() {
            into.push(name, sum_of_column(text, index));
        }
    }
}

/// Returns the sum over all lines of a column of hexadecimal numbers.
pub(super) fn sum_of_column(text: &str, index: usize) -> f64 {
    let words = text.lines().filter_map(|line| line.split_ascii_whitespace().nth(index));
    words.filter_map(|word| u64::from_str_radix(word, 16).ok()).sum::<u64>() as f64
}
