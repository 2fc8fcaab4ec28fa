//! The system's files: where they are, and those that are read again and again.
//!
//! They are in a folder (`/`, or a recorded tree), or they are texts that another machine told of its files. Who reads
//! them sees no difference.
//!
//! Out of scope: a parser; what stands in a file is known by who reads it.

mod told;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use told::RemoteFiles;

/// Enough for most files of /proc in one read.
const FIRST_READ: usize = 8 << 10;
/// No file that we read is longer; one that is, is cut off here.
const LONGEST: usize = 4 << 20;

/// Where the system's files are: `/`, a recorded tree, or what another machine told.
#[derive(Debug, Clone)]
pub struct Root(FileOrigin);

#[derive(Debug, Clone)]
enum FileOrigin {
    Tree(PathBuf),
    Told(RemoteFiles),
}

impl Root {
    /// This machine's.
    pub fn system() -> Self {
        Self::recorded("/")
    }

    /// A tree that holds `proc` and `sys` as they were.
    pub fn recorded(tree: impl Into<PathBuf>) -> Self {
        Self(FileOrigin::Tree(tree.into()))
    }

    /// Another machine's: nothing until it is [told](Self::tell).
    pub(crate) fn told() -> Self {
        Self(FileOrigin::Told(RemoteFiles::default()))
    }

    /// These are the files now, by path; all that were told before are gone. A tree takes no notice.
    pub(crate) fn tell(&self, files: impl IntoIterator<Item = (String, String)>) {
        if let FileOrigin::Told(told) = &self.0 {
            told.tell(files.into_iter().collect());
        }
    }

    /// The files that somebody reads again and again, and that must therefore be told each time. None of a tree.
    pub(crate) fn kept(&self) -> Vec<String> {
        if let FileOrigin::Told(told) = &self.0 { told.kept() } else { Vec::new() }
    }

    /// A path in it; a leading `/` changes nothing. Of another machine it leads nowhere.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        let tree = if let FileOrigin::Tree(tree) = &self.0 { tree } else { Path::new("/dev/null") };
        tree.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// A file's text; None where there is none, or we may not read it.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        match &self.0 {
            FileOrigin::Tree(_) => fs::read_to_string(self.path(path)).ok(),
            FileOrigin::Told(told) => told.text(&path.as_ref().to_string_lossy()),
        }
    }

    /// Whether there is a file or folder.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        match &self.0 {
            FileOrigin::Tree(_) => self.path(path).exists(),
            FileOrigin::Told(told) => told.exists(&path.as_ref().to_string_lossy()),
        }
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
        if let FileOrigin::Told(told) = &self.0 {
            return told.names(&path.as_ref().to_string_lossy());
        }
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// A file that is read again and again.
    pub fn keep(&self, path: impl AsRef<Path>) -> ReopenedFile {
        let source = match &self.0 {
            FileOrigin::Tree(_) => Source::File(File::open(self.path(path)).ok()),
            FileOrigin::Told(told) => Source::Told(told.clone(), told.keep(&path.as_ref().to_string_lossy())),
        };
        ReopenedFile { source, bytes: Vec::new() }
    }
}

/// The number that a text begins with, after white space.
pub fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// A file of the system that is kept open: each reading is what it says then.
#[derive(Debug)]
pub struct ReopenedFile {
    source: Source,
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    /// None: it was not there.
    File(Option<File>),
    /// By path.
    Told(RemoteFiles, String),
}

impl ReopenedFile {
    /// Whether it is there at all.
    pub fn is_there(&self) -> bool {
        match &self.source {
            Source::File(file) => file.is_some(),
            Source::Told(told, path) => told.exists(path),
        }
    }

    /// Its text now; None where there is none any more.
    pub fn text(&mut self) -> Option<&str> {
        let filled = match &self.source {
            Source::File(file) => read(file.as_ref()?, &mut self.bytes)?,
            Source::Told(told, path) => {
                self.bytes = told.text(path)?.into_bytes();
                self.bytes.len()
            }
        };
        std::str::from_utf8(&self.bytes[..filled]).ok()
    }
}

/// Reads a file from its beginning: how many bytes.
fn read(file: &File, into: &mut Vec<u8>) -> Option<usize> {
    let mut filled = 0;
    into.resize(into.len().max(FIRST_READ), 0);
    loop {
        match file.read_at(&mut into[filled..], filled as u64) {
            Ok(0) => return Some(filled),
            Ok(n) => filled += n,
            Err(_) => return None,
        }
        if filled == into.len() {
            if filled >= LONGEST {
                return Some(filled);
            }
            into.resize(filled * 2, 0);
        }
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
