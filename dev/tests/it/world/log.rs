//! Reads the access log of the nginx of tests.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The log line of a request.
#[derive(Debug, Clone)]
pub struct LogLine(Vec<String>);

/// Reads the lines of a log, in order.
pub fn read(file: &Path) -> Vec<LogLine> {
    let text = fs::read_to_string(file).expect("the access log");
    text.lines().map(|l| LogLine(l.split('\t').map(str::to_owned).collect())).collect()
}

impl LogLine {
    fn field(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }

    /// Number of the connection.
    pub fn connection(&self) -> &str {
        self.field(0)
    }

    /// Number of the request on its connection, from 1.
    pub fn of_connection(&self) -> u64 {
        self.field(1).parse().expect("a number")
    }

    pub fn client(&self) -> &str {
        self.field(2)
    }

    pub fn server(&self) -> &str {
        self.field(3)
    }

    pub fn request(&self) -> &str {
        self.field(4)
    }

    pub fn host(&self) -> &str {
        self.field(5)
    }

    pub fn sni(&self) -> &str {
        self.field(7)
    }

    /// True if the TLS session was resumed.
    pub fn resumed(&self) -> bool {
        self.field(8) == "r"
    }

    /// Subject of the client certificate.
    pub fn subject(&self) -> &str {
        self.field(9)
    }
}

/// Distinct values of a field.
pub fn distinct<'a>(
    lines: &'a [LogLine],
    field: impl Fn(&'a LogLine) -> &'a str,
) -> HashSet<&'a str> {
    lines.iter().map(field).collect()
}
