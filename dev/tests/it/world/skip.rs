//! Reports tests that cannot run on this machine.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// Prints that a test is skipped, and appends the line to the file that `BRUNT_SKIPS` names.
pub fn skip(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
    if let Some(file) = env::var_os("BRUNT_SKIPS") {
        let mut file =
            OpenOptions::new().create(true).append(true).open(file).expect("the file of skips");
        writeln!(file, "SKIPPED {test}: {why}").expect("a line for the skips");
    }
}

/// Path of a program of the system.
pub fn program(name: &str) -> Option<String> {
    let path = env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin:/usr/local/sbin";
    path.split(':')
        .map(|dir| format!("{dir}/{name}"))
        .find(|file| std::path::Path::new(file).is_file())
}
