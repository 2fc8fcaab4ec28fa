//! The command `brunt export FORMAT PLAN.yaml`: converts plan files to the format of
//! another tool. `brunt-jmx` writes them.

use crate::exit::{CommandError, Exit, runtime_error, usage_error};
use anyhow::{Context, anyhow};
use brunt_jmx::export::{self, ExportOptions};
use brunt_spec::plan_file::NO_FOLDER;
use clap::{Args, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  brunt export jmx plan.yaml -o plan.jmx            a plan of JMeter 5.6
  brunt export jmx plan.yaml --set load.users=50 | less

Only elements of JMeter itself are written, none of plugins. Variables of the
plan are filled in; environment variables become JMeter's properties. What
JMeter cannot say is listed on standard error.";

/// Arguments of `brunt export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The format of the output.
    #[command(subcommand)]
    format: ExportCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum ExportCommand {
    /// Writes a plan of JMeter 5.6 (.jmx)
    #[command(after_help = EXAMPLES)]
    Jmx {
        #[command(flatten)]
        plan: crate::plan_file::FileArgs,
        /// Write the output to FILE [default: standard output]
        #[arg(short, long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Overwrite FILE if it exists
        #[arg(long, requires = "output")]
        force: bool,
    },
}

/// Writes the plan in the other format, and lists the parts that it cannot express.
pub fn export(args: &ExportArgs) -> Result<Exit, CommandError> {
    let ExportCommand::Jmx { plan: args, output, force } = &args.format;
    if let Some(output) = output.as_deref().filter(|output| output.exists() && !force) {
        return Err(usage_error(anyhow!(
            "`{}` already exists; write another name, or --force",
            output.display()
        )));
    }
    // No value of the environment is written: `${NAME}` becomes the JMeter property NAME, since it may be a secret.
    let system = brunt_spec::System {
        environment: |name| Some(format!("${{__P({name},)}}")),
        ..crate::process::system()
    };
    let loaded = crate::plan_file::load(&args.file, &args.sets, NO_FOLDER, &system)?;
    let experiment = &loaded.experiment;
    let first = experiment
        .contenders
        .first()
        .and_then(|contender| Some((contender, contender.steps.first()?)));
    let (contender, step) = first.ok_or_else(|| {
        usage_error(anyhow!("the plan has no load; write one such as load.users"))
    })?;
    let mut left_out = Vec::new();
    if experiment.contenders.len() > 1 {
        left_out.push(format!("contenders: only `{}` is written", contender.name));
    }
    if contender.steps.len() > 1 {
        left_out
            .push(format!("load: only the first of {} loads is written", contender.steps.len()));
    }
    if contender.server.is_some() {
        left_out.push("server: start it before JMeter".to_owned());
    }
    // The parent of a bare file name is empty.
    let folder =
        output.as_deref().and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    let folder = std::path::absolute(folder.unwrap_or(Path::new("."))).map_err(runtime_error)?;
    let options = ExportOptions { name: experiment.name.clone(), folder };
    let exported = export::write(&step.plan, &options);
    for notice in left_out.iter().chain(&exported.notices) {
        eprintln!("brunt: {notice}");
    }
    let Some(output) = output else {
        crate::output::print(&exported.jmx).map_err(runtime_error)?;
        return Ok(Exit::Measured);
    };
    let name = output.display();
    fs::write(output, exported.jmx)
        .with_context(|| format!("cannot write {name}"))
        .map_err(usage_error)?;
    let next = format!("run it with `jmeter -n -t {name}`, or with `brunt run {name}`");
    crate::output::print(format!("{name} is written: {next}\n")).map_err(runtime_error)?;
    Ok(Exit::Measured)
}
