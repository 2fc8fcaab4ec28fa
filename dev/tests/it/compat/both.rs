//! A command line carried out twice: by the real tool, and by brunt under its name.

use crate::world::certs::Authority;
use crate::world::nginx::nginx_at;
use crate::world::skip::{program, skip};
use crate::world::{Nginx, command};
use std::process::{Command, Output};
use std::sync::Once;
use tempfile::TempDir;

/// An nginx over TLS, and the directory of its certificate; None: there is no nginx.
pub fn over_tls(test: &str) -> Option<(Nginx, TempDir)> {
    let dir = TempDir::new().expect("a directory");
    let certificate = Authority::new(dir.path()).certify("localhost");
    let directives = format!(
        "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 TLSv1.3;",
        certificate.cert, certificate.key
    );
    Some((nginx_at(test, "listen 127.0.0.1:PORT ssl;", &directives)?, dir))
}

/// What a program said, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The same without our notes on stderr, and without what stands behind the first line of a usage: each tool has its
    /// own words there.
    fn comparable(mut self) -> Self {
        let mut lines: Vec<&str> =
            self.err.lines().filter(|line| !line.starts_with("brunt: ") && !line.starts_with("brunt - ")).collect();
        if let Some(usage) = lines.iter().position(|line| line.starts_with("Usage: ")) {
            lines.truncate(usage + 1);
        }
        self.err = lines.join("\n");
        self
    }

    /// The line that begins with these words, without them.
    pub fn field(&self, label: &str) -> &str {
        let found = self.out.lines().find_map(|line| line.strip_prefix(label));
        found.unwrap_or_else(|| panic!("no {label} in:\n{}{}", self.out, self.err)).trim()
    }
}

/// A tool that is here twice.
pub struct Both {
    name: &'static str,
    real: String,
}

/// Both tools of a name; None, and told: the real one is not here.
pub fn both(test: &str, name: &'static str) -> Option<Both> {
    let Some(real) = program(name) else {
        skip(test, &format!("no {name} here"));
        return None;
    };
    let both = Both { name, real };
    if name == "siege" {
        // The first siege of a user writes a template of its settings, and says so between its lines.
        static TEMPLATE: Once = Once::new();
        TEMPLATE.call_once(|| drop(both.real(&["-C"])));
    }
    Some(both)
}

/// brunt under that name.
pub fn ours(name: &str, words: &[&str]) -> Said {
    Said::of(command(name).args(words).output().expect("brunt"))
}

impl Both {
    /// The real one. It has a minute: some of them do not end by themselves.
    pub fn real(&self, words: &[&str]) -> Said {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "60", "bash", "-c", "exec -a \"$0\" \"$@\"", self.name, &self.real]);
        Said::of(command.args(words).output().expect("the real tool"))
    }

    /// Ours.
    pub fn ours(&self, words: &[&str]) -> Said {
        ours(self.name, words)
    }

    /// Both say the same on stdout and stderr, numbers that were measured apart, and end alike.
    pub fn agree(&self, words: &[&str]) {
        self.agree_masked(words, mask);
    }

    /// The same, where something else hides what was measured.
    pub fn agree_masked(&self, words: &[&str], mask: impl Fn(&str) -> String) {
        let masked = |said: Said| {
            let said = said.comparable();
            Said { out: mask(&said.out), err: mask(&said.err), ..said }
        };
        let (real, ours) = (masked(self.real(words)), masked(self.ours(words)));
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

/// Lines whose numbers were measured, by what they hold.
const MEASURED: [&str; 7] = [
    "Time taken for tests:",
    "Requests per second:",
    "Time per request:",
    "Transfer rate:",
    "kb/s sent",
    "kb/s total",
    "Date:",
];

/// Rows of tables, whose numbers stand at the right of their columns.
const ROWS: [&str; 4] = ["Connect:", "Processing:", "Waiting:", "Total:"];

/// A report whose measured numbers are masked: where numbers stand and how they are written still shows. What ab says
/// only where mean and median happen to be far apart is left out.
fn mask(text: &str) -> String {
    let chance = |line: &&str| {
        let begins = |start: &str| line.starts_with(start);
        // OpenSSL's own words are not ab's.
        if line.contains(" routines:") || line.contains(":system library:") {
            return false;
        }
        !(begins("WARNING: The median") || begins("ERROR: The median") || line.contains("These results are"))
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
    if MEASURED.iter().any(|what| line.contains(what)) {
        return masked(line, |blanks, number| format!("{}<{} decimals>", " ".repeat(blanks), decimals(number)));
    }
    line.to_owned()
}

fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, behind)| behind.len())
}

/// Each number of a line, with the blanks before it, in other words; percentages of the tables stay.
fn masked(line: &str, word: impl Fn(usize, &str) -> String) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let behind = &rest[at..];
        let length = behind.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(behind.len());
        let (before, number) = (&rest[..at], &behind[..length]);
        rest = &behind[length..];
        let kept = before.trim_end_matches(' ');
        out += kept;
        let is_name = rest.starts_with('%') || kept.ends_with(|c: char| c.is_alphabetic());
        let blanks = &before[kept.len()..];
        let other = if is_name { [blanks, number].concat() } else { word(blanks.len(), number) };
        out.push_str(&other);
    }
    out + rest
}

#[test]
fn masks_keep_places_and_forms() {
    assert_eq!(mask_line("Total:          0    3   4.3      6       6").matches("wide").count(), 5);
    assert_eq!(mask_line(" 100%      6 (longest request)"), " 100%<7 wide, 0 decimals> (longest request)");
    let measured = mask_line("Time taken for tests:   0.024 seconds");
    assert_eq!(measured, "Time taken for tests:   <3 decimals> seconds");
    assert_eq!(mask_line("Complete requests:      6"), "Complete requests:      6");
    assert_ne!(mask_line("Total:          0    3"), mask_line("Total:         0    3"));
}
