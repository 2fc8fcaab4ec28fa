//! The file of an experiment: what was to be done, and how each attempt at it ended.
//!
//! It is the eight bytes [`MAGIC`], then frames as those of an event log: first the experiment, deflated JSON; then,
//! each time that somebody ended it, how. What it is not: its runs; each has a log of its own that names it.

use crate::StoreError;
use brunt_model::codec::{Frame, frame, read_frame};
use brunt_model::{Environment, Experiment};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

/// The first bytes; the last two are the version.
const MAGIC: &[u8; 8] = b"BRUNTX01";

/// No experiment is longer, as JSON.
const LONGEST: u64 = 256 << 20;

/// What was to be done, where, and since when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub experiment: Experiment,
    pub environment: Environment,
    pub unix_seconds: f64,
}

/// How an experiment ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// It was stopped before all trials were made.
    pub interrupted: bool,
    /// What the reader should know, each a sentence.
    pub warnings: Vec<String>,
}

/// What the file says.
pub(crate) struct Kept {
    pub asked: Asked,
    /// How it ended last; None where nobody lived to say so.
    pub ended: Option<Ended>,
}

/// Writes the beginning, on the disk when it returns.
pub(crate) fn begin(mut file: &File, asked: &Asked) -> io::Result<()> {
    let mut first = MAGIC.to_vec();
    first.extend(frame(&pack(asked)?)?);
    file.write_all(&first)?;
    file.sync_all()
}

/// Appends how it ended.
pub(crate) fn end(mut file: &File, ended: &Ended) -> io::Result<()> {
    file.write_all(&frame(&pack(ended)?)?)?;
    file.sync_all()
}

/// Reads it as far as it is whole; a beginning that is not is an error.
pub(crate) fn read(path: &Path) -> Result<Kept, StoreError> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    let mut from = BufReader::new(file);
    let damaged = || StoreError::Damaged(path.to_owned());
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| damaged())?;
    let asked = (&magic == MAGIC).then(|| next(&mut from)).flatten().ok_or_else(damaged)?;
    let ended = std::iter::from_fn(|| next(&mut from)).last();
    Ok(Kept { asked, ended })
}

fn pack(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&serde_json::to_vec(value)?)?;
    packer.finish()
}

fn next<T: DeserializeOwned>(from: &mut impl Read) -> Option<T> {
    let Frame::Whole(packed) = read_frame(from).ok()? else { return None };
    serde_json::from_reader(BufReader::new(DeflateDecoder::new(&packed[..]).take(LONGEST))).ok()
}
