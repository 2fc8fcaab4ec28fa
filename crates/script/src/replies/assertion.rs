//! Assertions, compiled: what must hold for a reply, and what is said where it does not.

mod description;
mod messages;

use crate::ScriptError;
use crate::replies::jmes::JmesPath;
use crate::replies::trace;
use crate::texts::compiled::Texts;
use crate::texts::hexadecimal::hexadecimal;
use crate::texts::json::{CompiledPath, text};
use crate::texts::markup::{QualifiedPath, XPath, check_xml};
use crate::texts::pattern::Pattern;
use crate::texts::searched::Searched;
use brunt_model::extract::ReplyPart;
use brunt_model::record::{Looker, TracedLook};
use brunt_model::reply_policy::{Assertion, AssertionTest, Comparison, ExpectedJson, TextAssertion, TextMatch};
use description::description_of;
use md5::{Digest, Md5};
use serde_json::Value;

/// An assertion, compiled.
#[derive(Debug)]
pub struct CompiledAssertion {
    test: Test,
}

#[derive(Debug)]
enum Test {
    Text(TextTest),
    /// Milliseconds, at most.
    Duration(u64),
    Size(Option<ReplyPart>, Comparison, u64),
    Json {
        path: CompiledPath,
        written: String,
        expected: Option<JsonTest>,
        invert: bool,
    },
    JmesPath {
        path: JmesPath,
        written: String,
        expected: Option<JsonTest>,
        invert: bool,
    },
    Md5(String),
    Xpath {
        path: XPath,
        written: String,
        invert: bool,
    },
    QualifiedXpath {
        path: QualifiedPath,
        written: String,
        invert: bool,
    },
    Xml,
}

#[derive(Debug)]
struct TextTest {
    assertion: TextAssertion,
    /// Of each pattern that is an expression.
    expressions: Vec<Pattern>,
}

#[derive(Debug)]
enum JsonTest {
    Null,
    Value(String),
    Pattern(Pattern, String),
}

impl CompiledAssertion {
    /// Compiles an assertion whose texts are filled in.
    ///
    /// # Errors
    ///
    /// An expression or path is none, or a number is none.
    pub fn new(assertion: &Assertion) -> Result<Self, ScriptError> {
        let refuse = |why: String| ScriptError::Scenario(format!("assertion `{}`: {why}", assertion.name));
        Ok(Self { test: Test::new(&assertion.test).map_err(refuse)? })
    }

    /// Whether the status alone makes no failure of the reply.
    pub fn ignores_status(&self) -> bool {
        matches!(&self.test, Test::Text(test) if test.assertion.ignore_status)
    }

    /// What a trace says of it; `written`: what it was compiled from.
    pub fn look(&self, written: &Assertion, searched: &Searched<'_>, is_good: bool) -> TracedLook {
        let found = match &self.test {
            Test::Text(test) => trace::shown(&searched.part(&test.assertion.part)),
            Test::Duration(_) => format!("{} ms", searched.elapsed_millis),
            Test::Size(part, ..) => {
                format!("{} bytes", part.as_ref().map_or(searched.bytes, |part| size(searched, part)))
            }
            Test::Json { path, .. } => match searched.json().map(|json| path.all(json)) {
                None => "the body is not JSON".into(),
                Some(nodes) => nodes.first().map_or_else(|| "nothing".into(), |value| trace::shown(&text(value))),
            },
            Test::JmesPath { path, .. } => match searched.json() {
                None => "the body is not JSON".into(),
                Some(json) => trace::shown(&text(&path.search(json))),
            },
            Test::Md5(_) => hexadecimal(&Md5::digest(searched.body_bytes())),
            Test::Xpath { .. } | Test::QualifiedXpath { .. } | Test::Xml => String::new(),
        };
        let (name, wanted) = (written.name.clone(), description_of(&written.test));
        TracedLook { by: Looker::Check, name, wanted, found, is_good }
    }

    /// True if a message meets it. Only assertions on texts and JSON can be met by a message.
    pub fn holds_for(&self, message: &str) -> bool {
        match &self.test {
            Test::Text(test) => test.failed_pattern(message).is_none(),
            Test::Json { path, written, expected, invert } => {
                let json = serde_json::from_str(message).ok();
                check_json(json.as_ref(), path, written, expected.as_ref()).is_ok() != *invert
            }
            Test::Duration(_)
            | Test::Size(..)
            | Test::JmesPath { .. }
            | Test::Md5(_)
            | Test::Xpath { .. }
            | Test::QualifiedXpath { .. }
            | Test::Xml => false,
        }
    }

    /// Looks at a reply.
    ///
    /// # Errors
    ///
    /// What does not hold.
    pub fn check(&self, searched: &Searched<'_>) -> Result<(), String> {
        match &self.test {
            Test::Text(test) => test.check(searched),
            Test::Duration(most) if searched.elapsed_millis > *most => Err(format!(
                "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {most} milliseconds.",
                searched.elapsed_millis
            )),
            Test::Duration(_) => Ok(()),
            Test::Size(part, is, bytes) => {
                let size = part.as_ref().map_or(searched.bytes, |part| size(searched, part));
                if compares(*is, size, *bytes) {
                    return Ok(());
                }
                let (told, bytes) = (sentence(*is), *bytes);
                Err(format!(
                    "The result was the wrong size: It was {size} bytes, but should have {told} {bytes} bytes."
                ))
            }
            Test::Json { path, written, expected, invert } => {
                let found = check_json(searched.json(), path, written, expected.as_ref());
                match (found, *invert) {
                    (Ok(()), true) => Err(match expected {
                        None => format!("Failed that JSONPath not exists: {written}"),
                        Some(expected) => format!("Failed that JSONPath {written} not matches {}", expected.written()),
                    }),
                    (Err(_), true) => Ok(()),
                    (found, false) => found,
                }
            }
            Test::JmesPath { path, written, expected, invert } => {
                let Some(json) = searched.json() else {
                    return if *invert { Ok(()) } else { Err("the body is not JSON".into()) };
                };
                let value = path.search(json);
                let holds = expected.as_ref().map_or(!value.is_null(), |expected| expected.holds(&value));
                let told = || messages::of_jmes_path(written, expected.as_ref().map(JsonTest::expects), *invert);
                if holds == *invert { Err(told()) } else { Ok(()) }
            }
            Test::Xpath { path, written, invert } => {
                let found = path.holds(searched.body());
                match (found, invert) {
                    (true, true) => Err(format!("Nodes Matched {written}")),
                    (false, false) => Err(format!("No Nodes Matched {written}")),
                    _ => Ok(()),
                }
            }
            Test::QualifiedXpath { path, written, invert } => match (path.holds(searched.body()), invert) {
                (true, true) => Err(format!("Nodes Matched for {written}")),
                (false, false) => Err(format!("No Nodes Matched for {written}")),
                _ => Ok(()),
            },
            Test::Xml => check_xml(searched.body()),
            Test::Md5(sum) => {
                let is = hexadecimal(&Md5::digest(searched.body_bytes()));
                if is.eq_ignore_ascii_case(sum.trim()) {
                    return Ok(());
                }
                Err(format!("Error asserting MD5 sum : got {is} but should have been {}", sum.trim()))
            }
        }
    }
}

impl Test {
    fn new(test: &AssertionTest) -> Result<Self, String> {
        let number =
            |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is no whole number; write one such as 500"));
        Ok(match test {
            AssertionTest::Text(text) => Self::Text(TextTest::new(text)?),
            AssertionTest::Duration(millis) => Self::Duration(number(millis)?),
            AssertionTest::Size { part, is, bytes } => Self::Size(part.clone(), *is, number(bytes)?),
            AssertionTest::Json { path, expected, invert } => {
                let expected = expected.as_ref().map(JsonTest::new).transpose()?;
                Self::Json { path: CompiledPath::new(path)?, written: path.clone(), expected, invert: *invert }
            }
            AssertionTest::JmesPath { path, expected, invert } => {
                let expected = expected.as_ref().map(JsonTest::new).transpose()?;
                Self::JmesPath { path: JmesPath::parse(path)?, written: path.clone(), expected, invert: *invert }
            }
            AssertionTest::Md5(sum) => Self::Md5(sum.clone()),
            AssertionTest::Xpath { path, invert } => {
                Self::Xpath { path: XPath::parse(path)?, written: path.clone(), invert: *invert }
            }
            AssertionTest::QualifiedXpath { path, invert } => {
                Self::QualifiedXpath { path: QualifiedPath::parse(path)?, written: path.path.clone(), invert: *invert }
            }
            AssertionTest::Xml => check_xml("<a/>").map(|()| Self::Xml)?,
            AssertionTest::Script(script) => return Err(format!("script `{}` is no test of texts", script.name)),
        })
    }
}

impl TextTest {
    fn new(assertion: &TextAssertion) -> Result<Self, String> {
        let expressions = assertion.patterns.iter().filter_map(|pattern| match assertion.is {
            TextMatch::Contains => Some(Pattern::new(pattern)),
            TextMatch::Matches => Some(Pattern::whole(pattern)),
            TextMatch::Substring | TextMatch::Equals => None,
        });
        Ok(Self { expressions: expressions.collect::<Result<_, _>>()?, assertion: assertion.clone() })
    }

    /// The first pattern that a text does not hold, where that makes the test fail.
    fn failed_pattern(&self, text: &str) -> Option<&String> {
        let TextAssertion { patterns, is, not, any, .. } = &self.assertion;
        let holds = |(number, pattern): &(usize, &String)| {
            let found = match is {
                TextMatch::Substring => text.contains(pattern.as_str()),
                TextMatch::Equals => text == pattern.as_str(),
                TextMatch::Contains | TextMatch::Matches => self.expressions[*number].is_found(text),
            };
            found != *not
        };
        let mut numbered = patterns.iter().enumerate();
        let failed = numbered.clone().find(|pattern| !holds(pattern)).map(|(_, pattern)| pattern);
        failed.filter(|_| !*any || !numbered.any(|pattern| holds(&pattern)))
    }

    fn check(&self, searched: &Searched<'_>) -> Result<(), String> {
        let TextAssertion { part, patterns, is, not, any, message, .. } = &self.assertion;
        let text = searched.part(part);
        let told = |pattern: &str| messages::told(part, (*is, *not, *any), (pattern, &text));
        match self.failed_pattern(&text) {
            None => Ok(()),
            Some(_) if text.is_empty() => Err("Response was null".into()),
            Some(_) if !message.is_empty() => Err(message.clone()),
            Some(_) if *any => Err(patterns.iter().map(|pattern| told(pattern) + "\t").collect()),
            Some(pattern) => Err(told(pattern)),
        }
    }
}

impl JsonTest {
    fn new(expected: &ExpectedJson) -> Result<Self, String> {
        Ok(match expected {
            ExpectedJson::Null => Self::Null,
            ExpectedJson::Value(value) => Self::Value(value.clone()),
            ExpectedJson::Pattern(pattern) => Self::Pattern(Pattern::whole(pattern)?, pattern.clone()),
        })
    }

    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Value(expected) => {
                text(value) == *expected
                    || serde_json::from_str(expected).is_ok_and(|expected: Value| expected == *value)
            }
            Self::Pattern(pattern, _) => pattern.is_found(&text(value)),
        }
    }

    /// What is said of a value that is not so.
    fn expects(&self) -> String {
        match self {
            Self::Null => "be null".into(),
            Self::Value(value) => format!("be equal to {value}"),
            Self::Pattern(_, value) => format!("match {value}"),
        }
    }

    fn written(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Value(value) | Self::Pattern(_, value) => value,
        }
    }
}

fn check_json(
    json: Option<&Value>,
    path: &CompiledPath,
    written: &str,
    expected: Option<&JsonTest>,
) -> Result<(), String> {
    let json = json.ok_or("the body is not JSON")?;
    let nodes = path.all(json);
    if nodes.is_empty() {
        return Err(format!("No results for path: {written}"));
    }
    let Some(expected) = expected else { return Ok(()) };
    // An array that the path finds is held to the value as a whole, and value by value.
    let within = |value: &Value| value.as_array().is_some_and(|all| all.iter().any(|value| expected.holds(value)));
    if nodes.iter().any(|value| expected.holds(value) || within(value)) {
        return Ok(());
    }
    let found = match nodes[..] {
        [one] => text(one),
        _ => serde_json::to_string(&nodes).unwrap_or_default(),
    };
    let value = format!("Value in json path '{written}' expected to");
    Err(match expected {
        JsonTest::Null => format!("{value} be null, but found '{found}'"),
        JsonTest::Value(expected) => format!("{value} be '{expected}', but found '{found}'"),
        JsonTest::Pattern(_, expected) => {
            format!("{value} match regexp '{expected}', but it did not match: '{found}'")
        }
    })
}

fn size(searched: &Searched<'_>, part: &ReplyPart) -> u64 {
    match part {
        ReplyPart::Body => searched.reply.map_or(0, |reply| reply.body_bytes),
        ReplyPart::Headers => searched.reply.map_or(0, |reply| reply.head_bytes),
        part => searched.part(part).len() as u64,
    }
}

fn compares(is: Comparison, size: u64, with: u64) -> bool {
    match is {
        Comparison::Equal => size == with,
        Comparison::NotEqual => size != with,
        Comparison::Greater => size > with,
        Comparison::Less => size < with,
        Comparison::AtLeast => size >= with,
        Comparison::AtMost => size <= with,
    }
}

fn sentence(is: Comparison) -> &'static str {
    match is {
        Comparison::Equal => "been equal to",
        Comparison::NotEqual => "not been equal to",
        Comparison::Greater => "been greater than",
        Comparison::Less => "been less than",
        Comparison::AtLeast => "been greater than or equal to",
        Comparison::AtMost => "been less than or equal to",
    }
}

impl Texts for ExpectedJson {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Value(value) => Self::Value(fill(value)),
            Self::Pattern(pattern) => Self::Pattern(fill(pattern)),
        }
    }
}

impl Texts for Assertion {
    fn map_texts(&self, fill: &mut dyn FnMut(&str) -> String) -> Self {
        let test = match &self.test {
            AssertionTest::Text(text) => AssertionTest::Text(TextAssertion {
                part: text.part.map_texts(fill),
                patterns: text.patterns.iter().map(|pattern| fill(pattern)).collect(),
                message: fill(&text.message),
                ..text.clone()
            }),
            AssertionTest::Duration(millis) => AssertionTest::Duration(fill(millis)),
            AssertionTest::Size { part, is, bytes } => {
                AssertionTest::Size { part: part.clone(), is: *is, bytes: fill(bytes) }
            }
            AssertionTest::Json { path, expected, invert } => {
                let expected = expected.as_ref().map(|expected| expected.map_texts(fill));
                AssertionTest::Json { path: fill(path), expected, invert: *invert }
            }
            AssertionTest::JmesPath { path, expected, invert } => {
                let expected = expected.as_ref().map(|expected| expected.map_texts(fill));
                AssertionTest::JmesPath { path: fill(path), expected, invert: *invert }
            }
            AssertionTest::Xpath { path, invert } => AssertionTest::Xpath { path: fill(path), invert: *invert },
            AssertionTest::QualifiedXpath { path, invert } => {
                AssertionTest::QualifiedXpath { path: path.map_texts(fill), invert: *invert }
            }
            AssertionTest::Xml => AssertionTest::Xml,
            AssertionTest::Md5(sum) => AssertionTest::Md5(fill(sum)),
            AssertionTest::Script(script) => AssertionTest::Script(script.clone()),
        };
        Self { name: self.name.clone(), test }
    }
}
