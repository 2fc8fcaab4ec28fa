//! How connections were kept, and what was sent twice on them.

use super::{Facts, Remark, sockets};
use brunt_model::Failure;
use brunt_model::numbers::{count, percent, plural, three};
use brunt_model::plan::{ConnectionLifetime, HttpVersion};
use brunt_model::reading_names::{RETRANSMITTED, SEGMENTS_SENT};

/// Connections replaced from which on it is a habit of the server.
const REPLACED: f64 = 10.0;
/// From one opening in so many requests on, openings weigh on the figures.
const WEIGHS: f64 = 100.0;
/// Limits that servers have unless told otherwise, and where they are set.
const LIMITS: [(f64, &str); 3] = [
    (
        1.0,
        "let the server keep connections open: look for keepalive_timeout 0 (nginx), KeepAlive Off (Apache) or HTTP/1.0",
    ),
    (
        100.0,
        "raise the server's limit of requests on a connection: Apache's MaxKeepAliveRequests and Tomcat's maxKeepAliveRequests are 100 unless set",
    ),
    (1000.0, "raise the server's limit of requests on a connection: nginx's keepalive_requests is 1000 unless set"),
];
/// Retransmitted segments that are chance, and the share of all segments that is.
const RETRANSMITTED_MANY: f64 = 10.0;
const RETRANSMITTED_SHARE: f64 = 0.01;

/// Connections were reused less than was asked for.
pub fn reuse(facts: &Facts) -> Option<Remark> {
    let flow = &facts.run.flow_all;
    let replaced = replaced(facts);
    if !may_be_reused(facts) || replaced < REPLACED || flow.opened == 0 || flow.begun == 0 {
        return None;
    }
    let each = flow.begun as f64 / flow.opened as f64;
    let said = format!(
        "Connections were reused less than requested: {} needed {}, {} each on average, because the server closed them{}.",
        plural(flow.begun, "request"),
        plural(flow.opened, "connection"),
        three(each),
        if idle(facts, replaced) { " while they were idle" } else { "" }
    );
    let said = if each < WEIGHS { Remark::warning(said) } else { Remark::note(said) };
    Some(said.remedy(where_set(facts, replaced)))
}

/// Connections opened in place of others that no failure had ended. While all are needed, as many are open as at the peak.
fn replaced(facts: &Facts) -> f64 {
    let (flow, total) = (&facts.run.flow_all, facts.total());
    let kept = [Failure::Check, Failure::Dropped];
    let broken: u64 = Failure::all().filter(|f| !kept.contains(f)).map(|f| total.failed_by(f)).sum();
    flow.opened.saturating_sub(facts.run.peak.connections + broken) as f64
}

fn may_be_reused(facts: &Facts) -> bool {
    let connection = &facts.plan.connection;
    let closes = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("connection") && value.to_ascii_lowercase().contains("close")
    };
    let asked = !facts.plan.main().scenario.requests.iter().flat_map(|r| &r.headers).any(closes);
    let anew = connection.keep != ConnectionLifetime::Run;
    asked && !anew && connection.http != HttpVersion::V1_0 && connection.requests_per_connection.is_none()
}

/// Most of what was replaced had been closed between two requests.
fn idle(facts: &Facts, replaced: f64) -> bool {
    facts.run.flow_all.closed_idle as f64 > replaced / 2.0
}

fn where_set(facts: &Facts, replaced: f64) -> String {
    if idle(facts, replaced) {
        return "raise the server's keep-alive timeout (nginx: keepalive_timeout, Apache: KeepAliveTimeout)".into();
    }
    // Connections that ended had served the limit; those still open at the end anything from nothing to it.
    let flow = &facts.run.flow_all;
    let (least, most) = (flow.begun as f64 / flow.opened as f64, flow.begun as f64 / replaced);
    let known = LIMITS.iter().find(|limit| (least * 0.98..most * 1.02).contains(&limit.0));
    known.map_or("raise the server's limit of requests on a connection", |known| known.1).into()
}

/// This machine sent segments again, and a request of this run waited as long as one that is sent again. The counters are of
/// the whole machine: they are compared with what it sent, never with the requests of the run.
pub fn retransmissions(facts: &Facts) -> Option<Remark> {
    let again = facts.growth(RETRANSMITTED)?;
    let sent = facts.growth(SEGMENTS_SENT)?;
    if again < RETRANSMITTED_MANY || again < RETRANSMITTED_SHARE * sent || !sockets::was_felt(facts) {
        return None;
    }
    let said = format!(
        "All programs of this machine together sent {} TCP segments again, {} of what they sent. Whether segments of this run \
         were among them is not known; each would cost its request 200 ms or more.",
        count(again as u64),
        percent(again / sent.max(1.0))
    );
    Some(Remark::note(said).remedy("look for drops on the way: ip -s link, tc -s qdisc, nstat TcpExtListenDrops"))
}
