//! TCP as our network namespace counts it: sockets, ports, segments, full accept queues.
//!
//! From sockstat, snmp and netstat: a few lines each, however many connections there are. /proc/net/tcp is never walked.

use super::{Source, Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;

/// The namespace's TCP.
pub(super) struct Tcp {
    ports: ReopenedFile,
    sockets: [ReopenedFile; 2],
    /// Each a file of pairs of lines: names, then values.
    counters: [(ReopenedFile, &'static [Counter]); 2],
}

/// What is read of such a file: group, column, our name.
type Counter = (&'static str, &'static str, &'static str);

const SNMP: &[Counter] = &[
    ("Tcp:", "OutSegs", name::SEGMENTS_SENT),
    ("Tcp:", "RetransSegs", name::RETRANSMITTED),
    ("Tcp:", "CurrEstab", name::server::ESTABLISHED),
];
const NETSTAT: &[Counter] =
    &[("TcpExt:", "ListenOverflows", name::LISTEN_OVERFLOWS), ("TcpExt:", "ListenDrops", name::LISTEN_DROPS)];

impl Tcp {
    pub fn open(root: &Root) -> Self {
        Self {
            ports: root.keep("/proc/sys/net/ipv4/ip_local_port_range"),
            sockets: ["/proc/net/sockstat", "/proc/net/sockstat6"].map(|path| root.keep(path)),
            counters: [(root.keep("/proc/net/snmp"), SNMP), (root.keep("/proc/net/netstat"), NETSTAT)],
        }
    }
}

impl Source for Tcp {
    fn read(&mut self, into: &mut Values) {
        into.push_some(name::PORT_RANGE, self.ports.text().and_then(width));
        let [v4, v6] = &mut self.sockets;
        let orphans = v4.text().and_then(|text| word_after(text, "TCP:", "orphan"));
        let v4 = v4.text().and_then(sockets);
        let v6 = v6.text().and_then(sockets).map_or(0.0, |s| s.0);
        into.push_some(name::TCP_IN_USE, v4.map(|s| s.0 + v6));
        into.push_some(name::TCP_TIME_WAIT, v4.and_then(|s| s.1));
        into.push_some(name::server::ORPHANS, orphans);
        for (file, wanted) in &mut self.counters {
            let Some(text) = file.text() else { continue };
            for (group, column, name) in *wanted {
                into.push_some(*name, counter(text, group, column));
            }
        }
    }
}

/// How many ports a range such as `32768 60999` holds.
fn width(range: &str) -> Option<f64> {
    let mut ends = numbers(range);
    let (first, last) = (ends.next()?, ends.next()?);
    Some((last - first + 1.0).max(0.0))
}

/// Of `TCP: inuse 1 orphan 0 tw 0 alloc 1 mem 0`, what is in use and what is in `TIME_WAIT`.
fn sockets(text: &str) -> Option<(f64, Option<f64>)> {
    let of = |word: &str| word_after(text, "TCP:", word).or_else(|| word_after(text, "TCP6:", word));
    Some((of("inuse")?, of("tw")))
}

/// The number behind a word, in the line that begins with the group's name.
fn word_after(text: &str, group: &str, word: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(group))?;
    line.split_ascii_whitespace().skip_while(|own| *own != word).nth(1)?.parse().ok()
}

/// The value under a column's name, in the two lines that begin with the group's.
fn counter(text: &str, group: &str, column: &str) -> Option<f64> {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let at = lines.next()?.split(' ').position(|name| name == column)?;
    lines.next()?.split(' ').nth(at)?.parse().ok()
}
