//! Decides about a study, whatever its question is. All reports of a study use this module.
//!
//! Out of scope: the mathematics, which is in `judge` and `search`, and the judgement
//! of a single run.

mod capacities;
mod compare;
mod find;
pub mod stored;

pub use capacities::find_of;
pub use compare::{comparison_state, is_decided, with_comparison};
pub use find::{SearchProgress, requirement_outcome, search_progress};

use brunt_model::{Analysis, Question, Study};

/// Findings of a sweep that an answer or a comparison replaces, or that are
/// irrelevant to its question.
const OF_SWEEPS: [&str; 9] = [
    "capacity",
    "difference",
    "faster",
    "no_limit",
    "undecided",
    "few_repetitions",
    "few_loads",
    "not_robust",
    "throughput_falls",
];

/// Trials that differ from their repetitions. A search chooses its loads, and measures each one
/// once, so it has none.
const OUTLIERS: &str = "outliers";

/// Creates the analysis of a study.
pub fn analysis(study: &Study) -> Analysis {
    match &study.experiment.question {
        Question::Find(question) => find::analysis(study, question),
        Question::Compare(question) => compare::analysis(study, question),
        Question::Sweep => brunt_judge::sweep::analyse_study(study),
    }
}
