//! A machine that is probed: this one, or one reached by `ssh`.
//!
//! A round first refreshes everything that the due readings need (`Machine::refresh`): the
//! list of processes, and for a remote machine all files in one request. Then it takes
//! each reading from these.

use super::ProbeError;
use super::processes::listening::{self, Socket};
use super::processes::{Pace, Processes, Table};
use super::ssh::{ChildHandle, SshSession, quoted};
use crate::Root;
use crate::sources::{HOST, Source, Values};
use brunt_model::probe_spec::ProbeAccess;
use brunt_model::{Probed, Tick};
use std::fs;

/// A machine, with the list of its processes and listening sockets.
pub(super) struct Machine {
    pub root: Root,
    pub table: Table,
    pub sockets: Vec<Socket>,
    /// None for this machine.
    ssh: Option<SshSession>,
}

/// The files and lists that the readings of a round need.
#[derive(Debug, Default)]
pub(super) struct ReadList {
    /// Files by path; `*` and `[0-9]` have the meaning that they have in a shell.
    pub files: Vec<String>,
    /// Folders whose entries are counted.
    pub counts: Vec<String>,
    /// True if a reading needs the list of all processes.
    pub processes: bool,
}

/// The readings that one probe takes of a machine.
pub(super) enum Reads {
    /// The machine itself. Empty before the first reading.
    Host(Vec<Box<dyn Source>>),
    Processes(Box<Processes>),
}

impl Machine {
    pub fn new(via: &ProbeAccess) -> Self {
        let ssh = SshSession::new(via);
        let root = if ssh.is_some() { Root::remote() } else { Root::system() };
        Self { root, table: Table::default(), sockets: Vec::new(), ssh }
    }

    /// Returns a handle that ends its `ssh`.
    pub fn child_handle(&self) -> Option<ChildHandle> {
        self.ssh.as_ref().map(SshSession::child_handle)
    }

    /// True for this machine.
    pub fn is_local(&self) -> bool {
        self.ssh.is_none()
    }

    pub fn name(&self) -> &str {
        self.ssh.as_ref().map_or("this machine", SshSession::host)
    }

    /// Returns the number of open descriptors of a process. Since Linux 6.2 it is the size of
    /// the folder. Before, the entries are counted, but only at the slow pace. None if this user
    /// may not see them.
    pub fn descriptors(&self, pid: u32, pace: Pace) -> Option<f64> {
        let folder = format!("/proc/{pid}/fd");
        if !self.is_local() {
            return self.root.number(format!("{folder}/count"));
        }
        let size = fs::metadata(self.root.path(&folder)).ok()?.len();
        if size > 0 || pace == Pace::Quick {
            return (size > 0).then_some(size as f64);
        }
        Some(fs::read_dir(self.root.path(&folder)).ok()?.count() as f64)
    }

    /// Refreshes the files and lists that these readings need.
    pub fn refresh(&mut self, reads: &[&Reads]) -> Result<(), ProbeError> {
        let mut list = ReadList::default();
        for reads in reads {
            reads.add_to(&mut list);
        }
        if let Some(ssh) = &mut self.ssh {
            list.files.extend(self.root.watched_files().iter().map(|path| quoted(path)));
            self.root.replace_files(ssh.read(&list)?);
        }
        if list.processes {
            self.table.refresh(&self.root);
            self.sockets =
                if self.ssh.is_none() { listening::local() } else { listening::remote(&self.root) };
        }
        Ok(())
    }
}

impl Reads {
    pub fn new(probed: &Probed) -> Self {
        match probed {
            Probed::Processes { select, .. } => {
                Self::Processes(Box::new(Processes::new(select.clone())))
            }
            _ => Self::Host(Vec::new()),
        }
    }

    fn add_to(&self, list: &mut ReadList) {
        match self {
            Self::Host(sources) if sources.is_empty() => {
                list.files.extend(OPENING.map(str::to_owned));
            }
            Self::Host(_) => {}
            Self::Processes(processes) => processes.add_to(list),
        }
    }

    /// Takes a reading of the machine, which was refreshed at `now`.
    pub fn read(&mut self, machine: &Machine, now: Tick) -> Result<Values, ProbeError> {
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
            return Err(ProbeError::NoProc(machine.name().to_owned()));
        }
        Ok(values)
    }
}

/// Files that sources read when they are opened, including those that they read repeatedly.
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
