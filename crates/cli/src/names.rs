//! `brunt install-names DIR`: a link to brunt for each name that it answers to.
//!
//! It replaces nothing but links that lead to this very program.

use crate::exit::{Exit, Failed, failed, usage};
use crate::output::print;
use anyhow::{Context, Result, bail};
use brunt_dropin::COMPAT;
use clap::Args;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The names, and examples, for the help.
pub fn after_help() -> String {
    let names: Vec<_> = COMPAT.iter().map(|tool| format!("  {:17}{}", tool.name, tool.about)).collect();
    format!("Names:\n{}\n\n{EXAMPLES}", names.join("\n"))
}

const EXAMPLES: &str = "\
Examples:
  brunt install-names ~/bin                 ab runs brunt if ~/bin is before /usr/bin in PATH
  brunt ab -n 1000 -c 10 http://127.0.0.1/  the same without a link";

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct NamesArgs {
    /// Existing directory for the links
    pub dir: PathBuf,
}

/// Makes the links, and says which.
pub fn install(args: &NamesArgs) -> Result<Exit, Failed> {
    let ours = std::env::current_exe().map_err(failed)?;
    // All or none: what stands in the way of one is found before the first is made.
    let wanted = COMPAT.iter().map(|tool| look(&args.dir, tool.name, &ours)).collect::<Result<Vec<_>>>();
    for (path, place) in wanted.map_err(usage)? {
        place.make(&path, &ours).map_err(failed)?;
        print(format!("{} -> {}\n", path.display(), ours.display())).map_err(failed)?;
    }
    Ok(Exit::Measured)
}

/// What is where a link is to be.
enum Place {
    Free,
    /// A link of ours.
    Ours,
}

fn look(dir: &Path, name: &str, ours: &Path) -> Result<(PathBuf, Place)> {
    if !dir.is_dir() {
        bail!("{} is no directory; make it first, or name another", dir.display());
    }
    let path = dir.join(name);
    let Ok(there) = path.symlink_metadata() else { return Ok((path, Place::Free)) };
    let same = || Some(fs::canonicalize(&path).ok()? == fs::canonicalize(ours).ok()?);
    if there.is_symlink() && same() == Some(true) {
        return Ok((path, Place::Ours));
    }
    bail!("{} is there and no link to this brunt; move it away, or name another directory", path.display())
}

impl Place {
    fn make(self, path: &Path, ours: &Path) -> Result<()> {
        match self {
            Self::Ours => Ok(()),
            Self::Free => symlink(ours, path).with_context(|| format!("{} cannot be made", path.display())),
        }
    }
}
