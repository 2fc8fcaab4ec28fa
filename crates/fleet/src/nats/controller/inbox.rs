//! The packets of all agents: the controller keeps them, passes them on, and removes them from the
//! stream.

use super::{AgentStreams, AgentWait};
use crate::handover::{PacketFile, StoredPacket, StoredPackets};
use crate::nats::lead::Greeting;
use crate::nats::publish::{publish, publish_all};
use crate::nats::receive::Packets;
use crate::nats::{NatsAccess, NatsError, SILENCE};
use crate::seal::{Identity, Opened, Opener, Sealer, no_random};
use crate::stream::{Outbox, PacketReader, PacketWriter};
use async_nats::jetstream::Context;
use brunt_model::sync::IgnorePoison;
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, interval, sleep, timeout, timeout_at};

/// Maximum wait until the ends of all streams are published, and time until they have arrived.
const END_WAIT: Duration = Duration::from_secs(2);
const DELIVERY_WAIT: Duration = Duration::from_millis(300);

/// Interval at which a controller that waits for agents publishes something.
const PRESENCE: Duration = Duration::from_millis(500);

/// Silence after which an agent is lost if another process announces itself under its name. After the same silence,
/// that process has ended, too.
const REPLACED_SILENCE: Duration = Duration::from_secs(5);

/// Time after the lease of a lost agent until its place is taken.
const LEASE_MARGIN: Duration = Duration::from_secs(1);

/// Age from which packets for agents are removed from the stream. An agent that has not received them is lost.
const OLD: Duration = Duration::from_mins(1);

/// The first packet of an agent.
pub struct Announcement {
    /// Identity of the agent.
    pub identity: String,
    /// Name of the agent.
    pub name: String,
    /// Number of the packet in the stream.
    pub number: u64,
    /// The sealed packet.
    pub packet: Vec<u8>,
}

/// A packet of an agent, with its content.
struct Received {
    identity: String,
    number: u64,
    packet: Bytes,
    opened: Opened,
}

/// Packets of all agents, and the agents that take part.
pub struct Inbox {
    access: NatsAccess,
    context: Context,
    greeting: Greeting,
    packets: Packets,
    openers: HashMap<String, Opener>,
    /// A task for each agent.
    publishing: JoinSet<()>,
    /// By the agent's identity.
    agents: BTreeMap<String, ConnectedAgent>,
    /// Packets on the controller's disk; None: they stay in memory.
    file: Option<PacketFile>,
    /// Packets that an earlier controller stored, which are passed on first.
    earlier: Option<StoredPackets>,
    /// Number of the last packet that was received.
    last: u64,
    /// The same at earlier instants.
    earlier_last: VecDeque<(Instant, u64)>,
    acknowledging: Option<JoinHandle<()>>,
    /// Where processes go that take the places of lost agents; None: they get no load.
    replacements: Option<Replacements>,
    /// Processes that announce themselves, by identity.
    newcomers: BTreeMap<String, Newcomer>,
}

/// A process that announces itself during the runs of the others.
struct Newcomer {
    name: String,
    /// When it announced itself last.
    last: Instant,
}

/// How lost agents are replaced.
#[derive(Clone)]
pub struct Replacements {
    /// Gets the byte streams of the other process.
    pub streams: Sender<AgentStreams>,
    /// Time after which a lost agent has stopped its load.
    pub lease: Duration,
}

struct ConnectedAgent {
    name: String,
    /// Publishes what the controller sends to it.
    publishing: AbortHandle,
    /// When it was lost; None while it lives, and if it has ended by itself.
    lost: Option<Instant>,
    /// Packets for the reader; None when they have ended.
    packets: Option<mpsc::Sender<Vec<u8>>>,
    reason: Arc<Mutex<String>>,
    last: Instant,
}

impl Inbox {
    /// The packets of all agents after the one with the number `last`.
    pub fn new(access: &NatsAccess, context: Context, greeting: Greeting, last: u64) -> Self {
        Self {
            access: access.clone(),
            greeting,
            packets: Packets::new(access, context.clone(), access.subject("from", "*"), last),
            context,
            openers: HashMap::new(),
            publishing: JoinSet::new(),
            agents: BTreeMap::new(),
            file: None,
            earlier: None,
            last,
            earlier_last: VecDeque::new(),
            acknowledging: None,
            replacements: None,
            newcomers: BTreeMap::new(),
        }
    }

    /// Replaces lost agents from now on.
    pub fn set_replacements(&mut self, replacements: Replacements) {
        self.replacements = Some(replacements);
    }

    /// Keeps all packets from now on in this file.
    pub fn begin_file(&mut self, file: PacketFile) {
        self.file = Some(file);
    }

    /// Passes the packets of an earlier controller on, and keeps the later ones in its file.
    pub fn continue_file(&mut self, file: PacketFile, packets: StoredPackets) {
        self.file = Some(file);
        self.earlier = Some(packets);
    }

    /// Receives the next packet. None if nothing follows.
    async fn next(&mut self) -> Option<Received> {
        let message = self.packets.next().await?;
        let number = message.info().map_or(0, |info| info.stream_sequence);
        let identity = message.subject.as_str().rsplit('.').next().unwrap_or_default().to_owned();
        let packet = message.payload.clone();
        let opened = self.open(&identity, &packet);
        Some(Received { identity, number, packet, opened })
    }

    fn open(&mut self, identity: &str, packet: &[u8]) -> Opened {
        let opener = self.openers.entry(identity.to_owned()).or_insert_with(|| {
            Opener::new(self.access.key.clone(), self.access.subject("from", identity))
        });
        opener.open(packet)
    }

    /// Waits until all agents have announced themselves, and returns them in the order of their names.
    pub async fn await_agents(
        &mut self,
        wait: AgentWait<'_>,
    ) -> Result<Vec<Announcement>, NatsError> {
        let deadline = Instant::now() + wait.deadline;
        let mut agents: Vec<Announcement> = Vec::new();
        while agents.len() < wait.agents {
            if wait.stop.load(Ordering::Relaxed) {
                return Err(NatsError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(NatsError::Missing {
                    present: agents.len(),
                    wanted: wait.agents,
                    seconds: wait.deadline.as_secs(),
                });
            }
            self.show_presence().await;
            let next = timeout_at(deadline.min(Instant::now() + PRESENCE), self.next()).await;
            let Some(Received { identity, number, packet, opened }) = next.ok().flatten() else {
                continue;
            };
            if let Opened::Next(name) = opened {
                let name = String::from_utf8_lossy(&name).into_owned();
                // A process that was started again has the same name.
                if agents.iter().all(|other| other.name != name) {
                    agents.push(Announcement { identity, name, number, packet: packet.into() });
                    (wait.tell)(agents.len());
                }
            }
        }
        let number = |name: &str| name.parse::<u64>().unwrap_or(u64::MAX);
        agents.sort_by(|a, b| (number(&a.name), &a.name).cmp(&(number(&b.name), &b.name)));
        Ok(agents)
    }

    /// Connects to agents with these identities and names.
    pub fn connect_all(
        &mut self,
        agents: impl Iterator<Item = (String, String)>,
    ) -> Result<Vec<AgentStreams>, NatsError> {
        agents.map(|(identity, name)| self.connect(identity, name)).collect()
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
        let mut sealer = Sealer::new(&self.access.key, sender, &subject).map_err(no_random)?;
        let greeting = sealer.seal(&self.greeting.bytes()).map_err(no_random)?;
        let outbox = Arc::new(Outbox::default());
        let (packets, reader) = PacketReader::new();
        let unsent = Arc::clone(&outbox);
        let context = self.context.clone();
        let publishing = self.publishing.spawn(async move {
            // If it is lost, so is the agent, because all later packets are ignored.
            _ = publish(&context, &subject, greeting).await;
            publish_all(context, subject, sealer, &unsent).await;
        });
        let reason = Arc::new(Mutex::new(String::new()));
        let agent = ConnectedAgent {
            name: name.clone(),
            publishing,
            lost: None,
            packets: Some(packets),
            reason: Arc::clone(&reason),
            last: Instant::now(),
        };
        self.agents.insert(identity, agent);
        Ok(AgentStreams {
            name,
            input: Box::new(PacketWriter(outbox)),
            output: Box::new(reader),
            reason: Box::new(move || reason.lock().ignore_poison().clone()),
        })
    }

    /// Passes packets on until the fleet ends.
    pub async fn carry(mut self, mut ended: oneshot::Receiver<()>) {
        for StoredPacket { packet, .. } in self.earlier.take().into_iter().flatten() {
            let Some(sender) = Identity::of_sender(&packet) else { continue };
            let identity = sender.text();
            // The first packet is the announcement, which is no part of the byte stream.
            let is_announcement = !self.openers.contains_key(&identity);
            let opened = self.open(&identity, &packet);
            if !is_announcement {
                self.pass_on(&identity, opened).await;
            }
        }
        let mut look = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                // The sender is dropped with the fleet.
                _ = &mut ended => break,
                _ = look.tick() => {
                    self.end_silent_agents();
                    self.replace_lost();
                    self.acknowledge();
                }
                next = self.next() => match next {
                    Some(received) => self.keep_and_pass_on(received).await,
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

    async fn keep_and_pass_on(&mut self, received: Received) {
        let Received { identity, number, packet, opened } = received;
        self.last = number;
        if !self.agents.contains_key(&identity) {
            return self.note_newcomer(identity, opened);
        }
        if let (Opened::Next(_), Some(file)) = (&opened, &mut self.file) {
            file.add(number, &packet);
        }
        self.pass_on(&identity, opened).await;
    }

    /// Notes that a process announces itself.
    fn note_newcomer(&mut self, identity: String, opened: Opened) {
        let last = Instant::now();
        match opened {
            Opened::Next(name) => {
                let name = String::from_utf8_lossy(&name).into_owned();
                self.newcomers.insert(identity, Newcomer { name, last });
            }
            // It repeats its announcement until it is connected.
            Opened::Ignored | Opened::Gap => {
                if let Some(newcomer) = self.newcomers.get_mut(&identity) {
                    newcomer.last = last;
                }
            }
        }
    }

    /// Connects to processes that announce themselves under the names of lost agents.
    fn replace_lost(&mut self) {
        let Some(Replacements { streams, lease }) = self.replacements.clone() else { return };
        self.newcomers.retain(|_, newcomer| newcomer.last.elapsed() < REPLACED_SILENCE);
        let mut replaced = Vec::new();
        for (identity, newcomer) in &self.newcomers {
            let is_of_name = |agent: &&mut ConnectedAgent| agent.name == newcomer.name;
            let Some(lost) = self.agents.values_mut().find(is_of_name) else { continue };
            if lost.packets.is_some() && lost.last.elapsed() > REPLACED_SILENCE {
                lost.lose("another process has announced itself under its name");
            }
            // Until the end of its lease, the lost agent may still load the server.
            let has_stopped =
                lost.lost.is_none_or(|instant| instant.elapsed() > lease + LEASE_MARGIN);
            if lost.packets.is_none() && has_stopped {
                replaced.push((identity.clone(), newcomer.name.clone()));
            }
        }
        for (identity, name) in replaced {
            self.newcomers.remove(&identity);
            self.agents.retain(|_, agent| agent.name != name);
            // The runner has dropped the receiver if the fleet ends.
            _ = self.connect(identity, name).map(|connected| streams.send(connected));
        }
    }

    /// Removes packets from the stream: those of agents that are on the controller's disk, and old ones for
    /// agents.
    fn acknowledge(&mut self) {
        if self.acknowledging.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let now = Instant::now();
        self.earlier_last.push_back((now, self.last));
        let mut to_agents = 0;
        while let Some((_, number)) =
            self.earlier_last.pop_front_if(|(at, _)| now.duration_since(*at) > OLD)
        {
            to_agents = number;
        }
        let storage = self.file.as_ref().map(|file| (file.handle(), file.last()));
        let (file, from_agents) = match storage {
            None => (None, self.last),
            Some((Ok(file), last)) => (Some(file), last),
            // Without a handle, it is unknown if the packets are on the disk.
            Some((Err(_), _)) => return,
        };
        let purge = Purge {
            context: self.context.clone(),
            access: self.access.clone(),
            file,
            from_agents,
            to_agents,
        };
        self.acknowledging = Some(tokio::spawn(purge.carry_out()));
    }

    async fn pass_on(&mut self, identity: &str, opened: Opened) {
        let Some(agent) = self.agents.get_mut(identity) else { return };
        match opened {
            Opened::Ignored => {}
            Opened::Gap => agent.lose("messages of it were lost"),
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
                agent.lose(&format!("nothing was received from it for {} s", SILENCE.as_secs()));
            }
        }
    }

    /// Deletes the stream of the fleet.
    pub async fn delete_stream(&self) {
        _ = self.context.delete_stream(self.access.stream_name()).await;
    }
}

impl ConnectedAgent {
    /// Ends the packets of an agent that may still live, for this reason. Nothing is sent to it any more, so
    /// its lease ends.
    fn lose(&mut self, reason: &str) {
        self.publishing.abort();
        self.lost = Some(Instant::now());
        self.end(reason);
    }

    /// Ends the packets of an agent, for this reason.
    fn end(&mut self, reason: &str) {
        reason.clone_into(&mut self.reason.lock().ignore_poison());
        self.packets = None;
    }
}

/// Removal of packets from the stream.
struct Purge {
    context: Context,
    access: NatsAccess,
    /// File with the packets of agents, if there is one.
    file: Option<File>,
    /// Numbers of the last packets to be removed; 0: none.
    from_agents: u64,
    to_agents: u64,
}

impl Purge {
    async fn carry_out(self) {
        if let Some(file) = self.file {
            // Without an acknowledgement the stream keeps the packets.
            let Ok(Ok(())) = spawn_blocking(move || file.sync_data()).await else { return };
        }
        let Ok(stream) = self.context.get_stream(self.access.stream_name()).await else { return };
        for (direction, last) in [("from", self.from_agents), ("to", self.to_agents)] {
            if last > 0 {
                let subjects = self.access.subject(direction, "*");
                // After a failure, the next call removes them.
                _ = stream.purge().filter(subjects).sequence(last + 1).await;
            }
        }
    }
}
