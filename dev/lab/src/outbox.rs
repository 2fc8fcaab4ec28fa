//! What one connection has still to send, and what is settled once it is sent.
//!
//! A queue of shared slices written with as few system calls as possible. It does not know what the bytes mean.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Write};
use std::rc::Rc;

/// The most slices for one write.
const MOST_SLICES: usize = 32;

/// What is settled when the last byte of a reply is with the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// Status of the reply.
    pub status: u16,
    /// Its record, if it has one.
    pub ticket: Option<u32>,
}

#[derive(Debug)]
struct Piece {
    bytes: Rc<[u8]>,
    settled: Option<Settled>,
}

/// Bytes to send, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    pieces: VecDeque<Piece>,
    /// How much of the first piece is sent.
    sent: usize,
}

impl Outbox {
    /// Adds bytes, and what is settled once they are sent.
    pub fn push(&mut self, bytes: Rc<[u8]>, settled: Option<Settled>) {
        if !bytes.is_empty() {
            self.pieces.push_back(Piece { bytes, settled });
        }
    }

    /// Whether everything is sent.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many pieces wait.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Writes until everything is sent or the writer would block; what is settled goes to `settled`.
    /// Returns the bytes written.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_to(&mut self, writer: &mut impl Write, settled: &mut Vec<Settled>) -> io::Result<usize> {
        let mut total = 0;
        while let Some(first) = self.pieces.front() {
            let result = match self.pieces.len() {
                1 => writer.write(&first.bytes[self.sent..]),
                _ => writer.write_vectored(&self.slices()[..self.pieces.len().min(MOST_SLICES)]),
            };
            match result {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    total += count;
                    self.advance(count, settled);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(total)
    }

    fn slices(&self) -> [IoSlice<'_>; MOST_SLICES] {
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        for (at, (slice, piece)) in slices.iter_mut().zip(&self.pieces).enumerate() {
            *slice = IoSlice::new(if at == 0 { &piece.bytes[self.sent..] } else { &piece.bytes });
        }
        slices
    }

    fn advance(&mut self, count: usize, settled: &mut Vec<Settled>) {
        self.sent += count;
        while let Some(first) = self.pieces.front()
            && self.sent >= first.bytes.len()
        {
            self.sent -= first.bytes.len();
            settled.extend(first.settled);
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes at a time and blocks after each.
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
    fn everything_is_sent_in_order_and_settled_once() {
        let mut outbox = Outbox::default();
        let mut expected = String::new();
        for n in 0..100u16 {
            let text = format!("<{n}>");
            expected += &text;
            outbox.push(text.into_bytes().into(), (n % 2 == 0).then_some(Settled { status: n, ticket: None }));
        }
        let mut writer = Reluctant { taken: Vec::new(), ready: false };
        let (mut settled, mut total) = (Vec::new(), 0);
        while !outbox.is_empty() {
            total += outbox.write_to(&mut writer, &mut settled).unwrap();
        }
        assert_eq!(String::from_utf8(writer.taken).unwrap(), expected);
        assert_eq!(total, expected.len());
        assert_eq!(settled.iter().map(|one| one.status).collect::<Vec<_>>(), (0..100).step_by(2).collect::<Vec<_>>());
    }
}
