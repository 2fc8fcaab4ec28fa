//! Reads the CPU use of the other processes of this machine from /proc/PID/stat (proc(5)): the
//! total, and the processes that use most.
//!
//! The server consists of the processes that hold the target's listening socket, and their
//! descendants. It is summed up separately, with its memory. All others are summed up by name, with the pid of the
//! busiest one. This process and its children of the same name are excluded. The sums are counters,
//! and keep the time of processes that have ended. Reading costs about 10 µs per process. With many
//! processes they are read less often, but always at the begin and the end of the measured time. A
//! process that both began and ended between two reads is not counted.

use super::control_group::memory_room;
use super::{ReadingMoment, Values, memory, numbers};
use crate::root::{ReopenedFile, Root};
use brunt_model::reading_names as name;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of processes that are read.
const MAX_PROCESSES: usize = 4096;
/// Maximum number of the server's processes whose memory is read.
const MAX_SERVERS: usize = 256;
/// Number of processes for which one reading is skipped.
const PROCESSES_PER_SKIP: usize = 100;
/// Unit of the CPU times of /proc (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;
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
    sums: UsageSums,
    /// Number of readings to skip before the next read.
    skips: usize,
}

/// CPU time in ticks since the first read.
#[derive(Default)]
struct UsageSums {
    all: f64,
    /// None if the server's processes were never known.
    server: Option<f64>,
    /// By name, from the first read on in which processes of this name were busy.
    by_name: BTreeMap<String, f64>,
}

/// The parsed contents of /proc/PID/stat.
struct Process {
    pid: u32,
    parent: u32,
    name: String,
    start: u64,
    ticks: f64,
}

/// CPU time in ticks of the processes of one name between two reads.
#[derive(Default)]
struct Usage {
    ticks: f64,
    busiest: f64,
    busiest_pid: u32,
}

impl Usage {
    fn add(&mut self, pid: u32, ticks: f64) {
        self.ticks += ticks;
        if ticks >= self.busiest {
            self.busiest = ticks;
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
            sums: UsageSums::default(),
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

    /// Adds the sums up to now. Between the edges of the measured time, it does so only once for every
    /// hundred processes.
    pub fn read(&mut self, moment: ReadingMoment, into: &mut Values) {
        if moment == ReadingMoment::Within && self.skips > 0 {
            self.skips -= 1;
            return;
        }
        let Some(now) = self.clock() else { return };
        let elapsed = self.last_read.map(|last_read| now - last_read);
        if elapsed.is_some_and(|elapsed| elapsed < MIN_INTERVAL) {
            return;
        }
        let processes = self.processes();
        // Each process costs a file: with many processes, a read every second would
        // use a core noticeably.
        self.skips = processes.len() / PROCESSES_PER_SKIP;
        let busiest = self.add_usage(&processes, elapsed);
        self.memory(&tree(&processes, &self.listeners), moment, into);
        self.last_read = Some(now);
        self.ticks = processes.iter().map(|p| ((p.pid, p.start), p.ticks)).collect();
        into.push(name::PROCESSES, self.sums.all / TICKS_PER_SECOND);
        // Without a known server its share is unknown, and not 0.
        into.push_some(name::SERVER_PROCESSES, self.sums.server.map(|t| t / TICKS_PER_SECOND));
        for (name, ticks) in &self.sums.by_name {
            into.push(name::processes(name), ticks / TICKS_PER_SECOND);
        }
        for (name, pid) in busiest {
            into.push(name::busiest_pid(&name), f64::from(pid));
        }
    }

    /// Adds the memory of the server's processes, and at the edges the memory that is left to them.
    fn memory(&self, servers: &BTreeSet<u32>, moment: ReadingMoment, into: &mut Values) {
        let servers = || servers.iter().take(MAX_SERVERS);
        let statuses: Vec<String> =
            servers().filter_map(|pid| self.root.text(format!("/proc/{pid}/status"))).collect();
        into.push_some(name::SERVER_ANONYMOUS, memory::anonymous_bytes(&statuses));
        if moment == ReadingMoment::Edge {
            let rooms = servers().filter_map(|pid| memory_room(&self.root, *pid));
            into.push_some(name::SERVER_GROUP_ROOM, rooms.reduce(f64::min));
        }
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

    /// Adds the usage since the last read to the sums. Returns the busiest process of each name in the
    /// sums. At the first read, nothing is known to compare with.
    fn add_usage(&mut self, processes: &[Process], elapsed: Option<f64>) -> Vec<(String, u32)> {
        let servers = tree(processes, &self.listeners);
        if !servers.is_empty() {
            self.sums.server.get_or_insert(0.0);
        }
        let Some(elapsed) = elapsed else { return Vec::new() };
        let mut others: BTreeMap<&str, Usage> = BTreeMap::new();
        for process in processes {
            // A process that began since the last read used its whole CPU time since then.
            let previous = self.ticks.get(&(process.pid, process.start)).copied().unwrap_or(0.0);
            let ticks = (process.ticks - previous).max(0.0);
            self.sums.all += ticks;
            if servers.contains(&process.pid) {
                self.sums.server = self.sums.server.map(|sum| sum + ticks);
            } else {
                others.entry(&process.name).or_default().add(process.pid, ticks);
            }
        }
        let least = MIN_NAMED_CORES * elapsed;
        let mut busiest: Vec<_> = others.iter().filter(|(_, usage)| usage.ticks >= least).collect();
        busiest.sort_by(|a, b| b.1.ticks.total_cmp(&a.1.ticks));
        // Names stay once they are added, so that their columns have no gaps.
        for (name, _) in busiest.into_iter().take(MAX_NEW_NAMES) {
            if self.sums.by_name.len() < MAX_NAMES {
                self.sums.by_name.entry((*name).to_owned()).or_default();
            }
        }
        let mut pids = Vec::new();
        for (name, sum) in &mut self.sums.by_name {
            if let Some(usage) = others.get(name.as_str()) {
                *sum += usage.ticks;
                pids.push((name.clone(), usage.busiest_pid));
            }
        }
        pids
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
        neighbors.read(ReadingMoment::Within, &mut values);
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
        let nothing = expected(&[(name::PROCESSES, 0.0)]);
        assert_eq!(read(&mut neighbors), nothing, "there is nothing to compare with yet");
        at(102.0, 6.5);
        let busiest = f64::from(own + 3);
        let all = [
            (name::PROCESSES, 3.0),
            ("processes.a (b) c.cpu_seconds", 3.0),
            ("processes.a (b) c.pid", busiest),
        ];
        let readings = read(&mut neighbors);
        // Both used the same amount, so either may be named.
        let of = |key: &str| readings.get(key).copied();
        assert_eq!(
            (of(all[0].0), of(all[1].0), readings.len()),
            (Some(3.0), Some(3.0), 3),
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
            (name::PROCESSES, 20.5),
            (name::SERVER_PROCESSES, 1.5),
            ("processes.python3.cpu_seconds", 19.0),
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
        assert_eq!(read(&mut neighbors)[name::PROCESSES], 2.5);
        at(30.0);
        assert_eq!(read(&mut neighbors), expected(&[]));
        let mut values = Values::default();
        neighbors.read(ReadingMoment::Edge, &mut values);
        assert_eq!(values.0[0], (name::PROCESSES.to_owned(), 5.0), "an edge is never left out");
    }
}
