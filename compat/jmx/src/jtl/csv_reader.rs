//! Reads records from CSV result files with or without a header, with columns in any
//! order and any delimiter.

use super::columns::{self, JtlColumn};
use super::settings::JtlSettings;
use super::unreadable;
use crate::error::JmxError;
use brunt_model::SampleRecord;
use csv::{ByteRecord, ReaderBuilder};
use std::io::{BufRead, BufReader, Chain, Cursor, Read};

/// Iterates over the records of a CSV file. An unreadable row is an error with its line;
/// reading continues after it.
#[derive(Debug)]
pub struct CsvReader<R> {
    rows: csv::Reader<Chain<Cursor<Vec<u8>>, BufReader<R>>>,
    settings: JtlSettings,
    columns: Vec<JtlColumn>,
    row: ByteRecord,
    /// Number of lines before the rows.
    header_lines: u64,
    ended: bool,
}

impl<R: Read> CsvReader<R> {
    /// Opens a file. Without a header, the columns follow from the settings. Header columns that
    /// JMeter does not know are variables.
    pub fn new(input: R, settings: &JtlSettings) -> Result<Self, JmxError> {
        let mut input = BufReader::new(input);
        let mut first = Vec::new();
        input.read_until(b'\n', &mut first).map_err(|error| unreadable(&error))?;
        // A byte-order mark is not part of the first name.
        if first.starts_with(b"\xEF\xBB\xBF") {
            first.drain(..3);
        }
        let mut settings = settings.clone();
        let header = header(&first, &mut settings);
        let header_lines = u64::from(header.is_some());
        let columns = header.unwrap_or_else(|| columns::columns(&settings));
        let start = if header_lines > 0 { Vec::new() } else { first };
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(settings.delimiter);
        let rows = builder.from_reader(Cursor::new(start).chain(input));
        Ok(Self { rows, settings, columns, row: ByteRecord::new(), header_lines, ended: false })
    }

    /// Names of the variables in the header.
    pub fn sample_variables(&self) -> &[String] {
        &self.settings.sample_variables
    }

    fn name(&self, column: JtlColumn) -> &str {
        match column {
            JtlColumn::Variable(index) => {
                self.settings.sample_variables.get(index).map_or("", String::as_str)
            }
            column => column.name(),
        }
    }

    fn record(&self) -> Result<SampleRecord, JmxError> {
        let line = self.row.position().map_or(0, csv::Position::line) + self.header_lines;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        if self.row.len() < self.columns.len() {
            let column_count = self.row.len();
            let expected = self.columns.len();
            return Err(JmxError::on_line(
                line,
                format!("the row has {column_count} columns; expected {expected}"),
            ));
        }
        let mut record = columns::blank();
        for (value, column) in self.row.iter().zip(&self.columns) {
            let Ok(text) = std::str::from_utf8(value) else {
                return Err(JmxError::on_line(
                    line,
                    format!("column `{}` is not UTF-8", self.name(*column)),
                ));
            };
            column.read(text, &mut record, &self.settings).ok_or_else(|| {
                let message = format!(
                    "column `{}` is `{text}`; expected {}",
                    self.name(*column),
                    column.expected()
                );
                JmxError::on_line(line, message)
            })?;
        }
        columns::complete(&mut record, &self.columns);
        Ok(record)
    }
}

impl<R: Read> Iterator for CsvReader<R> {
    type Item = Result<SampleRecord, JmxError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.rows.read_byte_record(&mut self.row) {
            Ok(true) => Some(self.record()),
            Ok(false) => None,
            Err(error) => {
                // The next read could return the same error again, without end.
                self.ended = true;
                Some(Err(JmxError::new(format!("the result file cannot be read: {error}"))))
            }
        }
    }
}

/// Columns in a header; None if the line is not a header. Updates the delimiter and the
/// variables of the settings.
fn header(line: &[u8], settings: &mut JtlSettings) -> Option<Vec<JtlColumn>> {
    // A run with other settings may have written the file.
    let names =
        [settings.delimiter, b',', b';', b'\t', b'|'].into_iter().find_map(|delimiter| {
            let names = names(line, delimiter)?;
            settings.delimiter = delimiter;
            Some(names)
        })?;
    settings.sample_variables.clear();
    let columns = names.into_iter().map(|name| {
        JtlColumn::named(&name).unwrap_or_else(|| {
            settings.sample_variables.push(name);
            JtlColumn::Variable(settings.sample_variables.len() - 1)
        })
    });
    Some(columns.collect())
}

/// Names in a header. At least one is a JMeter column, and none is a number; otherwise None.
fn names(line: &[u8], delimiter: u8) -> Option<Vec<String>> {
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
    let mut row = ByteRecord::new();
    reader.read_byte_record(&mut row).ok().filter(|&found| found)?;
    let names: Option<Vec<String>> =
        row.iter().map(|name| String::from_utf8(name.to_vec()).ok()).collect();
    let names = names?;
    let has_known_column = names.iter().any(|name| JtlColumn::named(name).is_some());
    let has_number = names.iter().any(|name| name.parse::<f64>().is_ok());
    (has_known_column && !has_number).then_some(names)
}
