//! Network interfaces: what went through them, what they dropped, how fast their link is.
//!
//! A speed counts only where a device or a bond stands behind the interface: those that are made of software (a
//! container's, a tunnel's) tell a number that limits nothing.

use super::{Source, Values};
use crate::root::{ReopenedFile, Root, number};
use brunt_model::reading_names::Nic;

/// A machine with containers has hundreds: we look at so many, those with a device first.
const MOST_INTERFACES: usize = 8;

/// Columns of /proc/net/dev after the name (`dev_seq_printf_stats` in net/core/net-procfs.c).
const RECEIVED: [(usize, Nic); 2] = [(0, Nic::ReceivedBytes), (1, Nic::ReceivedPackets)];
const SENT: [(usize, Nic); 2] = [(8, Nic::SentBytes), (9, Nic::SentPackets)];
const DROPPED: [usize; 2] = [3, 11];

/// The interfaces that were up at the beginning.
pub(super) struct Nics {
    traffic: ReopenedFile,
    interfaces: Vec<Interface>,
}

struct Interface {
    name: String,
    bits_per_second: Option<f64>,
    missed: ReopenedFile,
}

impl Nics {
    pub fn open(root: &Root) -> Self {
        let folder = |name: &str| format!("/sys/class/net/{name}");
        let has = |name: &str, file: &str| root.exists(format!("{}/{file}", folder(name)));
        let is_up = |name: &String| root.text(format!("{}/operstate", folder(name))).is_none_or(|s| s.trim() != "down");
        let is_real = |name: &str| has(name, "device") || has(name, "bonding");
        let mut names: Vec<String> = root.names("/sys/class/net").into_iter().filter(is_up).collect();
        names.sort_by_key(|name| (!is_real(name), name != "lo"));
        names.truncate(MOST_INTERFACES);
        let open = |name: String| Interface {
            bits_per_second: is_real(&name).then(|| speed(root, &folder(&name))).flatten(),
            missed: root.keep(format!("{}/statistics/rx_missed_errors", folder(&name))),
            name,
        };
        Self { traffic: root.keep("/proc/net/dev"), interfaces: names.into_iter().map(open).collect() }
    }
}

/// Megabits in the file; -1 where the device does not know.
fn speed(root: &Root, folder: &str) -> Option<f64> {
    root.number(format!("{folder}/speed")).filter(|megabits| *megabits > 0.0).map(|megabits| megabits * 1e6)
}

impl Source for Nics {
    fn read(&mut self, into: &mut Values) {
        let Some(traffic) = self.traffic.text() else { return };
        for interface in &mut self.interfaces {
            let own = |line: &'_ str| {
                line.trim_start().strip_prefix(interface.name.as_str())?.strip_prefix(':').map(str::len)
            };
            // A mount of /sys may show another network namespace's interfaces: only those that are ours count.
            let Some(line) = traffic.lines().find(|line| own(line).is_some()) else { continue };
            let columns: Vec<f64> = super::numbers(line.split_once(':').map_or("", |halves| halves.1)).collect();
            let column = |at: usize| columns.get(at).copied();
            for (at, what) in RECEIVED.into_iter().chain(SENT) {
                into.push_some(what.of(&interface.name), column(at));
            }
            into.push(Nic::Dropped.of(&interface.name), DROPPED.into_iter().filter_map(column).sum());
            into.push_some(Nic::Missed.of(&interface.name), interface.missed.text().and_then(number));
            into.push_some(Nic::BitsPerSecond.of(&interface.name), interface.bits_per_second);
        }
    }
}
