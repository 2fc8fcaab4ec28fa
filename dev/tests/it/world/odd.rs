//! Runs servers that send the bytes of a test: one listener, and one thread per connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A listener whose connections are served by a function. It ends when this value is dropped.
pub struct ScriptedServer {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

/// A connection, and the log of all requests of the server.
pub struct Client {
    pub stream: TcpStream,
    reader: BufReader<TcpStream>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Serves each connection with `serve`.
pub fn serve_connections(serve: impl Fn(Client) + Send + Sync + 'static) -> ScriptedServer {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = ScriptedServer { address, requests: Arc::default(), over: Arc::default() };
    let requests = Arc::clone(&server.requests);
    let over = Arc::clone(&server.over);
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            if over.load(Ordering::Relaxed) {
                break;
            }
            let serve = Arc::clone(&serve);
            let requests = Arc::clone(&requests);
            let reader = BufReader::new(stream.try_clone().expect("a second handle"));
            let _ = stream.set_nodelay(true);
            thread::spawn(move || serve(Client { stream, reader, requests }));
        }
    });
    server
}

/// Sends these bytes as the reply to each request, and keeps the connection open.
pub fn serve_reply(reply: impl Into<Vec<u8>>) -> ScriptedServer {
    let reply = reply.into();
    serve_connections(move |mut client| while client.request().is_some() && client.write(&reply) {})
}

/// Returns an ordinary reply with this body.
pub fn page(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

impl ScriptedServer {
    /// URL of a path that begins with `/`.
    pub fn url_of(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far: head and body.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the requests").clone()
    }
}

impl Drop for ScriptedServer {
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
        let length = text
            .lines()
            .find_map(|l| l.strip_prefix("Content-Length: "))
            .map_or(0, |n| n.parse().expect("a length"));
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        text += &String::from_utf8_lossy(&body);
        self.requests.lock().expect("the requests").push(text.clone());
        Some(text)
    }

    /// True if bytes after the last request have been read already.
    pub fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty()
    }

    /// Writes bytes. Returns true if that succeeds.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }
}
