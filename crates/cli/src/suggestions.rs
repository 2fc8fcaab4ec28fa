//! Candidates for the values of an option, which a shell shows.
//!
//! Out of scope: the options, and candidates from the store and from plan files
//! ([`crate::completions`]).

use brunt_report::REPORTS;
use brunt_spec::words::named::Suggestion;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

/// Returns the candidates of an option with these suggestions.
pub fn of_suggestions(suggestions: fn() -> Vec<Suggestion>) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let all = suggestions().into_iter().enumerate();
        // In the order of their table.
        all.map(|(order, one)| candidate(one.text, one.about).display_order(Some(order)))
            .collect::<Vec<_>>()
    })
}

/// Returns the candidates of an option for reports, in a command without a load.
pub fn of_reports() -> ArgValueCandidates {
    of_suggestions(|| {
        let formats = REPORTS.iter();
        formats.map(|format| Suggestion::new(format.name, format.about)).collect()
    })
}

/// Suggests these names.
pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Suggestion> {
    names.into_iter().map(|name| Suggestion::new(name, "")).collect()
}

/// Creates a candidate. An empty description is none.
pub fn candidate(value: impl Into<String>, about: impl Into<String>) -> CompletionCandidate {
    let about: String = about.into();
    let help = (!about.is_empty()).then(|| about.into());
    CompletionCandidate::new(value.into()).help(help)
}
