//! Control of an active run by other processes: a socket in the store receives orders.
//!
//! An order is a line: `stop`, or `mark` and a text. The reply is a line, too: `ok`, or the reason of a refusal. The
//! reply to `process` is the number of the process.

use crate::interrupt::Interrupt;
use crate::line_socket::{LineSocket, ask};
use crate::run::EventListener;
use brunt_model::sync::IgnorePoison;
use brunt_model::{Event, Mark, Tick};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Word that asks for the number of the process.
const PROCESS: &str = "process";

/// Maximum number of bytes of a mark.
const MAX_MARK: usize = 1000;

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
            Self::Stop => "stop".to_owned(),
            Self::Mark(text) => format!("mark {}", text.replace(['\n', '\r'], " ")),
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
    let reply = ask(socket, &order.line()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            "this run is over, or its brunt takes no orders".to_owned()
        }
        _ => format!("the run does not answer: {error}"),
    })?;
    if reply == "ok" { Ok(()) } else { Err(reply) }
}

/// Returns the number of the process that carries out the run with this socket; None if the run is over.
pub fn process_of(socket: &Path) -> Option<u32> {
    ask(socket, PROCESS).ok()?.parse().ok()
}

/// Receives orders for an active run on a separate thread. Marks become events.
pub struct ControlSocket {
    _socket: LineSocket,
    marks: Arc<Mutex<Vec<String>>>,
}

impl ControlSocket {
    /// Listens at this path. None if the system does not allow it: a run needs no control.
    pub fn open(path: PathBuf, interrupt: Interrupt) -> Option<Self> {
        let marks: Arc<Mutex<Vec<String>>> = Arc::default();
        let of_thread = Arc::clone(&marks);
        let socket = LineSocket::open(path, move |line| answer(line, &interrupt, &of_thread))?;
        Some(Self { _socket: socket, marks })
    }
}

fn answer(line: &str, interrupt: &Interrupt, marks: &Mutex<Vec<String>>) -> String {
    if line == PROCESS {
        return std::process::id().to_string();
    }
    match RunOrder::from_line(line) {
        Some(RunOrder::Stop) => interrupt.stop(),
        Some(RunOrder::Mark(text)) if text.len() > MAX_MARK => {
            return format!("a mark has at most {MAX_MARK} bytes");
        }
        Some(RunOrder::Mark(text)) => {
            marks.lock().ignore_poison().push(text);
        }
        None => return "unknown order: write `stop`, or `mark` and a text".to_owned(),
    }
    "ok".to_owned()
}

impl EventListener for ControlSocket {
    fn on_event(&mut self, _event: &Event) {}

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        let mut marks = self.marks.lock().ignore_poison();
        marks.drain(..).map(|text| Event::Mark(Mark { at, text })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
            let reply = ask(&path, wrong).unwrap();
            assert!(reply.starts_with("unknown order"), "{wrong}: {reply}");
        }
        let long = give(&path, &RunOrder::Mark("x".repeat(2000))).unwrap_err();
        assert_eq!(long, "a mark has at most 1000 bytes");
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
