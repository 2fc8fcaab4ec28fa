//! Writes packed event logs, and reads packed and plain ones.
//!
//! A packed log is the eight bytes [`MAGIC`], then frames as in [`brunt_model::codec`]: length,
//! CRC-32, payload. The first payload is the [`LogHead`], as JSON. Each later payload is an event (a
//! message of `docs/event-log.proto`), deflated. All events form one deflate stream (RFC 1951),
//! flushed after each event. Each event is thus compressed with the earlier ones as context, and
//! readable as soon as its frame is complete. The length or the checksum of a torn last frame is
//! wrong; everything before it is readable.
//!
//! Out of scope: a store. This module converts events to bytes and back, in bounded memory.

mod read;
mod tail;

pub use read::{EventReader, PackedReader};
pub use tail::LogTail;

use brunt_model::codec::{encode, frame};
use brunt_model::{Event, TrialIndex};
use flate2::{Compress, Compression, FlushCompress};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// First bytes of a packed log. The last two are the version of the log and of its events.
pub const MAGIC: &[u8; 8] = b"BRUNTZ05";

/// Maximum space in bytes that is reserved at once for packed bytes.
const MAX_RESERVED: usize = 64 << 10;

/// Head of a log: facts that come before the first event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// Trial that the run belongs to; None for a run without an experiment.
    pub belongs: Option<TrialOf>,
}

/// Position of a run in its experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialOf {
    /// Id of the experiment.
    pub experiment: String,
    /// Position of the trial.
    pub place: TrialIndex,
    /// Name of the contender.
    pub contender: String,
}

/// Writes a packed log. Each event is passed to the system immediately, in one write.
pub struct PackedWriter<W> {
    out: W,
    packer: Compress,
    packed: Vec<u8>,
}

impl<W: Write> PackedWriter<W> {
    /// Writes the head of a log.
    pub fn new(mut out: W, head: &LogHead) -> io::Result<Self> {
        let mut first = MAGIC.to_vec();
        first.extend(frame(&serde_json::to_vec(head)?)?);
        out.write_all(&first)?;
        // The fastest level: higher ones save only 10 %, and this thread also merges snapshots.
        Ok(Self { out, packer: Compress::new(Compression::fast(), false), packed: Vec::new() })
    }

    /// Appends one event. Returns the number of bytes written.
    pub fn write(&mut self, event: &Event) -> io::Result<u64> {
        self.pack(&encode(event)?)?;
        let frame = frame(&self.packed)?;
        self.out.write_all(&frame)?;
        self.out.flush()?;
        Ok(frame.len() as u64)
    }

    /// Returns the output.
    pub fn out(&self) -> &W {
        &self.out
    }

    fn pack(&mut self, mut plain: &[u8]) -> io::Result<()> {
        self.packed.clear();
        loop {
            // The packer fills all free space with zeros, and the buffer stays until the end of the run.
            self.packed.reserve((plain.len() / 2).clamp(256, MAX_RESERVED));
            let before = self.packer.total_in();
            self.packer
                .compress_vec(plain, &mut self.packed, FlushCompress::Sync)
                .map_err(io::Error::other)?;
            plain = &plain[(self.packer.total_in() - before) as usize..];
            // Free space in the output means that the compressor has no pending bytes.
            if plain.is_empty() && self.packed.len() < self.packed.capacity() {
                return Ok(());
            }
        }
    }
}
