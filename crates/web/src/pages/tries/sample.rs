//! A sample of a try: result, variables, extractors and checks, request and reply without body.

use brunt_model::SampleRecord;
use brunt_model::numbers::{bytes, time};
use brunt_model::record::{EvaluationKind, SampleTrace, TracedEvaluation, VariableChange};
use brunt_runner::trace::TracedSample;
use maud::{Markup, html};

/// Returns all of a sample but its bodies.
pub fn html(sample: &TracedSample) -> Markup {
    let record = &sample.record;
    let Some(trace) = &record.trace else { return html! {} };
    html! {
        @if sample.number > 0 { (result(record, trace)) }
        @for note in &trace.notes { p class="problem" { (note) } }
        (changes("Variables before the request", &trace.changed_before))
        (evaluations(&trace.evaluations))
        (changes("Variables after the reply", &trace.changed))
        @for challenged in &trace.challenged { (exchange(challenged, "challenged")) }
        @for (index, part) in parts(record).iter().enumerate() {
            @let title = if record.sub_results.is_empty() { String::new() } else { format!("part {} of {}", index + 1, record.sub_results.len()) };
            (exchange(part, &title))
        }
    }
}

fn result(record: &SampleRecord, trace: &SampleTrace) -> Markup {
    let failure = trace.failure.as_ref().or(record.failure_message.as_ref());
    html! {
        h2 { (record.label) }
        p class=(if record.success { "met" } else { "problem" }) {
            @if record.success { "good" } @else { "failed" }
            ": " (record.code) " " (record.message)
            @if let Some(failure) = failure { " – " (failure) }
        }
        p class="hint" {
            (time(trace.micros * 1000)) ", " (bytes(record.bytes as f64)) " received, "
            (bytes(record.sent_bytes as f64)) " sent"
            @if let Some(micros) = trace.opening_micros { ", connection opened in " (time(micros * 1000)) }
            @if let Some(micros) = trace.first_byte_micros { ", first byte after " (time(micros * 1000)) }
            "; user " (trace.user + 1) ", iteration " (trace.iteration + 1)
            @if let Some(url) = &record.url { "; " code { (url) } }
        }
    }
}

fn changes(title: &str, changes: &[VariableChange]) -> Markup {
    html! {
        @if !changes.is_empty() {
            h3 { (title) }
            div class="scroll" { table {
                thead { tr { th { "Variable" } th { "Before" } th { "After" } } }
                tbody { @for change in changes {
                    tr { td { (change.name) } td { (value(change.from.as_deref())) } td { (value(change.to.as_deref())) } }
                } }
            } }
        }
    }
}

fn value(value: Option<&str>) -> Markup {
    html! { @match value { Some(value) => code { (value) }, None => "–" } }
}

fn evaluations(evaluations: &[TracedEvaluation]) -> Markup {
    html! {
        @if !evaluations.is_empty() {
            h3 { "Extractors and checks" }
            div class="scroll" { table {
                thead { tr { th { "Kind" } th { "Name" } th { "Expected, or expression" } th { "Found" } th { "Result" } } }
                tbody { @for evaluation in evaluations {
                    tr class=(if evaluation.is_good { "good" } else { "bad" }) {
                        td { (kind(evaluation.by)) }
                        td { (evaluation.name) }
                        td { code { (evaluation.wanted) } }
                        td { code { (evaluation.found) } }
                        td { (outcome(evaluation)) }
                    }
                } }
            } }
        }
    }
}

fn kind(kind: EvaluationKind) -> &'static str {
    match kind {
        EvaluationKind::Extractor => "extractor",
        EvaluationKind::Check => "check",
        EvaluationKind::Script => "script",
    }
}

fn outcome(evaluation: &TracedEvaluation) -> &'static str {
    match (evaluation.by, evaluation.is_good) {
        (EvaluationKind::Extractor, true) => "matched",
        (EvaluationKind::Extractor, false) => "no match",
        (EvaluationKind::Check, true) => "passed",
        (EvaluationKind::Check, false) => "failed",
        (EvaluationKind::Script, true) => "ended",
        (EvaluationKind::Script, false) => "error",
    }
}

/// A request, and the head of its reply.
fn exchange(record: &SampleRecord, title: &str) -> Markup {
    let request = record.trace.as_ref().map_or("", |trace| trace.request.as_str());
    let headers = record.details.response_headers.as_deref().unwrap_or_default();
    html! {
        @if !title.is_empty() { h3 { (title) } }
        @if !request.is_empty() {
            details open { summary { "Request" } pre { (request) } }
        }
        @if !headers.is_empty() {
            details open { summary { "Status and headers of the reply" } pre { (headers) } }
        }
    }
}

/// All samples of a record: itself, or its parts.
fn parts(record: &SampleRecord) -> &[SampleRecord] {
    if record.sub_results.is_empty() { std::slice::from_ref(record) } else { &record.sub_results }
}
