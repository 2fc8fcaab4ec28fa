//! The accept queue of processes: the fullest of those of their listening sockets.

use super::listening::Socket;
use super::table::Member;
use crate::route::owner;
use crate::sources::Values;
use crate::watch::machine::Machine;
use brunt_model::probe_spec::Select;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;

/// Processes whose open files are looked at, at most: those of one server share their sockets.
const LOOKED_AT: usize = 16;

/// Which sockets are theirs, found anew when processes came or went.
#[derive(Debug, Default)]
pub(super) struct AcceptQueue {
    of: Vec<u32>,
    inodes: Vec<u64>,
}

impl AcceptQueue {
    /// The queue that is filled most, as a share of what it holds.
    pub fn read(&mut self, machine: &Machine, select: &Select, members: &BTreeMap<u32, Member>, into: &mut Values) {
        if machine.is_here() {
            self.find(machine, members);
        }
        let is_theirs = |socket: &&Socket| match select {
            Select::Port(port) => socket.port == *port,
            _ => self.inodes.contains(&socket.inode) || socket.pids.iter().any(|pid| members.contains_key(pid)),
        };
        let filled = |socket: &Socket| socket.waiting / socket.limit.max(1.0);
        let theirs = machine.sockets.iter().filter(is_theirs);
        if let Some(fullest) = theirs.max_by(|a, b| filled(a).total_cmp(&filled(b))) {
            into.push(server::ACCEPT_QUEUE, fullest.waiting);
            into.push(server::ACCEPT_QUEUE_LIMIT, fullest.limit);
        }
    }

    fn find(&mut self, machine: &Machine, members: &BTreeMap<u32, Member>) {
        let of: Vec<u32> = members.keys().copied().take(LOOKED_AT).collect();
        let still_there = self.inodes.iter().any(|inode| machine.sockets.iter().any(|s| s.inode == *inode));
        if self.of == of && still_there {
            return;
        }
        let listening: Vec<u64> = machine.sockets.iter().map(|s| s.inode).collect();
        self.inodes = of.iter().flat_map(|pid| owner::held(&machine.root, *pid, &listening)).collect();
        self.of = of;
    }
}
