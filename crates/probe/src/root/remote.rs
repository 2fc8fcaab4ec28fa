//! Files of another machine, as texts that it sent, all of one instant.
//!
//! A writer replaces all texts at once; readers find them by path. This module does
//! not fetch the texts.

use brunt_model::sync::IgnorePoison;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// The texts of the files. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct RemoteFiles(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    /// By path, with a leading `/`.
    texts: BTreeMap<String, String>,
    /// Paths of the files that are read repeatedly.
    watched: BTreeSet<String>,
}

impl RemoteFiles {
    pub fn replace(&self, texts: BTreeMap<String, String>) {
        self.files().texts = texts;
    }

    /// Marks a file as read repeatedly. Returns its normalized path.
    pub fn watch(&self, path: &str) -> String {
        let path = normalized(path);
        if path.len() > 1 {
            self.files().watched.insert(path.clone());
        }
        path
    }

    pub fn watched(&self) -> Vec<String> {
        self.files().watched.iter().cloned().collect()
    }

    pub fn text(&self, path: &str) -> Option<String> {
        self.files().texts.get(&normalized(path)).cloned()
    }

    /// True if a file exists at this path, or in the folder with this path.
    pub fn exists(&self, path: &str) -> bool {
        let path = normalized(path);
        let files = self.files();
        files.texts.contains_key(&path) || {
            let folder = format!("{path}/");
            // Only files were sent. A folder exists if a file in it does.
            files
                .texts
                .range(folder.clone()..)
                .next()
                .is_some_and(|(first, _)| first.starts_with(&folder))
        }
    }

    /// Returns the names of the entries of a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let folder = format!("{}/", normalized(folder));
        let files = self.files();
        let below =
            files.texts.range(folder.clone()..).map_while(|(path, _)| path.strip_prefix(&folder));
        let names: BTreeSet<&str> = below.filter_map(|rest| rest.split('/').next()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().ignore_poison()
    }
}

/// Returns the path with a leading `/` and without a trailing one.
fn normalized(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;

    #[test]
    fn folders_are_derived_from_their_files() {
        let remote = RemoteFiles::default();
        remote.replace(
            ["/sys/net/eth0/speed", "/sys/net/eth0.1/speed", "/proc/9/stat"]
                .map(|p| (p.into(), "1".into()))
                .into(),
        );
        assert_eq!(remote.names("/sys/net"), ["eth0", "eth0.1"]);
        assert_eq!(remote.names("sys/net/eth0/"), ["speed"]);
        for there in ["/sys/net/eth0", "/sys/net/eth0/speed", "proc", "/proc/9"] {
            assert!(remote.exists(there), "{there}");
        }
        assert!(!remote.exists("/sys/net/eth") && !remote.exists("/proc/99"));
    }

    #[test]
    fn watched_files_are_requested_and_read_again() {
        let root = Root::remote();
        let mut file = root.keep("/proc/stat");
        assert_eq!(
            (root.watched_files(), file.is_there(), file.text()),
            (vec!["/proc/stat".to_owned()], false, None)
        );
        root.replace_files([("/proc/stat".to_owned(), "cpu 1\n".to_owned())]);
        assert_eq!(file.text(), Some("cpu 1\n"));
        root.replace_files([]);
        assert_eq!((file.text(), root.text("/proc/stat")), (None, None));
    }
}
