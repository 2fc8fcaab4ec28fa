//! The command `brunt plan check|show|set|new|schema`. `spec` parses plan files.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use crate::output::print;
use anyhow::{Context, anyhow};
use brunt_spec::System;
use brunt_spec::estimate;
use brunt_spec::plan::{PlanFile, replace_file};
use brunt_spec::plan_file::{self, NO_FOLDER, ResolvedPlan, show as shown};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt plan new plan.yaml                                create a plan file with comments
  brunt plan check plan.yaml                              check it, and estimate its duration
  brunt plan check plan.yaml --set load.rate=100..500+50  the same with another load
  brunt plan show plan.yaml                               variables filled in, by contender
  brunt plan set plan.yaml load.rate=500 --write          change a value in the file
  brunt plan schema > plan.schema.json                    for editors";

/// Plan file of `brunt plan new`.
const NEW: &str = include_str!("plan_file/new.yaml");

/// Arguments of `brunt plan`.
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

/// A plan file and its overrides.
#[derive(Debug, Clone, Args)]
pub struct FileArgs {
    /// The plan file
    pub file: PathBuf,
    /// Another value for a variable of the plan, or for a key such as load.rate; repeatable
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub sets: Vec<String>,
}

/// Runs a subcommand of `brunt plan`.
pub fn plan(args: &PlanArgs) -> Result<Exit, CommandError> {
    match &args.command {
        PlanCommand::Check(file) => check(file),
        PlanCommand::Show { file, json } => {
            show(file, if *json { shown::json } else { shown::yaml })
        }
        PlanCommand::Set { file, sets, write } => set(file, sets, *write),
        PlanCommand::New { file } => new(file.as_deref()),
        PlanCommand::Schema => {
            print(format!("{:#}\n", brunt_spec::plan::schema())).map_err(runtime_error)?;
            Ok(Exit::Measured)
        }
    }
}

/// Reads a plan file and resolves it. If it is a file of another kind, the error names the command for it.
pub fn load(
    file: &Path,
    sets: &[String],
    folder: &str,
    system: &System,
) -> Result<ResolvedPlan, CommandError> {
    plan_file::load(file, sets, folder, system).map_err(|error| {
        let other = crate::other_files::command_for_file(&file.display().to_string());
        match other {
            Some(instead) => {
                usage_error(anyhow!("`{}` is no plan file; {instead}", file.display()))
            }
            None => usage_error(error),
        }
    })
}

fn check(args: &FileArgs) -> Result<Exit, CommandError> {
    let loaded = load(&args.file, &args.sets, NO_FOLDER, &crate::process::system())?;
    let mut text =
        format!("{} is valid: {}\n", args.file.display(), estimate::sentence(&loaded.experiment));
    for sentence in brunt_judge::compare::undecidable(&loaded.experiment) {
        text.extend(["Warning: ", &sentence, "\n"]);
    }
    for note in &loaded.notes {
        text.extend(["Note: ", note, "\n"]);
    }
    print(text).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

fn show(
    args: &FileArgs,
    format: fn(&PlanFile, &ResolvedPlan) -> String,
) -> Result<Exit, CommandError> {
    let plan = plan_file::open(&args.file, &args.sets, NO_FOLDER, &crate::process::system())
        .map_err(usage_error)?;
    let file = plan.file.clone();
    let loaded = plan.resolve(&crate::process::system()).map_err(usage_error)?;
    // Redacting registers the secrets for the text. The redacted copy is not needed.
    crate::redact::current().experiment(&mut loaded.experiment.clone());
    print(crate::redact::current().plan_text(&format(&file, &loaded))).map_err(runtime_error)?;
    Ok(Exit::Measured)
}

fn set(file: &Path, sets: &[String], write: bool) -> Result<Exit, CommandError> {
    let name = file.display();
    let mut text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read {name}"))
        .map_err(usage_error)?;
    for word in sets {
        text =
            brunt_spec::plan::set_in_text(&text, &name.to_string(), word).map_err(usage_error)?;
    }
    if write {
        replace_file(file, &text)
            .with_context(|| format!("cannot write {name}"))
            .map_err(usage_error)?;
        print(format!("{name} is written: check it with `brunt plan check {name}`\n"))
            .map_err(runtime_error)?;
    } else {
        print(&text).map_err(runtime_error)?;
    }
    Ok(Exit::Measured)
}

fn new(file: Option<&Path>) -> Result<Exit, CommandError> {
    let Some(file) = file else {
        print(NEW).map_err(runtime_error)?;
        return Ok(Exit::Measured);
    };
    if file.exists() {
        return Err(usage_error(anyhow::anyhow!(
            "`{}` already exists; write another name",
            file.display()
        )));
    }
    // Fails if another process has created the file since the check.
    let created =
        std::fs::File::create_new(file).with_context(|| format!("cannot write {}", file.display()));
    created.map_err(usage_error)?.write_all(NEW.as_bytes()).map_err(runtime_error)?;
    let name = file.display();
    let next =
        format!("put your URL into it, then `brunt plan check {name}` and `brunt run {name}`");
    print(format!("{name} is written: {next}\n")).map_err(runtime_error)?;
    Ok(Exit::Measured)
}
