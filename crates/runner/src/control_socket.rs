//! Control of an active run by other processes: a socket in the store receives orders.
//!
//! An order is a line: `stop`, or `mark` and a text. The reply is a line, too: `ok`, or the reason of a refusal. The
//! reply to `process` is the number of the process.

use crate::interrupt::Interrupt;
use crate::run::EventListener;
use brunt_model::{Event, Mark, Tick};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Maximum number of bytes of an order.
const MAX_ORDER: u64 = 1024;

/// Maximum time that one side waits for the other.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Order to an active run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOrder {
    /// The run ends as with Ctrl-C: it is reported, and no other follows.
    Stop,
    /// The log gets a mark with this text.
    Mark(String),
}

impl RunOrder {
    fn line(&self) -> String {
        match self {
            Self::Stop => "stop\n".to_owned(),
            Self::Mark(text) => format!("mark {}\n", text.replace(['\n', '\r'], " ")),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("stop", "") => Some(Self::Stop),
            ("mark", text) if !text.trim().is_empty() => Some(Self::Mark(text.trim().to_owned())),
            _ => None,
        }
    }
}

/// Gives an order to the run with this socket.
///
/// # Errors
///
/// A sentence with the reason: the run is over, or refuses the order.
pub fn give(socket: &Path, order: &RunOrder) -> Result<(), String> {
    let line = order.line();
    if line.len() as u64 > MAX_ORDER {
        return Err(format!("a mark has at most {} bytes", MAX_ORDER - 6));
    }
    let reply = ask(socket, &line).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            "this run is over, or its brunt takes no orders".to_owned()
        }
        _ => format!("the run does not answer: {error}"),
    })?;
    if reply == "ok" { Ok(()) } else { Err(reply) }
}

/// Returns the number of the process that carries out the run with this socket; None if the run is over.
pub fn process_of(socket: &Path) -> Option<u32> {
    ask(socket, "process\n").ok()?.parse().ok()
}

fn ask(socket: &Path, line: &str) -> io::Result<String> {
    let mut connection = in_folder(socket, UnixStream::connect)?;
    connection.set_read_timeout(Some(MAX_WAIT))?;
    connection.set_write_timeout(Some(MAX_WAIT))?;
    connection.write_all(line.as_bytes())?;
    let mut reply = String::new();
    BufReader::new(connection).take(MAX_ORDER).read_line(&mut reply)?;
    Ok(reply.trim_end().to_owned())
}

/// Calls `call` with a short path of a socket: the system limits it to 107 bytes, and folders of stores may be longer.
fn in_folder<T>(socket: &Path, call: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let folder = File::open(socket.parent().unwrap_or(Path::new(".")))?;
    let name = socket.file_name().unwrap_or_default();
    call(PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}

/// Receives orders for an active run on a separate thread. Marks become events.
pub struct ControlSocket {
    path: PathBuf,
    shared: Arc<SharedOrders>,
    thread: Option<JoinHandle<()>>,
}

struct SharedOrders {
    interrupt: Interrupt,
    marks: Mutex<Vec<String>>,
    is_closed: AtomicBool,
}

impl ControlSocket {
    /// Listens at this path. None if the system does not allow it: a run needs no control.
    pub fn open(path: PathBuf, interrupt: Interrupt) -> Option<Self> {
        // An earlier process with this run was killed, and left its socket.
        let _ = fs::remove_file(&path);
        let listener = in_folder(&path, UnixListener::bind).ok()?;
        let shared = Arc::new(SharedOrders {
            interrupt,
            marks: Mutex::default(),
            is_closed: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("brunt-control".into());
        let thread = thread.spawn(move || take_orders(&listener, &of_thread)).ok()?;
        Some(Self { path, shared, thread: Some(thread) })
    }
}

fn take_orders(listener: &UnixListener, shared: &SharedOrders) {
    for connection in listener.incoming() {
        if shared.is_closed.load(Ordering::Acquire) {
            return;
        }
        // The other side notices a connection that breaks.
        let _ = connection.and_then(|connection| take_order(connection, shared));
    }
}

fn take_order(mut connection: UnixStream, shared: &SharedOrders) -> io::Result<()> {
    connection.set_read_timeout(Some(MAX_WAIT))?;
    connection.set_write_timeout(Some(MAX_WAIT))?;
    let mut line = String::new();
    BufReader::new((&connection).take(MAX_ORDER)).read_line(&mut line)?;
    let line = line.trim_end();
    if line == "process" {
        return writeln!(connection, "{}", std::process::id());
    }
    let reply = match RunOrder::from_line(line) {
        Some(RunOrder::Stop) => {
            shared.interrupt.stop();
            "ok\n"
        }
        Some(RunOrder::Mark(text)) => {
            shared.marks.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            "ok\n"
        }
        None => "unknown order: write `stop`, or `mark` and a text\n",
    };
    connection.write_all(reply.as_bytes())
}

impl EventListener for ControlSocket {
    fn on_event(&mut self, _event: &Event) {}

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        let mut marks = self.shared.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.drain(..).map(|text| Event::Mark(Mark { at, text })).collect()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Release);
        // The connection ends the thread's wait. Without the folder, the thread ends with the process.
        let is_awake = in_folder(&self.path, UnixStream::connect).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_stop_a_run_and_mark_it() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("a-long-name".repeat(15));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("k7m2xqp");
        let interrupt = Interrupt::default();
        let mut socket = ControlSocket::open(path.clone(), interrupt.clone()).unwrap();
        give(&path, &RunOrder::Mark("deploy\nof 1.2".into())).unwrap();
        let mark = |text: &str| Event::Mark(Mark { at: Tick(7), text: text.into() });
        assert_eq!(socket.pending_events(Tick(7)), [mark("deploy of 1.2")]);
        assert_eq!(socket.pending_events(Tick(8)), []);
        for wrong in ["", "mark", "mark  ", "stop now", "\u{1f600}", "halt"] {
            let reply = ask(&path, &format!("{wrong}\n")).unwrap();
            assert!(reply.starts_with("unknown order"), "{wrong}: {reply}");
        }
        let long = give(&path, &RunOrder::Mark("x".repeat(2000))).unwrap_err();
        assert_eq!(long, "a mark has at most 1018 bytes");
        assert_eq!(process_of(&path), Some(std::process::id()));
        assert!(!interrupt.is_stopped());
        give(&path, &RunOrder::Stop).unwrap();
        assert!(interrupt.is_stopped());
        drop(socket);
        assert!(!path.exists() && process_of(&path).is_none());
        let over = give(&path, &RunOrder::Stop).unwrap_err();
        assert_eq!(over, "this run is over, or its brunt takes no orders");
    }
}
