//! Files of another machine, as texts that it told: all of one instant.
//!
//! Out of scope: the asking. A writer replaces all texts at once; readers find them by path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was told. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct RemoteFiles(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    /// By path, with a leading `/`.
    texts: BTreeMap<String, String>,
    /// Paths of those that are read again and again.
    kept: BTreeSet<String>,
}

impl RemoteFiles {
    pub fn tell(&self, texts: BTreeMap<String, String>) {
        self.files().texts = texts;
    }

    /// From now on it is wanted each time; its whole path.
    pub fn keep(&self, path: &str) -> String {
        let path = whole(path);
        if path.len() > 1 {
            self.files().kept.insert(path.clone());
        }
        path
    }

    pub fn kept(&self) -> Vec<String> {
        self.files().kept.iter().cloned().collect()
    }

    pub fn text(&self, path: &str) -> Option<String> {
        self.files().texts.get(&whole(path)).cloned()
    }

    /// A folder is there when something in it is.
    pub fn exists(&self, path: &str) -> bool {
        let path = whole(path);
        let files = self.files();
        let first = files.texts.range(path.clone()..).next().map(|(first, _)| first.as_str());
        let below =
            |first: &str| first.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        first.is_some_and(below) || files.texts.range(format!("{path}/")..).next().is_some_and(|(f, _)| below(f))
    }

    /// Names of what is in a folder, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let folder = format!("{}/", whole(folder));
        let files = self.files();
        let below = files.texts.range(folder.clone()..).map_while(|(path, _)| path.strip_prefix(&folder));
        let names: BTreeSet<&str> = below.filter_map(|rest| rest.split('/').next()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// With a leading `/`, and none at its end.
fn whole(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Root;

    #[test]
    fn folders_are_seen_by_what_is_in_them() {
        let told = RemoteFiles::default();
        told.tell(
            ["/sys/net/eth0/speed", "/sys/net/eth0.1/speed", "/proc/9/stat"].map(|p| (p.into(), "1".into())).into(),
        );
        assert_eq!(told.names("/sys/net"), ["eth0", "eth0.1"]);
        assert_eq!(told.names("sys/net/eth0/"), ["speed"]);
        for there in ["/sys/net/eth0", "/sys/net/eth0/speed", "proc", "/proc/9"] {
            assert!(told.exists(there), "{there}");
        }
        assert!(!told.exists("/sys/net/eth") && !told.exists("/proc/99"));
    }

    #[test]
    fn what_is_kept_is_wanted_and_read_anew() {
        let root = Root::told();
        let mut kept = root.keep("/proc/stat");
        assert_eq!((root.kept(), kept.is_there(), kept.text()), (vec!["/proc/stat".to_owned()], false, None));
        root.tell([("/proc/stat".to_owned(), "cpu 1\n".to_owned())]);
        assert_eq!(kept.text(), Some("cpu 1\n"));
        root.tell([]);
        assert_eq!((kept.text(), root.text("/proc/stat")), (None, None));
    }
}
