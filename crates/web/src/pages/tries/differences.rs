//! The differences between two tries of a plan file.

use super::TryContent;
use crate::layout::scrolled_table;
use crate::texts::{Viewer, message};
use brunt_model::SampleRecord;
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
pub fn html(ours: &TryContent, theirs: &TryContent, viewer: &Viewer) -> Markup {
    let all = differences(ours, theirs, viewer);
    let title = message!("tries-title", ours = number(ours), theirs = number(theirs));
    let more = all.len().saturating_sub(MOST);
    html! {
        h2 { (viewer.format(&title)) }
        @if all.is_empty() { p { (viewer.text("tries-equal")) } } @else {
            p { (viewer.format(&message!("tries-count", count = all.len()))) }
            (scrolled_table(&viewer.format(&title), &html! {
                thead { tr { th { (viewer.text("tries-sample")) } th { (viewer.text("tries-value")) } @for one in [ours, theirs] { th { (viewer.format(&message!("tries-try", number = number(one)))) } } } }
                tbody { @for difference in all.iter().take(MOST) { tr {
                    td { (difference.sample) }
                    td { (difference.subject) }
                    td { code { (difference.ours) } }
                    td { code { (difference.theirs) } }
                } } }
            }))
            @if more > 0 { p class="hint" { (viewer.format(&message!("try-more", count = more))) } }
        }
    }
}

fn number(content: &TryContent) -> u64 {
    content.number.into()
}

fn differences(ours: &TryContent, theirs: &TryContent, viewer: &Viewer) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut others = numbered(theirs);
    for ((label, number), sample) in numbered_in_order(ours) {
        let name = if number == 1 { label.clone() } else { format!("{label}, {number}") };
        let ours = values(ours, sample, viewer);
        let theirs = others
            .remove(&(label, number))
            .map_or_else(Vec::new, |other| values(theirs, other, viewer));
        add(&mut all, &name, &ours, &theirs);
    }
    let mut missing: Vec<_> = others.into_iter().collect();
    missing.sort_by_key(|(_, sample)| sample.number);
    for ((label, _), sample) in missing {
        add(&mut all, &label, &[], &values(theirs, sample, viewer));
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
fn values(content: &TryContent, sample: &TracedSample, viewer: &Viewer) -> Vec<(String, String)> {
    let SampleRecord { code, message, success, trace, .. } = &sample.record;
    let result = if *success { "sample-good" } else { "sample-failed" };
    let mut values = vec![
        (viewer.text("tries-status"), format!("{code} {message}")),
        (viewer.text("tries-result"), viewer.text(result)),
    ];
    for (index, name) in sample.bodies.iter().enumerate() {
        let bytes = fs::metadata(content.folder.join(name)).map_or(0, |metadata| metadata.len());
        let body = message!("tries-body", number = index + 1);
        let size = message!("tries-bytes", count = bytes);
        values.push((viewer.format(&body), viewer.format(&size)));
    }
    let Some(trace) = trace else { return values };
    let request = trace.request.lines().next().unwrap_or_default();
    // Other lines are in the page of the sample.
    values.push((viewer.text("tries-request"), request.to_owned()));
    for change in trace.changed_before.iter().chain(&trace.changed) {
        let name = viewer.format(&message!("tries-variable", name = change.name.as_str()));
        values.push((name, change.to.clone().unwrap_or_else(|| "–".to_owned())));
    }
    for evaluation in &trace.evaluations {
        let name = message!("tries-found", name = evaluation.name.as_str());
        values.push((viewer.format(&name), evaluation.found.clone()));
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
