//! `brunt plan check|show|set|new|schema`. Plan files are read in `spec`.

use crate::exit::{Exit, Failed, failed, usage};
use crate::output::print;
use anyhow::Context;
use brunt_spec::plan::PlanFile;
use brunt_spec::plan_file::{self, Loaded, NO_FOLDER, show as shown};
use brunt_spec::{SpecError, estimate};
use clap::{Args, Subcommand};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Examples for the help.
pub const EXAMPLES: &str = "\
Examples:
  brunt plan new plan.yaml                                create a plan file with comments
  brunt plan check plan.yaml                              check it, and estimate its duration
  brunt plan check plan.yaml --set load.rate=100..500+50  the same with another load
  brunt plan show plan.yaml                               variables filled in, by contender
  brunt plan set plan.yaml load.rate=500 --write          change a value in the file
  brunt plan schema > plan.schema.json                    for editors";

/// The plan that `brunt plan new` writes.
const NEW: &str = include_str!("plan_file/new.yaml");

/// What the command is told.
#[derive(Debug, Clone, Args)]
pub struct PlanArgs {
    /// What to do with plan files.
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum PlanCommand {
    /// Checks a plan file and estimates its duration, without running it
    Check(FileArgs),
    /// Prints the plan with variables filled in, and the differences between contenders
    Show {
        #[command(flatten)]
        file: FileArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Changes values in a plan file; comments and all other text stay as they are
    Set {
        /// The plan file
        file: PathBuf,
        #[arg(
            help = "New value of a variable of the plan, or at a path such as load.rate or scenario.steps[0].get; empty removes it"
        )]
        #[arg(value_name = "NAME=VALUE", required = true)]
        sets: Vec<String>,
        /// Write the file instead of printing it
        #[arg(long)]
        write: bool,
    },
    /// Creates a plan file with comments
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
        PlanCommand::Show { file, json } => show(file, if *json { shown::json } else { shown::yaml }),
        PlanCommand::Set { file, sets, write } => set(file, sets, *write),
        PlanCommand::New { file } => new(file.as_deref()),
        PlanCommand::Schema => {
            print(format!("{:#}\n", brunt_spec::plan::schema())).map_err(failed)?;
            Ok(Exit::Measured)
        }
    }
}

fn check(args: &FileArgs) -> Result<Exit, Failed> {
    let loaded = plan_file::load(&args.file, &args.sets, NO_FOLDER, &crate::process::system()).map_err(refused)?;
    let mut text = format!("{} is valid: {}\n", args.file.display(), estimate::sentence(&loaded.experiment));
    for note in &loaded.notes {
        text.extend(["Note: ", note, "\n"]);
    }
    print(text).map_err(failed)?;
    Ok(Exit::Measured)
}

fn show(args: &FileArgs, form: fn(&PlanFile, &Loaded) -> String) -> Result<Exit, Failed> {
    let opened = plan_file::open(&args.file, &args.sets, NO_FOLDER, &crate::process::system()).map_err(refused)?;
    let file = opened.file.clone();
    let loaded = opened.resolve(&crate::process::system()).map_err(refused)?;
    crate::redact::current().experiment(&mut loaded.experiment.clone());
    print(crate::redact::current().plan_text(&form(&file, &loaded))).map_err(failed)?;
    Ok(Exit::Measured)
}

fn set(file: &Path, sets: &[String], write: bool) -> Result<Exit, Failed> {
    let name = file.display();
    let mut text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}")).map_err(usage)?;
    for word in sets {
        text = brunt_spec::plan::set_in_text(&text, &name.to_string(), word).map_err(refused)?;
    }
    if write {
        replace(file, &text).with_context(|| format!("cannot write {name}")).map_err(usage)?;
        print(format!("{name} is written: check it with `brunt plan check {name}`\n")).map_err(failed)?;
    } else {
        print(&text).map_err(failed)?;
    }
    Ok(Exit::Measured)
}

/// Replaces the text of a file. If that fails, for instance because the disk is full, the file is as it was.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let target = file.canonicalize()?;
    let mut new = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(Path::new(".")))?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(target.metadata()?.permissions())?;
    new.as_file().sync_all()?;
    new.persist(target)?;
    Ok(())
}

fn new(file: Option<&Path>) -> Result<Exit, Failed> {
    let Some(file) = file else {
        print(NEW).map_err(failed)?;
        return Ok(Exit::Measured);
    };
    if file.exists() {
        return Err(usage(anyhow::anyhow!("`{}` already exists; write another name", file.display())));
    }
    let created = std::fs::File::create_new(file).with_context(|| format!("cannot write {}", file.display()));
    created.map_err(usage)?.write_all(NEW.as_bytes()).map_err(failed)?;
    let name = file.display();
    let next = format!("put your URL into it, then `brunt plan check {name}` and `brunt run {name}`");
    print(format!("{name} is written: {next}\n")).map_err(failed)?;
    Ok(Exit::Measured)
}

fn refused(error: SpecError) -> Failed {
    usage(error.into())
}
