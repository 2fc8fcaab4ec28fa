//! Reads the files of `{csv:FILE:column}` once. The number of the request selects the row; after
//! the last row follows the first one again.
//!
//! A column name makes the first line of its file a header. A column number (from 1) means that the
//! file has none. A run reads each file in one of the two ways, so that all its placeholders in one
//! request refer to the same row.

use crate::texts::dialect::Dialect;
use crate::texts::files;
use crate::texts::script::Languages;
use crate::texts::variables::VariableNames;
use crate::{ScriptError, WordError};
use brunt_model::scenario::TextRules;
use csv::StringRecord;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files that placeholders read, and the variables that they name.
#[derive(Debug, Clone, Default)]
pub struct Feeds {
    files: Vec<Feed>,
    pub(crate) dialect: Dialect,
    /// Languages of the scripts.
    pub(crate) languages: Languages,
    pub(crate) names: VariableNames,
    /// True if scripts may set any variable.
    pub(crate) has_scripts: bool,
    /// Number of function calls so far.
    pub(crate) sites: usize,
}

/// A column of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    feed: usize,
    column: usize,
}

/// One file; all cells are in one text, row by row.
#[derive(Debug, Clone)]
struct Feed {
    file: PathBuf,
    /// Names of the columns. None if they are selected by number.
    names: Option<StringRecord>,
    columns: usize,
    cells: String,
    /// End of each cell in `cells`.
    ends: Vec<usize>,
}

impl Feeds {
    /// Creates an empty list of files, with the variables of the scenario.
    pub fn with_variables(rules: TextRules, names: VariableNames, languages: Languages) -> Self {
        Self { dialect: rules.into(), names, languages, ..Self::default() }
    }

    /// Returns the error of a variable that nothing sets.
    pub(crate) fn unknown_variable(&self, name: &str) -> WordError {
        let source = format!("${{{name}}}");
        let variables = self.names.all().iter().map(|name| format!("${{{name}}}"));
        let variables: Vec<String> = variables.take(12).collect();
        let instead = match &variables[..] {
            [] => format!("a step that sets `{name}` before, or \\{source} for plain text"),
            some => format!("one of {}, or \\{source} for plain text", some.join(" ")),
        };
        WordError::new(&source, "no step, extractor or data file sets this variable", instead)
    }

    /// Returns the column of this name or number. Reads the file at the first call.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if the file cannot be read, or has no such column.
    pub fn column(&mut self, file: &str, column: &str) -> Result<Column, ScriptError> {
        self.column_by(file, column, |path, numbered| {
            let text = files::read_text(path)?;
            Feed::read(path, csv_reader(',')?.from_reader(text.as_bytes()), numbered)
        })
    }

    /// Returns the column of a file with these contents.
    ///
    /// # Errors
    ///
    /// [`ScriptError`] if the contents have no rows, or no such column.
    pub fn column_of(
        &mut self,
        file: &str,
        contents: impl Read,
        column: &str,
    ) -> Result<Column, ScriptError> {
        self.column_by(file, column, |path, numbered| {
            Feed::read(path, csv_reader(',')?.from_reader(contents), numbered)
        })
    }

    fn column_by(
        &mut self,
        file: &str,
        column: &str,
        read: impl FnOnce(&Path, bool) -> Result<Feed, ScriptError>,
    ) -> Result<Column, ScriptError> {
        let path = Path::new(file);
        let numbered = column.bytes().all(|b| b.is_ascii_digit());
        let existing = self.files.iter().position(|f| f.file == path);
        let feed = existing.unwrap_or(self.files.len());
        if existing.is_none() {
            self.files.push(read(path, numbered)?);
        }
        Ok(Column { feed, column: self.files[feed].find(column, numbered)? })
    }

    /// Returns the paths of all files that were read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|feed| feed.file.as_path())
    }

    /// Returns the cell of the column for request number `n`.
    pub fn cell(&self, column: Column, n: u64) -> &str {
        let feed = &self.files[column.feed];
        // After the last row follows the first one again.
        feed.cell((n % feed.rows() as u64) as usize * feed.columns + column.column)
    }

    /// Returns the name of a column. None: the columns of its file have no names.
    pub(crate) fn column_name(&self, column: Column) -> Option<&str> {
        self.files[column.feed].names.as_ref()?.get(column.column)
    }

    /// Returns the error of the first cell of a column with a control character, such
    /// as a line break.
    pub(crate) fn control_character(&self, column: Column) -> Option<WordError> {
        let feed = &self.files[column.feed];
        let cells = (0..feed.rows()).map(|row| feed.cell(row * feed.columns + column.column));
        let bad = cells.into_iter().find(|cell| cell.chars().any(char::is_control))?;
        // A line break in a value would begin another header field.
        let wrong = format!(
            "a header cannot hold the control character in this cell of {}",
            feed.file.display()
        );
        Some(WordError::new(bad, wrong, "the cell without it"))
    }
}

impl Feed {
    fn read(
        file: &Path,
        mut reader: csv::Reader<impl Read>,
        numbered: bool,
    ) -> Result<Self, ScriptError> {
        let mut feed = Self {
            file: file.to_owned(),
            names: None,
            columns: 0,
            cells: String::new(),
            ends: Vec::new(),
        };
        for record in reader.records() {
            let record = record.map_err(|e| unreadable(file, e))?;
            // The reader refuses rows of another length, so each record sets the same number.
            feed.columns = record.len();
            if feed.names.is_none() && !numbered {
                feed.names = Some(record);
                continue;
            }
            for cell in &record {
                feed.cells.push_str(cell);
                feed.ends.push(feed.cells.len());
            }
        }
        if feed.ends.is_empty() {
            let wrong = "the file has no row to take values from";
            return Err(WordError::new(
                &file.display().to_string(),
                wrong,
                "one line for each row into it",
            )
            .into());
        }
        Ok(feed)
    }

    fn find(&self, column: &str, numbered: bool) -> Result<usize, WordError> {
        let file = self.file.display();
        if numbered != self.names.is_none() {
            // The first line cannot be a header for one placeholder and a row for another.
            let wrong = format!("{file} is read both by names and by numbers of its columns");
            return Err(WordError::new(
                column,
                wrong,
                "names throughout if its first line has them, else numbers",
            ));
        }
        let Some(names) = &self.names else {
            let index = column.parse().ok().filter(|n| (1..=self.columns).contains(n));
            let instead =
                format!("a number from 1 to {}, or a name from its first line", self.columns);
            return index.map(|n| n - 1).ok_or_else(|| {
                WordError::new(column, format!("{file} has no such column"), instead)
            });
        };
        // The last one of several columns, as in a data file that sets a variable for each column.
        let index = (0..names.len()).rev().find(|index| names[*index].trim() == column);
        let names: Vec<_> = names.iter().collect();
        let instead = format!("one of the names in its first line: {}", names.join(", "));
        index.ok_or_else(|| WordError::new(column, format!("{file} has no such column"), instead))
    }

    fn rows(&self) -> usize {
        self.ends.len() / self.columns
    }

    fn cell(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.cells[start..self.ends[index]]
    }
}

/// Creates a reader of CSV without a header; rows of different length are an error.
pub(crate) fn csv_reader(delimiter: char) -> Result<csv::ReaderBuilder, WordError> {
    let delimiter = u8::try_from(delimiter).map_err(|_| {
        let wrong = "a delimiter is one ASCII character";
        WordError::new(&delimiter.to_string(), wrong, "one such as `,`, `;` or a tab")
    })?;
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).delimiter(delimiter);
    Ok(builder)
}

/// Returns the error of a file that is not CSV, at its line.
pub(crate) fn unreadable(file: &Path, error: csv::Error) -> ScriptError {
    let line = error.position().map_or(1, csv::Position::line);
    let description = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => ScriptError::Read { file: file.to_owned(), source },
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let wrong = format!("this row has {len} cells and the first one {expected_len}");
            WordError::new(
                "row",
                wrong,
                "as many in each, with \"…\" around a cell that holds a comma",
            )
            .at_line(file, line)
        }
        csv::ErrorKind::Utf8 { .. } => {
            WordError::new("row", "this is not UTF-8", "the file in UTF-8").at_line(file, line)
        }
        _ => WordError::new("row", description, "comma-separated values").at_line(file, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn told(text: &[u8], column: &str) -> String {
        let file = file(text);
        Feeds::default().column(file.path().to_str().unwrap(), column).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_returned_in_order_and_repeat() {
        let file = file(b"name,age\nAnna,31\n\"Bo, B\",\n");
        let name = file.path().to_str().unwrap();
        let mut feeds = Feeds::default();
        let names = feeds.column(name, "name").unwrap();
        let ages = feeds.column(name, "age").unwrap();
        assert_eq!(feeds.files.len(), 1);
        let row = |n| (feeds.cell(names, n), feeds.cell(ages, n));
        assert_eq!([row(0), row(1), row(2)], [("Anna", "31"), ("Bo, B", ""), ("Anna", "31")]);
        assert_eq!(row(u64::MAX), ("Bo, B", ""));
    }

    #[test]
    fn columns_given_by_number_mean_no_header() {
        let file = file(b"a,1\nb,2\n");
        let mut feeds = Feeds::default();
        let second = feeds.column(file.path().to_str().unwrap(), "2").unwrap();
        assert_eq!(
            (feeds.cell(second, 0), feeds.cell(second, 1), feeds.cell(second, 2)),
            ("1", "2", "1")
        );
        let told = feeds.column(file.path().to_str().unwrap(), "a").unwrap_err().to_string();
        assert!(told.contains("both by names and by numbers"), "{told}");
    }

    #[test]
    fn the_last_of_several_columns_of_one_name_has_the_value() {
        let file = file(b"a,b, a\n1,2,3\n");
        let mut feeds = Feeds::default();
        let column = feeds.column(file.path().to_str().unwrap(), "a").unwrap();
        assert_eq!(feeds.cell(column, 0), "3");
    }

    #[test]
    fn errors_of_malformed_files_show_valid_content() {
        assert!(
            told(b"name,age\nAnna,31\n", "agee")
                .contains("write one of the names in its first line: name, age")
        );
        assert!(told(b"a,b\n", "3").contains("write a number from 1 to 2"));
        assert!(told(b"a,b\n", "0").contains("write a number from 1 to 2"));
        assert!(
            told(b"name\n", "name")
                .contains("has no row to take values from; write one line for each")
        );
        assert!(told(b"", "1").contains("has no row"));
        assert!(
            told(b"a,b\nc\n", "1")
                .contains(":2: `row`: this row has 1 cells and the first one 2; write")
        );
        assert!(told(b"a\n\xff\n", "1").contains(":2: `line`: this is not UTF-8; write"));
        let missing = Feeds::default().column("/no/such.csv", "a").unwrap_err().to_string();
        assert!(missing.starts_with("cannot read /no/such.csv: "), "{missing}");
    }
}
