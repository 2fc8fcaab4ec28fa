//! All that is decided about a study, whatever it was to decide: the one place for all who report one.
//!
//! Out of scope: the mathematics, which are `judge`'s and `search`'s;, and what a single run comes to.

mod capacities;
mod compare;
mod find;
pub mod stored;

pub use capacities::find_of;
pub use compare::{compared, is_decided, stands};
pub use find::{SearchProgress, contended, fulfilled};

use brunt_model::{Analysis, Question, Study};

/// Findings of a sweep that an answer or a comparison says better, or that are not what it is about.
const OF_SWEEPS: [&str; 7] =
    ["capacity", "difference", "faster", "few_repetitions", "few_loads", "not_robust", "throughput_falls"];

/// Trials that stand apart from their repetitions. The loads of a search lie where they were wanted, and each is measured once.
const OUTLIERS: &str = "outliers";

/// All that is decided about a study.
pub fn analysis(study: &Study) -> Analysis {
    match &study.experiment.question {
        Question::Find(question) => find::analysis(study, question),
        Question::Compare(question) => compare::analysis(study, question),
        Question::Sweep => brunt_judge::sweep::analyse_study(study),
    }
}
