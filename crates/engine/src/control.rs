//! What may be said to a run while it goes on, and when it comes true.

use crate::gate::Gate;
use brunt_model::{Account, Part, PartCommand, Plan, Tick};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// What may be said to a run while it goes on; clones speak to the same run. Each is said once and heard by all workers
/// at the end of an interval.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<ControlFlags>);

#[derive(Debug, Default)]
struct ControlFlags {
    stop: AtomicBool,
    enough: AtomicBool,
    steady: AtomicBool,
}

impl Control {
    /// Somebody wants it to end: no new requests, a short grace, and the report of what was measured.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Release);
    }

    /// Whether somebody wanted it to end.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Acquire)
    }

    /// What was asked for is known: the run ends as if its time were up.
    pub fn enough(&self) {
        self.0.enough.store(true, Ordering::Release);
    }

    /// It need not go on.
    pub(crate) fn is_over(&self) -> bool {
        self.is_stopped() || self.0.enough.load(Ordering::Acquire)
    }

    /// The server is warm: the measured time begins.
    pub fn steady(&self) {
        self.0.steady.store(true, Ordering::Release);
    }

    /// The measured time may begin.
    pub(crate) fn is_steady(&self) -> bool {
        self.0.steady.load(Ordering::Acquire)
    }
}

/// When what was said comes true: the same for all workers, as the first of them found it or as it was told.
#[derive(Debug, Default)]
pub(crate) struct Borders {
    /// No new requests from then on.
    pub ends: OnceLock<Tick>,
    /// When the measured time begins, where the server was found warm before the longest warm-up was over.
    pub warm: OnceLock<Tick>,
}

/// Ends the run, in all of its processes.
pub(crate) type EndRun = Arc<dyn Fn() + Send + Sync>;

/// One process's share of the load, and how it learns what all processes do together. Clones are of the same part.
#[derive(Clone)]
pub struct PartHandle {
    pub(crate) part: Part,
    pub(crate) control: Control,
    pub(crate) gate: Arc<Gate>,
    pub(crate) borders: Arc<Borders>,
    pub(crate) end_run: EndRun,
}

impl PartHandle {
    /// A part of a plan that waits for [`PartCommand::Go`]. `say` is called once when all its connections are open, and once when a
    /// scenario ends the run.
    pub fn new(plan: &Plan, part: Part, say: impl Fn(&Account) + Send + Sync + 'static) -> Self {
        let (says_ready, says_end) = (Arc::new(say), Once::new());
        let says = Arc::clone(&says_ready);
        let ready = move |at| says_ready(&Account::Ready(at));
        let gate = Gate::held(plan.threads as usize * plan.populations.len(), Box::new(ready));
        let end_run = Arc::new(move || says_end.call_once(|| says(&Account::EndRun)));
        Self { part, control: Control::default(), gate: Arc::new(gate), borders: Arc::default(), end_run }
    }

    /// A whole run, which nobody holds back.
    pub(crate) fn whole(plan: &Plan, control: &Control) -> Self {
        let gate = Arc::new(Gate::new(plan.threads as usize * plan.populations.len()));
        let ends = control.clone();
        let end_run = Arc::new(move || ends.enough());
        Self { part: Part::WHOLE, control: control.clone(), gate, borders: Arc::default(), end_run }
    }

    /// Takes a word; may be called from any thread.
    pub fn hear(&self, word: PartCommand) {
        // The border before the word that it belongs to. Only the first counts.
        match word {
            PartCommand::Go(at) => self.gate.open(at),
            PartCommand::Steady(at) => {
                let _ = self.borders.warm.set(at);
                self.control.steady();
            }
            PartCommand::Enough(at) => {
                let _ = self.borders.ends.set(at);
                self.control.enough();
            }
            PartCommand::Stop(at) => {
                let _ = self.borders.ends.set(at);
                self.control.stop();
                // Too late where the load has begun.
                self.gate.give_up();
            }
        }
    }
}
