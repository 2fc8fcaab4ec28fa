//! Reads records from CSV result files with or without a header, with columns in any
//! order and any delimiter.

use super::columns::{self, JtlColumn};
use super::settings::{Field, JtlSettings};
use super::unreadable;
use crate::error::JmxError;
use brunt_model::SampleRecord;
use csv::{ByteRecord, ReaderBuilder};
use std::io::{BufRead, BufReader, Chain, Cursor, Read};

/// Columns that JMeter wrote by default, for files without a header: version 5, 3 and 4, 3.0, and 2.
const DEFAULT_HEADERS: [&str; 4] = [
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,Latency,IdleTime,Connect",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,grpThreads,allThreads,Latency,IdleTime",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency",
];

/// Iterates over the records of a CSV file. An unreadable row is an error with its line;
/// reading continues after it. A header among the rows applies to the rows after it.
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
    /// Opens a file. Without a header, the columns follow from the settings, or from a version of
    /// JMeter whose default columns fit. Header columns that JMeter does not know are variables.
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
        let columns = header.unwrap_or_else(|| columns_without_header(&first, &mut settings));
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
        loop {
            match self.rows.read_byte_record(&mut self.row) {
                Ok(true) => {
                    // A file that several runs have written may have a header of each.
                    if self.row.get(0).is_some_and(is_name)
                        && let Some(names) = header_names(&self.row)
                    {
                        self.columns = named_columns(names, &mut self.settings);
                        continue;
                    }
                    return Some(self.record());
                }
                Ok(false) => return None,
                Err(error) => {
                    // The next read could return the same error again, without end.
                    self.ended = true;
                    let message = format!("the result file cannot be read: {error}");
                    return Some(Err(JmxError::new(message)));
                }
            }
        }
    }
}

fn is_name(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|name| JtlColumn::named(name).is_some())
}

/// True if a line is a header of a result file, or a row of one without a header.
pub fn is_csv(line: &str) -> bool {
    let mut settings = JtlSettings::default();
    match header(line.as_bytes(), &mut settings) {
        Some(columns) => [Field::Elapsed, Field::Label]
            .into_iter()
            .all(|field| columns.contains(&JtlColumn::Field(field))),
        None => default_columns(line.as_bytes(), &settings).is_some(),
    }
}

/// Columns of a file whose first line is this row.
fn columns_without_header(row: &[u8], settings: &mut JtlSettings) -> Vec<JtlColumn> {
    let columns = columns::columns(settings);
    if fits(row, &columns, settings) {
        return columns;
    }
    default_columns(row, settings).unwrap_or(columns)
}

fn default_columns(row: &[u8], settings: &JtlSettings) -> Option<Vec<JtlColumn>> {
    let mut candidates = DEFAULT_HEADERS
        .iter()
        .map(|names| names.split(',').filter_map(JtlColumn::named).collect::<Vec<JtlColumn>>());
    candidates.find(|columns| fits(row, columns, settings))
}

/// True if the row has exactly these columns, with valid values.
fn fits(row: &[u8], columns: &[JtlColumn], settings: &JtlSettings) -> bool {
    let Some(cells) = first_row(row, settings.delimiter) else { return false };
    let mut record = columns::blank();
    cells.len() == columns.len()
        && cells.iter().zip(columns).all(|(cell, column)| {
            let text = std::str::from_utf8(cell).ok();
            text.and_then(|text| column.read(text, &mut record, settings)).is_some()
        })
}

fn first_row(line: &[u8], delimiter: u8) -> Option<ByteRecord> {
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
    let mut row = ByteRecord::new();
    reader.read_byte_record(&mut row).ok().filter(|&found| found)?;
    Some(row)
}

/// Columns in a header; None if the line is not a header. Updates the delimiter and the
/// variables of the settings.
fn header(line: &[u8], settings: &mut JtlSettings) -> Option<Vec<JtlColumn>> {
    // A run with other settings may have written the file.
    let names =
        [settings.delimiter, b',', b';', b'\t', b'|'].into_iter().find_map(|delimiter| {
            let names = header_names(&first_row(line, delimiter)?)?;
            settings.delimiter = delimiter;
            Some(names)
        })?;
    Some(named_columns(names, settings))
}

/// Columns with these names. Names that JMeter does not know become the variables of the settings.
fn named_columns(names: Vec<String>, settings: &mut JtlSettings) -> Vec<JtlColumn> {
    settings.sample_variables.clear();
    let columns = names.into_iter().map(|name| {
        JtlColumn::named(&name).unwrap_or_else(|| {
            settings.sample_variables.push(name);
            JtlColumn::Variable(settings.sample_variables.len() - 1)
        })
    });
    columns.collect()
}

/// Names in a header. At least one is a JMeter column, and none is a number; otherwise None.
fn header_names(row: &ByteRecord) -> Option<Vec<String>> {
    let names: Option<Vec<String>> =
        row.iter().map(|name| String::from_utf8(name.to_vec()).ok()).collect();
    let names = names?;
    let has_known_column = names.iter().any(|name| JtlColumn::named(name).is_some());
    let has_number = names.iter().any(|name| name.parse::<f64>().is_ok());
    (has_known_column && !has_number).then_some(names)
}
