//! Finds the processes that hold a socket by their open files, as far as proc(5) shows
//! them to this user.
//!
//! The search is bounded, so that it stays short on a machine with many processes. Beyond the
//! bounds, the owner is unknown.

use crate::Root;
use std::fs;
use std::path::Path;

/// Maximum number of processes that are examined.
const MAX_PROCESSES: usize = 8192;
/// Maximum number of open files that are examined per process. A server opens its listening
/// sockets before its connections.
const MAX_FILES_PER_PROCESS: usize = 128;
/// Maximum number of open files that are examined in total.
const MAX_FILES: usize = 16_384;
/// Programs that start servers with their listening sockets already open. They are not the server.
const ACTIVATORS: &[&str] = &["systemd", "(systemd)", "init"];

/// A process that holds the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub pid: u32,
    parent: u32,
    name: String,
}

/// Returns the owners of any of these sockets.
pub(crate) fn owners(root: &Root, inodes: &[u64]) -> Vec<Owner> {
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let mut remaining_files = MAX_FILES;
    let owners: Vec<Owner> = (processes(root).into_iter())
        .filter(|pid| holds(root, *pid, &links, &mut remaining_files))
        .filter_map(|pid| read_owner(root, pid))
        .collect();
    let servers: Vec<Owner> =
        owners.iter().filter(|o| !ACTIVATORS.contains(&&*o.name)).cloned().collect();
    if servers.is_empty() { owners } else { servers }
}

/// Returns name and pid of the first owner, which started the others, such as `nginx (pid 123)`.
pub(super) fn first_name(owners: &[Owner]) -> Option<String> {
    let first = owners.iter().find(|o| owners.iter().all(|other| other.pid != o.parent))?;
    Some(format!("{} (pid {})", first.name, first.pid))
}

/// Returns the pids of the server. An activator (systemd) is excluded, because its children are all
/// services of the machine.
pub(super) fn servers(owners: &[Owner]) -> Vec<u32> {
    owners
        .iter()
        .filter(|owner| !ACTIVATORS.contains(&&*owner.name))
        .map(|owner| owner.pid)
        .collect()
}

/// Returns the sum of the limits on open files of the processes that accept: those that
/// have started no other owner. The master of nginx or Apache holds the socket, too, but
/// only its workers accept.
pub(super) fn descriptor_limit(root: &Root, owners: &[Owner]) -> Option<u64> {
    let accepting =
        owners.iter().filter(|owner| owners.iter().all(|other| other.parent != owner.pid));
    let limits: Option<Vec<u64>> = accepting.map(|owner| limit(root, owner.pid)).collect();
    limits.filter(|l| !l.is_empty()).map(|l| l.into_iter().fold(0, u64::saturating_add))
}

/// Returns which of these sockets are among the first open files of a process.
pub(crate) fn sockets_of(root: &Root, pid: u32, inodes: &[u64]) -> Vec<u64> {
    let files = fs::read_dir(root.path(format!("proc/{pid}/fd")));
    let files = files.into_iter().flatten().take(MAX_FILES_PER_PROCESS).flatten();
    let links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.filter_map(|link| socket_inode(&link)).filter(|inode| inodes.contains(inode)).collect()
}

/// Returns the inode in a link such as `socket:[77]`.
fn socket_inode(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn processes(root: &Root) -> Vec<u32> {
    let entries = fs::read_dir(root.path("proc")).into_iter().flatten();
    let mut pids: Vec<u32> = entries
        .filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok())
        .take(MAX_PROCESSES)
        .collect();
    pids.sort_unstable();
    pids
}

fn holds(root: &Root, pid: u32, links: &[String], remaining_files: &mut usize) -> bool {
    let files = fs::read_dir(root.path(format!("proc/{pid}/fd"))).into_iter().flatten();
    let limit = (*remaining_files).min(MAX_FILES_PER_PROCESS);
    files.take(limit).flatten().any(|file| {
        *remaining_files -= 1;
        let target = fs::read_link(file.path());
        target.is_ok_and(|target| {
            target.to_str().is_some_and(|target| links.iter().any(|link| link == target))
        })
    })
}

fn read_owner(root: &Root, pid: u32) -> Option<Owner> {
    let name = fs::read_to_string(root.path(format!("proc/{pid}/comm"))).ok()?.trim().to_owned();
    let status = fs::read_to_string(root.path(format!("proc/{pid}/status"))).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())?;
    Some(Owner { pid, parent, name })
}

/// Returns the soft limit on open files, which is the one that applies.
fn limit(root: &Root, pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(root.path(format!("proc/{pid}/limits"))).ok()?;
    let soft = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next())?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// A process with its parent, name, limit and the sockets that it holds.
    fn process(
        root: &Path,
        (pid, parent): (u32, u32),
        (name, limit): (&str, &str),
        sockets: &[u64],
    ) {
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
        let owners = owners(&root, &[77]);
        assert_eq!(first_name(&owners).as_deref(), Some("nginx (pid 100)"));
        assert_eq!(descriptor_limit(&root, &owners), Some(8192));
        assert_eq!(servers(&owners), [100, 101, 102]);
    }

    #[test]
    fn invisible_owners_are_none() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (200, 1), ("other", "9"), &[5]);
        let root = Root::recorded(dir.path());
        let owners = owners(&root, &[77]);
        assert_eq!((first_name(&owners), descriptor_limit(&root, &owners)), (None, None));
        assert!(super::owners(&Root::recorded("/nowhere"), &[77]).is_empty());
    }

    #[test]
    fn a_socket_activator_without_a_server_is_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (1, 0), ("systemd", "unlimited"), &[77]);
        let root = Root::recorded(dir.path());
        let owners = owners(&root, &[77]);
        assert_eq!(first_name(&owners).as_deref(), Some("systemd (pid 1)"));
        assert_eq!(servers(&owners), [0; 0]);
        assert_eq!(descriptor_limit(&root, &owners), Some(u64::MAX));
    }

    #[test]
    fn the_search_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        process(dir.path(), (7, 1), ("server", "9"), &[77]);
        assert!(!holds(&Root::recorded(dir.path()), 7, &["socket:[77]".into()], &mut 0));
    }
}
