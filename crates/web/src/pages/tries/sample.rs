//! A sample of a try: result, variables, extractors and checks, request and reply without body.

use crate::layout::{scrolled_lines, scrolled_table};
use crate::texts::{ELEMENT, Viewer, message};
use brunt_model::SampleRecord;
use brunt_model::Text;
use brunt_model::numbers::{bytes, time};
use brunt_model::record::{EvaluationKind, SampleTrace, TracedEvaluation, VariableChange};
use brunt_runner::trace::TracedSample;
use maud::{Markup, html};

/// Returns all of a sample but its bodies.
pub fn html(sample: &TracedSample, viewer: &Viewer) -> Markup {
    let record = &sample.record;
    let Some(trace) = &record.trace else { return html! {} };
    html! {
        @if sample.number > 0 { (result(record, trace, viewer)) }
        @for note in trace.notes.iter().chain(&trace.error_details) { p class="problem" { (note) } }
        (changes("sample-variables-before", &trace.changed_before, viewer))
        (evaluations(&trace.evaluations, viewer))
        (changes("sample-variables-after", &trace.changed, viewer))
        @for challenged in &trace.challenged { (exchange(challenged, &viewer.text("sample-challenged"), viewer)) }
        @for (index, part) in parts(record).iter().enumerate() {
            @let title = if record.sub_results.is_empty() { String::new() } else { viewer.format(&message!("sample-part", number = index + 1, count = record.sub_results.len())) };
            (exchange(part, &title, viewer))
        }
    }
}

fn result(record: &SampleRecord, trace: &SampleTrace, viewer: &Viewer) -> Markup {
    let failure = trace.failure.as_ref().or(record.failure_message.as_ref());
    let outcome = if record.success { "sample-good" } else { "sample-failed" };
    let status = format!("{} {}", record.code, record.message);
    let status = message!("sample-result", outcome = viewer.text(outcome), status);
    html! {
        h2 { (record.label) }
        p class=(if record.success { "met" } else { "problem" }) {
            (viewer.format(&status))
            @if let Some(failure) = failure { " – " (failure) }
        }
        p class="hint" {
            (viewer.with_element(&summary(record, trace, viewer), &html! { code { (record.url.as_deref().unwrap_or_default()) } }))
        }
    }
}

/// Times, sizes, user and address of a sample.
fn summary(record: &SampleRecord, trace: &SampleTrace, viewer: &Viewer) -> Text {
    let opening = trace.opening_micros.map(|micros| time(micros * 1000));
    let first_byte = trace.first_byte_micros.map(|micros| time(micros * 1000));
    let facts = [
        Some(time(trace.micros * 1000).into()),
        Some(message!("sample-received", size = bytes(record.bytes as f64))),
        Some(message!("sample-sent", size = bytes(record.sent_bytes as f64))),
        opening.map(|time| message!("sample-opening", time)),
        first_byte.map(|time| message!("sample-first-byte", time)),
    ];
    let facts = facts.into_iter().flatten().map(|fact| viewer.format(&fact));
    let facts = facts.collect::<Vec<_>>().join(&viewer.text("clause-separator"));
    let user = trace.user + 1;
    let iteration = trace.iteration + 1;
    if record.url.is_some() {
        message!("sample-summary-with-url", facts, user, iteration, url = ELEMENT)
    } else {
        message!("sample-summary", facts, user, iteration)
    }
}

fn changes(title: &'static str, changes: &[VariableChange], viewer: &Viewer) -> Markup {
    html! {
        @if !changes.is_empty() {
            h3 { (viewer.text(title)) }
            (scrolled_table(&viewer.text(title), &html! {
                thead { tr { @for title in ["sample-variable", "sample-before", "sample-after"] { th { (viewer.text(title)) } } } }
                tbody { @for change in changes {
                    tr { td { (change.name) } td { (value(change.from.as_deref())) } td { (value(change.to.as_deref())) } }
                } }
            }))
        }
    }
}

fn value(value: Option<&str>) -> Markup {
    html! { @match value { Some(value) => code { (value) }, None => "–" } }
}

/// Messages with the titles of the columns.
const COLUMNS: [&str; 5] =
    ["sample-kind", "sample-name", "sample-expected", "sample-found", "sample-outcome"];

fn evaluations(evaluations: &[TracedEvaluation], viewer: &Viewer) -> Markup {
    html! {
        @if !evaluations.is_empty() {
            h3 { (viewer.text("sample-evaluations")) }
            (scrolled_table(&viewer.text("sample-evaluations"), &html! {
                thead { tr { @for title in COLUMNS { th { (viewer.text(title)) } } } }
                tbody { @for evaluation in evaluations {
                    tr class=(if evaluation.is_good { "good" } else { "bad" }) {
                        td { (viewer.text(kind(evaluation.by))) }
                        td { (evaluation.name) }
                        td { code { (evaluation.wanted) } }
                        td { code { (evaluation.found) } }
                        td { (viewer.text(outcome(evaluation))) }
                    }
                } }
            }))
        }
    }
}

/// Message with the name of a kind.
fn kind(kind: EvaluationKind) -> &'static str {
    match kind {
        EvaluationKind::Extractor => "sample-extractor",
        EvaluationKind::Check => "sample-check",
        EvaluationKind::Script => "sample-script",
    }
}

/// Message with the result of an extractor, check or script.
fn outcome(evaluation: &TracedEvaluation) -> &'static str {
    match (evaluation.by, evaluation.is_good) {
        (EvaluationKind::Extractor, true) => "sample-matched",
        (EvaluationKind::Extractor, false) => "sample-no-match",
        (EvaluationKind::Check, true) => "sample-passed",
        (EvaluationKind::Check, false) => "sample-failed-check",
        (EvaluationKind::Script, true) => "sample-ended",
        (EvaluationKind::Script, false) => "sample-error",
    }
}

/// A request, and the head of its reply.
fn exchange(record: &SampleRecord, title: &str, viewer: &Viewer) -> Markup {
    let request = record.trace.as_ref().map_or("", |trace| trace.request.as_str());
    let headers = record.details.response_headers.as_deref().unwrap_or_default();
    html! {
        @if !title.is_empty() { h3 { (title) } }
        @if !request.is_empty() {
            (lines("sample-request", request, viewer))
        }
        @if !headers.is_empty() {
            (lines("sample-reply", headers, viewer))
        }
    }
}

/// Lines with a title.
fn lines(title: &'static str, lines: &str, viewer: &Viewer) -> Markup {
    let title = viewer.text(title);
    html! { details open { summary { (title) } (scrolled_lines(&title, lines)) } }
}

/// All samples of a record: itself, or its parts.
fn parts(record: &SampleRecord) -> &[SampleRecord] {
    if record.sub_results.is_empty() { std::slice::from_ref(record) } else { &record.sub_results }
}
