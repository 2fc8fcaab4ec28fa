//! The parts of a run, as messages number them.

/// The same kinds, as the model has them.
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
