//! How a run goes while it goes: one line on a terminal, rewritten; a line every few seconds elsewhere.

use brunt_model::{Event, Plan, Tick};
use brunt_report::progress::Progress;
use brunt_runner::{Listen, Mailbox};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Between two looks of the line on a terminal.
const REWRITE: Duration = Duration::from_millis(500);
/// Between two lines elsewhere.
const LINE: Duration = Duration::from_secs(5);

/// Shows how a run goes, on stderr.
pub struct Live {
    progress: Option<Progress>,
    terminal: bool,
    next: Tick,
    /// What stands before the progress of the run, where it is one of many.
    before: String,
    /// A line stands on the terminal that is to be rewritten.
    dirty: bool,
}

impl Live {
    /// Shows nothing where `quiet`.
    pub fn new(plan: &Plan, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let next = Tick::ZERO + if terminal { Duration::ZERO } else { LINE };
        let progress = (!quiet).then(|| Progress::new(plan));
        Self { progress, terminal, next, before: String::new(), dirty: false }
    }

    /// One run of many: `before` says which. Elsewhere than on a terminal it shows nothing; a line is written for each
    /// run when it is over.
    pub fn of_many(plan: &Plan, quiet: bool, before: String) -> Self {
        let live = Self::new(plan, quiet || !io::stderr().is_terminal());
        Self { before, ..live }
    }

    /// Shows it from a thread of its own, so that a slow terminal holds neither the run nor its log up.
    pub fn start(self) -> Box<dyn Listen> {
        if self.progress.is_none() {
            return Box::new(self);
        }
        let silent = Self { progress: None, before: String::new(), ..self };
        match Mailbox::start(self) {
            Ok(mailbox) => Box::new(mailbox),
            Err(error) => {
                say(&format!("warning: no progress is shown: {error}"));
                Box::new(silent)
            }
        }
    }

    fn show(&mut self, line: &str) {
        self.dirty = self.terminal;
        if self.terminal { rewrite(&format!("{}{line}", self.before)) } else { say(line) }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.dirty) {
            rewrite("");
        }
    }
}

impl Listen for Live {
    fn hear(&mut self, event: &Event) {
        match (event, &mut self.progress) {
            (Event::Snapshot(snapshot), Some(progress)) => {
                let line = progress.line(snapshot);
                if snapshot.to >= self.next {
                    self.next = snapshot.to + if self.terminal { REWRITE } else { LINE };
                    self.show(&line);
                }
            }
            (Event::Finished(_), _) => self.clear(),
            _ => {}
        }
    }
}

/// Writes the line of a terminal anew, as much of it as there is room for: a line that wraps cannot be rewritten. Whether
/// somebody can read stderr is no concern of the run.
pub fn rewrite(line: &str) {
    let width = rustix::termios::tcgetwinsize(io::stderr()).map_or(usize::MAX, |size| usize::from(size.ws_col).max(20));
    let shown: String = crate::redact::text(line).chars().take(width.saturating_sub(1)).collect();
    let _ = write!(io::stderr(), "\r\x1b[K{shown}");
    let _ = io::stderr().flush();
}

/// Writes a line that stays.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", crate::redact::text(line));
}
