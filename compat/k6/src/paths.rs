//! Paths of modules and files.

use std::path::{Component, Path, PathBuf};

/// Joins a name to the folder of a module, and removes `.` and `..`.
pub fn absolute(base: &str, name: &str) -> String {
    let folder = Path::new(base).parent().unwrap_or(Path::new("/"));
    let mut path = PathBuf::new();
    // `canonicalize` would resolve links, and needs an existing file.
    for part in folder.join(name.strip_prefix("file://").unwrap_or(name)).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path.to_string_lossy().into_owned()
}
