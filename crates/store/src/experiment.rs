//! The file of an experiment: what was to be done, and how each attempt at it ended.
//!
//! It is the eight bytes [`MAGIC`], then frames as those of an event log: first the experiment, deflated JSON; then what
//! became of it, in order: each step that was chosen on the way, each time that it was continued after an interruption, with the
//! question if that changed, and, each time that somebody ended it, how. Out of scope: its runs; each has a log of its own that names it.

use crate::StoreError;
use crate::redact::Redactor;
use brunt_model::codec::{Frame, frame, read_frame};
use brunt_model::experiment::Step;
use brunt_model::study::Resumption;
use brunt_model::{Environment, Experiment, Question};
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
pub(crate) struct ExperimentHead {
    pub experiment: Experiment,
    pub environment: Environment,
    pub unix_seconds: f64,
}

/// How an experiment ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentEnd {
    /// It was stopped before all trials were made.
    pub interrupted: bool,
    /// What the reader should know, each a sentence.
    pub warnings: Vec<String>,
}

/// What is written behind the beginning. An `ExperimentEnd` stands there without a name of its own, as it always did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ExperimentRecord {
    /// A step was chosen.
    Grown { contender: usize, grown: Box<Step> },
    /// It was continued after an interruption; with the question where that is another now.
    Resumed { resumption: Resumption, question: Option<Box<Question>> },
    /// Somebody ended it.
    Ended(ExperimentEnd),
}

/// What the file says.
pub(crate) struct ExperimentContents {
    /// With all steps that were chosen since.
    pub asked: ExperimentHead,
    /// How it ended last; None where nobody lived to say so.
    pub ended: Option<ExperimentEnd>,
    /// When it was continued, in order.
    pub resumptions: Vec<Resumption>,
    /// So many bytes of it are whole.
    pub whole_bytes: u64,
}

/// Writes the beginning, on the disk when it returns.
pub(crate) fn begin(mut file: &File, asked: &ExperimentHead) -> io::Result<()> {
    let mut first = MAGIC.to_vec();
    first.extend(frame(&pack(asked)?)?);
    file.write_all(&first)?;
    file.sync_all()
}

/// Appends what became of it, on the disk when it returns.
pub(crate) fn append(mut file: &File, later: &ExperimentRecord) -> io::Result<()> {
    file.write_all(&frame(&pack(later)?)?)?;
    file.sync_all()
}

/// Reads it as far as it is whole; a beginning that is not is an error.
pub(crate) fn read(path: &Path) -> Result<ExperimentContents, StoreError> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    let mut from = BufReader::new(file);
    let damaged = || StoreError::Damaged(path.to_owned());
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| damaged())?;
    let (asked, length) = (&magic == MAGIC).then(|| next(&mut from)).flatten().ok_or_else(damaged)?;
    let mut kept =
        ExperimentContents { asked, ended: None, resumptions: Vec::new(), whole_bytes: MAGIC.len() as u64 + length };
    while let Some((later, length)) = next(&mut from) {
        kept.whole_bytes += length;
        kept.follow(later);
    }
    Ok(kept)
}

impl ExperimentContents {
    fn follow(&mut self, later: ExperimentRecord) {
        let experiment = &mut self.asked.experiment;
        match later {
            ExperimentRecord::Grown { contender, grown } => {
                // It goes on: what was said of its end before is no longer so.
                self.ended = None;
                if let Some(contender) = experiment.contenders.get_mut(contender) {
                    contender.steps.push(*grown);
                }
            }
            ExperimentRecord::Resumed { resumption, question } => {
                self.resumptions.push(resumption);
                experiment.question = question.map_or_else(|| experiment.question.clone(), |question| *question);
            }
            ExperimentRecord::Ended(ended) => self.ended = Some(ended),
        }
    }
}

impl ExperimentHead {
    /// Replaces its secrets.
    pub fn redact(&mut self, redactor: &Redactor) {
        redactor.experiment(&mut self.experiment);
        redactor.environment(&mut self.environment);
    }
}

impl ExperimentRecord {
    /// Replaces its secrets.
    pub fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::Grown { grown, .. } => redactor.step(grown),
            Self::Resumed { .. } => {}
            Self::Ended(ended) => ended.redact(redactor),
        }
    }
}

impl ExperimentEnd {
    fn redact(&mut self, redactor: &Redactor) {
        for warning in &mut self.warnings {
            *warning = redactor.text(warning);
        }
    }
}

fn pack(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&serde_json::to_vec(value)?)?;
    packer.finish()
}

/// The next value, and the bytes that its frame takes.
fn next<T: DeserializeOwned>(from: &mut impl Read) -> Option<(T, u64)> {
    let Frame::Whole(packed) = read_frame(from).ok()? else { return None };
    let length = frame(&packed).ok()?.len() as u64;
    let value = serde_json::from_reader(BufReader::new(DeflateDecoder::new(&packed[..]).take(LONGEST))).ok()?;
    Some((value, length))
}
