//! Progress while a run goes on: a block on a terminal, redrawn in place; a line every few seconds elsewhere.

use crate::screen;
pub use crate::screen::say;
use brunt_model::{Event, Plan, Tick};
use brunt_report::progress::Progress;
use brunt_runner::{Listen, Mailbox};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Between two redraws of the block.
const REDRAW: Duration = Duration::from_millis(250);
/// Between two lines elsewhere.
const LINE: Duration = Duration::from_secs(10);

/// Shows how a run goes, on stderr.
pub struct Live {
    progress: Option<Progress>,
    terminal: bool,
    next: Tick,
    /// Which run of many it is; empty where it is the only one.
    title: String,
}

impl Live {
    /// Shows nothing where `quiet`.
    pub fn new(plan: &Plan, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let next = Tick::ZERO + if terminal { Duration::ZERO } else { LINE };
        let progress = (!quiet).then(|| Progress::new(plan));
        Self { progress, terminal, next, title: String::new() }
    }

    /// One run of many: `title` says which. Elsewhere than on a terminal it shows nothing; a line is written for each
    /// run when it is over.
    pub fn of_many(plan: &Plan, quiet: bool, title: String) -> Self {
        let live = Self::new(plan, quiet || !io::stderr().is_terminal());
        Self { title, ..live }
    }

    /// Shows it from a thread of its own, so that a slow terminal holds neither the run nor its log up.
    pub fn start(self) -> Box<dyn Listen> {
        if self.progress.is_none() {
            return Box::new(self);
        }
        let silent = Self { progress: None, title: String::new(), ..self };
        match Mailbox::start(self) {
            Ok(mailbox) => Box::new(mailbox),
            Err(error) => {
                say(&format!("warning: no progress is shown: {error}"));
                Box::new(silent)
            }
        }
    }

    fn show(&self, progress: &Progress) {
        if !self.terminal {
            return say(&progress.line());
        }
        let title = (!self.title.is_empty()).then(|| self.title.clone());
        screen::draw(&title.into_iter().chain(progress.block(screen::width() - 1)).collect::<Vec<_>>());
    }
}

impl Listen for Live {
    fn hear(&mut self, event: &Event) {
        match (event, &mut self.progress) {
            (Event::Snapshot(snapshot), Some(progress)) => {
                progress.take(snapshot);
                if snapshot.to >= self.next {
                    self.next = snapshot.to + if self.terminal { REDRAW } else { LINE };
                    let Some(progress) = &self.progress else { return };
                    self.show(progress);
                }
            }
            (Event::Finished(_), _) if self.terminal => screen::clear(),
            _ => {}
        }
    }
}
