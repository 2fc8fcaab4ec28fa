//! The controller's side: it creates the stream, waits for the agents, and has a pair of byte streams
//! for each.
//!
//! * `inbox`: the packets of all agents.

mod inbox;

use super::lead::Greeting;
use super::{NatsAccess, NatsError, SILENCE};
use crate::handover::{self, FleetRecord, Handover, PacketFile, RunRecord};
use crate::seal::{Identity, no_random};
use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use brunt_model::sync::IgnorePoison;
use futures_util::StreamExt;
use inbox::{Announcement, Inbox, Replacements};
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Maximum number of bytes that the stream stores: those that no controller has on its disk yet. A stream that is
/// full refuses packets, and agents try again.
const MAX_STREAM: i64 = 256 << 20;

/// Age after which a message is discarded.
const MAX_AGE: Duration = Duration::from_hours(1);

/// Time that an agent continues after its lease.
const AFTER_LEASE: Duration = Duration::from_secs(5);

/// A controller that publishes nothing for this time has died. After the end of a server of NATS,
/// messages stalled for up to 12 s.
const TAKE_OVER_WAIT: Duration = Duration::from_secs(15);

/// A started fleet on NATS. Its stream, and its folder on the disk, are deleted when it is dropped.
pub struct NatsFleet {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    access: NatsAccess,
    /// None if no other process may take the controller's place.
    handover: Option<Handover>,
    /// Processes that take the places of lost agents.
    replacements: Mutex<Receiver<AgentStreams>>,
}

/// How a fleet continues without its controller or without an agent, and what the controller keeps.
#[derive(Debug, Clone)]
pub struct Continuation {
    /// Time for which agents continue their load without a message of the controller.
    pub lease: Duration,
    /// Folder on the controller's disk, with a folder for each fleet ([`crate::handover`]); None: no
    /// other process may take the controller's place.
    pub folders: Option<PathBuf>,
    /// True: another process with the name of a lost agent takes its place.
    pub replace_lost: bool,
}

fn greeting(generation: u64, lease: Duration) -> Greeting {
    Greeting { generation, silence: SILENCE.max(lease + AFTER_LEASE) }
}

/// Byte streams of an agent.
pub struct AgentStreams {
    /// Name of the agent.
    pub name: String,
    /// Bytes to the agent.
    pub input: Box<dyn Write + Send>,
    /// Bytes from the agent.
    pub output: Box<dyn Read + Send>,
    /// Returns why the agent's bytes have ended.
    pub reason: Box<dyn FnOnce() -> String + Send>,
}

/// Waits for agents.
pub struct AgentWait<'a> {
    /// Number of agents that must announce themselves.
    pub agents: usize,
    /// Time until all must have announced themselves.
    pub deadline: Duration,
    /// Gets the number of agents whenever it changes.
    pub tell: &'a mut (dyn FnMut(usize) + Send),
    /// True ends the wait.
    pub stop: &'a AtomicBool,
}

impl NatsFleet {
    /// Creates the stream of a fleet and waits for its agents.
    ///
    /// # Errors
    ///
    /// No server can be used, agents are missing at the deadline, or the folder cannot be written.
    pub fn start(
        access: &NatsAccess,
        wait: AgentWait<'_>,
        continuation: &Continuation,
    ) -> Result<(Self, Vec<AgentStreams>), NatsError> {
        access.check_name()?;
        let runtime = runtime()?;
        let (sender, replacements) = mpsc::channel();
        let (inbox, streams, handover) = runtime.block_on(async {
            let context = access.connect().await?;
            create_stream_or_take_over(access, &context).await?;
            let mut inbox = Inbox::new(access, context, greeting(1, continuation.lease), 0);
            let connection = async {
                let announced = inbox.await_agents(wait).await?;
                let handover = prepare_handover(access, continuation, &announced, &mut inbox)?;
                let agents = announced.into_iter().map(|agent| (agent.identity, agent.name));
                Ok::<_, NatsError>((inbox.connect_all(agents)?, handover))
            };
            match connection.await {
                Ok((streams, handover)) => {
                    if continuation.replace_lost {
                        let lease = continuation.lease;
                        inbox.set_replacements(Replacements { streams: sender, lease });
                    }
                    Ok((inbox, streams, handover))
                }
                Err(error) => {
                    inbox.delete_stream().await;
                    Err(error)
                }
            }
        })?;
        let fleet = Self::carry(runtime, inbox, access, handover, replacements)?;
        Ok((fleet, streams))
    }

    /// Takes the place of a controller that has died. The streams of the agents begin where they did
    /// for it.
    ///
    /// # Errors
    ///
    /// The controller lives, the stream no longer exists, or no server can be used.
    pub fn attach(
        access: &NatsAccess,
        folder: &Path,
        lease: Duration,
    ) -> Result<(Self, Vec<AgentStreams>), NatsError> {
        let mut fleet = FleetRecord::read(folder).map_err(folder_error(folder))?;
        let (file, packets) = PacketFile::open(folder).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => NatsError::InUse(fleet.name.clone()),
            _ => folder_error(folder)(error),
        })?;
        let runtime = runtime()?;
        fleet.generation += 1;
        let (inbox, streams, handover) = runtime.block_on(async {
            let context = access.connect().await?;
            if context.get_stream(access.stream_name()).await.is_err() {
                return Err(NatsError::Ended(access.fleet.clone()));
            }
            let handover = Handover::begin(folder.to_owned(), fleet.clone());
            let handover = handover.map_err(folder_error(folder))?;
            let greeting = greeting(fleet.generation, lease);
            let mut inbox = Inbox::new(access, context, greeting, file.last());
            inbox.continue_file(file, packets);
            let streams = inbox.connect_all(fleet.agents.iter().cloned())?;
            Ok((inbox, streams, handover))
        })?;
        let (_, replacements) = mpsc::channel();
        let fleet = Self::carry(runtime, inbox, access, Some(handover), replacements)?;
        Ok((fleet, streams))
    }

    fn carry(
        runtime: Runtime,
        inbox: Inbox,
        access: &NatsAccess,
        handover: Option<Handover>,
        replacements: Receiver<AgentStreams>,
    ) -> Result<Self, NatsError> {
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("brunt-nats".into())
            .spawn(move || runtime.block_on(inbox.carry(ended)))?;
        Ok(Self {
            end: Some(end),
            thread: Some(thread),
            access: access.clone(),
            handover,
            replacements: Mutex::new(replacements),
        })
    }

    /// Returns the byte streams of a process that takes the place of a lost agent, under its name. None: there is
    /// none now.
    pub fn replacement(&self) -> Option<AgentStreams> {
        self.replacements.lock().ignore_poison().try_recv().ok()
    }

    /// Keeps the id and the number of the run that begins, and the secrets that are redacted in its
    /// results. Has no effect if no other process may take this one's place.
    pub fn keep_run(&self, id: &str, number: u64, secrets: &[String]) -> io::Result<()> {
        let Some(handover) = &self.handover else { return Ok(()) };
        let secrets = handover::seal_secrets(&self.access.key, secrets).unwrap_or_default();
        handover.set_run(RunRecord { id: id.to_owned(), number, secrets })
    }

    /// The secrets of the run that another controller has recorded.
    pub fn recorded_secrets(&self) -> Vec<String> {
        let sealed = self.handover.as_ref().and_then(Handover::run).map(|run| run.secrets);
        sealed
            .and_then(|sealed| handover::open_secrets(&self.access.key, &sealed))
            .unwrap_or_default()
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Prepares that another process can take this one's place, if it may.
fn prepare_handover(
    access: &NatsAccess,
    continuation: &Continuation,
    announced: &[Announcement],
    inbox: &mut Inbox,
) -> Result<Option<Handover>, NatsError> {
    let Some(folders) = &continuation.folders else { return Ok(None) };
    handover::remove_old(folders, MAX_AGE);
    // Fleets on other servers may have the same name.
    let identity = Identity::random().map_err(no_random)?.text();
    let folder = &folders.join(format!("{}-{}", access.fleet, &identity[..8]));
    let mut file = PacketFile::create(folder).map_err(folder_error(folder))?;
    for agent in announced {
        file.add(agent.number, &agent.packet);
    }
    let agents = announced.iter().map(|agent| (agent.identity.clone(), agent.name.clone()));
    let fleet = FleetRecord {
        name: access.fleet.clone(),
        generation: 1,
        agents: agents.collect(),
        run: None,
    };
    inbox.begin_file(file);
    let handover = Handover::begin(folder.clone(), fleet).map_err(folder_error(folder))?;
    Ok(Some(handover))
}

fn folder_error(path: &Path) -> impl Fn(io::Error) -> NatsError {
    move |error| NatsError::Keep { path: path.to_owned(), error }
}

impl Drop for NatsFleet {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
        if let Some(handover) = &self.handover {
            handover.end();
        }
    }
}

/// Number of servers that store each message, from most to least. A cluster of three survives the end of
/// one; a single server stores it once.
const REPLICAS: [usize; 2] = [3, 1];

/// Creates the stream of a fleet. One that exists is replaced if its controller has died: a controller
/// publishes something every second.
async fn create_stream_or_take_over(
    access: &NatsAccess,
    context: &Context,
) -> Result<(), NatsError> {
    let Err(error) = create_stream(access, context).await else { return Ok(()) };
    if context.get_stream(access.stream_name()).await.is_err() {
        return Err(error);
    }
    let subjects = access.subject("to", "*");
    let subscriber = context.client().subscribe(subjects).await;
    let mut published = subscriber.map_err(|error| access.stream_error(error.to_string()))?;
    if timeout(TAKE_OVER_WAIT, published.next()).await.is_ok() {
        return Err(NatsError::InUse(access.fleet.clone()));
    }
    _ = context.delete_stream(access.stream_name()).await;
    create_stream(access, context).await
}

async fn create_stream(access: &NatsAccess, context: &Context) -> Result<(), NatsError> {
    let identity = Identity::random().map_err(no_random)?;
    let mut error = String::new();
    for replicas in REPLICAS {
        let config = Config {
            name: access.stream_name(),
            subjects: vec![access.subject("*", "*")],
            max_bytes: MAX_STREAM,
            max_age: MAX_AGE,
            // `Old` would delete packets that no controller has on its disk yet.
            discard: DiscardPolicy::New,
            num_replicas: replicas,
            // A stream of another controller has another description, so it is not taken for this one.
            description: Some(format!("controller {}", identity.text())),
            ..Config::default()
        };
        match context.create_stream(config).await {
            Ok(_) => return Ok(()),
            Err(failure) => error = failure.to_string(),
        }
    }
    Err(access.stream_error(error))
}
