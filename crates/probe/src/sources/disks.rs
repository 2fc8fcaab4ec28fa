//! Disks, from /proc/diskstats (kernel docs, admin-guide/iostats): whole ones that were ever used.

use super::{Source, Values};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names::server;

/// Disks that are told, at most.
const MOST_DISKS: usize = 16;
/// What has no disk behind it.
const NO_DISKS: &[&str] = &["loop", "ram", "zram", "sr", "fd", "nbd"];
/// Bytes of a sector of this file, whatever the disk's own are.
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
        let whole = |disk: &&Disk| !all.iter().any(|other| is_part(disk.name, other.name));
        let real = |disk: &&Disk| !NO_DISKS.iter().any(|no| disk.name.starts_with(no));
        for disk in all.iter().filter(|d| d.read + d.written > 0.0).filter(real).filter(whole).take(MOST_DISKS) {
            into.push(server::disk_busy(disk.name), disk.busy_seconds);
            into.push(server::disk_read(disk.name), disk.read);
            into.push(server::disk_written(disk.name), disk.written);
        }
    }
}

/// A disk or a part of one.
struct Disk<'a> {
    name: &'a str,
    read: f64,
    written: f64,
    busy_seconds: f64,
}

/// Device numbers and name, then: reads, merged, sectors, ms; writes, merged, sectors, ms; now under way, ms busy.
fn disk(line: &str) -> Option<Disk<'_>> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(Disk {
        name: fields.get(2)?,
        read: number(5)? * SECTOR,
        written: number(9)? * SECTOR,
        busy_seconds: number(12)? / 1e3,
    })
}

/// `sda1` is a part of `sda`, `nvme0n1p2` of `nvme0n1`.
fn is_part(name: &str, of: &str) -> bool {
    let Some(rest) = name.strip_prefix(of) else { return false };
    let number = if of.ends_with(|c: char| c.is_ascii_digit()) { rest.strip_prefix('p') } else { Some(rest) };
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
