//! Records the actions of a traced user since its last sample.

use crate::texts::variables::Variables;
use brunt_model::extract::ReplyPart;
use brunt_model::record::{SampleTrace, TracedEvaluation, VariableChange};
use brunt_model::{Text, text};
use std::time::Duration;

/// Maximum number of characters of a value in a trace.
const MAX_SHOWN: usize = 200;

/// Maximum number of notes before one sample; further ones are lost.
const MAX_NOTES: usize = 1_000;

/// Actions of one user since its last sample.
#[derive(Debug, Default)]
pub struct Tracing {
    variables: Vec<(String, String)>,
    paused: Duration,
    notes: Vec<String>,
    looks: Vec<TracedEvaluation>,
}

impl Tracing {
    /// Adds a pause of the user.
    pub fn pause(&mut self, pause: Duration) {
        self.paused += pause;
    }

    /// Adds a message of a script, or of an error that stops nothing.
    pub fn note(&mut self, note: &str) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(shown(note));
        }
    }

    /// Adds a check or an extraction of the reply.
    pub fn add_look(&mut self, look: TracedEvaluation) {
        self.looks.push(look);
    }

    /// Returns the checks and extractions since the last call.
    pub fn take_looks(&mut self) -> Vec<TracedEvaluation> {
        std::mem::take(&mut self.looks)
    }

    /// Returns the variables that changed since the last call.
    pub fn changes(&mut self, variables: &Variables) -> Vec<VariableChange> {
        let now = variables.all();
        let before = std::mem::replace(&mut self.variables, now);
        changes(&before, &self.variables)
    }

    /// True if anything happened since the last sample.
    pub fn is_pending(&self, variables: &Variables) -> bool {
        !self.paused.is_zero() || !self.notes.is_empty() || self.variables != variables.all()
    }

    /// Returns the trace of the time before a sample, without the user's identification.
    pub fn take_before(&mut self, variables: &Variables) -> SampleTrace {
        SampleTrace {
            paused_millis: u64::try_from(std::mem::take(&mut self.paused).as_millis())
                .unwrap_or(u64::MAX),
            notes: std::mem::take(&mut self.notes),
            changed_before: self.changes(variables),
            ..SampleTrace::default()
        }
    }
}

/// Compares two lists of variables, both sorted by name.
fn changes(before: &[(String, String)], now: &[(String, String)]) -> Vec<VariableChange> {
    let set = now.iter().map(|(name, to)| (name, value_of(before, name), Some(to.clone())));
    let removed = before.iter().filter(|(name, _)| value_of(now, name).is_none());
    let removed = removed.map(|(name, from)| (name, Some(from.clone()), None));
    let all = set.chain(removed).filter(|(_, from, to)| from != to);
    let mut all: Vec<_> =
        all.map(|(name, from, to)| VariableChange { name: name.clone(), from, to }).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn value_of(variables: &[(String, String)], name: &String) -> Option<String> {
    let index = variables.binary_search_by(|(other, _)| other.cmp(name)).ok()?;
    Some(variables[index].1.clone())
}

/// Returns a text in one line, truncated if it is long.
pub fn shown(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_SHOWN).map(|one| if one.is_control() { ' ' } else { one }).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the name of a part of a reply.
pub fn part_name(part: &ReplyPart) -> Text {
    match part {
        ReplyPart::Body | ReplyPart::UnescapedBody => text!("condition-part.body"),
        ReplyPart::Headers => text!("condition-part.headers"),
        ReplyPart::Status => text!("condition-part.status"),
        ReplyPart::Message => text!("condition-part.message"),
        ReplyPart::Url => "URL".into(),
        ReplyPart::RequestHeaders => text!("condition-part.request-headers"),
        ReplyPart::RequestBody => text!("condition-part.request-body"),
        ReplyPart::SamplerData => text!("condition-part.request"),
        ReplyPart::Variable(name) => text!("condition-part.variable", name = &**name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::variables::VariableNames;
    use std::sync::Arc;

    #[test]
    fn changes_are_reported_by_name() {
        let mut names = VariableNames::default();
        for name in ["a", "b", "c", "d"] {
            names.number(name);
        }
        let mut variables = Variables::new(&Arc::new(names));
        let mut tracing = Tracing::default();
        variables.set("c", "1");
        variables.set("a", "1");
        let mut told = |variables: &Variables| {
            let all = tracing.changes(variables).into_iter();
            let or = |value: Option<String>| value.unwrap_or_else(|| "-".into());
            all.map(|change| format!("{} {} {}", change.name, or(change.from), or(change.to)))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&variables), ["a - 1", "c - 1"]);
        variables.set("a", "2");
        variables.set("b", "3");
        variables.remove("c");
        assert_eq!(told(&variables), ["a 1 2", "b - 3", "c 1 -"]);
        assert_eq!(told(&variables), Vec::<String>::new());
        assert!(!tracing.is_pending(&variables));
        tracing.pause(Duration::from_millis(5));
        assert!(tracing.is_pending(&variables));
    }
}
