//! Access to the system's files: single reads, and files that are read repeatedly.
//!
//! The files are in a folder (`/`, or a recorded tree), or they are texts that another machine
//! sent. Readers see no difference. This module does not parse the files.

mod remote;

use remote::RemoteFiles;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Initial size of a read buffer, in bytes: most files of /proc fit.
const FIRST_READ: usize = 8 << 10;
/// Maximum length of a file, in bytes. Longer files are truncated.
const MAX_LENGTH: usize = 4 << 20;

/// Root of `/proc` and `/sys`: the local system, a recorded tree, or a remote machine.
#[derive(Debug, Clone)]
pub struct Root(FileOrigin);

#[derive(Debug, Clone)]
enum FileOrigin {
    Tree(PathBuf),
    Remote(RemoteFiles),
}

impl Root {
    /// Returns the root of this machine.
    pub fn system() -> Self {
        Self::recorded("/")
    }

    /// Returns the root of a recorded tree, which contains `proc` and `sys`.
    pub fn recorded(tree: impl Into<PathBuf>) -> Self {
        Self(FileOrigin::Tree(tree.into()))
    }

    /// Returns the root of another machine. It is empty until
    /// [`replace_files`](Self::replace_files) is called.
    pub(crate) fn remote() -> Self {
        Self(FileOrigin::Remote(RemoteFiles::default()))
    }

    /// Replaces all files of another machine by these, by path. Has no effect on a tree.
    pub(crate) fn replace_files(&self, files: impl IntoIterator<Item = (String, String)>) {
        if let FileOrigin::Remote(remote) = &self.0 {
            remote.replace(files.into_iter().collect());
        }
    }

    /// Returns the files that are read repeatedly, so that another machine must send them each
    /// time. Empty for a tree.
    pub(crate) fn watched_files(&self) -> Vec<String> {
        if let FileOrigin::Remote(remote) = &self.0 { remote.watched() } else { Vec::new() }
    }

    /// Returns the path of a file below the root; a leading `/` is ignored. For another machine,
    /// the path leads nowhere.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        let tree = if let FileOrigin::Tree(tree) = &self.0 { tree } else { Path::new("/dev/null") };
        tree.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Returns the text of a file. None if it does not exist or may not be read.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        match &self.0 {
            FileOrigin::Tree(_) => fs::read_to_string(self.path(path)).ok(),
            FileOrigin::Remote(remote) => remote.text(&path.as_ref().to_string_lossy()),
        }
    }

    /// True if the file or folder exists.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        match &self.0 {
            FileOrigin::Tree(_) => self.path(path).exists(),
            FileOrigin::Remote(remote) => remote.exists(&path.as_ref().to_string_lossy()),
        }
    }

    /// Returns the number at the start of a file.
    pub fn number(&self, path: impl AsRef<Path>) -> Option<f64> {
        number(&self.text(path)?)
    }

    /// Returns the words of a file, joined by single spaces. None if it cannot be read.
    pub fn words(&self, path: impl AsRef<Path>) -> Option<String> {
        Some(self.text(path)?.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the integer in a file that contains nothing else.
    pub fn whole(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.words(path)?.parse().ok()
    }

    /// Returns the names in a folder, sorted. Empty if the folder does not exist.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        if let FileOrigin::Remote(remote) = &self.0 {
            return remote.names(&path.as_ref().to_string_lossy());
        }
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        // readdir(3) has no order.
        names.sort();
        names
    }

    /// Returns a file for repeated reading.
    pub fn keep(&self, path: impl AsRef<Path>) -> ReopenedFile {
        let source = match &self.0 {
            FileOrigin::Tree(_) => Source::File(File::open(self.path(path)).ok()),
            FileOrigin::Remote(remote) => {
                Source::Remote(remote.clone(), remote.watch(&path.as_ref().to_string_lossy()))
            }
        };
        ReopenedFile { source, bytes: Vec::new() }
    }
}

/// Returns the number at the start of a text, after white space.
pub fn number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// A file of the system that is kept open. Each reading returns its current text.
#[derive(Debug)]
pub struct ReopenedFile {
    source: Source,
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Source {
    /// None if the file did not exist when it was opened.
    File(Option<File>),
    /// The file with this path.
    Remote(RemoteFiles, String),
}

impl ReopenedFile {
    /// True if the file exists.
    pub fn is_there(&self) -> bool {
        match &self.source {
            Source::File(file) => file.is_some(),
            Source::Remote(remote, path) => remote.exists(path),
        }
    }

    /// Returns its current text. None if it no longer exists.
    pub fn text(&mut self) -> Option<&str> {
        let length = match &self.source {
            Source::File(file) => read(file.as_ref()?, &mut self.bytes)?,
            Source::Remote(remote, path) => {
                self.bytes = remote.text(path)?.into_bytes();
                self.bytes.len()
            }
        };
        std::str::from_utf8(&self.bytes[..length]).ok()
    }
}

/// Reads a file from its beginning, and returns its length.
fn read(file: &File, buffer: &mut Vec<u8>) -> Option<usize> {
    let mut length = 0;
    buffer.resize(buffer.len().max(FIRST_READ), 0);
    loop {
        // A read from offset 0 makes the kernel generate the contents again (proc(5)).
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => return Some(length),
            Ok(n) => length += n,
            Err(_) => return None,
        }
        // Files of /proc show a size of 0, so their length appears only at their end.
        if length == buffer.len() {
            if length >= MAX_LENGTH {
                return Some(length);
            }
            buffer.resize(length * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_kept_open_returns_its_current_content() {
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
