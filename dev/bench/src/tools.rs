//! The measured tools, and their paths.
//!
//! A tool that is not installed is no error: its row is a dash, and [`Toolbox::missing`] names it.
//! [`crate::command`] builds the command lines.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;
use serde::Serialize;

use crate::options::BenchOptions;
use crate::output;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum BenchTool {
    Brunt,
    Wrk,
    Ab,
    H2load,
    /// The bare loops of `src/bin/floor/`
    Floor,
}

impl BenchTool {
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

/// The requested tools that are installed.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    paths: BTreeMap<BenchTool, PathBuf>,
    pub missing: Vec<BenchTool>,
    /// Path given by the user; if None, the directory of brunt is searched.
    lab: Option<PathBuf>,
}

impl Toolbox {
    pub fn locate(options: &BenchOptions) -> Self {
        let mut toolbox = Self { lab: options.lab.clone(), ..Self::default() };
        for tool in BenchTool::ALL.into_iter().filter(|tool| options.wants(*tool)) {
            let path = match tool {
                BenchTool::Brunt => brunt(options.brunt.as_deref()),
                BenchTool::Floor => floor(),
                other => in_path(other.name()),
            };
            match path {
                Some(path) => drop(toolbox.paths.insert(tool, path)),
                None => toolbox.missing.push(tool),
            }
        }
        toolbox
    }

    pub fn path(&self, tool: BenchTool) -> Option<&Path> {
        self.paths.get(&tool).map(PathBuf::as_path)
    }

    /// Path of the lab, which counts arrivals: the given one, or in the directory of brunt, of this
    /// program, or of cargo's builds.
    pub fn lab(&self) -> Option<PathBuf> {
        let next_to_brunt = self
            .path(BenchTool::Brunt)
            .and_then(Path::parent)
            .map(|folder| folder.join("brunt-lab"));
        let candidates = match &self.lab {
            Some(path) => vec![path.clone()],
            None => [
                next_to_brunt,
                next_to_this_program("brunt-lab"),
                Some("target/release/brunt-lab".into()),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        candidates.into_iter().find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
    }

    /// First line of the version output of each tool.
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        self.paths
            .iter()
            .filter_map(|(tool, path)| Some((tool.name(), version(*tool, path)?)))
            .collect()
    }
}

/// Finds a program in `PATH`, or where Debian installs servers.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders =
        env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// First line of a program's version output, from either stream and with any exit code.
pub fn first_line(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let line = String::from_utf8_lossy(&text).lines().next()?.trim().to_owned();
    // ab and wrk print more than their version.
    let line = line.split(" Copyright").next().unwrap_or(&line);
    Some(line.trim_start_matches("This is ").trim_end_matches(" <$Revision$>").to_owned())
}

fn version(tool: BenchTool, path: &Path) -> Option<String> {
    match tool {
        BenchTool::Floor => None,
        BenchTool::Ab => first_line(path, "-V"),
        BenchTool::Wrk => first_line(path, "-v"),
        BenchTool::Brunt | BenchTool::H2load => first_line(path, "--version"),
    }
}

fn brunt(requested: Option<&Path>) -> Option<PathBuf> {
    let candidates = match requested {
        Some(path) => vec![path.to_owned()],
        None => next_to_this_program("brunt")
            .into_iter()
            .chain([PathBuf::from("target/release/brunt")])
            .collect(),
    };
    candidates.into_iter().find(|file| file.is_file()).and_then(|file| file.canonicalize().ok())
}

/// Builds the floor with the same cargo, because `cargo run` only builds the program that it runs.
fn floor() -> Option<PathBuf> {
    // Cargo sets this variable for programs that it runs.
    if let Some(cargo) = env::var_os("CARGO") {
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let arguments = [
            "build",
            "--quiet",
            "--package",
            "brunt-bench",
            "--bin",
            "floor",
            "--profile",
            profile,
        ];
        let built = Command::new(cargo).args(arguments).status();
        if !built.is_ok_and(|status| status.success()) {
            output::progress("floor: cargo could not build it");
            return None;
        }
    }
    next_to_this_program("floor").filter(|file| file.is_file())
}

fn next_to_this_program(name: &str) -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.join(name))
}
