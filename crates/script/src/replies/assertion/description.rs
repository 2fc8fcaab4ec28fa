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
    use brunt_model::{Language, LoggedText};

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
            let description = LoggedText::Condition.text(&description_of(&test));
            assert_eq!(description.in_language(Language::Chinese), chinese);
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
