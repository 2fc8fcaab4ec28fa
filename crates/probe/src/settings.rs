//! Kernel settings that decide whether a load can be made and borne, as numbers.
//!
//! Out of scope: a judgement on them; and the list of all that bears on a run is in [`machine`](crate::machine).

use crate::Root;
use serde::Serialize;

/// Kernel settings that decide whether a load can be made and borne; None where this system does not show one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// First and last local port that connections are made from (`net.ipv4.ip_local_port_range`).
    pub local_ports: Option<(u16, u16)>,
    /// Whether ports in `TIME_WAIT` serve again after a second: 0 no, 1 yes, 2 on loopback (`net.ipv4.tcp_tw_reuse`).
    pub tw_reuse: Option<u64>,
    /// The longest accept queue (`net.core.somaxconn`).
    pub somaxconn: Option<u64>,
    /// The longest queue of half-open connections, without SYN cookies (`net.ipv4.tcp_max_syn_backlog`).
    pub syn_backlog: Option<u64>,
    /// Whether SYN cookies make that queue endless: 0 is no (`net.ipv4.tcp_syncookies`).
    pub syncookies: Option<u64>,
    /// Connections that the firewall can follow (`net.netfilter.nf_conntrack_max`).
    pub conntrack_max: Option<u64>,
    /// Connections that it follows now; 0 also where it follows none at all.
    pub conntrack_count: Option<u64>,
    /// How the CPU's frequency is governed, such as `performance`.
    pub governor: Option<String>,
}

impl Settings {
    /// How many local ports there are; None where the system does not show it.
    pub fn ports(&self) -> Option<u64> {
        self.local_ports.map(|(first, last)| u64::from(last - first) + 1)
    }
}

/// Reads them.
pub fn settings(root: &Root) -> Settings {
    let net = |name: &str| root.whole(format!("proc/sys/net/{name}"));
    Settings {
        local_ports: root.words("proc/sys/net/ipv4/ip_local_port_range").as_deref().and_then(range),
        tw_reuse: net("ipv4/tcp_tw_reuse"),
        somaxconn: net("core/somaxconn"),
        syn_backlog: net("ipv4/tcp_max_syn_backlog"),
        syncookies: net("ipv4/tcp_syncookies"),
        conntrack_max: net("netfilter/nf_conntrack_max"),
        conntrack_count: net("netfilter/nf_conntrack_count"),
        governor: root.words("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

fn range(words: &str) -> Option<(u16, u16)> {
    let (first, last) = words.split_once(' ')?;
    Some((first.parse().ok()?, last.parse().ok()?)).filter(|(first, last)| first <= last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_recorded_tree_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("proc/sys/net/ipv4/tcp_tw_reuse", "2\n"),
            ("proc/sys/net/core/somaxconn", "4096\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ];
        for (name, text) in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let read = settings(&Root::recorded(dir.path()));
        assert_eq!(read.local_ports, Some((32768, 60999)));
        assert_eq!((read.tw_reuse, read.somaxconn, read.conntrack_max), (Some(2), Some(4096), None));
        assert_eq!(read.governor.as_deref(), Some("powersave"));
    }

    #[test]
    fn a_range_that_is_none_is_none() {
        assert_eq!(range("1024 65535"), Some((1024, 65535)));
        assert_eq!((range("9 5"), range("9"), range("a b")), (None, None, None));
    }
}
