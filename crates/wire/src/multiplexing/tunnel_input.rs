//! Buffers the bytes that a tunnel has received: a stream that carries bytes both ways.

use brunt_model::Tick;

/// Unread bytes above which the stream is given up: its window never makes the peer wait.
pub(crate) const MOST_UNREAD: usize = 64 << 20;
/// A buffer above this size is given back once it was read.
const USUAL_ROOM: usize = 64 * 1024;

/// The bytes that a tunnel received and that were not read yet.
#[derive(Debug, Default)]
pub(crate) struct TunnelInput {
    bytes: Vec<u8>,
    /// How many of them were read.
    read: usize,
    /// When the last of them came.
    pub came: Tick,
    /// The stream is in the queue of those that wait to send.
    pub waits: bool,
    /// No more is sent on it.
    pub is_ended: bool,
}

impl TunnelInput {
    /// Appends the bytes of a DATA frame. True if too many are unread, so that the stream must be given up.
    pub fn take(&mut self, bytes: &[u8], now: Tick) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.came = now;
        let is_flooded = self.bytes.len() - self.read > MOST_UNREAD;
        self.is_ended |= is_flooded;
        is_flooded
    }

    /// Reads into `buffer`; 0 if nothing is unread.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        let unread = &self.bytes[self.read..];
        let n = unread.len().min(buffer.len());
        buffer[..n].copy_from_slice(&unread[..n]);
        self.read += n;
        if self.read == self.bytes.len() {
            self.read = 0;
            self.bytes.clear();
            self.bytes.shrink_to(USUAL_ROOM);
        }
        n
    }
}
