//! How an experiment goes on, on the terminal: one line that is rewritten, and lines that stay.

use crate::live::{Live, say};
use crate::screen;
use brunt_model::{Event, Plan, Route, Tick};
use brunt_runner::Listen;
use brunt_runner::check::short::preflight_short;
use brunt_runner::experiment::Observer;
use brunt_spec::System;
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::rc::Rc;

/// Tells on stderr how an experiment goes on.
pub struct Terminal {
    /// This machine.
    pub system: System,
    /// No progress.
    pub quiet: bool,
    /// Who else hears the runs.
    pub runs: Vec<Rc<RefCell<dyn Listen>>>,
    /// Who hears setup and teardown.
    pub stages: Vec<Rc<RefCell<dyn Listen>>>,
}

/// Listeners of several runs, one after the other, and the progress of the run that goes on.
struct Shared(Vec<Rc<RefCell<dyn Listen>>>, Option<Box<dyn Listen>>);

impl Listen for Shared {
    fn hear(&mut self, event: &Event) {
        self.0.iter().for_each(|one| one.borrow_mut().hear(event));
        self.1.iter_mut().for_each(|progress| progress.hear(event));
    }

    fn add(&mut self, at: Tick) -> Vec<Event> {
        self.0.iter().flat_map(|one| one.borrow_mut().add(at)).collect()
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        self.0.iter().flat_map(|one| one.borrow_mut().end(at)).collect()
    }
}

impl Observer for Terminal {
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn Listen> {
        let live = Live::of_many(plan, self.quiet, title).start();
        if self.runs.is_empty() { live } else { Box::new(Shared(self.runs.clone(), Some(live))) }
    }

    fn stage(&self) -> Option<Box<dyn Listen>> {
        let heard = !self.stages.is_empty();
        heard.then(|| Box::new(Shared(self.stages.clone(), None)) as Box<dyn Listen>)
    }

    fn preflight(&self, plan: &Plan) -> (Option<Route>, Vec<String>) {
        preflight_short(plan, self.system.descriptors, self.system.cores)
    }

    fn show(&self, line: &str) {
        if !self.quiet && io::stderr().is_terminal() {
            let line = Some(line).filter(|line| !line.is_empty()).map(str::to_owned);
            screen::draw(&line.into_iter().collect::<Vec<_>>());
        }
    }

    fn tell(&self, line: &str) {
        if !self.quiet {
            say(line);
        }
    }

    /// On a terminal the progress has shown it.
    fn made(&self, line: &str) {
        if !io::stderr().is_terminal() {
            self.tell(line);
        }
    }
}
