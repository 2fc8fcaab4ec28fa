//! The connection to one agent: a thread that writes messages and reads the agent's clock, and a
//! thread that reads its messages.
//!
//! Two threads for each agent, so that an agent that does not read or write delays neither the
//! others nor the controller.

use super::clock::ClockEstimate;
use brunt_engine::RunEpoch;
use brunt_model::agent::AgentCheck;
use brunt_model::agent::{
    AgentMessage, AgentReport, CheckRequest, ControllerMessage, ControllerRequest,
    PROTOCOL_VERSION, RunNumber,
};
use brunt_model::codec::{read_agent_message, write_controller_message};
use brunt_model::reading_names::{LINK, link};
use brunt_model::sync::IgnorePoison;
use brunt_model::{
    AgentEnvironment, AgentFacts, Clock, ClockOffset, Event, ProcessMessage, Reading, Route,
};
use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Interval at which the agent's clock is read. Each reading also renews the agent's lease.
const CLOCK_INTERVAL: Duration = Duration::from_millis(200);

/// Interval between two readings of the link itself, in nanoseconds.
const READING_INTERVAL: u64 = 1_000_000_000;

/// What an agent sent, or that its connection has closed.
#[derive(Debug)]
pub enum LinkEvent {
    /// A message of a run.
    Report(RunNumber, AgentReport),
    /// The connection has closed, for this reason. Nothing follows.
    Closed(String),
}

/// Channel of events from all agents, with the number of the agent.
pub type FleetInbox = SyncSender<(usize, LinkEvent)>;

/// The pipes of a started agent, and the way to learn why it ended.
pub struct AgentPipes {
    /// Messages to the agent.
    pub input: Box<dyn Write + Send>,
    /// Messages from the agent.
    pub output: Box<dyn Read + Send>,
    /// Waits for the end of the agent's process, and returns the reason.
    pub reason: Box<dyn FnOnce() -> String + Send>,
    /// Ends the process on this machine that the pipes lead to, if there is one.
    pub kill: Box<dyn FnOnce() + Send>,
}

/// Connection to one agent. Another process may take the agent's place.
pub struct AgentLink {
    /// Name of the agent.
    pub name: String,
    /// Its group, if its place determines it.
    pub group: Option<String>,
    /// Number of the agent, from 0.
    number: usize,
    connection: Mutex<Connection>,
}

/// The pipes to a process, and the facts about it.
struct Connection {
    sender: Sender<ControllerMessage>,
    shared: Arc<SharedState>,
    /// None once it was called.
    kill: Option<Box<dyn FnOnce() + Send>>,
}

/// State of a link that its threads share, and the sign that it has changed.
#[derive(Default)]
struct SharedState {
    state: Mutex<LinkState>,
    changed: Condvar,
}

/// State of a link.
#[derive(Default)]
pub struct LinkState {
    /// Facts about the agent; None until it has sent them.
    pub facts: Option<AgentFacts>,
    clock: ClockEstimate,
    /// When the clock readings were requested that have no answer yet.
    requested: VecDeque<u64>,
    run: CurrentRun,
    /// Result of the last check; None while it is in progress.
    pub check: Option<AgentCheck>,
    /// Why the connection has closed; None while it is open.
    pub closed: Option<String>,
    /// Number of checks since the last message of the agent.
    silent_checks: u32,
}

/// The run in progress, as far as the link needs it.
#[derive(Default, Clone, Copy)]
struct CurrentRun {
    number: RunNumber,
    /// Start of the run; None: no run is in progress.
    epoch: Option<u64>,
}

impl AgentLink {
    /// Starts the threads of an agent.
    pub fn start(
        number: usize,
        name: String,
        group: Option<String>,
        pipes: AgentPipes,
        inbox: FleetInbox,
    ) -> io::Result<Self> {
        let connection = Mutex::new(Connection::start(number, pipes, inbox)?);
        Ok(Self { name, group, number, connection })
    }

    /// Connects to a process that takes the place of the agent. The facts about the lost agent are dropped.
    pub fn replace(&self, pipes: AgentPipes, inbox: FleetInbox) -> io::Result<()> {
        *self.connection.lock().ignore_poison() = Connection::start(self.number, pipes, inbox)?;
        Ok(())
    }

    fn shared(&self) -> Arc<SharedState> {
        Arc::clone(&self.connection.lock().ignore_poison().shared)
    }

    /// Reads or changes the state of the connection to the present process.
    fn with_state<T>(&self, access: impl FnOnce(&mut LinkState) -> T) -> T {
        access(&mut self.shared().lock())
    }

    /// Waits until the state fulfills a condition, or the connection has closed, at most until this instant of the
    /// monotonic clock. Returns false if neither came in time.
    pub fn wait_until(&self, deadline: u64, is_met: impl Fn(&LinkState) -> bool) -> bool {
        let shared = self.shared();
        let mut state = shared.lock();
        while !is_met(&state) && state.closed.is_none() {
            let rest = deadline.saturating_sub(RunEpoch::now().nanos());
            if rest == 0 {
                return false;
            }
            let wait = Duration::from_nanos(rest);
            state = shared.changed.wait_timeout(state, wait).ignore_poison().0;
        }
        true
    }

    /// Sends a request of this run. An agent that has ended gets nothing; its reader reports the end.
    pub fn send(&self, run: RunNumber, request: ControllerRequest) {
        _ = self.connection.lock().ignore_poison().sender.send(ControllerMessage { run, request });
    }

    /// Facts about the agent; None until it has sent them.
    pub fn facts(&self) -> Option<AgentFacts> {
        self.with_state(|state| state.facts.clone())
    }

    /// Asks the agent for the way to the server.
    pub fn ask(&self, request: CheckRequest) {
        self.with_state(|state| state.check = None);
        self.send(RunNumber(0), ControllerRequest::Check(Box::new(request)));
    }

    /// Result of the last check; None while it is in progress.
    pub fn check(&self) -> Option<AgentCheck> {
        self.with_state(|state| state.check.clone())
    }

    /// Sets the route to the server, for an agent of this machine.
    pub fn set_route(&self, route: Option<Route>) {
        self.with_state(|state| state.check = Some(AgentCheck { route, ..AgentCheck::default() }));
    }

    /// Returns why the connection has closed; None while it is open.
    pub fn closed(&self) -> Option<String> {
        self.with_state(|state| state.closed.clone())
    }

    /// Counts a check whether the agent still sends messages. Returns the number of checks since its last message.
    pub fn count_silent_check(&self) -> u32 {
        self.with_state(|state| {
            let checks = state.silent_checks;
            state.silent_checks += 1;
            checks
        })
    }

    /// Closes the connection to an agent that sends nothing any more. Returns false if it has closed before.
    pub fn give_up(&self, reason: &str) -> bool {
        let mut connection = self.connection.lock().ignore_poison();
        let is_open = connection.shared.close(reason);
        if let Some(kill) = connection.kill.take().filter(|_| is_open) {
            kill();
        }
        is_open
    }

    /// Requests another reading of the agent's clock.
    pub fn read_clock(&self, run: RunNumber) {
        // The writer replaces the instant by that of writing.
        self.send(run, ControllerRequest::ReadClock(0));
    }

    /// Chooses the offset of the agent's clock from the readings so far.
    pub fn choose_offset(&self) {
        self.with_state(|state| state.clock.begin_run(RunEpoch::now().nanos()));
    }

    /// Longest of the last round trips.
    pub fn longest_round_trip(&self) -> Duration {
        Duration::from_nanos(self.with_state(|state| state.clock.longest_round_trip()))
    }

    /// Begins a run that started at this instant of the controller's clock. Returns the start on the
    /// agent's clock.
    pub fn begin_run(&self, number: RunNumber, epoch: u64) -> u64 {
        self.with_state(|state| {
            state.run = CurrentRun { number, epoch: Some(epoch) };
            let now = RunEpoch::now().nanos();
            state.clock.begin_run(now);
            epoch.saturating_add_signed(state.clock.offset(now).offset_nanos)
        })
    }

    /// Continues a run of another controller, which chose this offset of the agent's clock.
    pub fn go_on(&self, number: RunNumber, epoch: u64, offset_nanos: i64) {
        self.with_state(|state| {
            state.run = CurrentRun { number, epoch: Some(epoch) };
            state.clock.go_on(offset_nanos);
        });
    }

    /// Ends the run: the link sends no more readings.
    pub fn end_run(&self) {
        self.with_state(|state| state.run.epoch = None);
    }

    /// Offset of the agent's clock, with its error.
    pub fn clock(&self) -> ClockOffset {
        self.with_state(|state| state.clock.offset(RunEpoch::now().nanos()))
    }

    /// Returns the agent as the environment of a run describes it.
    pub fn environment(&self) -> AgentEnvironment {
        AgentEnvironment {
            name: self.name.clone(),
            group: None,
            facts: self.facts().unwrap_or_default(),
            clock: self.clock(),
            route: self.check().and_then(|check| check.route),
        }
    }
}

impl Connection {
    fn start(number: usize, pipes: AgentPipes, inbox: FleetInbox) -> io::Result<Self> {
        let shared = Arc::new(SharedState::default());
        let (sender, messages) = channel();
        let AgentPipes { input, output, reason, kill } = pipes;
        let of_writer = Arc::clone(&shared);
        let writer = thread::Builder::new().name(format!("brunt-to-{number}"));
        writer.spawn(move || of_writer.write_messages(input, &messages))?;
        let of_reader = Arc::clone(&shared);
        let reader = thread::Builder::new().name(format!("brunt-from-{number}"));
        reader.spawn(move || {
            let error = of_reader.read_messages(output, number, &inbox);
            let reason = error.unwrap_or_else(reason);
            if of_reader.close(&reason) {
                _ = inbox.send((number, LinkEvent::Closed(reason)));
            }
        })?;
        Ok(Self { sender, shared, kill: Some(kill) })
    }
}

impl SharedState {
    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().ignore_poison()
    }

    /// Changes the state, and wakes those that wait for a change.
    fn change(&self, change: impl FnOnce(&mut LinkState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Notes why the connection has closed. Returns false if that was known before.
    fn close(&self, reason: &str) -> bool {
        let mut is_open = false;
        self.change(|state| {
            is_open = state.closed.is_none();
            state.closed.get_or_insert_with(|| reason.to_owned());
        });
        is_open
    }

    /// Writes messages, and reads the clock at its interval, until the sender is dropped.
    fn write_messages(&self, mut input: impl Write, messages: &Receiver<ControllerMessage>) {
        loop {
            let mut message = match messages.recv_timeout(CLOCK_INTERVAL) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => ControllerMessage {
                    run: self.lock().run.number,
                    request: ControllerRequest::ReadClock(0),
                },
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if let ControllerRequest::ReadClock(sent) = &mut message.request {
                *sent = RunEpoch::now().nanos();
                self.lock().requested.push_back(*sent);
            }
            // The reader reports the end of the agent.
            if write_controller_message(&mut input, &message).is_err() {
                return;
            }
        }
    }

    /// Reads messages until the agent ends. Returns the reason if the agent stated it.
    fn read_messages(
        &self,
        output: impl Read,
        number: usize,
        inbox: &FleetInbox,
    ) -> Option<String> {
        let mut input = CountedReader { input: BufReader::new(output), bytes: 0 };
        let mut last_reading = RunEpoch::now().nanos();
        let mut counted = 0;
        // An incomplete message is the end of the output of an agent that died.
        while let Some(AgentMessage { run, report }) = read_agent_message(&mut input) {
            let now = RunEpoch::now().nanos();
            self.lock().silent_checks = 0;
            match report {
                AgentReport::Clock(reading) => {
                    self.change(|state| {
                        if state.has_requested(reading.sent) {
                            state.clock.add(reading, now);
                        }
                    });
                }
                AgentReport::Checked(check) => self.change(|state| state.check = Some(*check)),
                AgentReport::Hello(protocol, facts) => {
                    if let Some(refusal) = version_refusal(protocol, &facts) {
                        return Some(refusal);
                    }
                    self.change(|state| {
                        state.clock = ClockEstimate::new(is_clock_of_this_process(&facts));
                        state.facts = Some(*facts);
                    });
                }
                AgentReport::Gone(reason) => return Some(reason),
                report => {
                    if inbox.send((number, LinkEvent::Report(run, report))).is_err() {
                        return None;
                    }
                }
            }
            if now >= last_reading + READING_INTERVAL {
                let seconds = (now - last_reading) as f64 / 1e9;
                let rate = (input.bytes - counted) as f64 / seconds;
                last_reading = now;
                counted = input.bytes;
                if let Some((run, reading)) = self.lock().reading(now, rate) {
                    let event = ProcessMessage::Event(Event::Reading(reading));
                    let event = LinkEvent::Report(run, AgentReport::Part(event));
                    if inbox.send((number, event)).is_err() {
                        return None;
                    }
                }
            }
        }
        None
    }
}

impl LinkState {
    /// Number of clock readings so far, up to a limit.
    pub fn clock_readings(&self) -> usize {
        self.clock.readings()
    }

    /// True if this process has requested a clock reading at this instant. Messages for an earlier controller are
    /// repeated to its successor.
    fn has_requested(&mut self, sent: u64) -> bool {
        let place = self.requested.iter().position(|instant| *instant == sent);
        // Answers have the order of the requests.
        place.is_some_and(|place| self.requested.drain(..=place).count() > 0)
    }

    /// Returns a reading of the link: its clock and its rate. None if no run is in progress, or the clock was
    /// not read yet.
    fn reading(&self, now: u64, bytes_per_second: f64) -> Option<(RunNumber, Reading)> {
        let CurrentRun { number, epoch } = self.run;
        let at = RunEpoch::Real(epoch?).now();
        let clock = (self.clock.readings() > 0).then(|| self.clock.offset(now))?;
        let values = vec![
            (link::CLOCK_OFFSET.to_owned(), clock.offset_nanos as f64 / 1e9),
            (link::CLOCK_ERROR.to_owned(), clock.error_nanos as f64 / 1e9),
            (link::ROUND_TRIP.to_owned(), clock.round_trip_nanos as f64 / 1e9),
            (link::BYTES.to_owned(), bytes_per_second),
        ];
        Some((number, Reading { at, source: LINK.to_owned(), values }))
    }
}

/// Returns why an agent of this version cannot be used; None if it can.
fn version_refusal(protocol: u32, facts: &AgentFacts) -> Option<String> {
    let own = brunt_model::fleet::VERSION;
    let is_same = protocol == PROTOCOL_VERSION && facts.brunt == own;
    (!is_same).then(|| {
        format!(
            "it is brunt {} with messages of version {protocol}, and this is brunt {own} with version {PROTOCOL_VERSION}; \
             install the same version on both",
            facts.brunt
        )
    })
}

/// True if the agent reads the same monotonic clock as this process.
fn is_clock_of_this_process(facts: &AgentFacts) -> bool {
    !facts.clock.is_empty() && facts.clock == brunt_probe::machine::clock_identity()
}

/// Counts the bytes that are read.
struct CountedReader<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::codec::write_agent_message;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::sync_channel;

    /// Returns the pipes of an agent, its end of them, and whether it was killed.
    fn agent() -> (AgentPipes, UnixStream, Arc<AtomicBool>) {
        let (own, other) = UnixStream::pair().unwrap();
        let is_killed = Arc::<AtomicBool>::default();
        let killed = Arc::clone(&is_killed);
        let pipes = AgentPipes {
            input: Box::new(own.try_clone().unwrap()),
            output: Box::new(own),
            reason: Box::new(|| "it ended".into()),
            kill: Box::new(move || killed.store(true, Ordering::Relaxed)),
        };
        (pipes, other, is_killed)
    }

    fn say_hello(agent: &mut UnixStream, link: &AgentLink) {
        let facts =
            AgentFacts { brunt: brunt_model::fleet::VERSION.into(), ..AgentFacts::default() };
        let report = AgentReport::Hello(PROTOCOL_VERSION, Box::new(facts));
        write_agent_message(agent, &AgentMessage { run: RunNumber(0), report }).unwrap();
        let deadline = RunEpoch::now().nanos() + 10_000_000_000;
        assert!(link.wait_until(deadline, |state| state.facts.is_some()));
    }

    #[test]
    fn checks_are_counted_since_the_last_message() {
        let (inbox, events) = sync_channel(8);
        let (pipes, mut first, is_killed) = agent();
        let link = AgentLink::start(0, "a".into(), None, pipes, inbox.clone()).unwrap();
        assert_eq!([(); 3].map(|()| link.count_silent_check()), [0, 1, 2]);
        say_hello(&mut first, &link);
        assert_eq!([(); 2].map(|()| link.count_silent_check()), [0, 1]);

        assert!(link.give_up("silent") && is_killed.load(Ordering::Relaxed));
        assert_eq!(link.closed().as_deref(), Some("silent"));
        // The end of the process is no news, and the checks of a process in its place begin at zero.
        drop(first);
        assert!(!link.give_up("silent again"));
        let (pipes, mut second, _) = agent();
        link.replace(pipes, inbox).unwrap();
        say_hello(&mut second, &link);
        assert_eq!((link.count_silent_check(), link.closed()), (0, None));
        assert!(events.try_recv().is_err(), "the caller of `give_up` reports the end");
    }
}
