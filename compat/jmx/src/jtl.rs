//! Reads and writes JMeter's result files (.jtl), as CSV and as XML.
//!
//! * [`settings`]: the saved fields and their format (`jmeter.save.saveservice.*`). [`columns`]:
//!   the columns of CSV files.
//! * [`csv_writer`], [`xml_writer`]: records → files. [`csv_reader`], [`xml_reader`]: files →
//!   records, one at a time. [`observations`]: files → a trial of `brunt analyse`.

pub mod columns;
pub mod csv_reader;
pub mod csv_writer;
pub mod observations;
pub mod settings;
pub mod xml_reader;
pub mod xml_writer;

pub use csv_reader::CsvReader;
pub use csv_writer::CsvWriter;
pub use settings::{Field, JtlFormat, JtlSettings, TimestampFormat};
pub use xml_reader::XmlReader;
pub use xml_writer::XmlWriter;

use crate::error::JmxError;
use brunt_model::SampleRecord;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

/// Initial content of a result file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStart {
    /// The file is new or empty: the writer adds the header.
    New,
    /// The file ends with a complete record, and new records follow it. Before appending, the
    /// caller removes the last line of an XML file, [`xml_writer::FOOTER`].
    Append,
}

/// Start of the message of a transaction sample.
pub(crate) const TRANSACTION_MESSAGE: &str = "Number of samples in transaction : ";

/// Reads a result file; its first bytes decide between CSV and XML.
///
/// # Errors
///
/// Fails if the file cannot be read or its header is malformed. The iterator
/// returns errors in records.
pub fn read<'r, R: Read + 'r>(
    input: R,
    settings: &JtlSettings,
) -> Result<Box<dyn Iterator<Item = Result<SampleRecord, JmxError>> + 'r>, JmxError> {
    let mut input = BufReader::new(input);
    let start = input.fill_buf().map_err(|error| unreadable(&error))?;
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    if text.trim_ascii_start().starts_with(b"<") {
        return Ok(Box::new(XmlReader::new(input, settings)));
    }
    Ok(Box::new(CsvReader::new(input, settings)?))
}

/// True if a text begins like a result file.
pub fn is_result_file(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('<') {
        return text.contains("<testResults");
    }
    csv_reader::is_csv(text.lines().next().unwrap_or_default())
}

/// Samples of a result file that cannot be read.
#[derive(Debug, Default)]
pub struct UnreadableSamples {
    /// Number of these samples.
    pub count: u64,
    /// Why the first one cannot be read.
    pub first: Option<JmxError>,
}

impl fmt::Display for UnreadableSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "samples left out because they cannot be read: {}", self.count)?;
        self.first.as_ref().map_or(Ok(()), |error| write!(f, "; the first: {error}"))
    }
}

/// Passes each sample that can be read to a function. Returns the others; None if there are none.
///
/// # Errors
///
/// The file cannot be read, or it has no sample that can be read.
pub fn for_each_sample<R: Read>(
    input: R,
    settings: &JtlSettings,
    mut add: impl FnMut(&SampleRecord),
) -> Result<Option<UnreadableSamples>, JmxError> {
    let mut has_samples = false;
    let mut unreadable = UnreadableSamples::default();
    for sample in read(input, settings)? {
        match sample {
            Ok(sample) => {
                has_samples = true;
                add(&sample);
            }
            Err(error) => {
                unreadable.count += 1;
                unreadable.first.get_or_insert(error);
            }
        }
    }
    if !has_samples {
        let reason = unreadable.first;
        return Err(reason.unwrap_or_else(|| JmxError::new("the result file has no samples")));
    }
    Ok(Some(unreadable).filter(|unreadable| unreadable.count > 0))
}

pub(crate) fn unreadable(error: &std::io::Error) -> JmxError {
    JmxError::new(format!("the result file cannot be read: {error}"))
}

/// Failure message of a sample: its own, or that of the first failed assertion.
pub(crate) fn failure_message(record: &SampleRecord) -> Option<&str> {
    record.failure_message.as_deref().or_else(|| {
        let failed = record.assertions.iter().find(|one| one.failure || one.error)?;
        failed.message.as_deref()
    })
}

#[cfg(test)]
mod tests;
