//! Results of a comparison of contenders. `judge` computes them, reports show them.

use crate::answer::{Estimate, SearchEnd};
use crate::objective::Metric;
use crate::question::Measure;
use crate::text::{Language, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Pairs of contenders that differ in one factor, at each load; without factors, each
    /// contender against the first.
    pub pairs: Vec<Pair>,
    /// Unintended or unknown differences between contenders, each a sentence.
    pub differences: Vec<Text>,
    /// Number of blocks: repetitions in which each contender was measured.
    pub blocks: u32,
    /// Maximum number of blocks.
    pub most: u32,
    /// Estimated number of further blocks for a decision; null if decided or unknown.
    pub more: Option<u32>,
    /// Reason why the comparison ended.
    pub ended: ComparisonEnd,
    /// Regressions beyond the bounds of `fail_if`, each a sentence.
    pub failed: Vec<Text>,
    /// Capacities found for the comparison, in order; empty without a search.
    #[serde(default)]
    pub searched: Vec<FoundCapacity>,
}

impl Comparison {
    /// Replaces all texts by their forms in a language.
    pub(crate) fn translate(&mut self, language: Language) {
        self.pairs.iter_mut().for_each(|pair| pair.translate(language));
        let sentences = self.differences.iter_mut().chain(&mut self.failed);
        sentences.for_each(|sentence| sentence.translate(language));
    }

    /// Returns the deciding figure of each pair that has it. Errors decide where the contenders
    /// differ in them.
    pub fn deciding(&self) -> impl Iterator<Item = &Compared> {
        let errors = Measure::Run(Metric::Errors);
        let mut firsts = self.pairs.iter().filter_map(|pair| pair.measures.first());
        let first = firsts.find(|first| first.measure != errors).map(|first| first.measure);
        self.pairs
            .iter()
            .filter_map(|pair| pair.measures.first())
            .filter(move |one| Some(one.measure) == first || one.measure == errors)
    }
}

/// The capacity of a contender in a repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundCapacity {
    /// Name of the contender.
    pub contender: String,
    /// The repetition, from 1.
    pub repetition: u32,
    /// Capacity. Comparisons use the figure or its known bound, not the interval of this search.
    pub at: Estimate,
    /// Number of trials of the search.
    pub trials: u32,
    /// Reason why the search ended.
    pub ended: SearchEnd,
}

/// Two contenders at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// Name of the baseline contender.
    pub ours: String,
    /// Name of the other contender: "better" and "worse" refer to it.
    pub theirs: String,
    /// Load; null if each contender was measured at its own.
    pub load: Option<f64>,
    /// Compared figures; the first decides.
    pub measures: Vec<Compared>,
    /// Differences of the quantiles of the response time, with simultaneous confidence bands; empty
    /// if there are too few blocks.
    pub shift: Vec<QuantileShift>,
}

impl Pair {
    /// Replaces all texts by their forms in a language.
    pub(crate) fn translate(&mut self, language: Language) {
        self.measures.iter_mut().for_each(|compared| compared.sentence.translate(language));
    }
}

/// One figure of two contenders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Figure that is compared.
    pub measure: Measure,
    /// Typical value of the baseline: the median over the blocks, adjusted so that the ratio of
    /// both is the shift.
    pub ours: f64,
    /// Typical value of the other contender.
    pub theirs: f64,
    /// Relative difference of the other contender from the baseline: the Hodges-Lehmann
    /// estimate; null without one.
    pub shift: Option<f64>,
    /// Lower end of its interval; null if there are too few blocks.
    pub low: Option<f64>,
    /// Upper end of the interval; null if there are too few blocks.
    pub high: Option<f64>,
    /// The p-value, corrected for multiple comparisons (Holm) and interim looks;
    /// null without a test.
    pub p: Option<f64>,
    /// Test that gave the p-value.
    pub test: Test,
    /// Verdict on the figure.
    pub verdict: Better,
    /// Result as a sentence: "p99: apache is better by 4.1 % (2.6 to 5.5)".
    pub sentence: Text,
    /// The reason why the figure is undecided, without its name: "4 blocks are too few". It is for conclusions only, so
    /// documents do not have it.
    #[serde(skip)]
    pub undecided: Option<Text>,
}

/// Statistical test of two groups of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// Permutation test: all ways to exchange the contenders within blocks.
    PermutationInBlocks,
    /// Mann-Whitney U test, for runs that were not made in blocks.
    MannWhitney,
    /// Too few blocks for a test.
    None,
}

/// Verdict on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The other contender is better.
    Better,
    /// The other contender is worse.
    Worse,
    /// The difference is smaller than the smallest relevant one.
    Equal,
    /// The test has not decided.
    Undecided,
}

/// Difference of one quantile of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantileShift {
    /// Quantile as a fraction: 0.99 is p99.
    pub quantile: f64,
    /// Difference in seconds: other contender minus baseline.
    pub seconds: f64,
    /// Lower end of the simultaneous band.
    pub low: f64,
    /// Upper end of the simultaneous band.
    pub high: f64,
}

/// Reason why a comparison ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonEnd {
    /// The deciding figures are decided.
    Decided,
    /// The maximum number of blocks was reached.
    Budget,
    /// It was stopped by the user.
    Stopped,
    /// The comparison is of stored runs.
    Stored,
}
