//! Runs a command line twice: with the real tool, and with brunt under the name of the tool.

use crate::world::certs::Authority;
use crate::world::nginx::nginx_at;
use crate::world::skip::{program, skip};
use crate::world::{Nginx, command};
use std::process::{Command, Output};
use std::sync::Once;
use tempfile::TempDir;

/// Starts an nginx with TLS. Returns it with the directory of its certificate, or None if nginx is
/// not installed.
pub fn over_tls(test: &str) -> Option<(Nginx, TempDir)> {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 TLSv1.3;",
        certificate.cert, certificate.key
    );
    Some((nginx_at(test, "listen 127.0.0.1:PORT ssl;", &directives)?, dir))
}

/// Output and exit code of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl ToolOutput {
    pub fn from_output(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: lossy_text(&output.stdout),
            err: lossy_text(&output.stderr),
        }
    }

    /// Removes the notes of brunt from stderr, and all lines after the first line of a usage: both
    /// tools have different texts there.
    fn comparable(mut self) -> Self {
        let mut lines: Vec<&str> = self
            .err
            .lines()
            .filter(|line| !line.starts_with("brunt: ") && !line.starts_with("brunt - "))
            .collect();
        if let Some(usage) = lines.iter().position(|line| line.starts_with("Usage: ")) {
            lines.truncate(usage + 1);
        }
        self.err = lines.join("\n");
        self
    }

    /// Rest of the line that begins with a label.
    pub fn field(&self, label: &str) -> &str {
        let found = self.out.lines().find_map(|line| line.strip_prefix(label));
        found.unwrap_or_else(|| panic!("no {label} in:\n{}{}", self.out, self.err)).trim()
    }
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A tool that exists both as the real one and as the drop-in.
pub struct ToolPair {
    name: &'static str,
    real: String,
}

/// Finds both tools of a name. Skips the test and returns None if the real one is not installed.
pub fn both(test: &str, name: &'static str) -> Option<ToolPair> {
    let Some(real) = program(name) else {
        skip(test, &format!("no {name} here"));
        return None;
    };
    let both = ToolPair { name, real };
    if name == "siege" {
        // The first siege of a user writes a template of its settings, and prints that between its
        // lines.
        static TEMPLATE: Once = Once::new();
        TEMPLATE.call_once(|| drop(both.real(&["-C"])));
    }
    Some(both)
}

/// Runs brunt under a name.
pub fn ours(name: &str, words: &[&str]) -> ToolOutput {
    ToolOutput::from_output(&command(name).args(words).output().expect("brunt"))
}

impl ToolPair {
    /// Runs the real tool, for at most a minute, because some runs do not end by themselves.
    pub fn real(&self, words: &[&str]) -> ToolOutput {
        let mut command = Command::new("timeout");
        command.args([
            "-k",
            "1",
            "60",
            "bash",
            "-c",
            "exec -a \"$0\" \"$@\"",
            self.name,
            &self.real,
        ]);
        ToolOutput::from_output(&command.args(words).output().expect("the real tool"))
    }

    /// Runs the drop-in.
    pub fn ours(&self, words: &[&str]) -> ToolOutput {
        ours(self.name, words)
    }

    /// Asserts that both print the same to stdout and stderr, except for measured numbers, and end
    /// with the same exit code.
    pub fn agree(&self, words: &[&str]) {
        self.agree_masked(words, mask);
    }

    /// Asserts the same with another function that masks measured numbers.
    pub fn agree_masked(&self, words: &[&str], mask: impl Fn(&str) -> String) {
        let masked = |output: ToolOutput| {
            let output = output.comparable();
            ToolOutput { out: mask(&output.out), err: mask(&output.err), ..output }
        };
        let real = masked(self.real(words));
        let ours = masked(self.ours(words));
        assert!(
            real == ours,
            "{words:?}\n--- real, {:?}\n{}{}\n--- ours, {:?}\n{}{}",
            real.code,
            real.out,
            real.err,
            ours.code,
            ours.out,
            ours.err
        );
    }
}

/// Parts of lines whose numbers are measured.
const MEASURED: [&str; 7] = [
    "Time taken for tests:",
    "Requests per second:",
    "Time per request:",
    "Transfer rate:",
    "kb/s sent",
    "kb/s total",
    "Date:",
];

/// Rows of tables with right-aligned numbers.
const ROWS: [&str; 4] = ["Connect:", "Processing:", "Waiting:", "Total:"];

/// Masks the measured numbers of a report; their positions and formats remain. Removes the lines
/// that ab prints only if mean and median happen to be far apart.
fn mask(text: &str) -> String {
    let chance = |line: &&str| {
        let begins = |start: &str| line.starts_with(start);
        // Messages of OpenSSL do not belong to ab.
        if line.contains(" routines:") || line.contains(":system library:") {
            return false;
        }
        !(begins("WARNING: The median")
            || begins("ERROR: The median")
            || line.contains("These results are"))
    };
    text.lines().filter(chance).map(|line| mask_line(line) + "\n").collect()
}

fn mask_line(line: &str) -> String {
    let is_row = ROWS.iter().any(|row| line.starts_with(row))
        || line.split_whitespace().next().is_some_and(|w| w.ends_with('%'));
    let is_html_row = ROWS.iter().any(|row| line.contains(&format!(">{row}<")));
    if is_row || is_html_row {
        return masked(line, |blanks, number| {
            format!("<{} wide, {} decimals>", blanks + number.len(), decimals(number))
        });
    }
    if MEASURED.iter().any(|label| line.contains(label)) {
        return masked(line, |blanks, number| {
            format!("{}<{} decimals>", " ".repeat(blanks), decimals(number))
        });
    }
    line.to_owned()
}

fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, tail)| tail.len())
}

/// Replaces each number of a line and the blanks before it. Percentages of the tables remain.
fn masked(line: &str, word: impl Fn(usize, &str) -> String) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[at..];
        let length = tail.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tail.len());
        let before = &rest[..at];
        let number = &tail[..length];
        rest = &tail[length..];
        let text_before = before.trim_end_matches(' ');
        out += text_before;
        let is_name = rest.starts_with('%') || text_before.ends_with(|c: char| c.is_alphabetic());
        let blanks = &before[text_before.len()..];
        let other = if is_name { [blanks, number].concat() } else { word(blanks.len(), number) };
        out.push_str(&other);
    }
    out + rest
}

#[test]
fn masks_keep_positions_and_formats() {
    assert_eq!(mask_line("Total:          0    3   4.3      6       6").matches("wide").count(), 5);
    assert_eq!(
        mask_line(" 100%      6 (longest request)"),
        " 100%<7 wide, 0 decimals> (longest request)"
    );
    let measured = mask_line("Time taken for tests:   0.024 seconds");
    assert_eq!(measured, "Time taken for tests:   <3 decimals> seconds");
    assert_eq!(mask_line("Complete requests:      6"), "Complete requests:      6");
    assert_ne!(mask_line("Total:          0    3"), mask_line("Total:         0    3"));
}
