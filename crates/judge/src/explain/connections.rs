//! Rules on the reuse of connections, and on retransmissions.

use super::{ExplainFacts, Remark, sockets};
use crate::texts::message;
use brunt_model::numbers::{count, percent, three_digits};
use brunt_model::plan::{ConnectionLifetime, HttpVersion};
use brunt_model::reading_names::{RETRANSMITTED, SEGMENTS_SENT};
use brunt_model::{Failure, Plan, Text};

/// Minimum number of replaced connections, from which on the server closes them regularly.
const REPLACED: f64 = 10.0;
/// Requests per opened connection below which opening connections influences the figures.
const FREQUENT: f64 = 100.0;
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
    let requests = message!("requests", count = flow.begun);
    let connections = message!("connections", count = flow.opened);
    let mean = three_digits(each);
    let sentence = if idle(facts, replaced) {
        message!("reuse.while-idle", requests, connections, each = mean)
    } else {
        message!("reuse", requests, connections, each = mean)
    };
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
    !plan_closes(facts.plan)
        && connection.keep == ConnectionLifetime::Run
        && connection.http != HttpVersion::V1_0
        && connection.requests_per_connection.is_none()
}

/// True if requests of the plan close connections, so that the server is not the cause.
fn plan_closes(plan: &Plan) -> bool {
    let mut requests = plan.populations.iter().flat_map(|one| one.scenario.requests.iter());
    let has_closing_request = requests.any(|request| {
        let closes_websocket = request.is_websocket() && request.method == "CLOSE";
        closes_websocket
            || request.headers.iter().any(|(name, value)| {
                name.eq_ignore_ascii_case("connection")
                    && value.to_ascii_lowercase().contains("close")
            })
    });
    // With HTTP/1.1, a reply that ends after some of its events closes its connection.
    let mut events = plan.reply_policies.iter().filter_map(|policy| policy.events);
    let has_limit = events.any(|events| events.most.is_some() || events.longest.is_some());
    has_closing_request || (has_limit && plan.connection.http == HttpVersion::V1_1)
}

/// True if most of the replaced connections had been closed between two requests.
fn idle(facts: &ExplainFacts, replaced: f64) -> bool {
    facts.run.flow_all.closed_idle as f64 > replaced / 2.0
}

fn reuse_remedy(facts: &ExplainFacts, replaced: f64) -> Text {
    if idle(facts, replaced) {
        return message!("reuse.remedy-idle");
    }
    // Connections that ended had served as many requests as the limit. Those still open at the end
    // may have served any number up to it.
    let flow = &facts.run.flow_all;
    let least = 0.98 * flow.begun as f64 / flow.opened as f64;
    let most = 1.02 * flow.begun as f64 / replaced;
    let possible = least..most;
    // The default limits of servers.
    if possible.contains(&1.0) {
        message!("reuse.remedy-one")
    } else if possible.contains(&100.0) {
        message!("reuse.remedy-hundred")
    } else if possible.contains(&1000.0) {
        message!("reuse.remedy-thousand")
    } else {
        message!("reuse.remedy-other")
    }
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
    let sentence = message!(
        "retransmissions",
        segments = count(retransmitted as u64),
        share = percent(retransmitted / sent.max(1.0))
    );
    Some(Remark::note(sentence).with_remedy(message!("retransmissions.remedy")))
}
