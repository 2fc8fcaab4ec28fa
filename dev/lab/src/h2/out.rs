//! Buffers frames for the socket, and notes which replies are complete when they are sent.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::outbox::CompletedReply;

/// Maximum number of sent bytes before the unsent ones; then they are removed.
const MAX_SENT: usize = 64 * 1024;

/// Frames on the way to the socket.
#[derive(Debug, Default)]
pub struct Out {
    /// Frames; the ones from `sent` on are unsent.
    pub bytes: Vec<u8>,
    sent: usize,
    /// Number of bytes removed from the front of `bytes`.
    removed: u64,
    /// Replies that are complete when this number of bytes has been sent since the start.
    marks: VecDeque<(u64, CompletedReply)>,
}

impl Out {
    /// Number of unsent bytes.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// True if everything is sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Total number of bytes since the start, sent or not.
    pub fn total(&self) -> u64 {
        self.removed + self.bytes.len() as u64
    }

    /// Marks a reply as complete when everything up to here is sent.
    pub fn mark(&mut self, completed: CompletedReply) {
        self.mark_at(self.total(), completed);
    }

    /// Marks a reply as complete when everything up to this position is sent.
    /// Positions must be ascending.
    pub fn mark_at(&mut self, position: u64, completed: CompletedReply) {
        self.marks.push_back((position, completed));
    }

    /// Returns the bytes from an unsent position on.
    pub fn since(&self, position: u64) -> &[u8] {
        &self.bytes[(position - self.removed) as usize..]
    }

    /// Removes bytes that have not been sent, from this position on.
    pub fn remove(&mut self, position: u64, length: usize) {
        let start = (position - self.removed) as usize;
        self.bytes.drain(start..start + length);
    }

    /// Writes until everything is sent or the writer would block. Completely sent replies are
    /// appended to `completed`. Returns the number of bytes written.
    pub fn write_to(
        &mut self,
        writer: &mut impl Write,
        completed: &mut Vec<CompletedReply>,
    ) -> io::Result<usize> {
        let before = self.sent;
        while !self.is_empty() {
            match writer.write(&self.bytes[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let total = self.sent - before;
        let reached = self.removed + self.sent as u64;
        while let Some((_, reply)) = self.marks.pop_front_if(|(position, _)| *position <= reached) {
            completed.push(reply);
        }
        // Removing bytes moves the remaining ones, so it is done rarely.
        if self.is_empty() || self.sent > MAX_SENT {
            self.removed += self.sent as u64;
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts this number of bytes, and then blocks.
    struct Narrow(usize);

    impl Write for Narrow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(std::mem::take(&mut self.0));
            if count == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn replies_are_counted_when_their_last_byte_is_sent() {
        let mut out = Out::default();
        let mut completed = Vec::new();
        for status in [201, 202] {
            out.bytes.extend(vec![0; 50_000]);
            out.mark(CompletedReply { status, ticket: None });
        }
        for (room, total) in [(49_999, 0), (1, 1), (40_000, 1), (9_999, 1), (5, 2)] {
            out.write_to(&mut Narrow(room), &mut completed).unwrap();
            assert_eq!(completed.len(), total);
        }
        assert!(out.is_empty() && out.bytes.is_empty());
        out.bytes.push(0);
        out.mark(CompletedReply { status: 203, ticket: None });
        assert_eq!(out.write_to(&mut Narrow(9), &mut completed).unwrap(), 1);
        assert_eq!(completed.iter().map(|one| one.status).collect::<Vec<_>>(), [201, 202, 203]);
    }
}
