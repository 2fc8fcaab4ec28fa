//! Locks after a panic of another thread.

use std::sync::PoisonError;

/// Result of waiting for a lock.
pub trait IgnorePoison {
    /// The guard, or the pair of a guard and a timeout.
    type Guard;

    /// Returns the guard, also if a thread panicked while it held the lock.
    ///
    /// That panic is reported by itself. A second one here would only hide its message.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for Result<G, PoisonError<G>> {
    type Guard = G;

    #[inline]
    fn ignore_poison(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}
