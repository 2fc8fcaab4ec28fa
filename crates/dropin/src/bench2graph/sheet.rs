//! A table as autobench writes it: a line of names and lines of numbers, divided by tabs or commas.

use std::fs;
use std::path::Path;

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// The names of its columns, the first one that of x.
    pub names: Vec<String>,
    /// Its lines; as many numbers in each as there are names.
    pub rows: Vec<Vec<f64>>,
}

impl Sheet {
    /// Reads a file; or why it is none.
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
        if names.len() < 2 || names.iter().any(|name| name.parse::<f64>().is_ok()) {
            return Err("its first line has to name two columns or more, as autobench's does".into());
        }
        let row = |(at, line): (usize, &str)| {
            let numbers: Option<Vec<f64>> = cells(line).iter().map(|cell| cell.parse().ok()).collect();
            let whole = numbers.filter(|row| row.len() == names.len());
            whole.ok_or_else(|| {
                format!("line {} is not {} numbers; --quiet keeps httperf's reports out", at + 1, names.len())
            })
        };
        let rows = lines.map(row).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() {
            return Err("there are names in it, and no numbers".into());
        }
        Ok(Self { names: names.into_iter().map(str::to_owned).collect(), rows })
    }
}

/// The cells of a line. Neither names of hosts nor numbers hold a comma.
fn cells(line: &str) -> Vec<&str> {
    line.split(|c: char| c == ',' || c.is_whitespace()).filter(|cell| !cell.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::Sheet;

    #[test]
    fn tabs_and_commas_divide() {
        let tsv = Sheet::read("dem_req_rate\treq_rate_h\n10\t9.5\n20\t19.0\n").unwrap();
        assert_eq!(tsv, Sheet::read("dem_req_rate,req_rate_h\r\n10,9.5\r\n20,19.0\r\n").unwrap());
        assert_eq!(tsv.rows[1], [20.0, 19.0]);
    }

    #[test]
    fn what_is_no_table_is_told() {
        for (text, why) in [
            ("", "two columns"),
            ("1\t2\n", "two columns"),
            ("dem_req_rate\treq_rate_h\n", "no numbers"),
            ("dem_req_rate\treq_rate_h\n10\n", "line 2 is not 2 numbers"),
            ("dem_req_rate\treq_rate_h\nMaximum connect burst length: 1\n", "--quiet"),
        ] {
            assert!(Sheet::read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
