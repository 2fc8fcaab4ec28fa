//! Reads result files of JMeter (.jtl) in CSV, and compares them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The samples of a test.
pub struct TestSamples {
    /// Names of the first line.
    pub columns: Vec<String>,
    /// Samples in the order of the file.
    pub samples: Vec<Vec<String>>,
}

impl TestSamples {
    /// Reads a file. Returns None if it is missing or empty.
    pub fn read(path: &Path) -> Option<Self> {
        let mut rows = rows(&fs::read_to_string(path).ok()?).into_iter();
        Some(Self { columns: rows.next()?, samples: rows.collect() })
    }

    /// Index of the column with a name.
    pub fn column(&self, name: &str) -> usize {
        self.columns
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("no column {name}"))
    }

    /// Samples of each thread, in their order, without some columns.
    fn by_thread(&self, without: &[&str]) -> BTreeMap<&str, Vec<String>> {
        let thread = self.column("threadName");
        let code = self.column("responseCode");
        let mut threads: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for sample in &self.samples {
            // JMeter counts the text of a Java exception as bytes. With parallel downloads, it reads the byte counter of
            // a connection that it has already returned to the pool: in 1 of 50 samples of a group, `bytes` was 0.
            let is_byte_count_reliable = !sample[code].starts_with("Non HTTP")
                && !sample[thread].starts_with("parallel downloads ");
            let is_compared = |column: &str| {
                !without.contains(&column) && (column != "bytes" || is_byte_count_reliable)
            };
            let cells = self.columns.iter().zip(sample).filter(|(column, _)| is_compared(column));
            let text: Vec<String> =
                cells.map(|(column, cell)| format!("{column}={cell}")).collect();
            threads.entry(&sample[thread]).or_default().push(text.join(" "));
        }
        // Groups with this name choose at random.
        threads
            .iter_mut()
            .filter(|(name, _)| name.starts_with("orders "))
            .for_each(|(_, all)| all.sort());
        threads
    }

    /// Differences to another file, by thread and sample.
    pub fn differences(&self, ours: &Self, without: &[&str]) -> Vec<String> {
        let real = self.by_thread(without);
        let ours = ours.by_thread(without);
        let threads: BTreeSet<&&str> = real.keys().chain(ours.keys()).collect();
        let mut found = Vec::new();
        for thread in threads {
            let real = samples_of(&real, thread);
            let ours = samples_of(&ours, thread);
            for at in 0..real.len().max(ours.len()) {
                if real.get(at) != ours.get(at) {
                    found.push(format!(
                        "{thread}\n  real {:?}\n  ours {:?}",
                        real.get(at),
                        ours.get(at)
                    ));
                }
            }
        }
        found
    }

    /// Median of the elapsed times in milliseconds, for each label with at least `least` samples.
    pub fn medians(&self, least: usize) -> BTreeMap<String, f64> {
        let label = self.column("label");
        let elapsed = self.column("elapsed");
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for sample in &self.samples {
            let millis = sample[elapsed].parse().expect("milliseconds");
            times.entry(sample[label].clone()).or_default().push(millis);
        }
        times
            .into_iter()
            .filter(|(_, times)| times.len() >= least)
            .map(|(label, times)| (label, median(times)))
            .collect()
    }
}

fn samples_of(all: &BTreeMap<&str, Vec<String>>, thread: &str) -> Vec<String> {
    all.get(thread).cloned().unwrap_or_default()
}

/// Median of some numbers.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let low = numbers[(numbers.len() - 1) / 2];
    let high = numbers[numbers.len() / 2];
    f64::midpoint(low, high)
}

/// Rows of a CSV text. Quoted cells may contain commas, line breaks, and doubled quotes.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
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
