//! The two ways of the suite to speak: results to standard output, progress to standard error.
//!
//! Not a logger: nothing is said during a run.
#![allow(clippy::print_stdout, clippy::print_stderr)]

/// A result, for whoever reads or pipes it.
pub fn result(text: &str) {
    println!("{text}");
}

/// What goes on, for whoever waits.
pub fn progress(text: &str) {
    eprintln!("{text}");
}
