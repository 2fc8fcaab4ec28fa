//! Numbers the names of labels, the same for all workers.

use brunt_model::sync::IgnorePoison;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// Label of all requests beyond the limit.
pub const OTHER: &str = "(other)";

/// Labels of a run: of steps, and of the hops of their redirect chains.
#[derive(Debug)]
pub struct Labels {
    limit: usize,
    inner: Mutex<Inner>,
}

/// A label that no event has announced yet.
#[derive(Debug, PartialEq, Eq)]
pub struct NewLabel {
    pub id: u32,
    pub name: String,
    /// The step of the redirect chain, for a hop.
    pub hop_of: Option<u32>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By number.
    names: Vec<String>,
    steps: HashMap<String, u32>,
    /// By step and name.
    hops: HashMap<(u32, String), u32>,
    new: Vec<NewLabel>,
    overflowed: bool,
}

impl Labels {
    /// Creates at most `limit` labels. The rest share one label, and one for each
    /// step that has hops.
    pub fn new(limit: u32) -> Self {
        Self { limit: limit as usize, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().ignore_poison()
    }

    /// Returns the number of a label. A new label gets the next number, or that of
    /// [`OTHER`] beyond the limit.
    pub fn number(&self, name: &str) -> u32 {
        let mut inner = self.inner();
        if let Some(number) = inner.steps.get(name) {
            return *number;
        }
        if inner.names.len() < self.limit {
            return inner.add_step(name);
        }
        inner.overflowed = true;
        match inner.steps.get(OTHER) {
            Some(number) => *number,
            None => inner.add_step(OTHER),
        }
    }

    /// Returns the number of a hop in the step's chains of redirects. Its name is the URL without query, which often has a
    /// value of one user. Without a URL, the hop has the name of the step.
    pub fn hop(&self, step: u32, url: Option<&str>) -> u32 {
        let mut inner = self.inner();
        let name = url.and_then(|url| url.split(['?', '#']).next());
        let name =
            name.or_else(|| inner.names.get(step as usize).map(String::as_str)).unwrap_or(OTHER);
        let key = (step, name.to_owned());
        if let Some(number) = inner.hops.get(&key) {
            return *number;
        }
        if inner.names.len() < self.limit {
            return inner.add_hop(key);
        }
        inner.overflowed = true;
        let overflow_key = (step, OTHER.to_owned());
        match inner.hops.get(&overflow_key) {
            Some(number) => *number,
            None => inner.add_hop(overflow_key),
        }
    }

    /// Returns the name of a label.
    pub fn name(&self, number: u32) -> Option<String> {
        self.inner().names.get(number as usize).cloned()
    }

    /// Maximum number of separate labels.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Number of labels that are steps.
    pub fn count(&self) -> usize {
        self.inner().steps.len()
    }

    /// Returns the labels that no event has announced yet.
    pub fn take_new(&self) -> Vec<NewLabel> {
        std::mem::take(&mut self.inner().new)
    }

    /// True if some labels are summed under [`OTHER`].
    pub fn overflowed(&self) -> bool {
        self.inner().overflowed
    }
}

impl Inner {
    fn add_step(&mut self, name: &str) -> u32 {
        let id = self.add(name, None);
        self.steps.insert(name.to_owned(), id);
        id
    }

    fn add_hop(&mut self, key: (u32, String)) -> u32 {
        let id = self.add(&key.1, Some(key.0));
        self.hops.insert(key, id);
        id
    }

    fn add(&mut self, name: &str, hop_of: Option<u32>) -> u32 {
        let id = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.new.push(NewLabel { id, name: name.to_owned(), hop_of });
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beyond_the_limit_share_one_label() {
        let labels = Labels::new(2);
        assert_eq!([labels.number("a"), labels.number("b"), labels.number("a")], [0, 1, 0]);
        assert!(!labels.overflowed());
        assert_eq!([labels.number("c"), labels.number("d")], [2, 2]);
        assert!(labels.overflowed());
        let last = NewLabel { id: 2, name: OTHER.to_owned(), hop_of: None };
        assert_eq!(labels.take_new().last(), Some(&last));
    }

    #[test]
    fn redirects_have_separate_labels_of_their_step() {
        let labels = Labels::new(5);
        let steps = [labels.number("a"), labels.number("b")];
        let first = labels.hop(steps[0], None);
        // A step may have the same name as a hop of another.
        let hops = [first, labels.hop(steps[0], Some("b")), labels.hop(steps[1], Some("b"))];
        assert_eq!(hops, [2, 3, 4]);
        assert_eq!((labels.number("b"), labels.hop(steps[0], Some("a"))), (1, first));
        assert_eq!((labels.count(), labels.name(first).as_deref()), (2, Some("a")));
        assert_eq!(labels.hop(steps[0], Some("b?user=7")), hops[1]);
        // Beyond the limit, the hops of each step are one.
        let overflow_key = [
            labels.hop(steps[0], Some("c")),
            labels.hop(steps[0], Some("d")),
            labels.hop(steps[1], Some("d")),
        ];
        assert_eq!(overflow_key, [5, 5, 6]);
        let last = NewLabel { id: 6, name: OTHER.to_owned(), hop_of: Some(steps[1]) };
        assert_eq!(labels.take_new().last(), Some(&last));
    }
}
