//! How the command ends: its exit code, and why it failed.

pub use brunt_runner::exit::{Exit, FailOn, exit_of, exit_of_comparison, exit_of_study};

/// Why the command failed, and how it is to exit.
pub struct Failed {
    /// How it is to exit.
    pub exit: Exit,
    /// Why.
    pub error: anyhow::Error,
}

/// A fault of the command line, or of a file that it names.
pub fn usage(error: anyhow::Error) -> Failed {
    Failed { exit: Exit::Usage, error }
}

/// A fault of ours, or of the machine that we run on.
pub fn failed(error: impl Into<anyhow::Error>) -> Failed {
    Failed { exit: Exit::Failed, error: error.into() }
}
