//! The controller's side: it creates the stream, waits for the agents, and has a pair of byte streams
//! for each.

use super::publish::publish_all;
use super::receive::Packets;
use super::{NatsAccess, NatsError, SILENCE};
use crate::seal::{Identity, Opened, Opener, Sealer, no_random};
use crate::stream::{Outbox, PacketReader, PacketWriter};
use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use bytes::Bytes;
use futures_util::StreamExt;
use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep, timeout, timeout_at};

/// Maximum number of bytes that the stream stores. The oldest are discarded: all of them were read.
const MAX_STREAM: i64 = 256 << 20;

/// Age after which a message is discarded.
const MAX_AGE: Duration = Duration::from_hours(1);

/// Maximum wait until the ends of all streams are published, and time until they have arrived.
const END_WAIT: Duration = Duration::from_secs(2);
const DELIVERY_WAIT: Duration = Duration::from_millis(300);

/// Interval at which a controller that waits for agents publishes something.
const PRESENCE: Duration = Duration::from_millis(500);

/// A controller that publishes nothing for this time has died. After the end of a server of NATS,
/// messages stalled for up to 12 s.
const TAKE_OVER_WAIT: Duration = Duration::from_secs(15);

/// A started fleet on NATS. Its stream is deleted when it is dropped.
pub struct NatsFleet {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
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
    /// No server can be used, or agents are missing at the deadline.
    pub fn start(
        access: &NatsAccess,
        wait: AgentWait<'_>,
    ) -> Result<(Self, Vec<AgentStreams>), NatsError> {
        access.check_name()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connected = runtime.block_on(async {
            let context = access.connect().await?;
            create_stream_or_take_over(access, &context).await?;
            let mut inbox = Inbox::new(access, context);
            match inbox.await_agents(wait).await {
                Ok(streams) => Ok((inbox, streams)),
                Err(error) => {
                    inbox.delete_stream().await;
                    Err(error)
                }
            }
        });
        let (inbox, streams) = connected?;
        let (end, ended) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("brunt-nats".into())
            .spawn(move || runtime.block_on(inbox.carry(ended)))?;
        Ok((Self { end: Some(end), thread: Some(thread) }, streams))
    }
}

impl Drop for NatsFleet {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
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
            discard: DiscardPolicy::Old,
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

/// Packets of all agents, and the agents that take part.
struct Inbox {
    access: NatsAccess,
    context: Context,
    packets: Packets,
    openers: HashMap<String, Opener>,
    /// A task for each agent.
    publishing: JoinSet<()>,
    /// By the agent's identity.
    agents: BTreeMap<String, ConnectedAgent>,
}

struct ConnectedAgent {
    /// Packets for the reader; None when they have ended.
    packets: Option<mpsc::Sender<Vec<u8>>>,
    reason: Arc<Mutex<String>>,
    last: Instant,
}

impl Inbox {
    fn new(access: &NatsAccess, context: Context) -> Self {
        Self {
            access: access.clone(),
            packets: Packets::new(access, context.clone(), access.subject("from", "*")),
            context,
            openers: HashMap::new(),
            publishing: JoinSet::new(),
            agents: BTreeMap::new(),
        }
    }

    /// Receives the next packet: the agent's identity and the bytes. None if nothing follows.
    async fn next(&mut self) -> Option<(String, Opened)> {
        let message = self.packets.next().await?;
        let subject = message.subject.as_str();
        let agent = subject.rsplit('.').next().unwrap_or_default().to_owned();
        let opener = self
            .openers
            .entry(agent.clone())
            .or_insert_with(|| Opener::new(self.access.key.clone(), subject.to_owned()));
        Some((agent, opener.open(&message.payload)))
    }

    /// Waits until all agents have announced themselves, and returns their streams in the order of
    /// their names.
    async fn await_agents(&mut self, wait: AgentWait<'_>) -> Result<Vec<AgentStreams>, NatsError> {
        let deadline = Instant::now() + wait.deadline;
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        while names.len() < wait.agents {
            if wait.stop.load(Ordering::Relaxed) {
                return Err(NatsError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(NatsError::Missing {
                    present: names.len(),
                    wanted: wait.agents,
                    seconds: wait.deadline.as_secs(),
                });
            }
            self.show_presence().await;
            let next = timeout_at(deadline.min(Instant::now() + PRESENCE), self.next()).await;
            let Some((identity, opened)) = next.ok().flatten() else { continue };
            if let Opened::Next(name) = opened {
                let name = String::from_utf8_lossy(&name).into_owned();
                // A process that was started again has the same name.
                if names.values().all(|other| *other != name) {
                    names.insert(identity, name);
                    (wait.tell)(names.len());
                }
            }
        }
        let mut names: Vec<(String, String)> = names.into_iter().collect();
        names.sort_by_key(|(_, name)| (name.parse::<u64>().unwrap_or(u64::MAX), name.clone()));
        names.into_iter().map(|(identity, name)| self.connect(identity, name)).collect()
    }

    /// Publishes something, so that no other controller takes the fleet over. Afterwards the packets
    /// for agents do the same.
    async fn show_presence(&self) {
        let subject = self.access.subject("to", "nobody");
        _ = self.context.client().publish(subject, Bytes::new()).await;
    }

    fn connect(&mut self, identity: String, name: String) -> Result<AgentStreams, NatsError> {
        let subject = self.access.subject("to", &identity);
        let sender = Identity::random().map_err(no_random)?;
        let sealer = Sealer::new(&self.access.key, sender, &subject).map_err(no_random)?;
        let outbox = Arc::new(Outbox::default());
        let (packets, reader) = PacketReader::new();
        let publishing = Arc::clone(&outbox);
        let context = self.context.clone();
        self.publishing
            .spawn(async move { publish_all(context, subject, sealer, &publishing).await });
        let reason = Arc::new(Mutex::new(String::new()));
        let agent = ConnectedAgent {
            packets: Some(packets),
            reason: Arc::clone(&reason),
            last: Instant::now(),
        };
        self.agents.insert(identity, agent);
        Ok(AgentStreams {
            name,
            input: Box::new(PacketWriter(outbox)),
            output: Box::new(reader),
            reason: Box::new(move || reason.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        })
    }

    /// Passes packets on until the fleet ends.
    async fn carry(mut self, mut ended: oneshot::Receiver<()>) {
        let mut look = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                // The sender is dropped with the fleet.
                _ = &mut ended => break,
                _ = look.tick() => self.end_silent_agents(),
                next = self.next() => match next {
                    Some((identity, opened)) => self.pass_on(&identity, opened).await,
                    None => break,
                },
            }
        }
        self.agents.clear();
        // Each agent gets the end of its stream.
        _ = timeout(END_WAIT, async { while self.publishing.join_next().await.is_some() {} }).await;
        sleep(DELIVERY_WAIT).await;
        self.delete_stream().await;
    }

    async fn pass_on(&mut self, identity: &str, opened: Opened) {
        let Some(agent) = self.agents.get_mut(identity) else { return };
        match opened {
            Opened::Ignored => {}
            Opened::Gap => agent.end("messages of it were lost"),
            // An empty packet is the end of the stream.
            Opened::Next(bytes) if bytes.is_empty() => agent.end("it ended"),
            Opened::Next(bytes) => {
                agent.last = Instant::now();
                if let Some(packets) = &agent.packets
                    && packets.send(bytes).await.is_err()
                {
                    agent.packets = None;
                }
            }
        }
    }

    fn end_silent_agents(&mut self) {
        for agent in self.agents.values_mut() {
            if agent.packets.is_some() && agent.last.elapsed() > SILENCE {
                agent.end(&format!("nothing was received from it for {} s", SILENCE.as_secs()));
            }
        }
    }

    async fn delete_stream(&self) {
        _ = self.context.delete_stream(self.access.stream_name()).await;
    }
}

impl ConnectedAgent {
    /// Ends the packets of an agent, for this reason.
    fn end(&mut self, reason: &str) {
        reason.clone_into(&mut self.reason.lock().unwrap_or_else(PoisonError::into_inner));
        self.packets = None;
    }
}
