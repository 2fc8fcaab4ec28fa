//! Messages between brunt and a guard.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Kind of a guarded command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// A server: it runs until it is stopped, and then no process of it may be left.
    Server,
    /// A hook: it ends when its shell ends; its background processes stay.
    Hook,
}

/// A command that brunt sends to a guard.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardCommand {
    /// Starts a shell command; sent first, and only once.
    Start(CommandKind, String),
    /// Removes this folder when the pipe closes; sent instead of `Start`.
    Folder(PathBuf),
    /// Sends SIGTERM to all processes, and kills those that are left after this time.
    Term(Duration),
    /// Kills the processes that are left after this time; they have been asked to end already.
    Wait(Duration),
}

/// A report that a guard sends to brunt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardReport {
    /// The command was started. Its shell, and its process group, have this id.
    Started(u32),
    /// The command could not be started, for this reason.
    Failed(String),
    /// The command's shell has ended; other processes may be left.
    Ended(Ending),
    /// Number of processes that had to be killed.
    Killed(u32),
    /// No process is left.
    Gone,
}

/// Exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The process exited with this code.
    Code(i32),
    /// The process was terminated by this signal.
    Signal(i32),
    /// The exit status is unknown, since the guard was killed.
    Unknown,
}

impl GuardCommand {
    /// Formats the command as sent over the pipe, without the terminating NUL.
    pub fn text(&self) -> String {
        // A NUL cannot occur in a shell command, but a line break can.
        match self {
            Self::Start(CommandKind::Server, command) => format!("server {command}"),
            Self::Start(CommandKind::Hook, command) => format!("hook {command}"),
            Self::Folder(path) => format!("folder {}", path.display()),
            Self::Term(limit) => format!("term {}", limit.as_secs_f64()),
            Self::Wait(limit) => format!("wait {}", limit.as_secs_f64()),
        }
    }

    /// Parses a command; None if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(' ')?;
        match word {
            "server" => Some(Self::Start(CommandKind::Server, rest.to_owned())),
            "hook" => Some(Self::Start(CommandKind::Hook, rest.to_owned())),
            "folder" => Some(Self::Folder(rest.into())),
            "term" => parse_limit(rest).map(Self::Term),
            "wait" => parse_limit(rest).map(Self::Wait),
            _ => None,
        }
    }
}

fn parse_limit(seconds: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.parse().ok()?).ok()
}

impl fmt::Display for GuardReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => write!(f, "started {pid}"),
            // A report is one line.
            Self::Failed(why) => write!(f, "failed {}", why.replace('\n', " ")),
            Self::Ended(Ending::Code(code)) => write!(f, "exited {code}"),
            Self::Ended(Ending::Signal(signal)) => write!(f, "signalled {signal}"),
            Self::Ended(Ending::Unknown) => write!(f, "ended ?"),
            Self::Killed(processes) => write!(f, "killed {processes}"),
            Self::Gone => write!(f, "gone ."),
        }
    }
}

impl GuardReport {
    /// Parses a report line; None if it is invalid.
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        Some(match word {
            "started" => Self::Started(rest.parse().ok()?),
            "failed" => Self::Failed(rest.to_owned()),
            "exited" => Self::Ended(Ending::Code(rest.parse().ok()?)),
            "signalled" => Self::Ended(Ending::Signal(rest.parse().ok()?)),
            "ended" => Self::Ended(Ending::Unknown),
            "killed" => Self::Killed(rest.parse().ok()?),
            "gone" => Self::Gone,
            _ => return None,
        })
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => write!(f, "the exit status is unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn commands_are_parsed(command in "[^\0]*", millis in 0..10_000_000_u64) {
            let limit = Duration::from_millis(millis);
            for word in [GuardCommand::Start(CommandKind::Server, command.clone()), GuardCommand::Folder(command.clone().into()), GuardCommand::Start(CommandKind::Hook, command), GuardCommand::Term(limit), GuardCommand::Wait(limit)] {
                prop_assert_eq!(GuardCommand::parse(&word.text()), Some(word));
            }
        }
    }

    #[test]
    fn reports_are_parsed() {
        let endings = [Ending::Code(0), Ending::Code(-1), Ending::Signal(9), Ending::Unknown]
            .map(GuardReport::Ended);
        let others = [
            GuardReport::Started(7),
            GuardReport::Failed("no sh".into()),
            GuardReport::Killed(3),
            GuardReport::Gone,
        ];
        for report in endings.into_iter().chain(others) {
            assert_eq!(GuardReport::parse(&report.to_string()), Some(report));
        }
        assert_eq!(GuardReport::parse("what"), None);
    }
}
