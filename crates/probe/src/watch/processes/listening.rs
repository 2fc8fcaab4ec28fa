//! Reads the listening TCP sockets of a machine: the number of waiting connections of
//! each, and its limit.
//!
//! On this machine it queries the kernel (`route::listener`). On another machine it parses the
//! output of `ss -lntp`.

use crate::Root;
use crate::route::listener;
use crate::watch::ssh::SOCKETS;

/// A listening socket.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::watch) struct Socket {
    pub port: u16,
    /// 0 if unknown.
    pub inode: u64,
    /// The processes that hold it, as far as the system shows them. If empty, they can
    /// be found by `inode`.
    pub pids: Vec<u32>,
    pub waiting: f64,
    pub limit: f64,
}

/// Returns the sockets of this machine.
pub(in crate::watch) fn local() -> Vec<Socket> {
    listener::all().into_iter().map(local_socket).collect()
}

fn local_socket(listener: listener::Listener) -> Socket {
    Socket {
        port: listener.port,
        inode: listener.inode,
        pids: Vec::new(),
        waiting: listener.waiting as f64,
        limit: listener.backlog as f64,
    }
}

/// Returns the sockets of another machine, from the text that it sent.
pub(in crate::watch) fn remote(root: &Root) -> Vec<Socket> {
    root.text(SOCKETS).unwrap_or_default().lines().filter_map(socket).collect()
}

/// Parses a line such as `LISTEN 0 128 0.0.0.0:22 0.0.0.0:* users:(("sshd",pid=7,fd=3))`: waiting,
/// limit, address, and the owners if visible.
fn socket(line: &str) -> Option<Socket> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    if words.first() != Some(&"LISTEN") {
        return None;
    }
    let pids = line
        .split("pid=")
        .skip(1)
        .filter_map(|rest| rest.split(',').next()?.parse().ok())
        .collect();
    Some(Socket {
        // An IPv6 address contains colons as well, so the port follows the last one.
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
    fn the_output_of_ss_is_parsed() {
        let root = Root::remote();
        let text = "State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
            LISTEN 3      511          0.0.0.0:80        0.0.0.0:*    users:((\"nginx\",pid=22,fd=6),(\"nginx\",pid=21,fd=6))\n\
            LISTEN 0      128             [::]:22           [::]:*\n";
        root.replace_files([(SOCKETS.to_owned(), text.to_owned())]);
        let expected = [
            Socket { port: 80, inode: 0, pids: vec![22, 21], waiting: 3.0, limit: 511.0 },
            Socket { port: 22, inode: 0, pids: vec![], waiting: 0.0, limit: 128.0 },
        ];
        assert_eq!(remote(&root), expected);
    }
}
