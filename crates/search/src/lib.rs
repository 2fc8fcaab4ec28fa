//! Searches for the capacity of a server: chooses the next load, and estimates the
//! capacity from all trials.
//!
//! The capacity under a set of objectives is the load at which the figure over all steady
//! time is exactly the bound. For `p99 < 50ms` it is the load at which 1 % of the
//! requests take longer. Trials are passed in as [`TrialSummary`]s. The results are the
//! [`NextStep`] and the [`CapacityResult`](brunt_model::CapacityResult).
//!
//! The crate measures nothing, reads no clock and stores nothing. A search is a function of its
//! trials, so a search that was stopped continues from its stored trials.
//!
//! * [`search`]: [`Search`], and the purposes of trials. `stage`: chooses the next load.
//! * [`summary`]: reduces a run to the counts that decide the objectives. [`bound`]: turns an
//!   objective into such a count.
//! * [`lag`]: estimates the effect of the generator's lag on a block.
//! * `counts`: sums and variances of those counts.
//! * [`confirm`]: proves the ends of a capacity's interval by long trials.
//! * [`curve`]: fits one model to all trials. `capacity`: where that model expects the capacity of a
//!   set of objectives, and the interval that is proven.
//! * `answer`: builds the answer from the results of `capacity`, `limits` (knee, saturation,
//!   collapse), `recovery`, `damage` and `sentence` (the text).

mod answer;
pub mod bound;
mod capacity;
pub mod confirm;
mod counts;
pub mod curve;
mod damage;
pub mod lag;
mod limits;
mod recovery;
pub mod search;
mod sentence;
mod stage;
pub mod summary;
mod texts;

pub use bound::objective_error;
pub use search::{NextStep, Search, TrialRequest};
pub use sentence::sentence;
pub use summary::{BoundCount, EvidenceFor, TrialBlock, TrialSummary, blocks, summarize};
