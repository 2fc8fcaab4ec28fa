//! Implements `--fail P:KIND`: chooses the requests that fail on purpose, and how.
//!
//! [`crate::deliver`] writes the bytes of a failed reply. The failures have a separate random
//! generator, so that an additional rule does not change the service times.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailKind {
    /// A complete reply with this status.
    Status(u16),
    /// A connection reset (RST) without a reply; for HTTP/2, a reset
    /// of the stream (`INTERNAL_ERROR`).
    Reset,
    /// A connection reset, for every protocol.
    ResetConnection,
    /// A refused stream (`REFUSED_STREAM`); before HTTP/2, a closed connection.
    Refused,
    /// A GOAWAY that excludes the stream; before HTTP/2, a closed connection.
    Goaway,
    /// A closed connection without a reply.
    Close,
    /// A head and half of the announced body, then a close; for HTTP/2, a reset of the stream.
    CloseEarly,
    /// Bytes that are not HTTP, then a close.
    Garbage,
    /// No reply at all.
    Never,
    /// The correct reply, one byte per `--drip`.
    Slow,
    /// Half of a head (for HTTP/2, of its frame), then a close.
    TruncateHead,
    /// The correct reply, then surplus bytes; for HTTP/2, DATA on the stream that has ended.
    Extra,
}

/// Effect of a failure on the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectOnTruth {
    /// Served and answered completely: takes a worker, and has a sojourn time.
    Answered,
    /// Served, but the reply is spoiled: takes a worker, and has no sojourn time.
    Spoiled,
    /// Not served: takes no worker.
    Unserved,
}

impl FailKind {
    /// Returns the effect of the failure on the queue.
    pub fn effect(self) -> EffectOnTruth {
        match self {
            Self::Status(_) | Self::Extra | Self::Slow => EffectOnTruth::Answered,
            Self::CloseEarly | Self::Garbage | Self::TruncateHead => EffectOnTruth::Spoiled,
            Self::Reset
            | Self::ResetConnection
            | Self::Refused
            | Self::Goaway
            | Self::Close
            | Self::Never => EffectOnTruth::Unserved,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "reset" => Self::Reset,
            "reset-connection" => Self::ResetConnection,
            "refused" => Self::Refused,
            "goaway" => Self::Goaway,
            "close" => Self::Close,
            "close-early" => Self::CloseEarly,
            "garbage" => Self::Garbage,
            "never" => Self::Never,
            "slow" => Self::Slow,
            "truncate-head" => Self::TruncateHead,
            "extra" => Self::Extra,
            _ => Self::Status(text.parse().ok().filter(|status| (200..=599).contains(status))?),
        })
    }
}

/// One `--fail` rule: a share of the requests fails in this way.
#[derive(Debug, Clone, PartialEq)]
pub struct FailRule {
    /// Text of the option.
    pub text: String,
    /// Share of requests that fail by this rule, from 0 to 1.
    pub probability: f64,
    /// Kind of the failure.
    pub kind: FailKind,
}

impl FailRule {
    /// Parses `P:KIND`, P as `0.01` or `1%`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (share, kind) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}`: write a share and a kind, e.g. `1%:500`"))?;
        let probability = parse_share(share).ok_or_else(|| {
            format!("`{share}` is not a share of requests: write e.g. `0.01` or `1%`")
        })?;
        let kind = FailKind::parse(kind).ok_or_else(|| {
            format!(
                "`{kind}` is not a kind of failure: write a status from 200 to 599, or reset, reset-connection, refused, \
                 goaway, close, close-early, garbage, never, slow, truncate-head, extra"
            )
        })?;
        Ok(Self { text: text.to_owned(), probability, kind })
    }

    /// Returns the name under which failures of this kind are counted.
    pub fn name(&self) -> &str {
        self.text.split_once(':').map_or("", |(_, kind)| kind)
    }
}

fn parse_share(text: &str) -> Option<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |percent| (percent, 100.0));
    let share = number.parse::<f64>().ok()? / scale;
    (0.0..=1.0).contains(&share).then_some(share)
}

/// Draws the failing requests. One uniform number per request decides among all rules.
#[derive(Debug)]
pub struct FailureSampler {
    rules: Vec<FailRule>,
    random: Pcg64Mcg,
}

impl FailureSampler {
    /// Creates a sampler. The shares of the rules must not sum to more than one.
    pub fn new(rules: &[FailRule], seed: u64) -> Result<Self, String> {
        let total: f64 = rules.iter().map(|rule| rule.probability).sum();
        // Sums of decimal fractions are not exact.
        if total > 1.0 + 1e-9 {
            return Err(format!("the shares of --fail sum to {total}, more than 1"));
        }
        // With the same seed, the failures would follow the service times.
        Ok(Self { rules: rules.to_vec(), random: Pcg64Mcg::seed_from_u64(!seed) })
    }

    /// Draws the rule that applies to a request: its index among the options, and its failure.
    pub fn draw(&mut self) -> Option<(usize, FailKind)> {
        if self.rules.is_empty() {
            return None;
        }
        let mut remaining: f64 = self.random.random();
        for (index, rule) in self.rules.iter().enumerate() {
            if remaining < rule.probability {
                return Some((index, rule.kind));
            }
            remaining -= rule.probability;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_kinds() {
        let rule = FailRule::parse("1%:500").unwrap();
        assert_eq!(
            (rule.probability, rule.kind, rule.name()),
            (0.01, FailKind::Status(500), "500")
        );
        assert_eq!(FailRule::parse("0.5:close-early").unwrap().kind, FailKind::CloseEarly);
        assert_eq!(FailRule::parse("1:truncate-head").unwrap().kind, FailKind::TruncateHead);
    }

    #[test]
    fn errors_show_valid_values() {
        assert!(FailRule::parse("500").unwrap_err().contains("`1%:500`"));
        assert!(FailRule::parse("101%:500").unwrap_err().contains("`1%`"));
        assert!(FailRule::parse("1%:explode").unwrap_err().contains("truncate-head"));
        assert!(FailRule::parse("1%:99").unwrap_err().contains("200 to 599"));
        let rules = [FailRule::parse("60%:500").unwrap(), FailRule::parse("60%:reset").unwrap()];
        assert!(FailureSampler::new(&rules, 1).unwrap_err().contains("more than 1"));
    }

    #[test]
    fn shares_are_exact_and_reproducible() {
        let rules = [FailRule::parse("10%:500").unwrap(), FailRule::parse("20%:reset").unwrap()];
        let count = |seed| {
            let mut fate = FailureSampler::new(&rules, seed).unwrap();
            let mut counts = [0; 2];
            (0..100_000).filter_map(|_| fate.draw()).for_each(|(place, _)| counts[place] += 1);
            counts
        };
        let counts = count(1);
        assert!(
            (9_500..10_500).contains(&counts[0]) && (19_500..20_500).contains(&counts[1]),
            "{counts:?}"
        );
        assert_eq!(counts, count(1));
    }
}
