//! A machine whose files are read: this one, or one behind `ssh`.
//!
//! A round looks once at all that the due readings need (`Machine::look`): the list of processes, and behind `ssh` all
//! files in one question. Then each reading is made of what was seen.

use super::Trouble;
use super::processes::listening::{self, Socket};
use super::processes::{Pace, Processes, Table};
use super::ssh::{ChildHandle, Link, quoted};
use crate::Root;
use crate::sources::{HOST, Source, Values};
use brunt_model::probe_spec::ProbeAccess;
use brunt_model::{Probed, Tick};
use std::fs;

/// A machine, and what was last seen of it as a whole.
pub(super) struct Machine {
    pub root: Root,
    pub table: Table,
    pub sockets: Vec<Socket>,
    /// None: it is this one.
    link: Option<Link>,
}

/// What the readings of a round need.
#[derive(Debug, Default)]
pub(super) struct ReadList {
    /// Files by path; `*` and `[0-9]` stand for what they do in a shell.
    pub files: Vec<String>,
    /// Folders whose entries are to be counted.
    pub counts: Vec<String>,
    /// Whether anybody asks for processes: then all are listed.
    pub processes: bool,
}

/// What one probe reads of a machine.
pub(super) enum Reads {
    /// The machine itself. Empty before the first reading.
    Host(Vec<Box<dyn Source>>),
    Processes(Box<Processes>),
}

impl Machine {
    pub fn at(via: &ProbeAccess) -> Self {
        let link = Link::of(via);
        let root = if link.is_some() { Root::told() } else { Root::system() };
        Self { root, table: Table::default(), sockets: Vec::new(), link }
    }

    /// What ends its `ssh`.
    pub fn child_handle(&self) -> Option<ChildHandle> {
        self.link.as_ref().map(Link::child_handle)
    }

    /// Whether it is this one.
    pub fn is_here(&self) -> bool {
        self.link.is_none()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.link.as_ref().map_or("this machine", Link::host)
    }

    /// How many descriptors a process has open. Since Linux 6.2 the folder's size says so; before, they are counted, and
    /// that only where time is taken for it. None where we may not look.
    pub fn descriptors(&self, pid: u32, pace: Pace) -> Option<f64> {
        let folder = format!("/proc/{pid}/fd");
        if !self.is_here() {
            return self.root.number(format!("{folder}/count"));
        }
        let size = fs::metadata(self.root.path(&folder)).ok()?.len();
        if size > 0 || pace == Pace::Quick {
            return (size > 0).then_some(size as f64);
        }
        Some(fs::read_dir(self.root.path(&folder)).ok()?.count() as f64)
    }

    /// Looks at what these need.
    pub fn look(&mut self, reads: &[&Reads]) -> Result<(), Trouble> {
        let mut wants = ReadList::default();
        for one in reads {
            one.wants(&mut wants);
        }
        if let Some(link) = &mut self.link {
            wants.files.extend(self.root.kept().iter().map(|path| quoted(path)));
            self.root.tell(link.ask(&wants)?);
        }
        if wants.processes {
            self.table.refresh(&self.root);
            self.sockets = if self.link.is_none() { listening::here() } else { listening::told(&self.root) };
        }
        Ok(())
    }
}

impl Reads {
    pub fn of(what: &Probed) -> Self {
        match what {
            Probed::Processes { select, .. } => Self::Processes(Box::new(Processes::new(select.clone()))),
            _ => Self::Host(Vec::new()),
        }
    }

    fn wants(&self, into: &mut ReadList) {
        match self {
            Self::Host(sources) if sources.is_empty() => into.files.extend(OPENING.map(str::to_owned)),
            Self::Host(_) => {}
            Self::Processes(processes) => processes.wants(into),
        }
    }

    /// A reading of what was looked at last. `now`: when that was.
    pub fn read(&mut self, machine: &Machine, now: Tick) -> Result<Values, Trouble> {
        let mut values = Values::default();
        match self {
            Self::Processes(processes) => processes.read(machine, now, &mut values)?,
            Self::Host(sources) => {
                if sources.is_empty() {
                    *sources = HOST.iter().map(|open| open(&machine.root)).collect();
                }
                for source in sources {
                    source.read(&mut values);
                }
            }
        }
        if values.0.is_empty() {
            return Err(Trouble::NoProc(machine.name().to_owned()));
        }
        Ok(values)
    }
}

/// What sources look at when they are opened, and the files that they then keep.
const OPENING: [&str; 20] = [
    "/proc/stat",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/vmstat",
    "/proc/diskstats",
    "/proc/pressure/*",
    "/proc/net/dev",
    "/proc/net/snmp",
    "/proc/net/netstat",
    "/proc/net/sockstat",
    "/proc/net/sockstat6",
    "/proc/net/softnet_stat",
    "/proc/net/stat/nf_conntrack",
    "/proc/sys/net/ipv4/ip_local_port_range",
    "/proc/sys/net/netfilter/nf_conntrack_[cm]*",
    "/sys/class/net/*/operstate",
    "/sys/class/net/*/speed",
    "/sys/class/net/*/device/uevent",
    "/sys/class/net/*/bonding/mode",
    "/sys/class/net/*/statistics/rx_missed_errors",
];
