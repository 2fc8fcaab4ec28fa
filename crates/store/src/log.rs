//! The bytes of a packed event log, and a reader of both kinds of log.
//!
//! A packed log is the eight bytes [`MAGIC`], then frames as those of [`brunt_model::codec`]: length, CRC-32, payload.
//! The first payload is the [`Head`], as JSON. Each later one is an event (a message of `docs/event-log.proto`), deflated: all of them are one stream (RFC
//! 1951) that is flushed after each event, so that an event is packed by what came before it, and whole once its frame
//! is. A torn last frame is found by its length or its sum: everything before it is whole.
//!
//! Out of scope: a store; it turns events into bytes and back, in bounded memory.

mod read;

pub use read::{EventReader, PackedReader};

use brunt_model::codec::{encode, frame};
use brunt_model::{Event, TrialIndex};
use flate2::{Compress, Compression, FlushCompress};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// The first bytes of a packed log; the last two are the version, and that of the events in it.
pub const MAGIC: &[u8; 8] = b"BRUNTZ05";

/// What a log says of itself before its first event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Of which experiment the run is; None where it stands alone.
    pub belongs: Option<TrialOf>,
}

/// Of which experiment a run is, and which trial of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialOf {
    /// The experiment's id.
    pub experiment: String,
    /// Which trial.
    pub place: TrialIndex,
    /// The contender's name.
    pub contender: String,
}

/// Writes a packed log. Every event is handed to the system at once, in one piece.
pub struct PackedWriter<W> {
    out: W,
    packer: Compress,
    packed: Vec<u8>,
}

impl<W: Write> PackedWriter<W> {
    /// Begins a log.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn new(mut out: W, head: &Head) -> io::Result<Self> {
        let mut first = MAGIC.to_vec();
        first.extend(frame(&serde_json::to_vec(head)?)?);
        out.write_all(&first)?;
        // The fastest level: the others save a tenth, and this thread also gathers snapshots.
        Ok(Self { out, packer: Compress::new(Compression::fast(), false), packed: Vec::new() })
    }

    /// Appends one event; how many bytes it took.
    ///
    /// # Errors
    ///
    /// If `out` cannot be written to.
    pub fn write(&mut self, event: &Event) -> io::Result<u64> {
        self.pack(&encode(event)?)?;
        let frame = frame(&self.packed)?;
        self.out.write_all(&frame)?;
        self.out.flush()?;
        Ok(frame.len() as u64)
    }

    /// What it writes to.
    pub fn out(&self) -> &W {
        &self.out
    }

    fn pack(&mut self, mut plain: &[u8]) -> io::Result<()> {
        self.packed.clear();
        loop {
            self.packed.reserve(plain.len() / 2 + 256);
            let before = self.packer.total_in();
            self.packer.compress_vec(plain, &mut self.packed, FlushCompress::Sync).map_err(io::Error::other)?;
            plain = &plain[(self.packer.total_in() - before) as usize..];
            // Room that is left means that nothing waits inside.
            if plain.is_empty() && self.packed.len() < self.packed.capacity() {
                return Ok(());
            }
        }
    }
}
