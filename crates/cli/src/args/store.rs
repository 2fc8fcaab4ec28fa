//! The store of runs and experiments.

use super::output::Verbosity;
use crate::live::print_line;
use anyhow::{Context, Result, bail};
use brunt_model::numbers::count;
use brunt_model::{Text, text};
use brunt_store::{IndexWork, Store};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

const STORE: &str = "Directory of stored runs [default: $BRUNT_STORE, or brunt in $XDG_DATA_HOME or ~/.local/share]";

/// The store, for every command that writes or reads it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    #[arg(long, value_name = "DIR", help = STORE)]
    pub store: Option<PathBuf>,

    /// Store nothing
    #[arg(long, conflicts_with = "store")]
    pub no_store: bool,
}

impl StoreArgs {
    /// Opens the store, and creates it if it does not exist. None with `--no-store`.
    pub fn open(&self) -> Result<Option<Store>> {
        if self.no_store {
            return Ok(None);
        }
        let directory = self.named_directory()?;
        let store = Store::open_showing(&directory, show_progress).inspect(crate::redact::adopt);
        store.map(Some).with_context(|| format!("the store {} cannot be used", directory.display()))
    }

    /// Opens the store for a run, which also works without one. Adds a note if
    /// the store cannot be used.
    pub fn open_or_note(&self, notes: &mut Vec<Text>, verbosity: Verbosity) -> Option<Store> {
        self.open().unwrap_or_else(|error| {
            let error = crate::causes::line(&error);
            let note = text!("warning-not-stored-run", why = error);
            if verbosity == Verbosity::Quiet {
                // With -q there is no report that contains the note.
                print_line(&format!("warning: {note}"));
            }
            notes.push(note);
            None
        })
    }

    /// The directory of the store: from the option, the environment, or the default.
    pub fn named_directory(&self) -> Result<PathBuf> {
        self.directory(variable)
    }

    fn directory(&self, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
        if let Some(directory) = &self.store {
            return Ok(directory.clone());
        }
        if let Some(directory) = variable("BRUNT_STORE") {
            return Ok(directory.into());
        }
        match data_directory(variable) {
            Some(data) => Ok(data.join("brunt")),
            None => bail!("neither HOME nor XDG_DATA_HOME is set: name the store with --store DIR"),
        }
    }
}

/// Prints the progress of long work on the store's index.
fn show_progress(work: IndexWork, done: usize, total: usize) {
    let what = match work {
        IndexWork::Rows => "adding runs to the index of the store",
        IndexWork::Figures => "reading the figures of stored runs",
    };
    print_line(&format!("{what}: {} of {}", count(done as u64), count(total as u64)));
}

/// Returns an environment variable. An empty one counts as unset.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Directory of the user's data; None if no variable names it.
pub fn data_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // The XDG Base Directory Specification requires that a relative path is ignored.
    let data = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|data| data.is_absolute());
    data.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/share")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_precedes_environment_variables() {
        let of = |args: &StoreArgs, set: &[(&str, &str)]| {
            let variable =
                |name: &str| set.iter().find(|row| row.0 == name).map(|row| row.1.into());
            args.directory(variable)
                .map(|directory| directory.display().to_string())
                .unwrap_or_default()
        };
        let (plain, named) =
            (StoreArgs::default(), StoreArgs { store: Some("here".into()), no_store: false });
        let all = [("HOME", "/root"), ("XDG_DATA_HOME", "/data"), ("BRUNT_STORE", "/runs")];
        assert_eq!(of(&named, &all), "here");
        assert_eq!(of(&plain, &all), "/runs");
        assert_eq!(of(&plain, &all[..2]), "/data/brunt");
        assert_eq!(of(&plain, &[("XDG_DATA_HOME", "data"), all[0]]), "/root/.local/share/brunt");
        assert_eq!(of(&plain, &[]), "");
    }
}
