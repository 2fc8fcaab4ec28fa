//! Rules on the limits of the server's side: its accept queue, its files, its connections.

use super::{ExplainFacts, Remark};
use crate::facts::may_have_overflowed;
use crate::texts::message;
use brunt_model::numbers::{count, percent, three_digits};
use brunt_model::reading_names::{LISTEN_DROPS, LISTEN_OVERFLOWS};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Tally, Text};

/// The kernel retransmits an unanswered SYN after 1 s (RFC 6298, section 2), and
/// then at whole seconds.
const RESENT_SECONDS: f64 = 1.0;
/// Maximum delay after a whole second of a handshake with a retransmitted SYN. A handshake that
/// is slow for other reasons may take any time.
const AFTER_SECONDS: f64 = 0.25;
/// Minimum number of slow handshakes: fewer may be chance.
const SLOW: u64 = 5;
/// Minimum share of slow handshakes shortly after whole seconds.
const IN_STEPS: f64 = 0.7;
/// Share of the file limit at which it counts as reached. Logs and listening sockets take the rest;
/// a proxy uses one more file for each connection.
const NEARLY_ALL: f64 = 0.9;
/// Share of users without a connection from which on the server limits connections.
const REJECTED: f64 = 0.05;
/// Minimum share of requests with a broken connection for a pattern.
const BROKEN: f64 = 0.01;

/// Rule: the accept queue overflowed. The counters are of the whole machine, so only a server on
/// this machine can be examined.
pub fn accept_queue(facts: &ExplainFacts) -> Option<Remark> {
    // The counters are those of the generator's machine.
    if facts.same_host() != Some(true) || !may_have_lost_packets(facts) {
        return None;
    }
    let overflows = facts.growth(LISTEN_OVERFLOWS).unwrap_or(0.0);
    let drops = facts.growth(LISTEN_DROPS).unwrap_or(0.0);
    let most = drops.max(overflows);
    let backlog = facts.route().and_then(|route| route.listener_backlog);
    // If some are another listener's, it is unknown whether any was this one's.
    if most < 1.0 || !may_have_overflowed(facts.run, most, backlog) {
        return None;
    }
    let backlog = backlog_text(facts, backlog);
    let sentence = if overflows >= 1.0 {
        message!("accept-queue", count = count(overflows as u64), backlog)
    } else {
        message!("accept-queue.dropped", count = count(drops as u64), backlog)
    };
    Some(Remark::warning(sentence).with_remedy(message!("raise-backlog")))
}

/// True if a request of this run took at least as long as a retransmission (200 ms), or failed.
/// Otherwise the queue that overflowed was another server's.
pub(super) fn may_have_lost_packets(facts: &ExplainFacts) -> bool {
    const SENT_AGAIN_NANOS: u64 = 200_000_000;
    let total = facts.total();
    let slow = total.phases.connect.max().max(total.response.max()) >= SENT_AGAIN_NANOS;
    slow || total.failed() > 0 || total.failed_by(Failure::Cut) > 0
}

/// Length of the queue as text, as far as it is known.
fn backlog_text(facts: &ExplainFacts, backlog: Option<u64>) -> Text {
    let somaxconn = facts
        .run
        .environment
        .sysctls
        .iter()
        .find(|s| s.0 == "net.core.somaxconn")
        .map(|s| s.1.as_str());
    match (backlog.map(count), somaxconn) {
        (Some(backlog), Some(somaxconn)) => message!("accept-queue.both", backlog, somaxconn),
        (Some(backlog), None) => message!("accept-queue.backlog", backlog),
        (None, Some(somaxconn)) => message!("accept-queue.somaxconn", somaxconn),
        (None, None) => Text::default(),
    }
}

/// Rule: handshakes took the time after which a SYN is retransmitted.
pub fn slow_connects(facts: &ExplainFacts) -> Option<Remark> {
    let connect = &facts.total().phases.connect;
    let lost = facts.total().failed_by(Failure::ConnectTimeout);
    let slow = connect.count() - connect.count_at_or_below((RESENT_SECONDS * 0.95 * 1e9) as u64);
    let in_steps: u64 =
        connect.buckets().filter(|b| is_step(seconds_of(b.low))).map(|b| b.count).sum();
    let steps_show = slow >= SLOW && in_steps as f64 >= IN_STEPS * slow as f64;
    if !facts.is_direct() || (!steps_show && lost < SLOW) {
        return None;
    }
    let events = match (slow, lost) {
        (_, 0) => message!("slow-connects.slow", slow = count(slow)),
        (0, _) => message!("slow-connects.lost", lost = count(lost)),
        _ => message!("slow-connects.both", slow = count(slow), lost = count(lost)),
    };
    let connections = message!("connections", count = connect.count() + lost);
    let sentence = message!("slow-connects", connections, events);
    Some(Remark::warning(sentence).with_remedy(message!("raise-backlog")))
}

fn is_step(seconds: f64) -> bool {
    seconds >= RESENT_SECONDS * 0.95 && (seconds + 0.05).fract() <= AFTER_SECONDS + 0.05
}

/// Rule: connections reached the listener's limit on open files.
pub fn file_limit(facts: &ExplainFacts) -> Option<Remark> {
    let limit = facts.route()?.listener_descriptors.filter(|limit| *limit > 0)?;
    let peak = facts.run.peak.connections;
    if (peak as f64) < NEARLY_ALL * limit as f64 {
        return None;
    }
    let listener = facts.route().and_then(|route| route.listener.as_deref());
    let server = listener.map_or(message!("file-limit.server"), Text::from);
    let connections = message!("connections", count = peak);
    let sentence = message!("file-limit", connections, server, limit = count(limit));
    Some(Remark::warning(sentence).with_remedy(message!("file-limit.remedy")))
}

/// Rule: the server accepted fewer connections than there were users, and broke the others.
pub fn connection_limit(facts: &ExplainFacts) -> Option<Remark> {
    let users = facts.users.as_ref()?;
    let total = facts.total();
    let broken = broken(total);
    let peak = facts.run.peak.connections as f64;
    let has_no_own_limit = facts.plan.connection.requests_per_connection.is_none();
    let has_rejected_users = peak > 0.0 && peak < users.count * (1.0 - REJECTED);
    if !has_no_own_limit || !has_rejected_users || (broken as f64) < BROKEN * total.begun as f64 {
        return None;
    }
    let sentence = message!(
        "connection-limit",
        peak = three_digits(peak),
        users = count(users.count.round() as u64),
        share = percent(broken as f64 / total.begun as f64)
    );
    Some(Remark::warning(sentence).with_remedy(message!("connection-limit.remedy")))
}

fn broken(total: &Tally) -> u64 {
    let kinds = [Failure::Refused, Failure::Reset, Failure::Stale, Failure::ClosedEarly];
    kinds.into_iter().map(|kind| total.failed_by(kind)).sum()
}
