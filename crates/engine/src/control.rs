//! Commands to a run in progress, and the instants at which they take effect.

use crate::gate::{Gate, LoadBegin};
use brunt_model::{PartCommand, Plan, ProcessMessage, ProcessShares, Tick};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

/// Commands to a run in progress; clones control the same run. Each command is given once; all
/// workers apply it at the end of an interval.
#[derive(Debug, Clone, Default)]
pub struct RunControl(Arc<ControlFlags>);

#[derive(Debug, Default)]
struct ControlFlags {
    stop: AtomicBool,
    enough: AtomicBool,
    steady: AtomicBool,
}

impl RunControl {
    /// Ends the run early: no new requests, a short grace period, then the report of
    /// the results so far.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Release);
    }

    /// True if [`Self::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Acquire)
    }

    /// Ends the run because its goal is reached, as if its time had passed.
    pub fn end(&self) {
        self.0.enough.store(true, Ordering::Release);
    }

    /// True if the run should end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_stopped() || self.0.enough.load(Ordering::Acquire)
    }

    /// Begins the measured time, because the server is warm.
    pub fn begin_measuring(&self) {
        self.0.steady.store(true, Ordering::Release);
    }

    /// True if the measured time may begin.
    pub(crate) fn is_steady(&self) -> bool {
        self.0.steady.load(Ordering::Acquire)
    }
}

/// Instants at which commands take effect, the same for all workers: set by the first worker that
/// applies the command, or by the parent process.
#[derive(Debug, Default)]
pub(crate) struct Borders {
    /// No new requests are begun from this instant on.
    pub ends: OnceLock<Tick>,
    /// Begin of the measured time, if the server was warm before the warm-up limit.
    pub warm: OnceLock<Tick>,
}

/// Ends the run in all of its processes.
pub(crate) type EndRun = Arc<dyn Fn() + Send + Sync>;

/// One process's shares of the load, and the commands that it receives. Clones belong
/// to the same part.
#[derive(Clone)]
pub struct PartHandle {
    pub(crate) shares: ProcessShares,
    pub(crate) control: RunControl,
    pub(crate) gate: Arc<Gate>,
    pub(crate) borders: Arc<Borders>,
    pub(crate) end_run: EndRun,
}

impl PartHandle {
    /// Creates a part of a plan that waits for [`PartCommand::Go`]. Calls `send` once when all its
    /// connections are open, and once when a scenario ends the run.
    pub fn new(
        plan: &Plan,
        shares: ProcessShares,
        send: impl Fn(&ProcessMessage) + Send + Sync + 'static,
    ) -> Self {
        let send = Arc::new(send);
        let send_ready = Arc::clone(&send);
        let workers = plan.threads as usize * plan.populations.len();
        let gate = Gate::with_callback(
            workers,
            Box::new(move |at| send_ready(&ProcessMessage::Ready(at))),
        );
        let once = Once::new();
        let end_run = Arc::new(move || once.call_once(|| send(&ProcessMessage::EndRun)));
        Self {
            shares,
            control: RunControl::default(),
            gate: Arc::new(gate),
            borders: Arc::default(),
            end_run,
        }
    }

    /// Creates the only part of a run in one process, which begins on its own.
    pub(crate) fn whole(plan: &Plan, control: &RunControl) -> Self {
        let gate = Arc::new(Gate::new(plan.threads as usize * plan.populations.len()));
        let ends = control.clone();
        let end_run = Arc::new(move || ends.end());
        Self {
            shares: ProcessShares::whole(plan),
            control: control.clone(),
            gate,
            borders: Arc::default(),
            end_run,
        }
    }

    /// Applies a command of the parent process; may be called from any thread.
    pub fn apply(&self, command: PartCommand) {
        // The instant is set before the flag, so that a worker that sees the flag finds the
        // instant. Only the first one counts.
        match command {
            PartCommand::Go(at) => self.gate.open(LoadBegin::at(at)),
            PartCommand::Resume { begins, from } => self.gate.open(LoadBegin { begins, from }),
            PartCommand::Steady(at) => {
                let _ = self.borders.warm.set(at);
                self.control.begin_measuring();
            }
            PartCommand::Enough(at) => {
                let _ = self.borders.ends.set(at);
                self.control.end();
            }
            PartCommand::Stop(at) => {
                let _ = self.borders.ends.set(at);
                self.control.stop();
                // Has no effect if the load has begun.
                self.gate.give_up();
            }
        }
    }
}
