//! Implements the server side of a connection: plain TCP or TLS.

use rustix::net::sockopt::set_socket_linger;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// The server side of a connection, and its unread bytes.
pub struct ServerStream {
    io: Transport,
    unused: Vec<u8>,
}

enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl ServerStream {
    /// Creates the server side of an accepted connection, with TLS if there is a configuration.
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

    /// Reads the head of a request. Returns None if the client closes before its end.
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

    /// Reads a complete request. Returns false if the client closes before its end.
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

    /// Sends all bytes. Returns true if that succeeds.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        let sent = match &mut self.io {
            Transport::Plain(stream) => stream.write_all(bytes),
            Transport::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        };
        sent.is_ok()
    }

    /// Sends `close_notify` on a TLS connection.
    pub fn notify(&mut self) -> bool {
        let Transport::Tls(stream) = &mut self.io else { return true };
        stream.conn.send_close_notify();
        stream.flush().is_ok()
    }

    /// Closes the sending direction.
    pub fn finish(&mut self) -> bool {
        self.socket().shutdown(Shutdown::Write).is_ok()
    }

    /// Makes the next close of the socket send a RST.
    pub fn reset(&mut self) -> bool {
        set_socket_linger(self.socket(), Some(Duration::ZERO)).is_ok()
    }

    /// Reads and discards until the client closes. Returns true.
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

    /// Reads available bytes. Returns false at the end of the stream.
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
