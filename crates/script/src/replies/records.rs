//! Creates samples as result files contain them ([`SampleRecord`]), from a request, its
//! reply and its clocks.
//!
//! `recording` stores the records of a user until they are complete: transactions,
//! pages and their elements.
//!
//! Out of scope: the instant at which a record is made. The interpreter decides.

pub mod recording;

use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::reply_view::{ReplyView, failures};
use brunt_model::plan::RecordDetail;
use brunt_model::{AssertionRecord, DataType, Failure, RecordDetails, Sample, SampleRecord, Tick};

pub use recording::Recording;

/// Content types without text bodies.
const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
/// Content types with text bodies, although they begin like one in `BINARY`.
const TEXTS: [&str; 3] = ["image/svg+xml", "audio/x-mpegurl", "video/f4m"];
/// Encoding of a body without a charset.
const ENCODING: &str = "UTF-8";

/// Creates the record of a request and its reply, with the clocks and the success of `sample`.
pub fn of_request(reply_view: &ReplyView<'_>, sample: &Sample) -> SampleRecord {
    let run_state = &reply_view.user.worker.run_state;
    let start = run_state.unix_millis_at(sample.begun);
    let end = run_state.unix_millis_at(sample.last_byte);
    let has_first_byte = sample.first_byte != Tick::ZERO;
    let first_byte = run_state.unix_millis_at(sample.first_byte);
    let kind = reply_view.field("content-type");
    SampleRecord {
        start_unix_millis: start,
        elapsed_millis: end.saturating_sub(start),
        latency_millis: if has_first_byte { first_byte.saturating_sub(start) } else { 0 },
        connect_millis: connect_millis(reply_view, sample, end - start),
        data_type: data_type(reply_view, kind),
        encoding: encoding(kind),
        bytes: sample.bytes_received,
        // JMeter reports none if its client throws an exception.
        sent_bytes: if reply_view.reply.is_some() { sample.bytes_sent } else { 0 },
        url: Some(reply_view.request.url().to_owned()),
        is_http: true,
        details: details(reply_view),
        success: sample.outcome.is_good(),
        error_count: u32::from(!sample.outcome.is_good()),
        trace: trace::of_exchange(reply_view, sample),
        ..of_user(reply_view)
    }
}

/// Returns the values of the variables that records contain.
pub fn values(user: &UserContext) -> Vec<String> {
    let variables = user.variables.borrow();
    let names = user.worker.records.iter().flat_map(|records| &records.variables);
    names.map(|name| variables.get(name).unwrap_or("null").to_owned()).collect()
}

/// Creates the common part of all records: texts of the sample, and data of its user.
pub fn of_user(reply_view: &ReplyView<'_>) -> SampleRecord {
    let user = reply_view.user;
    let (group, all) = user.worker.run_state.active_users();
    SampleRecord {
        label: reply_view.label(),
        code: reply_view.status(),
        message: reply_view.message().into_owned(),
        thread_name: user.worker.thread_name(user.number),
        group_threads: group.max(1) as u32,
        all_threads: all.max(1) as u32,
        variables: values(user),
        encoding: ENCODING.into(),
        sample_count: 1,
        ..SampleRecord::default()
    }
}

/// Creates the record of a redirect chain, from its last request and those before.
/// Their labels are numbered.
pub fn of_chain(
    whole: SampleRecord,
    last: impl FnOnce() -> SampleRecord,
    hops: Vec<SampleRecord>,
) -> SampleRecord {
    let Some(first) = hops.first() else { return whole };
    let mut whole = SampleRecord {
        latency_millis: first.latency_millis,
        connect_millis: first.connect_millis,
        ..whole
    };
    whole.sub_results = hops;
    whole.sub_results.push(last());
    // JMeter sets these variables after the extractors have run for the whole chain.
    for hop in &mut whole.sub_results {
        hop.variables.clone_from(&whole.variables);
    }
    number_labels(&mut whole);
    whole
}

/// Returns each request of a redirect chain with its texts, for scripts.
pub fn hops(
    reply_view: &ReplyView<'_>,
    last: &Sample,
    before: &[SampleRecord],
) -> Vec<SampleRecord> {
    let last = SampleRecord { details: all_details(reply_view), ..of_request(reply_view, last) };
    let mut all: Vec<SampleRecord> = before.iter().cloned().chain([last]).collect();
    for (number, hop) in all.iter_mut().enumerate() {
        hop.label = format!("{}-{number}", reply_view.label());
    }
    all
}

/// Creates the record of a redirect chain without its hops: its bytes are those of the last one.
pub fn of_last(whole: SampleRecord, last: &SampleRecord) -> SampleRecord {
    SampleRecord { bytes: last.bytes, sent_bytes: last.sent_bytes, ..whole }
}

/// Completes the record of a redirect that JMeter does not follow. In a chain that is too long, the
/// last inner sample has the reason.
pub fn refuse_redirect(record: &mut SampleRecord, code: &str, message: &str) {
    record.code = code.into();
    record.message = failures::client_message(message);
    record.data_type = DataType::Text;
    let Some(last) = record.sub_results.last().cloned() else {
        record.sent_bytes = 0;
        return;
    };
    record.bytes += last.bytes;
    record.sent_bytes += last.sent_bytes;
    record.sub_results.push(SampleRecord {
        code: record.code.clone(),
        message: record.message.clone(),
        data_type: DataType::Text,
        success: false,
        error_count: 1,
        ..last
    });
    number_labels(record);
}

/// Sets the labels of inner samples: the label of the whole sample, and their numbers.
pub fn number_labels(whole: &mut SampleRecord) {
    for (number, sub) in whole.sub_results.iter_mut().enumerate() {
        sub.label = format!("{}-{number}", whole.label);
    }
}

/// Sets the success of a record, and its assertions. The result of scripts takes precedence.
pub fn judge(
    record: &mut SampleRecord,
    reply_view: &ReplyView<'_>,
    success: bool,
    assertions: Vec<AssertionRecord>,
) {
    let failed = assertions.iter().any(|one| one.failure || one.error);
    record.success = match reply_view.reply {
        Some(_) => success,
        None => reply_view.changes.success.unwrap_or(success) && !failed,
    };
    record.error_count = u32::from(!record.success);
    // A deadline has made the checks of its reply void.
    let is_deadline = reply_view.reply.is_some() && !reply_view.is_completed();
    let message = assertions.iter().find_map(|one| one.message.clone());
    record.failure_message = message.filter(|_| !is_deadline);
    // For a bad status, the code is sufficient.
    let is_status = reply_view.sample.outcome.status.is_some_and(|status| status >= 400);
    let is_check = reply_view.sample.outcome.failure == Some(Failure::Check) && !is_status;
    if record.failure_message.is_none() && is_check {
        record.failure_message = Some(Failure::Check.row().name.to_string());
    }
    record.assertions = assertions;
    if let Some((start, end)) = reply_view.changes.times {
        record.start_unix_millis = start.try_into().unwrap_or(0);
        record.elapsed_millis = end.saturating_sub(start).try_into().unwrap_or(0);
    }
}

/// Returns the time to open the connection. If that failed, it is the whole time.
fn connect_millis(reply_view: &ReplyView<'_>, sample: &Sample, elapsed: u64) -> u64 {
    if failures::is_connection_failure(sample.outcome.failure) && !sample.opened && !sample.reused {
        return elapsed;
    }
    let opening = sample.opening;
    let nanos: u64 = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum();
    let run_state = &reply_view.user.worker.run_state;
    let opened = run_state.unix_millis_at(Tick(sample.begun.0 + nanos));
    opened.saturating_sub(run_state.unix_millis_at(sample.begun)).min(elapsed)
}

fn data_type(reply_view: &ReplyView<'_>, kind: Option<&str>) -> DataType {
    match (reply_view.reply, kind) {
        (Some(_), None) => DataType::None,
        (Some(_), Some(kind))
            if begins_with_any(kind, &BINARY) && !begins_with_any(kind, &TEXTS) =>
        {
            DataType::Binary
        }
        (None, _) | (Some(_), Some(_)) => DataType::Text,
    }
}

fn begins_with_any(kind: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| kind.starts_with(prefix))
}

/// Returns the charset of a Content-Type.
fn encoding(kind: Option<&str>) -> String {
    let parameters = kind.into_iter().flat_map(|kind| kind.split(';').skip(1));
    let charset =
        parameters.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches(['"', '\'']))
        });
    charset.filter(|charset| !charset.is_empty()).unwrap_or(ENCODING).to_owned()
}

/// Returns the texts of a sample for XML files, if the plan requests them.
pub fn details(reply_view: &ReplyView<'_>) -> RecordDetails {
    if wants_details(reply_view.user) { all_details(reply_view) } else { RecordDetails::default() }
}

fn wants_details(user: &UserContext) -> bool {
    user.worker.records.as_ref().is_some_and(|records| records.detail == RecordDetail::Full)
}

/// Removes the texts that only scripts needed.
pub fn keep_wanted_details(user: &UserContext, records: &mut [SampleRecord]) {
    if !wants_details(user) {
        for record in records {
            record.details = RecordDetails::default();
        }
    }
}

/// Returns the texts of a sample.
pub fn all_details(reply_view: &ReplyView<'_>) -> RecordDetails {
    let headers = reply_view.request_headers();
    let cookies: Vec<&str> =
        headers.lines().filter(|line| is_cookie(line)).map(|line| line[7..].trim()).collect();
    let lines = headers.lines().filter(|line| !is_cookie(line)).flat_map(|line| [line, "\n"]);
    RecordDetails {
        method: reply_view.request.parts().map(|parts| parts.method.clone()),
        query: Some(reply_view.request_body().into_owned()),
        cookies: Some(cookies.join("; ")),
        request_headers: Some(lines.collect()),
        response_headers: Some(reply_view.headers()),
        body: Some(reply_view.body().to_owned()),
        redirect_location: reply_view
            .reply
            .and_then(|reply| reply.details.as_ref()?.location.clone()),
    }
}

fn is_cookie(line: &str) -> bool {
    line.get(..7).is_some_and(|name| name.eq_ignore_ascii_case("cookie:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_that_of_the_content_type() {
        let all = [
            (None, "UTF-8"),
            (Some("text/html"), "UTF-8"),
            (Some("text/html; charset=ISO-8859-1"), "ISO-8859-1"),
            (Some("text/html;boundary=x; Charset=\"utf-16\""), "utf-16"),
        ];
        for (kind, expected) in all {
            assert_eq!(encoding(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn labels_of_samples_within_a_sample_are_numbered() {
        let named = |label: &str, latency_millis| SampleRecord {
            label: label.into(),
            latency_millis,
            ..SampleRecord::default()
        };
        assert_eq!(of_chain(named("a", 9), || named("a", 4), Vec::new()), named("a", 9));
        let whole = of_chain(named("a", 9), || named("a", 4), vec![named("a", 3), named("a", 5)]);
        let labels: Vec<&str> = whole.sub_results.iter().map(|sub| sub.label.as_str()).collect();
        assert_eq!(
            (whole.label.as_str(), whole.latency_millis, labels),
            ("a", 3, vec!["a-0", "a-1", "a-2"])
        );
    }
}
