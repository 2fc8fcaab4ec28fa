//! How many files we may open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on descriptors to the hard one; the limit that then holds.
pub fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Where the system refuses, the old limit holds: it is what we report.
    let _ = setrlimit(Resource::Nofile, raised);
    descriptors()
}

/// The limit on descriptors that holds.
pub fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Bytes of address space that we may still map, where it is limited (`ulimit -v`).
pub fn address_space_left() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).map(str::trim);
    let used = size.and_then(|size| size.trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used << 10))
}
