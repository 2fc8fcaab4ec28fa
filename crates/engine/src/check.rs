//! Whether a reply is good.

use brunt_model::plan::Checks;
use brunt_model::{Failure, Outcome};
use brunt_wire::Reply;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What makes a reply good, ready to be asked; the same for all workers.
#[derive(Debug)]
pub struct Check {
    checks: Checks,
    /// By label: the length of its first good body.
    lengths: Mutex<HashMap<u32, u64>>,
}

impl Check {
    /// What these checks ask for.
    pub fn new(checks: &Checks) -> Self {
        Self { checks: checks.clone(), lengths: Mutex::default() }
    }

    /// What became of a request that got this reply.
    #[inline]
    pub fn judge(&self, reply: &Reply, label: u32) -> Outcome {
        let expected = self.checks.expects(reply.status);
        let asked_for_status = !self.checks.status.is_empty();
        let failed = (asked_for_status && !expected) || (expected && !self.body_is_good(reply, label));
        Outcome { status: Some(reply.status), failure: failed.then_some(Failure::Check), expected }
    }

    fn body_is_good(&self, reply: &Reply, label: u32) -> bool {
        let matches = self.checks.body.is_none() || reply.kept.as_ref().is_some_and(|kept| kept.matches);
        matches && (!self.checks.same_length || self.is_as_long_as_the_first(reply.body_bytes, label))
    }

    fn is_as_long_as_the_first(&self, length: u64, label: u32) -> bool {
        let mut lengths = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        *lengths.entry(label).or_insert(length) == length
    }
}
