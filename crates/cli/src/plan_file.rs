//! Plan files: from YAML to an experiment, and `brunt plan check|show|new|schema`.
//!
//! What it is **not**: the reading of the YAML is `script`'s ([`brunt_spec::plan`]), the carrying out is not done here.
//!
//! * [`keys`]: which key is which option of `brunt run`. [`options`]: settings → arguments, by the same parser and rules.
//! * [`search`]: what stands below `find`. [`resolve`]: the whole way, [`load`]. [`mod@show`]: what `brunt plan show` prints. [`estimate`]: how long it takes.

pub mod estimate;
mod keys;
mod options;
mod resolve;
mod search;
mod show;

use crate::exit::Exit;
use crate::{Failed, failed, usage};
use anyhow::Context;
use clap::{Args, Subcommand};
#[allow(unused_imports, reason = "for whoever carries experiments out")]
pub use resolve::{Loaded, load};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt plan new plan.yaml                                a plan with comments, to begin with
  brunt plan check plan.yaml                              whether it is valid, and how long it takes
  brunt plan check plan.yaml --set load.rate=100..500+50  the same with another load
  brunt plan show plan.yaml                               what it comes to, by contender
  brunt plan schema > plan.schema.json                    for editors";

/// The plan that `brunt plan new` writes.
const NEW: &str = include_str!("../../spec/src/new.yaml");

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// What to do with plan files.
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum PlanCommand {
    /// Says whether a plan file is valid, and how long it takes; nothing is begun
    Check(FileArgs),
    /// Prints what a plan file comes to: variables filled in, and what differs by contender
    Show {
        #[command(flatten)]
        file: FileArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Writes a plan with comments, to begin with
    New {
        /// Where to; standard output where none is named
        file: Option<PathBuf>,
    },
    /// Prints the JSON Schema of plan files
    Schema,
}

/// A plan file, and what is changed in it.
#[derive(Debug, Clone, Args)]
pub struct FileArgs {
    /// The plan file
    pub file: PathBuf,
    /// Another value for a variable of the plan, or for a key such as load.rate; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
}

/// Carries it out.
pub fn plan(args: &PlanArgs) -> Result<Exit, Failed> {
    match &args.command {
        PlanCommand::Check(file) => check(file),
        PlanCommand::Show { file, json } => show(file, if *json { show::json } else { show::yaml }),
        PlanCommand::New { file } => new(file.as_deref()),
        PlanCommand::Schema => {
            println!("{:#}", brunt_spec::plan::schema());
            Ok(Exit::Measured)
        }
    }
}

/// What `${dir}` is shown as where no folder is made.
const NO_FOLDER: &str = "${dir}";

fn check(args: &FileArgs) -> Result<Exit, Failed> {
    let loaded = load(&args.file, &args.sets, NO_FOLDER, &crate::system()).map_err(usage)?;
    println!("{} is valid: {}", args.file.display(), estimate::sentence(&loaded.experiment));
    for note in &loaded.notes {
        println!("Note: {note}");
    }
    Ok(Exit::Measured)
}

fn show(args: &FileArgs, form: fn(&brunt_spec::plan::PlanFile, &Loaded) -> String) -> Result<Exit, Failed> {
    let opened = resolve::open(&args.file, &args.sets, NO_FOLDER).map_err(usage)?;
    let file = opened.file.clone();
    let loaded = opened.resolve(&crate::system()).map_err(usage)?;
    crate::redact::current().experiment(&mut loaded.experiment.clone());
    print!("{}", crate::redact::text(&form(&file, &loaded)));
    Ok(Exit::Measured)
}

fn new(file: Option<&Path>) -> Result<Exit, Failed> {
    let Some(file) = file else {
        print!("{NEW}");
        return Ok(Exit::Measured);
    };
    let created = std::fs::File::create_new(file).with_context(|| format!("{} cannot be written anew", file.display()));
    created.map_err(usage)?.write_all(NEW.as_bytes()).map_err(failed)?;
    let name = file.display();
    println!("{name} is written: put your URL into it, then `brunt plan check {name}` and `brunt run {name}`");
    Ok(Exit::Measured)
}

#[cfg(test)]
mod tests;
