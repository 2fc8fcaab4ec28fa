//! Formats the failures of assertions on texts and JSON as JMeter does.

use brunt_model::extract::ReplyPart;
use brunt_model::reply_policy::{TextAssertion, TextMatch};

/// Maximum number of equal characters that are shown before and after a difference.
const MAX_EQUAL: usize = 100;

/// Formats the failure of a `JMESPath`. `expected` describes the expected value; None:
/// the path must exist.
pub fn json_value_failure(path: &str, expected: Option<String>, invert: bool) -> String {
    let not = if invert { " not" } else { "" };
    match expected {
        None => format!("JMESPATH {path} expected{not} to exist"),
        Some(expected) => format!("Value expected{not} to {expected}"),
    }
}

/// Formats the failure of a pattern.
pub fn text_failure(assertion: &TextAssertion, pattern: &str, text: &str) -> String {
    let TextAssertion { part, is, not, any, .. } = assertion;
    let part = match part {
        ReplyPart::Body | ReplyPart::UnescapedBody => "text".into(),
        ReplyPart::Headers => "headers".into(),
        ReplyPart::Status => "code".into(),
        ReplyPart::Message => "message".into(),
        ReplyPart::Url => "URL".into(),
        ReplyPart::RequestHeaders => "request headers".into(),
        ReplyPart::RequestBody | ReplyPart::SamplerData => "request data".into(),
        ReplyPart::Variable(name) => format!("variable({name})"),
    };
    let verb = match is {
        TextMatch::Substring | TextMatch::Contains => "contain",
        TextMatch::Equals => "equal",
        TextMatch::Matches => "match",
    };
    let not = if *not { "not " } else { "" };
    // JMeter words the failure of alternative patterns without their relation.
    let expected = if *any { "something using".into() } else { format!("{not}to {verb}") };
    let pattern =
        if *is == TextMatch::Equals { difference(text, pattern) } else { pattern.to_owned() };
    format!("Test failed: {part} expected {expected} /{pattern}/")
}

/// Formats the difference between a text and the expected one.
fn difference(received: &str, expected: &str) -> String {
    let received: Vec<char> = received.chars().collect();
    let expected: Vec<char> = expected.chars().collect();
    let begins = received.iter().zip(&expected).take_while(|(a, b)| a == b).count();
    let room = received.len().min(expected.len()).saturating_sub(begins + 1);
    let from_end = received.iter().rev().zip(expected.iter().rev());
    let same = from_end.take(room).take_while(|(a, b)| a == b).count();
    let before = ending(&received[..begins]);
    let after = beginning(&received[received.len() - same..]);
    let [received, expected] =
        [received, expected].map(|text| beginning(&text[begins..text.len() - same]));
    let width = received.chars().count().max(expected.chars().count());
    let [received, expected] =
        [received, expected].map(|text| format!("{before}[[[{text:width$}]]]{after}"));
    format!("\n\n****** received  : {received}\n\n****** comparison: {expected}\n\n")
}

fn beginning(text: &[char]) -> String {
    let cut = if text.len() > MAX_EQUAL { "..." } else { "" };
    text.iter().take(MAX_EQUAL).collect::<String>() + cut
}

fn ending(text: &[char]) -> String {
    match text.len().checked_sub(MAX_EQUAL) {
        None | Some(0) => text.iter().collect(),
        Some(omitted) => format!("...{}", text[omitted..].iter().collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assertion(part: ReplyPart, is: TextMatch) -> TextAssertion {
        TextAssertion {
            part,
            patterns: Vec::new(),
            is,
            not: false,
            any: false,
            ignore_status: false,
            message: String::new(),
        }
    }

    #[test]
    fn failure_messages_equal_those_of_jmeter() {
        let contains = assertion(ReplyPart::Body, TextMatch::Substring);
        assert_eq!(
            text_failure(&contains, "pat", "x"),
            "Test failed: text expected to contain /pat/"
        );
        let matches = TextAssertion { not: true, ..assertion(ReplyPart::Body, TextMatch::Matches) };
        assert_eq!(
            text_failure(&matches, "pat", "x"),
            "Test failed: text expected not to match /pat/"
        );
        let any = TextAssertion { any: true, ..assertion(ReplyPart::Body, TextMatch::Contains) };
        assert_eq!(
            text_failure(&any, "pat", "x"),
            "Test failed: text expected something using /pat/"
        );
        let variable = assertion(ReplyPart::Variable("v".into()), TextMatch::Contains);
        assert_eq!(
            text_failure(&variable, "a", "b"),
            "Test failed: variable(v) expected to contain /a/"
        );
        assert_eq!(
            text_failure(&assertion(ReplyPart::Status, TextMatch::Equals), "201", "200"),
            "Test failed: code expected to equal /\n\n****** received  : 20[[[0]]]\n\n****** comparison: 20[[[1]]]\n\n/"
        );
    }

    #[test]
    fn a_difference_is_shown_with_its_context() {
        let shown = |one: &str, other: &str| difference(one, other);
        assert_eq!(
            shown("abXcd", "abYYcd"),
            "\n\n****** received  : ab[[[X ]]]cd\n\n****** comparison: ab[[[YY]]]cd\n\n"
        );
        assert_eq!(
            shown("a", ""),
            "\n\n****** received  : [[[a]]]\n\n****** comparison: [[[ ]]]\n\n"
        );
        let long = "x".repeat(120);
        let expected = format!("...{}[[[a]]]", "x".repeat(100));
        assert!(shown(&format!("{long}a"), &format!("{long}b")).contains(&expected));
    }
}
