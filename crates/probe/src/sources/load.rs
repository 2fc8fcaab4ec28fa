//! Reads the load average from /proc/loadavg, and the memory swapped
//! in from /proc/vmstat (proc(5)).

use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root, number};
use brunt_model::reading_names::{self as name, server};

/// Bytes of a page, which /proc/vmstat counts. It is 4096 on nearly all servers; on some ARM
/// machines pages are larger, so the value there is too low.
const PAGE: f64 = 4096.0;

/// The load average and the swap counters.
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
