//! A socket of a process in the file system, which answers lines: control of a run, and links of a studio.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Maximum number of bytes of a line.
const MAX_LINE: u64 = 64 << 10;

/// Maximum time that one side waits for the other.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Answers lines on a separate thread, until it is dropped.
pub struct LineSocket {
    path: PathBuf,
    is_closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LineSocket {
    /// Listens at this path. None if the system does not allow it.
    pub fn open(path: PathBuf, answer: impl Fn(&str) -> String + Send + 'static) -> Option<Self> {
        // An earlier process at this path was killed, and left its socket.
        let _ = fs::remove_file(&path);
        let listener = in_folder(&path, UnixListener::bind).ok()?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let of_thread = Arc::clone(&is_closed);
        let thread = thread::Builder::new().name("brunt-control".into());
        let thread = thread.spawn(move || serve(&listener, &of_thread, &answer)).ok()?;
        Some(Self { path, is_closed, thread: Some(thread) })
    }
}

fn serve(listener: &UnixListener, is_closed: &AtomicBool, answer: &impl Fn(&str) -> String) {
    for connection in listener.incoming() {
        if is_closed.load(Ordering::Acquire) {
            return;
        }
        // The other side notices a connection that breaks.
        let _ = connection.and_then(|connection| reply(connection, answer));
    }
}

fn reply(mut connection: UnixStream, answer: &impl Fn(&str) -> String) -> io::Result<()> {
    connection.set_read_timeout(Some(MAX_WAIT))?;
    connection.set_write_timeout(Some(MAX_WAIT))?;
    let mut line = String::new();
    BufReader::new((&connection).take(MAX_LINE)).read_line(&mut line)?;
    writeln!(connection, "{}", answer(line.trim_end()))
}

impl Drop for LineSocket {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // The connection ends the thread's wait. Without the folder, the thread ends with the process.
        let is_awake = in_folder(&self.path, UnixStream::connect).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_awake) {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// Sends a line to the socket at this path, and returns its answer.
///
/// # Errors
///
/// No process listens there, or it does not answer in time.
pub fn ask(socket: &Path, line: &str) -> io::Result<String> {
    // The other side would read an incomplete line.
    if line.len() as u64 >= MAX_LINE {
        let text = format!("the order has {} bytes (maximum: {})", line.len(), MAX_LINE - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut connection = in_folder(socket, UnixStream::connect)?;
    connection.set_read_timeout(Some(MAX_WAIT))?;
    connection.set_write_timeout(Some(MAX_WAIT))?;
    writeln!(connection, "{line}")?;
    let mut reply = String::new();
    BufReader::new(connection).take(MAX_LINE).read_line(&mut reply)?;
    Ok(reply.trim_end().to_owned())
}

/// Calls `call` with a short path of a socket: the system limits it to 107 bytes, and folders of stores may be longer.
fn in_folder<T>(socket: &Path, call: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let folder = File::open(socket.parent().unwrap_or(Path::new(".")))?;
    let name = socket.file_name().unwrap_or_default();
    call(PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}
