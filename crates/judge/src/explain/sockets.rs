//! Rules on the limits of the server's side: its accept queue, its files, its connections.

use super::{ExplainFacts, Remark};
use brunt_model::numbers::{count, percent, plural, three_digits};
use brunt_model::reading_names::{LISTEN_DROPS, LISTEN_OVERFLOWS};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Tally};

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
    if overflows < 1.0 && drops < 1.0 {
        return None;
    }
    let event = if overflows >= 1.0 {
        format!("The accept queue overflowed {} times", count(overflows as u64))
    } else {
        format!("The listening socket dropped {} SYNs", count(drops as u64))
    };
    let sentence = format!(
        "{event} during the run{}: connections arrived faster than the server accepted them, and waited a second or more.",
        backlog(facts)
    );
    Some(Remark::warning(sentence).with_remedy(RAISE_BACKLOG))
}

/// True if a request of this run took at least as long as a retransmission (200 ms), or failed.
/// Otherwise the queue that overflowed was another server's.
pub(super) fn may_have_lost_packets(facts: &ExplainFacts) -> bool {
    const SENT_AGAIN_NANOS: u64 = 200_000_000;
    let total = facts.total();
    let slow = total.phases.connect.max().max(total.response.max()) >= SENT_AGAIN_NANOS;
    slow || total.failed() > 0 || total.failed_by(Failure::Cut) > 0
}

const RAISE_BACKLOG: &str = "raise the backlog of the server's listen (nginx: listen … backlog=N, Apache: ListenBacklog) and \
                             net.core.somaxconn, which bounds it; or open connections more slowly (--connect-rate)";

/// Length of the queue as text, as far as it is known.
fn backlog(facts: &ExplainFacts) -> String {
    let most = facts
        .run
        .environment
        .sysctls
        .iter()
        .find(|s| s.0 == "net.core.somaxconn")
        .map(|s| s.1.as_str());
    match (facts.route().and_then(|route| route.listener_backlog), most) {
        (Some(backlog), Some(most)) => {
            format!(" (backlog {}, net.core.somaxconn {most})", count(backlog))
        }
        (Some(backlog), None) => format!(" (backlog {})", count(backlog)),
        (None, Some(most)) => format!(" (net.core.somaxconn {most})"),
        (None, None) => String::new(),
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
    let slow_text =
        format!("{} took 1 s or more to open, as after a SYN retransmission", count(slow));
    let lost_text = format!("{} gave up", count(lost));
    let all = plural(connect.count() + lost, "connection");
    let numbers = match (slow, lost) {
        (_, 0) => format!("of {all}, {slow_text}"),
        (0, _) => format!("of {all}, {lost_text}"),
        _ => format!("of {all}, {slow_text}, and {lost_text}"),
    };
    let sentence =
        format!("SYNs were dropped: {numbers}. A full accept queue does this, or a firewall.");
    Some(Remark::warning(sentence).with_remedy(RAISE_BACKLOG))
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
    let server = facts.route().and_then(|route| route.listener.as_deref()).unwrap_or("the server");
    let sentence = format!(
        "The server's file limit shows: {} were open at a time, and a process of {server} may open {} files.",
        plural(peak, "connection"),
        count(limit)
    );
    let remedy = "raise it (LimitNOFILE= of its service, ulimit -n, nginx: worker_rlimit_nofile); more worker processes have \
                  a limit each";
    Some(Remark::warning(sentence).with_remedy(remedy))
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
    let sentence = format!(
        "The server held {} connections at most, {} users had one each, and {} of the requests met a closed connection: it \
         has a limit on connections.",
        three_digits(peak),
        count(users.count.round() as u64),
        percent(broken as f64 / total.begun as f64)
    );
    let remedy = "raise it (nginx: worker_connections, Apache: MaxRequestWorkers, Tomcat: maxConnections; files: ulimit -n)";
    Some(Remark::warning(sentence).with_remedy(remedy))
}

fn broken(total: &Tally) -> u64 {
    let kinds = [Failure::Refused, Failure::Reset, Failure::Stale, Failure::ClosedEarly];
    kinds.into_iter().map(|kind| total.failed_by(kind)).sum()
}
