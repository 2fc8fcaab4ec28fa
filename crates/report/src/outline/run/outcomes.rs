//! Writes the outcomes of the requests: statuses, failures with remedies, connections, and the
//! reason of a run without replies.

use super::{ReportSection, RunReport};
use crate::outline::block::{OutcomeRow, ReportBlock};
use crate::texts::message;
use crate::view::Detail;
use brunt_model::numbers::{count, plural, share, time};
use brunt_model::outcome::status_text;
use brunt_model::text::Value;
use brunt_model::{Failure, Run, Tally, Text, text};

/// Returns statuses and failures, with counts and shares. A brief report has them only if not all
/// replies were good, and without remedies.
pub fn section(report: &RunReport) -> ReportSection {
    let t = &report.run.total;
    let is_brief = report.detail == Detail::Brief;
    if t.attempted() == 0 || (is_brief && t.errors() == 0 && t.statuses.sorted().len() < 2) {
        return ReportSection::new();
    }
    vec![
        ReportBlock::Heading("Outcomes".into()),
        ReportBlock::Outcomes(rows(t, if is_brief { meaning } else { explained })),
    ]
}

/// Returns a row for each status and each failure that occurred. `describe` returns the
/// meaning of a failure.
pub fn rows(t: &Tally, describe: fn(Failure, &Tally) -> Text) -> Vec<OutcomeRow> {
    let statuses = t.statuses.sorted().into_iter().map(|(status, n)| {
        let failure = failures_of(t).find(|failure| failure.status() == Some(status));
        let meaning = failure.map(|failure| describe(failure, t)).unwrap_or_default();
        (status_text(status).into(), n, meaning)
    });
    // A failure with a status is counted in the row of the status.
    let failures = failures_of(t).filter(|failure| failure.status().is_none());
    let failures = failures
        .map(|failure| (failure.row().name.clone(), t.failed_by(failure), describe(failure, t)));
    let all = t.attempted();
    let rows = statuses.chain(failures).map(|(outcome, n, meaning)| OutcomeRow {
        outcome,
        count: count(n),
        share: share(n, all),
        meaning,
    });
    rows.collect()
}

/// Returns the kinds of failures that occurred.
fn failures_of(t: &Tally) -> impl Iterator<Item = Failure> {
    Failure::all().filter(|failure| t.failed_by(*failure) > 0)
}

/// Returns the outcomes of a run without replies if they add to [`why_nothing`].
pub fn of_several(report: &RunReport) -> ReportSection {
    let run = report.run;
    let kinds = failures_of(&run.total).count();
    // Without an error of the run, `why_nothing` already describes the only kind of failure.
    let is_explained = run.finish.as_ref().is_none_or(|f| f.error.is_none());
    if kinds < 2 && is_explained { ReportSection::new() } else { section(report) }
}

fn explained(failure: Failure, t: &Tally) -> Text {
    // Shares of this table would otherwise seem to exceed 100 %.
    let among = if failure == Failure::Check { " (these are among the completed)" } else { "" };
    format!("{}{among}{}{}", meaning(failure, t), remedy(failure, t), times_of_failure(failure, t))
        .into()
}

/// Returns the meaning of a failure. For a protocol error these are the causes, with their counts.
pub fn meaning(failure: Failure, t: &Tally) -> Text {
    let causes = t.malformed.iter().filter(|(cause, _)| cause.failure() == failure);
    let causes =
        causes.map(|(cause, n)| message!("failure-cause", count = count(*n), cause = cause.text()));
    let causes: Vec<Text> = causes.collect();
    if causes.is_empty() {
        failure.row().meaning.clone()
    } else {
        text!("words", words = Value::Words(causes))
    }
}

/// Returns the usual remedy. A reply that begins as HTTP came from the right port, so the usual
/// remedy for protocol errors, a check of the port, does not apply.
fn remedy(failure: Failure, t: &Tally) -> String {
    let other_protocol =
        t.malformed.is_empty() || t.malformed.iter().any(|(cause, _)| cause.is_other_protocol());
    let applies = failure != Failure::Protocol || other_protocol;
    if applies {
        format!("; {}", failure.row().remedy)
    } else {
        "; look at a reply with curl".to_owned()
    }
}

/// Returns the time until the failure: median and maximum.
fn times_of_failure(failure: Failure, t: &Tally) -> String {
    let times = t.failure_times.iter().find(|f| f.0 == failure).map(|f| &f.1);
    match times {
        Some(h) if !h.is_empty() => {
            format!(" (after {} p50, {} max)", time(h.quantile(0.5)), time(h.max()))
        }
        _ => String::new(),
    }
}

/// Describes how connections were opened and used.
pub fn connections(run: &Run) -> String {
    let all = &run.flow_all;
    let measured = &run.flow;
    let mut text = format!("{} opened", count(all.opened));
    // Connections that open during the measured time add handshakes to the response times.
    if measured.opened != all.opened && measured.opened > 0 {
        text += &format!(" ({} in the measured time)", count(measured.opened));
    }
    text += &format!(", {} on a used one", plural(all.reused, "request"));
    text += &format!(", at most {} open at once", count(run.peak.connections));
    if all.closed_idle > 0 {
        text += &format!(", {} closed by the server while idle", count(all.closed_idle));
    }
    if all.unsolicited > 0 {
        text += &format!(", {} closed because of unsolicited bytes", count(all.unsolicited));
    }
    if all.packets_sent > 0 {
        let lost = count(all.packets_lost);
        let sent = count(all.packets_sent);
        text += &format!(", {lost} of {sent} QUIC packets lost");
        if all.packets_received > 0 {
            let lost = all.server_packets_lost;
            let sent = all.packets_received + all.server_packets_lost;
            text += &format!(", {} of the server's {} lost or skipped", count(lost), count(sent));
        }
        // `checked_div`: a connection without acknowledgments has no round trip.
        if let Some(nanos) = all.rtt_nanos.checked_div(all.rtts) {
            text += &format!(", round trip {} as QUIC estimates it", time(nanos));
        }
    }
    if let Some(mean) = all.quic_retry_nanos.checked_div(all.quic_retries) {
        text += &format!(
            ", Retry on {}, {} after the first packet on average",
            count(all.quic_retries),
            time(mean)
        );
    }
    if all.early_accepted + all.early_refused > 0 {
        let accepted = count(all.early_accepted);
        let refused = count(all.early_refused);
        text += &format!(", 0-RTT accepted on {accepted} and refused on {refused}");
    }
    if let Some(mean) = all.stalled_nanos.checked_div(all.stalled) {
        let requests = plural(all.stalled, "request");
        text += &format!(
            ", {requests} held back by the server's flow-control window, {} each on average",
            time(mean)
        );
    }
    if all.pushes > 0 {
        text += &format!(", {} that no request awaited", plural(all.pushes, "WebSocket message"));
    }
    if all.grpc_sent > 0 {
        text += &format!(
            ", {} sent and {} received",
            plural(all.grpc_sent, "gRPC message"),
            count(all.grpc_received)
        );
    }
    if all.hello_retries > 0 {
        let handshakes = plural(all.hello_retries, "TLS handshake");
        text += &format!(", {handshakes} with a further round trip (HelloRetryRequest)");
    }
    text
}

/// Returns the reason why the run has no figures.
pub fn why_nothing(run: &Run) -> String {
    if let Some(error) = run.finish.as_ref().and_then(|f| f.error.as_deref()) {
        return error.trim_end_matches('.').to_owned();
    }
    let t = &run.total;
    let tried = t.attempted();
    // Of equal counts `max_by_key` returns the last, so the order is reversed.
    match Failure::all().max_by_key(|f| (t.failed_by(*f), std::cmp::Reverse(*f))) {
        Some(worst) if t.failed_by(worst) > 0 => {
            let n = t.failed_by(worst);
            let name = &worst.row().name;
            let portion = if n == tried { "all".into() } else { format!("{} of", count(n)) };
            let requests = plural(tried, "request");
            format!(
                "{portion} {requests} ended as '{name}': {}{}",
                meaning(worst, t),
                remedy(worst, t)
            )
        }
        _ if tried > 0 => "no request was over when the run ended".into(),
        _ => "no request was begun in the measured time".into(),
    }
}
