//! The closed loop: each connection sends its next request as soon as it has received its reply.
//!
//! A kept connection costs one `send` and one `recv` per small reply, and one `epoll_wait` for
//! all connections that wake together. The kernel drops the part of a larger reply that
//! follows the first read (`MSG_TRUNC`). A new connection per request costs in addition one
//! `socket`, `connect`, `epoll_ctl` and `close`. It also costs a wake-up when it is open,
//! because that instant is measured.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use anyhow::{Result, bail, ensure};
use brunt_bench::usage;
use clap::Args;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

use super::{SECOND, connect, now};

/// Maximum time without any reply before the loop fails.
const PATIENCE: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 2, tv_nsec: 0 };
/// Maximum number of bytes that one read takes or drops.
const READ: usize = 256 * 1024;

#[derive(Args)]
pub struct ClosedLoad {
    /// Address of the server
    address: SocketAddr,
    /// Path of the page
    path: String,
    seconds: f64,
    connections: usize,
    /// Open a new connection for each request
    #[arg(long)]
    new_connections: bool,
}

pub fn run(job: &ClosedLoad) -> Result<serde_json::Value> {
    let mut floor = Floor::open(job)?;
    let end = now() + (job.seconds * SECOND as f64) as u64;
    let completed = floor.run(end)?;
    let used = usage::of_this_process()?;
    Ok(serde_json::json!({
        "completed": completed,
        "cpu_user_seconds": used.user.as_secs_f64(),
        "cpu_system_seconds": used.system.as_secs_f64(),
    }))
}

struct Connection {
    socket: OwnedFd,
    /// Bytes of the current reply, head and body, that have not arrived yet; None
    /// before its first byte.
    remaining: Option<usize>,
    is_open: bool,
}

struct Floor {
    epoll: OwnedFd,
    address: SocketAddr,
    connections: Vec<Connection>,
    new_connections: bool,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Floor {
    fn open(job: &ClosedLoad) -> Result<Self> {
        let close = if job.new_connections { "Connection: close\r\n" } else { "" };
        let mut floor = Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            address: job.address,
            connections: Vec::with_capacity(job.connections),
            new_connections: job.new_connections,
            request: format!("GET {} HTTP/1.1\r\nHost: {}\r\n{close}\r\n", job.path, job.address)
                .into_bytes(),
            reply: vec![0; READ],
        };
        for slot in 0..job.connections {
            let socket = if job.new_connections {
                floor.begin_connecting(slot)?
            } else {
                connect(job.address)?
            };
            if !job.new_connections {
                floor.watch(&socket, slot, EventFlags::IN)?;
                floor.send(&socket)?;
            }
            floor.connections.push(Connection {
                socket,
                remaining: None,
                is_open: !job.new_connections,
            });
        }
        Ok(floor)
    }

    /// Returns the number of replies until the instant `end`.
    fn run(&mut self, end: u64) -> Result<usize> {
        let mut completed = 0;
        let mut events = Vec::with_capacity(256);
        while now() < end {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&PATIENCE)) {
                Err(Errno::INTR) => continue,
                waited => waited?,
            };
            ensure!(!events.is_empty(), "timed out waiting for a reply");
            for event in events.drain(..) {
                let slot = event.data.u64() as usize;
                if self.connections[slot].is_open {
                    completed += usize::from(self.receive(slot)?);
                } else {
                    // The first event of a new connection shows that it is open.
                    self.connections[slot].is_open = true;
                    self.send(&self.connections[slot].socket)?;
                }
            }
        }
        Ok(completed)
    }

    /// Takes the received bytes. Returns true if the reply is complete and the
    /// next request is sent.
    fn receive(&mut self, slot: usize) -> Result<bool> {
        loop {
            let connection = &mut self.connections[slot];
            // tcp(7): MSG_TRUNC drops bytes without copying them. Only the head has to be read.
            let flags =
                if connection.remaining.is_some() { RecvFlags::TRUNC } else { RecvFlags::empty() };
            let most = connection.remaining.map_or(READ, |remaining| remaining.min(READ));
            let received = match recv(&connection.socket, &mut self.reply[..most], flags) {
                Err(Errno::AGAIN) => return Ok(false),
                received => received?.1,
            };
            ensure!(received > 0, "the server closed a connection");
            let remaining = match connection.remaining {
                Some(remaining) => remaining - received,
                None => reply_length(&self.reply[..received])? - received,
            };
            connection.remaining = (remaining > 0).then_some(remaining);
            if remaining == 0 {
                break;
            }
        }
        if self.new_connections {
            let socket = self.begin_connecting(slot)?;
            // The previous connection is closed here, which also removes it from the epoll set.
            self.connections[slot] = Connection { socket, remaining: None, is_open: false };
        } else {
            self.send(&self.connections[slot].socket)?;
        }
        Ok(true)
    }

    fn begin_connecting(&self, slot: usize) -> Result<OwnedFd> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => bail!("connecting to {}: {error}", self.address),
        }
        self.watch(&socket, slot, EventFlags::IN | EventFlags::OUT)?;
        Ok(socket)
    }

    fn watch(&self, socket: &OwnedFd, slot: usize, events: EventFlags) -> Result<()> {
        // Edge-triggered, so that a writable socket wakes the loop only once.
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(slot as u64),
            events | EventFlags::ET,
        )?)
    }

    fn send(&self, socket: &OwnedFd) -> Result<()> {
        let sent = send(socket, &self.request, SendFlags::NOSIGNAL)?;
        ensure!(sent == self.request.len(), "a request was sent only partially");
        Ok(())
    }
}

/// Length of a reply with its head.
fn reply_length(begin: &[u8]) -> Result<usize> {
    ensure!(begin.starts_with(b"HTTP/1.1 200"), "a reply is not 200");
    let head = begin.windows(4).position(|four| four == b"\r\n\r\n");
    let head = head.map(|end| std::str::from_utf8(&begin[..end])).transpose()?;
    let Some(head) = head else { bail!("the head of a reply arrived in several reads") };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let Some(length) = length else { bail!("a reply without Content-Length") };
    Ok(head.len() + 4 + length.parse::<usize>()?)
}

#[cfg(test)]
mod tests {
    use super::reply_length;

    #[test]
    fn the_length_of_a_reply_is_that_of_head_and_body() {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
        assert_eq!(reply_length(reply).ok(), Some(reply.len()));
        assert!(reply_length(b"HTTP/1.1 404 Not Found\r\n\r\n").is_err());
        assert!(reply_length(b"HTTP/1.1 200 OK\r\nContent-").is_err());
    }
}
