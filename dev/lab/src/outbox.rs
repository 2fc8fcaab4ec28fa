//! Queues the bytes that one connection has to send, and notes which replies are complete.
//!
//! It is a queue of shared slices, written with as few system calls as possible. It does
//! not interpret the bytes.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Write};
use std::rc::Rc;

/// Maximum number of slices in one write.
const MAX_SLICES: usize = 32;

/// A reply to record when its last byte is passed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletedReply {
    /// Status of the reply.
    pub status: u16,
    /// Index of its record, if it has one.
    pub ticket: Option<u32>,
}

#[derive(Debug)]
struct Piece {
    bytes: Rc<[u8]>,
    completed: Option<CompletedReply>,
}

/// Bytes to send, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    pieces: VecDeque<Piece>,
    /// Number of bytes of the first piece that are sent.
    sent: usize,
}

impl Outbox {
    /// Adds bytes, and the reply to record once they are sent.
    pub fn push(&mut self, bytes: Rc<[u8]>, completed: Option<CompletedReply>) {
        // A write of no bytes returns 0, like a socket that accepts no more.
        if !bytes.is_empty() {
            self.pieces.push_back(Piece { bytes, completed });
        }
    }

    /// True if everything is sent.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Number of unsent pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Writes until everything is sent or the writer would block. Completely sent replies are
    /// appended to `completed`. Returns the number of bytes written.
    pub fn write_to(
        &mut self,
        writer: &mut impl Write,
        completed: &mut Vec<CompletedReply>,
    ) -> io::Result<usize> {
        let mut total = 0;
        while let Some(first) = self.pieces.front() {
            let result = match self.pieces.len() {
                1 => writer.write(&first.bytes[self.sent..]),
                _ => writer.write_vectored(&self.slices()[..self.pieces.len().min(MAX_SLICES)]),
            };
            match result {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    total += count;
                    self.advance(count, completed);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(total)
    }

    fn slices(&self) -> [IoSlice<'_>; MAX_SLICES] {
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        for (index, (slice, piece)) in slices.iter_mut().zip(&self.pieces).enumerate() {
            *slice =
                IoSlice::new(if index == 0 { &piece.bytes[self.sent..] } else { &piece.bytes });
        }
        slices
    }

    fn advance(&mut self, count: usize, completed: &mut Vec<CompletedReply>) {
        self.sent += count;
        while let Some(first) = self.pieces.front()
            && self.sent >= first.bytes.len()
        {
            self.sent -= first.bytes.len();
            completed.extend(first.completed);
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts a few bytes at a time, and blocks after each write.
    struct Reluctant {
        taken: Vec<u8>,
        ready: bool,
    }

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.ready = !self.ready;
            if !self.ready {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(3);
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn everything_is_sent_in_order_and_counted_once() {
        let mut outbox = Outbox::default();
        let mut expected = String::new();
        for n in 0..100u16 {
            let text = format!("<{n}>");
            expected += &text;
            outbox.push(
                text.into_bytes().into(),
                (n % 2 == 0).then_some(CompletedReply { status: n, ticket: None }),
            );
        }
        let mut writer = Reluctant { taken: Vec::new(), ready: false };
        let mut completed = Vec::new();
        let mut total = 0;
        while !outbox.is_empty() {
            total += outbox.write_to(&mut writer, &mut completed).unwrap();
        }
        assert_eq!(String::from_utf8(writer.taken).unwrap(), expected);
        assert_eq!(total, expected.len());
        assert_eq!(
            completed.iter().map(|one| one.status).collect::<Vec<_>>(),
            (0..100).step_by(2).collect::<Vec<_>>()
        );
    }
}
