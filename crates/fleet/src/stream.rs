//! Byte streams over packets: a writer that a task publishes from, and a reader that a task fills.

use brunt_model::sync::IgnorePoison;
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use tokio::sync::{Notify, mpsc};

/// Bytes that wait to be published. A writer waits when there are this many.
const MAX_WAITING: usize = MAX_PACKET;

/// Maximum length of the bytes of one packet. NATS servers accept 1 MiB by default.
const MAX_PACKET: usize = 256 << 10;

/// Number of packets that were received and not yet read.
pub const MAX_UNREAD: usize = 64;

/// Bytes that were written and not yet published.
#[derive(Default)]
pub struct Outbox {
    state: Mutex<OutboxState>,
    has_room: Condvar,
    changed: Notify,
}

#[derive(Default)]
struct OutboxState {
    bytes: Vec<u8>,
    /// No bytes follow: the writer was dropped.
    has_ended: bool,
    /// Nothing is published any more.
    is_broken: bool,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().ignore_poison()
    }

    /// Waits for bytes and returns at most those of one packet. None at the end of the stream.
    pub async fn next(&self) -> Option<Vec<u8>> {
        loop {
            {
                let mut state = self.state();
                if !state.bytes.is_empty() {
                    let count = state.bytes.len().min(MAX_PACKET);
                    let packet: Vec<u8> = state.bytes.drain(..count).collect();
                    self.has_room.notify_all();
                    return Some(packet);
                }
                if state.has_ended {
                    return None;
                }
            }
            // A notification between the look and this wait is kept.
            self.changed.notified().await;
        }
    }

    /// Makes all writes fail, because nothing is published any more.
    pub fn break_off(&self) {
        self.state().is_broken = true;
        self.has_room.notify_all();
    }
}

/// Writes to an outbox. The stream ends when it is dropped.
pub struct PacketWriter(pub Arc<Outbox>);

impl Write for PacketWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.state();
        // Without this wait, a slow network would fill the memory.
        while state.bytes.len() >= MAX_WAITING && !state.is_broken {
            state = self.0.has_room.wait(state).ignore_poison();
        }
        if state.is_broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.bytes.extend_from_slice(bytes);
        drop(state);
        self.0.changed.notify_one();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PacketWriter {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.changed.notify_one();
    }
}

/// Reads the bytes of packets, in a thread that belongs to no runtime. Ends when the sender is
/// dropped.
pub struct PacketReader {
    packets: mpsc::Receiver<Vec<u8>>,
    rest: Vec<u8>,
    read: usize,
}

impl PacketReader {
    /// Creates a reader, and the channel of its packets.
    pub fn new() -> (mpsc::Sender<Vec<u8>>, Self) {
        let (sender, packets) = mpsc::channel(MAX_UNREAD);
        (sender, Self { packets, rest: Vec::new(), read: 0 })
    }
}

impl Read for PacketReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.rest.len() {
            match self.packets.blocking_recv() {
                Some(packet) => (self.rest, self.read) = (packet, 0),
                None => return Ok(0),
            }
        }
        let rest = &self.rest[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_after_packets() {
        let outbox = Arc::new(Outbox::default());
        let mut writer = PacketWriter(Arc::clone(&outbox));
        let bytes: Vec<u8> = (0..MAX_PACKET * 2 + 7).map(|n| (n % 251) as u8).collect();
        writer.write_all(&bytes).unwrap();
        drop(writer);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (sender, mut reader) = PacketReader::new();
        let lengths = runtime.block_on(async {
            let mut lengths = Vec::new();
            while let Some(packet) = outbox.next().await {
                lengths.push(packet.len());
                sender.send(packet).await.unwrap();
            }
            lengths
        });
        drop(sender);
        assert_eq!(lengths, [MAX_PACKET, MAX_PACKET, 7]);
        let mut received = Vec::new();
        reader.read_to_end(&mut received).unwrap();
        assert_eq!(received, bytes);
    }

    #[test]
    fn writes_fail_when_nothing_is_published_any_more() {
        let outbox = Arc::new(Outbox::default());
        let mut writer = PacketWriter(Arc::clone(&outbox));
        outbox.break_off();
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
