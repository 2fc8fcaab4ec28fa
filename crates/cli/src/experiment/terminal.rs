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
    /// Where samples go, too.
    pub samples: Option<Rc<RefCell<dyn Listen>>>,
    /// Where those of setup and teardown go.
    pub stages: Option<Rc<RefCell<dyn Listen>>>,
}

/// A listener of several runs, one after the other.
struct Shared(Rc<RefCell<dyn Listen>>);

impl Listen for Shared {
    fn hear(&mut self, event: &Event) {
        self.0.borrow_mut().hear(event);
    }
}

/// The progress of a run, and where its samples go.
struct WithSamples(Box<dyn Listen>, Rc<RefCell<dyn Listen>>);

impl Listen for WithSamples {
    fn hear(&mut self, event: &Event) {
        self.1.borrow_mut().hear(event);
        self.0.hear(event);
    }

    fn add(&mut self, at: Tick) -> Vec<Event> {
        self.1.borrow_mut().add(at)
    }
}

impl Observer for Terminal {
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn Listen> {
        let live = Live::of_many(plan, self.quiet, title).start();
        match &self.samples {
            Some(samples) => Box::new(WithSamples(live, Rc::clone(samples))),
            None => live,
        }
    }

    fn stage(&self) -> Option<Box<dyn Listen>> {
        self.stages.as_ref().map(|stages| Box::new(Shared(Rc::clone(stages))) as Box<dyn Listen>)
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
