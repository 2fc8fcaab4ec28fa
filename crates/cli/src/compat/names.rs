//! The command `brunt install-names DIR`: creates a link to brunt for each drop-in tool.
//!
//! Existing links to this executable stay. Anything else in their place is an error.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::print;
use anyhow::{Context, Result, bail};
use brunt_dropin::COMPAT;
use clap::Args;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Names and examples for the help text.
pub fn after_help() -> String {
    let names: Vec<_> =
        COMPAT.iter().map(|tool| format!("  {:17}{}", tool.name, tool.about)).collect();
    format!("Names:\n{}\n\n{EXAMPLES}", names.join("\n"))
}

const EXAMPLES: &str = "\
Examples:
  brunt install-names ~/bin                 ab runs brunt if ~/bin is before /usr/bin in PATH
  brunt ab -n 1000 -c 10 http://127.0.0.1/  the same without a link";

/// Arguments of `brunt install-names`.
#[derive(Debug, Clone, Args)]
pub struct NamesArgs {
    /// Existing directory for the links
    pub dir: PathBuf,
}

/// Creates the links and prints their names.
pub fn install(args: &NamesArgs) -> Result<Exit, CommandError> {
    let program = std::env::current_exe().map_err(runtime_error)?;
    // All or none: obstacles are found before the first link is created.
    let links = COMPAT
        .iter()
        .map(|tool| examine(&args.dir, tool.name, &program))
        .collect::<Result<Vec<_>>>();
    for (path, place) in links.map_err(usage_error)? {
        place.make(&path, &program).map_err(runtime_error)?;
        print(format!("{} -> {}\n", path.display(), program.display())).map_err(runtime_error)?;
    }
    Ok(Exit::Measured)
}

/// State of the path of a link.
enum LinkState {
    Free,
    /// A link to this executable.
    Present,
}

fn examine(dir: &Path, name: &str, program: &Path) -> Result<(PathBuf, LinkState)> {
    if !dir.is_dir() {
        bail!("{} is no directory; make it first, or name another", dir.display());
    }
    let path = dir.join(name);
    let Ok(metadata) = path.symlink_metadata() else { return Ok((path, LinkState::Free)) };
    // Both paths may be symbolic links to the executable.
    let leads_here = fs::canonicalize(&path)
        .ok()
        .is_some_and(|target| fs::canonicalize(program).ok() == Some(target));
    if metadata.is_symlink() && leads_here {
        return Ok((path, LinkState::Present));
    }
    bail!(
        "{} exists and is no link to this brunt; move it away, or name another directory",
        path.display()
    )
}

impl LinkState {
    fn make(self, path: &Path, program: &Path) -> Result<()> {
        match self {
            Self::Present => Ok(()),
            Self::Free => {
                symlink(program, path).with_context(|| format!("{} cannot be made", path.display()))
            }
        }
    }
}
