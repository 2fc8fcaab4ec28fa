//! Selects the processes that a probe reads.

use super::Pace;
use super::listening::Socket;
use crate::route::owner;
use crate::watch::ProbeError;
use crate::watch::machine::Machine;
use crate::watch::ssh::quoted;
use brunt_model::probe_spec::Select;
use std::path::Path;

/// Possible mount points of control groups: version 2, then hierarchies of version 1
/// that contain every process.
const MOUNTS: [&str; 4] = [
    "/sys/fs/cgroup",
    "/sys/fs/cgroup/unified",
    "/sys/fs/cgroup/systemd",
    "/sys/fs/cgroup/cpu,cpuacct",
];
/// Maximum depth of nested groups that are searched.
const DEPTH: usize = 3;

/// Finds the selected processes in each round.
#[derive(Debug)]
pub(super) struct Finder {
    pub select: Select,
    /// The sockets of the port, and the processes that hold them. They are kept because
    /// the search is expensive.
    inodes: Vec<u64>,
    holders: Vec<u32>,
}

impl Finder {
    pub fn new(select: Select) -> Self {
        Self { select, inodes: Vec::new(), holders: Vec::new() }
    }

    /// Returns the pids of the selected processes, without descendants. Empty if there are none.
    pub fn pids(&mut self, machine: &Machine, pace: Pace) -> Result<Vec<u32>, ProbeError> {
        Ok(match &self.select {
            Select::Server => return Err(ProbeError::NoServer),
            Select::Pid(pid) => vec![*pid],
            Select::PidFile(path) => machine
                .root
                .whole(path)
                .and_then(|pid| u32::try_from(pid).ok())
                .into_iter()
                .collect(),
            Select::Name(name) => machine.table.pids_named(name),
            Select::Port(port) => self.holders(*port, machine, pace),
            Select::Cgroup(path) => {
                let groups = MOUNTS.iter().map(|mount| group(machine, mount, path));
                groups.into_iter().find(|pids| !pids.is_empty()).unwrap_or_default()
            }
        })
    }

    fn holders(&mut self, port: u16, machine: &Machine, pace: Pace) -> Vec<u32> {
        let sockets: Vec<&Socket> =
            machine.sockets.iter().filter(|socket| socket.port == port).collect();
        let reported: Vec<u32> =
            sockets.iter().flat_map(|socket| socket.pids.iter().copied()).collect();
        // On another machine only ss(8) can find the owners: links in /proc/PID/fd are not sent.
        if !machine.is_local() || !reported.is_empty() {
            return reported;
        }
        let inodes: Vec<u64> = sockets.iter().map(|socket| socket.inode).collect();
        let has_holder = self.holders.iter().any(|pid| machine.table.start_of(*pid).is_some());
        // The search reads the open files of all processes.
        if inodes != self.inodes || (!has_holder && pace == Pace::Slow) {
            self.holders =
                owner::owners(&machine.root, &inodes).iter().map(|owner| owner.pid).collect();
            self.inodes = inodes;
        }
        self.holders.clone()
    }
}

/// Describes the selection, in words that follow "no readable process".
pub(super) fn description(select: &Select) -> String {
    match select {
        Select::Server => "of the managed server".into(),
        Select::Pid(pid) => format!("with the pid {pid}"),
        Select::PidFile(path) => format!("with the pid that {} names", path.display()),
        Select::Name(name) => format!("named {name}"),
        Select::Port(port) => format!("that listens on port {port}"),
        Select::Cgroup(path) => format!("in the control group {}", path.display()),
    }
}

/// Returns the paths of the process lists of all possible groups, as shell patterns.
pub(super) fn group_patterns(path: &Path) -> impl Iterator<Item = String> {
    let folders = MOUNTS.map(|mount| quoted(&folder(mount, path)));
    folders.into_iter().flat_map(|folder| {
        (0..=DEPTH).map(move |deep| format!("{folder}/{}cgroup.procs", "*/".repeat(deep)))
    })
}

fn folder(mount: &str, path: &Path) -> String {
    format!("{mount}/{}", path.to_string_lossy().trim_matches('/'))
}

/// Returns all processes of a group and of the groups in it.
fn group(machine: &Machine, mount: &str, path: &Path) -> Vec<u32> {
    let mut pids = Vec::new();
    let mut level = vec![folder(mount, path)];
    for _ in 0..=DEPTH {
        let lists =
            level.iter().filter_map(|folder| machine.root.text(format!("{folder}/cgroup.procs")));
        lists
            .for_each(|list| pids.extend(list.lines().filter_map(|line| line.parse::<u32>().ok())));
        level = level
            .iter()
            .flat_map(|f| machine.root.names(f).into_iter().map(move |name| format!("{f}/{name}")))
            .collect();
        level.retain(|folder| machine.root.exists(format!("{folder}/cgroup.procs")));
    }
    pids
}
