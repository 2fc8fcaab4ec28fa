//! The command: arguments in, plan out, reports shown. (A stub: the run is not there yet.)
#![allow(dead_code, clippy::print_stdout, clippy::print_stderr)]

mod args;
mod defaults;
mod exit;
mod to_plan;

use args::{Cli, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Command::Run(args) = Cli::parse().into_command() else { return Exit::Failed.into() };
    let system = to_plan::System { descriptors: 1024, cores: 2, seed: 1 };
    let planned = args::output::outputs(&args.output.outputs, &["text", "json", "csv"])
        .and_then(|_| to_plan::to_plan(&args, &system))
        .and_then(|(plan, notes)| Ok((serde_json::to_string_pretty(&plan)?, notes)));
    match planned {
        Ok((plan, notes)) => {
            println!("{plan}\n{}", notes.join("\n"));
            Exit::Measured.into()
        }
        Err(e) => {
            eprintln!("error: {e:#}");
            Exit::Usage.into()
        }
    }
}
