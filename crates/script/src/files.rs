//! Files that functions read while the load runs: below the folders of the scenario, each once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The files that functions may read.
#[derive(Debug, Default)]
pub struct Files {
    folders: Vec<PathBuf>,
    /// By name; None: not readable, or not allowed.
    read: Mutex<HashMap<String, Option<Arc<str>>>>,
}

/// Longer files are not read.
const LONGEST: u64 = 64 << 20;

/// More files are not kept.
const MOST_FILES: usize = 1000;

impl Files {
    /// Files below these folders; relative names are looked for from the first.
    pub fn below(folders: Vec<PathBuf>) -> Self {
        Self { folders, read: Mutex::default() }
    }

    /// The text of a file; what is no UTF-8 is replaced. None: it cannot be read, or may not.
    pub fn text(&self, name: &str) -> Option<Arc<str>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = read.get(name) {
            return text.clone();
        }
        if read.len() == MOST_FILES {
            read.clear();
        }
        let text = self.allowed(name).and_then(|path| text_of(&path));
        read.insert(name.to_owned(), text.clone());
        text
    }

    /// The real path of a file below one of the folders.
    fn allowed(&self, name: &str) -> Option<PathBuf> {
        let path = self.folders.first()?.join(name).canonicalize().ok()?;
        let below = |folder: &PathBuf| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder));
        self.folders.iter().any(below).then_some(path)
    }
}

fn text_of(path: &Path) -> Option<Arc<str>> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if about.len() > LONGEST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_prefix('\u{feff}').unwrap_or(&text).into())
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
        assert_eq!(files.text("a.txt").as_deref(), Some("one"));
        for name in [secret.to_str().unwrap(), &outside, "link", "missing", ".", "/etc/passwd", ""] {
            assert_eq!(files.text(name), None, "{name}");
        }
        let both = Files::below(vec![plan.path().to_owned(), other.path().to_owned()]);
        assert_eq!(both.text(secret.to_str().unwrap()).as_deref(), Some("two"));
        assert_eq!(Files::default().text("a.txt"), None);
    }
}
