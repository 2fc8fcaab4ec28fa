//! Describes the environment of a run: machine, kernel and limits.

use brunt_model::{AgentFacts, Environment};
use std::fs;

/// Kernel settings that influence a load test.
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

/// Describes this machine and the limits of this process. Values that the system does
/// not show are empty.
pub fn environment(command: String, brunt: &str) -> Environment {
    Environment {
        command,
        plan_name: None,
        brunt: brunt.to_owned(),
        kernel: kernel(),
        cpu: cpu_model().unwrap_or_default(),
        cores: cores(),
        limits: vec![("open files".into(), crate::limits::descriptors().to_string())],
        sysctls: SETTINGS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), setting(name)?)))
            .collect(),
        addresses: Vec::new(),
        server: None,
        route: None,
        agents: Vec::new(),
        data_files: Vec::new(),
        strict: false,
        allowed_loss_percent: 0,
    }
}

/// Describes this process as an agent of a fleet.
pub fn agent_facts() -> AgentFacts {
    let Environment { brunt, kernel, cpu, cores, sysctls, .. } =
        environment(String::new(), brunt_model::fleet::VERSION);
    AgentFacts {
        brunt,
        host: hostname(),
        pid: std::process::id(),
        architecture: std::env::consts::ARCH.to_owned(),
        kernel,
        cpu,
        cores,
        descriptors: crate::limits::descriptors(),
        sysctls,
        clock: clock_identity(),
    }
}

/// Returns the identity of the monotonic clock: processes with the same one read the same clock.
/// Empty if the system does not show it.
pub fn clock_identity() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // A time namespace shifts the clock (time_namespaces(7)).
    let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    if boot.is_empty() || namespace.as_os_str().is_empty() {
        return String::new();
    }
    format!("{} {}", boot.trim(), namespace.display())
}

/// Number of CPU cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Returns the machine's network node name (uname(2)).
pub fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn kernel() -> String {
    let name = rustix::system::uname();
    [name.sysname(), name.release(), name.machine()].map(std::ffi::CStr::to_string_lossy).join(" ")
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
