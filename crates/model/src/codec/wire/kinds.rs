//! The phases of a run, with their numbers in messages.

/// The corresponding types of the model.
mod model {
    pub use crate::event::Phase;
}

use crate::tally::sums::kinds::kinds;

kinds!(Phase {
    Setup = 1,
    Warmup = 2,
    Measure = 3,
    Grace = 4,
});
