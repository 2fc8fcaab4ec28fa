//! The system's files: where they are, and those that are read again and again.
//!
//! What it is not: a parser; what stands in a file is known by who reads it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Enough for most files of /proc in one read.
const FIRST_READ: usize = 8 << 10;
/// No file that we read is longer; one that is, is cut off here.
const LONGEST: usize = 4 << 20;

/// Where the system's files are: `/`, or a recorded tree.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// This machine's.
    pub fn system() -> Self {
        Self(PathBuf::from("/"))
    }

    /// A tree that holds `proc` and `sys` as they were.
    pub fn recorded(tree: impl Into<PathBuf>) -> Self {
        Self(tree.into())
    }

    /// A path in it; a leading `/` changes nothing.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A file's text; None where there is none, or we may not read it.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// The number that a file begins with.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<f64> {
        number(&self.text(path)?)
    }

    /// The words of a file, each separated by one space; None where it cannot be read.
    pub fn words(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(self.text(path)?.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The whole number that a file holds, and nothing else.
    pub fn whole(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.words(path)?.parse().ok()
    }

    /// The names in a folder, sorted; none where it is not there.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// A file that is read again and again.
    pub fn keep(&self, path: impl AsRef<Path>) -> Kept {
        Kept { file: File::open(self.path(path)).ok(), bytes: Vec::new() }
    }
}

/// The number that a text begins with, after white space.
pub fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// A file of the system that is kept open: each reading is what it says then.
#[derive(Debug)]
pub struct Kept {
    file: Option<File>,
    bytes: Vec<u8>,
}

impl Kept {
    /// Whether it is there at all.
    pub fn is_there(&self) -> bool {
        self.file.is_some()
    }

    /// Its text now; None where there is none any more.
    pub fn text(&mut self) -> Option<&str> {
        let file = self.file.as_ref()?;
        let mut filled = 0;
        self.bytes.resize(self.bytes.len().max(FIRST_READ), 0);
        loop {
            match file.read_at(&mut self.bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(_) => return None,
            }
            if filled == self.bytes.len() {
                if filled >= LONGEST {
                    break;
                }
                self.bytes.resize(filled * 2, 0);
            }
        }
        std::str::from_utf8(&self.bytes[..filled]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_says_what_it_says_now() {
        let dir = tempfile::TempDir::new().unwrap();
        let long = "x".repeat(3 * FIRST_READ);
        fs::write(dir.path().join("f"), &long).unwrap();
        let mut kept = Root::recorded(dir.path()).keep("/f");
        assert_eq!(kept.text(), Some(long.as_str()));
        fs::write(dir.path().join("f"), "7 8\n").unwrap();
        assert_eq!(kept.text().and_then(number), Some(7.0));
        assert_eq!(Root::recorded(dir.path()).keep("none").text(), None);
    }
}
