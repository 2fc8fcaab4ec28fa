//! Decides whether a reply is good.

use brunt_model::outcome::{DEADLINE_STATUS, status_text};
use brunt_model::plan::ReplyChecks;
use brunt_model::reply_policy::statuses;
use brunt_model::sync::IgnorePoison;
use brunt_model::{CheckFailure, Failure, Outcome, Plan, Text, text};
use brunt_wire::Reply;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// Checks and limits of replies, by the number of a request's policy; shared by all workers.
#[derive(Debug)]
pub struct ReplyChecker {
    checks: Vec<ReplyChecks>,
    conditions: Vec<Conditions>,
    /// Time limits from begun to last byte.
    timeouts: Vec<Duration>,
    /// True if the user judges replies: to decide whether they are good, or to make records.
    judged_by_user: Vec<bool>,
    /// True if users are traced.
    is_traced: bool,
    /// True if an unexpected status makes a request fail for its user.
    status_fails: Vec<bool>,
    /// Length of the first good body, by label.
    lengths: Mutex<HashMap<u32, u64>>,
}

/// Descriptions of the checks of a policy: many replies may fail them.
#[derive(Debug)]
struct Conditions {
    status: Text,
    body: Option<Text>,
}

impl Conditions {
    fn new(checks: &ReplyChecks) -> Self {
        let body = checks.body.as_ref().map(|pattern| {
            let part = text!("condition-part.body");
            text!("condition-match", part, values = format!("`{pattern}`"))
        });
        Self { status: text!("condition-status", statuses = statuses(&checks.status)), body }
    }
}

impl ReplyChecker {
    /// Collects the checks of a plan's reply policies.
    pub fn new(plan: &Plan) -> Self {
        let policies = &plan.reply_policies;
        let has_records = plan.record.records.is_some();
        Self {
            is_traced: plan.record.records.as_ref().is_some_and(|records| records.trace),
            checks: policies.iter().map(|policy| policy.checks.clone()).collect(),
            conditions: policies.iter().map(|policy| Conditions::new(&policy.checks)).collect(),
            timeouts: policies
                .iter()
                .map(|policy| policy.timeout.unwrap_or(plan.connection.timeout))
                .collect(),
            status_fails: policies.iter().map(|policy| policy.status_fails).collect(),
            judged_by_user: policies
                .iter()
                .map(|policy| has_records || policy.is_judged_by_user())
                .collect(),
            lengths: Mutex::default(),
        }
    }

    /// True if users are traced.
    #[inline]
    pub fn is_traced(&self) -> bool {
        self.is_traced
    }

    /// Time limit of a request of this policy, from begun to last byte.
    #[inline]
    pub fn timeout(&self, policy: u32) -> Duration {
        self.timeouts[policy as usize]
    }

    /// True if the user judges replies of this policy: to decide whether they are good,
    /// or to make records.
    #[inline]
    pub fn is_judged_by_user(&self, policy: u32) -> bool {
        self.judged_by_user[policy as usize]
    }

    /// True if a request of this policy with this outcome failed for its user, so that the
    /// effects of failures apply.
    #[inline]
    pub fn has_failed(&self, outcome: Outcome, policy: u32) -> bool {
        outcome.failure.is_some() || (self.status_fails[policy as usize] && !outcome.expected)
    }

    /// Returns the outcome of a request of this label and policy, from its reply.
    #[inline]
    pub fn judge(&self, reply: &Reply, label: u32, policy: u32) -> Outcome {
        let checks = &self.checks[policy as usize];
        if reply.status == DEADLINE_STATUS && !checks.expects(DEADLINE_STATUS) {
            return Outcome::failed(Failure::DeadlineExceeded);
        }
        let checks_status = !checks.status.is_empty();
        // A redirect in place of a WebSocket is no good reply.
        let expected = checks.expects(reply.status) && (checks_status || !reply.is_refusal);
        let failed =
            (checks_status && !expected) || (expected && !self.body_is_good(checks, reply, label));
        Outcome { status: Some(reply.status), failure: failed.then_some(Failure::Check), expected }
    }

    /// Describes the check that a reply failed.
    pub fn explain(&self, reply: &Reply, label: u32, policy: u32) -> CheckFailure {
        let conditions = &self.conditions[policy as usize];
        if !self.checks[policy as usize].expects(reply.status) {
            let error = reply.call_error.as_ref().map(|error| format!(": {}", error.decode()));
            let found = status_text(reply.status) + &error.unwrap_or_default();
            return CheckFailure::new("status", conditions.status.clone(), found);
        }
        match &conditions.body {
            Some(condition) if !reply.details.as_ref().is_some_and(|details| details.matches) => {
                CheckFailure::new("body", condition.clone(), text!("condition-found.no-match"))
            }
            _ => {
                let lengths = self.lengths.lock().ignore_poison();
                let first = lengths.get(&label).copied().unwrap_or_default();
                let expected = text!("condition-length", bytes = first.to_string());
                CheckFailure::new("length", expected, format!("{} bytes", reply.body_bytes))
            }
        }
    }

    fn body_is_good(&self, checks: &ReplyChecks, reply: &Reply, label: u32) -> bool {
        let matches =
            checks.body.is_none() || reply.details.as_ref().is_some_and(|details| details.matches);
        matches && (!checks.same_length || self.is_as_long_as_the_first(reply.body_bytes, label))
    }

    fn is_as_long_as_the_first(&self, length: u64, label: u32) -> bool {
        let mut lengths = self.lengths.lock().ignore_poison();
        // The first good body sets the length.
        *lengths.entry(label).or_insert(length) == length
    }
}
