//! Result files of JMeter (.jtl) in CSV, and in what two of them differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The samples of a test.
pub struct ResultFile {
    /// As the first line names them.
    pub columns: Vec<String>,
    /// In the order of the file.
    pub samples: Vec<Vec<String>>,
}

impl ResultFile {
    /// None: there is no such file, or it is empty.
    pub fn read(path: &Path) -> Option<Self> {
        let mut rows = rows(&fs::read_to_string(path).ok()?).into_iter();
        Some(Self { columns: rows.next()?, samples: rows.collect() })
    }

    /// The column of a name.
    fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
    }

    /// The samples of each thread, in their order, without some columns.
    fn by_thread(&self, without: &[&str]) -> BTreeMap<&str, Vec<String>> {
        let thread = self.column("threadName");
        let mut threads: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for sample in &self.samples {
            let cells = self.columns.iter().zip(sample).filter(|(column, _)| !without.contains(&&***column));
            let text: Vec<String> = cells.map(|(column, cell)| format!("{column}={cell}")).collect();
            threads.entry(&sample[thread]).or_default().push(text.join(" "));
        }
        threads
    }

    /// What is in one, and not in the other at its place.
    pub fn differences(&self, other: &Self, without: &[&str]) -> Vec<String> {
        let (real, ours) = (self.by_thread(without), other.by_thread(without));
        let mut found = Vec::new();
        let threads = real.keys().chain(ours.keys()).collect::<std::collections::BTreeSet<_>>();
        for thread in threads {
            let none = Vec::new();
            let (a, b) = (real.get(*thread).unwrap_or(&none), ours.get(*thread).unwrap_or(&none));
            for i in 0..a.len().max(b.len()) {
                if a.get(i) != b.get(i) {
                    found.push(format!("{thread}\n  real {:?}\n  ours {:?}", a.get(i), b.get(i)));
                }
            }
        }
        found
    }
}

/// The rows of a CSV text; cells in quotes may hold commas, line breaks, and quotes twice.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(character),
        }
    }
    rows
}
