//! All that is decided about a study, whatever it was to decide: the one place for all who report one.
//!
//! What it is **not**: the mathematics, which are `judge`'s and `search`'s; nor what a single run comes to.

mod find;

pub use find::{Contended, contended, fulfilled};

use brunt_model::{Analysis, Question, Study};

/// All that is decided about a study.
pub fn analysis(study: &Study) -> Analysis {
    match &study.experiment.question {
        Question::Find(question) => find::analysis(study, question),
        Question::Sweep | Question::Compare(_) => brunt_judge::sweep::analyse_study(study),
    }
}
