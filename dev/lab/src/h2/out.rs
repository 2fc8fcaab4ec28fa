//! Frames on their way to the socket, and which replies are settled when they are there.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::outbox::Settled;

/// How much sent data may stand before the unsent until it is removed, in bytes.
const MOST_SENT: usize = 64 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub struct Out {
    /// Frames, from `sent` on still to send.
    pub bytes: Vec<u8>,
    sent: usize,
    /// How many bytes were removed from the front of `bytes` so far.
    removed: u64,
    /// What is settled when so many bytes have been sent since the beginning.
    marks: VecDeque<(u64, Settled)>,
}

impl Out {
    /// Bytes that are not sent yet.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether everything is sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes since the beginning, sent or not.
    pub fn total(&self) -> u64 {
        self.removed + self.bytes.len() as u64
    }

    /// What is settled when everything up to here is sent.
    pub fn mark(&mut self, settled: Settled) {
        self.mark_at(self.total(), settled);
    }

    /// Settles a reply when everything up to this position is sent. Positions come in order.
    pub fn mark_at(&mut self, position: u64, settled: Settled) {
        self.marks.push_back((position, settled));
    }

    /// The bytes from a position on that is not sent yet.
    pub fn since(&self, position: u64) -> &[u8] {
        &self.bytes[(position - self.removed) as usize..]
    }

    /// Takes unsent bytes out.
    pub fn remove(&mut self, position: u64, length: usize) {
        let start = (position - self.removed) as usize;
        self.bytes.drain(start..start + length);
    }

    /// Writes until everything is sent or the writer would block; what is settled goes to `settled`.
    /// Returns the bytes written.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_to(&mut self, writer: &mut impl Write, settled: &mut Vec<Settled>) -> io::Result<usize> {
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
        while let Some((_, one)) = self.marks.pop_front_if(|(at, _)| *at <= reached) {
            settled.push(one);
        }
        if self.is_empty() || self.sent > MOST_SENT {
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

    /// Takes so many bytes, and then blocks.
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
    fn replies_are_settled_when_their_last_byte_is_sent() {
        let (mut out, mut settled) = (Out::default(), Vec::new());
        for status in [201, 202] {
            out.bytes.extend(vec![0; 50_000]);
            out.mark(Settled { status, ticket: None });
        }
        for (room, total) in [(49_999, 0), (1, 1), (40_000, 1), (9_999, 1), (5, 2)] {
            out.write_to(&mut Narrow(room), &mut settled).unwrap();
            assert_eq!(settled.len(), total);
        }
        assert!(out.is_empty() && out.bytes.is_empty());
        out.bytes.push(0);
        out.mark(Settled { status: 203, ticket: None });
        assert_eq!(out.write_to(&mut Narrow(9), &mut settled).unwrap(), 1);
        assert_eq!(settled.iter().map(|one| one.status).collect::<Vec<_>>(), [201, 202, 203]);
    }
}
