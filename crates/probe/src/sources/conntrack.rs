//! Reads the firewall's connection tracking table, if there is one.

use super::softnet::sum_of_column;
use super::{Source, Values};
use crate::root::{ReopenedFile, Root, number};
use brunt_model::reading_names as name;

/// The connection tracking table of this network namespace.
pub(super) struct Conntrack {
    entries: ReopenedFile,
    limit: ReopenedFile,
    stat: ReopenedFile,
}

impl Conntrack {
    pub fn open(root: &Root) -> Self {
        Self {
            entries: root.keep("/proc/sys/net/netfilter/nf_conntrack_count"),
            limit: root.keep("/proc/sys/net/netfilter/nf_conntrack_max"),
            stat: root.keep("/proc/net/stat/nf_conntrack"),
        }
    }
}

impl Source for Conntrack {
    fn read(&mut self, into: &mut Values) {
        into.push_some(name::CONNTRACK, self.entries.text().and_then(number));
        into.push_some(name::CONNTRACK_LIMIT, self.limit.text().and_then(number));
        let dropped = self.stat.text().and_then(|text| {
            let (names, cores) = text.split_once('\n')?;
            let index = names.split_ascii_whitespace().position(|name| name == "drop")?;
            Some(sum_of_column(cores, index))
        });
        into.push_some(name::CONNTRACK_DROPPED, dropped);
    }
}
