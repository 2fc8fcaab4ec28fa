//! The processes that hold a socket, found by their open files: what proc(5) shows to our user, and no more.
//!
//! The search is bounded, so that it stays short on a machine with many processes; then the owner is not known.

use crate::Root;
use std::fs;

/// Processes looked at, at most.
const PROCESSES: usize = 8192;
/// Open files looked at in one process, at most: a server opens its listening sockets before its connections.
const FILES: usize = 128;
/// Open files looked at in all, at most.
const ALL_FILES: usize = 16_384;
/// What starts servers with their listening sockets already open: not the server.
const ACTIVATORS: &[&str] = &["systemd", "(systemd)", "init"];

/// A process that holds the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub pid: u32,
    parent: u32,
    name: String,
}

/// The owners of any of these sockets.
pub(crate) fn of(root: &Root, inodes: &[u64]) -> Vec<Owner> {
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let mut left = ALL_FILES;
    let owners: Vec<Owner> = (processes(root).into_iter())
        .filter(|pid| holds(root, *pid, &links, &mut left))
        .filter_map(|pid| owner(root, pid))
        .collect();
    let servers: Vec<Owner> = owners.iter().filter(|o| !ACTIVATORS.contains(&&*o.name)).cloned().collect();
    if servers.is_empty() { owners } else { servers }
}

/// `nginx (pid 123)`: the first of them, which started the others.
pub(super) fn name(owners: &[Owner]) -> Option<String> {
    let first = owners.iter().find(|o| owners.iter().all(|other| other.pid != o.parent))?;
    Some(format!("{} (pid {})", first.name, first.pid))
}

/// The pids of the server. An activator (systemd) is none: its children are all services of the machine.
pub(super) fn servers(owners: &[Owner]) -> Vec<u32> {
    owners.iter().filter(|owner| !ACTIVATORS.contains(&&*owner.name)).map(|owner| owner.pid).collect()
}

/// The limits on open files of the processes that accept, added up: of those that have started no other owner. The
/// master of nginx or Apache holds the socket too, but its workers accept.
pub(super) fn descriptors(root: &Root, owners: &[Owner]) -> Option<u64> {
    let accepts = |o: &&Owner| owners.iter().all(|other| other.parent != o.pid);
    let limits: Option<Vec<u64>> = owners.iter().filter(accepts).map(|o| limit(root, o.pid)).collect();
    limits.filter(|l| !l.is_empty()).map(|l| l.into_iter().fold(0, u64::saturating_add))
}

/// Which of these sockets a process holds, among the first files that it has open.
pub(crate) fn held(root: &Root, pid: u32, inodes: &[u64]) -> Vec<u64> {
    let files = fs::read_dir(root.path(format!("proc/{pid}/fd"))).into_iter().flatten().take(FILES).flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    let inode = |link: std::path::PathBuf| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    links.filter_map(inode).filter(|inode| inodes.contains(inode)).collect()
}

fn processes(root: &Root) -> Vec<u32> {
    let entries = fs::read_dir(root.path("proc")).into_iter().flatten();
    let mut pids: Vec<u32> =
        entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).take(PROCESSES).collect();
    pids.sort_unstable();
    pids
}

fn holds(root: &Root, pid: u32, links: &[String], left: &mut usize) -> bool {
    let files = fs::read_dir(root.path(format!("proc/{pid}/fd"))).into_iter().flatten();
    let looked_at = (*left).min(FILES);
    files.take(looked_at).flatten().any(|file| {
        *left -= 1;
        let to = fs::read_link(file.path());
        to.is_ok_and(|to| to.to_str().is_some_and(|to| links.iter().any(|link| link == to)))
    })
}

fn owner(root: &Root, pid: u32) -> Option<Owner> {
    let name = fs::read_to_string(root.path(format!("proc/{pid}/comm"))).ok()?.trim().to_owned();
    let status = fs::read_to_string(root.path(format!("proc/{pid}/status"))).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())?;
    Some(Owner { pid, parent, name })
}

/// The soft limit, which is what holds.
fn limit(root: &Root, pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(root.path(format!("proc/{pid}/limits"))).ok()?;
    let soft = limits.lines().find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next())?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// A process with its parent, name, limit and the sockets that it holds.
    fn process(root: &Path, (pid, parent): (u32, u32), (name, limit): (&str, &str), sockets: &[u64]) {
        let dir = root.join(format!("proc/{pid}"));
        fs::create_dir_all(dir.join("fd")).unwrap();
        fs::write(dir.join("comm"), format!("{name}\n")).unwrap();
        fs::write(dir.join("status"), format!("Name:\t{name}\nPPid:\t{parent}\n")).unwrap();
        let limits = format!(
            "Limit                     Soft Limit           Hard Limit           Units\nMax open files            {limit}                 524288               files\n"
        );
        fs::write(dir.join("limits"), limits).unwrap();
        for (fd, inode) in sockets.iter().enumerate() {
            symlink(format!("socket:[{inode}]"), dir.join("fd").join(fd.to_string())).unwrap();
        }
    }

    #[test]
    fn the_master_is_named_and_its_workers_count() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (1, 0), ("systemd", "1000000"), &[77]);
        process(dir.path(), (100, 1), ("nginx", "1024"), &[5, 77]);
        process(dir.path(), (101, 100), ("nginx", "4096"), &[5, 77]);
        process(dir.path(), (102, 100), ("nginx", "4096"), &[77]);
        process(dir.path(), (200, 1), ("other", "9"), &[5]);
        let root = Root::recorded(dir.path());
        let owners = of(&root, &[77]);
        assert_eq!(name(&owners).as_deref(), Some("nginx (pid 100)"));
        assert_eq!(descriptors(&root, &owners), Some(8192));
        assert_eq!(servers(&owners), [100, 101, 102]);
    }

    #[test]
    fn who_is_not_seen_is_none() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (200, 1), ("other", "9"), &[5]);
        let root = Root::recorded(dir.path());
        let owners = of(&root, &[77]);
        assert_eq!((name(&owners), descriptors(&root, &owners)), (None, None));
        assert!(of(&Root::recorded("/nowhere"), &[77]).is_empty());
    }

    #[test]
    fn an_activator_alone_is_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (1, 0), ("systemd", "unlimited"), &[77]);
        let root = Root::recorded(dir.path());
        let owners = of(&root, &[77]);
        assert_eq!(name(&owners).as_deref(), Some("systemd (pid 1)"));
        assert_eq!(servers(&owners), [0; 0]);
        assert_eq!(descriptors(&root, &owners), Some(u64::MAX));
    }

    #[test]
    fn the_search_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (7, 1), ("server", "9"), &[77]);
        assert!(!holds(&Root::recorded(dir.path()), 7, &["socket:[77]".into()], &mut 0));
    }
}
