//! Reads the CPU use of the other processes of this machine from /proc/PID/stat (proc(5)): the
//! total, and the processes that use most.
//!
//! The server consists of the processes that hold the target's listening socket, and their
//! descendants. It is summed up separately. All others are summed up by name, with the pid of the
//! busiest one. This process and its children of the same name are excluded. Reading costs about 10
//! µs per process. With many processes they are read less often, and the last values are repeated.
//! A process that both began and ended between two reads is not counted.

use super::{Source, Values, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of processes that are read.
const MAX_PROCESSES: usize = 4096;
/// Number of processes for which one reading is skipped.
const PROCESSES_PER_SKIP: usize = 100;
/// Minimum time between two reads, in ticks, because CPU time is counted in ticks.
const MIN_INTERVAL: f64 = 20.0;
/// Maximum number of names that are added by one read.
const MAX_NEW_NAMES: usize = 4;
/// Maximum number of names in a run. Each is a column of its readings.
const MAX_NAMES: usize = 16;
/// Minimum CPU use of a named process, in cores.
const MIN_NAMED_CORES: f64 = 0.05;

/// The other processes of this machine.
pub(crate) struct Neighbors {
    root: Root,
    stat: ReopenedFile,
    own_pid: u32,
    /// The processes that hold the target's listening socket; empty if unknown.
    listeners: Vec<u32>,
    /// The machine's clock at the last read, in ticks; None before the first one.
    last_read: Option<f64>,
    /// CPU time in ticks, by pid and start time.
    ticks: BTreeMap<(u32, u64), f64>,
    readings: Vec<(String, f64)>,
    names: BTreeSet<String>,
    /// Number of readings to skip before the next read.
    skips: usize,
}
/// The parsed contents of /proc/PID/stat.
struct Process {
    pid: u32,
    parent: u32,
    name: String,
    start: u64,
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
    /// `listeners`: the processes that hold the target's listening socket; empty if unknown.
    pub fn open(root: &Root, listeners: &[u32]) -> Self {
        Self {
            root: root.clone(),
            stat: root.keep("/proc/stat"),
            own_pid: std::process::id(),
            listeners: listeners.to_vec(),
            last_read: None,
            ticks: BTreeMap::new(),
            readings: Vec::new(),
            names: BTreeSet::new(),
            skips: 0,
        }
    }

    /// Returns the ticks since the machine started, summed over all states and divided by the
    /// cores. This clock costs one small file.
    fn clock(&mut self) -> Option<f64> {
        let stat = self.stat.text()?;
        let cores = stat.lines().filter(|line| line.starts_with("cpu")).count().checked_sub(1)?;
        // The last two columns, time of guests, are already part of user and nice (proc_stat(5)).
        let all: f64 = numbers(stat.lines().next()?).take(8).sum();
        Some(all / cores.max(1) as f64)
    }

    fn refresh(&mut self) {
        let Some(now) = self.clock() else { return };
        let elapsed = self.last_read.map(|last_read| now - last_read);
        if elapsed.is_some_and(|elapsed| elapsed < MIN_INTERVAL) {
            return;
        }
        let processes = self.processes();
        // Each process costs a file: with many processes, a read every second would
        // use a core noticeably.
        self.skips = processes.len() / PROCESSES_PER_SKIP;
        if let Some(elapsed) = elapsed {
            self.readings = self.cores(&processes, elapsed);
        }
        self.last_read = Some(now);
        self.ticks = processes.iter().map(|p| ((p.pid, p.start), p.ticks)).collect();
    }

    fn processes(&self) -> Vec<Process> {
        let pids = self
            .root
            .names("/proc")
            .into_iter()
            .filter_map(|name| name.parse().ok())
            .take(MAX_PROCESSES);
        let all: Vec<Process> = pids
            .filter_map(|pid: u32| process(pid, &self.root.text(format!("/proc/{pid}/stat"))?))
            .collect();
        let this_process = all.iter().find(|process| process.pid == self.own_pid);
        let own_name = this_process.map_or(String::new(), |process| process.name.clone());
        all.into_iter().filter(|process| !self.is_ours(process, &own_name)).collect()
    }

    /// True for this process and its workers. A `brunt lab` that brunt started as the target has
    /// the same name, but is not excluded.
    fn is_ours(&self, process: &Process, name: &str) -> bool {
        let is_worker = process.parent == self.own_pid && process.name == name;
        process.pid == self.own_pid || (is_worker && !self.listeners.contains(&process.pid))
    }

    /// Returns the cores used by all processes together, by the server, and by the
    /// names that used most.
    fn cores(&mut self, processes: &[Process], elapsed: f64) -> Vec<(String, f64)> {
        let servers = tree(processes, &self.listeners);
        let mut all = 0.0;
        let mut server = 0.0;
        let mut others: BTreeMap<&str, Usage> = BTreeMap::new();
        for process in processes {
            // A process that began since the last read used its whole CPU time since then.
            let previous = self.ticks.get(&(process.pid, process.start)).copied().unwrap_or(0.0);
            let cores = (process.ticks - previous).max(0.0) / elapsed;
            all += cores;
            if servers.contains(&process.pid) {
                server += cores;
            } else {
                others.entry(&process.name).or_default().add(process.pid, cores);
            }
        }
        let busy = others.iter().filter(|(_, usage)| usage.cores >= MIN_NAMED_CORES);
        let mut busiest: Vec<&str> = busy.map(|(name, _)| *name).collect();
        busiest.sort_by(|a, b| others[b].cores.total_cmp(&others[a].cores));
        // Names stay once they are added, so that their columns have no gaps.
        for name in busiest.into_iter().take(MAX_NEW_NAMES) {
            if self.names.len() < MAX_NAMES {
                self.names.insert(name.to_owned());
            }
        }
        let mut readings = vec![(name::PROCESSES.to_owned(), all)];
        // Without a known server its share is unknown, and not 0.
        readings.extend((!servers.is_empty()).then(|| (name::SERVER_PROCESSES.to_owned(), server)));
        for reported in &self.names {
            let usage = others.get(reported.as_str());
            // A name without processes used no CPU time; a missing value would look
            // like a failed reading.
            readings.push((name::processes(reported), usage.map_or(0.0, |usage| usage.cores)));
            readings.extend(
                usage.map(|usage| (name::busiest_pid(reported), f64::from(usage.busiest_pid))),
            );
        }
        readings
    }
}

/// Returns the pids among `roots` that exist, and those of their descendants.
fn tree(processes: &[Process], roots: &[u32]) -> BTreeSet<u32> {
    let mut members: BTreeSet<u32> =
        processes.iter().map(|p| p.pid).filter(|pid| roots.contains(pid)).collect();
    // Pids are reused, so children may precede their parents in /proc.
    loop {
        let count = members.len();
        let children = processes
            .iter()
            .filter(|p| members.contains(&p.parent))
            .map(|p| p.pid)
            .collect::<Vec<_>>();
        members.extend(children);
        if members.len() == count {
            return members;
        }
    }
}

impl Source for Neighbors {
    fn read(&mut self, into: &mut Values) {
        match self.skips.checked_sub(1) {
            Some(remaining) => self.skips = remaining,
            None => self.refresh(),
        }
        into.0.extend(self.readings.iter().cloned());
    }
}

/// Parses a line of /proc/PID/stat. The name is in parentheses and may contain any character. After
/// it, the fields are separated by spaces: the second is the parent, the 12th and 13th are user and
/// system CPU time, the 20th is the start time.
fn process(pid: u32, line: &str) -> Option<Process> {
    let (head, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let user_ticks: f64 = fields.get(11)?.parse().ok()?;
    let system_ticks: f64 = fields.get(12)?.parse().ok()?;
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        name: head.split_once('(')?.1.to_owned(),
        start: fields.get(19)?.parse().ok()?,
        ticks: user_ticks + system_ticks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Writes a machine with two cores, `seconds` after its start, and its processes: pid,
    /// parent, name, CPU seconds.
    fn record(tree: &Path, seconds: f64, processes: &[(u32, u32, &str, f64)]) {
        let ticks = seconds * 100.0;
        let write = |path: String, text: String| {
            let file = tree.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write(
            "proc/stat".into(),
            format!("cpu {ticks} 0 0 {ticks} 0 0 0 0 0 0\ncpu0 1\ncpu1 1\nintr 5\n"),
        );
        for (pid, parent, name, cpu) in processes {
            let fields = format!(
                "S {parent} 1 1 0 -1 0 0 0 0 0 {} {} 0 0 20 0 1 0 77 1000",
                cpu * 60.0,
                cpu * 40.0
            );
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
            let others = [
                (own + 2, 1, "a (b) c", each),
                (own + 3, 1, "a (b) c", each),
                (own + 4, 1, "quiet", 0.01),
            ];
            record(dir.path(), seconds, &[&ours[..], &others[..]].concat());
        };
        at(100.0, 5.0);
        let mut neighbors = Neighbors::open(&Root::recorded(dir.path()), &[]);
        assert_eq!(read(&mut neighbors), expected(&[]), "there is nothing to compare with yet");
        at(102.0, 6.5);
        let busiest = f64::from(own + 3);
        let all = [
            (name::PROCESSES, 1.5),
            ("processes.a (b) c.cores", 1.5),
            ("processes.a (b) c.pid", busiest),
        ];
        let readings = read(&mut neighbors);
        // Both used the same amount, so either may be named.
        let of = |key: &str| readings.get(key).copied();
        assert_eq!(
            (of(all[0].0), of(all[1].0), readings.len()),
            (Some(1.5), Some(1.5), 3),
            "{readings:?}"
        );
        assert!(
            of(all[2].0).is_some_and(|pid| pid == busiest || pid == busiest - 1.0),
            "{readings:?}"
        );
        assert_eq!(name::processes_of(all[1].0), Some("a (b) c"));
    }

    #[test]
    fn the_process_tree_of_the_listener_is_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let at = |seconds: f64, busy: f64| {
            // A server, its child with a lower pid, and two busy processes with the
            // name of the server.
            let server =
                [(own + 9, 1, "python3", busy * 0.05), (own + 2, own + 9, "worker", busy * 0.1)];
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
