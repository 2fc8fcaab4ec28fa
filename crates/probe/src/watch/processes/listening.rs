//! The listening TCP sockets of a machine: how many connections wait in each, and how many may.
//!
//! Here the kernel is asked (`route::listener`); another machine tells what its `ss -lntp` prints.

use crate::Root;
use crate::route::listener;
use crate::watch::ssh::SOCKETS;

/// A listening socket.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch) struct Socket {
    pub port: u16,
    /// 0 where it is not known.
    pub inode: u64,
    /// The processes that hold it, as far as the system shows them; empty: look for `inode`.
    pub pids: Vec<u32>,
    pub waiting: f64,
    pub limit: f64,
}

/// Those of this machine.
pub(in crate::watch) fn here() -> Vec<Socket> {
    let socket = |l: listener::Listener| Socket {
        port: l.port,
        inode: l.inode,
        pids: Vec::new(),
        waiting: l.waiting as f64,
        limit: l.backlog as f64,
    };
    listener::all().into_iter().map(socket).collect()
}

/// Those of a machine that told.
pub(in crate::watch) fn told(root: &Root) -> Vec<Socket> {
    root.text(SOCKETS).unwrap_or_default().lines().filter_map(socket).collect()
}

/// `LISTEN 0 128 0.0.0.0:22 0.0.0.0:* users:(("sshd",pid=7,fd=3))`: waiting, limit, address; owners where we may know.
fn socket(line: &str) -> Option<Socket> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    if words.first() != Some(&"LISTEN") {
        return None;
    }
    let pids = line.split("pid=").skip(1).filter_map(|rest| rest.split(',').next()?.parse().ok()).collect();
    Some(Socket {
        port: words.get(3)?.rsplit_once(':')?.1.parse().ok()?,
        inode: 0,
        pids,
        waiting: words.get(1)?.parse().ok()?,
        limit: words.get(2)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ss_prints() {
        let root = Root::told();
        let text = "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
            LISTEN 3      511          0.0.0.0:80        0.0.0.0:*    users:((\"nginx\",pid=22,fd=6),(\"nginx\",pid=21,fd=6))\n\
            LISTEN 0      128             [::]:22           [::]:*\n";
        root.tell([(SOCKETS.to_owned(), text.to_owned())]);
        let expected = [
            Socket { port: 80, inode: 0, pids: vec![22, 21], waiting: 3.0, limit: 511.0 },
            Socket { port: 22, inode: 0, pids: vec![], waiting: 0.0, limit: 128.0 },
        ];
        assert_eq!(told(&root), expected);
    }
}
