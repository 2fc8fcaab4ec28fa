//! What became of the requests: statuses, failures with what helps, connections; and why nothing could be measured.

use super::{Report, Section};
use crate::outline::block::{Block, OutcomeRow};
use crate::view::Detail;
use brunt_model::numbers::{count, plural, share, time};
use brunt_model::outcome::{Malformed, status_text};
use brunt_model::{Failure, Run, Tally};

/// Statuses and failures, with counts and shares. Brief reports have them only if not all replies were good, and
/// without remedies.
pub fn section(report: &Report) -> Section {
    let t = &report.run.total;
    let brief = report.detail == Detail::Brief;
    if t.attempted() == 0 || (brief && t.errors() == 0 && t.statuses.sorted().len() < 2) {
        return Section::new();
    }
    vec![Block::Heading("Outcomes".into()), Block::Outcomes(rows(t, if brief { meaning } else { explained }))]
}

/// A row for each status and each failure that occurred. `said` returns the meaning of a failure.
pub fn rows(t: &Tally, said: fn(Failure, &Tally) -> String) -> Vec<OutcomeRow> {
    let statuses = t.statuses.sorted().into_iter().map(|(status, n)| (status_text(status), n, String::new()));
    let failures = Failure::all().filter(|failure| t.failed_by(*failure) > 0);
    let failures = failures.map(|failure| (failure.to_string(), t.failed_by(failure), said(failure, t)));
    let all = t.attempted();
    let rows = statuses.chain(failures).map(|(outcome, n, meaning)| OutcomeRow {
        outcome,
        count: count(n),
        share: share(n, all),
        meaning,
    });
    rows.collect()
}

/// The same, where it says more than [`why_nothing`].
pub fn of_several(report: &Report) -> Section {
    let run = report.run;
    let kinds = Failure::all().filter(|f| run.total.failed_by(*f) > 0).count();
    let told = run.finish.as_ref().is_none_or(|f| f.error.is_none());
    if kinds < 2 && told { Section::new() } else { section(report) }
}

fn explained(failure: Failure, t: &Tally) -> String {
    let among = if failure == Failure::Check { " (these are among the completed)" } else { "" };
    format!("{}{among}{}{}", meaning(failure, t), remedy(failure, t), known_after(failure, t))
}

/// What a kind of failure means; for a protocol error the causes, with their counts.
pub fn meaning(failure: Failure, t: &Tally) -> String {
    let causes = t.malformed.iter().filter(|(cause, _)| cause.failure() == failure);
    let causes: Vec<String> = causes.map(|(cause, n)| format!("{} × {cause}", count(*n))).collect();
    if causes.is_empty() { failure.row().meaning.to_owned() } else { causes.join(", ") }
}

/// What usually helps. Bytes that begin as a reply does come from the right port.
fn remedy(failure: Failure, t: &Tally) -> String {
    let other_protocol = t.malformed.is_empty()
        || t.malformed
            .iter()
            .any(|(cause, _)| matches!(cause, Malformed::StatusLine | Malformed::Http1Reply | Malformed::Preface));
    let helps = failure != Failure::Protocol || other_protocol;
    if helps { format!("; {}", failure.row().remedy) } else { "; look at a reply with curl".to_owned() }
}

fn known_after(failure: Failure, t: &Tally) -> String {
    let times = t.failure_times.iter().find(|f| f.0 == failure).map(|f| &f.1);
    match times {
        Some(h) if !h.is_empty() => format!(" (after {} p50, {} max)", time(h.quantile(0.5)), time(h.max())),
        _ => String::new(),
    }
}

/// How connections were made and used.
pub fn connections(run: &Run) -> String {
    let (all, measured) = (&run.flow_all, &run.flow);
    let mut text = format!("{} opened", count(all.opened));
    if measured.opened != all.opened && measured.opened > 0 {
        text += &format!(" ({} in the measured time)", count(measured.opened));
    }
    text += &format!(", {} on a used one", plural(all.reused, "request"));
    text += &format!(", at most {} open at once", count(run.peak.connections));
    if all.closed_idle > 0 {
        text += &format!(", {} closed by the server while idle", count(all.closed_idle));
    }
    if all.unsolicited > 0 {
        text += &format!(", {} given up because unsolicited bytes came", count(all.unsolicited));
    }
    if all.packets_sent > 0 {
        let (lost, sent) = (count(all.packets_lost), count(all.packets_sent));
        text += &format!(", {lost} of {sent} QUIC packets lost");
        if all.packets_received > 0 {
            let (lost, sent) = (all.server_packets_lost, all.packets_received + all.server_packets_lost);
            text += &format!(", {} of the server's {} lost or skipped", count(lost), count(sent));
        }
        if let Some(nanos) = all.rtt_nanos.checked_div(all.rtts) {
            text += &format!(", round trip {} as QUIC estimates it", time(nanos));
        }
    }
    if let Some(mean) = all.quic_retry_nanos.checked_div(all.quic_retries) {
        text += &format!(", Retry on {}, {} after the first packet on average", count(all.quic_retries), time(mean));
    }
    if all.early_accepted + all.early_refused > 0 {
        let (accepted, refused) = (count(all.early_accepted), count(all.early_refused));
        text += &format!(", 0-RTT accepted on {accepted} and refused on {refused}");
    }
    if let Some(mean) = all.stalled_nanos.checked_div(all.stalled) {
        let held = plural(all.stalled, "request");
        text += &format!(", {held} held back by the server's flow-control window, {} each on average", time(mean));
    }
    if all.pushes > 0 {
        text += &format!(", {} that no request awaited", plural(all.pushes, "WebSocket message"));
    }
    if all.hello_retries > 0 {
        let handshakes = plural(all.hello_retries, "TLS handshake");
        text += &format!(", {handshakes} with a further round trip (HelloRetryRequest)");
    }
    text
}

/// Why there is no figure.
pub fn why_nothing(run: &Run) -> String {
    if let Some(error) = run.finish.as_ref().and_then(|f| f.error.as_deref()) {
        return error.trim_end_matches('.').to_owned();
    }
    let t = &run.total;
    let tried = t.attempted();
    match Failure::all().max_by_key(|f| (t.failed_by(*f), std::cmp::Reverse(*f))) {
        Some(worst) if t.failed_by(worst) > 0 => {
            let (n, name) = (t.failed_by(worst), worst.row().name);
            let of = if n == tried { "all".into() } else { format!("{} of", count(n)) };
            let requests = plural(tried, "request");
            format!("{of} {requests} ended as '{name}': {}{}", meaning(worst, t), remedy(worst, t))
        }
        _ if tried > 0 => "no request was over when the run ended".into(),
        _ => "no request was begun in the measured time".into(),
    }
}
