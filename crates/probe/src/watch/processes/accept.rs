//! Reads the fullest accept queue among the listening sockets of a group of processes.

use super::listening::Socket;
use super::table::Member;
use crate::route::owner;
use crate::sources::Values;
use crate::watch::machine::Machine;
use brunt_model::probe_spec::Select;
use brunt_model::reading_names::server;
use std::collections::BTreeMap;

/// Maximum number of processes whose open files are examined: those of one
/// server share their sockets.
const MAX_PROCESSES: usize = 16;

/// The sockets of the processes. They are searched again when processes begin or end.
#[derive(Debug, Default)]
pub(super) struct AcceptQueue {
    pids: Vec<u32>,
    inodes: Vec<u64>,
}

impl AcceptQueue {
    /// Adds the length and the limit of the queue with the highest share of its limit in use.
    pub fn read(
        &mut self,
        machine: &Machine,
        select: &Select,
        members: &BTreeMap<u32, Member>,
        into: &mut Values,
    ) {
        if machine.is_local() {
            self.find(machine, members);
        }
        let sockets =
            machine.sockets.iter().filter(|socket| self.is_selected(socket, select, members));
        if let Some(fullest) = sockets.max_by(|a, b| fill_ratio(a).total_cmp(&fill_ratio(b))) {
            into.push(server::ACCEPT_QUEUE, fullest.waiting);
            into.push(server::ACCEPT_QUEUE_LIMIT, fullest.limit);
        }
    }

    fn is_selected(
        &self,
        socket: &Socket,
        select: &Select,
        members: &BTreeMap<u32, Member>,
    ) -> bool {
        match select {
            Select::Port(port) => socket.port == *port,
            _ => {
                self.inodes.contains(&socket.inode)
                    || socket.pids.iter().any(|pid| members.contains_key(pid))
            }
        }
    }

    fn find(&mut self, machine: &Machine, members: &BTreeMap<u32, Member>) {
        let pids: Vec<u32> = members.keys().copied().take(MAX_PROCESSES).collect();
        let has_known_socket =
            self.inodes.iter().any(|inode| machine.sockets.iter().any(|s| s.inode == *inode));
        // The search reads the links of all open files.
        if self.pids == pids && has_known_socket {
            return;
        }
        let listening: Vec<u64> = machine.sockets.iter().map(|s| s.inode).collect();
        self.inodes = pids
            .iter()
            .flat_map(|pid| owner::sockets_of(&machine.root, *pid, &listening))
            .collect();
        self.pids = pids;
    }
}

fn fill_ratio(socket: &Socket) -> f64 {
    socket.waiting / socket.limit.max(1.0)
}
