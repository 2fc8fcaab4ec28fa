//! What our control group's CPU quota, and those of the groups around it, held back: version 1 and 2.
//!
//! Our groups are in /proc/self/cgroup, where they are mounted in /proc/self/mountinfo (cgroups(7), proc(5)). A quota
//! holds all the way down, and each group counts only what its own quota did: hence the groups above ours as well.

use super::pressure::some_seconds;
use super::{Source, Values, value_of};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::path::{Path, PathBuf};

/// Our control group and those around it.
pub(super) struct ControlGroup {
    /// cpu.stat of each group that may have a quota.
    stats: Vec<ReopenedFile>,
    quota: Option<f64>,
    pressure: ReopenedFile,
}

impl ControlGroup {
    pub fn open(root: &Root) -> Self {
        let folders = folders(root);
        let quota = |folder: &PathBuf| quota_v2(root, folder).or_else(|| quota_v1(root, folder));
        Self {
            stats: folders
                .iter()
                .map(|folder| root.keep(folder.join("cpu.stat")))
                .filter(ReopenedFile::is_there)
                .collect(),
            quota: folders.iter().filter_map(quota).reduce(f64::min),
            pressure: root.keep(folders.first().map_or(PathBuf::new(), |folder| folder.join("cpu.pressure"))),
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

/// Microseconds in version 2, nanoseconds in version 1. A group of version 2 that has neither cannot have a quota.
fn throttled(stat: &str) -> f64 {
    let v1 = || value_of(stat, "throttled_time").map(|nanos| nanos / 1e9);
    value_of(stat, "throttled_usec").map(|micros| micros / 1e6).or_else(v1).unwrap_or(0.0)
}

/// Cores by cpu.max: `50000 100000`, or `max 100000` where there is no quota.
fn quota_v2(root: &Root, folder: &Path) -> Option<f64> {
    let text = root.text(folder.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// Cores by `cpu.cfs_quota_us`, which is negative where there is no quota.
fn quota_v1(root: &Root, folder: &Path) -> Option<f64> {
    let quota = root.number(folder.join("cpu.cfs_quota_us")).filter(|quota| *quota > 0.0)?;
    Some(quota / root.number(folder.join("cpu.cfs_period_us"))?)
}

/// The folders of our group and those around it, ours first, of each hierarchy that can hold a CPU quota.
fn folders(root: &Root) -> Vec<PathBuf> {
    let (groups, mounts) = (root.text("/proc/self/cgroup"), root.text("/proc/self/mountinfo"));
    let (groups, mounts) = (groups.unwrap_or_default(), mounts.unwrap_or_default());
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let mount = mounts.lines().filter_map(mount).find(|mount| mount.holds(controllers));
        found.extend(mount.iter().flat_map(|mount| mount.folders(group)));
    }
    found
}

/// Where a hierarchy is mounted.
struct Mount<'a> {
    /// The group that the mount shows: `/`, or a container's own.
    shows: &'a str,
    at: &'a str,
    /// Controllers of version 1; None: version 2.
    controllers: Option<&'a str>,
}

/// A line of mountinfo: id, parent, device, root, mount point, options, …, `-`, type, source, options.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (shows, at) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    match after.next()? {
        "cgroup2" => Some(Mount { shows, at, controllers: None }),
        "cgroup" => Some(Mount { shows, at, controllers: Some(after.nth(1)?) }),
        _ => None,
    }
}

impl Mount<'_> {
    /// Whether groups with these controllers are in it: version 2 has none, of version 1 only `cpu` matters.
    fn holds(&self, controllers: &str) -> bool {
        match self.controllers {
            None => controllers.is_empty(),
            Some(own) => [own, controllers].iter().all(|list| list.split(',').any(|one| one == "cpu")),
        }
    }

    fn folders(&self, group: &str) -> Vec<PathBuf> {
        let below = group.strip_prefix(self.shows.trim_end_matches('/')).unwrap_or("").trim_start_matches('/');
        let folder = Path::new(self.at).join(below);
        folder.ancestors().take_while(|one| one.starts_with(self.at)).map(Path::to_owned).collect()
    }
}
