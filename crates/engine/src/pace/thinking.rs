//! Due times of a closed loop: a request is due when the last reply was complete and the
//! think time is over.

use super::Pacer;
use brunt_model::time::nanos;
use brunt_model::{ThinkTime, Tick};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Think times of one virtual user.
pub struct Thinking {
    think: ThinkTime,
    random: Pcg64Mcg,
    /// False before the first request, which is due at once.
    has_sent: bool,
}

impl Thinking {
    /// Creates the pacer of a user that has not sent a request.
    pub fn new(think: ThinkTime, random: Pcg64Mcg) -> Self {
        Self { think, random, has_sent: false }
    }
}

impl Pacer for Thinking {
    #[inline]
    fn next(&mut self, free: Tick) -> Option<Tick> {
        if self.think.is_none() || !std::mem::replace(&mut self.has_sent, true) {
            return Some(free);
        }
        let pause = nanos(self.think.least)..=nanos(self.think.most);
        Some(Tick(free.0.saturating_add(self.random.random_range(pause))))
    }
}
