//! Reads and writes the file of an experiment: its definition, its later steps, and
//! how each attempt ended.
//!
//! The file is the eight bytes [`MAGIC`], then frames as in an event log, each with deflated JSON.
//! The first frame is the experiment. The later ones follow in order: each step that was chosen
//! during the experiment, each resumption after an interruption (with the question, if it changed),
//! and each end. Out of scope: its runs; each has its own log, which names the experiment.

use crate::StoreError;
use crate::redact::Redactor;
use brunt_model::codec::{Frame, frame, read_frame};
use brunt_model::experiment::LoadStep;
use brunt_model::study::Resumption;
use brunt_model::{Environment, Experiment, Question, Text};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

/// First bytes of the file; the last two are the version.
const MAGIC: &[u8; 8] = b"BRUNTX01";

/// Maximum size of a frame's JSON, in bytes. It limits what a damaged file can unpack to.
const MAX_JSON_BYTES: u64 = 256 << 20;

/// Definition of an experiment, with the environment and the start time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExperimentHead {
    pub experiment: Experiment,
    pub environment: Environment,
    pub unix_seconds: f64,
}

/// How an experiment ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentEnd {
    /// True if it stopped before all trials were complete.
    pub interrupted: bool,
    /// Warnings for the reader, one sentence each.
    #[serde(with = "brunt_model::codec::texts")]
    pub warnings: Vec<Text>,
}

/// A record after the head. The records have no tag: the first version
/// wrote a bare `ExperimentEnd`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ExperimentRecord {
    /// A step was added during the experiment.
    StepAdded { contender: usize, grown: Box<LoadStep> },
    /// The experiment was resumed after an interruption. `question` is set if it changed.
    Resumed { resumption: Resumption, question: Option<Box<Question>> },
    /// The experiment ended.
    Ended(ExperimentEnd),
}

/// Contents of the file of an experiment.
pub(crate) struct ExperimentContents {
    /// Head, with all steps that were added later.
    pub head: ExperimentHead,
    /// Last recorded end; None if the process stopped without one.
    pub end: Option<ExperimentEnd>,
    /// Resumptions, in order.
    pub resumptions: Vec<Resumption>,
    /// Length of the readable part of the file, in bytes.
    pub whole_bytes: u64,
}

/// Writes the head. It is on the disk when this returns.
pub(crate) fn begin(mut file: &File, head: &ExperimentHead) -> io::Result<()> {
    let mut first = MAGIC.to_vec();
    first.extend(frame(&pack(head)?)?);
    file.write_all(&first)?;
    file.sync_all()
}

/// Appends a record. It is on the disk when this returns.
pub(crate) fn append(mut file: &File, record: &ExperimentRecord) -> io::Result<()> {
    file.write_all(&frame(&pack(record)?)?)?;
    file.sync_all()
}

/// Reads the file up to its first damaged record. A damaged head is an error.
pub(crate) fn read(path: &Path) -> Result<ExperimentContents, StoreError> {
    let file = brunt_files::open_regular(path).map_err(StoreError::io(path))?;
    let mut from = BufReader::new(file);
    let mut magic = [0; 8];
    from.read_exact(&mut magic).map_err(|_| StoreError::Damaged(path.to_owned()))?;
    let first = if &magic == MAGIC { read_record(&mut from) } else { None };
    let (head, length) = first.ok_or_else(|| StoreError::Damaged(path.to_owned()))?;
    let mut contents = ExperimentContents {
        head,
        end: None,
        resumptions: Vec::new(),
        whole_bytes: MAGIC.len() as u64 + length,
    };
    while let Some((record, length)) = read_record(&mut from) {
        contents.whole_bytes += length;
        contents.apply(record);
    }
    Ok(contents)
}

impl ExperimentContents {
    fn apply(&mut self, record: ExperimentRecord) {
        let experiment = &mut self.head.experiment;
        match record {
            ExperimentRecord::StepAdded { contender, grown } => {
                // A new step means that the experiment continued, so an earlier end is no longer
                // valid.
                self.end = None;
                if let Some(contender) = experiment.contenders.get_mut(contender) {
                    contender.steps.push(*grown);
                }
            }
            ExperimentRecord::Resumed { resumption, question } => {
                self.resumptions.push(resumption);
                experiment.question =
                    question.map_or_else(|| experiment.question.clone(), |question| *question);
            }
            ExperimentRecord::Ended(end) => self.end = Some(end),
        }
    }
}

impl ExperimentHead {
    /// Replaces the secrets of the experiment and of its environment.
    pub fn redact(&mut self, redactor: &Redactor) {
        redactor.experiment(&mut self.experiment);
        redactor.environment(&mut self.environment);
    }
}

impl ExperimentRecord {
    /// Replaces the secrets of the record.
    pub fn redact(&mut self, redactor: &Redactor) {
        match self {
            Self::StepAdded { grown, .. } => redactor.step(grown),
            Self::Resumed { .. } => {}
            Self::Ended(end) => end.redact(redactor),
        }
    }
}

impl ExperimentEnd {
    fn redact(&mut self, redactor: &Redactor) {
        redactor.messages(&mut self.warnings);
    }
}

fn pack(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&serde_json::to_vec(value)?)?;
    packer.finish()
}

/// Reads the next record. Returns it with the length of its frame, in bytes. None at the end or
/// at a damaged frame.
fn read_record<T: DeserializeOwned>(from: &mut impl Read) -> Option<(T, u64)> {
    let Frame::Whole(packed) = read_frame(from).ok()? else { return None };
    let length = frame(&packed).ok()?.len() as u64;
    let value = serde_json::from_reader(BufReader::new(
        DeflateDecoder::new(&packed[..]).take(MAX_JSON_BYTES),
    ))
    .ok()?;
    Some((value, length))
}
