//! Reads disks from /proc/diskstats (kernel docs, admin-guide/iostats): whole disks that were
//! used at least once.

use super::{Source, Values};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names::server;

/// Maximum number of disks that are reported.
const MAX_DISKS: usize = 16;
/// Prefixes of block devices that are not disks.
const NOT_DISKS: &[&str] = &["loop", "ram", "zram", "sr", "fd", "nbd"];
/// Size of a sector in this file, in bytes. It does not depend on the disk.
const SECTOR: f64 = 512.0;

/// The machine's disks.
pub(super) struct Disks(ReopenedFile);

impl Disks {
    pub fn open(root: &Root) -> Self {
        Self(root.keep("/proc/diskstats"))
    }
}

impl Source for Disks {
    fn read(&mut self, into: &mut Values) {
        let Some(text) = self.0.text() else { return };
        let all: Vec<Disk> = text.lines().filter_map(disk).collect();
        for disk in all.iter().filter(|disk| is_used_whole_disk(disk, &all)).take(MAX_DISKS) {
            into.push(server::disk_busy(disk.name), disk.busy_seconds);
            into.push(server::disk_read(disk.name), disk.read);
            into.push(server::disk_written(disk.name), disk.written);
        }
    }
}

/// A disk or a partition.
struct Disk<'a> {
    name: &'a str,
    read: f64,
    written: f64,
    busy_seconds: f64,
}

/// Parses device numbers and name, then: reads, merged, sectors, ms; writes, merged, sectors, ms;
/// in flight, ms busy.
fn disk(line: &str) -> Option<Disk<'_>> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Disk {
        name: fields.get(2)?,
        read: number_at(&fields, 5)? * SECTOR,
        written: number_at(&fields, 9)? * SECTOR,
        busy_seconds: number_at(&fields, 12)? / 1e3,
    })
}

fn number_at(fields: &[&str], index: usize) -> Option<f64> {
    fields.get(index)?.parse().ok()
}

fn is_used_whole_disk(disk: &Disk<'_>, all: &[Disk<'_>]) -> bool {
    let is_used = disk.read + disk.written > 0.0;
    let is_disk = !NOT_DISKS.iter().any(|prefix| disk.name.starts_with(prefix));
    // The kernel counts the traffic of a partition for its disk as well.
    is_used && is_disk && !all.iter().any(|other| is_partition(disk.name, other.name))
}

/// True if `name` is a partition of `disk`: `sda1` of `sda`, `nvme0n1p2` of `nvme0n1`.
fn is_partition(name: &str, disk: &str) -> bool {
    let Some(rest) = name.strip_prefix(disk) else { return false };
    let number = if disk.ends_with(|c: char| c.is_ascii_digit()) {
        rest.strip_prefix('p')
    } else {
        Some(rest)
    };
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
