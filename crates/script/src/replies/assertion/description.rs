//! Describes assertions in traces, such as `status is 200`.

use crate::texts::tracing::{part_name, shown};
use brunt_model::extract::QualifiedXpath;
use brunt_model::reply_policy::{
    AssertionTest, ExpectedJson, NumberComparison, TextAssertion, TextMatch,
};
use brunt_model::text::Value;
use brunt_model::{Text, text};

/// Describes the requirement of an assertion.
pub fn description_of(test: &AssertionTest) -> Text {
    match test {
        AssertionTest::Text(text) => text_description(text),
        AssertionTest::Duration(millis) => text!("condition-time", millis = &**millis),
        AssertionTest::Size { part, is, bytes } => {
            let part = part.as_ref().map_or_else(|| text!("condition-part.reply"), part_name);
            text!("condition-size", part, sign = sign(*is), bytes = &**bytes)
        }
        AssertionTest::Json { path, expected, invert } => {
            inverted(json_description(format!("json {path}"), expected.as_ref()), *invert)
        }
        AssertionTest::JmesPath { path, expected, invert } => {
            inverted(json_description(format!("jmespath {path}"), expected.as_ref()), *invert)
        }
        AssertionTest::Xpath { path, invert }
        | AssertionTest::QualifiedXpath { path: QualifiedXpath { path, .. }, invert } => {
            inverted(format!("xpath {path}").into(), *invert)
        }
        AssertionTest::Xml => text!("condition-xml"),
        AssertionTest::Md5(sum) => text!("condition-md5", sum = &**sum),
        AssertionTest::Script(script) => script.name.as_str().into(),
    }
}

fn inverted(condition: Text, invert: bool) -> Text {
    if invert { text!("condition-not", condition) } else { condition }
}

fn json_description(part: String, expected: Option<&ExpectedJson>) -> Text {
    match expected {
        None => part.into(),
        Some(ExpectedJson::Null) => text!("condition-null", part),
        Some(ExpectedJson::Value(value)) => text!("condition-equal", part, values = quoted(value)),
        Some(ExpectedJson::Pattern(pattern)) => {
            text!("condition-match", part, values = quoted(pattern))
        }
    }
}

fn text_description(text: &TextAssertion) -> Text {
    let part = part_name(&text.part);
    let patterns = text.patterns.iter().map(|pattern| quoted(pattern)).collect();
    let values = if text.any { Value::Alternatives(patterns) } else { Value::List(patterns) };
    match (text.is, text.not) {
        (TextMatch::Substring, false) => text!("condition-contains", part, values),
        (TextMatch::Substring, true) => text!("condition-lacks", part, values),
        (TextMatch::Equals, false) => text!("condition-equal", part, values),
        (TextMatch::Equals, true) => text!("condition-not-equal", part, values),
        (TextMatch::Contains | TextMatch::Matches, false) => {
            text!("condition-match", part, values)
        }
        (TextMatch::Contains | TextMatch::Matches, true) => {
            text!("condition-no-match", part, values)
        }
    }
}

fn quoted(value: &str) -> Text {
    format!("`{}`", shown(value)).into()
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
    use brunt_model::Language;
    use brunt_model::extract::ReplyPart;
    use brunt_model::reply_policy::{StatusRange, statuses};

    fn json(expected: ExpectedJson) -> AssertionTest {
        AssertionTest::Json { path: "$.a".into(), expected: Some(expected), invert: false }
    }

    fn size(part: Option<ReplyPart>) -> AssertionTest {
        AssertionTest::Size { part, is: NumberComparison::Equal, bytes: "9".into() }
    }

    #[test]
    fn each_description_has_a_message() {
        let mut tests = vec![
            (AssertionTest::Duration("80".into()), "时间不超过 80 ms"),
            (size(None), "响应的大小 = 9 字节"),
            (size(Some(ReplyPart::Headers)), "响应头的大小 = 9 字节"),
            (json(ExpectedJson::Null), "json $.a 为 null"),
            (json(ExpectedJson::Value("1".into())), "json $.a 是 `1`"),
            (json(ExpectedJson::Pattern("x".into())), "json $.a 匹配 `x`"),
            (AssertionTest::Xpath { path: "//a".into(), invert: true }, "不满足 xpath //a"),
            (AssertionTest::Xml, "响应体是 XML"),
            (AssertionTest::Md5("0a".into()), "响应体的 MD5 值为 0a"),
        ];
        for (is, not, chinese) in [
            (TextMatch::Substring, false, "变量 id 包含 `a` 或 `b`"),
            (TextMatch::Substring, true, "变量 id 不包含 `a` 或 `b`"),
            (TextMatch::Equals, false, "变量 id 是 `a` 或 `b`"),
            (TextMatch::Equals, true, "变量 id 不是 `a` 或 `b`"),
            (TextMatch::Matches, false, "变量 id 匹配 `a` 或 `b`"),
            (TextMatch::Matches, true, "变量 id 不匹配 `a` 或 `b`"),
        ] {
            let text = TextAssertion {
                part: ReplyPart::Variable("id".into()),
                patterns: vec!["a".into(), "b".into()],
                is,
                not,
                any: true,
                ignore_status: false,
                message: String::new(),
            };
            tests.push((AssertionTest::Text(text), chinese));
        }
        for (test, chinese) in tests {
            assert_eq!(description_of(&test).in_language(Language::Chinese), chinese);
        }
    }

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
