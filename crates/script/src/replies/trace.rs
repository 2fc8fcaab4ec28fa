//! What a user does around each of its samples, for `--trace`: pauses, variables that change, and what extractors and checks look at.
//!
//! Users that are not traced pay one branch for each sample. Out of scope: how a trace is shown; `report` knows.

use crate::texts::context::UserContext;
use crate::texts::searched::Searched;
use brunt_model::extract::{ExtractFrom, Extractor, QualifiedXpath, ReplyPart, Take};
use brunt_model::outcome::status_text;
use brunt_model::plan::Checks;
use brunt_model::record::{Looker, SampleTrace, TracedLook};
use brunt_model::reply_policy::{AssertionTest, Comparison, ExpectedJson, TextAssertion, TextMatch, statuses};
use brunt_model::{Failure, Sample, Tick};

pub use crate::texts::tracing::shown;

/// The trace of what happened before a sample, if the user is traced.
pub fn before(user: &UserContext) -> Option<SampleTrace> {
    let before = user.tracing.as_ref()?.borrow_mut().before(&user.variables.borrow());
    Some(SampleTrace {
        population: user.worker.population.clone(),
        user: user.number,
        iteration: user.iteration.get(),
        ..before
    })
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
    let before = before(user)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::reply_policy::StatusRange;

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
