//! Runs a TCP server that follows a script: a listener, and a thread per connection. It counts
//! accepted connections, requests and replies.

use super::script::{ServerScript, ServerStep};
use super::stream::ServerStream;
use crate::world::port;
use rustls::ServerConfig;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Connections that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// Every connection.
    All,
    /// Only this number of connections. Later ones wait in an accept queue of length one.
    First(u64),
    /// The first connection. After it ends, the server does not listen for this time, and then
    /// accepts every connection.
    Restart(Duration),
    /// None: no process listens on the port.
    Closed,
}

/// A running server. It stops when this value is dropped.
pub struct FaultServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    /// Connections that fill the accept queue of a server that accepts none.
    _queue: Vec<TcpStream>,
}

/// Numbers of connections, requests and replies that a server handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandledCounts {
    pub accepted: u64,
    /// Requests that were read completely.
    pub requests: u64,
    /// Complete replies sent.
    pub replies: u64,
    /// Bytes of complete replies sent.
    pub bytes: u64,
}

/// State that the threads of a server share.
struct Shared {
    script: ServerScript,
    tls: Option<Arc<ServerConfig>>,
    over: AtomicBool,
    accepted: AtomicU64,
    requests: AtomicU64,
    replies: AtomicU64,
    bytes: AtomicU64,
}

impl FaultServer {
    /// Starts a server on a free loopback port.
    pub fn start(accepts: Accepts, script: ServerScript, tls: Option<Arc<ServerConfig>>) -> Self {
        let zero = AtomicU64::default;
        let accepted = zero();
        let requests = zero();
        let replies = zero();
        let bytes = zero();
        let over = AtomicBool::default();
        let shared = Arc::new(Shared { script, tls, over, accepted, requests, replies, bytes });
        let mut address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut queue = Vec::new();
        if accepts == Accepts::Closed {
            address.set_port(port::free());
        } else {
            let listener = listen(address, accepts);
            address = listener.local_addr().expect("an address");
            if accepts == Accepts::First(0) {
                let limit = Duration::from_millis(200);
                queue
                    .extend((0..4).map_while(|_| TcpStream::connect_timeout(&address, limit).ok()));
            }
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.accept(listener, accepts));
        }
        Self { address, shared, _queue: queue }
    }

    pub fn counts(&self) -> HandledCounts {
        let Shared { accepted, requests, replies, bytes, .. } = &*self.shared;
        HandledCounts {
            accepted: value_of(accepted),
            requests: value_of(requests),
            replies: value_of(replies),
            bytes: value_of(bytes),
        }
    }
}

fn value_of(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::SeqCst)
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // The connection wakes the thread that blocks in accept.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(50));
    }
}

fn listen(address: SocketAddr, accepts: Accepts) -> TcpListener {
    let listener = TcpListener::bind(address).expect("a free port");
    if matches!(accepts, Accepts::First(_)) {
        // A second call changes the length of the queue; 0 leaves room for one connection.
        rustix::net::listen(&listener, 0).expect("a queue");
    }
    listener
}

impl Shared {
    fn over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn accept(self: Arc<Self>, listener: TcpListener, accepts: Accepts) {
        match accepts {
            Accepts::First(most) => {
                self.accept_some(&listener, most);
                while !self.over() {
                    thread::sleep(Duration::from_millis(10));
                }
            }
            Accepts::Restart(pause) => {
                let address = listener.local_addr().expect("an address");
                self.accept_some(&listener, 1).map(thread::JoinHandle::join);
                drop(listener);
                thread::sleep(pause);
                self.accept_some(&listen(address, Accepts::All), u64::MAX);
            }
            Accepts::All | Accepts::Closed => drop(self.accept_some(&listener, u64::MAX)),
        }
    }

    /// Accepts a number of connections, and starts a thread for each. Returns the thread of the
    /// last one.
    fn accept_some(
        self: &Arc<Self>,
        listener: &TcpListener,
        most: u64,
    ) -> Option<thread::JoinHandle<()>> {
        let mut last = None;
        for _ in 0..most {
            let Ok((stream, _)) = listener.accept() else { continue };
            if self.over() {
                break;
            }
            let number = self.accepted.fetch_add(1, Ordering::SeqCst);
            let shared = Arc::clone(self);
            last = Some(thread::spawn(move || shared.serve(stream, number)));
        }
        last
    }

    fn serve(&self, stream: TcpStream, number: u64) {
        let _ = stream.set_nodelay(true);
        let mut stream = ServerStream::new(stream, self.tls.as_ref());
        let script = (self.script)(number);
        while self.play(&mut stream, &script).is_continue() {}
    }

    /// Runs a script once. Returns `Continue` if the script repeats.
    fn play(&self, stream: &mut ServerStream, script: &[ServerStep]) -> ControlFlow<()> {
        for step in script {
            if self.take(stream, step)? {
                return ControlFlow::Continue(());
            }
        }
        ControlFlow::Break(())
    }

    /// Executes a step. `Continue(true)` repeats the script.
    fn take(&self, stream: &mut ServerStream, step: &ServerStep) -> ControlFlow<(), bool> {
        match step {
            ServerStep::Request => step_result(stream.request() && count(&self.requests, 1)),
            ServerStep::Head => step_result(stream.head().is_some()),
            ServerStep::Send(bytes) => step_result(stream.send(bytes)),
            ServerStep::Reply(bytes) => step_result(self.reply(stream, bytes, b"")),
            ServerStep::ReplyAnd(bytes, further) => step_result(self.reply(stream, bytes, further)),
            ServerStep::Part(bytes) => {
                step_result(count(&self.bytes, bytes.len() as u64) && stream.send(bytes))
            }
            ServerStep::Endless(bytes, pause) => {
                while stream.send(bytes) && !self.over() {
                    thread::sleep(*pause);
                }
                ControlFlow::Break(())
            }
            ServerStep::Pause(pause) => {
                thread::sleep(*pause);
                step_result(true)
            }
            ServerStep::Notify => step_result(stream.notify()),
            ServerStep::Finish => step_result(stream.finish()),
            ServerStep::Reset => step_result(stream.reset()),
            ServerStep::Drain => step_result(stream.drain()),
            ServerStep::Ignore => {
                while !self.over() {
                    thread::sleep(Duration::from_millis(10));
                }
                ControlFlow::Break(())
            }
            ServerStep::Again => ControlFlow::Continue(true),
        }
    }

    /// Sends a complete reply and further bytes.
    fn reply(&self, stream: &mut ServerStream, reply: &[u8], tail: &[u8]) -> bool {
        // Counts first: the client may get the reply before this thread continues.
        count(&self.replies, 1);
        count(&self.bytes, reply.len() as u64);
        stream.send(&[reply, tail].concat())
    }
}

fn step_result(succeeded: bool) -> ControlFlow<(), bool> {
    if succeeded { ControlFlow::Continue(false) } else { ControlFlow::Break(()) }
}

/// Adds to a counter. Returns true, as a step that succeeds.
fn count(counter: &AtomicU64, n: u64) -> bool {
    counter.fetch_add(n, Ordering::SeqCst);
    true
}
