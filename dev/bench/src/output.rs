//! Prints results to standard output, and progress to standard error.
//!
//! Nothing is printed during a run.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use anyhow::Result;
use std::process::ExitCode;

/// Prints a result for the reader or a pipe.
pub fn result(text: &str) {
    println!("{text}");
}

/// Prints the progress for the waiting user.
pub fn progress(text: &str) {
    eprintln!("{text}");
}

/// Exit code of a program of the suite. If the suite itself failed, it prints the
/// error and returns 2.
pub fn exit_code(program: &str, result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        progress(&format!("{program}: {error:#}"));
        ExitCode::from(2)
    })
}
