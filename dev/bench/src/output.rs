//! The two ways of the suite to speak: results to standard output, progress to standard error.
//!
//! Not a logger: nothing is said during a run.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use anyhow::Result;
use std::process::ExitCode;

/// A result, for whoever reads or pipes it.
pub fn result(text: &str) {
    println!("{text}");
}

/// What goes on, for whoever waits.
pub fn progress(text: &str) {
    eprintln!("{text}");
}

/// The exit code of a program of the suite: 2, with the error told, where the suite itself failed.
pub fn exit_code(program: &str, ended: Result<ExitCode>) -> ExitCode {
    ended.unwrap_or_else(|error| {
        progress(&format!("{program}: {error:#}"));
        ExitCode::from(2)
    })
}
