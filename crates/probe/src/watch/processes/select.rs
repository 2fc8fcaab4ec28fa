//! Which processes are meant.

use super::Pace;
use crate::route::owner;
use crate::watch::Trouble;
use crate::watch::machine::Machine;
use crate::watch::ssh::quoted;
use brunt_model::probe_spec::Select;
use std::path::Path;

/// Possible mount points of groups: version 2, then hierarchies of version 1 that hold every process.
const MOUNTS: [&str; 4] =
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/cpu,cpuacct"];
/// Groups in groups are looked at so deep.
const DEPTH: usize = 3;

/// Finds them again and again.
#[derive(Debug)]
pub(super) struct Finder {
    pub select: Select,
    /// The sockets of the port, and who was found to hold them: to look for holders costs much.
    inodes: Vec<u64>,
    holders: Vec<u32>,
}

impl Finder {
    pub fn new(select: Select) -> Self {
        Self { select, inodes: Vec::new(), holders: Vec::new() }
    }

    /// Their numbers, without children; empty where there are none.
    pub fn pids(&mut self, machine: &Machine, pace: Pace) -> Result<Vec<u32>, Trouble> {
        Ok(match &self.select {
            Select::Server => return Err(Trouble::NoServer),
            Select::Pid(pid) => vec![*pid],
            Select::PidFile(path) => {
                machine.root.whole(path).and_then(|pid| u32::try_from(pid).ok()).into_iter().collect()
            }
            Select::Name(name) => machine.table.named(name),
            Select::Port(port) => self.holders(*port, machine, pace),
            Select::Cgroup(path) => {
                let groups = MOUNTS.iter().map(|mount| group(machine, mount, path));
                groups.into_iter().find(|pids| !pids.is_empty()).unwrap_or_default()
            }
        })
    }

    fn holders(&mut self, port: u16, machine: &Machine, pace: Pace) -> Vec<u32> {
        let sockets = || machine.sockets.iter().filter(|socket| socket.port == port);
        let told: Vec<u32> = sockets().flat_map(|socket| socket.pids.iter().copied()).collect();
        if !machine.is_here() || !told.is_empty() {
            return told;
        }
        let inodes: Vec<u64> = sockets().map(|socket| socket.inode).collect();
        let are_there = self.holders.iter().any(|pid| machine.table.began(*pid).is_some());
        if inodes != self.inodes || (!are_there && pace == Pace::Slow) {
            self.holders = owner::of(&machine.root, &inodes).iter().map(|owner| owner.pid).collect();
            self.inodes = inodes;
        }
        self.holders.clone()
    }
}

/// What is looked for, in words that follow "there is no process".
pub(super) fn words(select: &Select) -> String {
    match select {
        Select::Server => "of the managed server".into(),
        Select::Pid(pid) => format!("with the pid {pid}"),
        Select::PidFile(path) => format!("with the pid that {} names", path.display()),
        Select::Name(name) => format!("named {name}"),
        Select::Port(port) => format!("that listens on port {port}"),
        Select::Cgroup(path) => format!("in the control group {}", path.display()),
    }
}

/// The lists of all groups that may be meant, for a shell.
pub(super) fn group_patterns(path: &Path) -> impl Iterator<Item = String> {
    let folders = MOUNTS.map(|mount| quoted(&folder(mount, path)));
    folders
        .into_iter()
        .flat_map(|folder| (0..=DEPTH).map(move |deep| format!("{folder}/{}cgroup.procs", "*/".repeat(deep))))
}

fn folder(mount: &str, path: &Path) -> String {
    format!("{mount}/{}", path.to_string_lossy().trim_matches('/'))
}

/// All processes of a group and the groups in it.
fn group(machine: &Machine, mount: &str, path: &Path) -> Vec<u32> {
    let mut pids = Vec::new();
    let mut level = vec![folder(mount, path)];
    for _ in 0..=DEPTH {
        let lists = level.iter().filter_map(|folder| machine.root.text(format!("{folder}/cgroup.procs")));
        lists.for_each(|list| pids.extend(list.lines().filter_map(|line| line.parse::<u32>().ok())));
        level = level
            .iter()
            .flat_map(|f| machine.root.names(f).into_iter().map(move |name| format!("{f}/{name}")))
            .collect();
        level.retain(|folder| machine.root.exists(format!("{folder}/cgroup.procs")));
    }
    pids
}
