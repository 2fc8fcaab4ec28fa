//! The files of a plan on an agent: copies in a private directory, which is removed after the run.

use brunt_model::Plan;
use brunt_model::agent::FileCopy;
use brunt_model::sync::IgnorePoison;
use serde_json::Value;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Directory with copies of the plan's files.
#[derive(Debug, Default)]
pub struct PlanFiles {
    folder: Mutex<Option<PathBuf>>,
}

impl PlanFiles {
    /// Stores the files of a plan, and changes the plan to name the copies.
    pub fn store(&self, files: &[FileCopy], plan: &mut Plan) -> io::Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let folder = private_folder()?;
        *self.folder.lock().ignore_poison() = Some(folder.clone());
        for file in files {
            let copy = place(&folder, &file.path);
            if let Some(parent) = copy.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&copy, &file.content)?;
        }
        name_copies_in_placeholders(plan, files, &folder)?;
        plan.change_paths(|path| {
            let copy = place(&folder, path);
            // Files that were not sent, such as a Unix socket, keep their name.
            if copy.exists() { copy } else { path.to_owned() }
        });
        Ok(())
    }

    /// Removes the copies.
    pub fn remove(&self) {
        // Never waits: the process may end while another thread stores files.
        if let Ok(mut folder) = self.folder.try_lock()
            && let Some(folder) = folder.take()
        {
            _ = fs::remove_dir_all(folder);
        }
    }
}

/// Changes the placeholders `{csv:FILE:column}` of a plan to name the copies.
fn name_copies_in_placeholders(
    plan: &mut Plan,
    files: &[FileCopy],
    folder: &Path,
) -> io::Result<()> {
    let mut json = serde_json::to_value(&*plan)?;
    let names = files
        .iter()
        .map(|file| (placeholder_begin(&file.path), placeholder_begin(&place(folder, &file.path))));
    replace_in_strings(&mut json, &names.collect::<Vec<_>>());
    *plan = serde_json::from_value(json)?;
    Ok(())
}

/// Returns the begin of a placeholder for a column of this file.
fn placeholder_begin(path: &Path) -> String {
    format!("{{csv:{}:", path.display())
}

fn replace_in_strings(json: &mut Value, names: &[(String, String)]) {
    match json {
        Value::String(text) if text.contains("{csv:") => {
            for (name, copy) in names {
                *text = text.replace(name, copy);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace_in_strings(one, names)),
        Value::Object(all) => {
            // Labels are texts of the report, which are the same on all agents.
            let values = all.iter_mut().filter(|(key, _)| !matches!(&***key, "label" | "name"));
            values.for_each(|(_, one)| replace_in_strings(one, names));
        }
        _ => {}
    }
}

/// Place of a file's copy. `..` in a path cannot lead out of the folder.
fn place(folder: &Path, path: &Path) -> PathBuf {
    use std::path::Component;
    let parts = path.components().map(|part| match part {
        Component::Normal(name) => name,
        Component::ParentDir => "parent".as_ref(),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => "".as_ref(),
    });
    folder.join(parts.filter(|part| !part.is_empty()).collect::<PathBuf>())
}

/// Creates a directory that only this user can read.
fn private_folder() -> io::Result<PathBuf> {
    let temporary = std::env::temp_dir();
    for number in 0..100 {
        let folder = temporary.join(format!("brunt-agent-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name for a directory of temporary files"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_in_the_folder() {
        let folder = Path::new("/tmp/x");
        assert_eq!(place(folder, Path::new("/etc/ca.pem")), Path::new("/tmp/x/etc/ca.pem"));
        assert_eq!(place(folder, Path::new("../../a/./b")), Path::new("/tmp/x/parent/parent/a/b"));
    }

    #[test]
    fn placeholders_name_the_copies() {
        let mut json = serde_json::json!({"label": "{csv:a.csv:id}", "url": ["/{csv:a.csv:id}/{csv:/b/a.csv:id}/{csv:xa.csv:id}"]});
        let names = [("{csv:a.csv:", "{csv:/t/a.csv:"), ("{csv:/b/a.csv:", "{csv:/t/b/a.csv:")];
        replace_in_strings(&mut json, &names.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert_eq!(json["url"][0], "/{csv:/t/a.csv:id}/{csv:/t/b/a.csv:id}/{csv:xa.csv:id}");
        assert_eq!(json["label"], "{csv:a.csv:id}");
    }
}
