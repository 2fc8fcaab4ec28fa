//! Receives the packets of a subject, also when a server of NATS fails.

use super::NatsAccess;
use crate::stream::MAX_UNREAD;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::{Context, Message};
use futures_util::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// A consumer that yields nothing for this time is replaced: its server may have failed. Both sides send
/// every 0.2 s.
const QUIET: Duration = Duration::from_secs(3);

/// Pause before a consumer is created again.
const PAUSE: Duration = Duration::from_millis(200);

/// The packets that a subject pattern matches. A task receives them, so that a caller that stops
/// waiting interrupts nothing.
pub struct Packets {
    received: mpsc::Receiver<Message>,
    task: JoinHandle<()>,
}

impl Packets {
    /// The packets of these subjects that the stream stores after the one with this number.
    pub fn new(access: &NatsAccess, context: Context, subjects: String, last: u64) -> Self {
        let (sender, received) = mpsc::channel(MAX_UNREAD);
        let mut source = Source { context, stream: access.stream_name(), subjects, last };
        let task = tokio::spawn(async move { source.pass_on(&sender).await });
        Self { received, task }
    }

    /// Waits for the next packet. A packet may be received twice. None if the task has failed.
    pub async fn next(&mut self) -> Option<Message> {
        self.received.recv().await
    }
}

impl Drop for Packets {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Source {
    context: Context,
    stream: String,
    subjects: String,
    /// Number of the last packet in the stream; 0 before the first one.
    last: u64,
}

impl Source {
    async fn pass_on(&mut self, sender: &mpsc::Sender<Message>) {
        while !sender.is_closed() {
            let Ok(mut consumer) = self.open().await else {
                sleep(PAUSE).await;
                continue;
            };
            while let Ok(Some(Ok(message))) = timeout(QUIET, consumer.next()).await {
                if let Ok(info) = message.info() {
                    self.last = info.stream_sequence;
                }
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn open(&self) -> Result<Ordered, async_nats::Error> {
        let deliver_policy = DeliverPolicy::ByStartSequence { start_sequence: self.last + 1 };
        let filter_subject = self.subjects.clone();
        let config = OrderedConfig { filter_subject, deliver_policy, ..OrderedConfig::default() };
        let consumer = self.context.create_consumer_on_stream(config, &self.stream).await?;
        Ok(consumer.messages().await?)
    }
}
