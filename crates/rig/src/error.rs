//! What stops an experiment.

use crate::guard::Ending;
use std::io;
use std::time::Duration;

/// Lines of output that an error shows.
const LINES: usize = 20;

/// Why an experiment was stopped. What was measured before is the host's, and whole.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// A hook.
    #[error(transparent)]
    Hook(#[from] HookError),
    /// A managed server.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The host could not make a run.
    #[error("{0}")]
    Host(E),
}

/// Why a hook failed.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// It could not be started.
    #[error("the hook `{command}` {when} could not be started: {error}")]
    Start {
        /// When it was to run.
        when: String,
        /// The command.
        command: String,
        /// Why.
        error: io::Error,
    },
    /// It did not exit with 0.
    #[error("the hook `{command}` {when} failed ({ending}){}", last(output))]
    Failed {
        /// When it ran.
        when: String,
        /// The command.
        command: String,
        /// How it ended.
        ending: Ending,
        /// The last of what it wrote.
        output: String,
    },
    /// It took too long, and was ended.
    #[error("the hook `{command}` {when} timed out after {} s and was killed; give it a longer timeout{}", limit.as_secs_f64(), last(output))]
    TimedOut {
        /// When it ran.
        when: String,
        /// The command.
        command: String,
        /// The time that it was given.
        limit: Duration,
        /// The last of what it wrote.
        output: String,
    },
}

/// Why a managed server failed.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It could not be started.
    #[error("the server of {contender} could not be started: {error}")]
    Start {
        /// Whose.
        contender: String,
        /// Why.
        error: io::Error,
    },
    /// Somebody else is there.
    #[error(
        "the address of the server of {contender} is in use already ({what}); stop the other server, or choose another port"
    )]
    Taken {
        /// Whose.
        contender: String,
        /// What was asked.
        what: String,
    },
    /// It ended before it was ready.
    #[error(
        "the server of {contender} ended before it was ready ({ending}); it must stay in the foreground{}",
        last(output)
    )]
    Ended {
        /// Whose.
        contender: String,
        /// How.
        ending: Ending,
        /// The last of what it wrote.
        output: String,
    },
    /// It was not ready in time.
    #[error("the server of {contender} was not ready after {} s: {what}{}", limit.as_secs_f64(), last(output))]
    NotReady {
        /// Whose.
        contender: String,
        /// The time that it was given.
        limit: Duration,
        /// The event that did not happen.
        what: String,
        /// The last of what it wrote.
        output: String,
    },
    /// It ends in every trial.
    #[error(
        "the server of {contender} ended during {times} trials in a row, the last time with {ending}{}",
        last(output)
    )]
    KeepsEnding {
        /// Whose.
        contender: String,
        /// How many.
        times: u32,
        /// How.
        ending: Ending,
        /// The last of what it wrote.
        output: String,
    },
    /// The command that is to stop it.
    #[error("the server of {contender}: {error}")]
    Stop {
        /// Whose.
        contender: String,
        /// Why.
        error: HookError,
    },
}

/// The last lines of an output, each on its own line below the message.
fn last(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = &lines[lines.len().saturating_sub(LINES)..];
    match shown {
        [] => "; it wrote nothing".into(),
        shown => format!("; it wrote:\n  {}", shown.join("\n  ")),
    }
}
