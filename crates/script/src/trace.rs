//! What a user does around each of its samples, for `--trace`: pauses, variables that change, and what extractors and checks look at.
//!
//! Users that are not traced pay one branch for each sample. Out of scope: how a trace is shown; `report` knows.

use crate::context::UserContext;
use crate::searched::Searched;
use crate::variables::Variables;
use brunt_model::extract::{ExtractFrom, Extractor, QualifiedXpath, ReplyPart, Take};
use brunt_model::outcome::status_text;
use brunt_model::plan::Checks;
use brunt_model::record::{Looker, SampleTrace, TracedLook, VariableChange};
use brunt_model::reply_policy::{AssertionTest, Comparison, ExpectedJson, TextAssertion, TextMatch, statuses};
use brunt_model::{Failure, Sample, Tick};
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

    /// The trace of what happened before a sample.
    pub fn before(&mut self, user: &UserContext) -> SampleTrace {
        let changed_before = self.changes(&user.variables.borrow());
        SampleTrace {
            population: user.worker.population.clone(),
            user: user.number,
            iteration: user.iteration.get(),
            paused_millis: u64::try_from(std::mem::take(&mut self.paused).as_millis()).unwrap_or(u64::MAX),
            notes: std::mem::take(&mut self.notes),
            changed_before,
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

/// A request in bytes as it was sent, and its clocks, where its user is traced.
pub fn of_exchange(searched: &Searched<'_>, sample: &Sample) -> Option<Box<SampleTrace>> {
    searched.user.tracing.as_ref()?;
    let opening = sample.opening;
    let opened: u64 = [opening.resolve, opening.connect, opening.tls].into_iter().flatten().sum();
    let came = sample.first_byte != Tick::ZERO;
    Some(Box::new(SampleTrace {
        request: searched.request_text(),
        body: searched.raw_body().to_vec(),
        opening_micros: sample.opened.then_some(opened / 1_000),
        first_byte_micros: came.then(|| sample.first_byte.nanos_since(sample.begun) / 1_000),
        micros: sample.last_byte.nanos_since(sample.begun) / 1_000,
        failure: sample.outcome.failure.filter(|failure| *failure != Failure::Check).map(|kind| kind.row().name.into()),
        ..SampleTrace::default()
    }))
}

/// What happened before a sample and because of it, beside its exchange; `looks` come before those that the user remembers.
pub fn complete(
    exchange: SampleTrace,
    before: SampleTrace,
    mut looks: Vec<TracedLook>,
    user: &UserContext,
) -> SampleTrace {
    let SampleTrace { population, user: number, iteration, paused_millis, notes, changed_before, .. } = before;
    let mut changed = Vec::new();
    user.trace(|tracing| {
        changed = tracing.changes(&user.variables.borrow());
        looks.append(&mut tracing.take_looks());
    });
    SampleTrace {
        population,
        user: number,
        iteration,
        paused_millis,
        notes,
        changed_before,
        looks,
        changed,
        ..exchange
    }
}

/// The trace of what is no request, or could not become one.
pub fn without_exchange(user: &UserContext, failure: Option<&str>) -> Option<Box<SampleTrace>> {
    let before = user.tracing.as_ref()?.borrow_mut().before(user);
    let failure = failure.map(str::to_owned);
    Some(Box::new(complete(SampleTrace { failure, ..SampleTrace::default() }, before, Vec::new(), user)))
}

/// What the checks say that need no part of a reply but its status and its length.
pub fn checks(checks: &Checks, searched: &Searched<'_>) -> Vec<TracedLook> {
    let Some(reply) = searched.reply else { return Vec::new() };
    let look = |name: &str, wanted: String, found: String, is_good| TracedLook {
        by: Looker::Check,
        name: name.to_owned(),
        wanted,
        found,
        is_good,
    };
    let expects = checks.expects(reply.status);
    let mut all = vec![look("status", statuses(&checks.status), status_text(reply.status), expects)];
    if let Some(pattern) = &checks.body {
        let matches = reply.kept.as_ref().is_some_and(|kept| kept.matches);
        all.push(look("body", format!("matches `{}`", shown(pattern)), shown(searched.body()), matches));
    }
    all
}

/// What an extractor found that has just set the variables of a user from so many matches.
pub fn extractor(extractor: &Extractor, user: &UserContext, matches: usize) -> TracedLook {
    let name = extractor.variable.clone();
    let found = match (extractor.take, matches, &extractor.default) {
        (Take::All, ..) => format!("{matches} matches"),
        (_, 0, None) => "no match; the variable keeps its value".into(),
        (_, 0, Some(default)) => format!("no match; default `{}`", shown(default)),
        (..) => shown(user.variables.borrow().get(&name).unwrap_or_default()),
    };
    TracedLook { by: Looker::Extractor, name, wanted: wanted_by(extractor), found, is_good: matches > 0 }
}

/// What an extractor looks for, such as `json $.token`.
pub fn wanted_by(extractor: &Extractor) -> String {
    let from = match &extractor.from {
        ExtractFrom::Regex { pattern, .. } => format!("regex {pattern}"),
        ExtractFrom::Boundary { left, right } => format!("between `{left}` and `{right}`"),
        ExtractFrom::JsonPath(path) => format!("json {path}"),
        ExtractFrom::JmesPath(path) => format!("jmespath {path}"),
        ExtractFrom::Css { selector, attribute } if attribute.is_empty() => format!("css {selector}"),
        ExtractFrom::Css { selector, attribute } => format!("css {selector}, attribute {attribute}"),
        ExtractFrom::Xpath(path) | ExtractFrom::QualifiedXpath(QualifiedXpath { path, .. }) => format!("xpath {path}"),
        ExtractFrom::Header(name) => format!("header {name}"),
        ExtractFrom::Cookie(name) => format!("cookie {name}"),
    };
    let take = match extractor.take {
        Take::First => String::new(),
        Take::Last => ", last".into(),
        Take::Number(number) => format!(", match {number}"),
        Take::Random => ", any".into(),
        Take::All => ", all".into(),
    };
    let part = match &extractor.part {
        ReplyPart::Body => String::new(),
        part if extractor.from.searches() => format!(" in the {}", part_name(part)),
        _ => String::new(),
    };
    shown(&from) + &part + &take
}

/// What an assertion wants, such as `status is 200`.
pub fn wanted_of(test: &AssertionTest) -> String {
    let not = |invert: &bool| if *invert { "not " } else { "" };
    match test {
        AssertionTest::Text(text) => text_wanted(text),
        AssertionTest::Duration(millis) => format!("time at most {millis} ms"),
        AssertionTest::Size { part, is, bytes } => {
            let part = part.as_ref().map_or_else(|| "reply".into(), part_name);
            format!("size of the {part} {} {bytes} bytes", sign(*is))
        }
        AssertionTest::Json { path, expected, invert } | AssertionTest::JmesPath { path, expected, invert } => {
            let kind = if matches!(test, AssertionTest::Json { .. }) { "json" } else { "jmespath" };
            let expected = match expected {
                None => String::new(),
                Some(ExpectedJson::Null) => " is null".into(),
                Some(ExpectedJson::Value(value)) => format!(" is `{}`", shown(value)),
                Some(ExpectedJson::Pattern(pattern)) => format!(" matches `{}`", shown(pattern)),
            };
            format!("{}{kind} {path}{expected}", not(invert))
        }
        AssertionTest::Xpath { path, invert }
        | AssertionTest::QualifiedXpath { path: QualifiedXpath { path, .. }, invert } => {
            format!("{}xpath {path}", not(invert))
        }
        AssertionTest::Xml => "body is XML".into(),
        AssertionTest::Md5(sum) => format!("MD5 sum of the body is {sum}"),
        AssertionTest::Script(script) => script.name.clone(),
    }
}

fn text_wanted(text: &TextAssertion) -> String {
    let verb = match (text.is, text.not) {
        (TextMatch::Substring, false) => "contains",
        (TextMatch::Substring, true) => "does not contain",
        (TextMatch::Equals, false) => "is",
        (TextMatch::Equals, true) => "is not",
        (TextMatch::Contains | TextMatch::Matches, false) => "matches",
        (TextMatch::Contains | TextMatch::Matches, true) => "does not match",
    };
    let patterns: Vec<String> = text.patterns.iter().map(|pattern| format!("`{}`", shown(pattern))).collect();
    format!("{} {verb} {}", part_name(&text.part), patterns.join(if text.any { " or " } else { " and " }))
}

/// The name of a part of a reply.
fn part_name(part: &ReplyPart) -> String {
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

fn sign(is: Comparison) -> &'static str {
    match is {
        Comparison::Equal => "=",
        Comparison::NotEqual => "≠",
        Comparison::Greater => ">",
        Comparison::Less => "<",
        Comparison::AtLeast => "≥",
        Comparison::AtMost => "≤",
    }
}

/// A text in one line, cut where it is long.
pub fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_SHOWN).map(|one| if one.is_control() { ' ' } else { one }).collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::Names;
    use brunt_model::reply_policy::StatusRange;
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

    #[test]
    fn what_is_wanted_is_one_line() {
        let text = TextAssertion {
            part: ReplyPart::Body,
            patterns: vec!["a\nb".into(), "c".into()],
            is: TextMatch::Substring,
            not: true,
            any: false,
            ignore_status: false,
            message: String::new(),
        };
        assert_eq!(wanted_of(&AssertionTest::Text(text)), "body does not contain `a b` and `c`");
        let size = AssertionTest::Size { part: None, is: Comparison::AtMost, bytes: "9".into() };
        assert_eq!(wanted_of(&size), "size of the reply ≤ 9 bytes");
        assert_eq!(statuses(&[]), "below 400");
        let ranges = [StatusRange { least: 200, most: 299 }, StatusRange { least: 304, most: 304 }];
        assert_eq!(statuses(&ranges), "200 to 299, 304");
        assert_eq!(shown(&"x".repeat(201)).chars().count(), 201);
    }
}
