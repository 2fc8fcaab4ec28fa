//! Shows the progress of an experiment on the terminal: a status line that
//! is redrawn, and permanent lines.

use crate::live::{Live, print_line};
use crate::screen;
use brunt_check::short::preflight_short;
use brunt_model::{Event, Plan, Route, Text, Tick};
use brunt_runner::EventListener;
use brunt_runner::experiment::Observer;
use brunt_spec::System;
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::rc::Rc;

/// Prints the progress of an experiment to stderr.
pub struct Terminal {
    /// Properties of this machine.
    pub system: System,
    /// Suppresses the progress display.
    pub quiet: bool,
    /// Further listeners of runs.
    pub run_listeners: Vec<Rc<RefCell<dyn EventListener>>>,
    /// Listeners of setup and teardown.
    pub stage_listeners: Vec<Rc<RefCell<dyn EventListener>>>,
}

/// Passes the events of a run to listeners of the whole experiment, and to its progress display.
struct Fanout {
    listeners: Vec<Rc<RefCell<dyn EventListener>>>,
    progress: Option<Box<dyn EventListener>>,
}

impl EventListener for Fanout {
    fn on_event(&mut self, event: &Event) {
        self.listeners.iter().for_each(|listener| listener.borrow_mut().on_event(event));
        self.progress.iter_mut().for_each(|progress| progress.on_event(event));
    }

    fn pending_events(&mut self, at: Tick) -> Vec<Event> {
        self.listeners
            .iter()
            .flat_map(|listener| listener.borrow_mut().pending_events(at))
            .collect()
    }

    fn end(&mut self, at: Tick) -> Vec<Event> {
        self.listeners.iter().flat_map(|listener| listener.borrow_mut().end(at)).collect()
    }
}

impl Observer for Terminal {
    fn progress(&self, plan: &Plan, title: String) -> Box<dyn EventListener> {
        let live = Live::of_many(plan, self.quiet, title).start();
        if self.run_listeners.is_empty() {
            return live;
        }
        Box::new(Fanout { listeners: self.run_listeners.clone(), progress: Some(live) })
    }

    fn stage(&self) -> Option<Box<dyn EventListener>> {
        if self.stage_listeners.is_empty() {
            return None;
        }
        Some(Box::new(Fanout { listeners: self.stage_listeners.clone(), progress: None }))
    }

    fn preflight(&self, plan: &Plan) -> (Option<Route>, Vec<Text>) {
        preflight_short(plan, self.system.descriptors, self.system.cores)
    }

    fn show_status(&self, line: &str) {
        if !self.quiet && io::stderr().is_terminal() {
            let line = Some(line).filter(|line| !line.is_empty()).map(str::to_owned);
            screen::draw(&line.into_iter().collect::<Vec<_>>());
        }
    }

    fn print(&self, line: &str) {
        if !self.quiet {
            print_line(line);
        }
    }

    /// On a terminal the status line has shown it.
    fn trial_finished(&self, line: &str) {
        if !io::stderr().is_terminal() {
            self.print(line);
        }
    }
}
