//! What a guard is told, and what it tells.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It runs until it is ended, and nothing of it may be left.
    Server,
    /// It is over when its shell is; what it put into the background stays.
    Hook,
}

/// What a guard is told.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardCommand {
    /// Start this; the first word, and said once.
    Start(Kind, String),
    /// Remove this folder when the pipe is closed; in place of `Start`.
    Folder(PathBuf),
    /// Ask all to end (SIGTERM), and kill those that are left after this time.
    Term(Duration),
    /// All were asked to end already: kill those that are left after this time.
    Wait(Duration),
}

/// What a guard tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The process id of the command's shell; also of its group.
    Started(u32),
    /// The command could not be started.
    Failed(String),
    /// The command's shell has ended; others may be left.
    Ended(Ending),
    /// So many processes had to be killed.
    Killed(u32),
    /// Nothing is left.
    Gone,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Nobody knows: the guard was killed.
    Unknown,
}

impl GuardCommand {
    /// As it is written, without the NUL behind it.
    pub fn text(&self) -> String {
        match self {
            Self::Start(Kind::Server, command) => format!("server {command}"),
            Self::Start(Kind::Hook, command) => format!("hook {command}"),
            Self::Folder(path) => format!("folder {}", path.display()),
            Self::Term(limit) => format!("term {}", limit.as_secs_f64()),
            Self::Wait(limit) => format!("wait {}", limit.as_secs_f64()),
        }
    }

    /// Reads it; None where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once(' ')?;
        let limit = || Duration::try_from_secs_f64(rest.parse().ok()?).ok();
        match word {
            "server" => Some(Self::Start(Kind::Server, rest.to_owned())),
            "hook" => Some(Self::Start(Kind::Hook, rest.to_owned())),
            "folder" => Some(Self::Folder(rest.into())),
            "term" => limit().map(Self::Term),
            "wait" => limit().map(Self::Wait),
            _ => None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => write!(f, "started {pid}"),
            Self::Failed(why) => write!(f, "failed {}", why.replace('\n', " ")),
            Self::Ended(Ending::Code(code)) => write!(f, "exited {code}"),
            Self::Ended(Ending::Signal(signal)) => write!(f, "signalled {signal}"),
            Self::Ended(Ending::Unknown) => write!(f, "ended ?"),
            Self::Killed(processes) => write!(f, "killed {processes}"),
            Self::Gone => write!(f, "gone ."),
        }
    }
}

impl Report {
    /// Reads a line; None where it is none.
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
            Self::Unknown => write!(f, "nobody knows how"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_understood(command in "[^\0]*", millis in 0..10_000_000_u64) {
            let limit = Duration::from_millis(millis);
            for word in [GuardCommand::Start(Kind::Server, command.clone()), GuardCommand::Folder(command.clone().into()), GuardCommand::Start(Kind::Hook, command), GuardCommand::Term(limit), GuardCommand::Wait(limit)] {
                prop_assert_eq!(GuardCommand::parse(&word.text()), Some(word));
            }
        }
    }

    #[test]
    fn reports_are_understood() {
        let endings = [Ending::Code(0), Ending::Code(-1), Ending::Signal(9), Ending::Unknown].map(Report::Ended);
        let others = [Report::Started(7), Report::Failed("no sh".into()), Report::Killed(3), Report::Gone];
        for report in endings.into_iter().chain(others) {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse("what"), None);
    }
}
