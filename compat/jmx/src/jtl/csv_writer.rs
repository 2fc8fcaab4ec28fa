//! Writes records as CSV in JMeter's format.

use super::FileStart;
use super::columns::{self, JtlColumn};
use super::settings::{Field, JtlSettings};
use brunt_model::SampleRecord;
use std::io::{self, Write};

/// Writes a result file as CSV. Rows of sub-samples follow the row of their sample.
#[derive(Debug)]
pub struct CsvWriter<W> {
    out: W,
    settings: JtlSettings,
    columns: Vec<JtlColumn>,
    line: String,
}

impl<W: Write> CsvWriter<W> {
    /// Creates a writer. Writes the header if the file is new and the settings include it.
    pub fn new(out: W, settings: JtlSettings, start: FileStart) -> io::Result<Self> {
        let columns = columns::columns(&settings);
        let mut writer = Self { out, settings, columns, line: String::new() };
        if start == FileStart::New && writer.settings.saves(Field::FieldNames) {
            let header = header(&writer.settings);
            writer.out.write_all(header.as_bytes())?;
            writer.out.write_all(b"\n")?;
        }
        Ok(writer)
    }

    /// Writes the row of a sample, and rows of its sub-samples if the settings include them.
    pub fn write(&mut self, record: &SampleRecord) -> io::Result<()> {
        self.row(record)?;
        let sub_results =
            if self.settings.saves(Field::SubResults) { &record.sub_results[..] } else { &[] };
        sub_results.iter().try_for_each(|sub| self.write(sub))
    }

    fn row(&mut self, record: &SampleRecord) -> io::Result<()> {
        self.line.clear();
        for (index, column) in self.columns.iter().enumerate() {
            if index > 0 {
                self.line.push(self.settings.delimiter.into());
            }
            quote(
                &mut self.line,
                &column.text(record, &self.settings),
                self.settings.delimiter.into(),
            );
        }
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())
    }

    /// Flushes and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Flushes the underlying writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The header line without its line end. Variable names are quoted.
pub fn header(settings: &JtlSettings) -> String {
    let mut out = String::new();
    for column in columns::columns(settings) {
        if !out.is_empty() {
            out.push(settings.delimiter.into());
        }
        match column {
            // JMeter always quotes these names, but not those of its columns.
            JtlColumn::Variable(index) => {
                out.push('"');
                out.push_str(&settings.sample_variables[index].replace('"', "\"\""));
                out.push('"');
            }
            column => out.push_str(column.name()),
        }
    }
    out
}

/// Appends a value, quoted if it contains a delimiter, a quote or a line end.
fn quote(out: &mut String, value: &str, delimiter: char) {
    if !value.contains([delimiter, '"', '\r', '\n']) {
        return out.push_str(value);
    }
    out.push('"');
    for one in value.chars() {
        if one == '"' {
            out.push('"');
        }
        out.push(one);
    }
    out.push('"');
}
