//! How a run goes while it goes: one line on a terminal, rewritten; a line every few seconds elsewhere.

use brunt_model::{Event, Plan, Tick};
use brunt_report::progress::Progress;
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
    /// A line stands on the terminal that is to be rewritten.
    dirty: bool,
}

impl Live {
    /// Shows nothing where `quiet`.
    pub fn new(plan: &Plan, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let next = Tick::ZERO + if terminal { Duration::ZERO } else { LINE };
        Self { progress: (!quiet).then(|| Progress::new(plan)), terminal, next, dirty: false }
    }

    /// Looks at the next event.
    pub fn take(&mut self, event: &Event) {
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

    // Whether somebody can read stderr is no concern of the run.
    fn show(&mut self, line: &str) {
        self.dirty = self.terminal;
        let _ = if self.terminal { write!(io::stderr(), "\r\x1b[K{line}") } else { writeln!(io::stderr(), "{line}") };
        let _ = io::stderr().flush();
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.dirty) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
