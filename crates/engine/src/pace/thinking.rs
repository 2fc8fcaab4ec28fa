//! The closed loop: due when the last reply was complete and the user has thought.

use super::Pacer;
use brunt_model::time::nanos;
use brunt_model::{Think, Tick};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// One virtual user's pauses.
pub struct Thinking {
    think: Think,
    random: Pcg64Mcg,
    /// The first request is due at once.
    asked_before: bool,
}

impl Thinking {
    /// A user that has not asked yet.
    pub fn new(think: Think, random: Pcg64Mcg) -> Self {
        Self { think, random, asked_before: false }
    }
}

impl Pacer for Thinking {
    #[inline]
    fn next(&mut self, free: Tick) -> Option<Tick> {
        if self.think.is_none() || !std::mem::replace(&mut self.asked_before, true) {
            return Some(free);
        }
        let (least, most) = (nanos(self.think.least), nanos(self.think.most));
        Some(Tick(free.0.saturating_add(self.random.random_range(least..=most))))
    }
}
