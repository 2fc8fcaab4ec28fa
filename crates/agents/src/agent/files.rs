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

/// Beginning of a placeholder for a column of a file.
const CSV: &str = "{csv:";

/// Directory with copies of the plan's files.
#[derive(Debug, Default)]
pub struct PlanFiles {
    folder: Mutex<Option<PathBuf>>,
}

impl PlanFiles {
    /// Stores the files of a plan, and changes the plan to name the copies. A file that was not sent is missing in the
    /// run: the agent's own files are not those of the plan, and may be secret.
    pub fn store(&self, files: &[FileCopy], plan: &mut Plan) -> io::Result<()> {
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
        let mut outside = None;
        plan.change_paths(|path| {
            // The value of a variable could lead out of the folder.
            if path.to_string_lossy().contains("${") {
                outside.get_or_insert_with(|| path.to_owned());
            }
            place(&folder, path)
        });
        let scenarios = plan.populations.iter().map(|population| &population.scenario);
        for folder in scenarios.flat_map(|scenario| &scenario.folders) {
            // Functions may write files there.
            fs::create_dir_all(folder)?;
        }
        match outside {
            Some(path) => Err(not_sent(&path.to_string_lossy())),
            None => Ok(()),
        }
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
    if let Some(name) = foreign_placeholder(&json, &placeholder_start(folder)) {
        return Err(not_sent(&name));
    }
    *plan = serde_json::from_value(json)?;
    Ok(())
}

fn not_sent(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{name} was not sent to the agent"))
}

/// Beginning of all placeholders that name copies.
fn placeholder_start(folder: &Path) -> String {
    format!("{CSV}{}/", folder.display())
}

/// Returns a placeholder that names another file than a copy.
fn foreign_placeholder(json: &Value, own: &str) -> Option<String> {
    match json {
        Value::String(text) => {
            let mut places = text.match_indices(CSV).map(|(place, _)| &text[place..]);
            let foreign = places.find(|rest| !rest.starts_with(own));
            foreign.map(|rest| rest.chars().take_while(|c| *c != '}').collect())
        }
        Value::Array(all) => all.iter().find_map(|one| foreign_placeholder(one, own)),
        Value::Object(all) => {
            let values = all.iter().filter(|(key, _)| !is_name(key));
            values.map(|(_, one)| one).find_map(|one| foreign_placeholder(one, own))
        }
        _ => None,
    }
}

/// True for keys whose values are texts of the report, which are the same on all agents.
fn is_name(key: &str) -> bool {
    matches!(key, "label" | "name")
}

/// Returns the begin of a placeholder for a column of this file.
fn placeholder_begin(path: &Path) -> String {
    format!("{CSV}{}:", path.display())
}

fn replace_in_strings(json: &mut Value, names: &[(String, String)]) {
    match json {
        Value::String(text) if text.contains(CSV) => {
            for (name, copy) in names {
                *text = text.replace(name, copy);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace_in_strings(one, names)),
        Value::Object(all) => {
            let values = all.iter_mut().filter(|(key, _)| !is_name(key));
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
    fn only_files_that_were_sent_are_named() {
        let folder = Path::new("/tmp/x");
        let own = placeholder_start(folder);
        let sent = serde_json::json!({"url": "/{csv:/tmp/x/a.csv:1}", "label": "/{csv:a.csv:1}"});
        assert_eq!(foreign_placeholder(&sent, &own), None);
        for foreign in ["/{csv:/etc/shadow:1}", "/{csv:/tmp/x/a.csv:1}{csv:/run/fifo:1}"] {
            let plan = serde_json::json!({"requests": [{"url": foreign}]});
            let name = foreign_placeholder(&plan, &own).unwrap();
            assert!(["{csv:/etc/shadow:1", "{csv:/run/fifo:1"].contains(&&*name), "{name}");
        }
        assert!(not_sent("/run/fifo").to_string().ends_with("was not sent to the agent"));
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
