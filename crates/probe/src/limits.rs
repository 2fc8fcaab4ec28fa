//! Limits on files and address space of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit on file descriptors to the hard limit. Returns the
/// limit that then applies.
pub fn raise_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // If the system refuses, the old limit applies, and it is returned.
    let _ = setrlimit(Resource::Nofile, raised);
    descriptors()
}

/// Returns the current soft limit on file descriptors.
pub fn descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Returns the address space that this process may still map, in bytes, if it
/// is limited (`ulimit -v`).
pub fn address_space_left() -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).map(str::trim);
    let used =
        size.and_then(|size| size.trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used << 10))
}
