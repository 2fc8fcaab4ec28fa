//! Writes and reads the file of a digest: the finished run of an event log, which is read in less
//! time than the log.
//!
//! The file is the eight bytes [`MAGIC`], a frame with the `DigestHead` as JSON, and then the
//! frames of [`brunt_model::run::digest`], deflated. A digest is derived from the log, and as
//! redacted as the log. If a change of brunt makes the fold of the same log different without a new
//! version of brunt, the version of [`MAGIC`] must change.

use crate::directory::{self, Directory};
use crate::log::TrialOf;
use crate::{StoreError, id};
use brunt_files::open_regular;
use brunt_model::Run;
use brunt_model::codec::{Frame, check_magic, frame, read_frame};
use brunt_model::fleet::VERSION;
use brunt_model::run::digest;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// First bytes of a digest; the last two are the version.
pub(crate) const MAGIC: &[u8; 8] = b"BRUNTD01";

/// Logs of up to this many bytes have no digest: they are read quickly, and an experiment has
/// thousands of them.
pub(crate) const SHORT_LOG_BYTES: u64 = 1 << 20;

/// Bytes that any digest may unpack to, however short it is.
const MIN_UNPACKED_LIMIT: u64 = 16 << 20;

/// Maximum number of unpacked bytes for each packed byte. Deflate allows 1032; digests reach
/// about 5.
const MAX_EXPANSION: u64 = 64;

/// Facts that come before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DigestHead {
    /// Trial that the run belongs to; None for a run without an experiment.
    pub belongs: Option<TrialOf>,
    /// Length of the log that the run was folded from.
    pub log_bytes: u64,
    /// Version of brunt that folded the log. Another version may compute more from it.
    pub brunt: String,
}

impl DigestHead {
    /// Returns the head of a digest of this version of brunt.
    pub fn new(belongs: Option<TrialOf>, log_bytes: u64) -> Self {
        Self { belongs, log_bytes, brunt: VERSION.into() }
    }

    /// True if this version of brunt made it from a log of this length.
    pub fn is_valid_for(&self, log_bytes: u64) -> bool {
        *self == Self::new(self.belongs.clone(), log_bytes)
    }
}

/// Reads a digest: first its head, then its run.
pub(crate) struct DigestReader {
    head: DigestHead,
    from: BufReader<File>,
    bytes: u64,
}

impl DigestReader {
    /// Opens a digest. None if it is damaged, or of an unknown version.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = open_regular(path)?;
        let bytes = file.metadata()?.len();
        let mut from = BufReader::new(file);
        let mut magic = [0; 8];
        if from.read_exact(&mut magic).is_err() || check_magic(&magic, MAGIC).is_err() {
            return Ok(None);
        }
        let Frame::Whole(head) = read_frame(&mut from)? else { return Ok(None) };
        let head = serde_json::from_slice(&head).ok();
        Ok(head.map(|head| Self { head, from, bytes }))
    }

    /// Returns the facts that come before the run.
    pub fn head(&self) -> &DigestHead {
        &self.head
    }

    /// Reads the run; None if it is damaged.
    pub fn run(self) -> io::Result<Option<Run>> {
        Ok(self.run_and_size()?.map(|(run, _)| run))
    }

    /// Reads the run and its unpacked size in bytes; None if it is damaged.
    pub fn run_and_size(self) -> io::Result<Option<(Run, u64)>> {
        let limit = MIN_UNPACKED_LIMIT + MAX_EXPANSION * self.bytes;
        let mut plain = DeflateDecoder::new(self.from).take(limit);
        match digest::read(&mut plain) {
            // The file ends early, or is no deflate stream.
            Err(error) if is_damage(&error) => Ok(None),
            run => Ok(run?.map(|run| (run, limit - plain.limit()))),
        }
    }

    /// Returns the packed run.
    pub fn rest(self) -> impl Read {
        self.from
    }
}

fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

/// Writes the digest of a run, in place of the one that exists. It is on the disk when this
/// returns.
pub(crate) fn write(
    directory: &Directory,
    id: &str,
    head: &DigestHead,
    run: &Run,
) -> Result<(), StoreError> {
    let new = directory.incoming().join(id::draw());
    let path = directory.digest(id);
    // A rename is atomic: another process reads a whole digest or none.
    let written = write_file(&new, head, |out| {
        let mut packer = DeflateEncoder::new(out, Compression::fast());
        digest::write(run, &mut packer)?;
        packer.finish().map(drop)
    })
    .and_then(|()| fs::rename(&new, &path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.map_err(StoreError::io(&path))
}

/// Writes a packed run with another head.
pub(crate) fn rewrite(path: &Path, head: &DigestHead, mut rest: impl Read) -> io::Result<()> {
    write_file(path, head, |out| io::copy(&mut rest, out).map(drop))
}

fn write_file(
    path: &Path,
    head: &DigestHead,
    write_run: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(directory::create_new(path)?);
    out.write_all(MAGIC)?;
    out.write_all(&frame(&serde_json::to_vec(head)?)?)?;
    write_run(&mut out)?;
    out.into_inner()?.sync_all()
}
