//! Reads a table of autobench: a line of names and lines of numbers, separated by tabs or commas.

use std::fs;
use std::path::Path;

/// A table of autobench.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchTable {
    /// Names of the columns. The first column is the x axis.
    pub names: Vec<String>,
    /// Lines of numbers, one number for each column.
    pub rows: Vec<Vec<f64>>,
}

impl BenchTable {
    /// Reads a file. The error explains the defect of an invalid table.
    pub fn load(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_file() {
            return Err(format!("{shown} is no file"));
        }
        let bytes = fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
        Self::read(&String::from_utf8_lossy(&bytes)).map_err(|why| format!("{shown}: {why}"))
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let names = lines.next().map(|(_, head)| cells(head)).unwrap_or_default();
        // A first line of numbers means that the names are missing.
        if names.len() < 2 || names.iter().any(|name| name.parse::<f64>().is_ok()) {
            return Err(
                "its first line has to name two columns or more, as autobench's does".into()
            );
        }
        let rows = lines
            .map(|(index, line)| number_row(index, line, names.len()))
            .collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err("there are names in it, and no numbers".into());
        }
        Ok(Self { names: names.into_iter().map(str::to_owned).collect(), rows })
    }
}

/// The numbers of a line. `index` counts from 0.
fn number_row(index: usize, line: &str, columns: usize) -> Result<Vec<f64>, String> {
    let numbers: Option<Vec<f64>> = cells(line).iter().map(|cell| cell.parse().ok()).collect();
    numbers.filter(|row| row.len() == columns).ok_or_else(|| {
        format!("line {} is not {columns} numbers; --quiet keeps httperf's reports out", index + 1)
    })
}

/// Splits a line into cells. Neither host names nor numbers contain a comma.
fn cells(line: &str) -> Vec<&str> {
    line.split(|c: char| c == ',' || c.is_whitespace()).filter(|cell| !cell.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::BenchTable;

    #[test]
    fn tabs_and_commas_divide() {
        let tsv = BenchTable::read("dem_req_rate\treq_rate_h\n10\t9.5\n20\t19.0\n").unwrap();
        assert_eq!(
            tsv,
            BenchTable::read("dem_req_rate,req_rate_h\r\n10,9.5\r\n20,19.0\r\n").unwrap()
        );
        assert_eq!(tsv.rows[1], [20.0, 19.0]);
    }

    #[test]
    fn files_without_a_table_are_refused() {
        for (text, why) in [
            ("", "two columns"),
            ("1\t2\n", "two columns"),
            ("dem_req_rate\treq_rate_h\n", "no numbers"),
            ("dem_req_rate\treq_rate_h\n10\n", "line 2 is not 2 numbers"),
            ("dem_req_rate\treq_rate_h\nMaximum connect burst length: 1\n", "--quiet"),
        ] {
            assert!(BenchTable::read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
