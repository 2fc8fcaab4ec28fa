//! The agent's side: it announces itself, and has a pair of byte streams to the controller.

use super::publish::{publish, publish_all};
use super::receive::Packets;
use super::{NatsAccess, NatsError, SILENCE};
use crate::seal::{Identity, Opened, Opener, Sealer, no_random};
use crate::stream::{Outbox, PacketReader, PacketWriter};
use async_nats::jetstream::Context;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Pause between two attempts to reach the stream of the fleet, and between two announcements.
const PAUSE: Duration = Duration::from_secs(1);

/// Announces an agent until the controller answers, and returns its byte streams. Waits without an
/// end: the agent may be there before the run.
///
/// # Errors
///
/// The fleet's name is invalid, or the system provides no thread.
pub fn agent_streams(
    access: &NatsAccess,
    name: &str,
) -> Result<(PacketReader, PacketWriter), NatsError> {
    access.check_name()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let link = AgentLink::new(access, name)?;
    let (packets, reader) = PacketReader::new();
    let outbox = Arc::new(Outbox::default());
    let writer = PacketWriter(Arc::clone(&outbox));
    let (begun, has_begun) = oneshot::channel();
    thread::Builder::new()
        .name("brunt-nats".into())
        .spawn(move || runtime.block_on(link.carry(packets, outbox, begun)))?;
    // The sender is dropped only if its thread panicked. The reader then ends at once.
    _ = has_begun.blocking_recv();
    Ok((reader, writer))
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

    async fn carry(
        self,
        packets: mpsc::Sender<Vec<u8>>,
        outbox: Arc<Outbox>,
        begun: oneshot::Sender<()>,
    ) {
        let identity = self.identity.text();
        let from = self.access.subject("from", &identity);
        let to = self.access.subject("to", &identity);
        let mut opener = Opener::new(self.access.key.clone(), to.clone());
        let Ok(mut sealer) = Sealer::new(&self.access.key, self.identity, &from) else { return };
        let Ok(announcement) = sealer.seal(self.name.as_bytes()) else { return };
        let context = loop {
            match self.access.connect().await {
                Ok(context) => break context,
                // The servers may start later than the agent.
                Err(_) => sleep(PAUSE).await,
            }
        };
        let mut received = Packets::new(&self.access, context.clone(), to);
        let first = announce(&context, &from, &announcement, &mut received, &mut opener).await;
        _ = begun.send(());
        let publishing = publish_all(context, from, sealer, &outbox);
        let receiving = async {
            let mut bytes = Some(first);
            // An empty packet is the end of the stream.
            while let Some(some) = bytes.filter(|bytes| !bytes.is_empty())
                && packets.send(some).await.is_ok()
            {
                bytes = timeout(SILENCE, next(&mut received, &mut opener)).await.ok().flatten();
            }
            drop(packets);
        };
        tokio::join!(publishing, receiving);
    }
}

/// Announces the agent until the first packet arrives. An error before the controller has created the
/// stream is temporary.
async fn announce(
    context: &Context,
    from: &str,
    announcement: &[u8],
    received: &mut Packets,
    opener: &mut Opener,
) -> Vec<u8> {
    loop {
        _ = timeout(PAUSE, publish(context, from, announcement.to_vec())).await;
        if let Ok(Some(first)) = timeout(PAUSE, next(received, opener)).await {
            return first;
        }
    }
}

/// Receives the next bytes. None if packets are missing.
async fn next(received: &mut Packets, opener: &mut Opener) -> Option<Vec<u8>> {
    loop {
        match opener.open(&received.next().await?.payload) {
            Opened::Next(bytes) => return Some(bytes),
            Opened::Ignored => {}
            Opened::Gap => return None,
        }
    }
}
