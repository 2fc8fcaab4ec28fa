//! The names of labels and their numbers, the same for all workers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The label of what is beyond the limit.
pub const OTHER: &str = "(other)";

/// The labels of a run.
#[derive(Debug)]
pub struct Labels {
    limit: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    numbers: HashMap<String, u32>,
    /// Not told yet.
    fresh: Vec<(u32, String)>,
    overflowed: bool,
}

impl Labels {
    /// At most `limit` labels; the rest are one.
    pub fn new(limit: u32) -> Self {
        Self { limit: limit as usize, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a label; a new one gets the next, or that of [`OTHER`].
    pub fn number(&self, name: &str) -> u32 {
        let mut inner = self.inner();
        if let Some(number) = inner.numbers.get(name) {
            return *number;
        }
        if inner.numbers.len() < self.limit {
            return inner.add(name);
        }
        inner.overflowed = true;
        match inner.numbers.get(OTHER) {
            Some(number) => *number,
            None => inner.add(OTHER),
        }
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> Option<String> {
        let inner = self.inner();
        inner.numbers.iter().find(|(_, known)| **known == number).map(|(name, _)| name.clone())
    }

    /// How many are kept apart.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.inner().numbers.len()
    }

    /// Labels that were not told yet.
    pub fn take_fresh(&self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.inner().fresh)
    }

    /// Whether some labels are summed under [`OTHER`].
    pub fn overflowed(&self) -> bool {
        self.inner().overflowed
    }
}

impl Inner {
    fn add(&mut self, name: &str) -> u32 {
        let number = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.fresh.push((number, name.to_owned()));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_limit_is_one_label() {
        let labels = Labels::new(2);
        assert_eq!([labels.number("a"), labels.number("b"), labels.number("a")], [0, 1, 0]);
        assert!(!labels.overflowed());
        assert_eq!([labels.number("c"), labels.number("d")], [2, 2]);
        assert!(labels.overflowed());
        assert_eq!(labels.take_fresh().last(), Some(&(2, OTHER.to_owned())));
    }
}
