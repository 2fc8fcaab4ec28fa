//! Outcomes of a command: exit codes and errors.

pub use brunt_runner::exit::{Exit, FailOn, exit_of, exit_of_comparison, exit_of_study};

use brunt_spec::settings::CheckSettings;

/// Returns the doubts that the user wants to be failures.
pub fn fail_on(checks: &CheckSettings) -> FailOn {
    FailOn {
        limited: checks.strict,
        allowed_loss_percent: checks.allowed_loss_percent,
        undecided: false,
    }
}

/// An error with the exit code of brunt.
pub struct CommandError {
    pub exit: Exit,
    pub error: anyhow::Error,
}

/// An error in the command line, or in a file that it names.
pub fn usage_error(error: impl Into<anyhow::Error>) -> CommandError {
    CommandError { exit: Exit::Usage, error: error.into() }
}

/// An error of brunt or of this machine.
pub fn runtime_error(error: impl Into<anyhow::Error>) -> CommandError {
    CommandError { exit: Exit::Failed, error: error.into() }
}
