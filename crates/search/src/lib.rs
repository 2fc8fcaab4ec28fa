//! How much a server carries: which load to try next, and what the trials say together.
//!
//! The capacity under a set of objectives is the load at which the value over all steady time meets them exactly: under
//! `p99 < 50ms`, the load at which 1 % of the requests take longer. Trials come in as [`TrialSummary`]s; out goes what to measure
//! [`NextStep`], and the [`Answer`](brunt_model::Answer).
//!
//! It measures nothing, reads no clock and keeps nothing. All that is known of a search are its trials,
//! so going on with one that was stopped is to ask again with what is there.
//!
//! * [`search`]: [`Search`], and the order in which things are tried. `stage`: the choice itself.
//! * [`summary`]: a run, as far as it bears on the objectives. [`bound`]: what an objective asks of a block.
//! * [`lag`]: what the generator's lag can have done to a block.
//! * [`mod@sides`]: on which side of a capacity one trial lies, while it goes on.
//! * [`curve`]: the one model that all trials feed. `capacity`: its root, as the answer for a set of objectives.
//! * `answer`: all of it as an answer; `limits` (knee, saturation, collapse), `recovery`, `drift`, `stalls`, `damage`, `sentence` (all of it in words).

mod answer;
pub mod bound;
mod capacity;
pub mod curve;
mod damage;
mod drift;
pub mod lag;
mod limits;
mod recovery;
pub mod search;
mod sentence;
pub mod sides;
mod stage;
mod stalls;
pub mod summary;

pub use bound::objection;
pub use search::{NextStep, Search, TrialRequest};
pub use sentence::sentence;
pub use sides::sides;
pub use summary::{Counts, Evidence, Part, TrialSummary, blocks, summarize};
