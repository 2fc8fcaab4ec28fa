//! Findings that users would miss, one rule for each.
//!
//! Facts come from the [`Run`] and from earlier decisions about it. A finding is printed under the
//! report. `docs/findings.md` documents the same rules. Out of scope: the verdict on the generator
//! (`limits`) and the consistency checks (`conservation`). Their results are not repeated.

pub(crate) mod command;
mod connections;
mod ending;
mod facts;
mod link;
mod load;
mod memory;
mod place;
mod replies;
mod samples;
mod sockets;
#[cfg(test)]
pub(crate) mod tests;

use brunt_model::finding::Severity;
use brunt_model::{Finding, Judgement, Run, Text};
use facts::ExplainFacts;
pub use replies::status_remedy;
use std::cmp::Reverse;

/// A rule, with its stable name.
struct Rule {
    name: &'static str,
    find: fn(&ExplainFacts) -> Option<Remark>,
}

const fn rule(name: &'static str, find: fn(&ExplainFacts) -> Option<Remark>) -> Rule {
    Rule { name, find }
}

/// One row for each rule. Of findings with equal weight, the earlier row comes first.
const RULES: &[Rule] = &[
    rule("cut_short", ending::cut_short),
    rule("too_short", ending::too_short),
    rule("nothing_good", replies::nothing_good),
    rule("no_reply", replies::no_reply),
    rule("error_replies", replies::errors),
    rule("redirects", replies::redirects),
    rule("websocket_pushes", replies::websocket_pushes),
    rule("length_drift", replies::length_drift),
    rule("think_time", load::think_time),
    rule("idle_users", load::idle_users),
    rule("overload", load::overload),
    rule("server_bottleneck", place::bottleneck),
    rule("server_memory", memory::grows),
    rule("busy_machine", place::busy_machine),
    rule("shared_cpu", place::shared_cpu),
    rule("link", link::link),
    rule("accept_queue", sockets::accept_queue),
    rule("slow_connects", sockets::slow_connects),
    rule("file_limit", sockets::file_limit),
    rule("connection_limit", sockets::connection_limit),
    rule("reuse", connections::reuse),
    rule("retransmissions", connections::retransmissions),
    rule("not_steady", ending::not_steady),
    rule("censored", samples::censored),
    rule("unseen_stalls", load::unseen_stalls),
    rule("few_samples", samples::too_few),
    rule("quiet_agents", place::quiet_agents),
    rule("groups_differ", place::groups_differ),
    rule("same_machine", place::same_machine),
    rule("closed_loop", load::closed_loop),
];

/// Names of all findings on a run.
pub fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// Returns the findings on a run, in descending order of weight. `so_far`
/// has the earlier decisions.
pub fn findings(run: &Run, so_far: &Judgement) -> Vec<Finding> {
    let Some(facts) = ExplainFacts::new(run, so_far) else { return Vec::new() };
    let mut findings = Vec::new();
    for rule in RULES {
        findings.extend((rule.find)(&facts).map(|remark| remark.into_finding(rule.name)));
    }
    findings.sort_by_key(|finding: &Finding| Reverse(finding.severity));
    findings
}

/// Returns the highest reliable percentile of a run, by the rule of the finding `few_samples`.
pub(crate) fn highest_reliable_percentile(run: &Run, so_far: &Judgement) -> Option<f64> {
    samples::highest_reliable(&ExplainFacts::new(run, so_far)?)
}

/// A remark of a rule: a finding without the rule's name.
pub(crate) struct Remark {
    weight: Severity,
    sentence: Text,
    remedy: Option<Text>,
}

impl Remark {
    /// A warning: the figures do not mean what a reader would think.
    pub(crate) fn warning(sentence: impl Into<Text>) -> Self {
        Self { weight: Severity::Warning, sentence: sentence.into(), remedy: None }
    }

    /// A note: useful, but it does not change the meaning of the figures.
    pub(crate) fn note(sentence: impl Into<Text>) -> Self {
        Self { weight: Severity::Note, ..Self::warning(sentence) }
    }

    /// Adds a remedy.
    pub(crate) fn with_remedy(self, remedy: impl Into<Text>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    pub(crate) fn into_finding(self, rule: &str) -> Finding {
        Finding {
            rule: rule.into(),
            severity: self.weight,
            sentence: self.sentence,
            remedy: self.remedy,
        }
    }
}
