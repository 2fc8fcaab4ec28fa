//! Runs a plan in several processes: merges their snapshots, and sends all of
//! them the same commands.
//!
//! Each part opens its connections and reports it. When the last one has, all parts get the instant
//! at which the load begins. From then on each sends a snapshot per interval, as threads do. If a
//! part ends early, its snapshots so far count, and its requests in flight are closed (`ledger`).
//! The other parts continue. Another process may take its place: a part that has ended and is ready again
//! carries out its share from the next border on.
//!
//! This module starts no process and knows no pipe; see [`WorkerChannels`].

mod readings;

use crate::clock::{RunEpoch, WorkerClock};
use crate::control::RunControl;
use crate::gather::{BETWEEN_READINGS, Gather, Sources};
use crate::labels::Labels;
use crate::ledger::Ledger;
use crate::message::{Sink, Source};
use crate::run::EngineError;
use crate::run_clock::phase_borders;
use brunt_model::event::LostProcess;
use brunt_model::reading_names::{GENERATOR, LINK};
use brunt_model::time::nanos;
use brunt_model::{
    Clock, Environment, Event, PartCommand, Plan, ProcessMessage, ProcessPart, Sample, Snapshot,
    Text, Tick, text,
};
use brunt_probe::ReadingMoment;
use readings::Readings;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Interval at which commands to the run are polled.
const LOOK: Duration = Duration::from_millis(50);
/// Time between a command to all parts and the instant at which it takes effect, in addition to the
/// time that it needs to reach them.
const AHEAD: Duration = Duration::from_millis(50);
/// Maximum wait for a part's reading. All parts read themselves at the same time.
const LATE_READING: Duration = BETWEEN_READINGS.saturating_mul(3);

/// An event from a worker process.
#[derive(Debug)]
pub enum WorkerEvent {
    /// A message of the process.
    Message(Box<ProcessMessage>),
    /// The process ended, with the reason if it failed. Nothing follows.
    Exited(Option<String>),
}

/// Channels to all parts.
pub struct WorkerChannels<'a> {
    /// Events, with the number of the part.
    pub inbox: &'a Receiver<(usize, WorkerEvent)>,
    /// Sends a command.
    pub send: &'a mut dyn FnMut(Recipients, PartCommand),
}

/// The parts that get a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recipients {
    /// All live parts.
    All,
    /// The part with this number.
    Part(usize),
}

impl Recipients {
    /// True if this part gets the command.
    pub fn contain(self, number: usize) -> bool {
        match self {
            Self::All => true,
            Self::Part(only) => number == only,
        }
    }
}

/// A run in several processes.
pub struct DistributedRun<'a> {
    /// Plan of the whole run.
    pub plan: &'a Plan,
    /// Start of the run on the clock of this process.
    pub epoch: RunEpoch,
    /// Names of labels that are known before the run.
    pub labels: Vec<String>,
    /// Names of the agents, by part. Empty: all parts are processes of this machine, which form one
    /// generator.
    pub agents: Vec<String>,
    /// Maximum time that a command needs to reach a part.
    pub delivery: Duration,
    /// The run, if another process has begun it.
    pub begun: Option<BegunRun>,
}

/// A run that another process has begun. The parts repeat what they have sent to it.
#[derive(Debug, Clone, Copy)]
pub struct BegunRun {
    /// Begin of the load.
    pub begins: Tick,
    /// End of the last interval that the other process has published.
    pub published_to: Tick,
}

/// Merges the parts of a run and sends events to `sink`, as [`run`](crate::run()) does for one
/// process. Returns when all parts have ended.
///
/// # Errors
///
/// [`EngineError`] if a part could not begin.
pub fn join(
    distributed_run: &DistributedRun<'_>,
    environment: Environment,
    channels: &mut WorkerChannels<'_>,
    control: &RunControl,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    let labels = Labels::new(distributed_run.plan.record.labels);
    distributed_run.labels.iter().for_each(|name| _ = labels.number(name));
    let populations = distributed_run.plan.populations.len();
    let members: Vec<Member> = ProcessPart::all(distributed_run.plan)
        .map(|part| Member {
            name: distributed_run.agents.get(part.number as usize).cloned(),
            ..Member::new(part, populations, Tick::ZERO)
        })
        .collect();
    let clock = WorkerClock::new(distributed_run.epoch);
    let readings = Readings::new(&members, &environment);
    let mut gather = Gather::new(
        Sources::new(members.len(), distributed_run.plan),
        &labels,
        readings,
        clock.clone(),
        sink,
    )
    .with_repetition(distributed_run.begun.map(|run| run.published_to).unwrap_or_default());
    gather.start(distributed_run.plan, environment);
    let mut parts = Parts {
        plan: distributed_run.plan,
        clock,
        labels: &labels,
        members,
        gather,
        send: &mut *channels.send,
        ahead: AHEAD + distributed_run.delivery,
        begins: distributed_run.begun.map(|run| run.begins),
        sent: SentCommands::default(),
        failure: None,
    };
    parts.receive_all(channels.inbox, control);
    parts.gather.finish(control.is_stopped());
    parts.failure.map_or(Ok(()), |why| Err(EngineError::Part(why)))
}

/// State of a part.
struct Member {
    part: ProcessPart,
    /// Name of the agent, in a fleet.
    name: Option<String>,
    state: State,
    /// True if it has taken the place of a lost part.
    is_replacement: bool,
    /// Merged numbers of its labels, by its own numbers.
    labels: HashMap<u32, u32>,
    /// By population.
    ledgers: Vec<Ledger>,
    /// Snapshots of populations in an interval without a total so far. They count with the total, so that a part
    /// that ends in between has no figures that its agent lacks.
    interval: Vec<(usize, Snapshot)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It opens its connections.
    SettingUp,
    /// All its connections are open since this instant.
    Ready(Tick),
    /// It has sent all its messages.
    Finished,
    Gone,
}

/// Commands that were sent to the parts.
#[derive(Default)]
struct SentCommands {
    stop: bool,
    enough: bool,
    /// Begin of the measured time that was sent.
    steady: Option<Tick>,
}

struct Parts<'a> {
    plan: &'a Plan,
    clock: WorkerClock,
    labels: &'a Labels,
    members: Vec<Member>,
    gather: Gather<'a, Readings>,
    send: &'a mut dyn FnMut(Recipients, PartCommand),
    /// Time between a command and the instant at which it takes effect.
    ahead: Duration,
    begins: Option<Tick>,
    sent: SentCommands,
    /// Why a part failed.
    failure: Option<String>,
}

impl Parts<'_> {
    /// Handles events until all parts have ended.
    fn receive_all(&mut self, inbox: &Receiver<(usize, WorkerEvent)>, control: &RunControl) {
        while self.members.iter().any(|m| m.state != State::Gone) {
            match inbox.recv_timeout(LOOK) {
                // The command is sent to all parts, as if it came from outside.
                Ok((_, WorkerEvent::Message(message))) if *message == ProcessMessage::EndRun => {
                    control.end();
                }
                Ok((number, event)) => self.handle_event(number, event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.forward_control(control);
            self.gather.read_after(LATE_READING);
        }
    }

    fn handle_event(&mut self, number: usize, event: WorkerEvent) {
        match event {
            WorkerEvent::Message(message) => match *message {
                ProcessMessage::Ready(_) if self.members[number].state == State::Gone => {
                    self.resume(number);
                }
                ProcessMessage::Ready(at) => self.members[number].state = State::Ready(at),
                ProcessMessage::Event(event) => self.take(number, event),
                ProcessMessage::EndRun => {}
            },
            WorkerEvent::Exited(why) => self.handle_exit(number, why),
        }
        // The event may be the last one that the begin depends on: a part is ready, or has ended.
        self.begin_if_ready();
    }

    fn take(&mut self, number: usize, event: Event) {
        let member = &mut self.members[number];
        match event {
            Event::Label { id, name, hop_of } => {
                let number = match hop_of {
                    None => self.labels.number(&name),
                    Some(step) => self.labels.hop(member.label(step), Some(&name)),
                };
                member.labels.insert(id, number);
            }
            Event::Snapshot(snapshot) => {
                self.forward_agent_snapshot(number, &snapshot);
                // The snapshot of all populations is the sum of theirs, which is computed here.
                if self.members[number].ledgers.len() == 1 {
                    self.members[number].interval.push((0, *snapshot));
                }
                for (population, snapshot) in std::mem::take(&mut self.members[number].interval) {
                    self.add_snapshot(Source { worker: number, population }, snapshot);
                }
            }
            Event::Population { number: population, snapshot } => {
                member.interval.push((population as usize, *snapshot));
            }
            Event::Samples(samples) => {
                let samples = samples
                    .into_iter()
                    .map(|s| Sample { label: member.label(s.label), ..s })
                    .collect();
                self.gather.forward(&Event::Samples(samples));
            }
            Event::CheckFailures(mut failures) => {
                for failure in &mut failures {
                    failure.label = member.label(failure.label);
                }
                self.gather.forward(&Event::CheckFailures(failures));
            }
            // A lost part and its replacement may be on two machines, so their counters have no difference.
            Event::Reading(reading) if reading.source != LINK && !member.has_readings() => {}
            Event::Reading(reading) => {
                let is_own = reading.source == GENERATOR;
                self.forward_of_agent(number, || Event::Reading(reading.clone()));
                if is_own {
                    self.gather.note_instant(reading.at);
                    self.read(number, reading.values);
                }
            }
            Event::Target { .. } => {
                self.forward_of_agent(number, || event.clone());
                self.gather.forward(&event);
            }
            Event::Warning(_) | Event::Records(_) | Event::Metrics(_) => {
                self.gather.forward(&event);
            }
            Event::Finished(finish) => self.finish_part(number, finish.error),
            Event::Started { .. }
            | Event::Stage { .. }
            | Event::Mark(_)
            | Event::Lost(_)
            | Event::Resumed { .. }
            | Event::Agent { .. } => {}
        }
    }

    /// Forwards an event as one of this agent, if the parts are agents.
    fn forward_of_agent(&mut self, number: usize, event: impl FnOnce() -> Event) {
        if self.members[number].name.is_some() {
            let event = Box::new(event());
            self.gather.forward(&Event::Agent { number: number as u32, event });
        }
    }

    /// Forwards what the figures of an agent need of its snapshot.
    fn forward_agent_snapshot(&mut self, number: usize, snapshot: &Snapshot) {
        self.forward_of_agent(number, || {
            Event::Snapshot(Box::new(Snapshot {
                from: snapshot.from,
                to: snapshot.to,
                phase: snapshot.phase,
                flow: snapshot.flow,
                measured: snapshot.measured.clone(),
                ..Snapshot::default()
            }))
        });
    }

    fn add_snapshot(&mut self, source: Source, mut snapshot: Snapshot) {
        let member = &mut self.members[source.worker];
        member.renumber(&mut snapshot);
        member.ledgers[source.population].add(&snapshot);
        self.gather.add_snapshot(source, snapshot);
    }

    /// Notes that a part sends no more snapshots.
    fn end_part(&mut self, number: usize) {
        for population in 0..self.members[number].ledgers.len() {
            self.gather.end_source(Source { worker: number, population });
        }
    }

    /// Adds a part's reading of itself. All parts read themselves at the same time; after the last
    /// one, a reading of the whole generator is sent.
    fn read(&mut self, number: usize, values: Vec<(String, f64)>) {
        self.gather.monitor.take(number, values);
        if self.gather.monitor.is_round_over(|number| self.members[number].has_readings()) {
            self.gather.read_generator(ReadingMoment::Within);
        }
    }

    fn finish_part(&mut self, number: usize, error: Option<Text>) {
        self.members[number].state = State::Finished;
        self.end_part(number);
        if let Some(why) = error {
            self.give_up(why);
        }
    }

    /// Begins the load when all live parts are ready.
    fn begin_if_ready(&mut self) {
        let alive = self.members.iter().filter(|m| m.state != State::Gone);
        let ready: Option<Vec<Tick>> =
            alive.map(|m| if let State::Ready(at) = m.state { Some(at) } else { None }).collect();
        let last = ready.and_then(|all| all.into_iter().max());
        if let (None, false, Some(last)) = (self.begins, self.sent.stop, last) {
            let begins = self.clock.now().max(last) + self.ahead;
            self.begins = Some(begins);
            (self.send)(Recipients::All, PartCommand::Go(begins));
        }
    }

    /// Lets a part that is ready again carry out its share of the load from the next border on, unless the load
    /// ends before.
    fn resume(&mut self, number: usize) {
        let Some(begins) = self.begins else { return };
        // The lost part may have sent more intervals than the others.
        let lost_at = self.members[number].ledgers.iter().map(Ledger::to).max();
        let from = self.border_after(lost_at.unwrap_or_default(), self.ahead);
        if self.sent.stop || self.sent.enough || from >= self.load_ends(begins) {
            return;
        }
        let populations = self.plan.populations.len();
        let member = &mut self.members[number];
        *member = Member {
            name: member.name.take(),
            state: State::Ready(from),
            is_replacement: true,
            ..Member::new(member.part, populations, from)
        };
        let resumed = Event::Resumed { at: from, process: number as u32 };
        let text = text!(
            "warning-part-replaced",
            part = member.subject(),
            seconds = format!("{:.1}", from.seconds())
        );
        for population in 0..populations {
            self.gather.resume_source(Source { worker: number, population }, from);
        }
        self.gather.forward(&resumed);
        self.forward_of_agent(number, || resumed);
        self.gather.warn(from, &text);
        (self.send)(Recipients::Part(number), PartCommand::Resume { begins, from });
        if let Some(at) = self.sent.steady {
            (self.send)(Recipients::Part(number), PartCommand::Steady(at));
        }
    }

    /// Latest end of the load of any population.
    fn load_ends(&self, begins: Tick) -> Tick {
        let ends = self.plan.populations.iter().map(|one| {
            let planned = begins + one.stop.warmup;
            let measured_from = self.sent.steady.map_or(planned, |steady| steady.min(planned));
            phase_borders(&one.stop, measured_from)[1]
        });
        ends.max().unwrap_or_default()
    }

    /// Cancels the load.
    fn give_up(&mut self, why: Text) {
        self.gather.fatal(why);
        // Once the load has begun, the other parts continue.
        if self.begins.is_none() && !std::mem::replace(&mut self.sent.stop, true) {
            (self.send)(Recipients::All, PartCommand::Stop(Tick::ZERO));
        }
    }

    fn handle_exit(&mut self, number: usize, why: Option<String>) {
        let before = std::mem::replace(&mut self.members[number].state, State::Gone);
        match (before, why) {
            (State::Gone, _) | (State::Finished, None) => {}
            (State::Finished, Some(why)) => {
                self.failure = Some(self.members[number].early_end_text(&why).into());
            }
            (_, why) => {
                self.record_loss(number, &why.unwrap_or_else(|| "without a message".into()));
            }
        }
    }

    /// Records that a part ended early.
    fn record_loss(&mut self, number: usize, why: &str) {
        let member = &self.members[number];
        let to = member.ledgers.iter().map(Ledger::to).max();
        let instant = to.max(self.begins).unwrap_or_default();
        let text = text!(
            "warning-part-lost",
            end = member.early_end_text(why),
            seconds = format!("{:.1}", instant.seconds())
        );
        let part = member.part;
        let closing: Vec<Option<Snapshot>> = member.ledgers.iter().map(Ledger::closing).collect();
        let lost = Event::Lost(LostProcess { at: instant, part, until: Tick::NEVER });
        self.gather.forward(&lost);
        self.forward_of_agent(number, || lost);
        self.gather.warn(instant, &text);
        for (population, closing) in closing.into_iter().enumerate() {
            if let Some(closing) = closing {
                self.gather.add_snapshot(Source { worker: number, population }, closing);
            }
        }
        self.end_part(number);
        if self.begins.is_none() {
            self.handle_loss_before_begin(number, why);
        }
    }

    /// Cancels the load if a part that it needs ended before.
    fn handle_loss_before_begin(&mut self, number: usize, why: &str) {
        let member = &self.members[number];
        if member.name.is_some() {
            // A fleet without one of its agents is not the fleet that the user asked for.
            let end = member.early_end_text(why);
            self.give_up(text!("warning-agent-lost-before-load", end));
        } else if self.members.iter().all(|m| m.state == State::Gone) {
            self.gather.fatal(text!("warning-processes-lost-before-load"));
        }
    }

    /// Forwards commands to the run to its parts.
    fn forward_control(&mut self, control: &RunControl) {
        let soon = self.border(self.ahead);
        let later = self.border(self.ahead + self.plan.record.interval * 2);
        if control.is_stopped() && !std::mem::replace(&mut self.sent.stop, true) {
            (self.send)(Recipients::All, PartCommand::Stop(soon));
        } else if control.is_over() && !std::mem::replace(&mut self.sent.enough, true) {
            (self.send)(Recipients::All, PartCommand::Enough(soon));
        }
        if control.is_steady() && self.sent.steady.is_none() {
            self.sent.steady = Some(later);
            (self.send)(Recipients::All, PartCommand::Steady(later));
        }
    }

    /// Returns the end of the interval in progress after `ahead` from now.
    fn border(&self, ahead: Duration) -> Tick {
        self.border_after(Tick::ZERO, ahead)
    }

    /// The same, but after `instant` if that is later than now.
    fn border_after(&self, instant: Tick, ahead: Duration) -> Tick {
        let Some(begins) = self.begins else { return Tick::ZERO };
        let interval = nanos(self.plan.record.interval).max(1_000_000);
        let instant = self.clock.now().max(self.gather.emitted_to()).max(instant) + ahead;
        Tick(begins.0 + (instant.nanos_since(begins) / interval + 1) * interval)
    }
}

impl Member {
    /// Creates a part that takes part in the load from this instant on.
    fn new(part: ProcessPart, populations: usize, from: Tick) -> Self {
        let ledgers = (0..populations).map(|_| Ledger::from(from)).collect();
        Self {
            part,
            name: None,
            state: State::SettingUp,
            is_replacement: false,
            labels: HashMap::new(),
            ledgers,
            interval: Vec::new(),
        }
    }

    /// Names it in a sentence.
    fn subject(&self) -> Text {
        match &self.name {
            Some(name) => text!("warning-part.agent", name = &**name),
            None => self.part.name(),
        }
    }

    fn early_end_text(&self, why: &str) -> Text {
        text!("warning-end.early", part = self.subject(), why)
    }

    /// True if its readings count, and it still sends them.
    fn has_readings(&self) -> bool {
        !self.is_replacement && matches!(self.state, State::SettingUp | State::Ready(_))
    }

    fn label(&self, its: u32) -> u32 {
        self.labels.get(&its).copied().unwrap_or(its)
    }

    fn renumber(&self, snapshot: &mut Snapshot) {
        for label in &mut snapshot.labels {
            label.0 = self.label(label.0);
        }
    }
}
