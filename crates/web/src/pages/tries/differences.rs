//! The differences between two tries of a plan file.

use super::TryContent;
use brunt_model::SampleRecord;
use brunt_model::numbers::plural;
use brunt_runner::trace::TracedSample;
use maud::{Markup, html};
use std::collections::HashMap;
use std::fs;

/// Maximum number of differences that are listed.
const MOST: usize = 500;

/// A value that differs between two samples.
struct Difference {
    sample: String,
    subject: String,
    ours: String,
    theirs: String,
}

/// Returns a table of the differences.
pub fn html(ours: &TryContent, theirs: &TryContent) -> Markup {
    let all = differences(ours, theirs);
    let more = all.len().saturating_sub(MOST);
    html! {
        h2 { "Try " (ours.number) " compared with try " (theirs.number) }
        @if all.is_empty() { p { "Status, variables, extractors, checks and sizes are the same." } } @else {
            p { (plural(all.len() as u64, "difference")) }
            div class="scroll" { table {
                thead { tr { th { "Sample" } th { "Value" } th { "Try " (ours.number) } th { "Try " (theirs.number) } } }
                tbody { @for difference in all.iter().take(MOST) { tr {
                    td { (difference.sample) }
                    td { (difference.subject) }
                    td { code { (difference.ours) } }
                    td { code { (difference.theirs) } }
                } } }
            } }
            @if more > 0 { p class="hint" { "and " (more) " more" } }
        }
    }
}

fn differences(ours: &TryContent, theirs: &TryContent) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut others = numbered(theirs);
    for ((label, number), sample) in numbered_in_order(ours) {
        let name = if number == 1 { label.clone() } else { format!("{label}, {number}") };
        let ours = values(ours, sample);
        let theirs =
            others.remove(&(label, number)).map_or_else(Vec::new, |other| values(theirs, other));
        add(&mut all, &name, &ours, &theirs);
    }
    let mut missing: Vec<_> = others.into_iter().collect();
    missing.sort_by_key(|(_, sample)| sample.number);
    for ((label, _), sample) in missing {
        add(&mut all, &label, &[], &values(theirs, sample));
    }
    all
}

/// Samples by their label and its count.
fn numbered_in_order(content: &TryContent) -> Vec<((String, usize), &TracedSample)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    // The end of an iteration has number 0, and no label.
    let samples = content.samples.iter().filter(|sample| sample.number > 0);
    samples
        .map(|sample| {
            let count = counts.entry(&sample.record.label).or_default();
            *count += 1;
            ((sample.record.label.clone(), *count), sample)
        })
        .collect()
}

fn numbered(content: &TryContent) -> HashMap<(String, usize), &TracedSample> {
    numbered_in_order(content).into_iter().collect()
}

/// The values of a sample that are compared. Times always differ.
fn values(content: &TryContent, sample: &TracedSample) -> Vec<(String, String)> {
    let SampleRecord { code, message, success, trace, .. } = &sample.record;
    let result = if *success { "good" } else { "failed" };
    let mut values = vec![
        ("status".to_owned(), format!("{code} {message}")),
        ("result".to_owned(), result.to_owned()),
    ];
    for (index, name) in sample.bodies.iter().enumerate() {
        let bytes = fs::metadata(content.folder.join(name)).map_or(0, |metadata| metadata.len());
        values.push((format!("body {}", index + 1), plural(bytes, "byte")));
    }
    let Some(trace) = trace else { return values };
    let request = trace.request.lines().next().unwrap_or_default();
    // Other lines are in the page of the sample.
    values.push(("request".to_owned(), request.to_owned()));
    for change in trace.changed_before.iter().chain(&trace.changed) {
        let name = format!("variable {}", change.name);
        values.push((name, change.to.clone().unwrap_or_else(|| "–".to_owned())));
    }
    for evaluation in &trace.evaluations {
        values.push((format!("found by {}", evaluation.name), evaluation.found.clone()));
    }
    values
}

fn add(
    all: &mut Vec<Difference>,
    sample: &str,
    ours: &[(String, String)],
    theirs: &[(String, String)],
) {
    let of_theirs = theirs.iter().filter(|(name, _)| !ours.iter().any(|(known, _)| known == name));
    for (subject, _) in ours.iter().chain(of_theirs) {
        let (one, other) = (value_of(ours, subject), value_of(theirs, subject));
        if one != other {
            let (sample, subject) = (sample.to_owned(), subject.clone());
            all.push(Difference { sample, subject, ours: one, theirs: other });
        }
    }
}

/// Value of a subject; a dash if there is none.
fn value_of(values: &[(String, String)], subject: &str) -> String {
    let value = values.iter().find(|(name, _)| name == subject);
    value.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
}
