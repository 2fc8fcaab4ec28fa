//! How the command ends.

use std::process::ExitCode;

/// What the command's exit code says. Ordered by precedence: where several are true, the last of them in this list is
/// what is said, because it makes the ones before it doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: it was measured, a good reply came, and every objective was met. Single errors of the server are data.
    Measured,
    /// 8: it was measured, and what was to be decided is not: whether a requirement is met, or which contender is better.
    Undecided,
    /// 4: it was measured, and an objective was missed, or not one reply was good.
    ObjectiveMissed,
    /// 9: it was measured, and a contender is worse by more than `--fail-if` allows.
    Worse,
    /// 6: it was measured, but the generator was the limit, and `--strict` was given.
    Limited,
    /// 130: interrupted by Ctrl-C or SIGTERM; what was measured until then was reported.
    Interrupted,
    /// 5: it was measured, but a consistency check failed: discard the figures.
    Invalid,
    /// 3: nothing measured: no reply came.
    NothingMeasured,
    /// 7: a hook, a managed server or setup failed, which stopped the experiment; what was measured until then was reported.
    Halted,
    /// 1: brunt itself failed, for instance because a file could not be written.
    Failed,
    /// 2: the command line, or a file that it names, makes no sense. Nothing was begun.
    Usage,
}

impl Exit {
    /// Every way to end.
    pub const ALL: [Self; 11] = [
        Self::Measured,
        Self::Undecided,
        Self::ObjectiveMissed,
        Self::Worse,
        Self::Limited,
        Self::Interrupted,
        Self::Invalid,
        Self::NothingMeasured,
        Self::Halted,
        Self::Failed,
        Self::Usage,
    ];

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Measured => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NothingMeasured => 3,
            Self::ObjectiveMissed => 4,
            Self::Invalid => 5,
            Self::Limited => 6,
            Self::Halted => 7,
            Self::Undecided => 8,
            Self::Worse => 9,
            Self::Interrupted => 130,
        }
    }

    /// What the number means, for the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Measured => "measured, every objective met",
            Self::Failed => "brunt itself failed",
            Self::Usage => "invalid usage; nothing was started",
            Self::NothingMeasured => "nothing measured: no reply came",
            Self::ObjectiveMissed => "measured, but an objective was missed or no reply was good",
            Self::Invalid => "measured, but a consistency check failed: discard the figures",
            Self::Limited => "measured, but the load generator was the bottleneck (with --strict)",
            Self::Halted => "a hook, managed server or setup failed; what was measured was reported",
            Self::Undecided => "measured, but the question is undecided",
            Self::Worse => "measured, and worse than --fail-if allows",
            Self::Interrupted => "interrupted; what was measured was reported",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_differ_and_precede_each_other() {
        let codes: HashSet<_> = Exit::ALL.iter().map(|e| e.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
        assert!(Exit::ALL.is_sorted());
        assert_eq!(Exit::Interrupted.max(Exit::ObjectiveMissed).code(), 130);
        assert_eq!(Exit::Interrupted.max(Exit::NothingMeasured).code(), 3);
        assert_eq!(Exit::Measured.code(), 0);
    }
}
