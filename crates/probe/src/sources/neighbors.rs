//! The other processes of this machine: how many cores they use, and which use most, from /proc/PID/stat (proc(5)).
//!
//! The server is the processes that hold the target's listening socket, and their children; it is summed up by itself.
//! All others of one name are summed up, with the pid of the busiest one. Ours are left out: this process and its
//! children of the same name. It costs some 10 µs a process, so on a machine with many of them they are looked at less
//! often, and what was seen last is told again. A process that both began and ended between two looks is not counted.

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
pub(crate) struct Neighbors {
    root: Root,
    stat: ReopenedFile,
    own: u32,
    /// The processes that hold the target's listening socket; empty where they are not known.
    listeners: Vec<u32>,
    /// The machine's clock at the last look, in ticks; None: there was none yet.
    looked: Option<f64>,
    /// By process and when it began: ticks of CPU time.
    ticks: BTreeMap<(u32, u64), f64>,
    readings: Vec<(String, f64)>,
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

/// CPU use of the processes of one name.
#[derive(Default)]
struct Usage {
    cores: f64,
    busiest: f64,
    busiest_pid: u32,
}

impl Usage {
    fn add(&mut self, pid: u32, cores: f64) {
        self.cores += cores;
        if cores >= self.busiest {
            self.busiest = cores;
            self.busiest_pid = pid;
        }
    }
}

impl Neighbors {
    /// `listeners`: the processes that hold the target's listening socket; empty where they are not known.
    pub fn open(root: &Root, listeners: &[u32]) -> Self {
        Self {
            root: root.clone(),
            stat: root.keep("/proc/stat"),
            own: std::process::id(),
            listeners: listeners.to_vec(),
            looked: None,
            ticks: BTreeMap::new(),
            readings: Vec::new(),
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
            self.readings = self.cores(&processes, elapsed);
        }
        self.looked = Some(now);
        self.ticks = processes.iter().map(|p| ((p.pid, p.began), p.ticks)).collect();
    }

    fn processes(&self) -> Vec<Process> {
        let pids = self.root.names("/proc").into_iter().filter_map(|name| name.parse().ok()).take(MOST_PROCESSES);
        let all: Vec<Process> =
            pids.filter_map(|pid: u32| process(pid, &self.root.text(format!("/proc/{pid}/stat"))?)).collect();
        let ours = all.iter().find(|p| p.pid == self.own).map_or(String::new(), |own| own.name.clone());
        all.into_iter().filter(|process| !self.is_ours(process, &ours)).collect()
    }

    /// Worker processes of brunt have its name, and so has a `brunt lab` that brunt started as the target.
    fn is_ours(&self, process: &Process, name: &str) -> bool {
        let is_worker = process.parent == self.own && process.name == name;
        process.pid == self.own || (is_worker && !self.listeners.contains(&process.pid))
    }

    /// Cores of all processes together, of the server, and of the names that used most.
    fn cores(&mut self, processes: &[Process], elapsed: f64) -> Vec<(String, f64)> {
        let servers = tree(processes, &self.listeners);
        let mut all = 0.0;
        let mut server = 0.0;
        let mut others: BTreeMap<&str, Usage> = BTreeMap::new();
        for process in processes {
            // The whole CPU time of a process that began since the last look was used since then.
            let before = self.ticks.get(&(process.pid, process.began)).copied().unwrap_or(0.0);
            let cores = (process.ticks - before).max(0.0) / elapsed;
            all += cores;
            if servers.contains(&process.pid) {
                server += cores;
            } else {
                others.entry(&process.name).or_default().add(process.pid, cores);
            }
        }
        let mut busiest: Vec<&str> = others.iter().filter(|of| of.1.cores >= NAMED_FROM).map(|of| *of.0).collect();
        busiest.sort_by(|a, b| others[b].cores.total_cmp(&others[a].cores));
        for user in busiest.into_iter().take(MOST_NAMED) {
            if self.names.len() < MOST_NAMES {
                self.names.insert(user.to_owned());
            }
        }
        let mut readings = vec![(name::PROCESSES.to_owned(), all)];
        readings.extend((!servers.is_empty()).then(|| (name::SERVER_PROCESSES.to_owned(), server)));
        for named in &self.names {
            let usage = others.get(named.as_str());
            readings.push((name::processes(named), usage.map_or(0.0, |usage| usage.cores)));
            readings.extend(usage.map(|usage| (name::busiest_pid(named), f64::from(usage.busiest_pid))));
        }
        readings
    }
}

/// The pids among `roots` and their descendants.
fn tree(processes: &[Process], roots: &[u32]) -> BTreeSet<u32> {
    let mut members: BTreeSet<u32> = processes.iter().map(|p| p.pid).filter(|pid| roots.contains(pid)).collect();
    // Children may stand before their parents in /proc: pids are reused.
    loop {
        let before = members.len();
        let children = processes.iter().filter(|p| members.contains(&p.parent)).map(|p| p.pid).collect::<Vec<_>>();
        members.extend(children);
        if members.len() == before {
            return members;
        }
    }
}

impl Source for Neighbors {
    fn read(&mut self, into: &mut Values) {
        match self.pause.checked_sub(1) {
            Some(left) => self.pause = left,
            None => self.look(),
        }
        into.0.extend(self.readings.iter().cloned());
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

    fn read(neighbors: &mut Neighbors) -> BTreeMap<String, f64> {
        let mut values = Values::default();
        neighbors.read(&mut values);
        values.0.into_iter().map(|(name, value)| (name, (value * 1e6).round() / 1e6)).collect()
    }

    fn expected(values: &[(&str, f64)]) -> BTreeMap<String, f64> {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn processes_of_one_name_are_summed_up_and_ours_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let at = |seconds: f64, each: f64| {
            let ours = [(own, 1, "brunt", seconds), (own + 1, own, "brunt", seconds)];
            let others = [(own + 2, 1, "a (b) c", each), (own + 3, 1, "a (b) c", each), (own + 4, 1, "quiet", 0.01)];
            record(dir.path(), seconds, &[&ours[..], &others[..]].concat());
        };
        at(100.0, 5.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()), &[]);
        assert_eq!(read(&mut neighbors), expected(&[]), "there is nothing to compare with yet");
        at(102.0, 6.5);
        let busiest = f64::from(own + 3);
        let all = [(name::PROCESSES, 1.5), ("processes.a (b) c.cores", 1.5), ("processes.a (b) c.pid", busiest)];
        let readings = read(&mut neighbors);
        // Both used as much; which of them is named does not matter.
        let of = |key: &str| readings.get(key).copied();
        assert_eq!((of(all[0].0), of(all[1].0), readings.len()), (Some(1.5), Some(1.5), 3), "{readings:?}");
        assert!(of(all[2].0).is_some_and(|pid| pid == busiest || pid == busiest - 1.0), "{readings:?}");
        assert_eq!(name::processes_of(all[1].0), Some("a (b) c"));
    }

    #[test]
    fn the_listeners_tree_is_the_server_and_its_namesakes_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let at = |seconds: f64, busy: f64| {
            // A server, its child with a lower pid, and two loops that have the name of the server.
            let server = [(own + 9, 1, "python3", busy * 0.05), (own + 2, own + 9, "worker", busy * 0.1)];
            let loops = [(own + 3, 1, "python3", busy * 0.9), (own + 4, 1, "python3", busy)];
            record(dir.path(), seconds, &[&server[..], &loops[..]].concat());
        };
        at(100.0, 10.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()), &[own + 9]);
        read(&mut neighbors);
        at(110.0, 20.0);
        let all = [
            (name::PROCESSES, 2.05),
            (name::SERVER_PROCESSES, 0.15),
            ("processes.python3.cores", 1.9),
            ("processes.python3.pid", f64::from(own + 4)),
        ];
        assert_eq!(read(&mut neighbors), expected(&all));
    }

    #[test]
    fn many_processes_are_looked_at_less_often() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let at = |seconds: f64| {
            let all: Vec<_> = (1..=250).map(|n| (own + n, 1, "many", seconds / 1000.0)).collect();
            record(dir.path(), seconds, &all);
        };
        at(10.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()), &[]);
        read(&mut neighbors);
        at(20.0);
        assert_eq!((read(&mut neighbors), read(&mut neighbors)), (expected(&[]), expected(&[])));
        assert_eq!(read(&mut neighbors)[name::PROCESSES], 0.25);
    }
}
