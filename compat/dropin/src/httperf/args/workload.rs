//! Calls of connections or sessions: `--wsess`, `--wsesslog`.

use super::HttperfExit;
use super::numbers::{leading, leading_real};

/// Calls of each connection or session.
#[derive(Debug, Clone, PartialEq)]
pub enum Workload {
    /// Single connections with `--num-calls` calls each.
    Plain,
    /// Number of sessions, calls of each, and seconds between two bursts.
    Sessions(u64, u64, f64),
    /// Number of sessions, default seconds between two bursts, and the file with the calls.
    Log(u64, f64, String),
}

impl Workload {
    /// Parses `N1,N2,X`.
    pub fn wsess(text: &str) -> Result<Self, HttperfExit> {
        let (sessions, rest) = leading(text)
            .ok_or_else(|| bad_part("--wsess", "number of sessions (1st param)", text))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (calls, rest) = leading(rest)
            .ok_or_else(|| bad_part("--wsess", "number of calls per session (2nd param)", rest))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (think, rest) = leading_real(rest)
            .ok_or_else(|| bad_part("--wsess", "user think time (3rd param)", rest))?;
        if !rest.is_empty() {
            return Err(HttperfExit::message(format!(
                "extraneous parameter in --wsess arg (rest: `{rest}')"
            )));
        }
        Ok(Self::Sessions(sessions, calls, think))
    }

    /// Parses `N,X,FILE`.
    pub fn wsesslog(text: &str) -> Result<Self, HttperfExit> {
        let (sessions, rest) = leading(text)
            .ok_or_else(|| bad_part("--wsesslog", "number of sessions (1st param)", text))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (think, rest) = leading_real(rest)
            .ok_or_else(|| bad_part("--wsesslog", "user think time (2nd param)", rest))?;
        let file = rest
            .strip_prefix(',')
            .ok_or_else(|| bad_part("--wsesslog", "session filename (3rd param)", rest))?;
        Ok(Self::Log(sessions, think, file.to_owned()))
    }
}

fn bad_part(option: &str, part: &str, rest: &str) -> HttperfExit {
    HttperfExit::message(format!("bad {part} in {option} arg (rest: `{rest}')"))
}
