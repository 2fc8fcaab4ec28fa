//! The other processes of this machine: how many cores they use, and which use most, from /proc/PID/stat (proc(5)).
//!
//! Processes of one name are summed up. Ours are left out: this process and its children of the same name. It costs some
//! 10 µs a process, so on a machine with many of them they are looked at less often, and what was seen last is told again.
//! A process that began and ended between two looks is not seen.

use super::{Source, Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::collections::{BTreeMap, BTreeSet};

/// Processes looked at, at most.
const MOST_PROCESSES: usize = 4096;
/// For each so many processes, one reading is passed over.
const A_READING: usize = 100;
/// Two looks nearer to each other than this are one, in ticks: CPU time is counted in steps of one.
const SHORTEST: f64 = 20.0;
/// Names told at a time, at most.
const MOST_NAMED: usize = 4;
/// Names told in a run, at most: each is a column in its readings.
const MOST_NAMES: usize = 16;
/// Who uses less than this is not named, in cores.
const NAMED_FROM: f64 = 0.05;

/// The other processes of this machine.
pub(super) struct Neighbors {
    root: Root,
    stat: ReopenedFile,
    own: u32,
    /// The machine's clock at the last look, in ticks; None: there was none yet.
    looked: Option<f64>,
    /// By process and when it began: ticks of CPU time.
    ticks: BTreeMap<(u32, u64), f64>,
    told: Vec<(String, f64)>,
    names: BTreeSet<String>,
    /// Readings that are passed over before the next look.
    pause: usize,
}

/// A line of /proc/PID/stat.
struct Process {
    pid: u32,
    parent: u32,
    name: String,
    began: u64,
    ticks: f64,
}

impl Neighbors {
    pub fn open(root: &Root) -> Self {
        Self {
            root: root.clone(),
            stat: root.keep("/proc/stat"),
            own: std::process::id(),
            looked: None,
            ticks: BTreeMap::new(),
            told: Vec::new(),
            names: BTreeSet::new(),
            pause: 0,
        }
    }

    /// Ticks since the machine started, whatever its cores did with them: a clock that costs one small file.
    fn clock(&mut self) -> Option<f64> {
        let stat = self.stat.text()?;
        let cores = stat.lines().filter(|line| line.starts_with("cpu")).count().checked_sub(1)?;
        let all: f64 = numbers(stat.lines().next()?).take(8).sum();
        Some(all / cores.max(1) as f64)
    }

    fn look(&mut self) {
        let Some(now) = self.clock() else { return };
        let elapsed = self.looked.map(|looked| now - looked);
        if elapsed.is_some_and(|elapsed| elapsed < SHORTEST) {
            return;
        }
        let processes = self.processes();
        self.pause = processes.len() / A_READING;
        if let Some(elapsed) = elapsed {
            self.told = self.cores(&processes, elapsed);
        }
        self.looked = Some(now);
        self.ticks = processes.iter().map(|p| ((p.pid, p.began), p.ticks)).collect();
    }

    fn processes(&self) -> Vec<Process> {
        let pids = self.root.names("/proc").into_iter().filter_map(|name| name.parse().ok()).take(MOST_PROCESSES);
        let all: Vec<Process> =
            pids.filter_map(|pid: u32| process(pid, &self.root.text(format!("/proc/{pid}/stat"))?)).collect();
        let ours = all.iter().find(|p| p.pid == self.own).map_or(String::new(), |own| own.name.clone());
        let is_ours = |p: &Process| p.pid == self.own || (p.parent == self.own && p.name == ours);
        all.into_iter().filter(|p| !is_ours(p)).collect()
    }

    /// What is told: all together, and who used most.
    fn cores(&mut self, processes: &[Process], elapsed: f64) -> Vec<(String, f64)> {
        let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
        for process in processes {
            // Of one that began since the last look, all is new.
            let before = self.ticks.get(&(process.pid, process.began)).copied().unwrap_or(0.0);
            *by_name.entry(&process.name).or_default() += (process.ticks - before).max(0.0) / elapsed;
        }
        let mut told = vec![(name::PROCESSES.to_owned(), by_name.values().sum())];
        let mut users: Vec<(&str, f64)> = by_name.into_iter().filter(|user| user.1 >= NAMED_FROM).collect();
        users.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (user, _) in users.iter().take(MOST_NAMED) {
            if self.names.len() < MOST_NAMES {
                self.names.insert((*user).to_owned());
            }
        }
        let used = |name: &String| users.iter().find(|user| user.0 == name).map_or(0.0, |user| user.1);
        told.extend(self.names.iter().map(|name| (name::processes(name), used(name))));
        told
    }
}

impl Source for Neighbors {
    fn read(&mut self, into: &mut Values) {
        match self.pause.checked_sub(1) {
            Some(left) => self.pause = left,
            None => self.look(),
        }
        into.0.extend(self.told.iter().cloned());
    }
}

/// The name stands in parentheses and may hold any character; behind it, the fields are separated by spaces: the second
/// is the parent, the 12th and 13th are CPU time in user mode and in the kernel, the 20th is when it began.
fn process(pid: u32, line: &str) -> Option<Process> {
    let (head, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        name: head.split_once('(')?.1.to_owned(),
        began: fields.get(19)?.parse().ok()?,
        ticks: ticks(11)? + ticks(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// A machine of two cores after so many seconds, and its processes: pid, parent, name, CPU seconds.
    fn record(tree: &Path, seconds: f64, processes: &[(u32, u32, &str, f64)]) {
        let ticks = seconds * 100.0;
        let write = |path: String, text: String| {
            let file = tree.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("proc/stat".into(), format!("cpu {ticks} 0 0 {ticks} 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n"));
        for (pid, parent, name, cpu) in processes {
            let fields = format!("S {parent} 1 1 0 -1 0 0 0 0 0 {} {} 0 0 20 0 1 0 77 1000", cpu * 60.0, cpu * 40.0);
            write(format!("proc/{pid}/stat"), format!("{pid} ({name}) {fields}"));
        }
    }

    fn told(neighbors: &mut Neighbors) -> Vec<(String, f64)> {
        let mut values = Values::default();
        neighbors.read(&mut values);
        values.0
    }

    #[test]
    fn processes_of_one_name_are_summed_up_and_ours_left_out() {
        let (dir, own) = (tempfile::tempdir().unwrap(), std::process::id());
        let at = |seconds: f64, each: f64| {
            let ours = [(own, 1, "brunt", seconds), (own + 1, own, "brunt", seconds)];
            let others = [(own + 2, 1, "a (b) c", each), (own + 3, 1, "a (b) c", each), (own + 4, 1, "quiet", 0.01)];
            record(dir.path(), seconds, &[&ours[..], &others[..]].concat());
        };
        at(100.0, 5.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()));
        assert_eq!(told(&mut neighbors), [], "there is nothing to compare with yet");
        at(102.0, 6.5);
        let told = told(&mut neighbors);
        let near = |at: usize, name: &str, cores: f64| {
            assert!(told[at].0 == name && (told[at].1 - cores).abs() < 1e-6, "{told:?}");
        };
        near(0, name::PROCESSES, 1.5);
        near(1, "processes.a (b) c.cores", 1.5);
        assert_eq!((told.len(), name::processes_of(&told[1].0)), (2, Some("a (b) c")));
    }

    #[test]
    fn many_processes_are_looked_at_less_often() {
        let (dir, own) = (tempfile::tempdir().unwrap(), std::process::id());
        let at = |seconds: f64| {
            let all: Vec<_> = (1..=250).map(|n| (own + n, 1, "many", seconds / 1000.0)).collect();
            record(dir.path(), seconds, &all);
        };
        at(10.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()));
        told(&mut neighbors);
        at(20.0);
        assert_eq!((told(&mut neighbors), told(&mut neighbors)), (vec![], vec![]));
        assert!((told(&mut neighbors)[0].1 - 0.25).abs() < 1e-6);
    }
}
