//! What the server's side can hold: its accept queue, its files, its connections.

use super::{Facts, Remark};
use brunt_model::numbers::{count, percent, plural, three};
use brunt_model::reading_names::{LISTEN_DROPS, LISTEN_OVERFLOWS};
use brunt_model::time::seconds_of;
use brunt_model::{Failure, Tally};

/// The kernel sends an unanswered SYN again after 1 s (RFC 6298, section 2), and then at whole seconds.
const RESENT_SECONDS: f64 = 1.0;
/// A handshake that was only slow lands anywhere; one whose SYN was sent again shortly after a whole second.
const AFTER_SECONDS: f64 = 0.25;
/// Slow handshakes from which on they are no accident.
const SLOW: u64 = 5;
/// The share of slow handshakes that must lie behind whole seconds.
const IN_STEPS: f64 = 0.7;
/// Part of the file limit at which it is reached: logs and listening sockets take the rest, a proxy one file more for
/// each connection.
const NEARLY_ALL: f64 = 0.9;
/// Users without a connection, from this share on, were held out.
const HELD_OUT: f64 = 0.05;
/// The share of requests whose connection broke from which on that is a pattern.
const BROKEN: f64 = 0.01;

/// The accept queue overflowed. The counters are of the whole machine, so only a server on it can be seen.
pub fn accept_queue(facts: &Facts) -> Option<Remark> {
    if facts.same_host() != Some(true) || !was_felt(facts) {
        return None;
    }
    let (overflows, drops) = (facts.growth(LISTEN_OVERFLOWS).unwrap_or(0.0), facts.growth(LISTEN_DROPS).unwrap_or(0.0));
    if overflows < 1.0 && drops < 1.0 {
        return None;
    }
    let what = if overflows >= 1.0 {
        format!("The accept queue overflowed {} times", count(overflows as u64))
    } else {
        format!("The listening socket dropped {} SYNs", count(drops as u64))
    };
    let said = format!(
        "{what} during the run{}: connections arrived faster than the server accepted them, and waited a second or more.",
        backlog(facts)
    );
    Some(Remark::warning(said).remedy(RAISE_BACKLOG))
}

/// The queue may have been another server's: ours was in it only if some request of this run waited for what a dropped
/// packet takes to be sent again, 200 ms or more, or never got through.
pub(super) fn was_felt(facts: &Facts) -> bool {
    const SENT_AGAIN_NANOS: u64 = 200_000_000;
    let total = facts.total();
    let slow = total.phases.connect.max().max(total.response.max()) >= SENT_AGAIN_NANOS;
    slow || total.failed() > 0 || total.failed_by(Failure::Cut) > 0
}

const RAISE_BACKLOG: &str = "raise the backlog of the server's listen (nginx: listen … backlog=N, Apache: ListenBacklog) and \
                             net.core.somaxconn, which bounds it; or open connections more slowly (--connect-rate)";

/// The length of the queue, as far as it is known.
fn backlog(facts: &Facts) -> String {
    let most = facts.run.environment.sysctls.iter().find(|s| s.0 == "net.core.somaxconn").map(|s| s.1.as_str());
    match (facts.route().and_then(|route| route.listener_backlog), most) {
        (Some(backlog), Some(most)) => format!(" (backlog {}, net.core.somaxconn {most})", count(backlog)),
        (Some(backlog), None) => format!(" (backlog {})", count(backlog)),
        (None, Some(most)) => format!(" (net.core.somaxconn {most})"),
        (None, None) => String::new(),
    }
}

/// Handshakes took the time after which a SYN is sent again.
pub fn slow_connects(facts: &Facts) -> Option<Remark> {
    let connect = &facts.total().phases.connect;
    let lost = facts.total().failed_by(Failure::ConnectTimeout);
    let slow = connect.count() - connect.count_at_or_below((RESENT_SECONDS * 0.95 * 1e9) as u64);
    let in_steps: u64 = connect.buckets().filter(|b| is_step(seconds_of(b.low))).map(|b| b.count).sum();
    let steps_show = slow >= SLOW && in_steps as f64 >= IN_STEPS * slow as f64;
    if !facts.is_direct() || (!steps_show && lost < SLOW) {
        return None;
    }
    let slowly = format!("{} took 1 s or more to open, as after a SYN retransmission", count(slow));
    let vainly = format!("{} gave up", count(lost));
    let all = plural(connect.count() + lost, "connection");
    let what = match (slow, lost) {
        (_, 0) => format!("of {all}, {slowly}"),
        (0, _) => format!("of {all}, {vainly}"),
        _ => format!("of {all}, {slowly}, and {vainly}"),
    };
    let said = format!("SYNs were dropped: {what}. A full accept queue does this, or a firewall.");
    Some(Remark::warning(said).remedy(RAISE_BACKLOG))
}

fn is_step(seconds: f64) -> bool {
    seconds >= RESENT_SECONDS * 0.95 && (seconds + 0.05).fract() <= AFTER_SECONDS + 0.05
}

/// Connections reached the listener's limit on open files, and some broke.
pub fn file_limit(facts: &Facts) -> Option<Remark> {
    let limit = facts.route()?.listener_descriptors.filter(|limit| *limit > 0)?;
    let peak = facts.run.peak.connections;
    if (peak as f64) < NEARLY_ALL * limit as f64 {
        return None;
    }
    let server = facts.route().and_then(|route| route.listener.as_deref()).unwrap_or("the server");
    let said = format!(
        "The server's file limit shows: {} were open at a time, and a process of {server} may open {} files.",
        plural(peak, "connection"),
        count(limit)
    );
    let remedy = "raise it (LimitNOFILE= of its service, ulimit -n, nginx: worker_rlimit_nofile); more worker processes have \
                  a limit each";
    Some(Remark::warning(said).remedy(remedy))
}

/// The server held fewer connections than there were users, and broke the others.
pub fn connection_limit(facts: &Facts) -> Option<Remark> {
    let users = facts.users.as_ref()?;
    let total = facts.total();
    let broken = broken(total);
    let peak = facts.run.peak.connections as f64;
    let keeps = facts.plan.connection.requests_per_connection.is_none();
    let held_out = peak > 0.0 && peak < users.count * (1.0 - HELD_OUT);
    if !keeps || !held_out || (broken as f64) < BROKEN * total.begun as f64 {
        return None;
    }
    let said = format!(
        "The server held {} connections at most, {} users had one each, and {} of the requests met a closed connection: it \
         has a limit on connections.",
        three(peak),
        count(users.count.round() as u64),
        percent(broken as f64 / total.begun as f64)
    );
    let remedy =
        "raise it (nginx: worker_connections, Apache: MaxRequestWorkers, Tomcat: maxConnections; files: ulimit -n)";
    Some(Remark::warning(said).remedy(remedy))
}

fn broken(total: &Tally) -> u64 {
    let kinds = [Failure::Refused, Failure::Reset, Failure::Stale, Failure::ClosedEarly];
    kinds.into_iter().map(|kind| total.failed_by(kind)).sum()
}
