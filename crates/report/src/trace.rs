//! Writes the trace of a user: each sample with its full request and reply, the changed variables,
//! and the values that extractors and checks used.
//!
//! Texts of servers are shown unchanged, except for control characters, which could move a
//! terminal's cursor. Secrets are redacted before.

use crate::layout::{clean, pad, width};
use crate::view::{Emphasis, View};
use brunt_model::SampleRecord;
use brunt_model::numbers;
use brunt_model::outcome::status_text;
use brunt_model::plan::MAIN;
use brunt_model::record::{
    EvaluationKind, SampleTrace, TracedEvaluation, VariableChange, hexadecimal, is_no_text,
    message_text,
};
use std::path::PathBuf;

/// Width of the keys, in columns.
const KEY_WIDTH: usize = 11;

/// Returns the lines of a sample; empty if it has no trace. `number` counts the samples of the run
/// from 1. `files` contain its bodies.
pub fn sample(view: &View, number: u64, record: &SampleRecord, files: &[PathBuf]) -> String {
    let Some(trace) = &record.trace else { return String::new() };
    let mut lines = Lines { view, text: String::new() };
    if record.sample_count == 0 {
        lines.title("end of the iteration", trace);
    } else {
        lines.title(&format!("{number}. {}", clean(&record.label)), trace);
    }
    lines.before(trace);
    for challenged in &trace.challenged {
        lines.exchange(challenged);
    }
    if record.sub_results.is_empty() {
        lines.exchange(record);
    }
    for (index, part_record) in record.sub_results.iter().enumerate() {
        lines.entry("part", &format!("{} of {}", index + 1, record.sub_results.len()), None);
        lines.exchange(part_record);
    }
    for file in files {
        lines.entry("body", &format!("written to {}", file.display()), None);
    }
    trace.evaluations.iter().for_each(|look| lines.look(look));
    trace.changed.iter().for_each(|change| lines.change(change));
    if record.sample_count > 0 {
        lines.result(record, trace);
    }
    lines.text + "\n"
}

/// Returns the line at the end of a transaction.
pub fn transaction(view: &View, record: &SampleRecord) -> String {
    let mut lines = Lines { view, text: String::new() };
    let emphasis = if record.success { Emphasis::Good } else { Emphasis::Bad };
    let millis = numbers::time(record.elapsed_millis * 1_000_000);
    lines.line(
        &view.paint(emphasis, &format!("── end of transaction {}: {millis}", clean(&record.label))),
    );
    lines.text + "\n"
}

struct Lines<'a> {
    view: &'a View,
    text: String,
}

impl Lines<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn title(&mut self, name: &str, trace: &SampleTrace) {
        let population = if trace.population == MAIN { "" } else { &trace.population };
        let user = format!(
            " {} user {}, iteration {}",
            clean(population),
            trace.user + 1,
            trace.iteration + 1
        );
        // Without a name of a population, two spaces would be left.
        let user = user.replacen("  ", " ", 1);
        let head = format!("── {name} ");
        let room = self.view.columns.saturating_sub(width(&head) + width(&user));
        let line = format!("{head}{}{user}", "─".repeat(room));
        self.line(&self.view.paint(Emphasis::Strong, &line));
    }

    /// Adds a named fact. Long texts are not wrapped, because they are often copied.
    fn entry(&mut self, key: &str, text: &str, emphasis: Option<Emphasis>) {
        let text = clean(text);
        let text =
            emphasis.map_or_else(|| text.clone(), |emphasis| self.view.paint(emphasis, &text));
        let line = format!("{}{text}", pad(key, KEY_WIDTH));
        self.line(&line);
    }

    fn before(&mut self, trace: &SampleTrace) {
        if trace.paused_millis > 0 {
            self.entry("paused", &numbers::time(trace.paused_millis * 1_000_000), None);
        }
        trace.notes.iter().for_each(|note| self.entry("note", note, Some(Emphasis::Warning)));
        trace.changed_before.iter().for_each(|change| self.change(change));
    }

    /// Adds a request and its reply.
    fn exchange(&mut self, record: &SampleRecord) {
        let Some(trace) = &record.trace else { return };
        self.raw("> ", &trace.request);
        for message in &trace.skipped {
            self.entry("skipped", &message_text(message), None);
        }
        let details = &record.details;
        if trace.failure.is_none() {
            self.raw("< ", details.response_headers.as_deref().unwrap_or_default());
            let body = details.body.as_deref().unwrap_or_default();
            if !body.is_empty() {
                self.line("<");
                self.body(body, &trace.body);
            }
            trace.error_details.iter().for_each(|detail| self.entry("detail", detail, None));
        }
        if !trace.request.is_empty() {
            self.times(record, trace);
        }
    }

    fn raw(&mut self, mark: &str, text: &str) {
        for line in text.trim_end().lines() {
            self.line(&format!("{mark}{}", clean(line)));
        }
    }

    /// Adds the body of a reply. Binary data, which as text would consist of replacement characters, is
    /// shown in hexadecimal. `bytes` are empty if the text has been redacted.
    fn body(&mut self, body: &str, bytes: &[u8]) {
        if !body.contains(is_no_text) {
            self.raw("< ", body);
        } else if bytes.is_empty() {
            self.line("< (bytes that are no text)");
        } else {
            self.line(&format!("< {}", hexadecimal(bytes)));
        }
    }

    fn times(&mut self, record: &SampleRecord, trace: &SampleTrace) {
        let opening =
            trace.opening_micros.map(|micros| format!("connection opened in {}", time(micros)));
        let first =
            trace.first_byte_micros.map(|micros| format!("first byte after {}", time(micros)));
        let whole = Some(format!("ended after {}", time(trace.micros)));
        let received = Some(format!("{} received", numbers::bytes(record.bytes as f64)));
        let all: Vec<String> = [opening, first, whole, received].into_iter().flatten().collect();
        self.entry("time", &all.join(", "), None);
    }

    fn look(&mut self, look: &TracedEvaluation) {
        let TracedEvaluation { by, name, wanted, found, is_good } = look;
        let (key, text) = match by {
            EvaluationKind::Extractor => ("extract", format!("{name} = {found}   ({wanted})")),
            EvaluationKind::Check => {
                let result = if *is_good { "passed" } else { "FAILED" };
                let suffix =
                    if found.is_empty() { String::new() } else { format!(", found {found}") };
                ("check", format!("{result}  {name}: {wanted}{suffix}"))
            }
            EvaluationKind::Script if *is_good => ("script", format!("{name}: no error")),
            EvaluationKind::Script => ("script", format!("FAILED  {found}")),
        };
        let bad = if *by == EvaluationKind::Extractor { Emphasis::Warning } else { Emphasis::Bad };
        self.entry(key, &text, (!is_good).then_some(bad));
    }

    fn change(&mut self, change: &VariableChange) {
        let VariableChange { name, from, to } = change;
        let text = match (from, to) {
            (_, None) => format!("{name} has no value any more"),
            (None, Some(to)) => format!("{name} = {to}"),
            (Some(from), Some(to)) => format!("{name} = {to}   (before: {from})"),
        };
        self.entry("variable", &text, None);
    }

    fn result(&mut self, record: &SampleRecord, trace: &SampleTrace) {
        let why = trace.failure.as_ref().or(record.failure_message.as_ref());
        match (record.success, why) {
            (true, _) => self.entry("result", "passed", Some(Emphasis::Good)),
            (false, Some(why)) => {
                self.entry("result", &format!("FAILED: {why}"), Some(Emphasis::Bad));
            }
            (false, None) => {
                // A script can set any text as the code of a sample.
                let status = record.code.parse().map_or_else(|_| record.code.clone(), status_text);
                self.entry("result", &format!("FAILED: status {status}"), Some(Emphasis::Bad));
            }
        }
    }
}

fn time(micros: u64) -> String {
    numbers::time(micros * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::RecordDetails;

    fn look(
        by: EvaluationKind,
        name: &str,
        wanted: &str,
        found: &str,
        is_good: bool,
    ) -> TracedEvaluation {
        TracedEvaluation {
            by,
            name: name.into(),
            wanted: wanted.into(),
            found: found.into(),
            is_good,
        }
    }

    fn change(name: &str, from: Option<&str>, to: Option<&str>) -> VariableChange {
        VariableChange {
            name: name.into(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
        }
    }

    fn login() -> SampleRecord {
        let trace = SampleTrace {
            population: MAIN.into(),
            paused_millis: 1500,
            notes: vec!["log: begins".into()],
            changed_before: vec![change("user", None, Some("ann"))],
            request: "POST /login HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\nuser=ann".into(),
            opening_micros: Some(210),
            first_byte_micros: Some(1100),
            micros: 1320,
            evaluations: vec![
                look(EvaluationKind::Check, "status", "below 400", "200", true),
                look(EvaluationKind::Extractor, "token", "json $.token", "abc", true),
                look(
                    EvaluationKind::Extractor,
                    "id",
                    "json $.id",
                    "no match; the variable keeps its value",
                    false,
                ),
                look(
                    EvaluationKind::Check,
                    "contains",
                    "body contains `Welcome`",
                    "{\"token\":\"abc\"}",
                    false,
                ),
                look(EvaluationKind::Script, "check.groovy", "", "no such property: x", false),
            ],
            changed: vec![change("old", Some("1"), None), change("token", Some("x"), Some("abc"))],
            ..SampleTrace::default()
        };
        SampleRecord {
            label: "login".into(),
            code: "200".into(),
            bytes: 132,
            sample_count: 1,
            failure_message: Some("Test failed: text expected to contain /Welcome/".into()),
            details: RecordDetails {
                response_headers: Some("HTTP/1.1 200 OK\nContent-Type: application/json\n".into()),
                body: Some("{\"token\":\"abc\"}\n\u{1b}[2Jx".into()),
                ..RecordDetails::default()
            },
            trace: Some(Box::new(trace)),
            ..SampleRecord::default()
        }
    }

    #[test]
    fn a_sample_is_shown_in_full() {
        insta::assert_snapshot!(sample(
            &View::default(),
            1,
            &login(),
            &["bodies/00001.json".into()]
        ));
    }

    #[test]
    fn parts_are_shown_separately_and_failures_have_no_reply() {
        let lost =
            SampleTrace { failure: Some("connection refused".into()), ..*login().trace.unwrap() };
        let lost =
            SampleTrace { evaluations: Vec::new(), changed: Vec::new(), notes: Vec::new(), ..lost };
        let lost = SampleRecord {
            trace: Some(Box::new(lost)),
            sub_results: vec![login(), login()],
            ..login()
        };
        insta::assert_snapshot!(sample(&View::default(), 2, &lost, &[]));
        let details = RecordDetails { body: Some("\u{fffd}PNG".into()), ..login().details };
        let trace = SampleTrace {
            body: b"\x89PNG".to_vec(),
            skipped: vec![b"{\"a\":1}".to_vec(), vec![0, 255]],
            ..*login().trace.unwrap()
        };
        let trace = Some(Box::new(trace));
        let image = SampleRecord { details: details.clone(), trace, ..login() };
        let shown = sample(&View::default(), 3, &image, &[]);
        for line in [
            "< (4 bytes that are no text) 89 50 4e 47",
            "skipped    {\"a\":1}",
            "skipped    (2 bytes that are no text) 00 ff",
        ] {
            assert!(shown.contains(line), "{shown}");
        }
        let redacted = SampleRecord { details, ..login() };
        assert!(sample(&View::default(), 3, &redacted, &[]).contains("< (bytes that are no text)"));
        assert_eq!(sample(&View::default(), 4, &SampleRecord { trace: None, ..login() }, &[]), "");
    }
}
