//! Where a run is made.

use brunt_model::Environment;
use std::fs;

/// Kernel settings that bear on a load test.
const SETTINGS: &[&str] = &[
    "net.core.somaxconn",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "net.netfilter.nf_conntrack_max",
];

/// This machine and our limits on it. What the system does not show is left empty.
pub fn environment(command: String, brunt: &str) -> Environment {
    Environment {
        command,
        plan_name: None,
        brunt: brunt.to_owned(),
        kernel: kernel(),
        cpu: cpu_model().unwrap_or_default(),
        cores: cores(),
        limits: vec![("open files".into(), crate::limits::descriptors().to_string())],
        sysctls: SETTINGS.iter().filter_map(|name| Some(((*name).to_owned(), setting(name)?))).collect(),
        addresses: Vec::new(),
        server: None,
        route: None,
        strict: false,
    }
}

/// Cores that we may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Its name in the network, as it knows it.
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let part = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
    format!("{} {} {}", part(name.sysname()), part(name.release()), part(name.machine()))
}

fn cpu_model() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn setting(name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    let value = fs::read_to_string(path).ok()?;
    Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
}
