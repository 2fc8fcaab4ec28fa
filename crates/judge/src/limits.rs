//! Whether the generator was the limit.

use brunt_model::{Run, Verdict};

/// The generator's verdict on itself.
pub fn verdict(_run: &Run) -> Verdict {
    Verdict::default()
}
