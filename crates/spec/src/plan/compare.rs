//! The key `compare` of a plan file: which of its contenders is better.

use super::words::{Longer, Read, Spoken};
use crate::words::compare;
use crate::words::compare::At;
use brunt_model::Measure;
use brunt_model::question::Regression;
use brunt_script::WordError;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Comparison of each contender with the first. `repetitions` is the maximum number of repetitions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Compare {
    /// Loads at which contenders are measured: given ones (`load`), each at its own `capacity`, which is then looked for as below
    /// `find`, or `both`. Default: load.
    pub at: Option<Read<At>>,
    /// Measures to compare, such as `p99` or `[p99, throughput]`; the first decides. Default: p99, p50, throughput,
    /// errors; of a closed loop throughput, p99, p50, errors; and cpu, if it is read.
    pub metrics: Option<Read<Vec<Measure>>>,
    /// The smallest difference that matters: within it, contenders are equal. Default: 2%.
    pub min_difference: Option<Read<Share>>,
    /// Significance level: the probability of finding a difference between equal contenders. Default: 0.05.
    pub alpha: Option<Read<Alpha>>,
    /// Time budget: no repetition begins that would exceed it. Default: none.
    pub time_budget: Option<Longer>,
    /// Differences that make brunt fail, such as `p99 worse by 5%`.
    pub fail_if: Option<Read<Vec<Regression>>>,
}

/// What a plan file says of the comparison. What it leaves out is None.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedCompare {
    /// Loads at which contenders are measured.
    pub at: Option<At>,
    /// What is compared.
    pub metrics: Option<Vec<Measure>>,
    /// The smallest difference that matters, as a share.
    pub smallest: Option<f64>,
    /// How often contenders that are alike may be found to differ.
    pub alpha: Option<f64>,
    /// How long it may take.
    pub within: Option<Duration>,
    /// Differences that make brunt fail.
    pub fail_if: Vec<Regression>,
}

impl From<&brunt_model::Compare> for PlannedCompare {
    fn from(resolved: &brunt_model::Compare) -> Self {
        let at = resolved.at_capacity.as_ref().map(|at| if at.given == 0 { At::Capacity } else { At::Both });
        Self {
            at,
            metrics: Some(resolved.metrics.clone()),
            smallest: Some(resolved.smallest),
            alpha: Some(resolved.alpha),
            within: resolved.within,
            fail_if: resolved.fail_if.clone(),
        }
    }
}

/// A share, such as `2%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(f64);

/// A chance, such as `0.05`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alpha(f64);

impl Spoken for Vec<Measure> {
    const ABOUT: &'static str = "Figures of a run, such as p99, p50, mean, errors, throughput, goodput, cpu.";

    fn read(word: &str) -> Result<Self, WordError> {
        compare::measures(word)
    }
}

impl Spoken for Vec<Regression> {
    const ABOUT: &'static str = "Differences, such as `p99 worse by 5%`.";

    fn read(word: &str) -> Result<Self, WordError> {
        compare::regressions(word)
    }
}

impl Spoken for At {
    const ABOUT: &'static str = "`load`, `capacity` or `both`.";

    fn read(word: &str) -> Result<Self, WordError> {
        compare::at(word)
    }
}

impl Spoken for Share {
    const ABOUT: &'static str = "A share, such as 2%.";

    fn read(word: &str) -> Result<Self, WordError> {
        compare::share(word).map(Self)
    }
}

impl Spoken for Alpha {
    const ABOUT: &'static str = "A chance, such as 0.05.";

    fn read(word: &str) -> Result<Self, WordError> {
        compare::alpha(word).map(Self)
    }
}

impl From<Compare> for PlannedCompare {
    fn from(written: Compare) -> Self {
        Self {
            at: written.at.map(|Read(at)| at),
            metrics: written.metrics.map(|Read(metrics)| metrics),
            smallest: written.min_difference.map(|Read(Share(share))| share),
            alpha: written.alpha.map(|Read(Alpha(alpha))| alpha),
            within: written.time_budget.map(|Longer(time)| time),
            fail_if: written.fail_if.map_or_else(Vec::new, |Read(regressions)| regressions),
        }
    }
}
