//! Reads kernel settings that limit the load that a machine can generate or serve, as numbers.
//!
//! It does not judge them. The list of all settings that influence a
//! run is in [`machine`](crate::machine).

use crate::Root;
use serde::Serialize;

/// Kernel settings that limit a load. None if this system does not show the setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KernelSettings {
    /// First and last local port for outgoing connections (`net.ipv4.ip_local_port_range`).
    pub local_ports: Option<(u16, u16)>,
    /// Reuse of ports in `TIME_WAIT` after a second: 0 no, 1 yes,
    /// 2 on loopback (`net.ipv4.tcp_tw_reuse`).
    pub tw_reuse: Option<u64>,
    /// Maximum length of an accept queue (`net.core.somaxconn`).
    pub somaxconn: Option<u64>,
    /// Maximum length of the queue of half-open connections,
    /// without SYN cookies (`net.ipv4.tcp_max_syn_backlog`).
    pub syn_backlog: Option<u64>,
    /// Nonzero if SYN cookies make that queue unlimited (`net.ipv4.tcp_syncookies`).
    pub syncookies: Option<u64>,
    /// Maximum number of connections that the firewall tracks (`net.netfilter.nf_conntrack_max`).
    pub conntrack_max: Option<u64>,
    /// Number of connections that it tracks now; 0 also if it tracks none at all.
    pub conntrack_count: Option<u64>,
    /// Governor of the CPU's frequency, such as `performance`.
    pub governor: Option<String>,
}

impl KernelSettings {
    /// Number of local ports. None if the system does not show it.
    pub fn ports(&self) -> Option<u64> {
        self.local_ports.map(|(first, last)| u64::from(last - first) + 1)
    }
}

/// Reads the settings.
pub fn settings(root: &Root) -> KernelSettings {
    KernelSettings {
        local_ports: root.words("proc/sys/net/ipv4/ip_local_port_range").as_deref().and_then(range),
        tw_reuse: net_setting(root, "ipv4/tcp_tw_reuse"),
        somaxconn: net_setting(root, "core/somaxconn"),
        syn_backlog: net_setting(root, "ipv4/tcp_max_syn_backlog"),
        syncookies: net_setting(root, "ipv4/tcp_syncookies"),
        conntrack_max: net_setting(root, "netfilter/nf_conntrack_max"),
        conntrack_count: net_setting(root, "netfilter/nf_conntrack_count"),
        governor: root.words("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

fn net_setting(root: &Root, name: &str) -> Option<u64> {
    root.whole(format!("proc/sys/net/{name}"))
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
        assert_eq!(
            (read.tw_reuse, read.somaxconn, read.conntrack_max),
            (Some(2), Some(4096), None)
        );
        assert_eq!(read.governor.as_deref(), Some("powersave"));
    }

    #[test]
    fn a_malformed_range_is_none() {
        assert_eq!(range("1024 65535"), Some((1024, 65535)));
        assert_eq!((range("9 5"), range("9"), range("a b")), (None, None, None));
    }
}
