//! What connections or sessions are made of: `--wsess`, `--wsesslog`.

use super::Refusal;
use super::numbers::{leading, leading_real};

/// What connections or sessions are made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Workload {
    /// Connections of some calls each.
    Plain,
    /// So many sessions of so many calls, and seconds between two bursts.
    Sessions(u64, u64, f64),
    /// So many sessions as a file has them, and seconds between bursts where it does not say.
    Log(u64, f64, String),
}

impl Workload {
    /// `N1,N2,X`.
    pub fn wsess(text: &str) -> Result<Self, Refusal> {
        let bad = |what: &str, rest: &str| Refusal::said(format!("bad {what} in --wsess arg (rest: `{rest}')"));
        let (sessions, rest) = leading(text).ok_or_else(|| bad("number of sessions (1st param)", text))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (calls, rest) = leading(rest).ok_or_else(|| bad("number of calls per session (2nd param)", rest))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (think, rest) = leading_real(rest).ok_or_else(|| bad("user think time (3rd param)", rest))?;
        if !rest.is_empty() {
            return Err(Refusal::said(format!("extraneous parameter in --wsess arg (rest: `{rest}')")));
        }
        Ok(Self::Sessions(sessions, calls, think))
    }

    /// `N,X,FILE`.
    pub fn wsesslog(text: &str) -> Result<Self, Refusal> {
        let bad = |what: &str, rest: &str| Refusal::said(format!("bad {what} in --wsesslog arg (rest: `{rest}')"));
        let (sessions, rest) = leading(text).ok_or_else(|| bad("number of sessions (1st param)", text))?;
        let rest = rest.strip_prefix(',').unwrap_or(rest);
        let (think, rest) = leading_real(rest).ok_or_else(|| bad("user think time (2nd param)", rest))?;
        let file = rest.strip_prefix(',').ok_or_else(|| bad("session filename (3rd param)", rest))?;
        Ok(Self::Log(sessions, think, file.to_owned()))
    }
}
