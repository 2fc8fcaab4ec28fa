//! Reads and writes files for functions during the load, only below the folders of the scenario.
//! Each file is read once.

use crate::texts::markup::XPath;
use crate::{ScriptError, WordError};
use brunt_model::sync::IgnorePoison;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// The files that functions may read and write.
#[derive(Debug, Default)]
pub struct Files {
    folders: Vec<PathBuf>,
    /// True if no file may be written.
    is_read_only: bool,
    /// Texts by name. None: not readable, or not allowed.
    read: Mutex<HashMap<String, Option<Arc<FileText>>>>,
}

/// The text of a file, with an index of its lines.
#[derive(Debug)]
pub struct FileText {
    text: String,
    /// Ranges of the lines; computed at the first use.
    lines: OnceLock<Vec<Range<usize>>>,
    /// Values of XPath expressions, by expression.
    xpath_values: Mutex<HashMap<String, Arc<[String]>>>,
}

/// Maximum file size in bytes; longer files are not read.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Maximum number of cached files.
const MAX_FILES: usize = 1000;

/// Maximum number of listed names in a directory.
const MAX_LISTED: usize = 10_000;

/// Maximum number of cached expressions per file.
const MAX_PATHS: usize = 1000;

/// Reads a UTF-8 file, without its byte order mark.
///
/// # Errors
///
/// It cannot be read, or a line is not UTF-8.
pub fn read_text(file: &Path) -> Result<String, ScriptError> {
    text(read_bytes(file)?, file)
}

/// Reads the bytes of a file.
pub(crate) fn read_bytes(file: &Path) -> Result<Vec<u8>, ScriptError> {
    brunt_files::read(file).map_err(|source| ScriptError::Read { file: file.to_owned(), source })
}

/// Returns bytes as UTF-8, without their byte order mark. `file` is named in the error.
///
/// # Errors
///
/// A line is not UTF-8.
pub(crate) fn text(bytes: Vec<u8>, file: &Path) -> Result<String, ScriptError> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        WordError::new("line", "this is not UTF-8", "the file in UTF-8").at_line(file, line as u64)
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

impl Files {
    /// Permits files below these folders. Relative names start at the first folder.
    pub fn below(folders: Vec<PathBuf>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// Forbids writing to all files.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// Returns the canonical path of the first folder.
    pub fn base(&self) -> Option<PathBuf> {
        self.folders.first()?.canonicalize().ok()
    }

    /// Returns the text of a file; invalid UTF-8 is replaced. None: it cannot be read,
    /// or is not allowed.
    pub fn read(&self, name: &str) -> Option<Arc<FileText>> {
        let mut read = self.read.lock().ignore_poison();
        if let Some(text) = read.get(name) {
            return text.clone();
        }
        // Names that change with each use would fill the memory.
        if read.len() == MAX_FILES {
            read.clear();
        }
        let text = self.readable(name).and_then(|path| text_of(&path));
        // A file that cannot be read is cached, too, so that it is looked up only once.
        read.insert(name.to_owned(), text.clone());
        text
    }

    /// Returns the current bytes of a file. None: it cannot be read, or is not allowed.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.readable(name)?;
        brunt_files::read_regular(&path, MAX_FILE_BYTES).ok()
    }

    /// Appends a text to a file in one of the folders.
    ///
    /// # Errors
    ///
    /// Its path is outside the folders, or it cannot be written.
    pub fn append(&self, name: &str, text: &str) -> io::Result<()> {
        self.write(name, text, OpenOptions::new().append(true))
    }

    /// Replaces the content of a file in one of the folders.
    ///
    /// # Errors
    ///
    /// See [`append`](Self::append).
    pub fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        self.write(name, text, OpenOptions::new().write(true).truncate(true))
    }

    /// Deletes a file below one of the folders. False: it does not exist.
    ///
    /// # Errors
    ///
    /// Its path is outside the folders, it is a directory, or it cannot be deleted.
    pub fn delete(&self, name: &str) -> io::Result<bool> {
        // The lock keeps the file from being cached or written meanwhile.
        let mut read = self.read.lock().ignore_poison();
        let path = match self.writable(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            path => path?,
        };
        read.remove(name);
        match fs::remove_file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Creates a directory in one of the folders, with its parents. Returns false if it exists.
    ///
    /// # Errors
    ///
    /// Its path is outside the folders, or it cannot be created.
    pub fn make_directory(&self, name: &str) -> io::Result<bool> {
        let path = self.writable(name)?;
        let is_new = !path.exists();
        fs::create_dir_all(&path).map(|()| is_new)
    }

    /// Returns the names in a directory below one of the folders, in order. None: it is no
    /// directory, or is not allowed.
    pub fn list(&self, name: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.readable(name)?).ok()?;
        let names =
            entries.take(MAX_LISTED).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Some(names)
    }

    fn write(&self, name: &str, text: &str, options: &mut OpenOptions) -> io::Result<()> {
        // The lock permits one writer at a time; the cached text of the file becomes invalid.
        let mut read = self.read.lock().ignore_poison();
        let mut file = options.create(true).open(self.writable(name)?)?;
        read.remove(name);
        file.write_all(text.as_bytes())
    }

    /// Returns the path of a file below one of the folders. The file need not exist.
    fn writable(&self, name: &str) -> io::Result<PathBuf> {
        let folder =
            self.folders.first().filter(|_| !self.is_read_only).ok_or_else(permission_denied)?;
        writable_path(&folder.join(name), &self.folders)
    }

    /// Returns the canonical path of a file below one of the folders.
    fn readable(&self, name: &str) -> Option<PathBuf> {
        let path = self.folders.first()?.join(name).canonicalize().ok()?;
        is_below(&path, &self.folders).then_some(path)
    }
}

/// True if a canonical path is below one of these folders, with links resolved.
pub fn is_below(path: &Path, folders: impl IntoIterator<Item = impl AsRef<Path>>) -> bool {
    folders
        .into_iter()
        .any(|folder| folder.as_ref().canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}

fn permission_denied() -> io::Error {
    io::Error::from(ErrorKind::PermissionDenied)
}

/// Returns the real path of a file or directory to be written, which need not exist.
///
/// # Errors
///
/// It is a link, is outside the folders, or its directory cannot be read.
pub fn writable_path(
    path: &Path,
    folders: impl IntoIterator<Item = impl AsRef<Path>>,
) -> io::Result<PathBuf> {
    // A path that does not exist yet cannot be made canonical as a whole.
    let path = std::path::absolute(path)?;
    let existing = path
        .ancestors()
        .find(|path| fs::symlink_metadata(path).is_ok())
        .ok_or_else(permission_denied)?;
    let missing = path.strip_prefix(existing).map_err(|_| permission_denied())?;
    // A link may lead out of the folders. So may `..` after a directory that does not exist yet.
    let is_link =
        existing == path && fs::symlink_metadata(existing).is_ok_and(|about| about.is_symlink());
    if is_link || missing.components().any(|part| part == Component::ParentDir) {
        return Err(permission_denied());
    }
    let real = if missing.as_os_str().is_empty() {
        existing.canonicalize()?
    } else {
        existing.canonicalize()?.join(missing)
    };
    if is_below(&real, folders) { Ok(real) } else { Err(permission_denied()) }
}

impl FileText {
    fn new(text: String) -> Self {
        Self { text, lines: OnceLock::new(), xpath_values: Mutex::default() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the values of an `XPath` expression; none if it is malformed.
    pub fn xpath_values(&self, path: &str) -> Arc<[String]> {
        let mut cache = self.xpath_values.lock().ignore_poison();
        if let Some(values) = cache.get(path) {
            return Arc::clone(values);
        }
        if cache.len() == MAX_PATHS {
            cache.clear();
        }
        let values: Arc<[String]> =
            XPath::parse(path).map(|path| path.values(&self.text)).unwrap_or_default().into();
        cache.insert(path.to_owned(), Arc::clone(&values));
        values
    }

    /// Returns the line of this number, from 0. After the last line follows the first one again.
    /// None: the file is empty.
    pub fn line(&self, number: u64) -> Option<&str> {
        let lines = self.lines.get_or_init(|| lines_of(&self.text));
        let index = number.checked_rem(lines.len() as u64)?;
        Some(&self.text[lines[index as usize].clone()])
    }
}

/// Returns the range of each line, without its end.
fn lines_of(text: &str) -> Vec<Range<usize>> {
    let mut begin = 0;
    let ranges = text.split_inclusive('\n').map(|whole| {
        // A `\r` without `\n` ends no line, as in `str::lines`.
        let line =
            whole.strip_suffix('\n').map_or(whole, |line| line.strip_suffix('\r').unwrap_or(line));
        let range = begin..begin + line.len();
        begin += whole.len();
        range
    });
    ranges.collect()
}

fn text_of(path: &Path) -> Option<Arc<FileText>> {
    let bytes = brunt_files::read_regular(path, MAX_FILE_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Some(Arc::new(FileText::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folders_are_read() {
        let (plan, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(plan.path().join("a.txt"), "\u{feff}one").unwrap();
        let secret = other.path().join("b.txt");
        fs::write(&secret, "two").unwrap();
        std::os::unix::fs::symlink(&secret, plan.path().join("link")).unwrap();
        let files = Files::below(vec![plan.path().to_owned()]);
        let outside = format!("../{}/b.txt", other.path().file_name().unwrap().to_str().unwrap());
        let read = |files: &Files, name: &str| files.read(name).map(|file| file.text().to_owned());
        assert_eq!(read(&files, "a.txt").as_deref(), Some("one"));
        for name in [secret.to_str().unwrap(), &outside, "link", "missing", ".", "/etc/passwd", ""]
        {
            assert_eq!(read(&files, name), None, "{name}");
        }
        let both = Files::below(vec![plan.path().to_owned(), other.path().to_owned()]);
        assert_eq!(read(&both, secret.to_str().unwrap()).as_deref(), Some("two"));
        assert_eq!(read(&Files::default(), "a.txt"), None);
    }

    #[test]
    fn only_files_below_the_folders_are_written() {
        let (plan, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(other.path(), plan.path().join("folder")).unwrap();
        std::os::unix::fs::symlink(other.path().join("new"), plan.path().join("link")).unwrap();
        let files = Files::below(vec![plan.path().to_owned()]);
        let text = |files: &Files| files.read("a.txt").map(|file| file.text().to_owned());
        assert_eq!(text(&files), None);
        files.append("a.txt", "one").unwrap();
        files.append("a.txt", "two").unwrap();
        assert_eq!(text(&files).as_deref(), Some("onetwo"));
        files.replace("a.txt", "three").unwrap();
        assert_eq!(text(&files).as_deref(), Some("three"));
        let outside = other.path().join("b.txt");
        for name in [
            outside.to_str().unwrap(),
            "../b.txt",
            "folder/b.txt",
            "link",
            "none/b.txt",
            "..",
            ".",
            "",
        ] {
            assert!(files.append(name, "x").is_err(), "{name}");
        }
        assert!(Files::default().append("a.txt", "x").is_err());
        assert!(files.read_only().append("a.txt", "x").is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        let both = Files::below(vec![plan.path().to_owned(), other.path().to_owned()]);
        both.append(outside.to_str().unwrap(), "x").unwrap();
        both.append("folder/b.txt", "y").unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "xy");
        assert!(both.append("link", "x").is_err());
    }

    #[test]
    fn files_are_deleted_and_created_only_below_the_folders() {
        let (plan, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("b.txt"), "x").unwrap();
        std::os::unix::fs::symlink(other.path(), plan.path().join("folder")).unwrap();
        let files = Files::below(vec![plan.path().to_owned()]);
        assert!(files.make_directory("a/b").unwrap() && !files.make_directory("a/b").unwrap());
        files.append("a/b/c.txt", "x").unwrap();
        assert_eq!(files.list("a/b"), Some(vec!["c.txt".to_owned()]));
        assert!(files.delete("a/b/c.txt").unwrap() && !files.delete("a/b/c.txt").unwrap());
        assert!(!files.delete("none/c.txt").unwrap());
        for name in ["folder/b.txt", "a", "folder", "../x", ""] {
            assert!(files.delete(name).is_err(), "{name}");
        }
        let outside = other.path().join("new");
        for name in
            [outside.to_str().unwrap(), "../new", "folder/new", "a/../../new", "none/../../new"]
        {
            assert!(files.make_directory(name).is_err(), "{name}");
        }
        assert_eq!((files.list("folder"), files.list("..")), (None, None));
        assert!(files.read_only().make_directory("d").is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    }

    #[test]
    fn lines_are_split_like_str_lines() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "a\n\n\u{e9}\r", "a\r\r\n\n", "a\rb\n"] {
            let file = FileText::new(text.to_owned());
            let lines: Vec<&str> = text.lines().collect();
            for number in 0..2 * lines.len() {
                assert_eq!(file.line(number as u64), Some(lines[number % lines.len()]), "{text:?}");
            }
            assert_eq!(lines_of(text).len(), lines.len(), "{text:?}");
        }
        assert_eq!(FileText::new(String::new()).line(0), None);
    }
}
