//! Decides when the next request is due.
//!
//! The open loop's [`Pacer`] is a [`Schedule`]: an iterator of instants that are fixed before the
//! run, so that no reply can delay them. The closed loop's is [`Thinking`]: a user's next request
//! is due when its last reply was complete and its think time is over.
//!
//! Out of scope: waiting. The worker waits for the due time.

mod headroom;
mod opening;
mod rate;
mod schedule;
mod thinking;

pub use headroom::{Headroom, WorkerCounters};
pub use opening::OpeningRate;
pub use rate::Cumulative;
pub use schedule::{Schedule, ScheduleShard};
pub use thinking::Thinking;

use brunt_model::Tick;

/// Decides when the next request is due. `free` is when the caller can act; a schedule ignores it.
pub trait Pacer {
    /// Returns the next due time. None: there are no further requests.
    fn next(&mut self, free: Tick) -> Option<Tick>;
}
