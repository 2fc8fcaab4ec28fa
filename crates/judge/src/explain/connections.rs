//! Rules on the reuse of connections, and on retransmissions.

use super::{ExplainFacts, Remark, sockets};
use brunt_model::Failure;
use brunt_model::numbers::{count, percent, plural, three_digits};
use brunt_model::plan::{ConnectionLifetime, HttpVersion};
use brunt_model::reading_names::{RETRANSMITTED, SEGMENTS_SENT};

/// Minimum number of replaced connections, from which on the server closes them regularly.
const REPLACED: f64 = 10.0;
/// Requests per opened connection below which opening connections influences the figures.
const FREQUENT: f64 = 100.0;
/// Default limits of servers, and the settings that change them.
const LIMITS: [(f64, &str); 3] = [
    (
        1.0,
        "let the server keep connections open: look for keepalive_timeout 0 (nginx), KeepAlive Off (Apache) or HTTP/1.0",
    ),
    (
        100.0,
        "raise the server's limit of requests on a connection: Apache's MaxKeepAliveRequests and Tomcat's maxKeepAliveRequests are 100 unless set",
    ),
    (
        1000.0,
        "raise the server's limit of requests on a connection: nginx's keepalive_requests is 1000 unless set",
    ),
];
/// Number of retransmitted segments, and their share of all segments, below which they are chance.
const RETRANSMITTED_MANY: f64 = 10.0;
const RETRANSMITTED_SHARE: f64 = 0.01;

/// Rule: connections were reused less than requested.
pub fn reuse(facts: &ExplainFacts) -> Option<Remark> {
    let flow = &facts.run.flow_all;
    let replaced = replaced(facts);
    if !may_be_reused(facts) || replaced < REPLACED || flow.opened == 0 || flow.begun == 0 {
        return None;
    }
    let each = flow.begun as f64 / flow.opened as f64;
    let sentence = format!(
        "Connections were reused less than requested: {} needed {}, {} each on average, because the server closed them{}.",
        plural(flow.begun, "request"),
        plural(flow.opened, "connection"),
        three_digits(each),
        if idle(facts, replaced) { " while they were idle" } else { "" }
    );
    let remark = if each < FREQUENT { Remark::warning(sentence) } else { Remark::note(sentence) };
    Some(remark.with_remedy(reuse_remedy(facts, replaced)))
}

/// Number of connections opened in place of others that no failure had ended. If all are needed, as
/// many are open as at the peak.
fn replaced(facts: &ExplainFacts) -> f64 {
    let flow = &facts.run.flow_all;
    let total = facts.total();
    // These failures do not end a connection.
    let harmless = [Failure::Check, Failure::Dropped];
    let broken: u64 =
        Failure::all().filter(|f| !harmless.contains(f)).map(|f| total.failed_by(f)).sum();
    flow.opened.saturating_sub(facts.run.peak.connections + broken) as f64
}

fn may_be_reused(facts: &ExplainFacts) -> bool {
    let connection = &facts.plan.connection;
    // If the plan closes the connections, the server is not the cause.
    let sends_close =
        facts.plan.main().scenario.requests.iter().flat_map(|request| &request.headers).any(
            |(name, value)| {
                name.eq_ignore_ascii_case("connection")
                    && value.to_ascii_lowercase().contains("close")
            },
        );
    !sends_close
        && connection.keep == ConnectionLifetime::Run
        && connection.http != HttpVersion::V1_0
        && connection.requests_per_connection.is_none()
}

/// True if most of the replaced connections had been closed between two requests.
fn idle(facts: &ExplainFacts, replaced: f64) -> bool {
    facts.run.flow_all.closed_idle as f64 > replaced / 2.0
}

fn reuse_remedy(facts: &ExplainFacts, replaced: f64) -> String {
    if idle(facts, replaced) {
        return "raise the server's keep-alive timeout (nginx: keepalive_timeout, Apache: KeepAliveTimeout)".into();
    }
    // Connections that ended had served as many requests as the limit. Those still open at the end
    // may have served any number up to it.
    let flow = &facts.run.flow_all;
    let least = flow.begun as f64 / flow.opened as f64;
    let most = flow.begun as f64 / replaced;
    let known_limit = LIMITS.iter().find(|limit| (least * 0.98..most * 1.02).contains(&limit.0));
    known_limit
        .map_or("raise the server's limit of requests on a connection", |limit| limit.1)
        .into()
}

/// Rule: this machine retransmitted segments, and a request of this run took at least as long as a
/// retransmission. The counters are of the whole machine, so they are compared with the segments
/// that it sent, never with the requests of the run.
pub fn retransmissions(facts: &ExplainFacts) -> Option<Remark> {
    let retransmitted = facts.growth(RETRANSMITTED)?;
    let sent = facts.growth(SEGMENTS_SENT)?;
    if retransmitted < RETRANSMITTED_MANY
        || retransmitted < RETRANSMITTED_SHARE * sent
        || !sockets::may_have_lost_packets(facts)
    {
        return None;
    }
    let sentence = format!(
        "All programs of this machine together sent {} TCP segments again, {} of all. It is unknown whether segments of this run were among them; each would cost its request 200 ms or more.",
        count(retransmitted as u64),
        percent(retransmitted / sent.max(1.0))
    );
    Some(
        Remark::note(sentence).with_remedy(
            "look for drops on the way: ip -s link, tc -s qdisc, nstat TcpExtListenDrops",
        ),
    )
}
