//! Which of several servers is better: words that the room `judge` fills in and reports show.
//!
//! Out of scope: the mathematics.

use crate::answer::{Estimate, SearchEnd};
use crate::question::Measure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a comparison came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Each contender against the first, at each load.
    pub pairs: Vec<Pair>,
    /// What differs between contenders, or is not known of them, besides what was to be compared; each a sentence.
    pub differences: Vec<String>,
    /// Blocks (repetitions in which each contender was measured) that it is made of.
    pub blocks: u32,
    /// Blocks there may be at most.
    pub most: u32,
    /// About so many blocks more it would need to be decided; null where it is, or where that cannot be told.
    pub more: Option<u32>,
    /// Why no more was measured.
    pub ended: ComparisonEnd,
    /// Differences that were to make brunt fail, and did, each a sentence.
    pub failed: Vec<String>,
    /// Capacities that were found for it, in the order in which they were; empty where none was looked for.
    #[serde(default)]
    pub searched: Vec<FoundCapacity>,
}

impl Comparison {
    /// The figure that decides, of each pair that has it.
    pub fn deciding(&self) -> impl Iterator<Item = &Compared> {
        let first = self.pairs.first().and_then(|pair| pair.measures.first()).map(|first| first.measure);
        self.pairs.iter().flat_map(|pair| &pair.measures).filter(move |one| Some(one.measure) == first)
    }
}

/// The capacity of a contender in a repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundCapacity {
    /// Whose.
    pub contender: String,
    /// The repetition, from 1.
    pub repetition: u32,
    /// The capacity; what counts is the figure, or what is known of it, not the interval of the one search.
    pub at: Estimate,
    /// How many trials it took.
    pub trials: u32,
    /// Why no more was tried.
    pub ended: SearchEnd,
}

/// Two contenders at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// The name of the first: what the other is held against.
    pub ours: String,
    /// The name of the other: "better" and "worse" are said of it.
    pub theirs: String,
    /// The load; null where each was measured at its own.
    pub load: Option<f64>,
    /// A figure each; the first decides.
    pub measures: Vec<Compared>,
    /// How the quantiles of the response time differ, with bands that hold all at once; empty where blocks are too few.
    pub shift: Vec<QuantileShift>,
}

/// One figure of two contenders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Which.
    pub measure: Measure,
    /// Its median over the blocks, of the first.
    pub ours: f64,
    /// Of the other.
    pub theirs: f64,
    /// By how much the other's is higher, as a share of the first's: the Hodges-Lehmann estimate; null where there is none.
    pub shift: Option<f64>,
    /// The lower end of its interval; null where blocks are too few.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The p-value, after Holm and the looks that were taken; null where none can be.
    pub p: Option<f64>,
    /// How it was tested.
    pub test: Test,
    /// What was decided about it.
    pub verdict: Better,
    /// The whole as a sentence: "p99: apache is better by 4.1 % (2.6 to 5.5)".
    pub sentence: String,
}

/// How two groups of figures were tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// All ways to exchange the two within each block.
    PermutationInBlocks,
    /// Ranks, of runs that were not made in blocks (Mann & Whitney).
    MannWhitney,
    /// Too few to test.
    None,
}

/// What was decided about a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// The other contender's is better.
    Better,
    /// It is worse.
    Worse,
    /// They differ by less than matters.
    Equal,
    /// Not known.
    Undecided,
}

/// How a quantile of the response time differs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantileShift {
    /// Which: 0.99 is p99.
    pub quantile: f64,
    /// The other's less the first's, in seconds.
    pub seconds: f64,
    /// The lower end of the band.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Why a comparison ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonEnd {
    /// The figures that decide are decided.
    Decided,
    /// All blocks were made.
    Budget,
    /// Somebody stopped it.
    Stopped,
    /// It is of stored runs: none was made for it.
    Stored,
}
