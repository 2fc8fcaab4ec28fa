//! Rules on replies that are not the expected pages.

use super::Remark;
use super::facts::{ExplainFacts, FlowInterval};
use crate::texts::message;
use brunt_model::numbers::{bytes, count, percent, seconds};
use brunt_model::outcome::{CLOSE_STATUS, GRPC_STATUS, status_text};
use brunt_model::reached::ReplyKind;
use brunt_model::{Failure, Plan, Tally, Text};

/// Minimum share of unexpected replies: fewer are isolated cases.
const ISOLATED: f64 = 0.01;
/// Share from which on the figures are no longer those of pages.
const MANY: f64 = 0.1;
/// Minimum relative change of the mean length of replies.
const DRIFT: f64 = 0.1;
/// Minimum distance of two means in standard errors. By chance, one run in 15,000 exceeds it.
const STANDARD_ERRORS: f64 = 4.0;

/// Rule: a server sends WebSocket messages that answer no request, and the plan does not tell
/// replies from them. A request then takes the next one for its reply.
pub fn websocket_pushes(facts: &ExplainFacts) -> Option<Remark> {
    let pushes = facts.run.flow_all.pushes;
    let replies = facts.total().completed;
    let is_selective = facts
        .plan
        .reply_policies
        .iter()
        .any(|policy| policy.checks.body.is_some() || !policy.until.is_empty());
    if pushes == 0 || is_selective || (pushes as f64) < ISOLATED * replies as f64 {
        return None;
    }
    let sentence = message!("websocket-pushes", pushes = count(pushes), replies = count(replies));
    Some(Remark::warning(sentence).with_remedy(message!("websocket-pushes.remedy")))
}

/// Rule: no good reply, so that nothing or only errors were measured.
pub fn nothing_good(facts: &ExplainFacts) -> Option<Remark> {
    let failures = facts.run.failure_summary();
    let replies = count(facts.total().completed);
    let sentence = match (facts.run.replies(), failures.is_empty()) {
        (ReplyKind::SomeGood, _) => return None,
        (ReplyKind::None, _) if facts.total().begun == 0 => return None,
        (ReplyKind::None, true) => message!("nothing-measured"),
        (ReplyKind::None, false) => message!("nothing-measured.with-failures", failures),
        (ReplyKind::NoneGood, true) => message!("none-good", replies),
        (ReplyKind::NoneGood, false) => message!("none-good.with-failures", replies, failures),
    };
    let remedy = match facts.run.replies() {
        ReplyKind::NoneGood => message!("none-good.remedy"),
        ReplyKind::None | ReplyKind::SomeGood => message!("nothing-measured.remedy"),
    };
    Some(Remark::warning(sentence).with_remedy(remedy))
}

/// Rule: many requests ended without a whole reply.
pub fn no_reply(facts: &ExplainFacts) -> Option<Remark> {
    let total = facts.total();
    let share = total.failed() as f64 / total.begun as f64;
    if total.begun == 0 || (total.failed() as f64) < MANY * total.begun as f64 {
        return None;
    }
    // A failed check has a whole reply; the rule `censored` reports dropped and cut requests.
    let kinds =
        Failure::all().filter(|f| ![Failure::Check, Failure::Dropped, Failure::Cut].contains(f));
    let most = kinds.max_by_key(|f| total.failed_by(*f))?;
    let sentence = message!(
        "no-reply",
        share = percent(share),
        failure = most.row().name.clone(),
        count = count(total.failed_by(most))
    );
    Some(Remark::warning(sentence).with_remedy(most.row().remedy.clone()))
}

/// Rule: replies with an error status that the plan does not expect.
pub fn errors(facts: &ExplainFacts) -> Option<Remark> {
    let total = facts.total();
    let wrong = total.unexpected.sorted();
    let many = wrong.iter().map(|s| s.1).sum::<u64>();
    let most = wrong.iter().max_by_key(|s| s.1)?.0;
    let share = many as f64 / total.completed as f64;
    if share < ISOLATED {
        return None;
    }
    let share = percent(share);
    let statuses = mix(&wrong);
    let good = total.response_good();
    let sentence = if good.is_empty() || total.not_good.is_empty() {
        message!("error-replies", share, statuses)
    } else {
        let errors = seconds(total.not_good.mean() / 1e9);
        let good = seconds(good.mean() / 1e9);
        message!("error-replies.with-times", share, statuses, errors, good)
    };
    Some(Remark::warning(sentence).with_remedy(status_remedy(most)))
}

/// Returns the remedy for replies of this status.
pub fn status_remedy(status: u16) -> Text {
    match status {
        CLOSE_STATUS.. => message!("status-remedy.close"),
        GRPC_STATUS.. => message!("status-remedy.grpc"),
        300..=399 => message!("status-remedy.redirect"),
        401 | 403 | 407 => message!("status-remedy.credentials"),
        404 | 410 => message!("status-remedy.not-found"),
        429 => message!("status-remedy.rate-limit"),
        502 | 504 => message!("status-remedy.gateway"),
        503 => message!("status-remedy.overload"),
        500..=599 => message!("status-remedy.server-error"),
        405 => message!("status-remedy.method"),
        _ => message!("status-remedy.other"),
    }
}

/// Rule: redirects that count as good replies.
pub fn redirects(facts: &ExplainFacts) -> Option<Remark> {
    let total = facts.total();
    // 304 (Not Modified) has no target to follow (RFC 9110, section 15.4.5).
    let redirects = statuses(total, |status| {
        (300..400).contains(&status) && status != 304 && !is_named(facts.plan, status)
    });
    let unfollowed = redirects.iter().map(|s| s.1).sum::<u64>().saturating_sub(total.redirects);
    let share = unfollowed as f64 / total.completed.max(1) as f64;
    if share < ISOLATED {
        return None;
    }
    let sentence = message!("redirects", share = percent(share), statuses = mix(&redirects));
    let remark = if share < MANY { Remark::note(sentence) } else { Remark::warning(sentence) };
    Some(remark.with_remedy(status_remedy(302)))
}

/// True if a status is good because the plan names it, or an error.
fn is_named(plan: &Plan, status: u16) -> bool {
    let mut checks =
        plan.reply_policies.iter().map(|policy| &policy.checks).filter(|c| !c.status.is_empty());
    checks.any(|checks| checks.expects(status))
        || plan.reply_policies.iter().all(|policy| !policy.checks.status.is_empty())
}

fn statuses(total: &Tally, predicate: impl Fn(u16) -> bool) -> Vec<(u16, u64)> {
    total.statuses.sorted().into_iter().filter(|s| predicate(s.0)).collect()
}

fn mix(statuses: &[(u16, u64)]) -> String {
    statuses
        .iter()
        .map(|(status, n)| format!("{} × {}", count(*n), status_text(*status)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Rule: the size of replies changed though the request is always the same.
pub fn length_drift(facts: &ExplainFacts) -> Option<Remark> {
    // A list may have its long pages at its end, and a placeholder may request other things
    // as it counts up.
    let [request] = facts.plan.main().scenario.requests.as_slice() else { return None };
    if request.url.contains('{') {
        return None;
    }
    let first = Length::new(facts.part(0.0, 1.0 / 3.0))?;
    let last = Length::new(facts.part(2.0 / 3.0, 1.0))?;
    let difference = (last.mean - first.mean).abs();
    let by_chance = STANDARD_ERRORS * (first.error.powi(2) + last.error.powi(2)).sqrt();
    if difference <= DRIFT * first.mean.max(last.mean) || difference <= by_chance {
        return None;
    }
    let sentence = message!("length-drift", first = bytes(first.mean), last = bytes(last.mean));
    Some(Remark::warning(sentence).with_remedy(message!("length-drift.remedy")))
}

/// Mean length of replies and its standard error, from the means of intervals.
struct Length {
    mean: f64,
    error: f64,
}

impl Length {
    /// Returns None with fewer than 4 intervals that have replies.
    fn new(intervals: &[FlowInterval]) -> Option<Self> {
        let intervals_with_replies = intervals.iter().filter(|i| i.flow.completed > 0);
        let means: Vec<f64> = intervals_with_replies
            .map(|i| i.flow.bytes_received as f64 / i.flow.completed as f64)
            .collect();
        if means.len() < 4 {
            return None;
        }
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Some(Self { mean, error: (variance / n).sqrt() })
    }
}
