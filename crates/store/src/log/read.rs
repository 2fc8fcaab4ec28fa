//! Reads packed and plain event logs.

use super::{LogHead, MAGIC};
use brunt_model::codec::{Decoded, Frame, LogError, LogReader, check_magic, decode, read_frame};
use brunt_model::{Event, Text, text};
use flate2::{Decompress, FlushDecompress};
use std::io::{Chain, Cursor, Read};

/// Maximum size of an unpacked event, in bytes.
const MAX_EVENT_BYTES: usize = 256 << 20;

/// Bytes that any log may unpack to, however short it is.
const MIN_UNPACKED_LIMIT: u64 = 16 << 20;

/// Maximum number of unpacked bytes for each packed byte. Deflate allows 1032; logs of
/// brunt reach about 10.
const MAX_EXPANSION: u64 = 64;

/// Reads events in order, from a log of either kind. Iteration ends at the first event
/// that is not complete.
pub enum EventReader<R> {
    /// Log of `--events`.
    Plain(LogReader<Chain<Cursor<[u8; 8]>, R>>),
    /// Log of a store.
    Packed(PackedReader<R>),
}

impl<R: Read> EventReader<R> {
    /// Opens a log. Its first bytes decide which kind it is.
    ///
    /// # Errors
    ///
    /// [`LogError`] if it cannot be read, is no log, or has an unknown version.
    pub fn new(mut from: R) -> Result<Self, LogError> {
        let magic = magic(&mut from)?;
        match check_magic(&magic, MAGIC) {
            Ok(()) => PackedReader::after_magic(from).map(Self::Packed),
            Err(LogError::NotALog) => {
                LogReader::new(Cursor::new(magic).chain(from)).map(Self::Plain)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the next event; None at the end.
    ///
    /// # Errors
    ///
    /// [`LogError`] if the log is damaged or cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        match self {
            Self::Plain(reader) => reader.next_event(),
            Self::Packed(reader) => reader.next_event(),
        }
    }

    /// Returns a warning for the report if events were skipped; None otherwise.
    pub fn warning(&self) -> Option<Text> {
        let skipped = self.skipped();
        (skipped > 0).then(|| text!("warning-log-skipped", count = skipped.to_string()))
    }

    /// Returns the number of events skipped so far. A later version wrote them, and this one does
    /// not know their kind.
    pub fn skipped(&self) -> u64 {
        match self {
            Self::Plain(reader) => reader.skipped(),
            Self::Packed(reader) => reader.skipped,
        }
    }
}

impl<R: Read> Iterator for EventReader<R> {
    type Item = Result<Event, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_event().transpose()
    }
}

/// Reads a packed log.
pub struct PackedReader<R> {
    from: R,
    head: LogHead,
    unpacker: Decompress,
    read: u64,
    skipped: u64,
}

impl<R: Read> PackedReader<R> {
    /// Opens a packed log.
    ///
    /// # Errors
    ///
    /// [`LogError`] if it cannot be read, is no packed log, or has an unknown version.
    pub fn new(mut from: R) -> Result<Self, LogError> {
        let magic = magic(&mut from)?;
        check_magic(&magic, MAGIC)?;
        Self::after_magic(from)
    }

    fn after_magic(mut from: R) -> Result<Self, LogError> {
        let Frame::Whole(head) = read_frame(&mut from)? else { return Err(LogError::Torn(0)) };
        let head = serde_json::from_slice(&head).map_err(|_| LogError::Torn(0))?;
        Ok(Self { from, head, unpacker: Decompress::new(false), read: 0, skipped: 0 })
    }

    /// Returns the head of the log.
    pub fn head(&self) -> &LogHead {
        &self.head
    }

    /// Returns the input.
    pub(super) fn input(&mut self) -> &mut R {
        &mut self.from
    }

    /// Returns the input after the head or the last event read.
    pub fn rest(self) -> R {
        self.from
    }

    /// Number of unpacked bytes so far.
    pub fn unpacked_bytes(&self) -> u64 {
        self.unpacker.total_out()
    }

    /// Returns the next event that this version knows; None at the end.
    ///
    /// # Errors
    ///
    /// [`LogError`] if the log is damaged or cannot be read.
    pub fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        loop {
            let torn = LogError::Torn(self.read);
            let packed = match read_frame(&mut self.from)? {
                Frame::End => return Ok(None),
                Frame::Torn => return Err(torn),
                Frame::Whole(packed) => packed,
            };
            self.read += 1;
            match self.unpack(&packed).and_then(|plain| decode(&plain)).ok_or(torn)? {
                Decoded::Known(event) => return Ok(Some(event)),
                Decoded::Unknown => self.skipped += 1,
            }
        }
    }

    fn unpack(&mut self, mut packed: &[u8]) -> Option<Vec<u8>> {
        let mut plain = Vec::with_capacity(packed.len() * 4 + 256);
        loop {
            let packed_before = self.unpacker.total_in();
            let plain_before = plain.len();
            self.unpacker.decompress_vec(packed, &mut plain, FlushDecompress::Sync).ok()?;
            packed = &packed[(self.unpacker.total_in() - packed_before) as usize..];
            let has_room = plain.len() < plain.capacity();
            if packed.is_empty() && has_room {
                return Some(plain);
            }
            let is_bomb = self.unpacker.total_out()
                > MIN_UNPACKED_LIMIT + MAX_EXPANSION * self.unpacker.total_in();
            let is_stalled = has_room
                && self.unpacker.total_in() == packed_before
                && plain.len() == plain_before;
            if is_bomb || plain.len() > MAX_EVENT_BYTES || is_stalled {
                return None;
            }
            plain.reserve(plain.len() + 256);
        }
    }
}

fn magic(from: &mut impl Read) -> Result<[u8; 8], LogError> {
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| LogError::NotALog)?;
    Ok(magic)
}
