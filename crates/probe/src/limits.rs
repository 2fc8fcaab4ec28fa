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
