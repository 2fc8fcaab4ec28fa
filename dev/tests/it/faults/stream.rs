//! The server's end of a connection: plain TCP, or TLS on it.

use rustix::net::sockopt::set_socket_linger;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// One end of a connection, and what was read of it and not yet used.
pub struct Stream {
    io: Transport,
    unused: Vec<u8>,
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// Takes an accepted connection; with a configuration, TLS is spoken on it.
    pub fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Self {
        let io = match tls {
            None => Transport::Plain(stream),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config)).expect("a TLS session");
                Transport::Tls(Box::new(StreamOwned::new(session, stream)))
            }
        };
        Self { io, unused: Vec::new() }
    }

    /// Reads the head of a request; None where the client closes before its end.
    pub fn head(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.unused.windows(4).position(|four| four == b"\r\n\r\n") {
                let head: Vec<u8> = self.unused.drain(..at + 4).collect();
                return Some(String::from_utf8_lossy(&head).into_owned());
            }
            if !self.read_more() {
                return None;
            }
        }
    }

    /// Reads a whole request; false where the client closes before its end.
    pub fn request(&mut self) -> bool {
        let Some(head) = self.head() else { return false };
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length = length.map_or(0, |length| length.parse().expect("a length"));
        while self.unused.len() < length {
            if !self.read_more() {
                return false;
            }
        }
        self.unused.drain(..length);
        true
    }

    /// Sends all of these bytes; whether that went well.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        let sent = match &mut self.io {
            Transport::Plain(stream) => stream.write_all(bytes),
            Transport::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        sent.is_ok()
    }

    /// Sends `close_notify` where TLS is spoken.
    pub fn notify(&mut self) -> bool {
        let Transport::Tls(stream) = &mut self.io else { return true };
        stream.conn.send_close_notify();
        stream.flush().is_ok()
    }

    /// Closes the sending direction.
    pub fn finish(&mut self) -> bool {
        self.socket().shutdown(Shutdown::Write).is_ok()
    }

    /// Lets the end of this value be a RST.
    pub fn reset(&mut self) -> bool {
        set_socket_linger(self.socket(), Some(Duration::ZERO)).is_ok()
    }

    /// Reads and discards until the client closes; always true.
    pub fn drain(&mut self) -> bool {
        while self.read_more() {
            self.unused.clear();
        }
        true
    }

    fn socket(&self) -> &TcpStream {
        match &self.io {
            Transport::Plain(stream) => stream,
            Transport::Tls(stream) => &stream.sock,
        }
    }

    /// Reads what is there; false at the end.
    fn read_more(&mut self) -> bool {
        let mut piece = [0; 16 * 1024];
        let read: io::Result<usize> = match &mut self.io {
            Transport::Plain(stream) => stream.read(&mut piece),
            Transport::Tls(stream) => stream.read(&mut piece),
        };
        let n = read.unwrap_or(0);
        self.unused.extend_from_slice(&piece[..n]);
        n > 0
    }
}
