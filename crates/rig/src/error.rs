//! Errors that stop an experiment.

use crate::guard::Ending;
use std::io;
use std::time::Duration;

/// Maximum number of output lines in an error message.
const LINES: usize = 20;

/// The reason why an experiment was stopped. The host still has all trials that were finished.
#[derive(Debug, thiserror::Error)]
pub enum RigFailure<E> {
    /// A hook could not be started, failed, or timed out.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// A managed server failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The host could not make a run.
    #[error("{0}")]
    Host(E),
}

/// The reason why a hook failed.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The hook could not be started.
    #[error("the hook `{command}` {when} could not be started: {error}")]
    Start {
        /// Position in the experiment, such as `before repetition 2 of nginx`.
        when: String,
        /// Shell command of the hook.
        command: String,
        /// Error of the operating system.
        error: io::Error,
    },
    /// The hook ended with another exit code than 0, or by a signal.
    #[error("the hook `{command}` {when} failed ({ending}){}", last(output))]
    Failed {
        /// Position in the experiment, such as `before repetition 2 of nginx`.
        when: String,
        /// Shell command of the hook.
        command: String,
        /// Exit code or signal of its shell.
        ending: Ending,
        /// The end of its output.
        output: String,
    },
    /// The hook exceeded its timeout and was killed.
    #[error("the hook `{command}` {when} timed out after {} s and was killed; give it a longer timeout{}", limit.as_secs_f64(), last(output))]
    TimedOut {
        /// Position in the experiment, such as `before repetition 2 of nginx`.
        when: String,
        /// Shell command of the hook.
        command: String,
        /// Timeout of the hook.
        limit: Duration,
        /// The end of its output.
        output: String,
    },
}

/// The reason why a managed server failed.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The server could not be started.
    #[error("the server of {contender} could not be started: {error}")]
    Start {
        /// Name of the contender.
        contender: String,
        /// Error of the operating system.
        error: io::Error,
    },
    /// Another server already responds at the address.
    #[error(
        "the address of the server of {contender} is in use already ({what}); stop the other server, or choose another port"
    )]
    Taken {
        /// Name of the contender.
        contender: String,
        /// Description of the readiness check.
        what: String,
    },
    /// The server exited before it was ready.
    #[error(
        "the server of {contender} ended before it was ready ({ending}); it must stay in the foreground{}",
        last(output)
    )]
    Ended {
        /// Name of the contender.
        contender: String,
        /// Exit code or signal of its shell.
        ending: Ending,
        /// The end of its output.
        output: String,
    },
    /// The server was not ready within its timeout.
    #[error("the server of {contender} was not ready after {} s: {what}{}", limit.as_secs_f64(), last(output))]
    NotReady {
        /// Name of the contender.
        contender: String,
        /// Timeout of the start.
        limit: Duration,
        /// Reason of the last failed readiness check.
        what: String,
        /// The end of its output.
        output: String,
    },
    /// The server exited during several trials in a row.
    #[error(
        "the server of {contender} ended during {times} trials in a row, the last time with {ending}{}",
        last(output)
    )]
    KeepsEnding {
        /// Name of the contender.
        contender: String,
        /// Number of those trials.
        times: u32,
        /// Exit code or signal of its shell.
        ending: Ending,
        /// The end of its output.
        output: String,
    },
    /// The stop command of the server failed.
    #[error("the server of {contender}: {error}")]
    Stop {
        /// Name of the contender.
        contender: String,
        /// Failure of the stop command.
        error: HookError,
    },
}

/// Formats the last lines of an output, each indented on a separate line.
fn last(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = &lines[lines.len().saturating_sub(LINES)..];
    match shown {
        [] => "; it wrote nothing".into(),
        shown => format!("; it wrote:\n  {}", shown.join("\n  ")),
    }
}
