//! The machine's load average, from /proc/loadavg, and what it read back from swap, from /proc/vmstat (proc(5)).

use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root, number};
use brunt_model::reading_names::{self as name, server};

/// Bytes of a page: /proc/vmstat counts pages. 4096 wherever brunt's users run servers, but for some ARM machines, where
/// this is told too low.
const PAGE: f64 = 4096.0;

/// Load and swapping.
pub(super) struct Load {
    average: ReopenedFile,
    vm: ReopenedFile,
}

impl Load {
    pub fn open(root: &Root) -> Self {
        Self { average: root.keep("/proc/loadavg"), vm: root.keep("/proc/vmstat") }
    }
}

impl Source for Load {
    fn read(&mut self, into: &mut Values) {
        into.push_some(server::LOAD, self.average.text().and_then(number));
        let pages = self.vm.text().and_then(|text| value_of(text, "pswpin "));
        into.push_some(name::SWAPPED_IN, pages.map(|pages| pages * PAGE));
    }
}
