//! Who is measured, and where they are.
//!
//! A tool that is not there is no error: its row is a dash, and [`Toolbox::missing`] names it. How each is called is in
//! [`crate::command`].

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use serde::Serialize;

use crate::options::Options;
use crate::output;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    Brunt,
    Wrk,
    Ab,
    H2load,
    /// The bare loops of `src/bin/floor/`
    Floor,
}

impl Tool {
    pub const ALL: [Self; 5] = [Self::Brunt, Self::Wrk, Self::Ab, Self::H2load, Self::Floor];

    pub fn name(self) -> &'static str {
        match self {
            Self::Brunt => "brunt",
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::H2load => "h2load",
            Self::Floor => "floor",
        }
    }
}

/// The tools that were found and asked for.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    found: BTreeMap<Tool, PathBuf>,
    pub missing: Vec<Tool>,
    /// Given by the user; else it is looked for beside brunt.
    lab: Option<PathBuf>,
}

impl Toolbox {
    pub fn locate(options: &Options) -> Self {
        let mut toolbox = Self { lab: options.lab.clone(), ..Self::default() };
        for tool in Tool::ALL.into_iter().filter(|tool| options.wants(*tool)) {
            let path = match tool {
                Tool::Brunt => brunt(options.brunt.as_deref()),
                Tool::Floor => floor(),
                other => in_path(other.name()),
            };
            match path {
                Some(path) => drop(toolbox.found.insert(tool, path)),
                None => toolbox.missing.push(tool),
            }
        }
        toolbox
    }

    pub fn path(&self, tool: Tool) -> Option<&Path> {
        self.found.get(&tool).map(PathBuf::as_path)
    }

    /// The server that counts arrivals: as given, beside brunt, beside us, or where cargo puts it.
    pub fn lab(&self) -> Option<PathBuf> {
        let beside_brunt = self.path(Tool::Brunt).and_then(Path::parent).map(|folder| folder.join("brunt-lab"));
        let candidates = match &self.lab {
            Some(path) => vec![path.clone()],
            None => [beside_brunt, beside_us("brunt-lab"), Some("target/release/brunt-lab".into())]
                .into_iter()
                .flatten()
                .collect(),
        };
        candidates.into_iter().find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
    }

    /// The first line of what each says of itself.
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        self.found.iter().filter_map(|(tool, path)| Some((tool.name(), version(*tool, path)?))).collect()
    }
}

/// A program of this name in `PATH`, or where Debian keeps servers.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The first line that a program prints about its version, to either stream and with whatever exit code.
pub fn first_line(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_owned();
    let line = line.split(" Copyright").next().unwrap_or(&line);
    Some(line.trim_start_matches("This is ").trim_end_matches(" <$Revision$>").to_owned())
}

fn version(tool: Tool, path: &Path) -> Option<String> {
    match tool {
        Tool::Floor => None,
        Tool::Ab => first_line(path, "-V"),
        Tool::Wrk => first_line(path, "-v"),
        Tool::Brunt | Tool::H2load => first_line(path, "--version"),
    }
}

fn brunt(given: Option<&Path>) -> Option<PathBuf> {
    let candidates = match given {
        Some(path) => vec![path.to_owned()],
        None => beside_us("brunt").into_iter().chain([PathBuf::from("target/release/brunt")]).collect(),
    };
    candidates.into_iter().find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
}

/// `cargo run` builds the one program that it runs, so the floor is built here, by the same cargo.
fn floor() -> Option<PathBuf> {
    if let Some(cargo) = env::var_os("CARGO") {
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let arguments = ["build", "--quiet", "--package", "brunt-bench", "--bin", "floor", "--profile", profile];
        let built = Command::new(cargo).args(arguments).status();
        if !built.is_ok_and(|status| status.success()) {
            output::progress("floor: cargo could not build it");
            return None;
        }
    }
    beside_us("floor").filter(|file| file.is_file())
}

fn beside_us(name: &str) -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.join(name))
}
