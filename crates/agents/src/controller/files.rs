//! Reads the files that agents need to carry a plan out.
//!
//! These are the certificates and keys, the data files, and the files of placeholders. Of the folders
//! that functions and scripts may read, the files that the plan names are sent.

use crate::FleetError;
use brunt_files::read_regular;
use brunt_model::Plan;
use brunt_model::agent::FileCopy;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Maximum size of all files together.
const MAX_BYTES: u64 = 256 << 20;

/// Maximum number of entries of a folder that are considered.
const MAX_ENTRIES: usize = 10_000;

/// Returns copies of the files of a plan; `script_files` are those that its scripts read before the
/// load.
pub fn of_plan(plan: &Plan, script_files: &[PathBuf]) -> Result<Vec<FileCopy>, FleetError> {
    let mut paths: BTreeSet<PathBuf> = script_files.iter().cloned().collect();
    let mut text = None;
    for path in plan.paths() {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() {
            let text = text.get_or_insert_with(|| serde_json::to_string(plan).unwrap_or_default());
            paths.extend(named_files(&path, text));
        } else {
            paths.insert(path);
        }
    }
    let mut rest = MAX_BYTES;
    paths.into_iter().map(|path| copy(path, &mut rest)).collect()
}

fn copy(path: PathBuf, rest: &mut u64) -> Result<FileCopy, FleetError> {
    match content(&path, rest) {
        Ok(content) => Ok(FileCopy { path, content }),
        Err(source) => Err(FleetError::AgentFile { path, source }),
    }
}

fn content(path: &Path, rest: &mut u64) -> io::Result<Vec<u8>> {
    let content = read_regular(path, *rest).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            let limit = format!("the files of the plan have more than {} MiB", MAX_BYTES >> 20);
            io::Error::other(limit)
        }
        _ => error,
    })?;
    *rest -= content.len() as u64;
    Ok(content)
}

/// Returns the files of a folder that a text names. Of a folder with client certificates,
/// these are all `.pem` files.
fn named_files(folder: &Path, text: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(MAX_ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let is_needed = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        path.is_file()
            && (path.extension().is_some_and(|ending| ending == "pem") || text.contains(name))
    };
    paths.filter(is_needed).collect()
}
