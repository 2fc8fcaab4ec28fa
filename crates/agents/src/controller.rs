//! Runs a plan on several agents: processes of this machine, or of others through ssh.
//!
//! A process of this machine is an agent, too: the number of open files of one process is limited, so
//! a run may need several. An agent is `brunt worker` ([`crate::agent`]), an internal command. It receives
//! its share of a plan through a pipe, and sends its events back. `engine::parts` merges them.
//!
//! * `link`: the connection to one agent.
//! * `local`, `ssh`: how agents are started.
//! * `clock`: the offset of an agent's clock.
//! * `inbox`: the messages of all agents during a run.
//! * `joint_steps`: steps whose users must be in one process.
//! * `replacement`: processes that take the place of lost agents.
//! * `files`: the files of a plan that agents need.
//! * `consent`: hosts that consent to be loaded.
//!
//! Agents stay between runs, so an experiment starts them once. If the controller dies during a single run,
//! another process can take its place ([`Fleet::go_on`]): the agents' messages are repeated to it from the
//! start. If an agent is lost, another process may take its place ([`Carrier::replacement`]); until then, its share
//! is missing. Out of scope: a share that moves to another agent.

pub(crate) mod clock;
mod consent;
mod files;
mod inbox;
mod joint_steps;
mod link;
mod local;
mod replacement;
pub mod ssh;

use crate::FleetError;
use brunt_engine::parts::{BegunRun, DistributedRun, Recipients, WorkerChannels, join};
use brunt_engine::{RunControl, RunEpoch, Sink};
use brunt_generator::GeneratorError;
use brunt_model::agent::{
    AgentCheck, AgentCheckDepth, Assignment, CheckRequest, ControllerRequest, RunEnd, RunNumber,
    split_secrets,
};
use brunt_model::numbers::count;
use brunt_model::part::check_placement;
use brunt_model::sync::IgnorePoison;
use brunt_model::{
    AgentEnvironment, Environment, FleetSettings, Load, PartCommand, Placement, Plan, ProcessPart,
    ProcessShares, Route, Tick,
};
use brunt_spec::defaults::RESERVED_DESCRIPTORS;
use brunt_store::Redactor;
use inbox::{CHECK_INTERVAL, RunInbox};
pub use link::AgentPipes;
use link::{AgentLink, FleetInbox, LinkEvent};
use ssh::AgentProgram;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Maximum number of messages that were read and not yet processed.
const MAX_UNREAD: usize = 64;

/// Time within which an agent must have stated its version after its start.
const HELLO_WAIT: Duration = Duration::from_secs(20);

/// Clock readings of each agent before the first run, and the pause between two.
const FIRST_READINGS: usize = 40;
const READING_PAUSE: Duration = Duration::from_millis(4);

/// Maximum wait for these readings.
const READINGS_WAIT: Duration = Duration::from_secs(2);

/// Maximum wait for the routes of agents.
const ROUTE_WAIT: Duration = Duration::from_secs(5);

/// Maximum wait for the checks of agents, which include a load of a second.
const CHECK_WAIT: Duration = Duration::from_secs(30);

/// Interval at which the carrier is asked for processes in the place of lost agents.
const REPLACEMENT_INTERVAL: Duration = Duration::from_millis(100);

/// Started agents, which carry out one run after the other.
pub struct Fleet {
    links: Vec<AgentLink>,
    inbox: Mutex<Receiver<(usize, LinkEvent)>>,
    /// Number of the last run.
    last_run: Mutex<RunNumber>,
    redactor: Arc<Redactor>,
    /// Id of the run in the store, if it is to be kept.
    kept_as: Mutex<Option<String>>,
    /// Sends to `inbox`, for processes that take the place of lost agents; None without a carrier.
    new_links: Option<FleetInbox>,
    /// Processes that wait for the places of lost agents.
    newcomers: Mutex<Vec<StartedAgent>>,
    /// Carries the messages of the links, which are dropped first.
    carrier: Option<Box<dyn Carrier>>,
}

/// Carries the messages of agents, and may keep them for a process that takes the controller's place.
pub trait Carrier: Send + Sync {
    /// Keeps what such a process must know of the run that begins: its id in the store, its number, and the
    /// secrets that are redacted in its results.
    ///
    /// # Errors
    ///
    /// The disk cannot be written.
    fn keep_run(&self, id: &str, number: RunNumber, secrets: &[String]) -> io::Result<()>;

    /// Returns a process that takes the place of a lost agent and has its name. The lost agent loads nothing any
    /// more. None: there is none now.
    fn replacement(&self) -> Option<StartedAgent>;
}

/// An agent that was started, or why that failed.
pub struct StartedAgent {
    /// Name of the agent.
    pub name: String,
    /// Its group, if its place determines it.
    pub group: Option<String>,
    /// Its byte streams, or the reason why it has none.
    pub pipes: Result<AgentPipes, String>,
}

/// A run on agents.
#[derive(Clone)]
pub struct FleetRun<'a> {
    /// Plan of the whole run.
    pub plan: &'a Plan,
    /// Start of the run on the clock of this process.
    pub epoch: RunEpoch,
    /// Names of labels that are known before the run.
    pub labels: Vec<String>,
    /// Files that the scripts of the plan read.
    pub script_files: Vec<PathBuf>,
}

impl Fleet {
    /// Starts agents, and measures the offsets of their clocks. `programs` are brunt for other
    /// architectures than this one.
    ///
    /// # Errors
    ///
    /// An agent cannot be started, or has another version.
    pub fn start(
        on: &Placement,
        programs: &[PathBuf],
        redactor: Arc<Redactor>,
    ) -> Result<Self, FleetError> {
        let agents = match on {
            Placement::Local(_) => local_agents(on.agent_names().into_iter().flatten()),
            Placement::Ssh(hosts) => start_through_ssh(hosts, &read_programs(programs)?),
            Placement::Kubernetes(_) | Placement::Nats(_) => {
                return Err(FleetError::NoCarrier(on.to_string()));
            }
        };
        Self::connect(agents, None, redactor)
    }

    /// Starts processes of this machine for one run.
    fn of_processes(count: u32, redactor: Arc<Redactor>) -> Result<Self, FleetError> {
        let names = (1..=count).map(|number| format!("process {number} of {count}"));
        Self::connect(local_agents(names), None, redactor)
    }

    /// Connects to started agents, and measures the offsets of their clocks. `carrier` carries their
    /// messages, and is dropped after the connections.
    ///
    /// # Errors
    ///
    /// An agent was not started, or has another version.
    pub fn connect(
        agents: Vec<StartedAgent>,
        carrier: Option<Box<dyn Carrier>>,
        redactor: Arc<Redactor>,
    ) -> Result<Self, FleetError> {
        let fleet = Self::link(agents, carrier, redactor)?;
        let failed = await_hello(&fleet.links);
        if !failed.is_empty() {
            return Err(FleetError::Agents(failed));
        }
        read_clocks(&fleet.links);
        Ok(fleet)
    }

    /// Connects to agents that carry out a run of a controller that has died. Their messages are repeated from
    /// the start, and read during [`go_on`](Self::go_on).
    pub fn reconnect(
        agents: Vec<StartedAgent>,
        carrier: Box<dyn Carrier>,
        redactor: Arc<Redactor>,
    ) -> Result<Self, FleetError> {
        Self::link(agents, Some(carrier), redactor)
    }

    fn link(
        agents: Vec<StartedAgent>,
        carrier: Option<Box<dyn Carrier>>,
        redactor: Arc<Redactor>,
    ) -> Result<Self, FleetError> {
        // Bounded: a slow controller slows down the pipes instead of filling memory.
        let (out, inbox) = sync_channel(MAX_UNREAD);
        let mut links = Vec::new();
        let mut failed = Vec::new();
        for StartedAgent { name, group, pipes } in agents {
            match pipes {
                Ok(pipes) => links.push(
                    AgentLink::start(links.len(), name, group, pipes, SyncSender::clone(&out))
                        .map_err(FleetError::Thread)?,
                ),
                Err(why) => failed.push((name, why)),
            }
        }
        if !failed.is_empty() {
            return Err(FleetError::Agents(failed));
        }
        // Without a carrier only the readers hold senders, so the inbox closes when all agents have ended.
        let new_links = carrier.is_some().then_some(out);
        let inbox = Mutex::new(inbox);
        Ok(Self {
            links,
            inbox,
            last_run: Mutex::default(),
            redactor,
            kept_as: Mutex::default(),
            new_links,
            newcomers: Mutex::default(),
            carrier,
        })
    }

    /// Keeps the next run for a process that takes this one's place. `id` is its id in the store.
    pub fn keep_run(&self, id: &str) {
        *self.kept_as.lock().ignore_poison() = Some(id.to_owned());
    }

    fn inbox(&self) -> MutexGuard<'_, Receiver<(usize, LinkEvent)>> {
        self.inbox.lock().ignore_poison()
    }

    /// Returns the agents with their machines and clocks.
    pub fn environments(&self) -> Vec<AgentEnvironment> {
        self.links.iter().map(AgentLink::environment).collect()
    }

    /// Carries out a plan, and returns the end of the run on the first agent, unless it was lost.
    ///
    /// # Errors
    ///
    /// A file of the plan cannot be read, the plan cannot be encoded, or an agent cannot carry it out.
    pub fn run(
        &self,
        run: &FleetRun<'_>,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<Option<RunEnd>, FleetError> {
        let cluster = run.plan.fleet.as_ref().and_then(|fleet| fleet.cluster.as_ref());
        if let Some(cluster) = cluster.filter(|cluster| cluster.replace_lost) {
            self.await_replacements(cluster.start_deadline);
        }
        self.check_open()?;
        let groups = self.groups(run.plan)?;
        self.check_limits(run.plan, &groups)?;
        let plan = consent::with_consenting_hosts(run.plan)?;
        let run = &FleetRun { plan: &plan, ..run.clone() };
        let number = self.next_run();
        self.find_routes(run.plan, environment.route.as_ref())?;
        let kept_as = self.kept_as.lock().ignore_poison().take();
        if let (Some(carrier), Some(id)) = (&self.carrier, kept_as) {
            // A full disk is reported with the log of the run.
            _ = carrier.keep_run(&id, number, &self.redactor.secrets());
        }
        self.assign(number, run, &groups, Recipients::All)?;
        // Processes of this machine form one generator. Each agent is reported separately.
        let mut agents = Vec::new();
        if run.plan.fleet.is_some() {
            agents = self.environments();
            for (agent, group) in agents.iter_mut().zip(&groups) {
                agent.group = group.map(str::to_owned);
            }
        }
        let environment = Environment { agents, ..environment };
        self.join_parts(number, run, None, environment, control, sink)
    }

    /// Continues a run of another controller, on agents that were
    /// [reconnected](Self::reconnect).
    ///
    /// # Errors
    ///
    /// A part of the run has failed.
    pub fn go_on(
        &self,
        number: RunNumber,
        run: &FleetRun<'_>,
        begun: BegunRun,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<(), FleetError> {
        *self.last_run.lock().ignore_poison() = number;
        // The first message of each agent is repeated first. Agents that have ended count as lost.
        await_hello(&self.links);
        for (link, agent) in self.links.iter().zip(&environment.agents) {
            link.go_on(number, run.epoch.nanos(), agent.clock.offset_nanos);
        }
        self.join_parts(number, run, Some(begun), environment, control, sink)?;
        Ok(())
    }

    /// Merges the parts of a run until all have ended. Returns the end of the run on the first agent, unless it was
    /// lost.
    fn join_parts(
        &self,
        number: RunNumber,
        run: &FleetRun<'_>,
        begun: Option<BegunRun>,
        environment: Environment,
        control: &RunControl,
        sink: &mut dyn Sink,
    ) -> Result<Option<RunEnd>, FleetError> {
        let is_fleet = run.plan.fleet.is_some();
        let replaces_lost = run.plan.fleet.as_ref().is_some_and(FleetSettings::replaces_lost);
        let names: Vec<String> = self.links.iter().map(|link| link.name.clone()).collect();
        let parts = ProcessPart::all(run.plan).count();
        let all_ends: Mutex<Vec<(usize, RunEnd)>> = Mutex::default();
        let is_over = &AtomicBool::new(false);
        let (out, events) = sync_channel(MAX_UNREAD);
        let outcome = thread::scope(|scope| {
            let mut inbox = RunInbox {
                fleet: self,
                number,
                running: (0..parts).collect(),
                ends: &all_ends,
                out,
                control,
                next_check: 0,
            };
            scope.spawn(move || {
                if !replaces_lost {
                    return while !inbox.running.is_empty()
                        && inbox.pass_on(CHECK_INTERVAL).is_some()
                    {};
                }
                while !is_over.load(Ordering::Relaxed)
                    && inbox.pass_on(REPLACEMENT_INTERVAL).is_some()
                {
                    // The end of the lost agent is passed on first.
                    if let Some(agent) = self.replace_lost(|agent| inbox.running.contains(&agent)) {
                        inbox.running.insert(agent);
                        scope.spawn(move || self.assign_again(agent, number, run, is_over));
                    }
                }
            });
            let mut channels = WorkerChannels {
                inbox: &events,
                send: &mut |recipients: Recipients, command: PartCommand| {
                    for (part, link) in self.links[..parts].iter().enumerate() {
                        if recipients.contain(part) {
                            link.send(number, ControllerRequest::Command(command));
                        }
                    }
                },
            };
            let distributed_run = DistributedRun {
                plan: run.plan,
                epoch: run.epoch,
                labels: run.labels.clone(),
                agents: if is_fleet { names } else { Vec::new() },
                delivery: self.delivery(),
                begun,
            };
            let outcome = join(&distributed_run, environment, &mut channels, control, sink);
            is_over.store(true, Ordering::Relaxed);
            // The thread of the inbox ends if it waits for room in the channel.
            drop(events);
            outcome
        });
        if replaces_lost {
            // A replacement that came too late still waits for its begin.
            let stop = PartCommand::Stop(Tick::ZERO);
            self.links.iter().for_each(|l| l.send(number, ControllerRequest::Command(stop)));
        }
        self.links.iter().for_each(AgentLink::end_run);
        outcome.map_err(GeneratorError::from)?;
        let ends = all_ends.into_inner().ignore_poison();
        Ok(ends.into_iter().find(|(agent, _)| *agent == 0).map(|(_, end)| end))
    }

    /// Checks that no agent has ended since the last run.
    fn check_open(&self) -> Result<(), FleetError> {
        let closed = self.links.iter().find_map(|link| Some((link.name.clone(), link.closed()?)));
        closed.map_or(Ok(()), |(name, why)| Err(FleetError::AgentGone { name, why }))
    }

    /// Returns the group of each agent.
    fn groups<'a>(&'a self, plan: &'a Plan) -> Result<Vec<Option<&'a str>>, FleetError> {
        let Some(fleet) = &plan.fleet else { return Ok(vec![None; self.links.len()]) };
        let names: Vec<String> = self.links.iter().map(|link| link.name.clone()).collect();
        fleet.check_groups(&names).map_err(FleetError::AgentGroup)?;
        let mut groups = fleet.groups_of(&names);
        if fleet.by_zone {
            groups = self.links.iter().map(|link| link.group.as_deref()).collect();
        }
        check_placement(plan, &names, &groups).map_err(FleetError::AgentGroup)?;
        Ok(groups)
    }

    /// Checks that each agent may open as many files as its share of the connections needs.
    fn check_limits(&self, plan: &Plan, groups: &[Option<&str>]) -> Result<(), FleetError> {
        let most = plan.populations.iter().map(|one| one.load.most_connections().unwrap_or(0));
        let most: Vec<u64> = most.collect();
        let connections: u64 = most.iter().sum();
        for (link, shares) in self.links.iter().zip(ProcessShares::all(plan, groups)) {
            let parts = shares.populations.iter().zip(&most);
            let own = parts.filter_map(|(part, most)| Some((*part)?.share(*most)));
            let needed = own.sum::<u64>() + RESERVED_DESCRIPTORS;
            let limit = link.facts().map_or(u64::MAX, |facts| facts.descriptors);
            if limit < needed {
                return Err(FleetError::AgentLimit(format!(
                    "agent {} may open {} files (the hard limit), and its share of {} connections needs {}; raise the limit there \
                     (ulimit -Hn), or use more agents",
                    link.name,
                    count(limit),
                    count(connections),
                    count(needed)
                )));
            }
        }
        Ok(())
    }

    fn next_run(&self) -> RunNumber {
        let mut last = self.last_run.lock().ignore_poison();
        last.0 += 1;
        *last
    }

    /// Has each agent check the way to the server and the load that one of its cores carries.
    /// Returns the results in the order of the agents: None for an agent that did not answer.
    pub fn check(&self, plan: &Plan) -> Result<Vec<Option<AgentCheck>>, FleetError> {
        let plan = consent::with_consenting_hosts(plan)?;
        self.ask(&plan, AgentCheckDepth::All, CHECK_WAIT)?;
        Ok(self.links.iter().map(AgentLink::check).collect())
    }

    /// Finds the route of each agent to the server. `own` is the route of this machine.
    fn find_routes(&self, plan: &Plan, own: Option<&Route>) -> Result<(), FleetError> {
        if plan.is_elsewhere() {
            return self.ask(plan, AgentCheckDepth::Route, ROUTE_WAIT);
        }
        for link in &self.links {
            link.set_route(own.cloned());
        }
        Ok(())
    }

    /// Asks all agents, and waits until they have answered or ended, at most for this time.
    fn ask(&self, plan: &Plan, depth: AgentCheckDepth, wait: Duration) -> Result<(), FleetError> {
        let mut redacted = plan.clone();
        self.redactor.plan(&mut redacted);
        let plan = serde_json::to_value(&redacted).map_err(FleetError::Encoding)?;
        let request = CheckRequest { plan, depth };
        for link in &self.links {
            link.ask(request.clone());
        }
        let deadline = deadline_after(wait);
        for link in &self.links {
            link.wait_until(deadline, |state| state.check.is_some());
        }
        Ok(())
    }

    /// Sends agents their shares: secrets, files, and the plan without its secrets.
    fn assign(
        &self,
        number: RunNumber,
        run: &FleetRun<'_>,
        groups: &[Option<&str>],
        recipients: Recipients,
    ) -> Result<(), FleetError> {
        let mut redacted = run.plan.clone();
        self.redactor.plan(&mut redacted);
        let (plan, secrets) = split_secrets(run.plan, &redacted).map_err(FleetError::Encoding)?;
        // Processes of this machine read the files themselves.
        let is_elsewhere = run.plan.is_elsewhere();
        let files =
            if is_elsewhere { files::of_plan(run.plan, &run.script_files)? } else { Vec::new() };
        let epoch = run.epoch.nanos();
        let all = self.links.iter().zip(ProcessShares::all(run.plan, groups)).enumerate();
        for (_, (link, shares)) in all.filter(|(agent, _)| recipients.contain(*agent)) {
            let epoch_nanos = link.begin_run(number, epoch);
            link.send(number, ControllerRequest::Secrets(secrets.clone()));
            for file in &files {
                link.send(number, ControllerRequest::File(file.clone()));
            }
            let fleet = run.plan.fleet.as_ref();
            let assignment = Assignment {
                plan: plan.clone(),
                shares,
                epoch_nanos,
                lease: fleet.map(|fleet| fleet.lease).filter(|lease| !lease.is_zero()),
                bytes_per_second: fleet.map_or(0, |fleet| fleet.bytes_per_second),
                route: link.check().and_then(|check| check.route),
            };
            link.send(number, ControllerRequest::Assign(Box::new(assignment)));
        }
        Ok(())
    }

    /// Time within which a command reaches each agent.
    fn delivery(&self) -> Duration {
        let round_trips = self.links.iter().map(AgentLink::longest_round_trip);
        round_trips.max().unwrap_or_default()
    }
}

/// Returns the instant of the monotonic clock after this time, in nanoseconds.
fn deadline_after(wait: Duration) -> u64 {
    RunEpoch::now().nanos() + wait.as_nanos() as u64
}

/// Waits until agents have stated their version. Returns those that did not, or that have ended, each with the
/// reason.
fn await_hello(links: &[AgentLink]) -> Vec<(String, String)> {
    let deadline = deadline_after(HELLO_WAIT);
    let mut failed = Vec::new();
    for link in links {
        let reason = if link.wait_until(deadline, |state| state.facts.is_some()) {
            link.closed()
        } else {
            Some(format!("no message within {} s", HELLO_WAIT.as_secs()))
        };
        failed.extend(reason.map(|reason| (link.name.clone(), reason)));
    }
    failed
}

/// Reads the clocks of agents many times.
fn read_clocks(links: &[AgentLink]) {
    for _ in 0..FIRST_READINGS {
        for link in links {
            link.read_clock(RunNumber(0));
        }
        thread::sleep(READING_PAUSE);
    }
    let deadline = deadline_after(READINGS_WAIT);
    for link in links {
        link.wait_until(deadline, |state| state.clock_readings() >= FIRST_READINGS / 2);
        link.choose_offset();
    }
}

/// Checks a plan for agents, so that an error shows before they start.
///
/// # Errors
///
/// A host may not be loaded, there are quiet agents and a closed loop, or lost agents of this plan cannot be
/// replaced.
pub fn check_plan(plan: &Plan) -> Result<(), FleetError> {
    consent::check_targets(plan)?;
    replacement::check_plan(plan)?;
    joint_steps::check_plan(plan)?;
    let has_quiet = plan.fleet.as_ref().is_some_and(|fleet| fleet.quiet > 0);
    let has_closed = plan.populations.iter().any(|one| matches!(one.load, Load::Closed { .. }));
    if has_quiet && has_closed {
        // In a closed loop, quiet agents would need other users with other waiting times.
        return Err(FleetError::AgentGroup(
            "--quiet-agents needs an open loop: write --rate, or `load: {rate: …}` in a plan file"
                .into(),
        ));
    }
    Ok(())
}

/// Carries out a plan in the number of processes that it specifies.
///
/// # Errors
///
/// No process can be started, or one fails.
pub fn run_processes(
    run: &FleetRun<'_>,
    environment: Environment,
    control: &RunControl,
    sink: &mut dyn Sink,
) -> Result<(), FleetError> {
    joint_steps::check_plan(run.plan)?;
    // Nothing leaves this machine, so the key does not matter.
    let redactor = Arc::new(Redactor::with_random_key());
    let fleet = Fleet::of_processes(run.plan.processes, redactor)?;
    fleet.run(run, environment, control, sink)?;
    Ok(())
}

fn read_programs(paths: &[PathBuf]) -> Result<Vec<AgentProgram>, FleetError> {
    let mut programs = vec![
        AgentProgram::own()
            .map_err(|source| FleetError::Program { path: "this brunt".into(), source })?,
    ];
    for path in paths {
        let program = AgentProgram::read(path)
            .map_err(|source| FleetError::Program { path: path.display().to_string(), source })?;
        programs.push(program);
    }
    Ok(programs)
}

/// Starts processes of this machine.
fn local_agents(names: impl Iterator<Item = String>) -> Vec<StartedAgent> {
    names
        .map(|name| {
            let pipes = local::start().map_err(|error| error.to_string());
            StartedAgent { name, group: None, pipes }
        })
        .collect()
}

/// Starts an agent on each host, all at the same time.
fn start_through_ssh(hosts: &[String], programs: &[AgentProgram]) -> Vec<StartedAgent> {
    thread::scope(|scope| {
        let starts: Vec<_> =
            hosts.iter().map(|host| scope.spawn(|| ssh::start(host, programs))).collect();
        let pipes = starts.into_iter().map(|start| {
            let panicked = Err("its start failed".to_owned());
            start.join().unwrap_or(panicked)
        });
        let named = hosts.iter().cloned().zip(pipes);
        named.map(|(name, pipes)| StartedAgent { name, group: None, pipes }).collect()
    })
}
