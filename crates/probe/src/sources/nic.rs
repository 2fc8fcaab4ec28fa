//! Reads the traffic, drops and link speed of network interfaces.
//!
//! A speed counts only if a device or a bond belongs to the interface. Software interfaces
//! (containers, tunnels) report a number that limits nothing.

use super::{Source, Values};
use crate::root::{ReopenedFile, Root, number};
use brunt_model::reading_names::Nic;

/// Maximum number of interfaces that are read, those with a device first. A machine
/// with containers has hundreds.
const MAX_INTERFACES: usize = 8;

/// Columns of /proc/net/dev after the name (`dev_seq_printf_stats` in net/core/net-procfs.c).
const RECEIVED: [(usize, Nic); 2] = [(0, Nic::ReceivedBytes), (1, Nic::ReceivedPackets)];
const SENT: [(usize, Nic); 2] = [(8, Nic::SentBytes), (9, Nic::SentPackets)];
const DROPPED: [usize; 2] = [3, 11];

/// The interfaces that were up when the source was opened.
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
        let mut names: Vec<String> = root.names("/sys/class/net");
        names.retain(|name| is_up(root, name));
        names.sort_by_key(|name| (!is_real(root, name), name != "lo"));
        names.truncate(MAX_INTERFACES);
        let interfaces = names.into_iter().map(|name| Interface::open(root, name)).collect();
        Self { traffic: root.keep("/proc/net/dev"), interfaces }
    }
}

impl Interface {
    fn open(root: &Root, name: String) -> Self {
        let folder = format!("/sys/class/net/{name}");
        Self {
            bits_per_second: is_real(root, &name).then(|| speed(root, &folder)).flatten(),
            missed: root.keep(format!("{folder}/statistics/rx_missed_errors")),
            name,
        }
    }
}

fn is_up(root: &Root, name: &str) -> bool {
    // Loopback and tunnels report `unknown`, but carry traffic.
    root.text(format!("/sys/class/net/{name}/operstate")).is_none_or(|state| state.trim() != "down")
}

/// True if a device or a bond belongs to the interface.
fn is_real(root: &Root, name: &str) -> bool {
    root.exists(format!("/sys/class/net/{name}/device"))
        || root.exists(format!("/sys/class/net/{name}/bonding"))
}

/// Returns the speed in bits per second. The file contains megabits, or -1 if the device does
/// not know its speed.
fn speed(root: &Root, folder: &str) -> Option<f64> {
    root.number(format!("{folder}/speed"))
        .filter(|megabits| *megabits > 0.0)
        .map(|megabits| megabits * 1e6)
}

impl Source for Nics {
    fn read(&mut self, into: &mut Values) {
        let Some(traffic) = self.traffic.text() else { return };
        for interface in &mut self.interfaces {
            // A mount of /sys may show the interfaces of another network namespace. Only those
            // in this one are listed here.
            let columns = traffic.lines().find_map(|line| {
                line.trim_start().strip_prefix(interface.name.as_str())?.strip_prefix(':')
            });
            let Some(columns) = columns else { continue };
            let columns: Vec<f64> = super::numbers(columns).collect();
            for (index, reading) in RECEIVED.into_iter().chain(SENT) {
                into.push_some(reading.reading_name(&interface.name), columns.get(index).copied());
            }
            let dropped = DROPPED.into_iter().filter_map(|index| columns.get(index)).sum();
            into.push(Nic::Dropped.reading_name(&interface.name), dropped);
            into.push_some(
                Nic::Missed.reading_name(&interface.name),
                interface.missed.text().and_then(number),
            );
            into.push_some(
                Nic::BitsPerSecond.reading_name(&interface.name),
                interface.bits_per_second,
            );
        }
    }
}
