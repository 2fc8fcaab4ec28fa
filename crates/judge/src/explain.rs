//! Findings that users miss, a rule each.
//!
//! Out of scope: the verdict on the generator (`limits`) or on its arithmetic (`conservation`); what they have said
//! is not said again. Facts come from the [`Run`] and from what was decided before; what a rule says goes to the reader
//! under the report. `docs/findings.md` has the same rules for users.

pub(crate) mod command;
mod connections;
mod ending;
mod facts;
mod link;
mod load;
mod place;
mod replies;
mod samples;
mod sockets;
#[cfg(test)]
pub(crate) mod tests;

use brunt_model::finding::Weight;
use brunt_model::{Finding, Judgement, Run};
use facts::Facts;
pub use replies::status_remedy;
use std::cmp::Reverse;

/// A rule: a name that does not change, and what finds it.
struct Rule {
    name: &'static str,
    find: fn(&Facts) -> Option<Remark>,
}

const fn rule(name: &'static str, find: fn(&Facts) -> Option<Remark>) -> Rule {
    Rule { name, find }
}

/// One row a rule; of equal weight, the earlier is told first.
const RULES: &[Rule] = &[
    rule("cut_short", ending::cut_short),
    rule("too_short", ending::too_short),
    rule("nothing_good", replies::nothing_good),
    rule("no_reply", replies::no_reply),
    rule("error_replies", replies::errors),
    rule("redirects", replies::redirects),
    rule("length_drift", replies::length_drift),
    rule("think_time", load::think_time),
    rule("idle_users", load::idle_users),
    rule("overload", load::overload),
    rule("server_bottleneck", place::bottleneck),
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
    rule("few_samples", samples::few),
    rule("same_machine", place::same_machine),
    rule("closed_loop", load::closed_loop),
];

/// Names of all findings on a run.
pub fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name)
}

/// What the reader of this run should be told, the gravest first. `so_far`: what was decided before.
pub fn findings(run: &Run, so_far: &Judgement) -> Vec<Finding> {
    let Some(facts) = Facts::of(run, so_far) else { return Vec::new() };
    let said = RULES.iter().filter_map(|rule| Some((rule.find)(&facts)?.under(rule.name)));
    let mut findings: Vec<Finding> = said.collect();
    findings.sort_by_key(|finding| Reverse(finding.weight));
    findings
}

/// Returns the highest percentile of a run that is known, by the rule of the finding `few_samples`.
pub(crate) fn highest_reliable_percentile(run: &Run, so_far: &Judgement) -> Option<f64> {
    samples::highest_reliable(&Facts::of(run, so_far)?)
}

/// What a rule has to say.
pub(crate) struct Remark {
    weight: Weight,
    sentence: String,
    remedy: Option<String>,
}

impl Remark {
    /// The figures say something else than one would think.
    pub(crate) fn warning(sentence: String) -> Self {
        Self { weight: Weight::Warning, sentence, remedy: None }
    }

    /// Good to know.
    pub(crate) fn note(sentence: String) -> Self {
        Self { weight: Weight::Note, ..Self::warning(sentence) }
    }

    /// What to do about it.
    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    pub(crate) fn under(self, rule: &str) -> Finding {
        Finding { rule: rule.into(), weight: self.weight, sentence: self.sentence, remedy: self.remedy }
    }
}
