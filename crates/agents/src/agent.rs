//! The work of an agent, between its two pipes: it carries out its share of each run that the
//! controller assigns.
//!
//! It writes no report and decides nothing. The caller must ignore signals and leave them to the
//! controller. It ends when its inputs close, because its measurements can no longer be delivered.
//!
//! * A thread reads messages: it answers clock readings at once, keeps secrets and files for the next
//!   assignment, and applies commands to the run in progress.
//! * The main thread carries out one check or assignment after the other.
//! * `lease`: a thread that stops the load if nothing was received for the time of the lease.
//! * `budget`: holds figures of labels back, so that they need fewer bytes.
//! * `outbox`: a thread that writes the messages.

mod budget;
mod files;
mod lease;
mod outbox;

use crate::FleetError;
use brunt_engine::{PartHandle, RunEpoch};
use brunt_generator::Generator;
use brunt_model::agent::{
    AgentMessage, AgentReport, Assignment, CheckRequest, ClockReading, ControllerMessage,
    ControllerRequest, FileCopy, PROTOCOL_VERSION, RunEnd, RunNumber,
};
use brunt_model::codec::{read_controller_message, write_agent_message};
use brunt_model::sync::IgnorePoison;
use brunt_model::{AgentFacts, Clock, Environment, Event, PartCommand, Plan, ProcessMessage, Tick};
use brunt_script::Languages;
use budget::ByteBudget;
use files::PlanFiles;
use lease::{Lease, SendTimes};
use outbox::Outbox;
use std::error::Error;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// Reason for the end of a run without a lease.
const LEASE_EXPIRED: &str = "it received nothing from brunt for the time of --lease";

/// Source of the files of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSource {
    /// This machine, which is that of the controller.
    ThisMachine,
    /// The controller, which sends them.
    Controller,
}

/// Ends this process. The value is true if a run was in progress.
pub type Quit = fn(bool) -> !;

/// Work for the main thread.
enum Work {
    Check(Box<CheckRequest>),
    Run(Box<PreparedRun>),
}

/// An assignment that is ready to be carried out.
struct PreparedRun {
    run: RunNumber,
    plan: Plan,
    assignment: Assignment,
    handle: PartHandle,
}

/// Carries out the assignments from the first of `inputs`, and writes messages to `output`. Another controller
/// that takes the place of the first one has the next input. Ends when the last one is closed.
pub fn run_agent<I>(
    facts: AgentFacts,
    languages: Languages,
    source: FileSource,
    inputs: I,
    mut output: impl Write + Send + 'static,
    quit: Quit,
) -> Result<(), FleetError>
where
    I: IntoIterator<Item: Read> + Send + 'static,
{
    let shared = Arc::new(Shared {
        outbox: Outbox::default(),
        current: Mutex::default(),
        lease: Lease::default(),
        files: PlanFiles::default(),
        source,
        languages,
        quit,
    });
    shared.send(RunNumber(0), AgentReport::Hello(PROTOCOL_VERSION, Box::new(facts)));
    let writer = Arc::clone(&shared);
    thread::Builder::new().name("brunt-writer".into()).spawn(move || {
        writer.outbox.write_all_to(&mut output);
        // The controller has ended, so the measurements can no longer be delivered.
        writer.quit();
    })?;
    let (sender, work) = channel();
    let reader = Arc::clone(&shared);
    thread::Builder::new().name("brunt-reader".into()).spawn(move || {
        inputs.into_iter().for_each(|input| reader.read_messages(input, &sender));
        reader.quit();
    })?;
    let watchdog = Arc::clone(&shared);
    thread::Builder::new().name("brunt-lease".into()).spawn(move || watchdog.watch_lease())?;
    shared.carry_out_all(&work);
    Ok(())
}

/// State that the threads of an agent share.
struct Shared {
    outbox: Outbox,
    /// The last run that was assigned.
    current: Mutex<CurrentRun>,
    lease: Lease,
    files: PlanFiles,
    source: FileSource,
    /// Languages of scripts that this program has.
    languages: Languages,
    quit: Quit,
}

#[derive(Default)]
struct CurrentRun {
    number: RunNumber,
    /// None: no run is in progress.
    handle: Option<PartHandle>,
}

impl Shared {
    /// Handles messages until the input is closed.
    fn read_messages(self: &Arc<Self>, mut input: impl Read, work: &Sender<Work>) {
        let mut secrets = Vec::new();
        let mut files: Vec<FileCopy> = Vec::new();
        let mut send_times = SendTimes::default();
        while let Some(ControllerMessage { run, request }) = read_controller_message(&mut input) {
            let received = RunEpoch::now().nanos();
            match &request {
                ControllerRequest::ReadClock(sent) => {
                    self.lease.renew(send_times.sent(*sent, received));
                }
                // During a load, a network may have held it back.
                ControllerRequest::Command(_) => {}
                _ => self.lease.renew(received),
            }
            match request {
                ControllerRequest::ReadClock(sent) => {
                    let replied = RunEpoch::now().nanos();
                    let reading = ClockReading { sent, received, replied };
                    self.send(run, AgentReport::Clock(reading));
                }
                ControllerRequest::Secrets(more) => secrets.extend(more),
                ControllerRequest::File(file) => files.push(file),
                ControllerRequest::Check(request) => _ = work.send(Work::Check(request)),
                ControllerRequest::Assign(assignment) => {
                    let secrets = std::mem::take(&mut secrets);
                    let files = std::mem::take(&mut files);
                    match self.prepare(run, *assignment, &secrets, &files) {
                        Ok(next) => _ = work.send(Work::Run(Box::new(next))),
                        Err(error) => {
                            self.finish(run, RunEnd { error: Some(error), ..RunEnd::default() });
                        }
                    }
                }
                ControllerRequest::Command(command) => {
                    let current = self.current();
                    // A late or repeated command of an earlier run does nothing.
                    if let Some(handle) = current.handle.as_ref().filter(|_| current.number == run)
                    {
                        handle.apply(command);
                    }
                }
            }
        }
    }

    /// Makes an assignment ready, and the run it belongs to the current one.
    fn prepare(
        self: &Arc<Self>,
        run: RunNumber,
        assignment: Assignment,
        secrets: &[(String, String)],
        files: &[FileCopy],
    ) -> Result<PreparedRun, String> {
        let mut current = self.current();
        if run <= current.number {
            return Err(format!("run {} was assigned after run {}", run.0, current.number.0));
        }
        let mut plan = assignment.plan(secrets)?;
        if self.source == FileSource::Controller {
            self.files
                .store(files, &mut plan)
                .map_err(|error| format!("a file of the plan: {error}"))?;
        }
        let sender = Arc::clone(self);
        let handle = PartHandle::new(&plan, assignment.shares.clone(), move |message| {
            sender.send(run, AgentReport::Part(message.clone()));
        });
        *current = CurrentRun { number: run, handle: Some(handle.clone()) };
        self.lease.begin(assignment.lease, RunEpoch::now().nanos());
        Ok(PreparedRun { run, plan, assignment, handle })
    }

    /// Carries out one check or assignment after the other.
    fn carry_out_all(&self, work: &Receiver<Work>) {
        for next in work {
            let next = match next {
                Work::Check(request) => {
                    let check = brunt_check::agent::check(&request);
                    self.send(RunNumber(0), AgentReport::Checked(Box::new(check)));
                    continue;
                }
                Work::Run(next) => *next,
            };
            let run = next.run;
            let end = self.carry_out(next).unwrap_or_else(|error| RunEnd {
                error: Some(describe(&error)),
                ..RunEnd::default()
            });
            self.finish(run, end);
        }
    }

    fn carry_out(&self, run: PreparedRun) -> Result<RunEnd, FleetError> {
        let PreparedRun { run, plan, assignment, handle } = run;
        let epoch = RunEpoch::Real(assignment.epoch_nanos);
        let generator = Generator::new(&plan, epoch, self.languages)?;
        let mut budget = ByteBudget::new(assignment.bytes_per_second);
        let environment = Environment { route: assignment.route, ..Environment::default() };
        generator.run_part(&plan, environment, &handle, &mut |event: &Event| {
            for event in budget.events(event.clone(), self.outbox.unsent()) {
                let is_sent = match event {
                    // The controller makes these events itself.
                    Event::Started { .. } | Event::Stage { .. } => false,
                    // It must not take the end of the lease for that of the run.
                    Event::Finished(_) => !self.lease.has_expired(),
                    _ => true,
                };
                if is_sent {
                    let message = ProcessMessage::Event(event);
                    budget.count(self.send(run, AgentReport::Part(message)), epoch.now());
                }
            }
        })?;
        Ok(RunEnd {
            error: self.lease.has_expired().then(|| LEASE_EXPIRED.to_owned()),
            output: generator.stage_output(),
            has_ended_test: generator.has_ended_test(),
        })
    }

    /// Reports the end of a run, and waits for the next one.
    fn finish(&self, run: RunNumber, end: RunEnd) {
        let mut current = self.current();
        if current.number == run {
            current.handle = None;
        }
        drop(current);
        self.files.remove();
        self.send(run, AgentReport::Finished(end));
    }

    /// Stops the load if no message arrived for the time of the lease, and then ends the process.
    fn watch_lease(&self) {
        loop {
            thread::sleep(lease::CHECK_INTERVAL);
            match self.lease.check(RunEpoch::now().nanos()) {
                lease::LeaseState::Held => {}
                lease::LeaseState::Expired => {
                    if let Some(handle) = &self.current().handle {
                        handle.apply(PartCommand::Stop(Tick::ZERO));
                    }
                }
                // No message can be delivered any more.
                lease::LeaseState::Abandoned => self.quit(),
            }
        }
    }

    /// Sends a message, and returns its length in bytes.
    fn send(&self, run: RunNumber, report: AgentReport) -> usize {
        let mut bytes = Vec::new();
        // Without this message the run has a gap without an explanation.
        let message = AgentMessage { run, report };
        let length = write_agent_message(&mut bytes, &message).unwrap_or_else(|_| self.quit());
        self.outbox.add(&bytes);
        length
    }

    fn current(&self) -> MutexGuard<'_, CurrentRun> {
        self.current.lock().ignore_poison()
    }

    fn quit(&self) -> ! {
        self.files.remove();
        // Another thread may hold the lock, and waiting for it could keep the load alive.
        let is_running = self.current.try_lock().map_or(true, |current| current.handle.is_some());
        (self.quit)(is_running)
    }
}

/// Describes an error with its causes.
fn describe(error: &FleetError) -> String {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts.join(": ")
}
