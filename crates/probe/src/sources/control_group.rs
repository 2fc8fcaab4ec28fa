//! Reads the CPU quota of this process's control group and of its ancestors, and the time that they
//! throttled it, and the memory that the groups of a process may still use. Supports versions 1 and
//! 2.
//!
//! /proc/self/cgroup lists the groups, and /proc/self/mountinfo their mount points (cgroups(7),
//! proc(5)). A quota applies to all descendants, and each group counts only its own throttling:
//! hence the ancestors are read, too.

use super::pressure::some_seconds;
use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::path::{Path, PathBuf};

/// The control group of this process and its ancestors.
pub(super) struct ControlGroup {
    /// cpu.stat of each group that may have a quota.
    stats: Vec<ReopenedFile>,
    quota: Option<f64>,
    pressure: ReopenedFile,
}

impl ControlGroup {
    pub fn open(root: &Root) -> Self {
        let folders = folders(root, "/proc/self/cgroup", "cpu");
        Self {
            stats: folders
                .iter()
                .map(|folder| root.keep(folder.join("cpu.stat")))
                .filter(ReopenedFile::is_there)
                .collect(),
            // A quota limits all groups below it, so the smallest one applies.
            quota: folders.iter().filter_map(|folder| quota(root, folder)).reduce(f64::min),
            pressure: root
                .keep(folders.first().map_or(PathBuf::new(), |folder| folder.join("cpu.pressure"))),
        }
    }
}

impl Source for ControlGroup {
    fn read(&mut self, into: &mut Values) {
        let throttled = self.stats.iter_mut().filter_map(|stat| stat.text().map(throttled));
        into.push_some(name::THROTTLED, throttled.reduce(|a, b| a + b));
        into.push_some(name::QUOTA, self.quota);
        into.push_some(name::CGROUP_PRESSURE_CPU, self.pressure.text().and_then(some_seconds));
    }
}

/// Returns the throttled seconds: microseconds in version 2, nanoseconds in version 1. A group of
/// version 2 that has neither cannot have a quota.
fn throttled(stat: &str) -> f64 {
    if let Some(micros) = value_of(stat, "throttled_usec") {
        return micros / 1e6;
    }
    value_of(stat, "throttled_time").map_or(0.0, |nanos| nanos / 1e9)
}

fn quota(root: &Root, folder: &Path) -> Option<f64> {
    quota_v2(root, folder).or_else(|| quota_v1(root, folder))
}

/// Returns the cores in cpu.max: `50000 100000`, or `max 100000` without a quota.
fn quota_v2(root: &Root, folder: &Path) -> Option<f64> {
    let text = root.text(folder.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// Returns the cores in `cpu.cfs_quota_us`, which is negative without a quota.
fn quota_v1(root: &Root, folder: &Path) -> Option<f64> {
    let quota = root.number(folder.join("cpu.cfs_quota_us")).filter(|quota| *quota > 0.0)?;
    Some(quota / root.number(folder.join("cpu.cfs_period_us"))?)
}

/// Returns the memory that the control groups of a process allow it to use further, in bytes. None
/// without a limit.
pub(crate) fn memory_room(root: &Root, pid: u32) -> Option<f64> {
    let folders = folders(root, &format!("/proc/{pid}/cgroup"), "memory");
    folders.iter().filter_map(|folder| room_of(root, folder)).reduce(f64::min)
}

/// Returns the difference of limit and use of a group. Cached files that are not in use do not
/// count, since the kernel drops them first.
fn room_of(root: &Root, folder: &Path) -> Option<f64> {
    let stat = root.text(folder.join("memory.stat")).unwrap_or_default();
    let (limit, used, cached) = match root.number(folder.join("memory.max")) {
        Some(limit) => (limit, "memory.current", "inactive_file"),
        None => (
            // Version 1 writes a limit near 2^63 for none.
            root.number(folder.join("memory.limit_in_bytes")).filter(|limit| *limit < 1e18)?,
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    };
    let used = root.number(folder.join(used))?;
    Some((limit - used + value_of(&stat, cached).unwrap_or(0.0)).max(0.0))
}

/// Returns the folders of the groups in a file /proc/PID/cgroup and of their ancestors, nearest
/// first, in each hierarchy that supports this controller.
fn folders(root: &Root, groups: &str, controller: &str) -> Vec<PathBuf> {
    let groups = root.text(groups).unwrap_or_default();
    let mounts = root.text("/proc/self/mountinfo").unwrap_or_default();
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let mount = mounts
            .lines()
            .filter_map(parse_mount)
            .find(|mount| mount.contains_group(controllers, controller));
        folders.extend(mount.iter().flat_map(|mount| mount.folders(group)));
    }
    folders
}

/// The mount point of a hierarchy.
struct Mount<'a> {
    /// The group at the top of the mount: `/`, or that of a container.
    group: &'a str,
    folder: &'a str,
    /// Controllers of version 1; None for version 2.
    controllers: Option<&'a str>,
}

/// Parses a line of mountinfo: id, parent, device, root, mount point, options, …,
/// `-`, type, source, options.
fn parse_mount(line: &str) -> Option<Mount<'_>> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let group = before.next()?;
    let folder = before.next()?;
    let mut after = after.split(' ');
    match after.next()? {
        "cgroup2" => Some(Mount { group, folder, controllers: None }),
        "cgroup" => Some(Mount { group, folder, controllers: Some(after.nth(1)?) }),
        _ => None,
    }
}

impl Mount<'_> {
    /// True if groups with these controllers are in this hierarchy. Version 2 has no controllers; in
    /// version 1 the hierarchy must have the requested one.
    fn contains_group(&self, controllers: &str, requested: &str) -> bool {
        match self.controllers {
            None => controllers.is_empty(),
            Some(mounted) => [mounted, controllers]
                .iter()
                .all(|list| list.split(',').any(|one| one == requested)),
        }
    }

    fn folders(&self, group: &str) -> Vec<PathBuf> {
        // In a container, the mount begins at the container's own group.
        let below = group
            .strip_prefix(self.group.trim_end_matches('/'))
            .unwrap_or("")
            .trim_start_matches('/');
        let folder = Path::new(self.folder).join(below);
        folder
            .ancestors()
            .take_while(|one| one.starts_with(self.folder))
            .map(Path::to_owned)
            .collect()
    }
}
