//! A session: the state that all runs of one command share, and the execution of one run.
//! Experiments are in [`crate::experiment`], the stages of a test in [`crate::stages`].
//!
//! A front end makes a [`CommandSession`], and adds listeners to each [`RunRequest`]. Storage, readings of
//! the server, redaction and the judgement are the same for all of them.

use crate::control_socket::ControlSocket;
use crate::data_files;
use crate::error::RunError;
use crate::interrupt::Interrupt;
use crate::keep::{ServerReadings, StorageResult, StoredRun};
use crate::run::{EventBus, EventListener, PlanExecutor};
use crate::steer::Steering;
use crate::world::RealWorld;
use brunt_agents::Fleet;
use brunt_check::route::route;
use brunt_engine::RunControl;
use brunt_model::{
    Environment, Event, Judgement, Plan, ProbeSpec, Route, Run, Text, Tick, TrialIndex,
};
use brunt_script::Languages;
use brunt_store::{Redactor, Store};
use std::sync::Arc;

/// The state that all runs of one command share.
pub struct CommandSession {
    /// Machine, program and command line; every event log begins with them.
    pub environment: Environment,
    /// The store, where there is one.
    pub store: Option<Store>,
    /// Removes secrets from results and stored runs; listeners receive events with their secrets.
    pub redactor: Arc<Redactor>,
    /// Ends the current run, and prevents those that would follow.
    pub interrupt: Interrupt,
    /// Agents that carry out all runs, in place of this process.
    pub fleet: Option<Arc<Fleet>>,
    /// Languages of scripts that this program has.
    pub languages: Languages,
}

/// A run to be made.
pub struct RunRequest<'a> {
    /// Plan that the run carries out.
    pub plan: &'a Plan,
    /// Engine that carries the plan out.
    pub engine: &'a dyn PlanExecutor,
    /// Means to end the run early.
    pub control: RunControl,
    /// Its place in the store.
    pub storage: Storage<'a>,
    /// The route to the server, if it is known before the run.
    pub route: Option<Route>,
    /// Warnings that follow the first event.
    pub notes: Vec<Text>,
    /// Readings of the server during the run.
    pub probes: &'a [ProbeSpec],
    /// Receivers of its events, which may add events.
    pub listeners: Vec<&'a mut dyn EventListener>,
}

/// The place of a run in the store of the session, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage<'a> {
    /// The run is not stored.
    None,
    /// A run that belongs to no experiment.
    SingleRun,
    /// A trial of the experiment with this id.
    Trial(&'a str, TrialIndex),
    /// The run with this id, which an earlier process has stored up to this instant.
    Begun(&'a str, Tick),
}

/// The result of a run. If the engine failed, `run` contains the measurements until then.
pub struct RunResult {
    /// The fold of its events.
    pub run: Run,
    /// The decisions about it.
    pub judgement: Judgement,
    /// Its place in the store.
    pub stored: StorageResult,
    /// The error of the engine.
    pub outcome: Result<(), RunError>,
}

impl<'a> RunRequest<'a> {
    /// A run that is not stored, without listeners.
    pub fn new(plan: &'a Plan, engine: &'a dyn PlanExecutor, control: RunControl) -> Self {
        Self {
            plan,
            engine,
            control,
            storage: Storage::None,
            route: None,
            notes: Vec::new(),
            probes: &[],
            listeners: Vec::new(),
        }
    }
}

impl CommandSession {
    /// Creates the world of a plan, with the agents of this session.
    pub fn world(&self, plan: &Plan) -> Result<RealWorld, RunError> {
        Ok(RealWorld::new(plan, self.languages)?.with_fleet(self.fleet.clone()))
    }

    /// Carries out one run, and stores it.
    pub fn run(&self, request: RunRequest) -> RunResult {
        let RunRequest { plan, engine, control, storage, mut notes, .. } = request;
        let (mut stored, refusal) = match self.begin_to_store(storage) {
            Ok(stored) => (stored, None),
            Err(refusal) => (None, Some(Text::from(refusal))),
        };
        notes.extend(refusal.clone());
        if let (Some(fleet), Some(stored)) = (&self.fleet, &stored) {
            fleet.keep_run(stored.id());
        }
        let mut orders = stored.as_ref().and_then(|stored| self.control_socket(stored.id()));
        let mut readings = ServerReadings::begin(request.probes, engine.began());
        let mut listeners: Vec<&mut dyn EventListener> = Vec::new();
        // Each push shortens the lifetime of its trait object, which `extend` cannot do.
        for listener in request.listeners {
            listeners.push(listener);
        }
        listeners.extend(readings.as_mut().map(|readings| readings as &mut dyn EventListener));
        listeners.extend(orders.as_mut().map(|orders| orders as &mut dyn EventListener));
        listeners.extend(stored.as_mut().map(|stored| stored as &mut dyn EventListener));
        // The listener of the target's port distinguishes the server from other
        // processes of this machine.
        // Agents on other machines have other routes.
        let route = request.route.or_else(|| (!plan.is_elsewhere()).then(|| route(plan)).flatten());
        let data_files = data_files::facts(plan);
        let environment = Environment { route, data_files, ..self.environment.clone() };
        let steering = Steering::new(plan, &control);
        let mut bus = EventBus {
            listeners,
            run: Run::default(),
            steering,
            notes,
            redactor: Arc::clone(&self.redactor),
        };
        let outcome =
            engine.run(plan, environment, &control, &mut |event: &Event| bus.publish(event));
        let run = bus.run;
        let judgement = brunt_judge::judge(&run);
        let stored = match stored {
            Some(stored) => stored.finish(&run, &judgement),
            None => StorageResult { id: None, trouble: refusal },
        };
        RunResult { run, judgement, stored, outcome }
    }

    /// Opens the socket through which other processes control a stored run.
    fn control_socket(&self, id: &str) -> Option<ControlSocket> {
        let path = self.store.as_ref()?.control_socket(id);
        ControlSocket::open(path, self.interrupt.clone())
    }

    /// Begins to store the run, if it is to be stored. The error is the reason why that fails.
    fn begin_to_store(&self, storage: Storage) -> Result<Option<StoredRun>, String> {
        let Some(store) = &self.store else { return Ok(None) };
        match storage {
            Storage::None => Ok(None),
            Storage::SingleRun => StoredRun::begin(store, None).map(Some),
            Storage::Trial(experiment, index) => {
                StoredRun::begin(store, Some((experiment, index))).map(Some)
            }
            Storage::Begun(id, to) => StoredRun::begin_again(store, id, to).map(Some),
        }
    }
}
