//! Conditions of replies and messages: the keys below `check` and `until`.

use super::{expected, texts as texts_by_name};
use crate::error::{Result, SpecError};
use crate::plan::words::{ByteSize, DurationKey, Nested, Scalar, ScalarList, ScalarOr};
use crate::plan::{PlanNode, PlanValue, json, read};
use crate::words::status;
use brunt_model::ReplyPolicy;
use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{
    Assertion, AssertionTest, ExpectedJson, NumberComparison, TextAssertion, TextMatch,
};
use brunt_script::functions;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a good reply is; all that is written here must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(in crate::plan) struct StepCheck {
    /// Statuses that are good, such as `200,3xx`. Default: all below 400.
    status: Option<ScalarList>,
    /// Texts that are in the body.
    contains: Option<ScalarList>,
    /// Texts that are not in the body.
    contains_not: Option<ScalarList>,
    /// Regular expressions that are found in the body.
    matches: Option<ScalarList>,
    /// Regular expressions that are not found in the body.
    matches_not: Option<ScalarList>,
    /// An `XPath` (1.0) finds something in the body, or is true.
    xpath: Option<Scalar>,
    /// A `JSONPath`, or several, that find something in the body.
    exists: Option<ScalarList>,
    /// Values by `JSONPath`.
    json: Option<Nested<BTreeMap<String, serde_json::Value>>>,
    /// Texts that are in header fields, by name.
    header: Option<Nested<BTreeMap<String, Scalar>>>,
    /// The time from the request to the last byte of its reply, at most.
    max_time: Option<DurationKey>,
    /// A script in Groovy that calls `AssertionResult.setFailure(true)` where the reply is not good, or several; `prev` is the reply.
    pub(super) script: Option<ScalarList>,
    /// The least size of the body.
    min_size: Option<ByteSize>,
    /// The greatest size of the body.
    max_size: Option<ByteSize>,
}

/// Conditions of the awaited message of a WebSocket; all must hold.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Until {
    /// Texts that it contains.
    contains: Option<ScalarList>,
    /// Regular expressions that are found in it.
    matches: Option<ScalarList>,
    /// Values in it, by `JSONPath`.
    json: Option<Nested<BTreeMap<String, serde_json::Value>>>,
    /// `JSONPath`s that find something in it.
    exists: Option<ScalarList>,
}

#[expect(clippy::unused_self, reason = "the type of a key chooses how it is read")]
impl Nested<ScalarOr<Until>> {
    /// Reads the conditions of an awaited message.
    pub(super) fn read(&self, node: &PlanNode) -> Result<Vec<Assertion>> {
        let check = if let Some(text) = node.text() {
            StepCheck { contains: Some(ScalarList(vec![text.to_owned()])), ..StepCheck::default() }
        } else {
            let Until { contains, matches, json, exists } = read(node)?;
            StepCheck { contains, matches, exists, json, ..StepCheck::default() }
        };
        let mut policy = ReplyPolicy::default();
        // A default policy collects the conditions, which are the same as those of `check`.
        check.read(node, &mut policy)?;
        if policy.assertions.is_empty() {
            let wrong = "no condition; write a text, or a map such as {json: {$.type: done}}";
            return Err(SpecError::new(&node.at, "", wrong));
        }
        Ok(policy.assertions)
    }
}

impl StepCheck {
    /// Adds the conditions to a policy.
    pub(super) fn read(&self, node: &PlanNode, policy: &mut ReplyPolicy) -> Result<()> {
        if let Some(words) = &self.status {
            policy.checks.status = status::parse(&words.0.join(","))?;
        }
        let texts = [
            ("contains", &self.contains, TextMatch::Substring, false),
            ("contains_not", &self.contains_not, TextMatch::Substring, true),
            ("matches", &self.matches, TextMatch::Contains, false),
            ("matches_not", &self.matches_not, TextMatch::Contains, true),
        ];
        for (name, patterns, is, not) in texts {
            if let Some(patterns) = patterns {
                push(policy, name, text_test(ReplyPart::Body, patterns.0.clone(), is, not));
            }
        }
        for path in self.exists.iter().flat_map(|paths| &paths.0) {
            push(
                policy,
                path,
                AssertionTest::Json { path: path.clone(), expected: None, invert: false },
            );
        }
        let values = self.json.as_ref().and(node.child("json"));
        if let Some(node) = values.filter(|node| !matches!(node.value, PlanValue::Map(_))) {
            return Err(expected(
                &node.at,
                "json",
                "a map",
                "values by JSONPath, such as `$.id: 5`",
            ));
        }
        for entry in values.map(PlanNode::entries).unwrap_or_default() {
            let expected = match json(&entry.node) {
                serde_json::Value::Null => ExpectedJson::Null,
                // A text is compared without its quotes, as extractors return it.
                serde_json::Value::String(text) => ExpectedJson::Value(text),
                other => ExpectedJson::Value(other.to_string()),
            };
            let test = AssertionTest::Json {
                path: entry.key.clone(),
                expected: Some(expected),
                invert: false,
            };
            push(policy, &entry.key, test);
        }
        let header = self
            .header
            .as_ref()
            .and(node.child("header"))
            .map(|node| texts_by_name(node, "header"));
        for (name, value) in header.transpose()?.unwrap_or_default() {
            // Field names are not case-sensitive (RFC 9110 section 5.1), and each field has a line.
            let pattern = format!(
                r"(?mi)^{}:.*{}",
                functions::escaped_regex(&name),
                functions::escaped_regex(&value)
            );
            push(
                policy,
                &name,
                text_test(ReplyPart::Headers, vec![pattern], TextMatch::Contains, false),
            );
        }
        if let Some(path) = &self.xpath {
            push(policy, "xpath", AssertionTest::Xpath { path: path.0.clone(), invert: false });
        }
        if let Some(time) = self.max_time {
            // JMeter's Duration Assertion, too, has whole milliseconds.
            push(policy, "max_time", AssertionTest::Duration(time.0.as_millis().to_string()));
        }
        let sizes = [
            ("min_size", self.min_size, NumberComparison::AtLeast),
            ("max_size", self.max_size, NumberComparison::AtMost),
        ];
        for (name, bytes, is) in sizes {
            if let Some(bytes) = bytes {
                // The sizes are those of the body; without a part, the header fields would count,
                // too.
                let test = AssertionTest::Size {
                    part: Some(ReplyPart::Body),
                    is,
                    bytes: bytes.0.to_string(),
                };
                push(policy, name, test);
            }
        }
        Ok(())
    }
}

fn push(policy: &mut ReplyPolicy, name: &str, test: AssertionTest) {
    policy.assertions.push(Assertion { name: name.to_owned(), test });
}

fn text_test(part: ReplyPart, patterns: Vec<String>, is: TextMatch, not: bool) -> AssertionTest {
    let message = String::new();
    AssertionTest::Text(TextAssertion {
        part,
        patterns,
        is,
        not,
        any: false,
        ignore_status: false,
        message,
    })
}
