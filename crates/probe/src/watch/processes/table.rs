//! Lists all processes of a machine, from /proc/PID/stat (proc(5)).

use crate::Root;
use std::collections::BTreeMap;

/// Ticks of stat per second: `USER_HZ`.
const TICKS: f64 = 100.0;
/// Maximum number of processes that are read.
const MAX_PROCESSES: usize = 32_768;

/// The parsed stat file of a process.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch) struct Member {
    pub name: String,
    pub parent: u32,
    /// Start time in ticks since the machine's start. It distinguishes processes that have the same
    /// pid at different times.
    pub start: u64,
    /// User and system seconds of the process itself.
    pub own: [f64; 2],
    /// User and system seconds of the ended children that it has waited for.
    pub children: [f64; 2],
    pub threads: f64,
}

/// All processes by pid, as of the last refresh.
#[derive(Debug, Default)]
pub(in crate::watch) struct Table {
    processes: BTreeMap<u32, Member>,
    children: BTreeMap<u32, Vec<u32>>,
}

impl Table {
    /// Reads all processes.
    pub fn refresh(&mut self, root: &Root) {
        let pids = root
            .names("/proc")
            .into_iter()
            .filter_map(|name| name.parse::<u32>().ok())
            .take(MAX_PROCESSES);
        let stats = pids.filter_map(|pid| Some((pid, root.text(format!("/proc/{pid}/stat"))?)));
        self.processes = stats.filter_map(|(pid, stat)| Some((pid, member(&stat)?))).collect();
        self.children.clear();
        for (pid, process) in &self.processes {
            self.children.entry(process.parent).or_default().push(*pid);
        }
    }

    /// Returns the start time of a process, if it exists.
    pub fn start_of(&self, pid: u32) -> Option<u64> {
        self.processes.get(&pid).map(|p| p.start)
    }

    /// Returns the pids of the processes with this name. The kernel keeps only the first 15
    /// bytes of a name.
    pub fn pids_named(&self, name: &str) -> Vec<u32> {
        let name = name.get(..15).unwrap_or(name);
        self.processes.iter().filter(|(_, p)| p.name == name).map(|(pid, _)| *pid).collect()
    }

    /// Returns those of these processes that exist, with all their descendants.
    pub fn with_descendants(&self, pids: impl Iterator<Item = u32>) -> BTreeMap<u32, Member> {
        let mut members = BTreeMap::new();
        let mut next: Vec<u32> = pids.collect();
        while let Some(pid) = next.pop() {
            let Some(process) = self.processes.get(&pid) else { continue };
            // A reused pid could otherwise close a circle of parents.
            if members.insert(pid, process.clone()).is_none() {
                next.extend(self.children.get(&pid).into_iter().flatten());
            }
        }
        members
    }
}

/// Parses `PID (NAME) STATE PPID …`. The name may contain any character, so fields are counted
/// from the last parenthesis.
pub(super) fn member(stat: &str) -> Option<Member> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    Some(Member {
        name,
        parent: field(&fields, 4)?.parse().ok()?,
        start: field(&fields, 22)?.parse().ok()?,
        own: [seconds(&fields, 14)?, seconds(&fields, 15)?],
        children: [seconds(&fields, 16)?, seconds(&fields, 17)?],
        threads: field(&fields, 20)?.parse().ok()?,
    })
}

/// Returns a field by its number in proc(5). Field 3, the state, is the first after the name.
fn field<'a>(fields: &[&'a str], number: usize) -> Option<&'a str> {
    fields.get(number - 3).copied()
}

fn seconds(fields: &[&str], number: usize) -> Option<f64> {
    field(fields, number)?.parse::<f64>().ok().map(|ticks| ticks / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_proc_stat_is_parsed() {
        let stat = "42 (a) b (c) S 7 42 42 0 -1 4194560 864 9 0 0 150 75 20 10 20 0 3 0 12345 1000 55 18446744073709551615\n";
        let expected = Member {
            name: "a) b (c".into(),
            parent: 7,
            start: 12_345,
            own: [1.5, 0.75],
            children: [0.2, 0.1],
            threads: 3.0,
        };
        assert_eq!(member(stat), Some(expected));
        assert_eq!((member("42 (x) S 1"), member("")), (None, None));
    }

    #[test]
    fn children_of_children_belong_to_it() {
        let root = Root::remote();
        let stat = |pid: u32, parent: u32| {
            (
                format!("/proc/{pid}/stat"),
                format!("{pid} (php-fpm8.2) S {parent} 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 1 0 5\n"),
            )
        };
        root.replace_files([stat(1, 0), stat(10, 1), stat(11, 10), stat(12, 11), stat(20, 1)]);
        let mut table = Table::default();
        table.refresh(&root);
        assert_eq!(
            table.with_descendants([10, 99].into_iter()).into_keys().collect::<Vec<_>>(),
            [10, 11, 12]
        );
        assert_eq!(table.pids_named("php-fpm8.2"), [1, 10, 11, 12, 20]);
    }
}
