//! Runs servers that send the bytes of a test: one listener, and one thread per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A listener whose connections are served by a function. It ends when this value is dropped.
pub struct Odd {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

/// A connection, and the log of all requests of the server.
pub struct Client {
    pub stream: TcpStream,
    reader: BufReader<TcpStream>,
    seen: Arc<Mutex<Vec<String>>>,
}

/// Serves each connection with `serve`.
pub fn serving(serve: impl Fn(Client) + Send + Sync + 'static) -> Odd {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let odd = Odd { address, seen: Arc::default(), over: Arc::default() };
    let seen = Arc::clone(&odd.seen);
    let over = Arc::clone(&odd.over);
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            if over.load(Ordering::Relaxed) {
                break;
            }
            let serve = Arc::clone(&serve);
            let seen = Arc::clone(&seen);
            let reader = BufReader::new(stream.try_clone().expect("a second handle"));
            let _ = stream.set_nodelay(true);
            thread::spawn(move || serve(Client { stream, reader, seen }));
        }
    });
    odd
}

/// Sends these bytes as the reply to each request, and keeps the connection open.
pub fn replying(reply: impl Into<Vec<u8>>) -> Odd {
    let reply = reply.into();
    serving(move |mut client| while client.request().is_some() && client.give(&reply) {})
}

/// Returns an ordinary reply with this body.
pub fn page(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl Odd {
    /// URL of a path that begins with `/`.
    pub fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far: head and body.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("the requests").clone()
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

impl Client {
    /// Reads the next request: head and body. Returns None at the end of the connection.
    pub fn request(&mut self) -> Option<String> {
        let mut text = String::new();
        while !text.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut text).ok()? == 0 {
                return None;
            }
        }
        let length =
            text.lines().find_map(|l| l.strip_prefix("Content-Length: ")).map_or(0, |n| n.parse().expect("a length"));
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        text += &String::from_utf8_lossy(&body);
        self.seen.lock().expect("the requests").push(text.clone());
        Some(text)
    }

    /// True if bytes after the last request have been read already.
    pub fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty()
    }

    /// Writes bytes. Returns true if that succeeds.
    pub fn give(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }
}
