//! The agent's side: it announces itself, and has byte streams from and to the controller.

use super::lead::{FromController, Greeting, Lead};
use super::publish::{publish, publish_all};
use super::receive::Packets;
use super::{NatsAccess, NatsError};
use crate::seal::{Identity, Sealer, no_random};
use crate::stream::{Outbox, PacketReader, PacketWriter};
use async_nats::jetstream::Context;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Pause between two attempts to reach the stream of the fleet, and between two announcements.
const PAUSE: Duration = Duration::from_secs(1);

/// Announces an agent until the controller answers. Returns the byte streams of the controller, and of those that
/// take its place; and the agent's own byte stream. Waits without an end: the agent may be there before
/// the run.
///
/// # Errors
///
/// The fleet's name is invalid, or the system provides no thread.
pub fn agent_streams(
    access: &NatsAccess,
    name: &str,
) -> Result<(Receiver<PacketReader>, PacketWriter), NatsError> {
    access.check_name()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let link = AgentLink::new(access, name)?;
    let (controllers, readers) = channel();
    let outbox = Arc::new(Outbox::default());
    let writer = PacketWriter(Arc::clone(&outbox));
    thread::Builder::new()
        .name("brunt-nats".into())
        .spawn(move || runtime.block_on(link.carry(&controllers, outbox)))?;
    Ok((readers, writer))
}

struct AgentLink {
    access: NatsAccess,
    name: String,
    identity: Identity,
}

impl AgentLink {
    fn new(access: &NatsAccess, name: &str) -> Result<Self, NatsError> {
        let identity = Identity::random().map_err(no_random)?;
        Ok(Self { access: access.clone(), name: name.to_owned(), identity })
    }

    async fn carry(self, controllers: &Sender<PacketReader>, outbox: Arc<Outbox>) {
        let identity = self.identity.text();
        let from = self.access.subject("from", &identity);
        let to = self.access.subject("to", &identity);
        let Ok(mut sealer) = Sealer::new(&self.access.key, self.identity, &from) else { return };
        let Ok(announcement) = sealer.seal(self.name.as_bytes()) else { return };
        let context = loop {
            match self.access.connect().await {
                Ok(context) => break context,
                // The servers may start later than the agent.
                Err(_) => sleep(PAUSE).await,
            }
        };
        let packets = Packets::new(&self.access, context.clone(), to.clone(), 0);
        let mut received = ControllerPackets { packets, lead: Lead::new(self.access.key, to) };
        let greeting = announce(&context, &from, &announcement, &mut received).await;
        let publishing = publish_all(context, from, sealer, &outbox);
        tokio::join!(publishing, pass_on(&mut received, greeting, controllers));
    }
}

/// Announces the agent until a controller greets it. An error before the controller has created the stream is
/// temporary.
async fn announce(
    context: &Context,
    from: &str,
    announcement: &[u8],
    received: &mut ControllerPackets,
) -> Greeting {
    loop {
        _ = timeout(PAUSE, publish(context, from, announcement.to_vec())).await;
        if let Ok(Some(FromController::Greeting(greeting))) = timeout(PAUSE, received.next()).await
        {
            return greeting;
        }
    }
}

/// Passes the packets of each controller on as a byte stream of its own, until the last one ends.
async fn pass_on(
    received: &mut ControllerPackets,
    mut greeting: Greeting,
    controllers: &Sender<PacketReader>,
) {
    let (mut packets, reader) = PacketReader::new();
    if controllers.send(reader).is_err() {
        return;
    }
    loop {
        match timeout(greeting.silence, received.next()).await.ok().flatten() {
            // An empty packet is the end of the stream.
            Some(FromController::Bytes(bytes)) if !bytes.is_empty() => {
                if packets.send(bytes).await.is_err() {
                    return;
                }
            }
            Some(FromController::Greeting(next)) => {
                greeting = next;
                let (next_packets, reader) = PacketReader::new();
                // The stream of the controller before ends with its sender.
                packets = next_packets;
                if controllers.send(reader).is_err() {
                    return;
                }
            }
            Some(FromController::Bytes(_) | FromController::Gap) | None => return,
        }
    }
}

/// The packets for an agent.
struct ControllerPackets {
    packets: Packets,
    lead: Lead,
}

impl ControllerPackets {
    /// Receives what follows. None if nothing does.
    async fn next(&mut self) -> Option<FromController> {
        loop {
            if let Some(next) = self.lead.open(&self.packets.next().await?.payload) {
                return Some(next);
            }
        }
    }
}
