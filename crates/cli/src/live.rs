//! Shows the progress of a run: a block on a terminal, redrawn in place, otherwise
//! a line every few seconds.

use crate::screen;
pub use crate::screen::print_line;
use brunt_model::{Event, Plan, Tick};
use brunt_report::progress::RunProgress;
use brunt_runner::{EventListener, Mailbox};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Interval of redrawing on a terminal.
const REDRAW: Duration = Duration::from_millis(250);
/// Interval of lines on a non-terminal.
const LINE: Duration = Duration::from_secs(10);

/// Shows the progress of a run on stderr.
pub struct Live {
    progress: Option<RunProgress>,
    terminal: bool,
    next_update: Tick,
    /// Title of one of several runs; empty for a single run.
    title: String,
}

impl Live {
    /// Creates the progress display. It shows nothing if `quiet`.
    pub fn new(plan: &Plan, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        // A log of a short run needs no line of progress.
        let next_update = Tick::ZERO + if terminal { Duration::ZERO } else { LINE };
        let progress = (!quiet).then(|| RunProgress::new(plan));
        Self { progress, terminal, next_update, title: String::new() }
    }

    /// Creates the display of one of several runs, with a title. Without a terminal it shows
    /// nothing, since a line is printed after each run.
    pub fn of_many(plan: &Plan, quiet: bool, title: String) -> Self {
        let live = Self::new(plan, quiet || !io::stderr().is_terminal());
        Self { title, ..live }
    }

    /// Shows the progress from a separate thread, so that a slow terminal delays neither
    /// the run nor its log.
    pub fn start(self) -> Box<dyn EventListener> {
        if self.progress.is_none() {
            return Box::new(self);
        }
        let without_progress = Self { progress: None, title: String::new(), ..self };
        match Mailbox::start(self) {
            Ok(mailbox) => Box::new(mailbox),
            Err(error) => {
                print_line(&format!("warning: no progress is shown: {error}"));
                Box::new(without_progress)
            }
        }
    }

    fn show(&self, progress: &RunProgress) {
        if !self.terminal {
            return print_line(&progress.line());
        }
        let title = (!self.title.is_empty()).then(|| self.title.clone());
        // Terminals may wrap a line that fills the last column.
        screen::draw(
            &title.into_iter().chain(progress.block(screen::width() - 1)).collect::<Vec<_>>(),
        );
    }
}

impl EventListener for Live {
    fn on_event(&mut self, event: &Event) {
        match (event, &mut self.progress) {
            (Event::Snapshot(snapshot), Some(progress)) => {
                progress.take(snapshot);
                if snapshot.to >= self.next_update {
                    self.next_update = snapshot.to + if self.terminal { REDRAW } else { LINE };
                    let Some(progress) = &self.progress else { return };
                    self.show(progress);
                }
            }
            // The report follows in the place of the block.
            (Event::Finished(_), _) if self.terminal => screen::clear(),
            _ => {}
        }
    }
}
