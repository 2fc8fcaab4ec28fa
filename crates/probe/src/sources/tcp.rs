//! Reads TCP counters of this network namespace: sockets, ports, segments, full accept queues.
//!
//! sockstat, snmp and netstat have a few lines each, whatever the number of connections.
//! /proc/net/tcp is never read.

use super::{Source, Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// The files with TCP counters.
pub(super) struct Tcp {
    ports: ReopenedFile,
    sockets: [ReopenedFile; 2],
    /// Each file contains pairs of lines: names, then values.
    counters: [(ReopenedFile, &'static [Counter]); 2],
}

/// A value in such a file: group, column, and the name of the reading.
type Counter = (&'static str, &'static str, &'static str);

const SNMP: &[Counter] = &[
    ("Tcp:", "OutSegs", name::SEGMENTS_SENT),
    ("Tcp:", "RetransSegs", name::RETRANSMITTED),
    ("Tcp:", "CurrEstab", name::server::ESTABLISHED),
];
const NETSTAT: &[Counter] = &[
    ("TcpExt:", "ListenOverflows", name::LISTEN_OVERFLOWS),
    ("TcpExt:", "ListenDrops", name::LISTEN_DROPS),
];

impl Tcp {
    pub fn open(root: &Root) -> Self {
        Self {
            ports: root.keep("/proc/sys/net/ipv4/ip_local_port_range"),
            sockets: ["/proc/net/sockstat", "/proc/net/sockstat6"].map(|path| root.keep(path)),
            counters: [
                (root.keep("/proc/net/snmp"), SNMP),
                (root.keep("/proc/net/netstat"), NETSTAT),
            ],
        }
    }
}

impl Source for Tcp {
    fn read(&mut self, into: &mut Values) {
        into.push_some(name::PORT_RANGE, self.ports.text().and_then(width));
        let [v4, v6] = &mut self.sockets;
        let orphans = v4.text().and_then(|text| word_after(text, "TCP:", "orphan"));
        let v4 = v4.text().and_then(sockets);
        // The file is missing if IPv6 is disabled. Both families share
        // orphans and time-wait sockets.
        let v6 = v6.text().and_then(sockets).map_or(0.0, |sockets| sockets.in_use);
        into.push_some(name::TCP_IN_USE, v4.as_ref().map(|sockets| sockets.in_use + v6));
        into.push_some(name::TCP_TIME_WAIT, v4.and_then(|sockets| sockets.time_wait));
        into.push_some(name::server::ORPHANS, orphans);
        for (file, counters) in &mut self.counters {
            let Some(text) = file.text() else { continue };
            for (group, column, name) in *counters {
                into.push_some(*name, counter(text, group, column));
            }
        }
    }
}

/// Returns the number of ports in a range such as `32768 60999`.
fn width(range: &str) -> Option<f64> {
    let mut ends = numbers(range);
    let first = ends.next()?;
    let last = ends.next()?;
    Some((last - first + 1.0).max(0.0))
}

/// Counts of TCP sockets.
struct SocketCounts {
    in_use: f64,
    time_wait: Option<f64>,
}

/// Parses a line such as `TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 0`.
fn sockets(text: &str) -> Option<SocketCounts> {
    Some(SocketCounts { in_use: socket_count(text, "inuse")?, time_wait: socket_count(text, "tw") })
}

fn socket_count(text: &str, word: &str) -> Option<f64> {
    word_after(text, "TCP:", word).or_else(|| word_after(text, "TCP6:", word))
}

/// Returns the number after a word in the line of a group.
fn word_after(text: &str, group: &str, word: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(group))?;
    line.split_ascii_whitespace().skip_while(|other| *other != word).nth(1)?.parse().ok()
}

/// Returns the value below a column's name, in the two lines of a group.
fn counter(text: &str, group: &str, column: &str) -> Option<f64> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    // Columns are found by name, since kernels add new ones in between.
    let index = lines.next()?.split(' ').position(|name| name == column)?;
    lines.next()?.split(' ').nth(index)?.parse().ok()
}
