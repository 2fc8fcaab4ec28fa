//! What a traced user did since its last sample.

use crate::texts::variables::Variables;
use brunt_model::extract::ReplyPart;
use brunt_model::record::{SampleTrace, TracedLook, VariableChange};
use std::time::Duration;

/// Characters that are shown of a value that was looked for or found.
const MOST_SHOWN: usize = 200;

/// Further notes before one sample are lost.
const MOST_NOTES: usize = 1_000;

/// What one user did since its last sample.
#[derive(Debug, Default)]
pub struct Tracing {
    variables: Vec<(String, String)>,
    paused: Duration,
    notes: Vec<String>,
    looks: Vec<TracedLook>,
}

impl Tracing {
    /// It pauses.
    pub fn pause(&mut self, pause: Duration) {
        self.paused += pause;
    }

    /// A script says something, or something went wrong that stops nothing.
    pub fn note(&mut self, note: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(shown(note));
        }
    }

    /// Something was looked at in the reply.
    pub fn look(&mut self, look: TracedLook) {
        self.looks.push(look);
    }

    /// What was looked at since the last call.
    pub fn take_looks(&mut self) -> Vec<TracedLook> {
        std::mem::take(&mut self.looks)
    }

    /// The variables that changed since they were looked at last.
    pub fn changes(&mut self, variables: &Variables) -> Vec<VariableChange> {
        let now = variables.all();
        let before = std::mem::replace(&mut self.variables, now);
        changes(&before, &self.variables)
    }

    /// Whether anything happened since the last sample.
    pub fn is_pending(&self, variables: &Variables) -> bool {
        !self.paused.is_zero() || !self.notes.is_empty() || self.variables != variables.all()
    }

    /// The trace of what happened before a sample, without the names of the user.
    pub fn before(&mut self, variables: &Variables) -> SampleTrace {
        SampleTrace {
            paused_millis: u64::try_from(std::mem::take(&mut self.paused).as_millis()).unwrap_or(u64::MAX),
            notes: std::mem::take(&mut self.notes),
            changed_before: self.changes(variables),
            ..SampleTrace::default()
        }
    }
}

/// Which variables differ, by name. Both lists are in the order of the names.
fn changes(before: &[(String, String)], now: &[(String, String)]) -> Vec<VariableChange> {
    let value = |of: &[(String, String)], name: &String| {
        of.binary_search_by(|(other, _)| other.cmp(name)).ok().map(|at| of[at].1.clone())
    };
    let set = now.iter().map(|(name, to)| (name, value(before, name), Some(to.clone())));
    let gone = before.iter().filter(|(name, _)| value(now, name).is_none());
    let gone = gone.map(|(name, from)| (name, Some(from.clone()), None));
    let all = set.chain(gone).filter(|(_, from, to)| from != to);
    let mut all: Vec<_> = all.map(|(name, from, to)| VariableChange { name: name.clone(), from, to }).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// A text in one line, cut where it is long.
pub fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_SHOWN).map(|one| if one.is_control() { ' ' } else { one }).collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// The name of a part of a reply.
pub fn part_name(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Body | ReplyPart::UnescapedBody => "body".into(),
        ReplyPart::Headers => "headers".into(),
        ReplyPart::Status => "status".into(),
        ReplyPart::Message => "status text".into(),
        ReplyPart::Url => "URL".into(),
        ReplyPart::RequestHeaders => "request headers".into(),
        ReplyPart::RequestBody => "request body".into(),
        ReplyPart::SamplerData => "request".into(),
        ReplyPart::Variable(name) => format!("variable {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::variables::Names;
    use std::sync::Arc;

    #[test]
    fn changes_are_told_by_name() {
        let mut names = Names::default();
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
            all.map(|change| format!("{} {} {}", change.name, or(change.from), or(change.to))).collect::<Vec<_>>()
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
