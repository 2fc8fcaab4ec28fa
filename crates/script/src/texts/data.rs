//! Reads data files with rows of variables, once before the load.
//!
//! All rows have the same number of cells, and are UTF-8. By JMeter's rules, rows and bytes are
//! arbitrary: a row with fewer cells than variables does not change the other variables. Blank
//! lines are no rows. By JMeter's rules they are, and a blank line ends the file if cells have no
//! quotes. Users that share rows take them in turn.

use crate::texts::context::UserContext;
use crate::texts::feed::{csv_reader, unreadable};
use crate::texts::files;
use crate::{Feeds, ScriptError, WordError};
use brunt_model::scenario::{DataEnd, DataFile, DataFormat, RowOrder, Sharing};
use rand::RngExt;
use std::path::{Path, PathBuf};

/// The rows of a data file.
#[derive(Debug)]
pub struct Rows {
    /// Identifies the file, for all users of the run.
    key: String,
    /// Numbers of the variables of its columns.
    variables: Vec<usize>,
    /// Text of all cells.
    cells: String,
    /// End of each cell in `cells`.
    ends: Vec<usize>,
    /// Index of the first cell after each row.
    row_ends: Vec<usize>,
    shared: Sharing,
    order: RowOrder,
    at_end: DataEnd,
}

/// Result of taking a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTaken {
    /// The variables are set.
    Set,
    /// No row is left: the user ends.
    StopUser,
    /// No row is left: the run ends.
    StopRun,
}

/// Value of variables after the last row, as in JMeter.
const END_OF_FILE: &str = "<EOF>";

impl Rows {
    /// Reads a file, and adds its variables to `feeds`.
    ///
    /// # Errors
    ///
    /// It cannot be read, has no row, or has a malformed line.
    pub fn read(file: &DataFile, feeds: &mut Feeds) -> Result<Self, ScriptError> {
        let path = Path::new(&file.file);
        let is_lenient = feeds.dialect.reads_any_rows();
        let text = decoded(files::read_bytes(path)?, file, is_lenient)?;
        let mut table =
            Table { file: path.to_owned(), names: file.names.clone(), ..Table::default() };
        // In sequence, a blank line ends JMeter's file, so it must remain a row.
        let keeps_blanks = is_lenient && file.order == RowOrder::Sequence;
        match file.format {
            DataFormat::Csv { delimiter, quoted: false } if keeps_blanks => {
                table.read_lines(&text, file.skip_first, delimiter);
            }
            DataFormat::Csv { delimiter, quoted } => {
                // The reader would skip blank lines.
                let whole = if keeps_blanks { with_blank_rows(&text) } else { text };
                let mut reader = csv_reader(delimiter)?;
                reader.flexible(is_lenient).quoting(quoted);
                table.read_csv(&reader, &whole, file.skip_first)?;
            }
            DataFormat::JsonLines => table.read_json(&text)?,
        }
        if !is_lenient {
            table.check_names()?;
        }
        if table.row_ends.is_empty() {
            let wrong = "the file has no row to take values from";
            return Err(WordError::new(&file.file, wrong, "one line for each row into it").into());
        }
        let variables = table.names.iter().map(|name| feeds.names.number(name)).collect();
        let Table { cells, ends, row_ends, .. } = table;
        let key = format!("row {}", file.file);
        let DataFile { shared, order, at_end, .. } = *file;
        Ok(Self { key, variables, cells, ends, row_ends, shared, order, at_end })
    }

    /// Sets the variables of the user from the next row.
    pub fn take(&self, user: &UserContext) -> RowTaken {
        let count = self.row_ends.len() as u64;
        let row = match self.order {
            RowOrder::Random => user.worker.random.borrow_mut().random_range(0..count),
            RowOrder::Sequence => match self.shared {
                Sharing::All => user.worker.count(&self.key),
                Sharing::Population => {
                    user.worker.count(&format!("{} {}", self.key, user.worker.population))
                }
                Sharing::User => user.count(&self.key),
            },
        };
        let mut variables = user.variables.borrow_mut();
        let number = (row % count) as usize;
        if (row < count || self.at_end == DataEnd::Again) && !self.is_blank(number) {
            let cells = self.variables.iter().zip(self.row(number));
            // In a short row, the variables of the missing cells keep their values.
            cells.for_each(|(variable, cell)| variables.set_slot(*variable, cell));
            return RowTaken::Set;
        }
        match self.at_end {
            DataEnd::StopUser => RowTaken::StopUser,
            DataEnd::StopRun => RowTaken::StopRun,
            // With `Again`, only a blank line leads here.
            DataEnd::Eof | DataEnd::Again => {
                self.variables
                    .iter()
                    .for_each(|variable| variables.set_slot(*variable, END_OF_FILE));
                RowTaken::Set
            }
        }
    }

    /// True for a blank line, which ends the file.
    fn is_blank(&self, number: usize) -> bool {
        self.row(number).next().is_none()
    }

    fn row(&self, number: usize) -> impl Iterator<Item = &str> {
        let first = number.checked_sub(1).map_or(0, |before| self.row_ends[before]);
        (first..self.row_ends[number]).map(move |cell| {
            let begin = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.cells[begin..self.ends[cell]]
        })
    }
}

/// Makes each blank line outside of quotes a row of one empty cell.
fn with_blank_rows(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut is_quoted = false;
    for line in text.split_inclusive('\n') {
        if line.trim_end_matches(['\r', '\n']).is_empty() && !is_quoted {
            whole.push_str("\"\"");
        }
        // An odd number of quotes opens or closes a quoted cell.
        is_quoted ^= line.matches('"').count() % 2 == 1;
        whole.push_str(line);
    }
    whole
}

/// The contents of a file while it is read.
#[derive(Default)]
struct Table {
    file: PathBuf,
    names: Vec<String>,
    cells: String,
    ends: Vec<usize>,
    row_ends: Vec<usize>,
}

impl Table {
    fn push<'a>(&mut self, row: impl Iterator<Item = &'a str>) {
        for cell in row {
            self.cells.push_str(cell);
            self.ends.push(self.cells.len());
        }
        self.row_ends.push(self.ends.len());
    }

    /// Reads lines as JMeter does for cells without quotes: a blank line has no cell.
    fn read_lines(&mut self, text: &str, skip_first: bool, delimiter: char) {
        let mut lines = text.lines();
        if self.names.is_empty() {
            let names = lines.next().unwrap_or_default().split(delimiter);
            self.names = names.map(|name| name.trim().to_owned()).collect();
        } else if skip_first {
            lines.next();
        }
        for line in lines {
            self.push(line.split(delimiter).filter(|_| !line.is_empty()));
        }
    }

    fn read_csv(
        &mut self,
        reader: &csv::ReaderBuilder,
        text: &str,
        skip_first: bool,
    ) -> Result<(), ScriptError> {
        let mut is_first = true;
        for record in reader.from_reader(text.as_bytes()).records() {
            let record = record.map_err(|error| unreadable(&self.file, error))?;
            match std::mem::take(&mut is_first) {
                true if self.names.is_empty() => {
                    self.names = record.iter().map(|name| name.trim().to_owned()).collect();
                }
                true if skip_first => {}
                _ => self.push(record.iter()),
            }
        }
        Ok(())
    }

    /// Returns an error for names without a cell in the file. Checks one row, because all
    /// have the same length.
    fn check_names(&self) -> Result<(), ScriptError> {
        let cells = self.row_ends.first().copied().unwrap_or_default();
        let Some(name) = self.names.get(cells) else { return Ok(()) };
        let wrong = format!(
            "the rows of {} have {cells} cells, so that none is left for this column",
            self.file.display()
        );
        Err(WordError::new(name, wrong, "as many columns as the file has").into())
    }

    fn read_json(&mut self, text: &str) -> Result<(), ScriptError> {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value: serde_json::Value = serde_json::from_str(line)
                .map_err(|error| self.row_error(number, error.to_string()))?;
            let row = value
                .as_object()
                .ok_or_else(|| self.row_error(number, "this is no JSON object".into()))?;
            if self.names.is_empty() {
                // Later rows have the same columns: other keys are ignored, and missing ones are
                // empty.
                self.names = row.keys().cloned().collect();
            }
            let names = self.names.clone();
            let cells: Vec<String> = names
                .iter()
                .map(|name| row.get(name).map_or_else(String::new, crate::texts::json::text))
                .collect();
            self.push(cells.iter().map(String::as_str));
        }
        Ok(())
    }

    fn row_error(&self, line: usize, wrong: String) -> ScriptError {
        let error = WordError::new("row", wrong, r#"one object a line, such as {"name": "Ann"}"#);
        error.at_line(&self.file, line as u64 + 1)
    }
}

/// Decodes the text of a data file.
fn decoded(bytes: Vec<u8>, file: &DataFile, is_lenient: bool) -> Result<String, ScriptError> {
    let name = file.encoding.trim();
    if name.is_empty() && !is_lenient {
        return files::text(bytes, Path::new(&file.file));
    }
    let encoding = match name {
        "" => Some(encoding_rs::UTF_8),
        name => encoding_rs::Encoding::for_label(name.as_bytes()),
    };
    let Some(encoding) = encoding else {
        let wrong = format!("its encoding `{name}` is not known");
        return Err(WordError::new(
            &file.file,
            &wrong,
            "UTF-8, or another name of the WHATWG Encoding Standard",
        )
        .into());
    };
    // A byte order mark takes precedence over the named encoding.
    let (text, encoding, is_damaged) = encoding.decode(&bytes);
    if is_damaged && !is_lenient {
        let wrong = format!("it holds bytes that are not {}", encoding.name());
        return Err(WordError::new(&file.file, wrong, "the file in its encoding").into());
    }
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::StillRun;
    use crate::texts::context::WorkerContext;
    use crate::texts::script::Languages;
    use crate::texts::variables::{VariableNames, Variables};
    use brunt_model::scenario::TextRules;
    use std::fs;
    use std::rc::Rc;
    use std::sync::Arc;

    /// Returns the values of two variables, row by row of a file.
    fn rows_of(
        text: &str,
        (rules, quoted, at_end): (TextRules, bool, DataEnd),
        count: usize,
    ) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        fs::write(&path, text).unwrap();
        let file = DataFile {
            encoding: String::new(),
            file: path.to_string_lossy().into_owned(),
            format: DataFormat::Csv { delimiter: ',', quoted },
            names: vec!["a".into(), "b".into()],
            skip_first: false,
            shared: Sharing::User,
            order: RowOrder::Sequence,
            at_end,
        };
        let mut feeds = Feeds::with_variables(rules, VariableNames::default(), Languages::CORE);
        let rows = Rows::read(&file, &mut feeds).unwrap();
        let worker = WorkerContext::new(Arc::default(), Rc::new(StillRun), 1);
        let user =
            UserContext::new(&Rc::new(worker), Variables::new(&Arc::new(feeds.names.clone())), 1);
        let mut all = Vec::new();
        for _ in 0..count {
            if rows.take(&user) != RowTaken::Set {
                all.push("stop".to_owned());
                break;
            }
            let variables = user.variables.borrow();
            all.push(
                variables.all().into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|"),
            );
        }
        all
    }

    #[test]
    fn blank_lines_are_rows_by_the_rules_of_jmeter() {
        const TEXT: &str = "x,1\n\ny,2\n\n";
        let plain = (TextRules::Jmeter, false, DataEnd::Again);
        assert_eq!(rows_of(TEXT, plain, 5), ["x|1", "<EOF>|<EOF>", "y|2", "<EOF>|<EOF>", "x|1"]);
        assert_eq!(
            rows_of(TEXT, (TextRules::Jmeter, false, DataEnd::StopUser), 9),
            ["x|1", "stop"]
        );
        assert_eq!(
            rows_of("\"x\",1\r\n\r\n\"y\n\nz\",2", (TextRules::Jmeter, true, DataEnd::Again), 4),
            ["x|1", "|1", "y\n\nz|2", "x|1"]
        );
        assert_eq!(
            rows_of(TEXT, (TextRules::Placeholders, false, DataEnd::Again), 3),
            ["x|1", "y|2", "x|1"]
        );
    }
}
