//! When the next request is due.
//!
//! [`Pacer`] is the seam. The open loop's pacer is a [`Schedule`]: an iterator of instants that exists before the run,
//! so that no reply can delay it. The closed loop's is [`Thinking`]: a user's next request is due when its last reply
//! was complete and it has thought.
//!
//! Out of scope: a sleeper. It says *when*; the worker waits.

mod headroom;
mod opening;
mod rate;
mod schedule;
mod thinking;

pub use headroom::{Headroom, Progress};
pub use opening::Opening;
pub use rate::Cumulative;
pub use schedule::Schedule;
pub use thinking::Thinking;

use brunt_model::Tick;

/// Says when the next request is due. `free` is when the caller can act; a schedule ignores it.
pub trait Pacer {
    /// The next instant; None: there is none any more.
    fn next(&mut self, free: Tick) -> Option<Tick>;
}
