//! Runs `brunt-lab`. Its code is in [`brunt_lab::program`], which `brunt lab` shares.

#![allow(clippy::print_stderr, reason = "this is the program")]

use std::io;
use std::process::ExitCode;

use brunt_lab::args::LabOptions;
use brunt_lab::program;
use clap::Parser;

fn main() -> ExitCode {
    match program::run(&LabOptions::parse(), &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("brunt-lab: {failure}");
            failure.exit_code()
        }
    }
}
