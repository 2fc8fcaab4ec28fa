//! Describes assertions in traces, such as `status is 200`.

use crate::texts::tracing::{part_name, shown};
use brunt_model::extract::QualifiedXpath;
use brunt_model::reply_policy::{
    AssertionTest, ExpectedJson, NumberComparison, TextAssertion, TextMatch,
};

/// Describes the requirement of an assertion.
pub fn description_of(test: &AssertionTest) -> String {
    match test {
        AssertionTest::Text(text) => text_description(text),
        AssertionTest::Duration(millis) => format!("time at most {millis} ms"),
        AssertionTest::Size { part, is, bytes } => {
            let part = part.as_ref().map_or_else(|| "reply".into(), part_name);
            format!("size of the {part} {} {bytes} bytes", sign(*is))
        }
        AssertionTest::Json { path, expected, invert }
        | AssertionTest::JmesPath { path, expected, invert } => {
            let kind = if matches!(test, AssertionTest::Json { .. }) { "json" } else { "jmespath" };
            let expected = match expected {
                None => String::new(),
                Some(ExpectedJson::Null) => " is null".into(),
                Some(ExpectedJson::Value(value)) => format!(" is `{}`", shown(value)),
                Some(ExpectedJson::Pattern(pattern)) => format!(" matches `{}`", shown(pattern)),
            };
            format!("{}{kind} {path}{expected}", not(*invert))
        }
        AssertionTest::Xpath { path, invert }
        | AssertionTest::QualifiedXpath { path: QualifiedXpath { path, .. }, invert } => {
            format!("{}xpath {path}", not(*invert))
        }
        AssertionTest::Xml => "body is XML".into(),
        AssertionTest::Md5(sum) => format!("MD5 sum of the body is {sum}"),
        AssertionTest::Script(script) => script.name.clone(),
    }
}

fn not(invert: bool) -> &'static str {
    if invert { "not " } else { "" }
}

fn text_description(text: &TextAssertion) -> String {
    let verb = match (text.is, text.not) {
        (TextMatch::Substring, false) => "contains",
        (TextMatch::Substring, true) => "does not contain",
        (TextMatch::Equals, false) => "is",
        (TextMatch::Equals, true) => "is not",
        (TextMatch::Contains | TextMatch::Matches, false) => "matches",
        (TextMatch::Contains | TextMatch::Matches, true) => "does not match",
    };
    let patterns: Vec<String> =
        text.patterns.iter().map(|pattern| format!("`{}`", shown(pattern))).collect();
    format!(
        "{} {verb} {}",
        part_name(&text.part),
        patterns.join(if text.any { " or " } else { " and " })
    )
}

fn sign(comparison: NumberComparison) -> &'static str {
    match comparison {
        NumberComparison::Equal => "=",
        NumberComparison::NotEqual => "≠",
        NumberComparison::Greater => ">",
        NumberComparison::Less => "<",
        NumberComparison::AtLeast => "≥",
        NumberComparison::AtMost => "≤",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brunt_model::extract::ReplyPart;
    use brunt_model::reply_policy::{StatusRange, statuses};

    #[test]
    fn the_description_of_an_assertion_has_one_line() {
        let text = TextAssertion {
            part: ReplyPart::Body,
            patterns: vec!["a\nb".into(), "c".into()],
            is: TextMatch::Substring,
            not: true,
            any: false,
            ignore_status: false,
            message: String::new(),
        };
        assert_eq!(
            description_of(&AssertionTest::Text(text)),
            "body does not contain `a b` and `c`"
        );
        let size =
            AssertionTest::Size { part: None, is: NumberComparison::AtMost, bytes: "9".into() };
        assert_eq!(description_of(&size), "size of the reply ≤ 9 bytes");
        assert_eq!(statuses(&[]), "below 400");
        let ranges = [StatusRange { least: 200, most: 299 }, StatusRange { least: 304, most: 304 }];
        assert_eq!(statuses(&ranges), "200 to 299, 304");
        assert_eq!(shown(&"x".repeat(201)).chars().count(), 201);
    }
}
