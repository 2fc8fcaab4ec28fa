//! All processes of a machine, from /proc/PID/stat (proc(5)).

use crate::Root;
use std::collections::BTreeMap;

/// Ticks of stat in a second: `USER_HZ`.
const TICKS: f64 = 100.0;
/// Processes that are looked at, at most.
const MOST: usize = 32_768;

/// What stat says of a process.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch) struct Member {
    pub name: String,
    pub parent: u32,
    /// When it began, in ticks since its machine did: tells it from another of the same number.
    pub began: u64,
    /// User and system seconds of its own, and of the children that it has waited for.
    pub own: [f64; 2],
    pub children: [f64; 2],
    pub threads: f64,
}

/// All processes, by number, as they were at the last look.
#[derive(Debug, Default)]
pub(in crate::watch) struct Table {
    processes: BTreeMap<u32, Member>,
    children: BTreeMap<u32, Vec<u32>>,
}

impl Table {
    /// Looks at all of them.
    pub fn refresh(&mut self, root: &Root) {
        let pids = root.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok()).take(MOST);
        let read = |pid: u32| Some((pid, member(&root.text(format!("/proc/{pid}/stat"))?)?));
        self.processes = pids.filter_map(read).collect();
        self.children.clear();
        for (pid, process) in &self.processes {
            self.children.entry(process.parent).or_default().push(*pid);
        }
    }

    /// When a process that is there began.
    pub fn began(&self, pid: u32) -> Option<u64> {
        self.processes.get(&pid).map(|p| p.began)
    }

    /// Those of a name; the kernel keeps its first 15 bytes.
    pub fn named(&self, name: &str) -> Vec<u32> {
        let kept = name.get(..15).unwrap_or(name);
        self.processes.iter().filter(|(_, p)| p.name == kept).map(|(pid, _)| *pid).collect()
    }

    /// Those of these that are there, with all their descendants.
    pub fn with_children(&self, pids: impl Iterator<Item = u32>) -> BTreeMap<u32, Member> {
        let mut found = BTreeMap::new();
        let mut next: Vec<u32> = pids.collect();
        while let Some(pid) = next.pop() {
            let Some(process) = self.processes.get(&pid) else { continue };
            if found.insert(pid, process.clone()).is_none() {
                next.extend(self.children.get(&pid).into_iter().flatten());
            }
        }
        found
    }
}

/// `PID (NAME) STATE PPID …`: the name may hold anything, so fields are counted from the last parenthesis.
pub(super) fn member(stat: &str) -> Option<Member> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = after.split_ascii_whitespace().collect();
    // Field 3 of proc(5), the state, is the first here.
    let field = |number: usize| fields.get(number - 3).copied();
    let seconds = |number: usize| field(number)?.parse::<f64>().ok().map(|ticks| ticks / TICKS);
    Some(Member {
        name,
        parent: field(4)?.parse().ok()?,
        began: field(22)?.parse().ok()?,
        own: [seconds(14)?, seconds(15)?],
        children: [seconds(16)?, seconds(17)?],
        threads: field(20)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat() {
        let stat =
            "42 (a) b (c) S 7 42 42 0 -1 4194560 864 9 0 0 150 75 20 10 20 0 3 0 12345 1000 55 18446744073709551615\n";
        let expected = Member {
            name: "a) b (c".into(),
            parent: 7,
            began: 12_345,
            own: [1.5, 0.75],
            children: [0.2, 0.1],
            threads: 3.0,
        };
        assert_eq!(member(stat), Some(expected));
        assert_eq!((member("42 (x) S 1"), member("")), (None, None));
    }

    #[test]
    fn children_of_children_belong_to_it() {
        let root = Root::told();
        let stat = |pid: u32, parent: u32| {
            (
                format!("/proc/{pid}/stat"),
                format!("{pid} (php-fpm8.2) S {parent} 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 1 0 5\n"),
            )
        };
        root.tell([stat(1, 0), stat(10, 1), stat(11, 10), stat(12, 11), stat(20, 1)]);
        let mut table = Table::default();
        table.refresh(&root);
        assert_eq!(table.with_children([10, 99].into_iter()).into_keys().collect::<Vec<_>>(), [10, 11, 12]);
        assert_eq!(table.named("php-fpm8.2"), [1, 10, 11, 12, 20]);
    }
}
