//! Publishes the bytes of an outbox, one packet after the other.

use super::PUBLISH_WAIT;
use crate::seal::Sealer;
use crate::stream::Outbox;
use async_nats::jetstream::Context;
use bytes::Bytes;
use std::time::Duration;
use tokio::time::error::Elapsed;
use tokio::time::{sleep, timeout};

/// Wait for one acknowledgement, and pause before the packet is published again.
const ACKNOWLEDGEMENT_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(200);

/// Publishes packets until the stream ends; then an empty packet. An error breaks the outbox off.
///
/// The next packet follows the acknowledgement of the one before, so that they stay in order.
pub async fn publish_all(context: Context, subject: String, mut sealer: Sealer, outbox: &Outbox) {
    while let Some(bytes) = outbox.next().await {
        let Ok(packet) = sealer.seal(&bytes) else { break };
        if publish(&context, &subject, packet).await.is_err() {
            outbox.break_off();
            return;
        }
    }
    if let Ok(packet) = sealer.seal(&[]) {
        _ = publish(&context, &subject, packet).await;
    }
}

/// Publishes a packet until it is acknowledged. A packet that is stored twice is ignored by its
/// receiver. The error is the end of the time for it.
pub async fn publish(context: &Context, subject: &str, packet: Vec<u8>) -> Result<(), Elapsed> {
    let packet = Bytes::from(packet);
    timeout(PUBLISH_WAIT, async {
        while !is_stored(context, subject, packet.clone()).await {
            sleep(PAUSE).await;
        }
    })
    .await
}

/// Publishes a packet once. True if it is acknowledged.
async fn is_stored(context: &Context, subject: &str, packet: Bytes) -> bool {
    let acknowledgement = async { context.publish(subject.to_owned(), packet).await?.await };
    matches!(timeout(ACKNOWLEDGEMENT_WAIT, acknowledgement).await, Ok(Ok(_)))
}
