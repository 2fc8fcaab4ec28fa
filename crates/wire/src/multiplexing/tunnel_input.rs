//! Buffers the received bytes of a tunnel: a stream that carries bytes in both directions.

use brunt_model::Tick;

/// Maximum number of unread bytes. Beyond it the stream is closed, because its window
/// never stops the peer.
pub(crate) const MAX_UNREAD: usize = 64 << 20;
/// Capacity that an emptied buffer keeps, in bytes.
const RETAINED_CAPACITY: usize = 64 * 1024;

/// Bytes that a tunnel received and that were not read yet.
#[derive(Debug, Default)]
pub(crate) struct TunnelInput {
    bytes: Vec<u8>,
    /// Number of these bytes that were read.
    read: usize,
    /// When the last of them were received.
    pub last_received: Tick,
    /// True if the stream is in the queue of streams that wait to send.
    pub awaits_send: bool,
    /// True if nothing more is sent on the stream.
    pub is_ended: bool,
}

impl TunnelInput {
    /// Appends the bytes of a DATA frame. Returns true if too many are unread, so that the
    /// stream must be closed.
    pub fn push(&mut self, bytes: &[u8], now: Tick) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.last_received = now;
        let is_flooded = self.bytes.len() - self.read > MAX_UNREAD;
        self.is_ended |= is_flooded;
        is_flooded
    }

    /// Reads into `buffer`. Returns 0 if nothing is unread.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let unread = &self.bytes[self.read..];
        let n = unread.len().min(buffer.len());
        buffer[..n].copy_from_slice(&unread[..n]);
        self.read += n;
        if self.read == self.bytes.len() {
            self.read = 0;
            self.bytes.clear();
            self.bytes.shrink_to(RETAINED_CAPACITY);
        }
        n
    }
}
