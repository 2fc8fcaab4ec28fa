//! Samples as result files list them ([`SampleRecord`]): composed of a request, its reply and its clocks.
//!
//! `recording` holds the records of a user until they are finished: transactions, pages and their elements.
//!
//! Out of scope: when a record is made; the interpreter knows.

pub mod recording;

use crate::replies::trace;
use crate::texts::context::UserContext;
use crate::texts::searched::{Searched, failures};
use brunt_model::plan::RecordDetail;
use brunt_model::{AssertionRecord, DataType, Failure, RecordDetails, Sample, SampleRecord, Tick};

pub use recording::Recording;

/// Bodies of these types are not text.
const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
/// Bodies of these are, all the same.
const TEXTS: [&str; 3] = ["image/svg+xml", "audio/x-mpegurl", "video/f4m"];
/// The encoding of a body that states none.
const ENCODING: &str = "UTF-8";

/// The record of a request and its reply, by these clocks of it: success as the outcome of its sample says.
pub fn of_request(searched: &Searched<'_>, sample: &Sample) -> SampleRecord {
    let surroundings = &searched.user.worker.surroundings;
    let at = |tick: Tick| surroundings.unix_millis_at(tick);
    let (start, end) = (at(sample.begun), at(sample.last_byte));
    let came = sample.first_byte != Tick::ZERO;
    let kind = searched.field("content-type");
    SampleRecord {
        start_unix_millis: start,
        elapsed_millis: end.saturating_sub(start),
        latency_millis: if came { at(sample.first_byte).saturating_sub(start) } else { 0 },
        connect_millis: connect_millis(searched, sample, end - start),
        data_type: data_type(searched, kind),
        encoding: encoding(kind),
        bytes: sample.bytes_received,
        // JMeter knows of none where its client throws an exception.
        sent_bytes: if searched.reply.is_some() { sample.bytes_sent } else { 0 },
        url: Some(searched.request.url().to_owned()),
        is_http: true,
        details: details(searched),
        success: sample.outcome.is_good(),
        error_count: u32::from(!sample.outcome.is_good()),
        trace: trace::of_exchange(searched, sample),
        ..of_user(searched)
    }
}

/// The values of the variables that records have.
pub fn values(user: &UserContext) -> Vec<String> {
    let variables = user.variables.borrow();
    let names = user.worker.records.iter().flat_map(|records| &records.variables);
    names.map(|name| variables.get(name).unwrap_or("null").to_owned()).collect()
}

/// What the records of all samples have: texts of the sample, and what is known of its user.
pub fn of_user(searched: &Searched<'_>) -> SampleRecord {
    let user = searched.user;
    let (group, all) = user.worker.surroundings.users_there();
    SampleRecord {
        label: searched.label(),
        code: searched.status(),
        message: searched.message().into_owned(),
        thread_name: user.worker.thread_name(user.number),
        group_threads: group.max(1) as u32,
        all_threads: all.max(1) as u32,
        variables: values(user),
        encoding: ENCODING.into(),
        sample_count: 1,
        ..SampleRecord::default()
    }
}

/// The record of all of a chain of redirects: of its last request, and of those before. Their labels are numbered.
pub fn of_chain(whole: SampleRecord, last: impl FnOnce() -> SampleRecord, hops: Vec<SampleRecord>) -> SampleRecord {
    let Some(first) = hops.first() else { return whole };
    let mut whole =
        SampleRecord { latency_millis: first.latency_millis, connect_millis: first.connect_millis, ..whole };
    whole.sub_results = hops;
    whole.sub_results.push(last());
    // JMeter writes them when extractors have looked at the whole.
    for hop in &mut whole.sub_results {
        hop.variables.clone_from(&whole.variables);
    }
    number_labels(&mut whole);
    whole
}

/// Each request of a chain of redirects, with its texts, as scripts see them.
pub fn hops(searched: &Searched<'_>, last: &Sample, before: &[SampleRecord]) -> Vec<SampleRecord> {
    let last = SampleRecord { details: all_details(searched), ..of_request(searched, last) };
    let mut all: Vec<SampleRecord> = before.iter().cloned().chain([last]).collect();
    for (number, hop) in all.iter_mut().enumerate() {
        hop.label = format!("{}-{number}", searched.label());
    }
    all
}

/// The record of a chain of redirects whose hops nobody sees: its bytes are those of the last.
pub fn of_last(whole: SampleRecord, last: &SampleRecord) -> SampleRecord {
    SampleRecord { bytes: last.bytes, sent_bytes: last.sent_bytes, ..whole }
}

/// Makes the record of a redirect that JMeter does not follow. Of a chain that is too long, the last sample within it says why.
pub fn refuse_redirect(record: &mut SampleRecord, code: &str, message: &str) {
    (record.code, record.message, record.data_type) = (code.into(), failures::told(message), DataType::Text);
    let Some(last) = record.sub_results.last().cloned() else {
        record.sent_bytes = 0;
        return;
    };
    record.bytes += last.bytes;
    record.sent_bytes += last.sent_bytes;
    let (code, message, data_type) = (record.code.clone(), record.message.clone(), DataType::Text);
    record.sub_results.push(SampleRecord { code, message, data_type, success: false, error_count: 1, ..last });
    number_labels(record);
}

/// The labels of samples within a sample are its own with their numbers behind it.
pub fn number_labels(whole: &mut SampleRecord) {
    for (number, sub) in whole.sub_results.iter_mut().enumerate() {
        sub.label = format!("{}-{number}", whole.label);
    }
}

/// What assertions, and scripts with the last word, say of a record.
pub fn judge(record: &mut SampleRecord, searched: &Searched<'_>, success: bool, assertions: Vec<AssertionRecord>) {
    let failed = assertions.iter().any(|one| one.failure || one.error);
    record.success = match searched.reply {
        Some(_) => success,
        None => searched.changes.success.unwrap_or(success) && !failed,
    };
    record.error_count = u32::from(!record.success);
    record.failure_message = assertions.iter().find_map(|one| one.message.clone());
    // Of a status the code says it all.
    let is_status = searched.sample.outcome.status.is_some_and(|status| status >= 400);
    let is_check = searched.sample.outcome.failure == Some(Failure::Check) && !is_status;
    if record.failure_message.is_none() && is_check {
        record.failure_message = Some(Failure::Check.row().name.into());
    }
    record.assertions = assertions;
    if let Some((start, end)) = searched.changes.times {
        record.start_unix_millis = start.try_into().unwrap_or(0);
        record.elapsed_millis = end.saturating_sub(start).try_into().unwrap_or(0);
    }
}

/// The time to open the connection. Where it could not be opened, that is all the time there was.
fn connect_millis(searched: &Searched<'_>, sample: &Sample, elapsed: u64) -> u64 {
    if failures::is_of_opening(sample.outcome.failure) && !sample.opened && !sample.reused {
        return elapsed;
    }
    let opening = sample.opening;
    let nanos: u64 = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum();
    let at = |tick| searched.user.worker.surroundings.unix_millis_at(tick);
    at(Tick(sample.begun.0 + nanos)).saturating_sub(at(sample.begun)).min(elapsed)
}

fn data_type(searched: &Searched<'_>, kind: Option<&str>) -> DataType {
    let begins = |kinds: &[&str], kind: &str| kinds.iter().any(|begin| kind.starts_with(begin));
    match (searched.reply, kind) {
        (Some(_), None) => DataType::None,
        (Some(_), Some(kind)) if begins(&BINARY, kind) && !begins(&TEXTS, kind) => DataType::Binary,
        (None, _) | (Some(_), Some(_)) => DataType::Text,
    }
}

/// The charset of a Content-Type.
fn encoding(kind: Option<&str>) -> String {
    let parameters = kind.into_iter().flat_map(|kind| kind.split(';').skip(1));
    let charset = parameters.filter_map(|parameter| parameter.split_once('=')).find_map(|(name, value)| {
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    charset.filter(|charset| !charset.is_empty()).unwrap_or(ENCODING).to_owned()
}

/// The texts of a sample for XML files, where they are wanted.
pub fn details(searched: &Searched<'_>) -> RecordDetails {
    if wants_details(searched.user) { all_details(searched) } else { RecordDetails::default() }
}

fn wants_details(user: &UserContext) -> bool {
    user.worker.records.as_ref().is_some_and(|records| records.detail == RecordDetail::Full)
}

/// Takes the texts away that were there for scripts alone.
pub fn keep_wanted_details(user: &UserContext, records: &mut [SampleRecord]) {
    if !wants_details(user) {
        for record in records {
            record.details = RecordDetails::default();
        }
    }
}

/// The texts of a sample.
pub fn all_details(searched: &Searched<'_>) -> RecordDetails {
    let headers = searched.request_headers();
    let is_cookie = |line: &&str| line.get(..7).is_some_and(|name| name.eq_ignore_ascii_case("cookie:"));
    let cookies: Vec<&str> = headers.lines().filter(is_cookie).map(|line| line[7..].trim()).collect();
    let lines = headers.lines().filter(|line| !is_cookie(line)).flat_map(|line| [line, "\n"]);
    RecordDetails {
        method: searched.request.parts().map(|parts| parts.method.clone()),
        query: Some(searched.request_body().into_owned()),
        cookies: Some(cookies.join("; ")),
        request_headers: Some(lines.collect()),
        response_headers: Some(searched.headers()),
        body: Some(searched.body().to_owned()),
        redirect_location: searched.reply.and_then(|reply| reply.kept.as_ref()?.location.clone()),
    }
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
        assert_eq!((whole.label.as_str(), whole.latency_millis, labels), ("a", 3, vec!["a-0", "a-1", "a-2"]));
    }
}
