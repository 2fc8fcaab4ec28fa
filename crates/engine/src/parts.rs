//! A run that several processes carry out: what they hand over is joined, and all are told the same.
//!
//! Each part opens its connections and says so; when the last one has, all are told the instant at which the load begins.
//! From then on each hands over a snapshot an interval, as threads do. A part that is gone before its time leaves what it
//! had handed over, and what it had under way is closed (`ledger`); the others go on.
//!
//! It starts no process and knows no pipe; see [`Lines`].

mod ledger;
mod readings;

use crate::clock::{Epoch, Time};
use crate::control::Control;
use crate::gather::{BETWEEN_READINGS, Gather, Sources};
use crate::labels::Labels;
use crate::message::{Sink, Source};
use crate::run::EngineError;
use brunt_model::event::Loss;
use brunt_model::time::nanos;
use brunt_model::{Account, Clock, Environment, Event, Part, PartCommand, Plan, Sample, Snapshot, Tick};
use ledger::Ledger;
use readings::Readings;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often we look at what was said to the run.
const LOOK: Duration = Duration::from_millis(50);
/// How far ahead an instant is that all parts must hear of before it comes.
const AHEAD: Duration = Duration::from_millis(50);
/// Parts read themselves at the same time; where one of them does not, we do not wait for it for longer.
const LATE_READING: Duration = BETWEEN_READINGS.saturating_mul(3);

/// What is heard of a part.
#[derive(Debug)]
pub enum Heard {
    /// What it says.
    Account(Box<Account>),
    /// It is gone, and why, where it did not end of its own will. Nothing follows.
    Gone(Option<String>),
}

/// The lines to all parts.
pub struct Lines<'a> {
    /// What is heard, and of which part.
    pub inbox: &'a Receiver<(usize, Heard)>,
    /// Tells a word to all that are still there.
    pub tell: &'a mut dyn FnMut(PartCommand),
}

/// What is carried out together.
pub struct Joint<'a> {
    /// The whole run.
    pub plan: &'a Plan,
    /// The clock that all parts have.
    pub epoch: Epoch,
    /// Names of labels that are known beforehand.
    pub labels: Vec<String>,
}

/// Joins the parts of a run and tells `sink`, as [`run`](crate::run()) does of one process. Returns when all are gone.
///
/// # Errors
///
/// [`EngineError`] if a part could not begin.
pub fn join(
    joint: &Joint<'_>,
    environment: Environment,
    lines: &mut Lines<'_>,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<(), EngineError> {
    let labels = Labels::new(joint.plan.record.labels);
    joint.labels.iter().for_each(|name| _ = labels.number(name));
    let populations = joint.plan.populations.len();
    let members: Vec<Member> = Part::all(joint.plan).map(|part| Member::new(part, populations)).collect();
    let clock = Time::new(joint.epoch);
    let readings = Readings::new(&members, &environment);
    let mut gather = Gather::new(Sources::new(members.len(), joint.plan), &labels, readings, clock.clone(), sink);
    gather.start(joint.plan, environment);
    let mut parts = Parts {
        plan: joint.plan,
        clock,
        labels: &labels,
        members,
        gather,
        tell: &mut *lines.tell,
        begins: None,
        said: SentCommands::default(),
        failed: None,
    };
    parts.all(lines.inbox, control);
    parts.gather.finish(control.is_stopped());
    parts.failed.map_or(Ok(()), |why| Err(EngineError::Part(why)))
}

/// What is known of a part.
struct Member {
    part: Part,
    state: State,
    /// Our numbers of its labels.
    labels: HashMap<u32, u32>,
    /// By population.
    ledgers: Vec<Ledger>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its connections are being opened.
    SettingUp,
    /// They are open since.
    Ready(Tick),
    /// It has said all that it had to say.
    Finished,
    Gone,
}

/// What the parts were told.
#[derive(Default)]
struct SentCommands {
    stop: bool,
    enough: bool,
    steady: bool,
}

struct Parts<'a> {
    plan: &'a Plan,
    clock: Time,
    labels: &'a Labels,
    members: Vec<Member>,
    gather: Gather<'a, Readings>,
    tell: &'a mut dyn FnMut(PartCommand),
    /// When the load begins.
    begins: Option<Tick>,
    said: SentCommands,
    /// A part broke.
    failed: Option<String>,
}

impl Parts<'_> {
    /// Until all are gone.
    fn all(&mut self, inbox: &Receiver<(usize, Heard)>, control: &Control) {
        while self.members.iter().any(|m| m.state != State::Gone) {
            match inbox.recv_timeout(LOOK) {
                // All parts are told, as if somebody else had said so.
                Ok((_, Heard::Account(account))) if *account == Account::EndRun => control.enough(),
                Ok((number, heard)) => self.hear(number, heard),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.pass_on(control);
            self.gather.read_after(LATE_READING);
        }
    }

    fn hear(&mut self, number: usize, heard: Heard) {
        match heard {
            Heard::Account(account) => match *account {
                Account::Ready(at) => self.members[number].state = State::Ready(at),
                Account::Event(event) => self.take(number, event),
                Account::EndRun => {}
            },
            Heard::Gone(why) => self.gone(number, why),
        }
        self.go();
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
            // That of all populations is the sum of what was told of each.
            Event::Snapshot(_) if member.ledgers.len() > 1 => {}
            Event::Snapshot(snapshot) => self.hand(Source { worker: number, population: 0 }, *snapshot),
            Event::Population { number: population, snapshot } => {
                self.hand(Source { worker: number, population: population as usize }, *snapshot);
            }
            Event::Samples(samples) => {
                let samples = samples.into_iter().map(|s| Sample { label: member.label(s.label), ..s }).collect();
                self.gather.tell(&Event::Samples(samples));
            }
            Event::CheckFailures(mut failures) => {
                for failure in &mut failures {
                    failure.label = member.label(failure.label);
                }
                self.gather.tell(&Event::CheckFailures(failures));
            }
            Event::Reading(reading) => self.read(number, reading.values),
            Event::Target { .. } | Event::Warning(_) | Event::Records(_) => self.gather.tell(&event),
            Event::Finished(finish) => self.finished(number, finish.error),
            Event::Started { .. } | Event::Stage { .. } | Event::Lost(_) => {}
        }
    }

    fn hand(&mut self, source: Source, mut snapshot: Snapshot) {
        let member = &mut self.members[source.worker];
        member.renumber(&mut snapshot);
        member.ledgers[source.population].add(&snapshot);
        self.gather.hand(source, snapshot);
    }

    /// A part hands over no more.
    fn over(&mut self, number: usize) {
        for population in 0..self.members[number].ledgers.len() {
            self.gather.over(Source { worker: number, population });
        }
    }

    /// A part has read itself. All do so at the same time: when the last one has, it is a reading of the whole.
    fn read(&mut self, number: usize, values: Vec<(String, f64)>) {
        self.gather.watch.take(number, values);
        let is_at_work = |m: &Member| matches!(m.state, State::SettingUp | State::Ready(_));
        if self.gather.watch.is_round_over(|number| is_at_work(&self.members[number])) {
            self.gather.read_ourselves();
        }
    }

    fn finished(&mut self, number: usize, error: Option<String>) {
        self.members[number].state = State::Finished;
        self.over(number);
        if let Some(why) = error {
            self.give_up(why);
        }
    }

    /// The load begins when all parts that are there are ready.
    fn go(&mut self) {
        let there = self.members.iter().filter(|m| m.state != State::Gone);
        let ready: Option<Vec<Tick>> =
            there.map(|m| if let State::Ready(at) = m.state { Some(at) } else { None }).collect();
        let last = ready.and_then(|all| all.into_iter().max());
        if let (None, false, Some(last)) = (self.begins, self.said.stop, last) {
            let begins = self.clock.now().max(last) + AHEAD;
            self.begins = Some(begins);
            (self.tell)(PartCommand::Go(begins));
        }
    }

    /// There will be no load.
    fn give_up(&mut self, why: String) {
        self.gather.fatal(why);
        if self.begins.is_none() && !std::mem::replace(&mut self.said.stop, true) {
            (self.tell)(PartCommand::Stop(Tick::ZERO));
        }
    }

    fn gone(&mut self, number: usize, why: Option<String>) {
        let before = std::mem::replace(&mut self.members[number].state, State::Gone);
        match (before, why) {
            (State::Gone, _) | (State::Finished, None) => {}
            (State::Finished, Some(why)) => self.failed = Some(self.members[number].told(&why)),
            (_, why) => self.lost(number, &why.unwrap_or_else(|| "without a word".into())),
        }
    }

    /// A part ended before its time.
    fn lost(&mut self, number: usize, why: &str) {
        let member = &self.members[number];
        let to = member.ledgers.iter().map(Ledger::to).max();
        let at = to.max(self.begins).unwrap_or_default();
        let text = format!(
            "{}: from {:.1} s on its share of the load is missing, and what it had under way counts as cut",
            member.told(why),
            at.seconds()
        );
        let part = member.part;
        let closing: Vec<Option<Snapshot>> = member.ledgers.iter().map(Ledger::closing).collect();
        self.gather.tell(&Event::Lost(Loss { at, part }));
        self.gather.warn(at, &text);
        for (population, closing) in closing.into_iter().enumerate() {
            if let Some(closing) = closing {
                self.gather.hand(Source { worker: number, population }, closing);
            }
        }
        self.over(number);
        if self.members.iter().all(|m| m.state == State::Gone) && self.begins.is_none() {
            self.gather.fatal("all processes ended before the load began".into());
        }
    }

    /// What was said to the run is said to its parts.
    fn pass_on(&mut self, control: &Control) {
        let (soon, later) = (self.border(AHEAD), self.border(AHEAD + self.plan.record.interval * 2));
        if control.is_stopped() && !std::mem::replace(&mut self.said.stop, true) {
            (self.tell)(PartCommand::Stop(soon));
        } else if control.is_over() && !std::mem::replace(&mut self.said.enough, true) {
            (self.tell)(PartCommand::Enough(soon));
        }
        if control.is_steady() && !std::mem::replace(&mut self.said.steady, true) {
            (self.tell)(PartCommand::Steady(later));
        }
    }

    /// The end of the interval that lasts this long from now.
    fn border(&self, ahead: Duration) -> Tick {
        let Some(begins) = self.begins else { return Tick::ZERO };
        let interval = nanos(self.plan.record.interval).max(1_000_000);
        let at = self.clock.now().max(self.gather.seen_to()) + ahead;
        Tick(begins.0 + (at.nanos_since(begins) / interval + 1) * interval)
    }
}

impl Member {
    fn new(part: Part, populations: usize) -> Self {
        let ledgers = (0..populations).map(|_| Ledger::default()).collect();
        Self { part, state: State::SettingUp, labels: HashMap::new(), ledgers }
    }

    fn told(&self, why: &str) -> String {
        format!("process {} of {} ended before its time ({why})", self.part.number + 1, self.part.of)
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
