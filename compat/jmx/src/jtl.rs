//! Reads and writes JMeter's result files (.jtl), as CSV and as XML.
//!
//! * [`settings`]: the saved fields and their format (`jmeter.save.saveservice.*`). [`columns`]:
//!   the columns of CSV files.
//! * [`csv_writer`], [`xml_writer`]: records → files. [`csv_reader`], [`xml_reader`]: files →
//!   records, one at a time.

pub mod columns;
pub mod csv_reader;
pub mod csv_writer;
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
