//! Whether a reply is good.

use brunt_model::outcome::status_text;
use brunt_model::plan::Checks;
use brunt_model::reply_policy::statuses;
use brunt_model::{CheckFailure, Failure, Outcome, Plan};
use brunt_wire::Reply;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What makes replies good, by the number of a request's policy; the same for all workers.
#[derive(Debug)]
pub struct Check {
    checks: Vec<Checks>,
    /// From begun to last byte.
    timeouts: Vec<Duration>,
    /// Whether the user looks at replies: to say what is good, or to make records.
    judged_by_user: Vec<bool>,
    /// Whether a status that is not expected makes a request fail for its user.
    status_fails: Vec<bool>,
    /// By label: the length of its first good body.
    lengths: Mutex<HashMap<u32, u64>>,
}

impl Check {
    /// What the policies of a plan ask for.
    pub fn new(plan: &Plan) -> Self {
        let (policies, records) = (|| plan.reply_policies.iter(), plan.record.records.is_some());
        Self {
            checks: policies().map(|policy| policy.checks.clone()).collect(),
            timeouts: policies().map(|policy| policy.timeout.unwrap_or(plan.connection.timeout)).collect(),
            status_fails: policies().map(|policy| policy.status_fails).collect(),
            judged_by_user: policies().map(|policy| records || policy.is_judged_by_user()).collect(),
            lengths: Mutex::default(),
        }
    }

    /// How long a request of this policy may take, from begun to last byte.
    #[inline]
    pub fn timeout(&self, policy: u32) -> Duration {
        self.timeouts[policy as usize]
    }

    /// Whether the user looks at replies of this policy: to say whether they are good, or to make records.
    #[inline]
    pub fn is_judged_by_user(&self, policy: u32) -> bool {
        self.judged_by_user[policy as usize]
    }

    /// Whether a request of this policy with this outcome failed for its user: what follows from failures, follows.
    #[inline]
    pub fn has_failed(&self, outcome: Outcome, policy: u32) -> bool {
        outcome.failure.is_some() || (self.status_fails[policy as usize] && !outcome.expected)
    }

    /// What became of a request of this label and policy that got this reply.
    #[inline]
    pub fn judge(&self, reply: &Reply, label: u32, policy: u32) -> Outcome {
        let checks = &self.checks[policy as usize];
        let expected = checks.expects(reply.status);
        let asked_for_status = !checks.status.is_empty();
        let failed = (asked_for_status && !expected) || (expected && !self.body_is_good(checks, reply, label));
        Outcome { status: Some(reply.status), failure: failed.then_some(Failure::Check), expected }
    }

    /// Describes the check that a reply failed.
    pub fn explain(&self, reply: &Reply, label: u32, policy: u32) -> CheckFailure {
        let checks = &self.checks[policy as usize];
        if !checks.expects(reply.status) {
            let expected = format!("status {}", statuses(&checks.status));
            return CheckFailure::new("status", expected, status_text(reply.status));
        }
        match &checks.body {
            Some(pattern) if !reply.kept.as_ref().is_some_and(|kept| kept.matches) => {
                CheckFailure::new("body", format!("body matches `{pattern}`"), "no match")
            }
            _ => {
                let lengths = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
                let first = lengths.get(&label).copied().unwrap_or_default();
                let expected = format!("length {first} bytes, as in the first reply");
                CheckFailure::new("length", expected, format!("{} bytes", reply.body_bytes))
            }
        }
    }

    fn body_is_good(&self, checks: &Checks, reply: &Reply, label: u32) -> bool {
        let matches = checks.body.is_none() || reply.kept.as_ref().is_some_and(|kept| kept.matches);
        matches && (!checks.same_length || self.is_as_long_as_the_first(reply.body_bytes, label))
    }

    fn is_as_long_as_the_first(&self, length: u64, label: u32) -> bool {
        let mut lengths = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        *lengths.entry(label).or_insert(length) == length
    }
}
