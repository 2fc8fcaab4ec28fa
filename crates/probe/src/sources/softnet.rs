//! The kernel's receive queues, a line a core, in hexadecimal: `/proc/net/softnet_stat` (`softnet_seq_show` in
//! net/core/net-procfs.c).

use super::{Source, Values};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// What the first columns are.
const COLUMNS: [&str; 3] = [name::SOFTNET_PROCESSED, name::SOFTNET_DROPPED, name::SOFTNET_SQUEEZED];

/// The receive queues of all cores together.
pub(super) struct Softnet(ReopenedFile);

impl Softnet {
    pub fn open(root: &Root) -> Self {
        Self(root.keep("/proc/net/softnet_stat"))
    }
}

impl Source for Softnet {
    fn read(&mut self, into: &mut Values) {
        let Some(text) = self.0.text() else { return };
        for (at, name) in COLUMNS.into_iter().enumerate() {
            into.push(name, sum_of_column(text, at));
        }
    }
}

/// The sum over all lines of a column of hexadecimal numbers.
pub(super) fn sum_of_column(text: &str, at: usize) -> f64 {
    let value = |line: &str| u64::from_str_radix(line.split_ascii_whitespace().nth(at)?, 16).ok();
    text.lines().filter_map(value).sum::<u64>() as f64
}
